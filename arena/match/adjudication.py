"""Ends a game with two seats early if the values that the agents report agree, as programs that run chess engines do.

A draw needs the values of both seats, and a resignation needs the values of the losing seat. So no agent gains by its claims.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from arena.identity import canonical


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A game ends as a draw if both seats have reported values near 0 for some time."""

    after: int = 40
    """The number of moves, of both seats together, before which the rule does not apply."""
    moves: int = 8
    """The number of consecutive decisions of each seat that must report a level value."""
    value: float = 0.05
    """The largest magnitude of a value that counts as level."""


@dataclass(frozen=True, slots=True)
class ResignRule:
    """A seat resigns if it has reported a lost game for some time."""

    moves: int = 4
    """The number of consecutive decisions of the seat that must report a lost game."""
    value: float = 0.95
    """A reported value means a won game if it is at least this value, and a lost game if it is at most minus this value."""
    both: bool = False
    """Whether the other seat must also report, for as many decisions, that it wins."""


class AgreedEnd(NamedTuple):
    """The early end of a game because of reported values."""

    returns: tuple[float, float]
    message: str


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The rules by which reported values end the games of a board; None for a rule that does not apply."""

    draw: DrawRule | None = None
    resign: ResignRule | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Adjudication":
        """Return the rules from a mapping with the keys of the spec. An empty mapping for a rule selects its defaults."""
        draw, resign = given.get("draw"), given.get("resign")
        return cls(
            None if draw is None else DrawRule(**_with_float(draw)), None if resign is None else ResignRule(**_with_float(resign))
        )

    @property
    def identity(self) -> str:
        """The canonical text of the rules, which is part of the key of a match."""
        return canonical(asdict(self))

    def first(self, reported: Iterable[tuple[int, float | None]]) -> tuple[int, AgreedEnd] | None:
        """Return the number of decisions after which the reported values end a game, and how it ends; None if they
        never do.

        `reported` contains the seat and the value of every decision, in the order of play.
        """
        adjudicator = Adjudicator(self)
        for number, (seat, value) in enumerate(reported, 1):
            end = adjudicator.after(seat, value)
            if end is not None:
                return number, end
        return None


def _with_float(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a rule with its `value` as a float, so that 1 and 1.0 give the same identity."""
    return {name: float(value) if name == "value" else value for name, value in given.items()}


class Adjudicator:
    """Follows one game. For each seat, it counts how many decisions in a row have reported a level, a lost or a won game.

    A decision without a value resets all three counts of its seat.
    """

    def __init__(self, rules: Adjudication) -> None:
        self._draw, self._resign = rules.draw, rules.resign
        self._decisions = 0
        self._level, self._lost, self._won = [0, 0], [0, 0], [0, 0]

    def after(self, seat: int, value: float | None) -> AgreedEnd | None:
        """Count a decision and return how the game now ends, or None. A resignation takes precedence over a draw."""
        self._decisions += 1
        if self._resign is not None:
            self._lost[seat] = self._lost[seat] + 1 if value is not None and value <= -self._resign.value else 0
            self._won[seat] = self._won[seat] + 1 if value is not None and value >= self._resign.value else 0
            for loser in (seat, 1 - seat):
                agreed = not self._resign.both or self._won[1 - loser] >= self._resign.moves
                if agreed and self._lost[loser] >= self._resign.moves:
                    names, limit = ("first", "second"), f"{self._resign.value:g}"
                    won = f", the {names[1 - loser]} {limit} or more" if self._resign.both else ""
                    message = f"the {names[loser]} seat reported -{limit} or less{won} in {_describe_last(self._resign.moves)}"
                    return AgreedEnd((-1.0, 1.0) if loser == 0 else (1.0, -1.0), message)
        if self._draw is not None:
            self._level[seat] = self._level[seat] + 1 if value is not None and abs(value) <= self._draw.value else 0
            if self._decisions >= self._draw.after and min(self._level) >= self._draw.moves:
                message = f"both seats reported values within {self._draw.value:g} of 0 in {_describe_last(self._draw.moves)}"
                return AgreedEnd((0.0, 0.0), message)
        return None


def _describe_last(moves: int) -> str:
    return "the last move" if moves == 1 else f"the last {moves} moves"
