"""The cells of a board as text, by the styles of its columns: the same in the terminal, in a report and on a page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from arena.columns import VERSUS, Column, by_key
from arena.format import Tie
from arena.results import figures
from arena.results.board_rows import Row
from arena.results.leaderboard import Leaderboard


@dataclass(frozen=True, slots=True)
class BoardTable:
    """A board as it is shown: its columns, and its rows in the order of the spec with the texts of their cells."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    unrated: frozenset[str] = frozenset()
    """The agents with hidden ratings."""

    @property
    def headings(self) -> list[str]:
        """The headings."""
        return [column.heading for column in self.columns]

    @property
    def cells(self) -> list[list[str]]:
        """The texts, row by row."""
        return [[self.cell(column, row) for column in self.columns] for row in self.rows]

    def cell(self, column: Column, row: Row) -> str:
        """Return the text of a cell; `?` for a hidden rating, and for its interval unless it has a single bound."""
        if column.key not in _RATING or row["agent"] not in self.unrated:
            return cell(column, row)
        return cell(column, row) if _half_open(row) and column != _ELO else UNKNOWN

    def bounds(self, column: Column, row: Row) -> list[float | None]:
        """Return a value with the bounds of its interval, as far as they are shown."""
        low, high = row.get(f"{column.key}_low"), row.get(f"{column.key}_high")
        value = row.get("mean_return" if column.key == "return" else column.key)
        if column.key not in _RATING or row["agent"] not in self.unrated:
            return [value, low, high]
        return [None, low, high] if _half_open(row) else [None, None, None]


UNKNOWN = "?"
"""The text of a rating that is too uncertain to be shown."""
_RATING = frozenset({"rating", "rating_low", "rating_high"})
_ELO = next(column for column in VERSUS if column.key == "rating" and not column.is_interval)


def _half_open(row: Row) -> bool:
    return (row["rating_low"] is None) != (row["rating_high"] is None)


def board_table(board: Leaderboard) -> BoardTable:
    """Return a board with the columns that the spec names, or the usual ones that have a value; rows by rank, or sorted as in the
    spec.
    """
    if board.sheet.columns is not None:
        named = by_key(board.columns)
        columns = [named[key] for key in board.sheet.columns if key in named]
    else:
        columns = [
            column
            for column in board.columns
            if column.shown == "always"
            or (
                column.shown == "known"
                and any(row.get(column.key) not in (None, {}, row.get(column.repeats)) for row in board.rows)
            )
        ]
    return BoardTable(tuple(columns), tuple(_sorted(board, by_key(board.columns))), board.unrated)


def _sorted(board: Leaderboard, named: dict[str, Column]) -> list[Row]:
    """Return the sorted rows; rows without a value come last."""
    sort = board.sheet.sort or ""
    key = sort.removeprefix("-")
    if key not in named:
        return list(board.rows)
    hidden = board.unrated if key in _RATING else frozenset()
    known = [row for row in board.rows if row.get(key) is not None and row["agent"] not in hidden]
    unknown = [row for row in board.rows if row not in known]

    def rank(row: Row) -> tuple[float, str]:
        """Return the sort key: faults by their number, texts after all numbers."""
        value = row[key]
        if isinstance(value, dict):
            return (sum(value.values()), "")
        return (float("inf"), value) if isinstance(value, str) else (value, "")

    return sorted(known, key=rank, reverse=sort.startswith("-")) + unknown


def cell(column: Column, row: Row) -> str:
    """Return the text of a cell; `-` without a value. The rank is marked with ~ and !, which the remarks of a board explain."""
    key = column.key
    if column.style == "elo interval":
        return _interval(row, key, figures.elo)
    if column.style == "share interval":
        return _interval(row, key, figures.share)
    if column.style == "figure interval":
        return _interval(row, key, figures.figure)
    if column.style == "rank":
        warned = row.get("refuted") or row.get("fallback_share")
        marks = [mark for mark, is_marked in (("~", row.get("level_with")), ("!", warned)) if is_marked]
        return " ".join([str(row[key]), *marks])
    return _TEXT[column.style](row.get(key))


def _interval(row: Row, key: str, text: Callable[[float], str]) -> str:
    low, high = (None if (bound := row.get(f"{key}_{end}")) is None else text(bound) for end in ("low", "high"))
    return figures.between(low, high)


def kinds(found: dict[str, int] | None) -> str:
    """Return the numbers of several kinds as text."""
    return " ".join([f"{kind}:{count}" for kind, count in (found or {}).items()])


_TEXT: dict[str, Callable[[Any], str]] = {
    "text": lambda value: figures.NONE if value is None else str(value),
    "count": figures.count,
    "figure": figures.figure,
    "share": figures.share,
    "elo": figures.elo,
    "score": figures.score,
    "kinds": kinds,
}


@dataclass(frozen=True, slots=True)
class BracketTable:
    """The ties of a bracket, the first round first and each from the top of the bracket down; cells are text."""

    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...] = ("Round", "Agent", "Points", "Opponent", "Goes on")


def bracket_table(board: Leaderboard) -> BracketTable | None:
    """The bracket of a board; None if its format has none."""
    if not board.bracket:
        return None
    last = ("Final", "Semi-final", "Quarter-final")
    rounds = len(board.bracket[0]).bit_length() if len(board.rows) > 1 else 0
    names = [last[left] if (left := rounds - 1 - number) < len(last) else f"Round {number + 1}" for number in range(rounds)]
    return BracketTable(tuple([_tie_cells(name, tie) for name, ties in zip(names, board.bracket, strict=False) for tie in ties]))


def _tie_cells(name: str, tie: Tie[str]) -> tuple[str, ...]:
    if tie.two is None:
        points = "bye"
    elif tie.points is None:
        points = figures.NONE
    else:
        points = " : ".join(map(figures.score, tie.points)) + (", by seed" if tie.by_seed else "")
    return name, tie.one, points, figures.NONE if tie.two is None else tie.two, figures.NONE if tie.winner is None else tie.winner
