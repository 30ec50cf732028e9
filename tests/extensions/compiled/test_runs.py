"""Records of a run do not depend on compilation, and the command line reports it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena import load_plugins
from arena.api.games import bind
from arena_check.compiled_checks import compiled_verdicts
from arena_compiled.plugin import CompiledSearches, find_loop

pytestmark = pytest.mark.usefixtures("compiler")

SPEC = """
game: {name: tic-tac-toe, rows: 3, columns: 4}
rounds: 2
agents: [{agent: alpha-beta, depth: 3}, random]
"""
BLOCKED = "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n"
NOTE = "note: alpha-beta(open-lanes) on tic-tac-toe is not compiled: numba is not installed (pip install 'numba>=0.62')"


def records(text: str) -> list[Any]:
    found = [json.loads(line) for line in text.splitlines()]
    for record in found:
        for decision in record["decisions"]:
            del decision["seconds"]
    return found


def test_plain_and_compiled_runs_have_the_same_records(arena: Callable[..., Any], tmp_path: Path) -> None:
    """With `always`, every match is compiled, in workers as well. Replay and merge find no difference."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    fast = arena("run", "spec.yaml", "--store", "fast.db", "--workers", 1, ARENA_COMPILE="always")
    plain = arena("run", "spec.yaml", "--store", "plain.db", "--workers", 1, "--plain", ARENA_COMPILE="always")
    assert fast.returncode == plain.returncode == 0, fast.stderr + plain.stderr
    assert fast.stdout.split("ms/move")[0] == plain.stdout.split("ms/move")[0]
    ours, theirs = [records(arena("export", store).stdout) for store in ("fast.db", "plain.db")]
    timings = [record.pop("timing") for record in ours], [record.pop("timing") for record in theirs]
    assert ours == theirs
    assert [set(timing) for timing in timings[0]] == [{"compiled", "compiled_seconds"}] * 4
    assert [set(timing) for timing in timings[1]] == [{"plain", "plain_seconds"}] * 4
    merged = arena("merge", "both.db", "fast.db", "plain.db")
    assert merged.returncode == 0, merged.stderr
    assert arena("check", "both.db").returncode == 0


def test_validate_warns_if_only_some_searches_can_run_compiled(arena: Callable[..., Any], tmp_path: Path) -> None:
    """The heuristic of the second entry cannot be compiled."""
    (tmp_path / "mine.py").write_text(
        "from arena import heuristic, hookimpl\n\n"
        "@heuristic('mine', game='othello')\ndef mine(game, state, player=0):\n    return len(str(state)) / 1e9\n\n"
        "@hookimpl\ndef arena_heuristics():\n    return [mine]\n"
    )
    entries = "[{agent: alpha-beta, heuristic: discs, label: one}, {agent: alpha-beta, heuristic: mine, label: two}, random]"
    (tmp_path / "spec.yaml").write_text(f"game: othello\nplugins: [mine.py]\nagents: {entries}\nlimits: {{seconds: 1}}\n")
    said = "note: othello: one can run compiled, two cannot. Under a time limit, a difference may come from that."
    assert said in arena("validate", "spec.yaml").stderr
    assert said not in arena("validate", "spec.yaml", ARENA_PLAIN="1").stderr


def test_a_run_without_numba_explains_the_installation_in_one_line(arena: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKED)
    done = arena("run", "spec.yaml", "--no-store", "--workers", 1, ARENA_COMPILE="always", PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOTE) == 1


def test_show_reports_what_compiles_and_the_reason_otherwise(arena: Callable[..., Any]) -> None:
    assert "compiled: with the extra `fast`" in arena("show", "othello").stdout
    assert "compiled: no, it has chance events" in arena("show", "pig").stdout
    assert "compiled: by the engine ida-star" in arena("show", "ida-star").stdout
    assert "compiled: with the extra `fast`" in arena("show", "open-lanes").stdout


def test_the_table_marks_compiled_pairs_of_agent_and_game_and_gives_reasons_otherwise(arena: Callable[..., Any]) -> None:
    done = arena("matrix").stdout
    table, notes = done.split("\n\n", 1)
    games, *rows = [line.split("  ") for line in table.splitlines()]
    names = [name.strip() for name in games if name.strip()]
    marks = {row[0]: dict(zip(names, [cell.strip() for cell in row[1:] if cell.strip()], strict=True)) for row in rows[1:]}
    assert marks["alpha-beta"]["othello"] == "yes *"
    assert marks["ida-star"]["sliding-tiles"] == "yes *"
    assert marks["mcts"]["pig"] == marks["random"]["othello"] == "yes"
    assert "pig is not compiled: it has chance" in notes


