"""The record of a match."""

from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple

from arena.format import put_last
from arena.limits import Limits

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
"""Why a match ended. `adjudicated`: values that agents reported ended the match, as the spec allows.

`gave-up` and `out-of-budget` are for solvers: the solver returned None, or exceeded a limit before it had reported a
solution. `illegal-action` also means a wrong path, an answer of the wrong type, or None from `choose`.
"""

FAULTS: frozenset[str] = frozenset({"illegal-action", "exception", "timeout", "memory", "crash"})
"""The terminations that are faults of an agent; the agent loses."""

UNREPEATABLE_ENDINGS = frozenset({"void", "timeout", "memory", "crash"})
"""The terminations that depend on the machine, so that the same match may end differently next time."""


def find_loser(termination: str, seat: int | None) -> int | None:
    """Return the seat that lost a match by a fault; None if no seat did.

    >>> find_loser("timeout", 1), find_loser("gave-up", 0)
    (1, None)
    """
    return seat if termination in FAULTS else None


CPU_SECONDS = "cpu_seconds"
"""The key in `timing` for the processor time of each seat. It is null for a seat without a limit for this time."""
OUT_OF_TIME = "out_of_time"
"""The key in `timing` for the number of decisions of each seat that took as long as their time limit or longer, or that used up
their processor time.
"""

TIMINGS = (
    *("start", "lack_of_cpu", "forgiven", CPU_SECONDS, OUT_OF_TIME, "unsettled"),
    *("compiled", "compiled_seconds", "plain", "plain_seconds"),
)
"""The names in `Record.timing` that have a number for each seat."""


EXPANDED = "expanded"
"""The amount in `Decision.spent` for the number of states that a solver expanded, which means that it asked for their actions."""


