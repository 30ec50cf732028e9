"""The figures on the page about the five texts are those of the specs. Of each table, the cheapest rows are played again."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

import arena
from arena.results.leaderboard import Leaderboard

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "explanation" / "results.md").read_text("utf-8")


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script that writes the page."""
    monkeypatch.syspath_prepend(TOP / "docs")
    yield import_module("make_results")
    sys.modules.pop("make_results", None)


def read_rows(title: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return the cells of the table in a section by their headings, by board and agent."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("|")]
    return {(cells[0], cells[1]): dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]}


LINEAR = {"agent": "a-star", "heuristic": "linear-conflict", "weight": 5.0, "label": "a-star(linear-conflict, weight=5.0)"}


@pytest.mark.parametrize(
    ("name", "parameters", "entry", "board"),
    [
        ("tile-game", {"shuffle": 20}, "a-star", "sliding-tiles (shuffle=20)"),
        ("eight-puzzle", {}, {"agent": "a-star", "label": "a-star(manhattan)"}, "sliding-tiles"),
        ("fifteen-puzzle", {"rows": 4, "columns": 4}, LINEAR, "sliding-tiles"),
        ("eight-queens", {}, {"agent": "hill-climb", "label": "strict"}, "n-queens"),
        ("queens-by-size", {"n": 8}, {"agent": "hill-climb", "sideways": 100, "label": "sideways, random"}, "n-queens (n=8)"),
        ("queens-large", {"n": 100}, "min-conflicts", "n-queens (n=100)"),
        ("sudoku", {"cell": "most-constrained"}, {"agent": "dfs", "visited": False}, "sudoku (cell=most-constrained)"),
    ],
)
def test_the_page_shows_the_figures_of_the_spec(maker: Any, name: str, parameters: Any, entry: Any, board: str) -> None:
    """If this fails, positions or agents have changed; `make results` writes the page again. Times depend on the machine."""
    [section] = [one for one in maker.SECTIONS if one.spec == name]
    spec = yaml.safe_load((maker.SEEDS / f"{name}.yaml").read_text("utf-8"))
    spec.pop("games", None)
    spec |= {"game": {"name": board.partition(" ")[0], **parameters}, "agents": [entry]}
    if "positions" in spec:
        spec["positions"] = str(maker.SEEDS / spec["positions"])
    [played] = Leaderboard.of_results(arena.run(spec))
    [row] = played.rows
    shown = read_rows(section.title)[board, row["agent"]]
    for title, show in section.columns:
        assert title == "Seconds" or shown[title] == show(row), title
