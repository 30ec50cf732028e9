"""Single elimination: a seeded bracket in which the best seeds meet last. They get byes if the field is not a power of two."""

from collections.abc import Hashable, Sequence
from typing import TypeAlias, TypeVar

from arena import ArenaError

Competitor = TypeVar("Competitor", bound=Hashable)
Slot: TypeAlias = tuple[Competitor, Competitor | None]
"""Two opponents, the better seed first; or one competitor with a bye."""


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

    If their number is not a power of two, the best have byes. Raises ArenaError for fewer than two seeds or duplicates.
    """
    if len(seeds) < 2 or len(set(seeds)) < len(seeds):
        raise ArenaError(f"knockout: expected two or more agents, each once; got {', '.join(map(str, seeds)) or 'none'}")
    order = seed_order(1 << (len(seeds) - 1).bit_length())
    drawn = [seeds[seed - 1] if seed <= len(seeds) else None for seed in order]
    return tuple((upper, lower) for upper, lower in zip(drawn[::2], drawn[1::2], strict=True) if upper is not None)


def next_round(winners: Sequence[Competitor]) -> tuple[Slot[Competitor], ...]:
    """The round of the winners of a round, from the top of the bracket down; empty after the final.

    Raises ArenaError if their number is not a power of two, because then a slot of the previous round is missing.
    """
    if not winners or len(winners) & (len(winners) - 1):
        raise ArenaError(f"knockout: expected the winners of a whole round, a power of two of them; got {len(winners)}")
    return tuple(zip(winners[::2], winners[1::2], strict=True)) if len(winners) > 1 else ()


def rounds_of(agents: int) -> int:
    """The number of rounds of a bracket."""
    return (agents - 1).bit_length() if agents > 1 else 0


def advances(slot: Slot[Competitor], points: float, seeds: Sequence[Competitor]) -> Competitor:
    """The winner of a slot: the one with a bye or with more than half of the points, or the better seed after a tie.

    `points` is the share of the first competitor of the slot, including all replays of a tie.
    """
    one, two = slot
    if two is None or points > 0.5:
        return one
    if points < 0.5:
        return two
    return one if seeds.index(one) < seeds.index(two) else two
