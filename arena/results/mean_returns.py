"""The returns of the entries of a board, round by round, for their means and intervals."""

from array import array
from collections.abc import Sequence

from arena.stats.clustered import ClusteredMean, clustered_mean


class RoundSums:
    """The sum and the number of some values in each round; 16 bytes a round."""

    def __init__(self) -> None:
        self._sums = array("d")
        self._counts = array("q")

    def add(self, round_: int, value: float) -> None:
        """Add a value of a round, which counts from 0."""
        if round_ >= len(self._sums):
            more = round_ + 1 - len(self._sums)
            self._sums.extend([0.0] * more)
            self._counts.extend([0] * more)
        self._sums[round_] += value
        self._counts[round_] += 1

    def by_round(self) -> dict[int, float]:
        """Return the mean of each round that has values."""
        return {round_: self._sums[round_] / count for round_, count in enumerate(self._counts) if count}

    def mean(self) -> ClusteredMean:
        """Return the mean of all values, with its interval by rounds."""
        return clustered_mean(self._sums, self._counts)


class MeanReturns:
    """The returns of every entry of a board, and those corrected for luck where records have them."""

    def __init__(self, entries: int) -> None:
        self._returns = [RoundSums() for _ in range(entries)]
        self._adjusted = [RoundSums() for _ in range(entries)]
        self._partly = False

    def add(self, round_: int, seats: Sequence[int], returns: Sequence[float], adjusted: Sequence[float] | None = None) -> None:
        """Take one match that was not void; `adjusted` are its returns corrected for luck, if they are known."""
        for entry, got in zip(seats, returns, strict=True):
            self._returns[entry].add(round_, got)
        if adjusted is None:
            self._partly = True
            return
        for entry, got in zip(seats, adjusted, strict=True):
            self._adjusted[entry].add(round_, got)

    def of(self, entry: int) -> ClusteredMean:
        """Return the mean return of an entry."""
        return self._returns[entry].mean()

    def by_round(self, entry: int) -> dict[int, float]:
        """Return the mean return of an entry in each round in which it has played."""
        return self._returns[entry].by_round()

    def adjusted(self, entry: int) -> ClusteredMean:
        """Return the mean corrected for luck of an entry; no values where some match has no correction."""
        return ClusteredMean(None, None, None) if self._partly else self._adjusted[entry].mean()
