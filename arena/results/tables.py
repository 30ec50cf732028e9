"""Leaderboards as text: every format of tabulate, JSON and CSV."""

import csv
import io
import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Protocol

from tabulate import tabulate_formats

from arena.columns import COLUMNS
from arena.results.layout import DEFAULT, crossing, fits, folded, table
from arena.results.leaderboard import Leaderboard, Row
from arena.spec.faults import one_line

FORMATS = (*tabulate_formats, "json", "csv")
"""What `--format` takes."""

Column = tuple[str, Callable[[Row], Any]]

_HEADINGS = {
    "asciidoc": ".{}",
    "github": "### {}",
    "heavy_outline": "{}",
    "html": "<h2>{}</h2>",
    "jira": "h3. {}",
    "latex": "% {}",
    "latex_booktabs": "% {}",
    "latex_longtable": "% {}",
    "latex_raw": "% {}",
    "mediawiki": "== {} ==",
    "moinmoin": "== {} ==",
    "pipe": "### {}",
    "textile": "h3. {}",
    "unsafehtml": "<h2>{}</h2>",
    "youtrack": "h3. {}",
}
"""How a heading is written where a plain line would not do."""


class Titled(Protocol):
    """What a table says of its tournament: a Spec, a Results or a Run of a store."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def seed(self) -> int:
        """What everything random in it follows from."""


@dataclass(frozen=True, slots=True)
class Overall:
    """The table over all games of a tournament, the best agent first; cells are text, ready to be shown anywhere."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = "overall"
    note: str = (
        "Sorted by the mean of ranks; agents that are not on all boards come last, since means over other boards do not compare."
    )


def render(run: Titled, boards: Sequence[Leaderboard], style: str = DEFAULT, width: int | None = None) -> str:
    """All boards of a tournament as one text, in one of FORMATS.

    `width` is that of the terminal where there is one: in the default style columns that do not fit are left out, and told.
    """
    if style != DEFAULT:
        width = None
    if style == "json":
        return json.dumps(document(run, boards), indent=2, allow_nan=False)
    if style == "csv":
        return "\n".join([_csv(board) for board in boards]).rstrip("\n")
    texts = [_text(run.name, board, style, width) for board in boards]
    found = overall(boards)
    if found is not None:
        texts.append(_overall(run.name, found, style, width))
    return folded("\n\n".join(texts), width)


def document(run: Titled, boards: Sequence[Leaderboard]) -> dict[str, Any]:
    """All boards of a tournament as plain values."""
    return {"name": run.name, "seed": run.seed, "boards": [board.as_dict() for board in boards]}


def _text(name: str, board: Leaderboard, style: str, width: int | None) -> str:
    columns, left_out = _fitting(columns_of(board), rows_of(board), width)
    rows = [[shown(row) for _, shown in columns] for row in rows_of(board)]
    heading = _HEADINGS.get(style, "{}")
    title = f"{name}: {board.title}"
    caption = heading.format(escape(title) if style.endswith("html") else title)
    parts = [caption, table([column for column, _ in columns], rows, style, width)]
    if left_out:
        parts.append(f"Left out for want of room: {', '.join(left_out)}. {_ROOMIER}")
    if board.cross is not None and len(board.rows) > 1:
        parts += [heading.format("Score of each row against each column"), _cross(board, style, width)]
    parts.append("\n".join([*remarks(board), *_failures(board)]))
    gap = "\n" if style == "asciidoc" else "\n\n"
    return gap.join(parts[:2]) + "".join(f"\n\n{part}" for part in parts[2:])


def _overall(name: str, found: Overall, style: str, width: int | None) -> str:
    """The table of all games as text."""
    title = f"{name}: {found.title}"
    heading = _HEADINGS.get(style, "{}").format(escape(title) if style.endswith("html") else title)
    shown = table(found.headings, found.rows, style, width)
    return ("\n" if style == "asciidoc" else "\n\n").join([heading, shown]) + f"\n\n{found.note}"


