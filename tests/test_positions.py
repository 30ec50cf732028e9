"""The openings in `tournaments/positions/` are reachable, without threats, all different, and balanced."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from arena import Game, play
from arena_games.connect_four import ConnectFour
from arena_games.othello import Othello

POSITIONS = Path(__file__).parents[1] / "tournaments" / "positions"
GAMES: dict[str, tuple[Game, int, int]] = {"connect-four": (ConnectFour(), 4, 6), "othello": (Othello(), 6, 4)}
"""For the name of each game: the game, the number of plies in its openings, and the search depth at which they are balanced."""


def openings(name: str) -> list[str]:
    head, *texts = (POSITIONS / f"{name}-openings.txt").read_text("utf-8").splitlines()
    assert head.startswith(f"# {len(texts)} balanced positions of {name}")
    return texts


def seen_from_all_sides(text: str, *, square: bool) -> set[tuple[str, ...]]:
    """Return the rows of a board and of its mirror image; for a square board, also of all its rotations and reflections."""
    found = {tuple(text.partition(" ")[0].split("/"))}
    for _ in range(4):
        found |= {tuple(row[::-1] for row in rows) for rows in found}
        if square:
            found |= {tuple("".join(column) for column in zip(*rows, strict=True)) for rows in found}
    return found


@pytest.mark.parametrize("name", GAMES)
def test_openings_are_quiet_and_no_two_are_alike(name: str) -> None:
    """There are fifty openings, each with one stone per ply, and none is a mirror image of another."""
    game, plies, _ = GAMES[name]
    texts = openings(name)
    assert len(texts) == 50
    images = [seen_from_all_sides(text, square=name == "othello") for text in texts]
    assert len(set().union(*images)) == sum(map(len, images))
    start = 4 if name == "othello" else 0
    for text in texts:
        state: Any = game.parse_state(text)
        assert sum(mark in "xo" for mark in text.partition(" ")[0]) == start + plies
        assert game.to_move(state) == 0
        assert not game.is_terminal(state)
        assert not any(game.threats(state, seat) for seat in (0, 1))
        assert "pass" not in game.actions(state)


@pytest.mark.proof
@pytest.mark.parametrize("name", GAMES)
def test_openings_are_balanced_by_a_full_search(name: str) -> None:
    """Minimax searches the whole tree up to the depth, without pruning or a table, and finds a value within 0.05 of 0."""
    game, _, depth = GAMES[name]
    minimax = {"agent": "minimax", "depth": depth}
    for text in openings(name):
        value = play(game, [minimax, minimax], position=text, limits={"moves": 1}).decisions[0].value
        assert value is not None
        assert abs(value) <= 0.05


@pytest.mark.proof
def test_the_generator_writes_the_stored_positions() -> None:
    """The generator makes the same openings of othello again."""
    found = importlib.util.spec_from_file_location("generate_positions", POSITIONS / "generate.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    assert module.openings(module.RULES["othello-openings.txt"])[1] == openings("othello")
