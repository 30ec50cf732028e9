"""How often somebody may ask: a bucket of tokens for each author and each address."""

from collections import OrderedDict
from dataclasses import dataclass
from time import monotonic

from arena.ladder.ledger import Refusal

MOST_KNOWN = 10_000
"""Buckets that are kept; the one that was not asked for longest goes."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many requests of a kind may come at once, and how many a second after that."""

    kind: str
    burst: float
    per_second: float


PAGES = Rate("requests", 400, 40)
"""Of an address: a class of twenty may sit behind one."""
HANDING_IN = Rate("submissions", 20, 0.5)
"""Of an author, beside those that he has in a day."""
STRANGERS = Rate("wrong tokens", 10, 0.1)
"""Of an address: requests whose token is not known."""
NEWCOMERS = Rate("registrations", 30, 0.02)
"""Of an address, where anybody may register."""


class RateLimits:
    """The buckets of everybody who has asked lately. Not for several threads."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, rate: Rate, who: str) -> None:
        """Count a request of somebody; Refusal 429 where there were too many."""
        now = monotonic()
        left, then = self._buckets.pop((rate.kind, who), (rate.burst, now))
        left = min(rate.burst, left + (now - then) * rate.per_second)
        self._buckets[rate.kind, who] = (max(left - 1, left if left < 1 else 0.0), now)
        if len(self._buckets) > MOST_KNOWN:
            self._buckets.popitem(last=False)
        if left < 1:
            seconds = (1 - left) / rate.per_second
            raise Refusal(429, f"too many {rate.kind} in a short time", f"wait {seconds:.0f} seconds")
