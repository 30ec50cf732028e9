"""The state of the sequential test of a head-to-head board, for its remarks and its JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from arena.api.results import BoardInfo, PairedGames, count_pairs, estimate_score, figures
from arena.stats import EloEstimate
from arena_pairings.sprt import LuckFreePairs, Sprt, SprtForecast, Verdict, forecast, log_likelihood_ratio


@dataclass(frozen=True, slots=True)
class SprtState:
    """The state of a sequential test."""

    one: str
    """The entry whose lead is tested."""
    other: str
    test: Sprt
    llr: float
    verdict: Verdict | None
    counts: tuple[int, int, int, int, int]
    worth: EloEstimate
    forecast: SprtForecast | None
    """None when the test is decided."""
    saving: float = 1.0
    """About the factor by which the correction for luck reduces the number of pairs; 1 without the correction."""

    @classmethod
    def of(cls, sheet: BoardInfo, games: PairedGames, luck: Mapping[int, float] | None = None) -> "SprtState | None":
        """The state of a head-to-head board's test; None without a test. `luck` has the luck of the first entry by round."""
        pairs = games.pairings().get((0, 1))
        if sheet.test is None or pairs is None:
            return None
        test, counts = Sprt(**sheet.test), count_pairs(pairs)
        free = LuckFreePairs()
        for round_, score in games.scores_by_round((0, 1)).items():
            free.add(score, (luck or {}).get(round_, 0.0))
        llr, saving = (free.ratio(test), free.saving) if free.known else (log_likelihood_ratio(counts, test), 1.0)
        ahead = forecast(test, counts, llr, saving)
        verdict = test.verdict(llr)
        return cls(sheet.labels[0], sheet.labels[1], test, llr, verdict, counts, estimate_score(pairs), ahead, saving)

    def describe(self, *, finished: bool) -> str:
        """Return the state as a remark on the board; a forecast is given while the run is not `finished`."""
        said = "not decided"
        if self.verdict is not None:
            said = f"{self.verdict} accepted: {self.test.explain(self.verdict, self.one, self.other)}"
        elif self.forecast is not None and not finished:
            said += f", {self.forecast.describe()}"
        worth = self.worth
        strength = (
            "no logistic Elo"
            if worth.elo is None
            else f"logistic Elo {figures.elo(worth.elo, 1)}{figures.elo_interval(worth.elo_low, worth.elo_high)}"
        )
        bias = " The Elo of a test that stopped early is biased away from 0." if self.verdict is not None else ""
        if self.saving != 1:
            bias += (
                f" Luck is taken off the pairs; without that the test would take {figures.fixed(self.saving, 1)} times as many."
            )
        llr = f"LLR {figures.fixed(self.llr, 2)} ({self.test.lower:.2f} to {self.test.upper:.2f})"
        head = f"SPRT of {self.one} against {self.other} ({self.test.describe()}): {said}."
        return f"{head} {llr}, pairs {', '.join(map(str, self.counts))}; {strength}.{bias}"
