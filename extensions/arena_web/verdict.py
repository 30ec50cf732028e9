"""The verdict on a leaderboard in one sentence: which entry is first, and which entries cannot be distinguished from it."""

from arena.api.results import Leaderboard

MAX_NAMES = 4
"""The maximum number of entries that a verdict names."""


def verdict(board: Leaderboard) -> str | None:
    """Return which entry is first, and whether the difference is larger than noise; None if fewer than two entries have played.

    The verdict is the decision of the marks `~` on the board.
    """
    rows = [row for row in board.rows if row.get("games", row.get("attempts"))]
    if len(rows) < 2:
        return None
    first, *others = rows
    is_first = f"{first['agent']} is first of {len(rows)}{' so far' if board.facts.get('finished') is False else ''}"
    if board.kind == "score" or board.ranked_by == "mean_return":
        bounded = first["return_low"] is not None or first["return_high"] is not None
    else:
        open_ended = first.get("rating_low") is None and first.get("rating_high") is None
        bounded = board.kind == "puzzle" or not (open_ended or first["agent"] in board.unrated)
    level = set(first.get("level_with", ()))
    near = [row["agent"] for row in others if row["agent"] in level]
    if not bounded and (near or "superiority" not in first or board.ranked_by == "mean_return"):
        return f"{is_first}, but too few complete rounds differ to say whether that is more than chance."
    if not near:
        return f"{is_first}, and its lead over all others is more than chance (95 %)."
    if len(near) == len(others) > 1:
        return f"{is_first}, but cannot be told apart from any of the others."
    if len(near) > MAX_NAMES:
        near = [*near[: MAX_NAMES - 1], f"{len(near) - MAX_NAMES + 1} others"]
    told = near[0] if len(near) == 1 else f"{', '.join(near[:-1])} and {near[-1]}"
    return f"{is_first}, but cannot be told apart from {told}."
