"""A leaderboard has the same headings and cells in the terminal, in a report, and on a page in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import run
from tests.conftest import arena_in
from tests.core.formats import test_own_ranking as league
from tests.extensions.web.report.conftest import Page

FIELD = ["random", "greedy", {"agent": "lookahead", "depth": 2}, "type-a-plus", {"agent": "random", "label": "<b>lot</b>"}]
VERSUS: dict[str, Any] = {"game": "tic-tac-toe", "agents": FIELD, "seed": 3, "rounds": 2}
PUZZLE = {"game": {"name": "sliding-tiles", "shuffle": 12}, "rounds": 5, "limits": {"moves": 30},
          "agents": ["random", "greedy", "a-star"]}  # fmt: skip
BOARDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "round-robin": (VERSUS, ["Rank", "Agent", "Elo", "95 % interval", "Games", "W", "D", "L", "Score", "1st seat", "2nd seat"]),
    "swiss": (
        {**VERSUS, "format": "swiss"},
        ["Rank", "Agent", "Elo", "95 % interval", "Points", "Buchholz", "Sonneborn-Berger", "Games"],
    ),
    "knockout": ({**VERSUS, "format": "knockout"}, ["Rank", "Agent", "Elo", "95 % interval", "Rounds won", "Games"]),
    "puzzle": (PUZZLE, ["Rank", "Agent", "Attempts", "Solved", "95 % interval", "Mean moves", "Moves if unsolved", "Generated"]),
    "chosen": (
        {**VERSUS, "columns": ["agent", "losses", "rating_low", "rank", "nodes_per_move"], "sort": "-nodes_per_move"},
        ["Agent", "L", "Elo from", "Rank", "Generated/move"],
    ),
    "league": (league.SPEC, ["Rank", "Agent", "Elo", "95 % interval", "League points", "Form", "Games"]),
}


def printed(text: str, rows: int) -> list[list[str]]:
    """Return the cells of the first table of a text in the style `pipe`, without the backslashes before marks of Markdown."""
    lines = [line.replace("\\", "") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cells[0], *cells[2 : 2 + rows]]


def seen(page: Any) -> list[list[str]]:
    """Return the cells of the first leaderboard that a browser shows."""
    page.wait_for_selector("table.leaderboard")
    rows = page.locator("table.leaderboard").first.locator("tr").all()
    return [[cell.strip() for cell in row.locator("th, td").all_inner_texts()] for row in rows]


def below(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading of a text in the style `pipe`, or an empty list without the heading."""
    part = text.partition(heading)[2].partition("\n\n")[2]
    return printed(table, table.count("\n")) if (table := part.partition("\n\n")[0]).startswith("|") else []


def region(page: Any, label: str, rows: str = "tbody tr") -> list[list[str]]:
    """Return the cells of a table in the region with this label. An empty cell of the diagonal becomes `-`."""
    found = page.locator(f"[aria-label^='{label}']").locator(rows).all()
    return [[cell.strip() or "-" for cell in row.locator("th, td").all_inner_texts()] for row in found]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store for each board."""
    folder = tmp_path_factory.mktemp("boards")
    shutil.copy(league.LEAGUE, folder)
    for name, (spec, _) in BOARDS.items():
        plugins = [str(folder / plugin) for plugin in spec.get("plugins", [])]
        run({**spec, "name": name, "plugins": plugins}, store=folder / f"{name}.db")
    return folder


@pytest.fixture(scope="module")
def visit(folder: Path, serve: Any, browser: Any, visiting: Any) -> Iterator[Any]:
    """Open a page of a server for the folder."""
    with serve(folder, ".") as server:
        made = visiting(browser, server.address, 1280)
        yield made
        assert made.errors == []
        made.end()


@pytest.mark.parametrize("name", BOARDS)
def test_text_report_and_page_show_the_same_leaderboard(name: str, folder: Path, visit: Any) -> None:
    pytest.importorskip("matplotlib")
    spec, first = BOARDS[name]
    arena = arena_in(folder)
    text = arena("leaderboard", f"{name}.db", "--format", "pipe").stdout
    shown = printed(text, len(spec["agents"]))
    assert shown[0][: len(first)] == first
    assert (len(shown[0]) == len(first)) == (name == "chosen")
    assert arena("report", f"{name}.db", "-o", "board.html", "--matches", "0").returncode == 0
    tables = Page((folder / "board.html").read_text("utf-8")).tables
    (reported,) = [table for label, table in tables.items() if label.startswith("leaderboard of ")]
    bracket = next((table for label, table in tables.items() if label.startswith("bracket of ")), [])
    assert bool(bracket) == (name == "knockout")
    assert reported == shown
    page = visit.go(f"/t/{name}")
    assert seen(page) == shown
    assert [row[1:] for row in region(page, "cross-table of ")] == [row[1:] for row in below(text, "Score of each row")[1:]]
    assert region(page, "bracket of ", "tr") == below(text, "# Bracket") == bracket
