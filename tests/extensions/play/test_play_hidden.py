"""`arena play` with chance and hidden information: a person sees the seat's observation, and undo does not change outcomes of
chance.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from arena import load_plugins
from arena_check.new import write

from .conftest import Run

Play = Callable[..., str]
BOTH = r"\(\([1-5], [1-5]\)"
"""This pattern matches a state that shows both cards."""


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with games that `arena new` has written."""
    folder = tmp_path_factory.mktemp("games")
    registry = load_plugins(environ=False)
    write("game", "dice", folder, registry, features=frozenset({"chance"}))
    write("game", "cards", folder, registry, features=frozenset({"chance", "hidden"}))
    write("game", "fingers", folder, registry, features=frozenset({"simultaneous"}))
    return folder


@pytest.fixture
def play(games: Path, here: Run) -> Play:
    """Return a function that plays one of these games, types the given lines and returns the output."""

    def played(game: str, *seats: str, typed: str) -> str:
        done = here("play", game, *seats, "--plugin", str(games / f"{game}.py"), "--seed", "3", typed=typed)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return played


def test_the_opponents_card_is_hidden_until_the_end(play: Play) -> None:
    """The agent's card is blank and its action is not shown until the end, which shows both."""
    before, _, after = play("cards", "human", "random", typed="raise\n").partition("random: has moved")
    mine = set(re.findall(r"\(\(([1-5]), 0\), 'r?'\)", before))
    assert len(mine) == 1
    assert not re.search(BOTH, before)
    assert re.search(BOTH, after)


def test_two_persons_share_the_screen_in_turns(play: Play) -> None:
    """Each person sees only one card. The screen is cleared between their turns."""
    out = play("cards", "human", "human", typed="\nraise\n\ncall\n")
    first, second = out.split("--------------------")[1:]
    assert "human (seat 1), it is your turn" in first
    assert re.search(r"\(\([1-5], 0\), ''\)", first)
    assert not re.search(BOTH, first)
    assert "human (seat 2), it is your turn" in second
    own, both = re.search(r"\(\(0, [1-5]\), 'r'\)", second), re.search(BOTH, second)
    assert own is not None
    assert both is not None
    assert own.start() < both.start()


def test_a_simultaneous_choice_is_hidden_until_all_have_chosen(play: Play) -> None:
    """The agent has the first seat and chooses first. Its choice is shown only after the person has chosen."""
    out = play("fingers", "random", "human", typed="1\n1\n1\n")
    assert out.count("random: has moved") == 3
    assert out.count("chosen [null]: ") == 3


def test_undo_does_not_roll_the_die_again(play: Play) -> None:
    """The die shows the same number before and after the undo."""
    out = play("dice", "human", "random", typed="throw\nundo\nthrow\nthrow\nquit\n")
    thrown = [re.findall(r"^chance: ([1-6])$", part, re.MULTILINE) for part in out.split("back after move 0")]
    assert thrown[0][0] == thrown[1][0]


@pytest.mark.parametrize("words", [(), ("--limits", "moves=3")], ids=["to the end", "to the move limit"])
def test_a_game_of_one_seat_ends_with_its_score(here: Run, words: tuple[str, ...]) -> None:
    """The last line gives the score of the last board, and never says that a game of one seat is a draw."""
    lines = here("play", "2048", "random", "--seed", "1", *words).stdout.split("\n")
    shown = [line for line in lines if re.fullmatch(r"score \d+", line)]
    (ended,) = [line for line in lines if re.match(r"score [\d,]+[:, ] ?", line) and line not in shown]
    assert re.match(r"score [\d,]*\d", ended)[0].replace(",", "") == shown[-1]  # type: ignore[index]
