"""The page that compares entries, with the text and the tables of `arena compare`, and plots of the compared entries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import combinations
from typing import Any

from arena.api.results import figures
from arena_web.pages import WAY_BACK
from arena_web.report.cross import cross_plot
from arena_web.report.evidence import Evidence, Findings, among
from arena_web.report.html_tables import Kind, Table
from arena_web.report.page import drawing, environment, key_of, origin, stacks_of, style
from arena_web.report.plot import Plot
from arena_web.report.puzzle_plots import UNITS, budget_plot, cactus_plot, quality_plot, scatter_plot
from arena_web.report.ratings import ratings_plot

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The content security policy: the page has no script."""
MAX_SUMMARY_NAMES = 6
"""The maximum number of entries that are named below the title."""
MAX_SCATTER_PLOTS = 6
"""The maximum number of pairs of entries that get a scatter plot."""


@dataclass(frozen=True, slots=True)
class ComparedBoard:
    """A board with its comparisons, as `arena compare` passes them to a page."""

    number: int
    names: Sequence[str]
    """The compared entries."""
    legend: str
    """The legend for the matrix, which has a row and a column for each compared entry."""
    pairs: Sequence[Mapping[str, Any]]
    """Each comparison has `one` and `other`, its `text` (blocks of sentences and HTML tables), and `cells`: the two squares of
    the matrix, one with `one` as the row and the other with `other` as the row.
    """


def comparison_page(found: Findings, boards: Sequence[ComparedBoard]) -> bytes:
    """Return the whole page in UTF-8. The same findings and texts always give the same bytes."""
    from markupsafe import Markup

    names = list(dict.fromkeys([name for board in boards for name in board.names]))
    text = (
        environment()
        .get_template("comparison.html")
        .render(
            policy=POLICY,
            style=style(),
            drawing=drawing,
            run=found.run,
            title=figures.listing(names) if len(names) == 2 else f"{len(names)} entries compared",
            summary=", ".join(names) if 2 < len(names) <= MAX_SUMMARY_NAMES else "",
            boards=[_board(found.boards[board.number], board) for board in boards],
            way_back=Markup(WAY_BACK),  # noqa: S704 - a constant of arena
            origin=origin(found),
        )
    )
    return text.encode("utf-8", "backslashreplace")


def _board(evidence: Evidence, compared: ComparedBoard) -> dict[str, Any]:
    """Return a board with its comparisons: a matrix if there are several, and each comparison with a heading, a verdict and its
    parts.
    """
    title, key = evidence.board.title, key_of(evidence)
    names = [row["agent"] for row in evidence.board.rows if row["agent"] in compared.names]
    cells: dict[tuple[str, str], Any] = {}
    pairs = []
    for number, pair in enumerate(compared.pairs, 1):
        place = f"{key}-pair-{number}"
        for row, column, (text, detail, lead) in zip(
            (pair["one"], pair["other"]), (pair["other"], pair["one"]), pair["cells"], strict=True
        ):
            cells[row, column] = {"text": text, "detail": detail, "lead": lead, "place": place}
        heading, first, *blocks = pair["text"].split("\n\n")
        verdict, _, rest = first.partition("\n")
        parts = [part for block in [rest, *blocks] if (part := read_part(heading, block))]
        pairs.append({"place": place, "heading": heading.removeprefix(f"{title}: "), "verdict": verdict, "parts": parts})
    stacks = stacks_of(comparison_plots(among(evidence, compared.names), compared.names))
    matrix = {name: [cells.get((name, other)) for other in names] for name in names} if len(pairs) > 1 else None
    return {"key": key, "title": title, "legend": compared.legend, "matrix": matrix, "pairs": pairs, "stacks": stacks}


def read_part(heading: str, block: str) -> Table | str:
    """Return a block of a comparison as a table, or as text if it is not a table."""
    rows = _Cells(block).rows if block.startswith("<table>") else []
    if not rows:
        return block
    (corner, *headings), *cells = rows
    kinds: list[Kind] = ["agent"]
    kinds += ["number" for _ in headings]
    shown = [corner or "Figure", *headings]  # screen readers need text in every heading
    return Table(f"{shown[0]} of {heading}", shown, kinds, cells)


def comparison_plots(evidence: Evidence, names: Sequence[str]) -> list[Plot]:
    """Return the plots for some entries, of which the first of `names` are the horizontal axes. For a puzzle, these are scatter
    plots of two entries, and plots of solved attempts and of qualities by nodes and by seconds. For a game, they are plots of
    ratings and scores.
    """
    if evidence.sheet.kind == "versus":
        found = [ratings_plot(evidence.board), cross_plot(evidence.board)]
    elif evidence.sheet.kind == "score":
        found = []
    else:
        asked = [evidence.sheet.labels.index(name) for name in names if name in evidence.sheet.labels]
        pairs = list(combinations(asked, 2))[:MAX_SCATTER_PLOTS]
        scatters = [scatter_plot(evidence, *pair, f"scatter-{number}") for number, pair in enumerate(pairs, 1)]
        kinds = cactus_plot, budget_plot, quality_plot
        found = [*scatters, *[draw(evidence, unit) for unit in UNITS for draw in kinds]]
    return [plot for plot in found if plot is not None]


class _Cells(HTMLParser):
    """The texts of the cells in a table that tabulate has written, row by row. Only the text is used; the template escapes it
    again.
    """

    def __init__(self, table: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False
        self.feed(table)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] = (self.rows[-1][-1] + data).strip()
