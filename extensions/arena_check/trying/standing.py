"""An entry's place on a leaderboard, and its results against each other entry, in words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.api.results import Leaderboard, Row, counted, estimated, figures
from arena.stats.observations import Pair

MIN_PAIRS = 5
"""The fewest pairs of games that can tell two entries apart: 0.05 ** (1 / 5) is above one half, 0.05 ** (1 / 4) is not."""
SURE_SUPERIORITY = 0.975
"""The likelihood of superiority that tells two entries apart if there are no pairs of games: three or more at one table."""
FEW = "scores against"
"""The words for a result of too few pairs that differ."""


class Tried(NamedTuple):
    """A leaderboard with the pairs of games that its tests use."""

    board: Leaderboard
    pairs: Mapping[tuple[str, str], Sequence[Pair]]
    """The pairs of games of every two entries, in either order; empty for games of more than two seats."""


def place(board: Leaderboard, label: str) -> str:
    """The place as `place 2 of 6`, and `shared` if another entry has it too; an entry that has failed has none."""
    row = row_of(board, label)
    if row.get("failures"):
        matches = row["games"] if board.kind == "versus" else row["attempts"]
        what = "game" if board.kind == "versus" else "attempt"
        return f"no place, since it failed in {row['failures']:,} of {matches:,} {what}{'s' * (matches != 1)}"
    shared = sum(other["rank"] == row["rank"] for other in board.rows) > 1
    return f"place {row['rank']} of {len(board.rows)}{', shared' if shared else ''}"


def against_each(tried: Tried, label: str) -> str:
    """The entries that it beats, loses to and cannot be told from, with its scores; scores alone after too few pairs.

    By the 95 % interval of its share of the points, computed from pairs of games as in `arena compare`.
    """
    board = tried.board
    labels = [row["agent"] for row in board.rows]
    scores = board.cross[labels.index(label)] if board.cross else ()
    groups: dict[str, list[str]] = {"beats": [], "loses to": [], "cannot be told from": [], FEW: []}
    for other, score in zip(labels, scores, strict=True):
        if score is not None:
            groups[_word(tried, label, other)].append(f"{other} ({percent(score)})")
    told = "; ".join([f"{word} {', '.join(names)}" for word, names in groups.items() if names])
    few = ", in too few pairs that differ to tell" if groups[FEW] else ""
    return (
        f"{told}{few}; {_met(row_of(board, label)['games'] // max(1, len(labels) - 1), in_pairs=bool(tried.pairs))} against each"
    )


def _met(games: int, *, in_pairs: bool) -> str:
    """The number of games of two entries, as games or as pairs."""
    number, unit = (games // 2, "pair") if in_pairs and games > 1 else (games, "game")
    return f"{number} {unit}{'s' * (number != 1)}{' of games' * (unit == 'pair')}"


def _word(tried: Tried, label: str, other: str) -> str:
    pairs = tried.pairs.get((label, other))
    if pairs is None:
        sure = row_of(tried.board, label).get("superiority", {}).get(other)
        return FEW if sure is None else _compare(above=sure > SURE_SUPERIORITY, below=sure < 1 - SURE_SUPERIORITY)
    worth = estimated(pairs)
    if sum(counted(pairs)) < MIN_PAIRS or worth.score_low is None or worth.score_high is None:
        return FEW
    return _compare(above=worth.score_low > 0.5, below=worth.score_high < 0.5)


def _compare(*, above: bool, below: bool) -> str:
    return "beats" if above else "loses to" if below else "cannot be told from"


def row_of(board: Leaderboard, label: str) -> Row:
    """The row of one entry."""
    return next(row for row in board.rows if row["agent"] == label)


def percent(share: float | None) -> str:
    """A share for a sentence."""
    return figures.share(share, 0)
