"""Draws the matches that `arena verify` replays, and computes how many of all records may differ if every replay is equal."""

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, fsum, log, log1p
from typing import Any

import click

MAX_ERROR = 0.05
"""The largest probability that the bound of `most_differing` is wrong: one minus the confidence of 95 %."""
ROUNDING = 1e-12
MIN_REPLAYS = 60
DEFAULT_SHARE = 0.01
"""By default, this share of the matches is replayed, but not fewer than `MIN_REPLAYS` matches."""


@dataclass(frozen=True)
class LotSize:
    """The number of matches to replay: a `count`, a `share` of all matches, or the default if both are None."""

    count: int | None = None
    share: float | None = None

    def of(self, matches: int) -> int:
        """Return the number of matches to draw if there are `matches` of them."""
        if self.count is not None:
            return min(matches, self.count)
        if self.share is not None:
            return ceil(self.share * matches)
        return min(matches, max(MIN_REPLAYS, ceil(DEFAULT_SHARE * matches)))


class LotSizeType(click.ParamType[LotSize]):
    """The type of the option `--replay`: a number `N` or a share `P%` of the matches."""

    name = "N|P%"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> LotSize:
        """Parse the value of the option."""
        if isinstance(value, LotSize):
            return value
        text = str(value)
        with suppress(ValueError):
            size = LotSize(share=float(text[:-1]) / 100) if text.endswith("%") else LotSize(count=int(text))
            if 0 <= (size.share or 0) <= 1 and (size.count or 0) >= 0:
                return size
        return self.fail(f"expected a number of matches such as 200, or a share such as 5%, got {value!r}", param, ctx)


def draw_lot(candidates: Sequence[str], size: LotSize, seed: int | None = None) -> list[str]:
    """Return the matches to replay, in random order.

    Without a `seed`, the random numbers come from the operating system, so the matches that are drawn cannot be known in advance.
    """
    generator: random.Random = random.SystemRandom() if seed is None else random.Random(seed)
    return generator.sample(candidates, size.of(len(candidates)))


def most_differing(drawn: int, matches: int) -> int:
    """Return how many of `matches` records may differ at most, if `drawn` records were drawn at random and none of them
    differs.

    This is the upper end of the exact one-sided confidence interval (95 %) for draws without replacement. If more records
    differed, a draw without any of them would have a probability of less than 5 % (hypergeometric distribution).

    >>> most_differing(60, 4000)
    193
    """

    def is_likely(differing: int) -> bool:
        if differing > matches - drawn:
            return False
        return fsum([log1p(-differing / (matches - one)) for one in range(drawn)]) >= log(MAX_ERROR) - ROUNDING

    low, high = 0, matches - drawn
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_likely(middle) else (low, middle - 1)
    return low


def describe_bound(drawn: int, matches: int, others: int = 0) -> str:
    """Return a sentence for a verdict in which every replay was equal. `others` is the number of matches that cannot be replayed.

    >>> describe_bound(60, 4000)
    '60 of 4,000 matches replayed equal: with 95 % confidence at most 4.9 % of the records differ'
    """
    differing = most_differing(drawn, matches)
    of = f"{drawn:,} of {matches:,} {'matches' if matches != 1 else 'match'}"
    equal = "replayed equal"
    if others:
        of, equal = f"{of} that can be replayed", "were identical in the replay"
    if drawn == matches:
        return f"{of} {equal}"
    percent = ceil(1000 * differing / matches) / 10  # rounded up, because it is a bound
    which = "these records differ" if others else "the records differ"
    return f"{of} {equal}: with 95 % confidence at most {percent:g} % of {which}"
