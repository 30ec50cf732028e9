"""Every way to play a run gives the same records, boards and exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Results
from arena.cli import cli
from arena.results.leaderboard import Leaderboard
from arena.results.tables import document

PLUGIN = """
from arena import Agent, Game, hookimpl
from arena_games.tic_tac_toe import TicTacToe


class Raiser(Agent):
    "Loses by an exception in some of its games."

    name = "raiser"

    def choose(self, game, state, search):
        if search.rng.random() < 0.1:
            raise RuntimeError("boom")
        return search.rng.choice(list(game.actions(state)))


class Broken(TicTacToe):
    "Fails in some of its matches, which are void."

    name = "broken"
    default_heuristic = None

    def returns(self, state):
        if self.format_state(state).count(".") > 1:
            raise ValueError("no result")
        return super().returns(state)


@hookimpl
def arena_agents():
    return [Raiser]


@hookimpl
def arena_games():
    return [Broken]
"""
ENTRIES = ["random", {"agent": "lookahead", "limits": {"nodes": 3}}, "raiser"]
SPECS: dict[str, dict[str, Any]] = {
    "games": {"games": ["tic-tac-toe", {"name": "pig", "target": 20}], "agents": ENTRIES},
    "puzzles": {"game": {"name": "sliding-tiles", "shuffle": 8}, "agents": ["a-star", "random"], "limits": {"moves": 20}},
    "void": {"game": "broken", "agents": [{"agent": "random", "label": name} for name in ("one", "two")]},
    "knockout": {"game": "tic-tac-toe", "agents": [*ENTRIES, "greedy"], "format": "knockout"},
}
TIMES = {"ms_per_move", "seconds_per_attempt", "cpu_per_move"}


def timeless(found: Any) -> Any:
    """Return boards without times, the environment and the place of the store."""
    if isinstance(found, dict):
        return {key: timeless(value) for key, value in found.items() if key not in TIMES | {"environments"}}
    return [timeless(one) for one in found] if isinstance(found, list) else found


def matches(results: Results) -> list[Any]:
    return [(*one[:3], one.record.timeless(), one.record.parameters) for one in results.played]


@pytest.mark.process
@pytest.mark.parametrize("name", SPECS)
def test_all_interfaces_give_the_same_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plugin.py").write_text(PLUGIN)
    spec = {**SPECS[name], "name": name, "plugins": ["plugin.py"]}
    short, whole = ({**spec, "rounds": rounds} for rounds in (1, 2))
    for path, values in (("short.json", short), ("whole.json", whole)):
        (tmp_path / path).write_text(json.dumps(values))

    def play(*words: str) -> tuple[int, Any]:
        capsys.readouterr()
        code = cli.main(["run", "whole.json", "--format", "json", "--quiet", *words], standalone_mode=False)
        return code, timeless(json.loads(capsys.readouterr().out))

    def ask(**options: Any) -> tuple[Any, Any]:
        results = arena.run("whole.json", **options)
        boards = json.loads(json.dumps(document(results, Leaderboard.of_results(results)), allow_nan=False))
        return matches(results), timeless(boards)

    first, (code, boards) = ask(store="python.db"), play("--store", "one.db", "--workers", "1")
    assert code == (name == "void")
    assert first[1] == boards
    assert sum(board["games" if "games" in board else "distinct_games"] for board in boards["boards"])
    ways: dict[str, Callable[[], tuple[int, Any]]] = {
        "no path": lambda: play("--no-store", "--workers", "1"),
        "no path, two workers": lambda: play("--no-store", "--workers", "2"),
        "two workers": lambda: play("--store", "two.db", "--workers", "2"),
    }
    for way, call in ways.items():
        assert call() == (code, boards), way
    assert ask() == ask(workers=2) == first
    if name != "knockout":
        assert cli.main(["run", "short.json", "--quiet", "--store", "resumed.db"], standalone_mode=False) in (0, code)
    for store in ("one.db", "two.db", "resumed.db", "python.db"):
        assert play("--store", store) == (code, boards), store
        assert matches(arena.run("whole.json", store=store)) == first[0], store
