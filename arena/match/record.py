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
    "out-of-budget",
    "void",
]
"""Why a match ended. `adjudicated` means: by the values that its agents reported, if the spec asks for it.

`gave-up` and `out-of-budget` are for solvers: one returned None, the other exceeded a limit without having reported a solution.
`illegal-action` also stands for a wrong path, an answer of the wrong kind, and None from `choose`.
"""

FAULTS: frozenset[str] = frozenset({"illegal-action", "exception", "timeout", "memory", "crash"})
"""The terminations that are an agent's fault, and so its loss."""


CPU_SECONDS = "cpu_seconds"
"""The key in the `timing` of a record for the processor time of each seat; null for a seat without such a limit."""


class Decision(NamedTuple):
    """The amounts that one call of `choose` or `solve` used. A named tuple, because a match makes one at every move.

    >>> arena.play("sliding-tiles", "a-star", position="1 2 3 / 4 5 6 / 7 . 8").decisions[0].nodes
    3
    """

    seat: int
    """The seat that decided."""
    nodes: int
    """States generated."""
    evaluations: int
    """Calls of `evaluate` and `cost_to_go`."""
    seconds: float
    """Its duration on the clock."""
    depth: int | None
    """The depth that the agent reported last, in plies."""
    value: float | None
    """The value that the agent reported last, from its own view."""
    spent: Mapping[str, float] | None = None
    """Other amounts that the agent reported, by name, such as `tokens`; None if it reported none."""
    unmetered: int = 0
    """States generated past the view of the game, as far as they were seen; see `arena.unmetered`."""

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as plain values; `spent` and `unmetered` are left out if they are empty."""
        plain = self._asdict()
        if self.spent is None:
            del plain["spent"]
        if not self.unmetered:
            del plain["unmetered"]
        return plain


class Record(NamedTuple):
    """One match: the entries, the position, the actions, the end, and the amounts that every decision used.

    Everything but the seconds in `decisions` is the same whenever and wherever the match is played, unless a time limit
    was set. (A named tuple, because a frozen dataclass of this size takes longer to make than a small match takes to play.)

    >>> record = arena.play("sliding-tiles", "a-star", position="1 2 3 / 4 5 6 / . 7 8")
    >>> record.actions, record.cost, record.termination
    (('7', '8'), 2.0, 'normal')
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
    """The seed of the spec; None while it is a secret."""
    actions: tuple[str, ...]
    """The text notation of every action played, outcomes of chance included."""
    answer: str | None
    """The text notation of a submitted final state, a hash of it beyond 64 KiB; None without one."""
    returns: tuple[float, ...]
    """The result of each seat, from `min_return` to `max_return` of the game; for a puzzle 1.0 or 0.0."""
    solved: bool | None
    """Whether the puzzle was solved; None for a game."""
    termination: Reason
    """Why it ended: `normal`, or the kind of fault."""
    seat: int | None
    """The seat that ended the match by a fault or by giving up; None if none did."""
    message: str | None
    """More details, if the termination is not enough."""
    traceback: str | None
    """The traceback of an agent's exception, without the frames of arena itself."""
    moves: int | None
    """The number of actions without chance; for an answer the steps that the solver counted, None if it did not."""
    cost: float | None
    """The sum of the step costs of a puzzle; None for games and answers."""
    fallbacks: int
    """How often a random action was played because the budget ran out before any report."""
    decisions: tuple[Decision, ...]
    """The amounts that every decision used, in the order of play."""
    drew: tuple[bool, ...] = ()
    """For every seat, whether its random stream was used. If none was, a repeated match gives no new information."""
    timing: dict[str, Any] | None = None
    """Other values that depend on the clock, such as the seconds by which a decision exceeded its limit."""
    adjusted: tuple[float, ...] | None = None
    """The returns without the luck of chance; None in games without chance or without a default heuristic."""
    transcript: tuple[tuple[int, str], ...] = ()
    """The exchanges of agents with their backends, each with its seat, as JSON; a run keeps them in a separate file, not in the
    store."""
    parameters: Mapping[str, Any] | None = None
    """The parameters of the game, in a record from `arena.play` or `Results`; None in others."""

    def __repr__(self) -> str:
        given = ", ".join([f"{name}={value!r}" for name, value in (self.parameters or {}).items()])
        length = "" if self.moves is None else f", {self.moves:,} moves"
        scores = ", ".join([f"{value:g}" for value in self.returns])
        where = self.game + (f"({given})" if given else "")
        return f"<Record {self.id[:10]} of {where}: {' - '.join(self.labels)}, returns {scores}, {self.termination}{length}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain values, ready for JSON, without transcript and parameters; `adjusted` is included if it is
        known.
        """
        plain = self._asdict()
        del plain["transcript"], plain["parameters"]
        if self.adjusted is None:
            del plain["adjusted"]
        plain["decisions"] = [decision.as_dict() for decision in self.decisions]
        return plain

    def timeless(self) -> dict[str, Any]:
        """Return the plain values that are equal if the match is played again: without times and `unmetered`."""
        plain = self.as_dict()
        del plain["timing"]
        for decision in plain["decisions"]:
            del decision["seconds"]
            decision.pop("unmetered", None)
        return plain
