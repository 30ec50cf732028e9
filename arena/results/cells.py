"""Turns the cells of a board into text, in the styles of its columns. The terminal, a report and a web page show the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arena.columns import VERSUS, Column, by_key
from arena.format import Tie
from arena.results import figures
from arena.results.board import ShownBoard
from arena.results.board_rows import Row
from arena.results.layout import TextTable


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A board as it is shown: its columns, and the texts of its cells, in the order that the spec asks for."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    unrated: frozenset[str] = frozenset()
    """The agents with a hidden rating."""

    @property
    def headings(self) -> list[str]:
        """The headings of the columns."""
        return [column.heading for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """The texts of the cells, row by row."""
        return [[self.cell(column, row) for column in self.columns] for row in self.rows]

    def cell(self, column: Column, row: Row) -> str:
        """Return the text of a cell. A hidden rating is shown as `?`, and so is its interval, unless it is open on one side."""
        if column.key not in _RATING or row["agent"] not in self.unrated:
            return cell(column, row)
        return cell(column, row) if _half_open(row) and column != _ELO else UNKNOWN

    def bounds(self, column: Column, row: Row) -> list[float | None]:
        """Return a value and the bounds of its interval; None replaces each number that is not shown."""
        low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
        value = row.get("mean_return" if column.key == "return" else column.key)
        if column.key not in _RATING or row["agent"] not in self.unrated:
            return [value, low, high]
        return [None, low, high] if _half_open(row) else [None, None, None]


UNKNOWN = figures.Figure("?")
"""The text of a rating that is too uncertain to be shown."""
_RATING = frozenset({"rating", "rating_low", "rating_high"})
TIMES = frozenset({"ms_per_move", "seconds_per_attempt"})
"""The columns whose cells have a * if the times include communication with another process."""
_ELO = next(column for column in VERSUS if column.key == "rating" and not column.is_interval)


def _half_open(row: Row) -> bool:
    return (row["rating_low"] is None) != (row["rating_high"] is None)


def board_table(board: ShownBoard) -> BoardTable:
    """Return a board with the columns that the spec chooses, or the usual ones that have a value, and sorted as the spec says."""

    def is_known(column: Column) -> bool:
        keys = [f"{column.key}_low", f"{column.key}_high"] if column.is_interval else [column.key]
        return any(row.get(key) not in (None, {}, row.get(column.repeats)) for row in board.rows for key in keys)

    if board.sheet.columns is not None:
        named = by_key(board.columns)
        columns = [named[key] for key in board.sheet.columns if key in named]
    else:
        columns = [one for one in board.columns if one.shown == "always" or (one.shown == "known" and is_known(one))]
    return BoardTable(tuple(columns), tuple(_sorted(board, by_key(board.columns))), board.unrated)


def _sorted(board: ShownBoard, named: dict[str, Column]) -> list[Row]:
    sort = board.sheet.sort or ""
    key = sort.removeprefix("-")
    if key not in named:
        return list(board.rows)
    hidden = board.unrated if key in _RATING else frozenset()
    known = [row for row in board.rows if row.get(key) is not None and row["agent"] not in hidden]
    unknown = [row for row in board.rows if row not in known]

    def rank(row: Row) -> tuple[float, str]:
        """Return the sort key of a row. Faults are sorted by their number, and texts come after all numbers."""
        value = row[key]
        if isinstance(value, dict):
            return (sum(value.values()), "")
        return (float("inf"), value) if isinstance(value, str) else (value, "")

    return sorted(known, key=rank, reverse=sort.startswith("-")) + unknown


def cell(column: Column, row: Row) -> str:
    """Return the text of a cell; `-` if it has no value. The remarks on the board explain a ~ or ! after a rank."""
    key = column.key
    if column.is_interval:
        text, bounds = _TEXT[column.style.removesuffix(" interval")], (row.get(f"{key}_low"), row.get(f"{key}_high"))
        return figures.between(*[None if bound is None else text(bound) for bound in bounds])
    if column.style == "rank":
        marks = [mark for mark, key in (("~", "level_with"), ("!", "fallback_share")) if row.get(key)]
        return " ".join([figures.NONE if row[key] is None else str(row[key]), *marks])
    shown = _TEXT[column.style](row.get(key))
    return figures.Figure(f"{shown} *") if key in TIMES and row.get(key) is not None and row.get("apart") else shown


def kinds(found: dict[str, int] | None) -> str:
    """Return kinds, such as kinds of faults, as text, each with its count."""
    return " ".join([f"{kind}:{count}" for kind, count in (found or {}).items()])


_TEXT: dict[str, Callable[[Any], str]] = {
    "text": lambda value: figures.NONE if value is None else value if isinstance(value, str) else figures.Figure(value),
    "count": figures.count,
    "figure": figures.figure,
    "share": figures.share,
    "elo": figures.elo,
    "score": figures.score,
    "kinds": kinds,
}


def bracket_table(board: ShownBoard) -> TextTable | None:
    """Return the ties of a bracket, round by round, from top to bottom; None if the format has no bracket."""
    if not board.bracket:
        return None
    last = ("Final", "Semi-final", "Quarter-final")
    rounds = len(board.bracket[0]).bit_length() if len(board.rows) > 1 else 0
    names = [last[left] if (left := rounds - 1 - number) < len(last) else f"Round {number + 1}" for number in range(rounds)]
    rows = [_tie_cells(name, tie) for name, ties in zip(names, board.bracket, strict=False) for tie in ties]
    return TextTable(("Round", "Agent", "Points", "Opponent", "Goes on"), rows)


def _tie_cells(name: str, tie: Tie[str]) -> tuple[str, ...]:
    if tie.two is None:
        points = "bye"
    elif tie.points is None:
        points = figures.NONE
    else:
        points = " : ".join(map(figures.score, tie.points)) + (", by seed" if tie.by_seed else "")
    return name, tie.one, points, figures.NONE if tie.two is None else tie.two, figures.NONE if tie.winner is None else tie.winner
