"""Where somebody stands, in words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.results.comparison import counted
from arena.results.leaderboard import Leaderboard, Row
from arena.stats.calculator import worth_of_pairs
from arena.stats.pairs import Pair

FEWEST = 5
"""Pairs after which even winning all of them tells something: 0.05 ** (1 / 5) is above one half, 0.05 ** (1 / 4) is not."""
SURE = 0.975
"""The likelihood of superiority from which on it is told, where there are no pairs: of three and more at one table."""
FEW = "scores against"
"""What is said of those of whom there are too few pairs that differ."""


class Tried(NamedTuple):
    """A board that was played, and what its tests go by."""

    board: Leaderboard
    pairs: Mapping[tuple[str, str], Sequence[Pair]]
    """The pairs of games of every two who met, in either order; no entry where more than two sit at a table."""


def place(board: Leaderboard, label: str) -> str:
    """`second of 6`, with who shares the place."""
    row = row_of(board, label)
    shared = sum(other["rank"] == row["rank"] for other in board.rows) > 1
    return f"place {row['rank']} of {len(board.rows)}{', shared' if shared else ''}"


def against_each(tried: Tried, label: str) -> str:
    """Whom it beats, to whom it loses, and of whom it cannot be told, with its scores; these alone after too few pairs.

    By the 95 % interval of its share of the points, which goes by pairs of games, as `arena compare` does it.
    """
    board = tried.board
    labels = [row["agent"] for row in board.rows]
    scores = board.cross[labels.index(label)] if board.cross else ()
    groups: dict[str, list[str]] = {"beats": [], "loses to": [], "cannot be told from": [], FEW: []}
    for other, score in zip(labels, scores, strict=True):
        if score is not None:
            groups[_word(tried, label, other)].append(f"{other} ({100 * score:.0f} %)")
    told = "; ".join([f"{word} {', '.join(names)}" for word, names in groups.items() if names])
    few = ", in too few pairs that differ to tell" if groups[FEW] else ""
    return (
        f"{told}{few}; {_met(row_of(board, label)['games'] // max(1, len(labels) - 1), in_pairs=bool(tried.pairs))} against each"
    )


def _met(games: int, *, in_pairs: bool) -> str:
    """How often two have met."""
    number, unit = (games // 2, "pair") if in_pairs and games > 1 else (games, "game")
    return f"{number} {unit}{'s' * (number != 1)}{' of games' * (unit == 'pair')}"


def _word(tried: Tried, label: str, other: str) -> str:
    pairs = tried.pairs.get((label, other))
    if pairs is None:
        sure = row_of(tried.board, label).get("superiority", {}).get(other)
        return FEW if sure is None else _told(above=sure > SURE, below=sure < 1 - SURE)
    counts = counted(pairs)
    worth = worth_of_pairs(counts)
    if sum(counts) < FEWEST or worth.score_low is None or worth.score_high is None:
        return FEW
    return _told(above=worth.score_low > 0.5, below=worth.score_high < 0.5)


def _told(*, above: bool, below: bool) -> str:
    return "beats" if above else "loses to" if below else "cannot be told from"


def row_of(board: Leaderboard, label: str) -> Row:
    """The row of one entry."""
    return next(row for row in board.rows if row["agent"] == label)


def percent(share: float | None) -> str:
    """A share for a sentence."""
    return "-" if share is None else f"{100 * share:.0f} %"
