"""Plugins that print during checks."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from arena_check.printed_lines import few_printed_lines

LOUD = """
from arena import Agent, hookimpl


class Loud(Agent):
    name = "loud"

    def choose(self, game, state, search):
        print("thinking about", game.format_state(state))
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Loud]
"""


def test_the_first_lines_are_shown_and_the_others_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the lines 0 to 24, 10 to 24 are hidden: fifteen lines with two digits and an end, so 45 characters."""
    with few_printed_lines():
        for number in range(25):
            print(number)
    told = capsys.readouterr()
    assert told.out.split() == [str(number) for number in range(10)]
    assert told.err.startswith("note: 15 lines (45 characters) that the plugin printed are not shown;")


def test_a_line_without_an_end_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with few_printed_lines():
        for _ in range(5000):
            print("x", end="")
    told = capsys.readouterr()
    assert told.out == 2000 * "x"
    assert "note: 3,000 characters that the plugin printed are not shown;" in told.err


def test_few_lines_are_shown_without_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    with few_printed_lines():
        print("one\ntwo")
    assert capsys.readouterr() == ("one\ntwo\n", "")


@pytest.mark.process
@pytest.mark.parametrize("words", [("check", "--matches", "5"), ("try", "--seconds", "0.1")])
def test_a_loud_agent_does_not_hide_the_report(
    words: tuple[str, ...], inside: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    """A check of tic-tac-toe alone has more than ten decisions: two matches of at least three turns, each played twice."""
    (tmp_path / "loud.py").write_text(LOUD)
    done = inside(words[0], "loud.py", "--game", "tic-tac-toe", *words[1:])
    assert done.returncode == 0
    assert done.stderr.count("thinking about") == 10
    assert "that the plugin printed are not shown" in done.stderr
    assert "thinking about" not in done.stdout
    assert "agent loud: ok" in done.stdout
