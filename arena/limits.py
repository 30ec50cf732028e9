"""Limits of a decision and of a match, and bounds of the numbers and texts that an agent may report about a decision."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from operator import index
from typing import Any, ClassVar, TypeGuard

from arena.errors import abbreviate


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a decision (`nodes`, `seconds`, `depth`, `cpu_seconds`), of a match (`moves`, `start_seconds`) and of an agent
    (`memory_mb`).

    None is unlimited. At the move limit a game is a draw and a puzzle unsolved. ValueError names the value that is not a limit.

    >>> Limits(nodes=1000).budget, Limits(depth=4).budget
    (True, False)
    """

    MARGIN_SECONDS: ClassVar = 0.1
    """The most seconds that a decision may run over its limit before it is lost on time, and its process killed."""
    MAX_COUNT: ClassVar = 10**15
    """No count may be larger, so that sums of them can be kept anywhere."""

    nodes: int | None = None
    """States that an agent may generate for one decision."""
    seconds: float | None = None
    """Seconds on the clock for one decision."""
    depth: int | None = None
    """Plies that `Search.depths` goes to."""
    moves: int = 1000
    """Actions of a match, of all seats together."""
    memory_mb: int | None = None
    """MiB of the process of an agent and its children."""
    start_seconds: float = 10.0
    """Seconds of an agent in a process of its own before its first decision of a match."""
    cpu_seconds: float | None = None
    """Seconds of processor time for one decision, of all processes and threads of the agent together."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = not field.name.endswith("seconds")
            if value is None and field.name not in ("moves", "start_seconds"):
                continue
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise ValueError(f"limits.{field.name}: expected {'an integer' if whole else 'a number'}, got {value!r}")
            if not value > 0:
                raise ValueError(f"limits.{field.name}: expected more than 0, got {value!r}")
            if not whole:
                object.__setattr__(self, field.name, float(value))  # 5 and 5.0 are one limit, and one identity

    @property
    def budget(self) -> bool:
        """Return whether a decision can run out. If so, an agent should deepen step by step and report as it goes."""
        return self.nodes is not None or self.timed

    @property
    def margin(self) -> float:
        """Seconds for an answer after the limit: a quarter of `seconds`, at least 0.02 and at most MARGIN_SECONDS."""
        return float(min(self.MARGIN_SECONDS, max(0.02, (self.seconds or 1.0) / 4)))

    @property
    def timed(self) -> bool:
        """Whether a clock ends a decision, so that an agent need not decide the same again."""
        return self.seconds is not None or self.cpu_seconds is not None


def limits_of(given: "Limits | Mapping[str, Any] | None") -> Limits:
    """Limits from a mapping with their names as keys; unlimited from None."""
    if isinstance(given, Limits):
        return given
    try:
        return Limits(**(given or {}))
    except TypeError:
        names = [field.name for field in fields(Limits)]
        unknown = [name for name in given or {} if name not in names]
        raise ValueError(f"limits: unknown {', '.join(unknown) or given!r}; known: {', '.join(names)}") from None


MAX_TEXT_CHARACTERS = 8 << 10
"""Characters that are kept of a message or a traceback."""


def is_count(value: Any) -> TypeGuard[int]:
    """Return whether a value is a whole number from 0 to `Limits.MAX_COUNT`."""
    return type(value) is int and 0 <= value <= Limits.MAX_COUNT


def normalize_depth(depth: Any) -> int:
    """Return a depth as a record holds it; ValueError unless it is a whole number of any type from 0 to `Limits.MAX_COUNT`."""
    try:
        whole = index(depth)
    except TypeError:
        whole = -1
    if not is_count(whole):
        raise ValueError(f"expected a whole number of plies from 0 to {Limits.MAX_COUNT:,} as the depth, got {abbreviate(depth)}")
    return whole


def normalize_value(value: Any) -> float | None:
    """A value as a record holds it, without minus zero; None for an infinite one and nan, ValueError if it is not a number."""
    try:
        isfinite(value)  # other than float, it takes no text
        number = float(value)
    except (TypeError, OverflowError):
        raise ValueError(f"expected a number that a float can hold as the value, got {abbreviate(value)}") from None
    return number + 0.0 if isfinite(number) else None


def clip_text(text: str) -> str:
    """Return a text for people as a record keeps it: cut if it is too long, with surrogates escaped."""
    return text[:MAX_TEXT_CHARACTERS].encode("utf-8", "backslashreplace").decode()
