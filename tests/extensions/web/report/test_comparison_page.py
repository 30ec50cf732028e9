"""Plots of two entries agree with the records, and `arena compare -o` writes its output as a page."""

import csv
import re
from collections.abc import Collection
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arena import run
from arena.store import Store
from arena_web.report.comparison_page import comparison_plots
from arena_web.report.domains_page import _points
from arena_web.report.drawing import plots_of
from arena_web.report.evidence import Evidence, among, read
from arena_web.report.palette import PAPER
from arena_web.report.plot import Plot
from arena_web.report.puzzle_plots import scatter_plot
from tests.conftest import Arena, invoke_in
from tests.extensions.web.conftest import find_violations
from tests.extensions.web.report.conftest import Page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

A_STAR, CLIMB = "a-star", "</script><!-- climb"
COMPARED = ("<script>alert(1)</script>", "lookahead", '_ id="x" #01a0f1 $囲$')


@pytest.fixture(scope="module")
def puzzle(played: Path) -> Evidence:
    return read(played / "cup.db").boards[2]


def nodes_of(played: Path, board: str, label: str) -> dict[int, int | None]:
    """Return the nodes of an entry by round, from its records, or None for unsolved positions."""
    with Store.open(played / "cup.db") as store:
        run = store.last()
        records = [(record, place) for record, place in store.records(boards=True) if place is not None]
    return {
        place.pairing.round: sum(decision.nodes for decision in record.decisions) if record.solved else None
        for record, place in records
        if run.boards[place.board].title == board and record.labels == (label,)
    }


def solved_nodes(played: Path, label: str) -> list[int]:
    """Return the nodes of each solution of an entry, sorted."""
    return sorted(nodes for nodes in nodes_of(played, "sliding-tiles", label).values() if nodes is not None)


def plot_named(evidence: Evidence, name: str) -> Plot:
    return next(plot for plot in plots_of(evidence) if plot.name == name)


def drawn(plot: Plot) -> Any:
    """Return axes with the plot drawn for paper."""
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    plot.draw(axes, PAPER)
    return axes


def test_a_cactus_plot_sorts_solved_positions_by_nodes(puzzle: Evidence, played: Path) -> None:
    """The cell of k solved positions is the k-th smallest number of nodes, and the line goes through all of them."""
    plot = plot_named(puzzle, "cactus-nodes")
    counts = [int(heading.removesuffix(" solved").replace(",", "")) for heading in plot.headings[1:]]
    efforts = {label: solved_nodes(played, label) for label in puzzle.sheet.labels}
    assert counts[-1] == max(map(len, efforts.values())) == 8
    for label, *cells in plot.rows:
        known = efforts[str(label)]
        assert cells == [known[count - 1] if count <= len(known) else None for count in counts]
    lines = drawn(plot).lines
    best = puzzle.sheet.labels[puzzle.ranked[0]]
    assert list(lines[0].get_ydata()) == [max(1, nodes) for nodes in efforts[best]], "the axis is logarithmic"
    assert list(lines[0].get_xdata()) == list(range(1, len(efforts[best]) + 1))


def test_a_scatter_plot_has_a_point_for_each_position(puzzle: Evidence, played: Path) -> None:
    """The coordinates of the point are both numbers of nodes. If only one entry solved a position, the point is at an edge."""
    labels = puzzle.sheet.labels
    one, other = labels.index(A_STAR), next(entry for entry, label in enumerate(labels) if label.startswith("_ id"))
    plot = scatter_plot(puzzle, one, other)
    assert plot is not None
    mine, theirs = nodes_of(played, "sliding-tiles", A_STAR), nodes_of(played, "sliding-tiles", labels[other])
    met = [round_ for round_ in sorted(mine) if mine[round_] is not None or theirs[round_] is not None]
    assert list(plot.rows) == [(round_ + 1, mine[round_], theirs[round_]) for round_ in met]
    both = [(a, b) for a, b in [(mine[round_], theirs[round_]) for round_ in met] if a is not None and b is not None]
    circles, top, right = [collection.get_offsets().tolist() for collection in drawn(plot).collections]
    assert sorted(map(tuple, circles)) == sorted((max(1, a), max(1, b)) for a, b in both)
    assert len(top) == len(met) - len(both)
    assert right == []
    fewer = sum(a < b for a, b in both)
    assert f"Of the {len(both):,} rounds that both solved, {A_STAR} needed fewer nodes on {fewer:,} (above the line)" in plot.text


