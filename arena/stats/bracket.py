"""Single elimination: a seeded bracket in which the best seeds can meet last, with byes for them where the field is no power of
two.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeAlias

from arena.errors import ArenaError
from arena.stats.observations import Competitor

Slot: TypeAlias = tuple[Competitor, Competitor | None]
"""Two who meet, the better seed first; or one with a bye."""


class Tie(NamedTuple, Generic[Competitor]):
    """A meeting of two in a bracket, the upper one first, or the bye of one."""

    one: Competitor
    two: Competitor | None
    points: tuple[float, float] | None
    """The points of either, with all replays; None for a bye, and where nothing has been played yet."""
    winner: Competitor | None
    """Who goes on; None where nothing has been played yet."""

    def named(self, names: Mapping[Competitor, str]) -> "Tie[str]":
        """The same tie with the names of those who meet."""
        winner = None if self.winner is None else names[self.winner]
        return Tie(names[self.one], None if self.two is None else names[self.two], self.points, winner)

    @property
    def bye(self) -> bool:
        """True if there was nobody to beat."""
        return self.two is None

    @property
    def by_seed(self) -> bool:
        """True if the points were equal, so that the better seed went on."""
        return self.points is not None and self.points[0] == self.points[1]


def seed_order(size: int) -> tuple[int, ...]:
    """The seeds, numbered from 1, from the top of a bracket down; `size` is a power of two.

    If the better seed always wins, every round is 1 against the worst seed left, 2 against the second worst, and so on.

    >>> seed_order(8)
    (1, 8, 4, 5, 2, 7, 3, 6)
    """
    order: tuple[int, ...] = (1,)
    while len(order) < size:
        order = tuple(seed for better in order for seed in (better, 2 * len(order) + 1 - better))
    return order


def first_round(seeds: Sequence[Competitor]) -> tuple[Slot[Competitor], ...]:
    """The first round, from the top of the bracket down; `seeds` go from the best to the worst.

    Where their number is no power of two, the best have byes. Raises ArenaError under two, or where one is there twice.
    """
    if len(seeds) < 2 or len(set(seeds)) < len(seeds):
        raise ArenaError(f"knockout: expected two or more agents, each once; got {', '.join(map(str, seeds)) or 'none'}")
    order = seed_order(1 << (len(seeds) - 1).bit_length())
    drawn = [seeds[seed - 1] if seed <= len(seeds) else None for seed in order]
    return tuple((upper, lower) for upper, lower in zip(drawn[::2], drawn[1::2], strict=True) if upper is not None)


def next_round(winners: Sequence[Competitor]) -> tuple[Slot[Competitor], ...]:
    """The round of the winners of a round, from the top of the bracket down; empty after the final.

    Raises ArenaError where their number is no power of two: a slot of the round before is missing.
    """
    if not winners or len(winners) & (len(winners) - 1):
        raise ArenaError(f"knockout: expected the winners of a whole round, a power of two of them; got {len(winners)}")
    return tuple(zip(winners[::2], winners[1::2], strict=True)) if len(winners) > 1 else ()


def rounds_of(agents: int) -> int:
    """The number of rounds of a bracket."""
    return (agents - 1).bit_length() if agents > 1 else 0


def advances(slot: Slot[Competitor], points: float, seeds: Sequence[Competitor]) -> Competitor:
    """The winner of a slot: the one with the bye, the one with more than half of the points, or after a tie the better seed.

    `points` is the share of the first of the slot, with all replays of a tie.
    """
    one, two = slot
    if two is None or points > 0.5:
        return one
    if points < 0.5:
        return two
    return one if seeds.index(one) < seeds.index(two) else two
