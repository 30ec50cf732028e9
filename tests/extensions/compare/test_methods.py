"""`arena compare --methods`: each fact in the paragraph is the one that the records, the spec or the machine have."""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import arena
from tests.extensions.compare.test_compare import called

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TERMS = {
    "Student's t of the ratings": "Student's t of the ratings (Bradley and Terry 1952; variance clustered by round)",
    "sign flips": "exact sign-flip tests (Fisher 1935)",
}
GAME: dict[str, Any] = {
    "game": {"name": "tic-tac-toe", "columns": 4},
    "rounds": 12,
    "openings": {"plies": 2},
    "seed": 41,
    "limits": {"nodes": 3000},
    "agents": ["random", "greedy", {"agent": "lookahead", "depth": 1, "limits": {"nodes": 500}}],
}


def methods(store: Path, *more: str) -> str:
    found = called("compare", str(store), "--methods", *more)
    assert found.exception is None, found.exception
    assert found.output.count("\n") == 1, "one paragraph"
    return str(found.output)


def test_a_board_of_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(COMMIT + "\n")
    monkeypatch.chdir(tmp_path)
    arena.run(GAME, store=tmp_path / "s.db")
    text = methods(tmp_path / "s.db")
    (board,) = json.loads(called("compare", str(tmp_path / "s.db"), "--format", "json").output)
    pairs = {sum(pair["counts"]) for pair in board["pairs"]}
    size = f"{min(pairs)} to {max(pairs)}" if len(pairs) > 1 else f"{min(pairs)}"
    for fact in (
        "3 entries (random, greedy, lookahead) played 72 games of tic-tac-toe (rows = 3, columns = 4, in_a_row = 3)",
        "The heuristic was open-lanes.",
        "limited: random to 3,000 generated nodes, greedy to 3,000 generated nodes, lookahead to 500 generated nodes.",
        "Entries are ranked by score.",
        *[TERMS[pair["test"]] for pair in board["pairs"]],
        "the games between the two by exact sign-flip tests (Fisher 1935)",
        f"with n = {size} pairs of games",
        f"corrected for all {board['tests']} tests by Holm's method (Holm 1979)",
        "The starting positions come from openings: plies 2.",
        "All random numbers follow from seed 41.",
        f"fairarena {arena.__version__}, Python {platform.python_version()}, numpy {version('numpy')}",
        platform.machine(),
        f"at commit {COMMIT} of the working directory",
    ):
        assert fact in text, fact


@pytest.mark.process
def test_a_board_of_puzzles_and_a_measure(tmp_path: Path) -> None:
    """Two heuristics are named beside their entries. With `--by`, the tests are those of the measure."""
    agents = [{"agent": "a-star", "heuristic": name, "label": name[:3]} for name in ("manhattan", "misplaced")]
    arena.run(
        {"game": "sliding-tiles", "rounds": 8, "limits": {"nodes": 400, "seconds": 60}, "agents": agents}, store=tmp_path / "p.db"
    )
    text = methods(tmp_path / "p.db")
    assert "2 entries (man [a-star, heuristic manhattan]" in text
    assert "Each decision was limited to 400 generated nodes and 60 seconds." in text
    assert "the solved positions by McNemar's exact test (McNemar 1947)" in text
    assert "with n = 8 positions." in text
    by = methods(tmp_path / "p.db", "--by", "nodes")
    assert "we compared the mean nodes by exact sign-flip tests (Fisher 1935), two-sided, with n = 8 positions." in by
    assert "McNemar" not in by


def test_a_sequential_test_is_named(tmp_path: Path) -> None:
    spec = {
        **GAME,
        "agents": ["random", "greedy"],
        "format": {"name": "head-to-head", "test": {"sprt": {"elo0": 0, "elo1": 200}}},
        "rounds": 100,
    }
    arena.run(spec, store=tmp_path / "t.db")
    assert "the score by a sequential test of H0: 0, H1: +200 normalised Elo (alpha 0.05, beta 0.05)" in methods(
        tmp_path / "t.db"
    )


@pytest.mark.parametrize("more", [("--across",), ("-o", "x.html"), ("--format", "json")])
def test_options_that_do_not_fit_are_refused(tmp_path: Path, more: tuple[str, ...]) -> None:
    found = called("compare", str(tmp_path / "s.db"), "--methods", *more)
    assert "--methods prints text about single boards" in str(found.exception)