def with_nodes(evidence: Evidence, label: str, nodes: int, rounds: Collection[int]) -> Evidence:
    """Return the board as if an entry had used this many nodes in these rounds."""
    entry = evidence.sheet.labels.index(label)
    matches = [
        match._replace(effort=match.effort._replace(nodes=nodes)) if entry in match.seats and match.round in rounds else match
        for match in evidence.matches
    ]
    return replace(evidence, matches=tuple(matches))


def test_an_entry_that_reports_no_nodes_is_in_no_plot_of_nodes(puzzle: Evidence, played: Path) -> None:
    """As in the text of the comparison, 0 nodes in every attempt are no figure; plots by seconds show the entry."""
    labels = puzzle.sheet.labels
    idle = with_nodes(puzzle, A_STAR, 0, range(100))
    for plots in (plots_of(idle), comparison_plots(idle, labels)):
        assert not any(A_STAR in plot.title for plot in plots)
        by_nodes = [plot for plot in plots if plot.name.endswith("nodes")]
        assert {plot.name for plot in by_nodes} >= {"cactus-nodes", "budget-nodes"}
        for plot in by_nodes:
            assert A_STAR not in [*plot.lines, *[row[0] for row in plot.rows]]
            said = re.search(r"\. ([^.]*) report no nodes and are left out\.", plot.text)
            assert said is not None
            assert set(re.split(", | and ", said[1])) == {A_STAR, "<script>alert(1)</script>", "stumbles"}
        assert any(A_STAR in plot.lines for plot in plots if plot.name == "cactus-seconds")
    assert scatter_plot(idle, labels.index(A_STAR), labels.index("lookahead")) is None
    found = read(played / "cup.db")
    for board, expected in ((idle, []), (puzzle, ["tiles"])):
        assert list(_points(replace(found, boards=(board,)), A_STAR, "lookahead", ["tiles"])) == expected


def test_a_position_without_nodes_has_0_in_the_table(puzzle: Evidence) -> None:
    """The position may be solved from the start. A logarithmic axis has no 0, so the line is at 1."""
    plot = plot_named(with_nodes(puzzle, A_STAR, 0, {0}), "cactus-nodes")
    assert next(row for row in plot.rows if row[0] == A_STAR)[1] == 0
    assert min(drawn(plot).lines[plot.lines.index(A_STAR)].get_ydata()) == 1


def test_the_requested_pair_is_drawn(puzzle: Evidence) -> None:
    """The order is as requested, whatever the ranks are."""
    ranked = [puzzle.sheet.labels[entry] for entry in puzzle.ranked]
    for names in ((ranked[2], ranked[0]), (ranked[0], ranked[2])):
        first = comparison_plots(among(puzzle, names), names)[0]
        assert first.headings == ("Round", f"Generated nodes of {names[0]}", f"Generated nodes of {names[1]}")


def test_equal_results_are_points_on_the_diagonal(puzzle: Evidence) -> None:
    """An entry compared with itself has only ties, and each point is on the line from corner to corner."""
    entry = puzzle.sheet.labels.index(A_STAR)
    plot = scatter_plot(puzzle, entry, entry)
    assert plot is not None
    assert "needed fewer on 0 (below it)" not in plot.text
    assert "on 8, both needed equally many (on the line)." in plot.text
    axes = drawn(plot)
    assert all(across == up for across, up in axes.collections[0].get_offsets().tolist())
    assert list(axes.lines[0].get_xdata()) == list(axes.lines[0].get_ydata())
    assert axes.get_xlim() == axes.get_ylim()


def test_a_board_among_some_entries_contains_only_their_matches(puzzle: Evidence) -> None:
    """Plots of a comparison show only the compared entries."""
    shown = among(puzzle, (A_STAR, CLIMB))
    assert {puzzle.sheet.labels[match.seats[0]] for match in shown.matches} <= {A_STAR, CLIMB}
    for plot in comparison_plots(shown, shown.sheet.labels):
        assert {row[0] for row in plot.rows if isinstance(row[0], str)} <= {A_STAR, CLIMB}


@pytest.fixture(scope="module")
def compared(played: Path) -> Path:
    """Return the page that compares three entries of the store. One of them has a hostile name."""
    done = invoke_in(played)("compare", "cup.db", *COMPARED, "-o", "compared.html")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return played / "compared.html"


