"""The page of a report: one self-contained file, which needs neither a network nor a server.

This module puts the content together, and `templates/` turns it into HTML. Jinja escapes all text, so labels and messages of
plugins never become HTML. Only the scripts, styles and drawings of arena are marked as safe HTML.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.api.results import Leaderboard
from arena.api.store import Run
from arena_web.report.carried import FRAME, Carried
from arena_web.report.drawing import inline, plots_of
from arena_web.report.evidence import Evidence, Findings
from arena_web.report.html_tables import leaderboard_table, numbers_table, overall_table, panel_table, ties_table
from arena_web.report.plot import Plot, printable
from arena_web.verdict import verdict
from arena_web.views import STATIC, board_script, bundle, panel_script

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

OWN = Path(__file__).parent
CAPTION_INCHES = 1.5
"""The height, in inches, of the heading and the text of a plot."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""The content security policy: the page may run its own scripts but must not load anything."""


def page(found: Findings, matches: Carried, panels: Mapping[str, Sequence[Mapping[str, Any]]]) -> bytes:
    """Return the whole page in UTF-8. The same findings, matches and panels always give the same bytes.

    `panels` maps the id prefix of each board to the panels of that board, and `report` to the panels of the page itself.
    """
    from markupsafe import Markup

    boards = [evidence.board for evidence in found.boards]
    means = Leaderboard.overall(boards)
    panels = {place: some for place, some in panels.items() if some}
    sources = {panel["name"]: panel["script"] for some in panels.values() for panel in some if panel["script"] is not None}
    sources |= matches.panels
    scripts = [board_script(*board) for board in sorted(matches.boards.items())]
    scripts += [panel_script(*panel) for panel in sorted(sources.items())]
    count = sum(len(evidence.matches) for evidence in found.boards)
    agents = len({label for evidence in found.boards for label in evidence.sheet.labels})
    counts = [_count(count, "match", "matches"), _count(len(found.boards), "board"), _count(agents, "agent")]
    seed = "seed secret until the run ends" if found.run.seed is None else f"seed {found.run.seed}"
    commitment = "" if found.run.commitment is None else f", commitment {found.run.commitment}"
    text = (
        environment()
        .get_template("page.html")
        .render(
            policy=POLICY,
            style=style(),
            library=Markup(_safe(bundle(*(["panels.js"] if panels or matches.panels else [])))),  # noqa: S704 - from arena
            plugin_scripts=[Markup(_safe(script)) for script in scripts],  # noqa: S704 - made safe
            script=Markup(_safe((OWN / "static" / "report.js").read_text("utf-8"))),  # noqa: S704 - from arena
            run=found.run,
            summary=f"{', '.join(counts)}; {seed}{commitment}.",
            origin=origin(found),
            environments=[", ".join([f"{name} {text}" for name, text in one.items()]) for one in found.environments],
            overall=means and {"table": overall_table(means), "note": means.note},
            boards=[_board(evidence) for evidence in found.boards],
            drawing=drawing,
            matches=matches,
            leaderboards=Leaderboard.document(found.run, boards, found.environments),
            listing={
                "replay": Leaderboard.replay_command(found.store, ""),
                "boards": [
                    {"title": one.board.title, "labels": one.sheet.labels, "versus": one.sheet.kind == "versus"}
                    for one in found.boards
                ],
                "frame": FRAME,
                "matches": matches.listed,
            },
            panels={
                place: [panel if panel["script"] is None else {**panel, "script": panel["name"]} for panel in some]
                for place, some in panels.items()
            },
            panel_tables={
                place: [panel_table(panel["title"], panel["data"]) for panel in some if panel["script"] is None and panel["data"]]
                for place, some in panels.items()
            },
        )
    )
    return text.encode("utf-8", "backslashreplace")


@cache
def environment() -> "Environment":
    """Return the environment of the templates, which escapes all text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(OWN / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"breakable": breakable, "code": mark_code}
    made.globals |= {"zip": zip, "numbers_table": numbers_table, "replay_command": Leaderboard.replay_command}
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return made


def breakable(label: object) -> "Markup":
    """Return a label that a page may break before a bracket and after a comma, rather than in the middle of a word."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join([escape(printable(part)) for part in re.split(r"(?=\()|(?<=,)", str(label))])


def mark_code(text: str) -> "Markup":
    """Return a text of one of arena's own remarks, with words in backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`<>]+)`", r"<code>\1</code>", str(escape(printable(text)))))  # noqa: S704 - the text is escaped


def style() -> "Markup":
    """Return the style sheets of the views and of the report."""
    from markupsafe import Markup

    return Markup((STATIC / "style.css").read_text("utf-8") + (OWN / "static" / "report.css").read_text("utf-8"))  # noqa: S704 - arena's own


def drawing(plot: Plot, key: str) -> "Markup":
    """Return a plot as an element of a page; `key` is the prefix of its ids."""
    from markupsafe import Markup

    return Markup(inline(plot, f"{key}-{plot.name}"))  # noqa: S704 - matplotlib escapes its texts


def key_of(evidence: Evidence) -> str:
    """Return the prefix for the ids of a board."""
    return f"board-{evidence.number + 1}"


def _count(count: int, what: str, several: str | None = None) -> str:
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def origin(found: Findings) -> str:
    """Return a sentence about the store and the run from which a page was made."""
    run = found.run
    ended = f"ended {run.ended}" if run.ended else "not ended yet"
    versions = ", ".join([f"{name} {run.versions[name]}" for name in Run.SOFTWARE if name in run.versions])
    return f"From {found.store}: a run that started {run.started} and {ended}, with {versions}."


def _board(evidence: Evidence) -> dict[str, Any]:
    board = evidence.board
    return {
        "key": key_of(evidence),
        "title": board.title,
        "store": board.store,
        "has_rows": bool(board.rows),
        "table": leaderboard_table(board),
        "bracket": None if (bracket := board.bracket_table()) is None else ties_table(bracket, board.title),
        "remarks": board.explained().remarks,
        "verdict": verdict(board),
        "failures": board.failures,
        "stacks": stacks_of(plots_of(evidence)),
    }


def stacks_of(plots: Sequence[Plot]) -> list[list[Plot]]:
    """Distribute the plots over two columns of about equal height, so that a tall plot leaves no gap beside it."""
    columns: tuple[list[Plot], list[Plot]] = [], []
    for plot in plots:
        min(columns, key=lambda column: sum(one.height + CAPTION_INCHES for one in column)).append(plot)
    return [column for column in columns if column]


def _safe(script: str) -> str:
    """Escape a script so that it cannot end its `<script>` element."""
    return "\n" + re.sub("</(script)", r"<\\/\1", script, flags=re.IGNORECASE).replace("<!--", "<\\!--")
