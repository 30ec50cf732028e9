"""Errors about a game, an agent or an option begin with the word of the command line that caused them."""

from typing import Any

import pytest

from arena import ArenaError
from arena_setup.match_setup import MatchSetup

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("keys", "agents", "start"),
    [
        ({"game": "connect"}, ["random"], "connect: unknown game 'connect'"),
        ({"game": "connect-four"}, ["nobody"], "nobody: unknown agent 'nobody'"),
        ({"game": "connect-four"}, ["nobody:depth=3"], "nobody:depth=3: unknown agent 'nobody'"),
        ({"game": "connect-four"}, ["alpha-beta:deep=3"], "alpha-beta:deep=3: deep: unknown key"),
        ({"game": "connect-four", "heuristic": "foo"}, ["alpha-beta"], "--heuristic: unknown heuristic 'foo'"),
        ({"game": "connect-four", "heuristic": "foo:a=1"}, ["alpha-beta"], "--heuristic: unknown heuristic 'foo'"),
        ({"game": "connect-four"}, ["alpha-beta:heuristic=foo"], "alpha-beta:heuristic=foo: heuristic: unknown"),
        ({"game": "connect-four", "parameters": {"rows": 0}}, ["random"], "--set rows: "),
        ({"game": "connect-four", "position": "x"}, ["random"], "--position: not a position"),
    ],
)
def test_an_error_begins_with_the_word_of_the_command_line_that_caused_it(
    keys: dict[str, Any], agents: list[str], start: str
) -> None:
    with pytest.raises(ArenaError) as caught:
        MatchSetup(**keys).load([*agents, "greedy"])
    lines = str(caught.value).split("\n")
    assert [line[: len(start)] for line in lines] == [start] * len(lines)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("pattern-db:tokens=99", "--heuristic pattern-db:tokens=99: tokens: expected at most 8, got 99"),
        ("pattern-db:token=2", "--heuristic pattern-db:token=2: token: unknown key; did you mean 'tokens'?"),
        ("pattern-db:name=gap", "pattern-db:name=gap: the name of the heuristic comes before the colon"),
        ("pattern-db:", "'pattern-db:': expected a heuristic, as in pattern-db:tokens=4"),
    ],
)
def test_the_option_heuristic_takes_parameters(word: str, message: str) -> None:
    """The bounds of `tokens` are those that `arena show pattern-db` prints."""
    with pytest.raises(ArenaError) as caught:
        MatchSetup("top-spin", heuristic=word).load(["a-star"])
    assert str(caught.value).startswith(message)
    small = MatchSetup("top-spin", {"n": 6, "k": 2}, heuristic="pattern-db:tokens=2").load(["a-star"])
    assert small.boards[0].seats[0].settings.heuristic == {"name": "pattern-db", "parameters": {"tokens": 2}}