def overall(boards: Sequence[Leaderboard]) -> Overall | None:
    """All agents by the mean of their ranks, with the mean of their ratings; None where there are not several games."""
    if not any("mean_rank" in row for board in boards for row in board.rows):
        return None
    agents = {row["agent"]: row for board in boards for row in board.rows if row["mean_rank"] is not None}
    rows = sorted(agents.values(), key=lambda row: (-row["boards"], row["mean_rank"]))
    rated = any(row["mean_rating"] is not None for row in rows)
    cells = [
        (
            row["agent"],
            f"{row['boards']} of {len(boards)}",
            f"{row['mean_rank']:.2f}",
            *([_elo(row["mean_rating"])] if rated else []),
        )
        for row in rows
    ]
    return Overall(("Agent", "Boards", "Mean rank", *(["Mean Elo"] if rated else [])), tuple(cells))


def columns_of(board: Leaderboard) -> list[Column]:
    """The columns that the spec wants, or those that are usual and have something to say."""
    versus = board.kind == "versus"
    if board.columns is not None:
        return [_NAMED[key] for key in board.columns if key in COLUMNS[board.kind]]
    usual = _VERSUS if versus else _PUZZLE
    return [column for column in usual if column[0] not in _RARE or any(column[1](row) != "" for row in board.rows)]


def rows_of(board: Leaderboard) -> list[Row]:
    """The rows as the spec wants them sorted, by default by rank; those without a value come last."""
    key = (board.sort or "").removeprefix("-")
    if key not in COLUMNS[board.kind]:
        return list(board.rows)
    known = [row for row in board.rows if row.get(key) is not None]
    return sorted(known, key=lambda row: row[key], reverse=(board.sort or "").startswith("-")) + [
        row for row in board.rows if row.get(key) is None
    ]


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int | None) -> tuple[list[Column], list[str]]:
    """The columns that fit, and the headings of those left out, the least important ones; what is left may still be too wide."""
    kept, left_out = list(columns), []
    for going, longest in [*[(going, None) for going in _DISPENSABLE], *[(going, _LABEL) for going in _LAST]]:
        cells = [[shown(row) for _, shown in kept] for row in rows]
        if width is None or fits([heading for heading, _ in kept], cells, width, longest):
            break
        left_out += [heading for heading, _ in kept if heading in going]
        kept = [column for column in kept if column[0] not in going]
    return kept, left_out


_ROOMIER = "A wider terminal or a pipe (`| less -S`) shows all; of a tournament also --format, and `columns:` in its spec."


def _cross(board: Leaderboard, style: str, width: int | None) -> str:
    labels = [row["agent"] for row in board.rows]
    return crossing(labels, labels, [[_share(score) for score in scores] for scores in board.cross or ()], style, width)


def remarks(board: Leaderboard) -> list[str]:
    """What to know of a board beside its numbers, in sentences; the agents' failures stand apart."""
    what = "games" if board.kind == "versus" else "attempts"
    lines = [f"{board.games:,} {what}, {board.distinct_games:,} distinct."]
    if board.folded:
        lines[0] += " Repeated games say nothing new about the agents."
    if not board.finished:
        of = "" if board.size is None else f": {board.size - board.games - board.void:,} of {board.size:,} matches are missing"
        lines.append(f"The run is not finished{of}.")
    if board.mixed:
        lines.append(f"The store has matches of more than one version of {', '.join(board.mixed)}.")
    lines += _strengths(board)
    if board.void:
        lines.append(f"{board.void:,} void, not scored: the game or arena itself is at fault.")
    if board.fallbacks:
        lines.append(f"{board.fallbacks:,} actions were drawn at random: a budget ran out before anything was reported.")
    if board.soft:
        lines.append(f"Time limits are soft for {', '.join(board.soft)}: isolation is none, so nobody stops them.")
    if board.timed:
        lines.append("Some decisions had a time limit: the same matches may come out otherwise another time.")
    return lines


def _failures(board: Leaderboard) -> list[str]:
    lines = []
    for failure in board.failures:
        times = "once" if failure.count == 1 else f"{failure.count:,} times"
        lines.append(
            f"{failure.agent} failed {times} by {failure.kind}, first in match {failure.first}: {one_line(failure.message or '')}"
        )
        if board.store is not None:
            lines.append(f"  {replay_command(board.store, failure.first)}")
    return lines


def replay_command(store: str, key: str) -> str:
    """What to type to see a match again."""
    return f"arena replay {shlex.quote(store)} {key}"