class Decision(NamedTuple):
    """The amounts that one call of `choose` or `solve` used. It is a named tuple for speed: a match creates one for every move.

    >>> arena.play("sliding-tiles", "a-star", position="1 2 3 / 4 5 6 / 7 . 8").decisions[0].nodes
    3
    """

    seat: int
    """The seat that decided."""
    nodes: int
    """The number of generated states."""
    evaluations: int
    """The number of calls of `evaluate` and `cost_to_go`."""
    seconds: float
    """Its duration on the clock, in seconds."""
    depth: int | None
    """The depth that the agent reported last, in plies."""
    value: float | None
    """The value that the agent reported last, from its own point of view."""
    spent: Mapping[str, float] | None = None
    """Other amounts that the agent reported, by name, such as `tokens`; None if it reported none."""
    exact: bool = False
    """Whether the agent reported that the value is proven. A value of 1 is a win only if it is."""
    fallback: bool = False
    """Whether arena drew the action at random, because the budget ran out before the agent had reported anything."""

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as plain values; `spent`, `exact` and `fallback` are left out if they are None or false."""
        plain = self._asdict()
        if self.spent is None:
            del plain["spent"]
        for mark in ("exact", "fallback"):
            if not plain[mark]:
                del plain[mark]
        return plain


class Record(NamedTuple):
    """The record of one match: the entries, the position, the actions, the end, and the amounts for every decision.

    If no time limit was set, a match that is played again has the same record, except for the seconds in `decisions`. (It is a
    named tuple because creating a frozen dataclass of this size takes longer than playing a small match.)

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
    """The label of the entry in each seat."""
    seed: int | str | None
    """The seed of the spec; None while it is a secret."""
    actions: tuple[str, ...]
    """The text notation of every action, including outcomes of chance."""
    answer: str | None
    """The text notation of the final state that a solver returned, or the hash of a text longer than 64 KiB; None without one."""
    returns: tuple[float, ...]
    """The result of each seat, between `min_return` and `max_return` of the game; for a puzzle, 1.0 or 0.0."""
    solved: bool | None
    """Whether the puzzle was solved; None for a game."""
    termination: Reason
    """Why the match ended: `normal`, or the kind of fault."""
    seat: int | None
    """The seat that ended the match by a fault or by giving up; None if no seat did."""
    message: str | None
    """More details, if `termination` does not say everything."""
    traceback: str | None
    """The traceback of an agent's exception, without the frames of arena itself."""
    moves: int | None
    """The number of actions, without chance actions. For an answer, the number of steps that the solver counted, or None."""
    cost: float | None
    """The sum of the step costs of a puzzle; None for games and answers."""
    fallbacks: int
    """The number of decisions that are a `fallback`. Records of earlier versions have this sum without marks in `decisions`."""
    decisions: tuple[Decision, ...]
    """The amounts that every decision used, in the order of play."""
    drew: tuple[bool, ...] = ()
    """For each seat, whether it used its random stream. If no seat did, repeating the match gives no new information."""
    timing: dict[str, Any] | None = None
    """Other values that depend on the clock, such as the seconds by which a decision exceeded its limit."""
    adjusted: tuple[float, ...] | None = None
    """The returns after a correction for the luck of chance; None if the game has no chance or no default heuristic."""
    transcript: tuple[tuple[int, str], ...] = ()
    """The exchanges of agents with their backends, each with its seat, as JSON; a run keeps them in a separate file."""
    parameters: Mapping[str, Any] | None = None
    """The parameters of the game; None unless the record comes from `arena.play` or `Results`."""

    def __repr__(self) -> str:
        given = ", ".join([f"{name}={value!r}" for name, value in (self.parameters or {}).items()])
        length = "" if self.moves is None else f", {self.moves:,} move{'s' * (self.moves != 1)}"
        scores = ", ".join([f"{value:g}" for value in self.returns])
        where = self.game + (f"({given})" if given else "")
        return f"<Record {self.id[:10]} of {where}: {' - '.join(self.labels)}, returns {scores}, {self.termination}{length}>"

    @property
    def results(self) -> tuple[float, ...]:
        """The numbers by which the seats are compared: the returns, but minus infinity for a seat that lost by a fault."""
        return put_last(self.returns, find_loser(self.termination, self.seat))

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain values for JSON, without transcript and parameters, and with `adjusted` if known."""
        plain = self._asdict()
        del plain["transcript"], plain["parameters"]
        if self.adjusted is None:
            del plain["adjusted"]
        plain["decisions"] = [decision.as_dict() for decision in self.decisions]
        return plain

    def timeless(self) -> dict[str, Any]:
        """Return the values that a repetition of the match would give again. Left out are times, the traceback (it names
        folders), and what earlier versions did not write: expanded states and marks of fallbacks.
        """
        plain = self.as_dict()
        del plain["timing"], plain["traceback"]
        for decision in plain["decisions"]:
            del decision["seconds"]
            decision.pop("fallback", None)
            spent = {name: amount for name, amount in decision.pop("spent", {}).items() if name != EXPANDED}
            if spent:
                decision["spent"] = spent
        return plain


def play_hash_of(record: Record) -> int:
    """Return a hash of a match that was not void. Two matches with the same seats and the same hash are repeats of each other,
    unless the game has chance or a seat used random numbers; see `hash_match`.
    """
    ending = format_returns(record.returns), record.termination, record.seat
    return hash_match(hash_moves(record), *ending, bytes.fromhex(record.id))


def hash_match(moves_hash: int, returns: str, termination: str, seat: int | None, key: bytes) -> int:
    """Return the `play_hash_of` a record, given cells of its row in a store; `key` is its id.

    Repeats have the same position, actions and result. If the clock, the memory or the end of a process decided a match, it is no
    repeat of any other. An illegal action and an exception are repeated, because an agent without random numbers commits them
    again.
    """
    if termination in UNREPEATABLE_ENDINGS:
        return int.from_bytes(key[:8], "big", signed=True)
    return moves_hash ^ _hash_ending(returns, termination, seat)


@lru_cache(4096)
def _hash_ending(returns: str, termination: str, seat: int | None) -> int:
    return _hash_text(f"{returns} {termination} {seat}")


def hash_moves(record: Record) -> int:
    """Return a hash of the position and the actions. If chance, or a clock that ended a decision, chose some of the actions, no
    other match has the same hash.
    """
    chance = record.answer is None and record.moves is not None and record.moves < len(record.actions)
    apart = chance or OUT_OF_TIME in (record.timing or {})
    return _hash_text("\n".join([record.position, record.answer or "", *record.actions, *([record.id] if apart else [])]))


def _hash_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest(), "big", signed=True)


@lru_cache(4096)
def format_returns(returns: tuple[float, ...]) -> str:
    """Return the returns of a match as text, as a store has them.

    >>> format_returns((1, -1.0))
    '1.0,-1.0'
    """
    return ",".join([repr(float(value)) for value in returns])


def is_timing(value: Any, seats: int) -> bool:
    """Return whether a value has the form of `Record.timing`. The names in TIMINGS have a number or None for each seat,
    `plain_reason` a text or None for each seat, and `overrun` a number. Other names may have any value.

    >>> is_timing({"start": [0.5, None]}, 2), is_timing({"start": 0.5}, 2)
    (True, False)
    """
    if not isinstance(value, dict) or not Limits.is_amount(value.get("overrun", 0)):
        return False
    nothing = [None] * seats
    reasons = value.get("plain_reason", nothing)
    found = [value.get(name, nothing) for name in TIMINGS]
    return (
        all(isinstance(one, list) and len(one) == seats for one in (*found, reasons))
        and all(one is None or isinstance(one, str) for one in reasons)
        and all(amount is None or Limits.is_amount(amount) for one in found for amount in one)
    )
