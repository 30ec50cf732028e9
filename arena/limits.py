"""The limits of a decision and of a match, and bounds for the numbers and texts that an agent may report about a decision."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf, isfinite
from operator import index
from typing import Any, ClassVar, TypeGuard

from arena.errors import abbreviate, escape_controls, expect, listing


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of decisions (`nodes`, `seconds`, `depth`, `cpu_seconds`), matches (`moves`, `start_seconds`), agents (`memory_mb`).

    None means no limit. At the move limit, a puzzle is unsolved, and a game has the result `Game.standing`.
    ValueError names an invalid value.

    >>> Limits(nodes=1000).budget, Limits(depth=4).budget
    (True, False)
    """

    MARGIN_SECONDS: ClassVar = 0.1
    """The most seconds by which a decision may exceed its limit. After that, the agent loses and its process is killed."""
    MAX_COUNT: ClassVar = 10**15
    """The largest count that is accepted, so that sums of counts can be stored anywhere."""

    nodes: int | None = None
    """The number of states that an agent may generate for one decision."""
    seconds: float | None = None
    """Clock time for one decision, in seconds."""
    depth: int | None = None
    """The largest depth in plies that `Search.depths` yields."""
    moves: int = 1000
    """The largest number of actions in a match, of all seats together."""
    memory_mb: int | None = None
    """The memory that the process of an agent and its child processes may use, in MiB."""
    start_seconds: float = 10.0
    """Seconds that an agent in its own process may use before its first decision of a match."""
    cpu_seconds: float | None = None
    """Processor time for one decision in seconds, of all processes and threads of the agent together."""
    patient: bool = False
    """Whether a decision that has no result when `nodes` or the time run out is repeated without these limits, so that no random
    action replaces the agent's own. Commands set it for limits that the user has not named. It does not apply to programs.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "patient":
                continue
            whole = not field.name.endswith("seconds")
            if value is None and field.name not in ("moves", "start_seconds"):
                continue
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise ValueError(f"limits.{field.name}: expected {'an integer' if whole else 'a number'}, got {value!r}")
            if not value > 0:
                raise ValueError(f"limits.{field.name}: expected more than 0, got {value!r}")
            if not whole:
                object.__setattr__(self, field.name, float(value))  # 5 and 5.0 are the same limit and need the same identity

    @classmethod
    def of(cls, given: "Limits | Mapping[str, Any] | None") -> "Limits":
        """Return the limits from a mapping of names to values, or `given` itself if it is a Limits; None means unlimited."""
        if given is not None:
            expect("limits", given, (Limits, Mapping), "Limits, a mapping or None")
        if isinstance(given, Limits):
            return given
        try:
            return Limits(**(given or {}))
        except TypeError:
            names = [field.name for field in fields(Limits)]
            unknown = [name for name in given or {} if name not in names]
            raise ValueError(f"limits: unknown {', '.join(unknown) or given!r}; known: {', '.join(names)}") from None

    @staticmethod
    def is_count(value: Any) -> TypeGuard[int]:
        """Return whether `value` is a whole number from 0 to `Limits.MAX_COUNT`."""
        return type(value) is int and 0 <= value <= Limits.MAX_COUNT

    @staticmethod
    def is_amount(value: Any) -> bool:
        """Return whether `value` is a number from 0 to `Limits.MAX_COUNT`."""
        return type(value) in (int, float) and 0 <= value <= Limits.MAX_COUNT

    @staticmethod
    def clip_text(text: str) -> str:
        """Return a text as a record stores it: cut if it is too long, with surrogates and control characters escaped."""
        return escape_controls(text[:MAX_TEXT_CHARACTERS]).encode("utf-8", "backslashreplace").decode()

    @property
    def budget(self) -> bool:
        """Return whether a decision can run out of nodes or time. If so, agents should search in steps and report each result."""
        return self.nodes is not None or self.timed

    @property
    def margin(self) -> float:
        """Seconds past the limit during which an answer counts: a quarter of `seconds`, at least 0.02, at most MARGIN_SECONDS."""
        return float(min(self.MARGIN_SECONDS, max(0.02, (self.seconds or 1.0) / 4)))

    @property
    def timed(self) -> bool:
        """Whether a clock ends a decision. If so, an agent may decide differently when the same decision is repeated."""
        return self.seconds is not None or self.cpu_seconds is not None

    @property
    def shortest_seconds(self) -> float:
        """The shorter one of the two time limits of a decision; infinity without any."""
        return min([one for one in (self.seconds, self.cpu_seconds) if one is not None], default=inf)


MAX_TEXT_CHARACTERS = 8 << 10
"""The most characters of a message or a traceback that are kept."""


DECIDING = {
    "nodes": "{} nodes",
    "seconds": "{} seconds",
    "cpu_seconds": "{} seconds of processor time",
    "depth": "depth {}",
    "memory_mb": "{} MiB of memory",
}
"""The limits that may change the decisions of an agent, with their words."""


def list_limits(limits: Limits) -> dict[str, float]:
    """Return the limits that may change the decisions of an agent; the keys are their names in `Limits`."""
    return {name: limit for name in DECIDING if (limit := getattr(limits, name)) is not None}


def describe_limits(limits: Mapping[str, float]) -> str:
    """Return the limits of an agent in words.

    >>> describe_limits({"nodes": 20_000, "depth": 4}), describe_limits({})
    ('20,000 nodes and depth 4', 'no limit')
    """
    return listing([words.format(f"{limits[name]:,.10g}") for name, words in DECIDING.items() if name in limits]) or "no limit"


def describe_unlike_limits(limits: Mapping[str, Mapping[str, float]]) -> str | None:
    """Return a sentence on the `limits` of entries, which are given by label, if they differ; otherwise None."""
    alike: dict[str, list[str]] = {}
    for label, own in limits.items():
        alike.setdefault(describe_limits(own), []).append(label)
    if len(alike) < 2:
        return None
    each = "; ".join([f"{listing(labels)} {words}" for words, labels in alike.items()])
    return f"Limits differ: {each}. A difference may come from the limits."


UNLIKE_SPEEDS = (
    "Under a time limit, a difference may come from that. Use `arena run SPEC --plain --fresh` to run all agents uncompiled, or "
    "limit nodes instead of time: `limits: {nodes: N}`."
)
"""Follows the names of entries that run compiled and of entries that do not."""


def normalize_depth(depth: Any) -> int:
    """Return a depth as a record stores it. ValueError unless it is an integer from 0 to `Limits.MAX_COUNT`."""
    try:
        whole = index(depth)
    except TypeError:
        whole = -1
    if not Limits.is_count(whole):
        raise ValueError(f"expected a whole number of plies from 0 to {Limits.MAX_COUNT:,} as the depth, got {abbreviate(depth)}")
    return whole


def normalize_value(value: Any) -> float | None:
    """Return a value as a record stores it, without minus zero; None for infinity and nan. ValueError if it is not a number."""
    number = read_number(value)
    return number + 0.0 if isfinite(number) else None


def is_finite(value: Any) -> bool:
    """Return whether a value from a plugin is a finite number in the range of a float, see `read_number`.

    >>> is_finite(0.5), is_finite(10**400), is_finite("0.5")
    (True, False, False)
    """
    try:
        return isfinite(read_number(value))
    except ValueError:
        return False


def read_number(value: Any) -> float:
    """Return a number from a plugin as a float, which may be infinite or nan.

    The value may be of any type that converts to a float, such as a fraction or a numpy number, but no text. Raises
    ValueError if it does not, or if it is too large for a float.

    >>> from fractions import Fraction
    >>> read_number(Fraction(1, 2))
    0.5
    """
    try:
        isfinite(value)  # unlike `float`, `isfinite` accepts no text
        return float(value)
    except (TypeError, ValueError, OverflowError):  # ValueError: a signaling nan of the module decimal
        raise ValueError(f"expected a value in the range of a float, got {abbreviate(value)}") from None