def _strengths(board: Leaderboard) -> list[str]:
    """What stands behind the ratings."""
    if board.kind != "versus":
        return []
    lines = []
    if any(row["rating_low"] is not None or row["rating_high"] is not None for row in board.rows):
        about = "the field's mean" if board.anchor is None else board.anchor
        lines.append(f"Elo about {about}; 95 % intervals from pairs of games ({board.method}).")
        if any(row["level_with"] for row in board.rows):
            lines.append("~ : the interval overlaps with another's, so the order is not certain.")
    elif board.games:
        lines.append(REPEATS)
    lines += [f"{' beats '.join([*circle, circle[0]])}: a circle beyond chance." for circle in board.cycles]
    return lines if board.test is None else [*lines, _tested(board)]


REPEATS = (
    "No intervals: nobody has played two pairs of games that differ. Agents that draw nothing by lot repeat themselves; "
    "try openings: {plies: 4} in the spec."
)


def _tested(board: Leaderboard) -> str:
    """The state of a test in words."""
    found = board.test
    assert found is not None
    verdict = {"H1": "H1 accepted", "H0": "H0 accepted", None: "not decided"}[found.verdict]
    worth = found.worth
    elo = "no Elo" if worth.elo is None else f"Elo {worth.elo:+.1f}"
    margin = "" if worth.margin is None else f" ± {worth.margin:.1f}"
    counts = ", ".join(map(str, found.counts))
    bias = " The Elo of a test that stopped early is biased away from 0." if found.verdict is not None else ""
    head = f"SPRT of {found.one} against {found.other}: {verdict}"
    return f"{head}, LLR {found.llr:.2f} ({found.lower:.2f} to {found.upper:.2f}), pairs {counts}; {elo}{margin}.{bias}"


def _csv(board: Leaderboard) -> str:
    text = io.StringIO()
    keys = [key for key in board.rows[0] if key != "superiority"] if board.rows else ["agent"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["board", *keys])
    for row in board.rows:
        writer.writerow([board.title, *[_plain(row[key]) for key in keys]])
    return text.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return " ".join(f"{key}:{count}" for key, count in value.items())
    return "" if value is None else value


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def _figure(value: float | None) -> str:
    if value is None:
        return "-"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}" if value else "0"


def _kinds(row: Row) -> str:
    return _plain(row["failures_by_kind"]) if row["failures"] else ""


def _rank(row: Row) -> str:
    return f"{row['rank']} ~" if row.get("level_with") else str(row["rank"])


def _elo(value: float | None) -> str:
    return "-" if value is None else f"{value:+.0f}".replace("-0", "+0") if abs(value) < 0.5 else f"{value:+.0f}"


def _interval(row: Row) -> str:
    low, high = row.get("rating_low"), row.get("rating_high")
    if low is None and high is None:
        return "-"
    return f"above {_elo(low)}" if high is None else f"below {_elo(high)}" if low is None else f"{_elo(low)} to {_elo(high)}"


