"""Test that each built-in game describes its rules, and that the examples in these texts are notation of the game."""

import random
import re
from inspect import getsourcelines, signature
from pathlib import Path
from typing import Any

import pytest

from arena import Game
from arena.plugins.registry import Registry
from arena_games.plugin import arena_games, arena_heuristics

DOMAINS = "hex breakthrough dots-and-boxes kalah checkers nim gomoku pancake top-spin grid-path sokoban rubik-2x2 hanoi"
PARAMETERS: dict[str, dict[str, Any]] = {
    "gomoku": {"rows": 3, "columns": 3, "in_a_row": 3},
    "hanoi": {"discs": 4},
    "hex": {"size": 3},
    "liars-dice": {"dice": 3},
    "othello": {"size": 4},
    "pancake": {"n": 3},
    "rock-paper-scissors": {"rounds": 3},
    "sudoku": {"cell": "first"},
    "top-spin": {"n": 5, "k": 3},
    "2048": {"rows": 3, "columns": 3},
}
"""Parameters for games that show positions of another size than the default in their rules."""
START = "0.2.0.0.0.0.0.0.0.0.0.0.5.0.0.0.0.3.0.5.0.0.0.0.0.0"
"""The checkers of a side at the start of backgammon."""
MOVES = {
    "backgammon": {
        "24/23 13/11": f"{START} {START} a 2-1",
        "bar/22 24/20": f"1.1.{'0.' * 23}13 {'0.' * 23}1.0.14 a 4-3",
        "6/off 5/off": f"{'0.' * 19}1.1.{'0.' * 4}13 {'0.' * 23}1.0.14 a 6-5",
    },
    "breakthrough": {"a2xb3": f"{'......../' * 5}.b....../w......./........ w"},
    "checkers": {"15x24": "B:B15:W19 0"},
    "othello": {"pass": "xxo./xxoo/oxoo/xxxx o"},
    "sokoban": {"dlU": "####|#.##|#$@#|#--#|####"},
    "sudoku": {"r1c2=7": "1" + 80 * "."},
}
"""Moves that a short random game does not show, each with a position in which it is legal."""


def make(kind: type[Game], folder: Path, text: str) -> Game:
    """Make the game of an example. Levels of Sokoban come from a file."""
    if kind.name == "sokoban" and "|" in text:
        (folder / "level.xsb").write_text(text.replace("|", "\n"), encoding="utf-8")
        return kind(file=str(folder / "level.xsb"))
    return kind(**PARAMETERS.get(kind.name, {}), **({"burnt": True} if text.startswith("-3") else {}))


def is_position(game: Game, text: str) -> bool:
    try:
        return game.format_state(game.parse_state(text)) == text
    except ValueError:
        return False


def play_at_random(game: Game) -> set[str]:
    """Return the texts of the legal moves in the positions of a random game."""
    rng, found = random.Random(1), set[str]()
    state = game.initial(rng)
    for _ in range(60):
        if game.is_terminal(state):
            break
        actions = list(game.actions(state))
        found |= {game.format_action(state, action) for action in actions[:40]}
        state = game.result(state, rng.choice(actions))
    return found


@pytest.mark.parametrize("name", arena_games())
def test_examples_in_rules_texts_are_notation_of_the_game(name: str, registry: Registry, tmp_path: Path) -> None:
    """Each example is a parameter, a position or a move."""
    kind = registry.game(name)
    parameters, moves, played = set(signature(kind).parameters), MOVES.get(name, {}), set[str]()
    for text in re.findall("`([^`]+)`", kind().rules_text):
        position = moves.get(text)
        game = make(kind, tmp_path, position or text)
        if position is not None:
            state = game.parse_state(position)
            assert text in [game.format_action(state, action) for action in game.actions(state)]
        elif text not in parameters and not is_position(game, text):
            played = played or play_at_random(game)
            assert text in played


@pytest.mark.parametrize("name", DOMAINS.split())
def test_the_rules_of_a_domain_take_at_most_150_lines(name: str, registry: Registry) -> None:
    """The limit counts the lines of the class, without heuristics, encodings, boards and file formats."""
    assert len(getsourcelines(registry.game(name))[0]) <= 150


@pytest.mark.parametrize("key", arena_heuristics(), ids=" ".join)
def test_each_heuristic_names_its_source(key: tuple[str, str], registry: Registry) -> None:
    """The docstring names a publication with its year, or says that the heuristic was written for this project."""
    source = registry.heuristic(*key).__doc__ or ""
    assert re.search(r"\b(19|20)\d\d\b|written for this\s+project", source, re.IGNORECASE)
