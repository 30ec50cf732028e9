"""Ends a game of two seats by the values that its agents report, before the rules do, as runners of chess engines do.

A draw needs the values of both seats, a resignation at least the values of the losing seat. So no agent wins or saves a game by
its own claims alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from arena.identity import canonical


@dataclass(frozen=True, slots=True)
class DrawRule:
    """A game is drawn if both seats have reported level values for a while."""

    after: int = 40
    """Moves of the match, of both seats together, before which it is not drawn."""
    moves: int = 8
    """The last decisions of each seat that must agree."""
    value: float = 0.05
    """The largest magnitude of a value that is level."""


@dataclass(frozen=True, slots=True)
class ResignRule:
    """A seat resigns if it has reported a lost game for a while."""

    moves: int = 4
    """The number of its last decisions that must report it."""
    value: float = 0.95
    """A value of minus this or less is lost, a value of this or more is won."""
    both: bool = False
    """Whether the last decisions of the other seat must report that it wins."""


class AgreedEnd(NamedTuple):
    """How a game is ended by reported values."""

    returns: tuple[float, float]
    message: str


@dataclass(frozen=True, slots=True)
class Adjudication:
    """The rules by which the games of a board are adjudicated; None if there is no such rule."""

    draw: DrawRule | None = None
    resign: ResignRule | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Adjudication":
        """Return the rules `given` as plain values with the keys of the spec; `{}` of a rule has its defaults."""
        draw, resign = given.get("draw"), given.get("resign")
        return cls(
            None if draw is None else DrawRule(**_with_float(draw)),
            None if resign is None else ResignRule(**_with_float(resign)),
        )

    @property
    def identity(self) -> str:
        """The canonical text of the rules, for the key of a match."""
        return canonical(asdict(self))

    def first(self, reported: Iterable[tuple[int, float | None]]) -> tuple[int, AgreedEnd] | None:
        """Return the first end that the values of a game agree on, and the number of decisions before it; None without one.

        `reported` has the seat and the value of every decision, in the order of play.
        """
        adjudicator = Adjudicator(self)
        for number, (seat, value) in enumerate(reported, 1):
            end = adjudicator.after(seat, value)
            if end is not None:
                return number, end
        return None


def _with_float(given: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a rule with its value as a float, so that 1 and 1.0 are one rule, and one identity."""
    return {name: float(value) if name == "value" else value for name, value in given.items()}


class Adjudicator:
    """Follows one game, and counts for each seat how many of its last decisions reported a level, a lost or a won game.

    A decision without a value breaks off all three.
    """

    def __init__(self, rules: Adjudication) -> None:
        self._draw, self._resign = rules.draw, rules.resign
        self._decisions = 0
        self._level, self._lost, self._won = [0, 0], [0, 0], [0, 0]

    def after(self, seat: int, value: float | None) -> AgreedEnd | None:
        """Count a decision; the end that the values now agree on, if any. A game both resigned and level is resigned."""
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
