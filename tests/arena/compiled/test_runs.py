"""A run from the command line: what it says, and that its records do not depend on what was compiled."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SPEC = """
game: {name: tic-tac-toe, rows: 3, columns: 4}
rounds: 2
agents: [{agent: alpha-beta, depth: 3}, random]
"""
BLOCKED = "import sys\nsys.modules['numba'] = sys.modules['llvmlite'] = None\n"
NOTE = "note: alpha-beta(open-lanes) on tic-tac-toe runs plain: numba is not installed (pip install 'gamearena[fast]')"


def records(text: str) -> list[Any]:
    found = [json.loads(line) for line in text.splitlines()]
    for record in found:
        for decision in record["decisions"]:
            del decision["seconds"]
    return found


@pytest.mark.slow
def test_plain_and_compiled_runs_have_the_same_records(arena: Callable[..., Any], tmp_path: Path) -> None:
    """With `always` every match is compiled, workers included; replay and merge see no difference."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    fast = arena("run", "spec.yaml", "--store", "fast.db", "--workers", 1, ARENA_COMPILE="always")
    plain = arena("run", "spec.yaml", "--store", "plain.db", "--workers", 1, "--plain", ARENA_COMPILE="always")
    assert fast.returncode == plain.returncode == 0, fast.stderr + plain.stderr
    assert fast.stdout.split("ms/move")[0] == plain.stdout.split("ms/move")[0]
    ours, theirs = [records(arena("export", store).stdout) for store in ("fast.db", "plain.db")]
    timings = [record.pop("timing") for record in ours], [record.pop("timing") for record in theirs]
    assert ours == theirs
    assert timings == ([{"compiled": True}] * 4, [None] * 4)
    merged = arena("merge", "both.db", "fast.db", "plain.db")
    assert merged.returncode == 0, merged.stderr
    assert arena("check", "both.db").returncode == 0


@pytest.mark.slow
def test_without_numba_a_run_says_in_one_line_what_to_install(arena: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKED)
    done = arena("run", "spec.yaml", "--no-store", "--workers", 1, ARENA_COMPILE="always", PYTHONPATH=str(tmp_path / "site"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOTE) == 1


def test_show_says_what_compiles_and_why_not(arena: Callable[..., Any]) -> None:
    assert "compiled: by the extra fast" in arena("show", "othello").stdout
    assert "compiled: no, it has chance" in arena("show", "pig").stdout
    assert "compiled: by the engine ida-star" in arena("show", "ida-star").stdout