GAME = """
from arena import Game, hookimpl

class Steps(Game):
    {docstring}

    name = "steps"

    def initial(self, rng):
        return (9, 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return range(1, min(3, state[0]) + 1)

    def result(self, state, action):
        return (state[0] - action, sorted((1 - state[1],))[0])

    def returns(self, state):
        return (1, -1) if state[1] == 1 else (-1, 1)

@hookimpl
def arena_games():
    return [Steps]
"""


def test_try_reports_the_line_that_does_not_compile(arena: Callable[..., Any], tmp_path: Path) -> None:
    """The line is found without the compiler, so no code is compiled and the report comes at once."""
    (tmp_path / "steps.py").write_text(GAME.replace("{docstring}", "..."))
    told = arena("try", "steps.py", ARENA_CACHE=str(tmp_path / "cache")).stdout
    assert (
        f"compiled: no, {tmp_path / 'steps.py'}:19: the compiler does not support sorted: "
        "compare and order the numbers one by one" in " ".join(told.split())
    )
    assert not (tmp_path / "cache").exists()


HEURISTICS = {
    "pair": "what = state[0]\n    if what == 0:\n        what = (1, 2)\n    return 0 if what == (1, 2) else 1",
    "split": "cells = [0]\n    cells[0] = state[0] / 7\n    return cells[0]",
    "divided": "return 1 // (state[0] - 5) if state[0] > 4 else 0",
    "plain": "return state[0] / 7",
}
"""In `pair`, a name is a number and then a pair. `split` puts a fraction into a list of integers, and `divided` divides by 0."""


@pytest.mark.parametrize("name", HEURISTICS)
def test_show_and_check_agree_on_what_compiles(name: str, compiling: None, tmp_path: Path) -> None:
    """`arena show` and `arena try` print the verdict of `arena check` for a heuristic of the user."""
    text = GAME.replace("{docstring}", "...").replace("sorted((1 - state[1],))[0]", "1 - state[1]")
    text = text.replace("import Game,", "import Game, heuristic,")
    text += f"""
@heuristic("{name}", game="steps")
def estimate(game, state, player):
    {HEURISTICS[name]}

@hookimpl
def arena_heuristics():
    return [estimate]
"""
    (tmp_path / "steps.py").write_text(text)
    registry = load_plugins([str(tmp_path / "steps.py")])
    game = registry.games["steps"]()
    evaluation = bind(registry.heuristics["steps", name], game)
    verdicts = list(compiled_verdicts(game, evaluation, {}, seed=0, matches=3, patience=30))
    said = CompiledSearches("compiled", find_loop).describe(game, evaluation)
    if name == "plain":
        assert said == "with the extra `fast`"
        assert all(one.kept for one in verdicts)
    else:
        [verdict] = verdicts
        assert verdict.promise.startswith("not compiled: ")
        assert said == f"no, {verdict.promise.removeprefix('not compiled: ')}"


QUICK = """
import sys
import arena.cli
try: arena.cli.cli({words!r})
except SystemExit: pass
print(*sys.modules)
"""


@pytest.mark.parametrize("plain", [False, True])
def test_a_run_of_the_quickstart_does_not_import_the_compiler(plain: bool, tmp_path: Path) -> None:
    """The run ends before compilation would be worth its time. With `--plain`, no part of the compiler is imported."""
    (tmp_path / "spec.yaml").write_text("game: tic-tac-toe\nrounds: 2\nagents: [alpha-beta, random]\n")
    words = ["run", str(tmp_path / "spec.yaml"), "--no-store", "--quiet", *(["--plain"] if plain else [])]
    surroundings = {name: value for name, value in os.environ.items() if name != "ARENA_COMPILE"}
    done = subprocess.run(
        [sys.executable, "-c", QUICK.format(words=words)],
        capture_output=True, text=True, check=True, env={**surroundings, "ARENA_CACHE": str(tmp_path)},
    )  # fmt: skip
    imported = set(done.stdout.splitlines()[-1].split())
    assert "numba" not in imported
    assert "llvmlite" not in imported or not plain
    assert not (tmp_path / "compiled").exists()


def test_compiled_code_is_loaded_from_the_cache_without_importing_the_compiler(tmp_path: Path) -> None:
    code = (
        "import sys; from arena_compiled import seam; from arena_games.tic_tac_toe import TicTacToe;"
        "print(seam.load_loop(TicTacToe(), None, 'full-width', compiling=True) is not None, 'numba' in sys.modules)"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "ARENA_CACHE": str(tmp_path)},
        ).stdout
        for _ in range(2)
    ]
    assert told == ["True True\n", "True False\n"]
