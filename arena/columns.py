"""The columns of a board: the key in a row, the heading, the style of the cells, and when the column is shown.

`arena.results.cells` makes the text of a cell, which is the same in the terminal, in a report and on a page.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Style = Literal[
    "text", "count", "figure", "share", "elo", "score", "rank", "kinds", "elo interval", "share interval", "figure interval"
]
STYLES = ("text", "count", "figure", "score", "share", "elo")
"""The styles of columns of formats; the others make a cell of several values."""
Shown = Literal["always", "known", "returns", "named"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a board.

    `key` is its key in the rows of `--format json`; `columns` and `sort` of a spec use the same name. `heading` stands above the
    column, and `description` explains it. `style` is the form of its cells: `text`; `count`, a whole number; `figure`, three
    significant digits; `score`, points with their halves; `share`, a percentage; `elo`, with its sign. Arena's own columns have
    further styles. An interval uses the keys that end in `_low` and `_high`.

    >>> Column("tokens", "Tokens", "count", shown="named").left_out
    12
    """

    key: str
    heading: str
    style: Style = "figure"
    description: str = ""
    shown: Shown = "always"
    """When it is shown if a spec names no columns: `always`, if any row has a value (`known`), if the board is ranked by returns
    or has chance (`returns`), or never (`named`)."""
    left_out: int = 12
    """The order in which columns are left out of a terminal that is too narrow: 1 goes first, LAST and later only after labels
    are wrapped, 0 never."""
    repeats: str = ""
    """The key of a column that makes this one redundant if both have the same values."""

    @property
    def is_interval(self) -> bool:
        """Return whether it shows bounds, and so has no key of its own."""
        return self.style.endswith("interval")


LAST = 14
"""The first place of the columns that are left out only if wrapping labels does not make room."""
_RANK = Column("rank", "Rank", "rank", left_out=0)
_AGENT = Column("agent", "Agent", "text", left_out=0)
_CPU = Column("cpu_per_move", "CPU s/move", description="Processor time of a decision.", shown="known", left_out=3)
_FAILURES = (
    Column("failures_by_kind", "Failures", "kinds", shown="known", left_out=7),
    Column("failures", "Failures", "count", shown="named", left_out=7),
    Column("failures_by_kind", "By kind", "kinds", shown="named", left_out=7),
    Column("fallback_share", "At random", "share", shown="named", left_out=7),
)
_RETURNS = (
    Column("mean_return", "Mean return", shown="returns", left_out=0),
    Column("return_low", "Return from", shown="named", left_out=15),
    Column("return_high", "Return to", shown="named", left_out=15),
    Column("return", "95 % interval", "figure interval", shown="returns", left_out=13),
)
_ADJUSTED = (
    Column("adjusted", "Adjusted", shown="known", left_out=10),
    Column("adjusted_low", "Adjusted from", shown="named", left_out=15),
    Column("adjusted_high", "Adjusted to", shown="named", left_out=15),
    Column("adjusted", "95 % interval", "figure interval", shown="known", left_out=10),
)
_EFFORT = (
    Column("nodes_per_move", "Nodes/move", left_out=4),
    Column("ms_per_move", "ms/move", left_out=2),
    _CPU,
)
VERSUS = (
    _RANK,
    _AGENT,
    Column("rating", "Elo", "elo", left_out=0),
    Column("rating_low", "Elo from", "elo", shown="named", left_out=15),
    Column("rating_high", "Elo to", "elo", shown="named", left_out=15),
    Column("rating", "95 % interval", "elo interval", left_out=15),
    Column("games", "Games", "count", left_out=14),
    Column("wins", "W", "count", left_out=9),
    Column("draws", "D", "count", left_out=9),
    Column("losses", "L", "count", left_out=9),
    Column("score", "Score", "share", left_out=0),
    Column("score_first", "1st seat", "share", shown="known", left_out=1),
    Column("score_second", "2nd seat", "share", shown="known", left_out=1),
    *_RETURNS,
    *_ADJUSTED,
    *_EFFORT,
    *_FAILURES,
)
SCORE = (
    _RANK,
    _AGENT,
    Column("attempts", "Attempts", "count", left_out=14),
    *[replace(column, shown="always") if column.shown == "returns" else column for column in _RETURNS],
    Column("best", "Best", left_out=9),
    Column("moves", "Moves", left_out=8),
    *_EFFORT,
    *_FAILURES,
)
PUZZLE = (
    _RANK,
    _AGENT,
    Column("attempts", "Attempts", "count", left_out=14),
    Column("solved", "Solved", "share", left_out=0),
    Column("solved_low", "Solved from", "share", shown="named", left_out=15),
    Column("solved_high", "Solved to", "share", shown="named", left_out=15),
    Column("solved", "95 % interval", "share interval", left_out=15),
    Column("mean_moves", "Mean moves", left_out=11),
    Column("mean_moves_failed", "Moves if unsolved", left_out=3),
    Column("mean_cost", "Mean cost", shown="known", left_out=8, repeats="mean_moves"),
    Column("nodes_per_attempt", "Nodes", left_out=10),
    Column("seconds_per_attempt", "Seconds", left_out=2),
    _CPU,
    *_FAILURES,
)
COLUMNS = {"versus": VERSUS, "puzzle": PUZZLE, "score": SCORE}
ROW_KEYS = {column.key for column in (*VERSUS, *PUZZLE, *SCORE)}
ROW_KEYS |= {"level_with", "superiority", "refuted", "boards", "mean_rank", "mean_rating", "spent"}
"""The row keys that a column of a format or a plugin may not use."""


def with_own(kind: str, own: Iterable[Column], computed: Iterable[Column] = ()) -> tuple[Column, ...]:
    """Return the columns of a kind of board. A format's `own` follow the interval; columns `computed` by plugins precede the
    failures.
    """
    usual = COLUMNS[kind]
    place = 1 + next(number for number, column in enumerate(usual) if column.is_interval)
    end = usual.index(_FAILURES[0])
    return (*usual[:place], *own, *usual[place:end], *computed, *usual[end:])


def with_interval(column: Column) -> tuple[Column, ...]:
    """Return an estimate with the columns of its interval: one for each bound, which a spec may name, and one for both."""
    low, high = (replace(column, key=f"{column.key}_{end}", shown="named") for end in ("low", "high"))
    bounds = replace(low, heading=f"{column.heading} from"), replace(high, heading=f"{column.heading} to")
    style: Style = "elo interval" if column.style == "elo" else "share interval" if column.style == "share" else "figure interval"
    return (column, *bounds, replace(column, heading="95 % interval", style=style))


def by_key(columns: Iterable[Column]) -> dict[str, Column]:
    """The columns that a spec can name, by their keys."""
    return {column.key: column for column in columns if not column.is_interval}
