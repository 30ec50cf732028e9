"""The report of a store for a paper: a LaTeX file with the tables, which refers to the plots beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

from arena.api.cli import LATEX_FILE
from arena.api.results import Leaderboard, TextTable
from arena_records.latex import figure, table
from arena_web.report.evidence import Evidence, Findings
from arena_web.report.plot import Plot, printable

FILE = "report.tex"
"""The name of the file."""
MAX_CROSS_COLUMNS = 12
"""A cross-table with more agents does not fit on a page and is left out. The plot still shows all agents."""


def latex_report(
    found: Findings,
    boards: Sequence[tuple[Evidence, Sequence[tuple[str, Plot]]]],
    panels: Sequence[Mapping[str, Any]],
    folder: str,
) -> str:
    """Return the content of the file. Each board comes with its plots and the names of their files. `folder` is the folder of
    these files. `panels` are the panels of the report. Panels that only a browser can draw are left out.

    The file contains only floats (tables and figures), so a document can input the whole file, or copy single floats from
    it.
    """
    run = found.run
    parts = [
        f"{LATEX_FILE.mark.decode()} In the document, before \\begin{{document}}:",
        "% \\usepackage{booktabs,graphicx}",
        f"% \\graphicspath{{{{{' '.join(folder.split())}/}}}}",
        "",
    ]
    overall = Leaderboard.overall([evidence.board for evidence, _ in boards])
    if overall is not None:
        parts.append(table(overall, f"{run.name}: {overall.title}", "overall", [overall.note]))
    for panel in panels:
        if panel["script"] is None and panel["error"] is None:
            rows = panel["data"] if isinstance(panel["data"], list) else [panel["data"]]
            listed = TextTable(list(rows[0]), [list(map(str, row.values())) for row in rows])
            parts.append(table(listed, f"{run.name}: {panel['title']}", f"panel-{panel['name']}"))
    for evidence, plots in boards:
        board, title = evidence.board, f"{run.name}: {evidence.board.title}"
        key = f"{evidence.number + 1}"
        shown = board.table()
        parts.append(table(TextTable(shown.headings, shown.cells), title, f"board-{key}", board.remarks))
        labels = [row["agent"] for row in board.rows]
        if board.cross is not None and 2 < len(labels) <= MAX_CROSS_COLUMNS:
            rows = [[label, *cells] for label, cells in zip(labels, board.cross_cells(), strict=True)]
            caption = f"{title}. {board.cross_title}"
            parts.append(table(TextTable(["", *labels], rows), caption, f"cross-{key}"))
        if (bracket := board.bracket_table()) is not None:
            parts.append(table(bracket, f"{title}. Bracket", f"bracket-{key}"))
        parts += [figure(name, f"{title}. {plot.title}", f"{plot.name}-{key}") for name, plot in plots]
    return printable("\n".join(parts))
