"""The page about stronger heuristics comes from the matches of its spec."""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import gmean  # type: ignore[import-untyped]

import arena

TOP = Path(__file__).parents[2]
SPEC = yaml.safe_load((TOP / "tournaments" / "heuristics.yaml").read_text("utf-8"))
PAGE = (TOP / "docs" / "explanation" / "heuristics.md").read_text("utf-8")


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The script that writes the page."""
    monkeypatch.syspath_prepend(TOP / "docs")
    yield import_module("make_heuristics")
    for name in ("make_heuristics", "make_figures"):
        sys.modules.pop(name, None)


def read_rows(page: str) -> dict[str, list[str]]:
    """Return the cells of the first table of a page, by the first cell."""
    lines = page[page.index("| puzzle | stronger") :].partition("\n\n")[0].splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    return {name: rest for name, *rest in cells}


def test_the_page_contains_each_board_and_heuristic_of_the_spec(maker: Any) -> None:
    """If this fails, the spec has changed; `make results` writes the page again."""
    boards = maker.name_boards(SPEC)
    rows = read_rows(PAGE)
    assert list(rows) == [*boards, "**all**"]
    strong, weak = [entry["heuristic"] for entry in SPEC["agents"][:2]]
    for board, game in zip(boards, SPEC["games"], strict=True):
        assert rows[board][:2] == [maker.describe_heuristic(of[game["name"]]) for of in (strong, weak)]
    assert f"solve {SPEC['rounds']}\npositions on each of {len(boards)} boards" in PAGE
    puzzles = {name for name, game in arena.load_plugins(environ=False).games.items() if issubclass(game, arena.Puzzle)}
    assert {game["name"] for game in SPEC["games"]} == puzzles, "the page is about all built-in puzzles"


@pytest.mark.process
def test_figures_of_the_page_agree_with_the_records(maker: Any, tmp_path: Path) -> None:
    """The spec is played with small boards and few rounds. scipy computes the ratios of nodes."""
    small = {"sliding-tiles": {"shuffle": 12}, "pancake": {"n": 5}, "top-spin": {"n": 6}, "n-queens": {"n": 8, "placed": 1}}
    maps = [game for game in SPEC["games"] if game["name"] == "grid-path"]
    games = [*[{"name": name, **values} for name, values in small.items()], *maps]
    agents = [dict(entry) for entry in SPEC["agents"]]
    for entry in agents:
        if "heuristic" in entry:
            entry["heuristic"] = {game["name"]: entry["heuristic"][game["name"]] for game in games}
    spec = {**SPEC, "games": games, "agents": agents, "rounds": 4}
    store = tmp_path / "small.db"
    frame = arena.run(spec, store=store).to_dataframe()
    page = maker.make_page(spec, store)
    rows = read_rows(page)
    wide = frame[frame["solved"].astype(bool)].pivot_table(index=["domain", "round"], columns="agent", values="nodes", sort=False)
    wide = wide.clip(lower=1)  # a start that is a goal takes no node, which counts as one
    ratios = (wide["a-star strong"] / wide["a-star weak"]).dropna().groupby("domain", sort=False).agg(gmean)
    assert [float(cells[2]) for cells in list(rows.values())[:-1]] == pytest.approx(list(ratios), rel=5e-3)
    overall = float(rows["**all**"][2].strip("*"))
    assert overall == pytest.approx(gmean(ratios), rel=5e-3)
    assert re.search(rf"^> Over all domains, a-star strong .*: x {overall:g} ", page, re.MULTILINE)
    solved = frame.pivot_table(index="domain", columns="agent", values="solved", sort=False).astype(float)
    table = page[page.index("| puzzle | a-star strong") :].partition("\n\n")[0].splitlines()[2:]
    for line, domain in zip(table, solved.index, strict=True):
        shares = [float(cell.strip(" %")) for cell in line.split("|")[2:-1]]
        assert shares == pytest.approx([100 * solved.loc[domain, entry["label"]] for entry in SPEC["agents"]], abs=0.051)
    headings = [line for line in PAGE.splitlines() if line.startswith("#")]
    assert [line for line in page.splitlines() if line.startswith("#")] == headings
