"""Where somebody stands, in words."""

from arena.results.leaderboard import Leaderboard, Row
from arena.stats import wilson

FEWEST = 4
"""Games after which even winning all of them would tell something."""


def place(board: Leaderboard, label: str) -> str:
    """`second of 6`, with who shares the place."""
    row = row_of(board, label)
    shared = sum(other["rank"] == row["rank"] for other in board.rows) > 1
    return f"place {row['rank']} of {len(board.rows)}{', shared' if shared else ''}"


def against_each(board: Leaderboard, label: str) -> str:
    """Whom it beats, to whom it loses, and of whom it cannot be told, with its scores; these alone after too few games."""
    labels = [row["agent"] for row in board.rows]
    scores = board.cross[labels.index(label)] if board.cross else ()
    games = row_of(board, label)["games"] // max(1, len(labels) - 1)
    groups: dict[str, list[str]] = {"beats": [], "loses to": [], "cannot be told from": [], "scores against": []}
    for other, score in zip(labels, scores, strict=True):
        if score is not None:
            groups[_word(score, games)].append(f"{other} ({100 * score:.0f} %)")
    told = "; ".join([f"{word} {', '.join(names)}" for word, names in groups.items() if names])
    return f"{told}; {games} {'game' if games == 1 else 'games'} against each{', too few to tell' if games < FEWEST else ''}"


def _word(score: float, games: int) -> str:
    if games < FEWEST:
        return "scores against"
    low, high = wilson(round(score * games), games)
    return "beats" if low > 0.5 else "loses to" if high < 0.5 else "cannot be told from"


def row_of(board: Leaderboard, label: str) -> Row:
    """The row of one entry."""
    return next(row for row in board.rows if row["agent"] == label)


def percent(share: float | None) -> str:
    """A share for a sentence."""
    return "-" if share is None else f"{100 * share:.0f} %"
