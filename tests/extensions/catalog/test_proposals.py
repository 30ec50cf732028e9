"""Flags make agents reference opponents or proposed agents. Agents of plugins may have them, too."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena import load_plugins
from arena.cli import cli
from arena.plugins.registry import Registry
from arena_play.defaults import propose_agent
from arena_web.inventory import inventory
from tests.conftest import Arena, arena_in

FLAGGED = """
from arena import Agent, Hints, hookimpl

class First(Agent):
    "Plays the first action; a reference, and proposed."
    name = "first"
    hints = Hints(reference={reference!r}, proposed={proposed!r})

    def choose(self, game, state, search):
        return game.actions(state)[0]

class Plain(First):
    "Derives from it, and carries no flag."
    name = "plain"

@hookimpl
def arena_agents():
    return [First, Plain]
"""
TRIED = """
from arena import Agent, hookimpl

class Last(Agent):
    "Plays the last action."
    name = "last"
    needs = frozenset({"two-player"})

    def choose(self, game, state, search):
        return game.actions(state)[-1]

@hookimpl
def arena_agents():
    return [Last]
"""


def flagged(folder: Path, reference: Any = True, weights: Any = None) -> Registry:
    (folder / "flagged.py").write_text(FLAGGED.format(reference=reference, proposed=weights or {}))
    return load_plugins([folder / "flagged.py"])


WITHOUT_CHANCE = ("tic-tac-toe", "connect-four", "othello", "sliding-tiles", "n-queens", "sudoku")


def test_default_agents_of_the_built_in_games_are_unchanged(registry: Registry) -> None:
    """Earlier versions of arena chose these agents by name."""
    games = {name: registry.games[name]() for name in WITHOUT_CHANCE}
    players = ["random", "greedy", "lookahead", "alpha-beta", "mcts"]
    solvers = ["random", "greedy", "bfs", "best-first", "a-star"]
    assert {name: registry.list_references(game) for name, game in games.items()} == {
        "tic-tac-toe": players,
        "connect-four": players,
        "othello": players,
        "sliding-tiles": solvers,
        "n-queens": [*solvers, "hill-climb", "min-conflicts"],
        "sudoku": solvers,
    }
    assert {name: propose_agent(registry, game) for name, game in games.items()} == {
        "tic-tac-toe": "alpha-beta",
        "connect-four": "alpha-beta",
        "othello": "alpha-beta",
        "sliding-tiles": "a-star",
        "n-queens": "dfs",
        "sudoku": "dfs",
    }
    assert registry.propose_agents(games["othello"], informed=False)[0] == "mcts"
    assert {name: registry.propose_agents(game, informed=True)[:2] for name, game in games.items() if game.players == 1} == {
        "sliding-tiles": ["a-star", "ida-star"],
        "n-queens": ["min-conflicts", "dfs"],
        "sudoku": ["dfs", "a-star"],
    }
    assert inventory(registry)["first"] == {"game": "tic-tac-toe", "puzzle": "sliding-tiles"}


@pytest.mark.parametrize(
    ("reference", "games"),
    [(True, {"othello", "sudoku"}), ("games", {"othello"}), ("puzzles", {"sudoku"}), (False, set()), ("yes", set())],
)
def test_a_plugin_can_add_a_reference_opponent(tmp_path: Path, reference: Any, games: set[str]) -> None:
    """It is listed after the reference opponents of arena. A class derived from it is not one."""
    registry = flagged(tmp_path, reference)
    found = {name: registry.list_references(registry.game(name)()) for name in ("othello", "sudoku")}
    assert {name for name, names in found.items() if names[-1] == "first"} == games
    assert all("plain" not in names for names in found.values())


def test_a_plugin_can_add_a_default_agent(tmp_path: Path) -> None:
    registry = flagged(tmp_path, weights={"zero-sum": 6})
    assert propose_agent(registry, registry.game("othello")()) == "first"
    assert propose_agent(registry, registry.game("sudoku")()) == "dfs"
    assert next(one["proposed"][0] for one in inventory(registry)["games"] if one["name"] == "othello") == "first"


def test_an_unknown_trait_of_an_agent_is_ignored(tmp_path: Path) -> None:
    registry = flagged(tmp_path, weights={"chess": 6})
    assert propose_agent(registry, registry.game("othello")()) == "alpha-beta"


def test_without_flags_the_first_agent_that_can_play_is_chosen() -> None:
    registry = load_plugins(entry_points=False, environ=False)
    assert registry.find_first_game(puzzle=True) is None
    registry = load_plugins()
    for agent in ("alpha-beta", "mcts", "expectimax"):
        del registry.agents[agent]
    assert propose_agent(registry, registry.game("othello")()) == "greedy"


def test_arena_show_lists_the_flags_of_an_agent(tmp_path: Path, invoke: Arena) -> None:
    flagged(tmp_path, weights={"zero-sum": 6, "heuristic": 7})
    first, plain = [invoke("show", name, "--plugin", "flagged.py").stdout for name in ("first", "plain")]
    assert "  `arena try` compares new agents with it on games and puzzles\n" in first
    assert "  a default opponent in `arena play` for games with the trait zero-sum or a heuristic\n" in first
    assert "arena try" not in plain
    assert "  `arena try` compares new agents with it on games\n" in invoke("show", "mcts").stdout


@pytest.mark.process
def test_arena_try_compares_agents_with_references_of_plugins(tmp_path: Path) -> None:
    flagged(tmp_path)
    (tmp_path / "last.py").write_text(TRIED)
    tried = arena_in(tmp_path)("try", "last.py", "--game", "tic-tac-toe", "--plugin", "flagged.py", "--details")
    assert tried.returncode == 0, tried.stderr
    rows = re.findall(r"^\d+ ~? +(\S+) {2,}", tried.stdout, re.MULTILINE)
    assert set(rows) == {"last", "first", "random", "greedy", "lookahead", "alpha-beta", "mcts"}


def test_a_person_plays_against_the_default_agent(tmp_path: Path) -> None:
    flagged(tmp_path, weights={"two-player": 9})
    words = ["play", "tic-tac-toe", "--plugin", str(tmp_path / "flagged.py")]
    done = CliRunner().invoke(cli, words, input="9\n", standalone_mode=False)
    assert "2. first: 1" in done.stdout
    assert "alpha-beta" not in done.stdout
