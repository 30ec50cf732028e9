"""The columns of a board: their keys, their headings, the styles of their cells, and the conditions under which they are shown.

`arena.results.cells` turns a cell into text. The terminal, a report and a web page show the same text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

Style = Literal[
    "text", "count", "figure", "share", "elo", "score", "rank", "kinds", "elo interval", "share interval", "figure interval"
]
STYLES = ("text", "count", "figure", "score", "share", "elo")
"""The styles that columns of formats can have. Arena's own columns have other styles, too, for cells with several values."""
Shown = Literal["always", "known", "returns", "named"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a board.

    `key` is its key in the rows of `--format json`; the keys `columns` and `sort` of a spec use it, too. `heading` is the text
    above the column, and `description` explains the column. `style` says how its cells are written: `text`; `count`, a whole
    number; `figure`, three significant digits; `score`, points, which may have halves; `share`, a percentage; `elo`, a number
    with a sign. Arena's own columns also have other styles. The bounds of an interval have keys that end in `_low` and `_high`.

    >>> Column("tokens", "Tokens", "count", shown="named").left_out
    12
    """

    key: str
    heading: str
    style: Style = "figure"
    description: str = ""
    shown: Shown = "always"
    """When the column is shown if a spec does not choose the columns. `always`: in any case. `known`: if any row has a value.
    `returns`: if the board is ranked by returns or the game has chance. `named`: never."""
    left_out: int = 12
    """The order in which columns are left out if the terminal is too narrow: columns with 1 are left out first. A column with 0
    is never left out, and a column with LAST or more only after labels have been wrapped."""
    repeats: str = ""
    """The key of another column. If both columns have the same values in every row, this one is not shown."""

    @property
    def is_interval(self) -> bool:
        """Return whether the column shows an interval. Such a column has no key of its own."""
        return self.style.endswith("interval")


LAST = 14
"""From this value of `left_out` on, columns are left out only if wrapping labels does not save enough space."""
_RANK = Column("rank", "Rank", "rank", left_out=0)
_AGENT = Column("agent", "Agent", "text", left_out=0)
_CPU = Column("cpu_per_move", "CPU s/move", description="CPU time per decision.", shown="known", left_out=3)
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
_EFFORT = (Column("nodes_per_move", "Generated/move", left_out=4), Column("ms_per_move", "ms/move", left_out=2), _CPU)
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
    Column("nodes_per_attempt", "Generated", description="Mean number of states generated per attempt.", left_out=10),
    Column(
        "expanded_per_attempt", "Expanded", description="Mean number of states expanded per attempt.", shown="known", left_out=7
    ),
    Column("seconds_per_attempt", "Seconds", left_out=2),
    _CPU,
    *_FAILURES,
)
COLUMNS = {"versus": VERSUS, "puzzle": PUZZLE, "score": SCORE}
TIME_KEYS = frozenset({"ms_per_move", "seconds_per_attempt", "cpu_per_move"})
ROW_KEYS = {column.key for column in (*VERSUS, *PUZZLE, *SCORE)}
ROW_KEYS |= {"level_with", "apart", "superiority", "spent"}
"""Keys of rows that columns of formats and plugins may not use."""


def with_own(kind: str, own: Iterable[Column], computed: Iterable[Column] = ()) -> tuple[Column, ...]:
    """Return the columns for a kind of board, with the `own` columns of the format and the columns `computed` by plugins."""
    usual = COLUMNS[kind]
    place = 1 + next(number for number, column in enumerate(usual) if column.is_interval)
    end = usual.index(_FAILURES[0])
    return (*usual[:place], *own, *usual[place:end], *computed, *usual[end:])


def with_interval(column: Column) -> tuple[Column, ...]:
    """Return the column of an estimate, with a column for each bound of its interval and one for the whole interval."""
    low, high = (replace(column, key=f"{column.key}_{end}", shown="named") for end in ("low", "high"))
    bounds = replace(low, heading=f"{column.heading} from"), replace(high, heading=f"{column.heading} to")
    style: Style = "elo interval" if column.style == "elo" else "share interval" if column.style == "share" else "figure interval"
    return (column, *bounds, replace(column, heading="95 % interval", style=style))


def by_key(columns: Iterable[Column]) -> dict[str, Column]:
    """Return the columns that a spec can choose, by their keys."""
    return {column.key: column for column in columns if not column.is_interval}
