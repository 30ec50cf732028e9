"""The record of a match."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Reason = Literal[
    "normal",
    "adjudicated",
    "illegal-action",
    "exception",
    "timeout",
    "memory",
    "crash",
    "move-limit",
    "stuck",
    "gave-up",
    "void",
]
"""Why a match ended. `adjudicated` is by the values that its agents reported, if the spec wants that.

`illegal-action` is also a wrong path, an answer of the wrong kind, and None from `choose`.
"""

FAULTS: frozenset[str] = frozenset({"illegal-action", "exception", "timeout", "memory", "crash"})
"""The endings that are an agent's fault, and so its loss."""


CPU_SECONDS = "cpu_seconds"
"""The key in the `timing` of a record for the processor time of each seat; null for a seat without a limit of that."""


class Decision(NamedTuple):
    """What one call of `choose` or `solve` used. A named tuple, since a match makes one at every move."""

    seat: int
    """Whose decision it was."""
    nodes: int
    """States generated."""
    evaluations: int
    """Calls of `evaluate` and `cost_to_go`."""
    seconds: float
    """How long it took, on the clock."""
    depth: int | None
    """The depth that the agent reported last, in plies."""
    value: float | None
    """The value that the agent reported last, from its own view."""
    spent: Mapping[str, float] | None = None
    """What else the agent said that it used, by name, such as `tokens`; None if it said nothing."""
    unmetered: int = 0
    """States generated past the view of the game, as far as they were seen; see `arena.unmetered`."""

    def as_dict(self) -> dict[str, Any]:
        """The decision as plain values; `spent` and `unmetered` are among them only if there is something."""
        plain = self._asdict()
        if self.spent is None:
            del plain["spent"]
        if not self.unmetered:
            del plain["unmetered"]
        return plain


class Record(NamedTuple):
    """One match: who met whom where, what was played, how it ended, and what every decision used.

    All of it but the seconds in `decisions` is the same whenever and wherever the match is played, unless a time limit
    was set. (A named tuple: a small match takes less time than a frozen dataclass of this size takes to make.)
    """

    id: str
    """The key of the match; see `arena.identity`."""
    game: str
    """The name of the game."""
    position: str
    """The text notation of the position."""
    labels: tuple[str, ...]
    """The entry in each seat."""
    seed: int | str | None
    """The seed of the spec; None if that is a secret, until it is revealed."""
    actions: tuple[str, ...]
    """The text notation of every action played, outcomes of chance included."""
    answer: str | None
    """The text notation of a final state that was handed in, a hash of it beyond 64 KiB; None if there was none."""
    returns: tuple[float, ...]
    """What each seat got, from `min_return` to `max_return` of the game; of a puzzle 1.0 or 0.0."""
    solved: bool | None
    """Whether the puzzle was solved; None for a game."""
    termination: Reason
    """Why it ended: `normal`, or what went wrong."""
    seat: int | None
    """The seat that ended the match by a fault or by giving up; None if nobody did."""
    message: str | None
    """What happened, if the termination alone does not say it."""
    traceback: str | None
    """Where an agent's exception came from, without the frames of arena itself."""
    moves: int | None
    """Actions played but those of chance; for an answer the steps that the solver counted, None if it did not."""
    cost: float | None
    """The sum of the step costs of a puzzle; None for games and answers."""
    fallbacks: int
    """How often a random action was played because the budget ran out before anything was reported."""
    decisions: tuple[Decision, ...]
    """What every decision used, in the order of play."""
    drew: tuple[bool, ...] = ()
    """For every seat, whether its random stream was used: if none was, a repeated match says nothing new."""
    timing: dict[str, Any] | None = None
    """What else depends on the clock, such as the seconds by which a decision ran over its limit."""
    adjusted: tuple[float, ...] | None = None
    """The returns without the luck of chance; None in games without chance or without a default heuristic."""
    transcript: tuple[tuple[int, str], ...] = ()
    """What agents said to their backends, each with its seat, as JSON; a run keeps it in a file of its own, not in the store."""

    def as_dict(self) -> dict[str, Any]:
        """The record as plain values, ready for JSON, without the transcript; `adjusted` is there only if it is known."""
        plain = self._asdict()
        del plain["transcript"]
        if self.adjusted is None:
            del plain["adjusted"]
        plain["decisions"] = [decision.as_dict() for decision in self.decisions]
        return plain

    def timeless(self) -> dict[str, Any]:
        """Return the plain values that are equal when the match is played again: without times and `unmetered`."""
        plain = self.as_dict()
        del plain["timing"]
        for decision in plain["decisions"]:
            del decision["seconds"]
            decision.pop("unmetered", None)
        return plain
