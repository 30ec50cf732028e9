"""Describes how matches end, in words."""

from collections.abc import Sequence

from arena import Limits, Record
from arena.api.match import Reason
from arena.api.results import figures

REASONS: dict[Reason, str] = {
    "adjudicated": "adjudicated",
    "illegal-action": "illegal",
    "exception": "an exception",
    "timeout": "out of time",
    "memory": "out of memory",
    "crash": "its process died",
    "move-limit": "too many moves",
    "stuck": "stuck: no moves are left",
    "gave-up": "gave up",
    "out-of-budget": "out of budget",
    "void": "an error in the game itself",
}


def because(reason: Reason, message: str | None) -> str:
    """Return, in words, the reason why a match ended, followed by `message` if there is one."""
    words = REASONS.get(reason, reason)
    return f"{words}: {message}" if message else words


def result(labels: Sequence[str], returns: Sequence[float]) -> str:
    """Return the winners of a match as a sentence; for a game with one seat, its score."""
    if len(returns) == 1:
        return f"score {figures.figure(returns[0], 6)}"
    best = max(returns)
    winners = [label for label, value in zip(labels, returns, strict=True) if value == best]
    if len(winners) == len(returns):
        return "a draw"
    if len(winners) == 1 and winners[0].lower() == "you":
        return f"{winners[0]} win"
    return f"{winners[0]} wins" if len(winners) == 1 else f"{figures.listing(winners)} share the win"


def find_exhausted_limit(record: Record, limits: Limits) -> str | None:
    """Return the limit that the last decision used up; None if it used up none. It may have been finished at that moment."""
    if not record.decisions:
        return None
    last = record.decisions[-1]
    if limits.nodes is not None and last.nodes >= limits.nodes:
        return figures.amount(limits.nodes, "node")
    if limits.seconds is not None and last.seconds >= limits.seconds:
        return f"{limits.seconds:g} s"
    return None


def explain_failure(record: Record, limits: Limits) -> str | None:
    """Return the reason why a puzzle was not solved, in one line; None if it was solved."""
    if record.solved:
        return None
    if record.termination == "normal":
        return "wrong answer: the final state does not solve this position"
    spent = find_exhausted_limit(record, limits)
    if record.termination == "out-of-budget" and spent is not None:
        return f"out of budget: {spent} were not enough; use --nodes or --seconds for more, or --limits none to remove all limits"
    return because(record.termination, record.message)
