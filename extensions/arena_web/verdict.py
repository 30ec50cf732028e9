"""The verdict on a leaderboard in one sentence: which entry is first, and which entries cannot be distinguished from it."""

from collections.abc import Sequence

from arena.api.results import Leaderboard, figures

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
    shard = board.facts.get("shard")
    so_far = f" in shard {shard}" if shard else " so far" if board.facts.get("finished") is False else ""
    equal = [row["agent"] for row in others if row["rank"] == first["rank"]]
    is_first = f"{first['agent']} is first of {len(rows)}{so_far}"
    if equal:
        is_first = f"{first['agent']} shares rank 1 of {len(rows)} with {_list_names(equal)}{so_far}"
    if board.kind == "score" or board.ranked_by == "mean_return":
        bounded = first["return_low"] is not None or first["return_high"] is not None
    else:
        open_ended = first.get("rating_low") is None and first.get("rating_high") is None
        bounded = board.kind == "puzzle" or not (open_ended or first["agent"] in board.unrated)
    level = set(first.get("level_with", ()))
    near = [row["agent"] for row in others if row["agent"] in level]
    # if the board tells the first from some others, there are enough rounds for a test, although its rating is hidden
    undecided = len(near) == len(others) or (not near and ("superiority" not in first or board.ranked_by == "mean_return"))
    if not bounded and undecided:
        return f"{is_first}, but too few complete rounds differ to rule out chance."
    if equal and near == equal:
        rest = (
            ", and its lead over the others is too large to be due to chance (95 % confidence)"
            if len(equal) < len(others)
            else ""
        )
        return f"{is_first}{rest}."
    if not near:
        return f"{is_first}, and its lead over all others is too large to be due to chance (95 % confidence)."
    if len(near) == len(others) > 1:
        return f"{is_first}, but cannot be distinguished from any of the others."
    return f"{is_first}, but cannot be distinguished from {_list_names(near)}."


def _list_names(names: Sequence[str]) -> str:
    """Return the first few names as a text, and the number of the other names."""
    if len(names) > MAX_NAMES:
        names = [*names[: MAX_NAMES - 1], f"{len(names) - MAX_NAMES + 1} others"]
    return figures.listing(names)
