"""The state of the sequential test on a head-to-head board, for remarks and for JSON."""

from collections.abc import Mapping
from dataclasses import dataclass

from arena.api.results import BoardInfo, PairedGames, figures
from arena.stats import EloEstimate
from arena_pairings.sprt import AdjustedElo, LuckFreePairs, Sprt, SprtForecast, Verdict, forecast, log_likelihood_ratio

UNDECIDED = "nothing is decided"
"""The conclusion of a test that has not decided."""


@dataclass(frozen=True, slots=True)
class SprtState:
    """The state of a sequential test."""

    one: str
    """The entry whose lead over the other one is tested."""
    other: str
    test: Sprt
    llr: float
    verdict: Verdict | None
    counts: tuple[int, int, int, int, int]
    worth: EloEstimate
    """The score and the Elo of all games, without a correction for luck."""
    forecast: SprtForecast | None
    """The expected length of the test; None if the test is decided."""
    saving: float = 1.0
    """Approximately the factor by which the correction for luck reduces the number of pairs; 1 without the correction."""
    adjusted: AdjustedElo | None = None
    """The Elo of the scores that the test uses, if it corrects them for luck."""
    better: int = 0
    """1 if the test finds that `one` is better, -1 if it finds that the other entry is, 0 if it does not decide that."""

    @classmethod
    def of(cls, sheet: BoardInfo, games: PairedGames, luck: Mapping[int, float] | None = None) -> "SprtState | None":
        """Return the state of the test on a head-to-head board; None without a test. `luck` contains the luck of the first
        entry by round.
        """
        pairs = games.pairings().get((0, 1))
        if sheet.test is None or pairs is None:
            return None
        test, counts = Sprt(**sheet.test), PairedGames.count_pairs(pairs)
        free = LuckFreePairs()
        for round_, score in games.scores_by_round((0, 1)).items():
            free.add(score, (luck or {}).get(round_, 0.0))

        def ratio(test: Sprt) -> float:
            return free.ratio(test) if free.known else log_likelihood_ratio(counts, test)

        llr, saving = ratio(test), free.saving if free.known else 1.0
        adjusted, worth = free.estimate() if free.known else None, PairedGames.estimate_score(pairs)
        ahead = forecast(test, counts, llr, saving)
        verdict = test.verdict(llr)
        better = test.find_better(verdict, ratio)
        return cls(sheet.labels[0], sheet.labels[1], test, llr, verdict, counts, worth, ahead, saving, adjusted, better)

    @property
    def lead(self) -> EloEstimate | AdjustedElo:
        """The Elo of the scores that the test uses: corrected for luck if the test corrects them."""
        return self.worth if self.adjusted is None else self.adjusted

    def conclude(self) -> str:
        """Return the verdict in words."""
        return UNDECIDED if self.verdict is None else self.explain(self.verdict, self.one, self.other)

    def explain(self, verdict: Verdict, one: str, other: str) -> str:
        """Return the conclusion of the test, with other names for the two entries."""
        return self.test.explain(verdict, one, other, self.better)

    def describe_lead(self, decimals: int = 0) -> str:
        """Return `lead` as text, with its interval. It says whether the Elo is adjusted."""
        lead = self.lead
        words = (
            "no Elo"
            if lead.elo is None
            else f"Elo {figures.elo(lead.elo, decimals)}{figures.elo_interval(lead.elo_low, lead.elo_high)}"
        )
        return words if self.adjusted is None else f"{words}, adjusted for luck"

    @property
    def repeats(self) -> str:
        """A sentence on the games that only the Elo counts, because they repeat earlier pairs; empty without such games."""
        games, pairs = round(self.worth.games), sum(self.counts)
        if self.adjusted is not None or games <= 2 * pairs:
            return ""
        return f"The Elo counts all {games:,} games; the test uses the {figures.amount(pairs, 'pair')} that differ."

    def describe(self, *, finished: bool) -> str:
        """Return the state as a remark below the board. While the run is not `finished`, it includes a forecast."""
        said = "not decided"
        if self.verdict is not None:
            said = f"{self.explain(self.verdict, self.one, self.other)}; {self.verdict} is accepted"
        elif self.forecast is not None and not finished:
            said += f", {self.forecast.describe()}"
        strength = self.describe_lead(1)
        strength = f"{strength[:1].upper()}{strength[1:]}"
        bias = (
            " This Elo exaggerates the difference on average, because the test stops as soon as it can decide."
            if self.verdict is not None
            else ""
        )
        if self.saving != 1:
            times = figures.fixed(self.saving, 1)
            more = "" if times == "1.0" else f"; without this, the test would need {times} times as many pairs"
            bias += f" The scores are corrected for luck{more}."
        bias += f" {self.repeats}" if self.repeats else ""
        bounds = f"the test ends at {self.test.lower:.2f} or {self.test.upper:.2f}"
        llr = f"The log-likelihood ratio is {figures.fixed(self.llr, 2)} ({bounds})."
        head = f"Sequential test of {self.one} against {self.other} ({self.test.describe()}): {said}."
        pairs = f"Pairs with 0, 1/2, 1, 1 1/2 and 2 points: {', '.join(map(str, self.counts))}."
        return f"{head} {llr} {pairs} {strength}.{bias}"