_VERSUS: tuple[Column, ...] = (
    ("Rank", _rank),
    ("Agent", lambda row: row["agent"]),
    ("Elo", lambda row: _elo(row["rating"])),
    ("95 % interval", _interval),
    ("Rounds won", lambda row: row.get("rounds_won", "")),
    ("Points", lambda row: f"{row['swiss_score']:g}" if "swiss_score" in row else ""),
    ("Buchholz", lambda row: _figure(row.get("buchholz")) if "buchholz" in row else ""),
    ("Sonneborn-Berger", lambda row: _figure(row.get("sonneborn_berger")) if "sonneborn_berger" in row else ""),
    ("Games", lambda row: row["games"]),
    ("W", lambda row: row["wins"]),
    ("D", lambda row: row["draws"]),
    ("L", lambda row: row["losses"]),
    ("Score", lambda row: _share(row["score"])),
    ("1st seat", lambda row: "" if row["score_first"] is None else _share(row["score_first"])),
    ("2nd seat", lambda row: "" if row["score_second"] is None else _share(row["score_second"])),
    ("Nodes/move", lambda row: _figure(row["nodes_per_move"])),
    ("ms/move", lambda row: _figure(row["ms_per_move"])),
    ("Failures", _kinds),
)
_PUZZLE: tuple[Column, ...] = (
    ("Rank", lambda row: row["rank"]),
    ("Agent", lambda row: row["agent"]),
    ("Attempts", lambda row: row["attempts"]),
    ("Solved", lambda row: _share(row["solved"])),
    ("95 % interval", lambda row: f"{_share(row['solved_low'])} to {_share(row['solved_high'])}"),
    ("Mean moves", lambda row: _figure(row["mean_moves"])),
    ("When failed", lambda row: _figure(row["mean_moves_failed"])),
    ("Mean cost", lambda row: "" if row["mean_cost"] in (None, row["mean_moves"]) else _figure(row["mean_cost"])),
    ("Nodes", lambda row: _figure(row["nodes_per_attempt"])),
    ("Seconds", lambda row: _figure(row["seconds_per_attempt"])),
    ("Failures", _kinds),
)
_NAMED: dict[str, Column] = {
    "rank": ("Rank", _rank),
    "agent": ("Agent", lambda row: row["agent"]),
    "rating": ("Elo", lambda row: _elo(row["rating"])),
    "rating_low": ("Elo from", lambda row: _elo(row["rating_low"])),
    "rating_high": ("Elo to", lambda row: _elo(row["rating_high"])),
    "games": ("Games", lambda row: row["games"]),
    "wins": ("W", lambda row: row["wins"]),
    "draws": ("D", lambda row: row["draws"]),
    "losses": ("L", lambda row: row["losses"]),
    "score": ("Score", lambda row: _share(row["score"])),
    "score_first": ("1st seat", lambda row: _share(row["score_first"])),
    "score_second": ("2nd seat", lambda row: _share(row["score_second"])),
    "rounds_won": ("Rounds won", lambda row: row.get("rounds_won", "-")),
    "swiss_score": ("Points", lambda row: f"{row['swiss_score']:g}" if "swiss_score" in row else "-"),
    "buchholz": ("Buchholz", lambda row: _figure(row.get("buchholz"))),
    "sonneborn_berger": ("Sonneborn-Berger", lambda row: _figure(row.get("sonneborn_berger"))),
    "attempts": ("Attempts", lambda row: row["attempts"]),
    "solved": ("Solved", lambda row: _share(row["solved"])),
    "solved_low": ("Solved from", lambda row: _share(row["solved_low"])),
    "solved_high": ("Solved to", lambda row: _share(row["solved_high"])),
    "mean_moves": ("Mean moves", lambda row: _figure(row["mean_moves"])),
    "mean_moves_failed": ("When failed", lambda row: _figure(row["mean_moves_failed"])),
    "mean_cost": ("Mean cost", lambda row: _figure(row["mean_cost"])),
    "nodes_per_attempt": ("Nodes", lambda row: _figure(row["nodes_per_attempt"])),
    "seconds_per_attempt": ("Seconds", lambda row: _figure(row["seconds_per_attempt"])),
    "nodes_per_move": ("Nodes/move", lambda row: _figure(row["nodes_per_move"])),
    "ms_per_move": ("ms/move", lambda row: _figure(row["ms_per_move"])),
    "failures": ("Failures", lambda row: row["failures"]),
    "failures_by_kind": ("By kind", _kinds),
}
_RARE = frozenset({"Failures", "Mean cost", "Rounds won", "Points", "Buchholz", "Sonneborn-Berger", "1st seat", "2nd seat"})
"""Columns that are left out where no row has anything to show."""
_DISPENSABLE = (
    ("1st seat", "2nd seat"),
    ("ms/move", "Seconds"),
    ("When failed",),
    ("Nodes/move",),
    ("Sonneborn-Berger",),
    ("Buchholz",),
    ("Failures", "By kind"),
    ("Mean cost",),
    ("W", "D", "L"),
    ("Nodes",),
    ("Mean moves",),
    ("Points",),
    ("Rounds won",),
)
"""What a board can do without where there is no room, those first that go first; failures stand below it, too."""
_LAST = (("Games", "Attempts"), ("95 % interval", "Elo from", "Elo to", "Solved from", "Solved to"))
"""What goes only where wrapping labels to so many characters does not make room either."""
_LABEL = 16
