"""How far ratings can be trusted when there are many pairs: the bootstrap, thousands of tables refitted at once with numpy.

B. Efron, Bootstrap Methods, 1979: every pairing's pairs are drawn anew, with replacement, as many as there were, and the ratings
are fitted to the result; percentiles of these ratings are the interval. A pairing whose pairs all came out alike shows no spread,
so its games are drawn from the fitted model instead. numpy comes with the `stats` extra; `available` says whether it is there.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from arena.stats.bradley_terry import MODEL, Fit, Model
from arena.stats.pairs import Pair, Pairings, Tally, kinds_of
from arena.stats.refit import Refit

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

DRAWN = 300_000
"""About how many pairings times samples are drawn at a time."""

FITTED = 30_000
"""About how many of them are fitted at a time: as many as a processor's cache holds."""

MANY = 1_000
"""From how many pairs on the kinds of pairs are counted by one multinomial draw, and not each pair drawn by itself."""


def available() -> bool:
    """Whether numpy is installed."""
    return find_spec("numpy") is not None


class Bootstrap:
    """The spread of ratings about the field's mean, and of their differences, in natural units; agents by their places."""

    name = "bootstrap"

    def __init__(self, samples: "Array") -> None:
        """`samples` has a row for every refitted table and a column for every agent."""
        self._samples = samples

    def interval(self, agent: int, other: int | None = None) -> tuple[float, float]:
        """The 95 % interval of an agent's rating, or of what it exceeds another's by."""
        import numpy as np

        column = self._samples[:, agent]
        low, high = np.quantile(column if other is None else column - self._samples[:, other], [0.025, 0.975])
        return float(low), float(high)

    def superiority(self, agent: int, other: int) -> float:
        """The likelihood of superiority of an agent over another: the share of samples, half a sample away from 0 and 1."""
        lead = self._samples[:, agent] - self._samples[:, other]
        better = float((lead > 0).sum() + 0.5 * (lead == 0).sum())
        return (better + 0.5) / (len(lead) + 1)


def bootstrap(fit: Fit, pairings: Pairings, rng: random.Random, *, model: Model = MODEL, samples: int = 1000) -> Bootstrap:
    """The spread of Bradley-Terry ratings that were fitted to the games of all these pairs.

    `rng` only seeds numpy's generator, so the same numbers come out as long as numpy keeps that. `model` is what was fitted.
    """
    import numpy as np

    generator = np.random.default_rng(rng.getrandbits(128))
    sources = [_source(fit, seats, pairs) for seats, pairs in pairings.items() if any(pair.games for pair in pairs)]
    refit = Refit(fit, [source.seats for source in sources], model)
    size = max(25, DRAWN // max(1, len(sources)))
    parts = []
    for done in range(0, samples, size):
        planes = _resample(sources, generator, min(size, samples - done))
        share = max(1, FITTED // max(1, len(sources)))
        parts += [refit.ratings(planes[:, :, k : k + share]) for k in range(0, planes.shape[2], share)]
    return Bootstrap(np.concatenate(parts))


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Kinds of pairs to draw from, by their chances."""

    count: int
    chances: "Array"
    kinds: "Array"
    """Sufficient statistics, a row for every kind."""

    def draw(self, generator: "np.random.Generator", samples: int) -> "Array":
        """The statistics of `count` drawn pairs, added up: a row for each statistic, a column for every sample."""
        drawn: Array = (generator.multinomial(self.count, self.chances, size=samples) @ self.kinds).T
        return drawn


@dataclass(frozen=True, slots=True)
class _Each:
    """Pairs to draw from, all of the same chance."""

    pairs: "Array"
    """Sufficient statistics, a row for each, a column for every pair."""

    def draw(self, generator: "np.random.Generator", samples: int) -> "Array":
        """The statistics of as many drawn pairs, added up: a row for each statistic, a column for every sample."""
        import numpy as np

        count = self.pairs.shape[1]
        picked = generator.integers(0, count, size=(count, samples), dtype=np.uint16)
        return np.stack([row.take(picked).sum(axis=0) if np.ptp(row) else np.full(samples, row[0] * count) for row in self.pairs])


@dataclass(frozen=True, slots=True)
class _Source:
    """What the games of one pairing are drawn from."""

    seats: tuple[int, int]
    draws: "tuple[_Kinds | _Each, ...]"


def _source(fit: Fit, seats: tuple[str, str], pairs: Sequence[Pair]) -> _Source:
    kinds = [(pair, count) for pair, count in kinds_of(pairs) if pair.games]
    places = fit.agents.index(seats[0]), fit.agents.index(seats[1])
    if len({pair.score for pair, _ in kinds}) == 1:  # no spread to draw from
        return _Source(places, _modelled(fit, seats, kinds))
    many = sum(count for _, count in kinds) > MANY
    return _Source(places, (_kinds(kinds) if many else _each([pair for pair in pairs if pair.games]),))


def _each(clusters: Sequence[Pair]) -> _Each:
    import numpy as np

    known = {pair: _statistics(pair) for pair in set(clusters)}
    return _Each(np.array([known[pair] for pair in clusters]).T.copy())


def _kinds(kinds: Sequence[tuple[Pair, int]]) -> _Kinds:
    import numpy as np

    counts: Counter[Pair] = Counter()
    for pair, count in kinds:
        counts[pair] += count
    total = counts.total()
    return _Kinds(total, np.array(list(counts.values())) / total, np.array([_statistics(pair) for pair in counts]))


def _modelled(fit: Fit, seats: tuple[str, str], kinds: Sequence[tuple[Pair, int]]) -> tuple[_Kinds, _Kinds]:
    import numpy as np

    one, two = seats
    none = Tally()
    results = Tally(wins=1), Tally(draws=1), Tally(losses=1)
    ahead = round(sum(pair.forward.games * count for pair, count in kinds)), np.array(fit.chances(one, two))
    behind = round(sum(pair.backward.games * count for pair, count in kinds)), np.array(fit.chances(two, one))
    return (
        _Kinds(*ahead, np.array([_statistics(Pair(result, none)) for result in results])),
        _Kinds(*behind, np.array([_statistics(Pair(none, result)) for result in results])),
    )


def _resample(sources: Sequence[_Source], generator: "np.random.Generator", samples: int) -> "Array":
    """Statistics of drawn pairs, added up: a plane for each, a row for every pairing, a column for every sample."""
    import numpy as np

    planes = np.zeros((5, len(sources), samples))
    for row, source in enumerate(sources):
        for kind in source.draws:
            planes[:, row] += kind.draw(generator, samples)
    return planes


def _statistics(pair: Pair) -> tuple[float, ...]:
    """What the likelihood needs to know of a pair: leads and games in either order, and draws."""
    ahead, behind = pair.forward, pair.backward
    return (
        (ahead.wins - ahead.losses) / 2,
        (behind.wins - behind.losses) / 2,
        ahead.games,
        behind.games,
        ahead.draws + behind.draws,
    )
