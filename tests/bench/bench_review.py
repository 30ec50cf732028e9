"""The time of a review: a thousand games of connect four, whose decisions are judged by searches with ten times their budget."""

import re
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

import arena

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

CUP: dict[str, Any] = {
    "game": "connect-four",
    "rounds": 500,
    "openings": {"plies": 4},
    "limits": {"nodes": 1000},
    "agents": ["alpha-beta", {"agent": "alpha-beta", "heuristic": "centre", "label": "centre"}],
}


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")
def test_a_review_of_a_thousand_games(bench: "Bench", tmp_path: Path) -> None:
    """With compiled searches, it takes at most two minutes on two cores. A second review finds everything judged."""
    arena.run(CUP, store=tmp_path / "cup.db", workers=2)
    command = [sys.executable, "-m", "arena", "review", "cup.db", "--workers", "2"]
    spent, notes = [], ""
    for _ in range(2):
        began = perf_counter()
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        spent.append(perf_counter() - began)
        notes += done.stderr
    decisions = re.search(r"([\d,]+) decisions", done.stdout + done.stderr)
    bench.at_most(
        120, "review of 1,000 games of connect four", spent[0], " s", decisions=decisions[1] if decisions else "unknown"
    )
    bench.at_most(0.25, "a second review, in relation to the first", spent[1] / spent[0], "")
