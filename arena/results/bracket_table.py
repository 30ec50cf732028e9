"""The bracket of a knockout as a table: a row a tie, in the terminal, in a report and on a page."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.results import figures
from arena.results.leaderboard import Leaderboard
from arena.stats.bracket import Tie

HEADINGS = ("Round", "Agent", "Points", "Opponent", "Goes on")
_LAST = ("Final", "Semi-final", "Quarter-final")


@dataclass(frozen=True, slots=True)
class BracketTable:
    """The ties of a bracket, the first round first and each from the top of the bracket down; cells are text."""

    rows: tuple[tuple[str, ...], ...]
    headings: tuple[str, ...] = HEADINGS


def bracket_table(board: Leaderboard) -> BracketTable | None:
    """The bracket of a board; None where its format has none."""
    if not board.bracket:
        return None
    names = _names(len(board.bracket[0]), len(board.rows))
    return BracketTable(
        tuple([_row(name, tie) for name, ties in zip(names, board.bracket, strict=False) for tie in ties]),
    )


def _names(first: int, entries: int) -> Sequence[str]:
    """The names of all rounds of a bracket whose `first` round has so many slots."""
    rounds = first.bit_length() if entries > 1 else 0
    return [_LAST[left] if (left := rounds - 1 - number) < len(_LAST) else f"Round {number + 1}" for number in range(rounds)]


def _row(name: str, tie: Tie[str]) -> tuple[str, ...]:
    if tie.two is None:
        points = "bye"
    elif tie.points is None:
        points = figures.NONE
    else:
        points = " : ".join(map(figures.score, tie.points)) + (", by seed" if tie.by_seed else "")
    return (
        name,
        tie.one,
        points,
        figures.NONE if tie.two is None else tie.two,
        figures.NONE if tie.winner is None else tie.winner,
    )
