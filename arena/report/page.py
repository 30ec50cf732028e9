"""The page of a report: one file that needs nothing else, neither a network nor a server."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.report.carried import FRAME, Carried
from arena.report.drawing import inline
from arena.report.evidence import Evidence, Findings
from arena.report.html_tables import failures_table, leaderboard_table, numbers_table, overall_table, remark_list
from arena.report.markup import Markup, element, joined
from arena.report.plot import Plot
from arena.report.plots import plots_of
from arena.results.tables import Overall, document, overall, remarks, replay_command
from arena.views import STATIC, board_script, bundle

OWN = Path(__file__).with_name("static")
WORDS = 1.5
"""Inches of a plot's heading and words."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What the browser lets the page do: run what is in it, and load nothing at all."""


def page(found: Findings, matches: Carried) -> bytes:
    """The whole page as UTF-8. The same findings and matches give the same bytes."""
    title = f"{found.run.name} - arena report"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", title),
        element("style", Markup(_style())),
    )
    body = element("body", _top(found), element("main", _main(found, matches), id="content"), _data(found, matches))
    text = joined(Markup("<!doctype html>\n"), element("html", head, body, lang="en"), "\n")
    return text.encode("utf-8", "backslashreplace")


def key_of(evidence: Evidence) -> str:
    """What ids of a board begin with."""
    return f"board-{evidence.number + 1}"


def _style() -> str:
    return (STATIC / "style.css").read_text(encoding="utf-8") + (OWN / "report.css").read_text(encoding="utf-8")


def _top(found: Findings) -> Markup:
    links = [element("a", "Overall", href="#overall")] if _overall_of(found) else []
    links += [element("a", evidence.board.title, href=f"#{key_of(evidence)}") for evidence in found.boards if evidence.board.rows]
    theme = element("button", "Theme: system", type="button", id="theme", class_="plain small", hidden=True)
    return joined(
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "header",
            element("a", found.run.name, href="#content", class_="brand"),
            element("nav", links, element("a", "Matches", href="#matches"), class_="nav", aria_label="sections"),
            theme,
            class_="top",
        ),
    )


def _main(found: Findings, matches: Carried) -> Markup:
    return joined(
        element("div", element("div", element("h1", found.run.name), element("p", _summary(found))), class_="head"),
        _overall(found),
        [_board(evidence) for evidence in found.boards],
        _matches(matches),
        element("footer", element("p", _origin(found), class_="dim small")),
    )


def _overall_of(found: Findings) -> Overall | None:
    return overall([evidence.board for evidence in found.boards])


def _overall(found: Findings) -> Markup | None:
    """What stands above the boards where there are several games."""
    shown = _overall_of(found)
    if shown is None:
        return None
    return element(
        "section",
        element("h2", "Overall", id="overall"),
        element("div", overall_table(shown), remark_list([shown.note]), class_="card leaderboard"),
        class_="board-section",
        aria_labelledby="overall",
    )


def _summary(found: Findings) -> str:
    count = sum(len(evidence.matches) for evidence in found.boards)
    agents = len({label for evidence in found.boards for label in evidence.sheet.labels})
    parts = [_counted(count, "match", "matches"), _counted(len(found.boards), "board"), _counted(agents, "agent")]
    return f"{', '.join(parts)}; seed {found.run.seed}."


def _counted(count: int, what: str, several: str | None = None) -> str:
    return f"{count:,} {what if count == 1 else several or what + 's'}"


def _origin(found: Findings) -> str:
    run = found.run
    ended = f"ended {run.ended}" if run.ended else "not ended yet"
    versions = ", ".join([f"{name} {version}" for name, version in run.versions.items()])
    return f"From {found.store}: a run that started {run.started} and {ended}, with {versions}."


def _board(evidence: Evidence) -> Markup:
    board, key = evidence.board, key_of(evidence)
    plots = plots_of(evidence)
    failures = None
    if board.failures:
        failures = element("div", element("h3", "Failures"), failures_table(board), class_="card failures")
    return element(
        "section",
        element("h2", board.title, id=key),
        element(
            "div", element("h3", "Leaderboard"), leaderboard_table(board), remark_list(remarks(board)), class_="card leaderboard"
        ),
        failures,
        _plots(plots, key, board.title) if plots else None,
        class_="board-section",
        aria_labelledby=key,
    )


def _plots(plots: Sequence[Plot], key: str, board: str) -> Markup:
    """The plots in two columns of about one height, so that a tall one leaves no hole beside it."""
    columns: tuple[list[Plot], list[Plot]] = [], []
    for plot in plots:
        min(columns, key=lambda column: sum(one.height + WORDS for one in column)).append(plot)
    parts = [element("div", [_figure(plot, key, board) for plot in column], class_="stack") for column in columns if column]
    return element("div", parts, class_="plots")


def _figure(plot: Plot, key: str, board: str) -> Markup:
    drawing = Markup(inline(plot, f"{key}-{plot.name}"))
    return element(
        "figure",
        element("figcaption", element("h3", plot.title)),
        element("div", drawing, class_="drawn", role="group", aria_label=f"{plot.title} of {board}", tabindex=0),
        element("p", plot.text, class_="dim small"),
        element("details", element("summary", "The numbers"), numbers_table(plot, board)),
        class_="card",
        id=f"{key}-{plot.name}",
    )


def _matches(matches: Carried) -> Markup:
    count, of = len(matches.listed), matches.of
    kept = f"All {count:,} are here." if count == of else f"{count:,} of {of:,} are here: failures first, then decisive ones."
    return element(
        "section",
        element("h2", "Matches", id="matches"),
        element("p", kept, class_="dim", id="kept"),
        element("p", matches.trouble, class_="fault") if matches.trouble else None,
        element("noscript", element("p", "To look through the matches, let the page run its script.", class_="note")),
        element(
            "div",
            element("div", id="match-list", class_="card match-list"),
            element(
                "div",
                element("p", "Choose a match.", class_="empty"),
                id="match",
                class_="card match",
                tabindex=-1,
                role="region",
                aria_label="match",
            ),
            class_="columns columns-side",
            id="browser",
            hidden=True,
        ),
        class_="board-section",
        aria_labelledby="matches",
    )


def _data(found: Findings, matches: Carried) -> Markup:
    boards = [
        {"title": evidence.board.title, "labels": evidence.sheet.labels, "versus": evidence.sheet.kind == "versus"}
        for evidence in found.boards
    ]
    listing = {
        "replay": replay_command(found.store, ""),
        "boards": boards,
        "frame": FRAME,
        "matches": matches.listed,
    }
    return joined(
        _json("leaderboards", document(found.run, [evidence.board for evidence in found.boards])),
        _json("listing", listing),
        [element("script", Markup(pack), type="text/plain", class_="pack") for pack in matches.packs],
        element("script", Markup(_safe(bundle()))),
        [_board_script(name, source) for name, source in sorted(matches.boards.items())],
        element("script", Markup(_safe((OWN / "report.js").read_text(encoding="utf-8")))),
    )


def _board_script(name: str, source: str) -> Markup:
    return element("script", Markup(_safe(board_script(name, source))), type="text/javascript", class_="board-script")


def _json(key: str, value: Any) -> Markup:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return element("script", Markup(text.replace("<", "\\u003c")), type="application/json", id=key)


def _safe(script: str) -> str:
    """A script of arena's own, or of a plugin, that does not end the element that it stands in."""
    return "\n" + re.sub("</(script)", r"<\\/\1", script, flags=re.IGNORECASE).replace("<!--", "<\\!--")
