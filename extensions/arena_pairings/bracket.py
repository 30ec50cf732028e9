"""Single elimination: a seeded bracket in which the best seeds meet last. If the number of competitors is not a power of two, the
best seeds have byes.
"""

from collections.abc import Hashable, Sequence
from typing import TypeAlias, TypeVar

from arena import ArenaError

Competitor = TypeVar("Competitor", bound=Hashable)
Slot: TypeAlias = tuple[Competitor, Competitor | None]
"""Two opponents, the better seed first; or a single competitor with a bye."""


def seed_order(size: int) -> tuple[int, ...]:
    """Return the seeds, numbered from 1, from the top of a bracket down; `size` is a power of two.

    If the better seed always wins, the best remaining seed meets the worst remaining one in every round, the second best meets
    the second worst, and so on.

    >>> seed_order(8)
    (1, 8, 4, 5, 2, 7, 3, 6)
    """
    order: tuple[int, ...] = (1,)
    while len(order) < size:
        order = tuple(seed for better in order for seed in (better, 2 * len(order) + 1 - better))
    return order


def first_round(seeds: Sequence[Competitor]) -> tuple[Slot[Competitor], ...]:
    """Return the first round, from the top of the bracket down. `seeds` are sorted from the best to the worst.

    If their number is not a power of two, the best seeds have byes. Raises ArenaError for fewer than two seeds or for duplicates.
    """
    if len(seeds) < 2 or len(set(seeds)) < len(seeds):
        raise ArenaError(f"knockout: expected two or more agents, each listed once; got {', '.join(map(str, seeds)) or 'none'}")
    order = seed_order(1 << (len(seeds) - 1).bit_length())
    drawn = [seeds[seed - 1] if seed <= len(seeds) else None for seed in order]
    return tuple((upper, lower) for upper, lower in zip(drawn[::2], drawn[1::2], strict=True) if upper is not None)


def next_round(winners: Sequence[Competitor]) -> tuple[Slot[Competitor], ...]:
    """Return the round that the winners of a round play, from the top of the bracket down; empty after the final.

    Raises ArenaError if their number is not a power of two, because then a slot in the previous round is missing.
    """
    if not winners or len(winners) & (len(winners) - 1):
        raise ArenaError(f"knockout: expected the winners of a whole round (1, 2, 4, ... of them); got {len(winners)}")
    return tuple(zip(winners[::2], winners[1::2], strict=True)) if len(winners) > 1 else ()


def rounds_of(agents: int) -> int:
    """Return the number of rounds in a bracket."""
    return (agents - 1).bit_length() if agents > 1 else 0


def advances(slot: Slot[Competitor], points: float, seeds: Sequence[Competitor]) -> Competitor:
    """Return the winner of a slot: the competitor with the bye or with more than half of the points; after a tie, the better
    seed.

    `points` is the share of the points that the first competitor in the slot won, including all replays of a tie.
    """
    one, two = slot
    if two is None or points > 0.5:
        return one
    if points < 0.5:
        return two
    return one if seeds.index(one) < seeds.index(two) else two
