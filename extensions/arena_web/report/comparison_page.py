"""The page of a comparison: what `arena compare` says, its tables, and the plots of the entries that are compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import combinations
from typing import Any

from arena_web.report.cross import cross_plot
from arena_web.report.evidence import Evidence, Findings, among
from arena_web.report.html_tables import Kind, Table
from arena_web.report.page import drawing, environment, key_of, origin, stacks_of, style
from arena_web.report.plot import Plot
from arena_web.report.puzzle_plots import budget_plot, cactus_plot, scatter_plot
from arena_web.report.ratings import ratings_plot

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The content security policy: the page has no script."""
MAX_SCATTER_PLOTS = 6
"""The most pairs of entries that have a scatter plot of their own."""


@dataclass(frozen=True, slots=True)
class ComparedBoard:
    """A board with its comparisons as `arena compare --format html` has them: blocks of text and tables."""

    number: int
    names: tuple[str, ...]
    """The entries that are compared."""
    texts: tuple[str, ...]


def comparison_page(found: Findings, boards: Sequence[ComparedBoard]) -> bytes:
    """The whole page as UTF-8. The same findings and texts give the same bytes."""
    names = list(dict.fromkeys([name for board in boards for name in board.names]))
    text = (
        environment()
        .get_template("comparison.html")
        .render(
            policy=POLICY,
            style=style(),
            drawing=drawing,
            run=found.run,
            title=" and ".join(names) if len(names) == 2 else f"{len(names)} entries compared",
            summary=", ".join(names),
            boards=[_board(found.boards[board.number], board) for board in boards],
            origin=origin(found),
        )
    )
    return text.encode("utf-8", "backslashreplace")


def _board(evidence: Evidence, compared: ComparedBoard) -> dict[str, Any]:
    """A board with its comparisons: each a heading and its parts, sentences and tables, which blank lines set apart."""
    title, texts = evidence.board.title, []
    for text in compared.texts:
        heading, *blocks = text.split("\n\n")
        tables = [_Cells(block).rows if block.startswith("<table>") else [] for block in blocks]
        parts = [_table(heading, rows) if rows else block for block, rows in zip(blocks, tables, strict=True)]
        texts.append({"heading": heading.removeprefix(f"{title}: "), "parts": parts})
    stacks = stacks_of(comparison_plots(among(evidence, compared.names)))
    return {"key": key_of(evidence), "title": title, "texts": texts, "stacks": stacks}


def comparison_plots(evidence: Evidence) -> list[Plot]:
    """The plots of some entries: of a puzzle, two by two and by budget; of a game, their ratings and scores."""
    if evidence.sheet.kind == "versus":
        found = [ratings_plot(evidence.board), cross_plot(evidence.board)]
    elif evidence.sheet.kind == "score":
        found = []
    else:
        pairs = list(combinations(evidence.ranked, 2))[:MAX_SCATTER_PLOTS]
        scatters = [scatter_plot(evidence, *pair, f"scatter-{number}") for number, pair in enumerate(pairs, 1)]
        found = [*scatters, cactus_plot(evidence), budget_plot(evidence)]
    return [plot for plot in found if plot is not None]


def _table(name: str, rows: Sequence[Sequence[str]]) -> Table:
    (corner, *headings), *cells = rows
    kinds: list[Kind] = ["agent"]
    kinds += ["number" for _ in headings]
    matrix = [row[0] for row in cells] == headings
    shown = [
        corner or ("Agent" if matrix else "Figure"),
        *headings,
    ]  # a heading without a text is none to those who cannot see the table
    return Table(f"{shown[0]} of {name}", shown, kinds, cells)


class _Cells(HTMLParser):
    """The texts of the cells of a table of tabulate, row by row; only texts are taken, and the template escapes them again."""

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
