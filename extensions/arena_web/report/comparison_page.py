"""The page of a comparison: what `arena compare` says, its tables, and the plots of the entries that are compared."""

from collections.abc import Iterator, Sequence
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
    title = evidence.board.title
    return {
        "key": key_of(evidence),
        "title": title,
        "texts": [_text(title, text) for text in compared.texts],
        "stacks": stacks_of(comparison_plots(among(evidence, compared.names))),
    }


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


def _text(title: str, text: str) -> dict[str, Any]:
    """A comparison as a heading and its parts, sentences and tables, which blank lines set apart."""
    heading, *blocks = text.split("\n\n")
    return {"heading": heading.removeprefix(f"{title}: "), "parts": list(_parts(heading, blocks))}


def _parts(name: str, blocks: Sequence[str]) -> Iterator[str | Table]:
    for block in blocks:
        rows = _rows(block) if block.startswith("<table>") else []
        yield _table(name, rows) if rows else block


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


def _rows(block: str) -> list[list[str]]:
    """The texts of the cells of a table of tabulate, row by row; only texts are taken, and escaped again by the template."""
    reader = _Cells()
    reader.feed(block)
    reader.close()
    return reader.rows


class _Cells(HTMLParser):
    """Gathers the texts of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = False

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