def test_the_page_agrees_with_the_printed_comparison(compared: Path, invoke: Arena) -> None:
    """The page contains every sentence and every cell of a table for each pair on each board."""
    page = Page(compared.read_text(encoding="utf-8"))
    seen = "\n".join([*page.text, *[cell for table in page.tables.values() for row in table for cell in row]])
    printed = "\n\n".join([invoke("compare", "cup.db", *pair, "--format", "tsv").stdout for pair in combinations(COMPARED, 2)])
    paragraphs = [block for block in printed.split("\n\n") if "\t" not in block and " time" in block and block.endswith(".")]
    assert len(paragraphs) >= 3, "each pair has a sentence about the puzzle"
    for paragraph in paragraphs:
        assert paragraph.strip().split(": ", 1)[-1] in seen
    for line in printed.splitlines():
        cells = [cell.strip() for row in csv.reader([line], delimiter="\t", skipinitialspace=True) for cell in row]
        assert all(cell in seen for cell in cells[1:] if "\t" in line)


def test_a_cell_of_the_matrix_links_to_its_pair(compared: Path) -> None:
    """The matrix comes first, in the order of the leaderboard. Two of its cells link to each pair."""
    text = compared.read_text(encoding="utf-8")
    page, rows = Page(text), read(compared.parent / "cup.db").boards[0].board.rows
    table = next(rows for name, rows in page.tables.items() if name == "matrix of tic-tac-toe")
    ranked = [row["agent"] for row in rows if row["agent"] in COMPARED]
    assert [row[0].lstrip("0123456789") for row in table[1:]] == ranked
    links = [
        str(found["href"]).removeprefix("#") for tag, found in page.tags if tag == "a" and "-pair-" in str(found.get("href"))
    ]
    assert len(links) == 2 * len(set(links))
    assert set(links) <= set(page.ids)
    assert text.index('class="cross matrix compact"') < text.index('<details class="comparison"')
    signs = {cell[:1] for row in table[1:] for cell in row[1:] if cell.strip()}
    assert signs == {"+", "-"}, "the two cells of a pair have opposite signs"


def test_details_of_pairs_are_collapsed_below_the_matrix(browser: "Browser", invoke: Arena, played: Path) -> None:
    """The page with twelve entries is short. A cell opens its pair, and a link leads back."""
    agents = ["greedy", *({"agent": "random", "label": f"random({number})"} for number in range(11))]
    run({"game": "tic-tac-toe", "agents": agents, "rounds": 1}, store=played / "twelve.db")
    assert invoke("compare", "twelve.db", "-o", "twelve.html").returncode == 0
    page = browser.new_page()
    page.goto((played / "twelve.html").as_uri())
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(".matrix").bounding_box()["y"] < 900  # type: ignore[index]
        assert page.evaluate("document.documentElement.scrollHeight") < 4000
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator(".matrix td a").nth(25).click()
    place = page.url.partition("#")[2]
    pair = page.locator(f"#{place}")
    pair.wait_for(state="visible")
    assert "per pair of games (number of pairs): 0 (" in pair.inner_text()
    assert page.locator("details.comparison[open]").count() == 1
    pair.get_by_role("link", name="Back to the matrix").click()
    assert page.evaluate("scrollY") < 900
    page.close()


def test_the_page_is_safe_and_self_contained(compared: Path) -> None:
    """The page contains no script and loads nothing. A label that looks like markup is shown as text."""
    page = Page(compared.read_text(encoding="utf-8"))
    assert "script" not in {tag for tag, _ in page.tags}
    assert not [found for _, found in page.tags if re.match("https?:|//", found.get("src") or found.get("href") or "")]
    assert any("<script>alert(1)</script>" in text for text in page.text)
    assert len(page.ids) == len(set(page.ids))
    policy = next(found for tag, found in page.tags if found.get("http-equiv") == "Content-Security-Policy")
    assert str(policy["content"]).startswith("default-src 'none'; style-src 'unsafe-inline';")


def test_a_comparison_of_two_entries_names_both(played: Path, invoke: Arena) -> None:
    """The title contains both names, and the plots show the pair."""
    done = invoke("compare", "small.db", "random", "greedy", "-o", "two.html")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    text = (played / "two.html").read_text(encoding="utf-8")
    assert "<h1>random and greedy</h1>" in text
    assert 'id="board-1-ratings"' in text


@pytest.mark.parametrize(
    ("place", "told"),
    [("cup.db", "a database"), ("nowhere/page.html", "does not exist")],
)
def test_a_comparison_that_cannot_be_written_is_refused(invoke: Arena, place: str, told: str) -> None:
    """As for `arena report`, the error is one line and comes before the comparison."""
    done = invoke("compare", "cup.db", "-o", place)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_the_comparison_is_accessible_and_fits_the_screen(browser: "Browser", compared: Path) -> None:
    """The page breaks no rule of axe in light and dark, and only tables scroll sideways."""
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme="light")
    page = context.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.goto(compared.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert find_violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_violations(page, ["color-contrast"]) == []
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert trouble == []
    context.close()
