"""How much a decision and a match may use."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

MARGIN = 0.1
"""Seconds that a decision may run over its limit before it is lost on time, and its process killed."""
MOVES = 1000
"""Moves of a match where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one decision (`nodes`, `seconds`, `depth`), of one match (`moves`) and of one agent (`memory_mb`).

    None is unlimited. At the move limit a game is a draw and a puzzle unsolved. ValueError says what is no limit.
    """

    nodes: int | None = None
    """States that an agent may generate for one decision."""
    seconds: float | None = None
    """Seconds on the clock for one decision."""
    depth: int | None = None
    """Plies that `Search.depths` goes to."""
    moves: int = MOVES
    """Actions of a match, of all seats together."""
    memory_mb: int | None = None
    """MiB of the process of an agent and its children."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = field.name != "seconds"
            if value is None and field.name != "moves":
                continue
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
                raise ValueError(f"limits.{field.name}: expected {'an integer' if whole else 'a number'}, got {value!r}")
            if not value > 0:
                raise ValueError(f"limits.{field.name}: expected more than 0, got {value!r}")
        if self.seconds is not None:
            object.__setattr__(self, "seconds", float(self.seconds))  # 5 and 5.0 are one limit, and one identity

    @property
    def budget(self) -> bool:
        """Whether a decision can run out: then an agent should deepen step by step, and report as it goes."""
        return self.nodes is not None or self.seconds is not None


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
