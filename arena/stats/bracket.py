"""Single elimination: a seeded bracket in which the best can meet last, with byes for the best where the field is no power of
two.
"""

from collections.abc import Sequence
from typing import TypeAlias

from arena.errors import ArenaError

Slot: TypeAlias = tuple[str, str | None]
"""Two agents who meet, the better seed first; or one that has a bye."""


def seed_order(size: int) -> tuple[int, ...]:
    """The seeds, from 1, from the top of a bracket to its bottom; `size` is a power of two.

    If the better seed always wins, every round is 1 against the worst seed left, 2 against the second worst, and so on.

    >>> seed_order(8)
    (1, 8, 4, 5, 2, 7, 3, 6)
    """
    order: tuple[int, ...] = (1,)
    while len(order) < size:
        order = tuple(seed for better in order for seed in (better, 2 * len(order) + 1 - better))
    return order


def first_round(seeds: Sequence[str]) -> tuple[Slot, ...]:
    """The first round, from the top of the bracket down, for agents from the best seed to the worst.

    Where their number is no power of two, the best seeds have byes. Raises ArenaError under two agents, or where one is there
    twice.
    """
    if len(seeds) < 2 or len(set(seeds)) < len(seeds):
        raise ArenaError(f"knockout: expected two or more agents, each once; got {', '.join(seeds) or 'none'}")
    order = seed_order(1 << (len(seeds) - 1).bit_length())
    drawn = [seeds[seed - 1] if seed <= len(seeds) else None for seed in order]
    return tuple((upper, lower) for upper, lower in zip(drawn[::2], drawn[1::2], strict=True) if upper is not None)


def next_round(winners: Sequence[str]) -> tuple[Slot, ...]:
    """The round after one that these agents won, from the top of the bracket down; empty after the final.

    Raises ArenaError where their number is no power of two, since then a slot of the round before is missing.
    """
    if not winners or len(winners) & (len(winners) - 1):
        raise ArenaError(f"knockout: expected the winners of a whole round, a power of two of them; got {len(winners)}")
    return tuple(zip(winners[::2], winners[1::2], strict=True)) if len(winners) > 1 else ()


def rounds_of(agents: int) -> int:
    """How many rounds a bracket of so many agents has."""
    return (agents - 1).bit_length() if agents > 1 else 0


def advances(slot: Slot, points: float, seeds: Sequence[str]) -> str:
    """Who goes on: the one of a bye, the one with more than half of the points, or after a tie the better seed.

    `points` is the share of the first of the slot. Replays of a tie are added to the points before they come here.
    """
    one, two = slot
    if two is None or points > 0.5:
        return one
    if points < 0.5:
        return two
    return one if seeds.index(one) < seeds.index(two) else two
