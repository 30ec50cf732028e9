"""Head-to-head: two agents play pairs of games until a test decides or all rounds are played."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import ceil
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field as Bounds

from arena import ArenaError, Field, Format, Outcomes, Pairing
from arena.api.results import figures, result_points
from arena.stats import EloEstimate
from arena_pairings.sprt import LuckFreePairs, Sprt, expected_pairs, forecast, log_likelihood_ratio

if TYPE_CHECKING:
    from arena.api.results import BoardInfo, PairedGames
    from arena_pairings.sprt_state import SprtState

PAIRS_PER_LOOK = 4
"""The number of pairs between two evaluations of the test. It is fixed, so that the match ends at the same pair with any number
of workers."""
DEFAULT_TEST_PAIRS = 100_000
"""The default number of rounds for a test."""
MAX_REPEATED_PAIRS = 40
"""The number of consecutive repeated pairs after which a test ends undecided."""


class SprtKeys(BaseModel):
    """The keys of `sprt`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: Annotated[float, Bounds(gt=0, lt=0.5)] = 0.05
    beta: Annotated[float, Bounds(gt=0, lt=0.5)] = 0.05
    model: Literal["normalized", "logistic"] = "normalized"


class TestKeys(BaseModel):
    """The keys of `test`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    sprt: SprtKeys


class HeadToHead(Format):
    """Two agents play two games on each position, with the seats swapped; with `test: {sprt: ...}`, until the test decides."""

    name = "head-to-head"
    kind = "versus"
    first = 0
    """The number of the first position."""

    def __init__(self, *, test: TestKeys | None = None) -> None:
        keys = TestKeys.model_validate(test) if isinstance(test, Mapping) else test
        try:
            self.sprt = None if keys is None else Sprt(**keys.sprt.model_dump())
        except ArenaError as error:
            raise ValueError(str(error)) from error
        self.sequential_test = None if self.sprt is None else asdict(self.sprt)
        self._told: Counted | None = None
        """The counts when the state of the test was last computed. The next time, only the new pairs are added."""
        self._ratio: tuple[list[int], float] | None = None

    @property
    def follows_results(self) -> bool:  # type: ignore[override]
        """True if a test can end the match early."""
        return self.sprt is not None

    def default_rounds(self, entries: int) -> int:
        """Return 10 pairs or, with a test, the maximum number of pairs for the test."""
        return super().default_rounds(entries) if self.sprt is None else DEFAULT_TEST_PAIRS

    def refusal(self, field: Field) -> str | None:
        """Refuse boards that do not have two entries and two seats."""
        if field.players != 2 or field.entries != 2:
            return f"expected two agents in a two-player game, got {field.entries} in a game for {field.players}"
        return None

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return two games per round."""
        return 2 * field.rounds

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield pairs until the test decides. It is evaluated after every few pairs."""
        pairs = Counted(outcomes, self.first)
        for played, number in enumerate(range(self.first, self.first + field.rounds), 1):
            yield Pairing(number, (0, 1))
            yield Pairing(number, (1, 0))
            if self.sprt is not None and played % PAIRS_PER_LOOK == 0:
                yield None
                pairs.up_to(number + 1)
                if self.sprt.verdict(pairs.ratio(self.sprt)) is not None or pairs.repeats >= MAX_REPEATED_PAIRS:
                    return

    def announcement(self) -> str | None:
        """Return the expected number of pairs that the test needs, for three differences in strength."""
        if self.sprt is None:
            return None
        test = self.sprt
        likely = [(elo, expected_pairs(test, elo)) for elo in (test.elo0, (test.elo0 + test.elo1) / 2, test.elo1)]
        listed = ", ".join([f"{pairs:,.0f} for a lead of {elo:+g}" for elo, pairs in likely])
        return f"expected number of pairs of games ({test.unit}): {listed}"

    def status(self, outcomes: Outcomes) -> str | None:
        """Return the state of the test and, while it is undecided, the expected number of pairs."""
        if self.sprt is None:
            return None
        pairs, llr = self._state(self.sprt, outcomes)
        words = f"LLR {llr:+.2f} ({self.sprt.lower:.2f} to {self.sprt.upper:.2f})"
        if pairs.repeats:
            return f"{words}; new games only repeat earlier ones, so set openings"
        ahead = forecast(self.sprt, pairs.counts, llr, pairs.saving)
        return words if ahead is None else f"{words}, about {figures.amount(round(ahead.likely), 'pair')} in total"

    def expected_size(self, outcomes: Outcomes) -> int | None:
        """Return the expected number of matches by Wald's approximation; None without a test."""
        if self.sprt is None:
            return None
        pairs, llr = self._state(self.sprt, outcomes)
        ahead = forecast(self.sprt, pairs.counts, llr, pairs.saving)
        if ahead is None:
            return len(outcomes)
        looks = max(1, ceil((ahead.likely - sum(pairs.counts)) / PAIRS_PER_LOOK))
        return len(outcomes) + 2 * PAIRS_PER_LOOK * looks

    def test_state(self, board: "BoardInfo", games: "PairedGames", luck: Mapping[int, float]) -> "SprtState | None":
        """Return the state of the test on the board."""
        from arena_pairings.sprt_state import SprtState

        return SprtState.of(board, games, luck)

    def _state(self, test: Sprt, outcomes: Outcomes) -> tuple["Counted", float]:
        """Return the pairs so far and their log-likelihood ratio, which is computed again only if the counts have changed."""
        if self._told is None or self._told.outcomes is not outcomes:
            self._told = Counted(outcomes, self.first)
        pairs = self._told.up_to(self.first + len(outcomes) // 2)
        if self._ratio is None or self._ratio[0] != pairs.counts:
            self._ratio = (list(pairs.counts), pairs.ratio(test))
        return pairs, self._ratio[1]


class Counted:
    """Pairs of games, counted for a test. If no seat of a pair used random numbers, repetitions of the pair do not count."""

    def __init__(self, outcomes: Outcomes, first: int = 0) -> None:
        self.counts = [0, 0, 0, 0, 0]
        """The pentanomial counts (pairs with 0, 0.5, 1, 1.5 and 2 points) for the first entry, without pairs that have a void
        game.
        """
        self.repeats = 0
        """The number of latest pairs, in a row, that only repeat earlier pairs."""
        self._luck_free = LuckFreePairs()
        self.outcomes = outcomes
        self._next = first
        self._seen: set[tuple[int, int]] = set()

    def ratio(self, test: Sprt) -> float:
        """Return the log-likelihood ratio of the pairs. It is corrected for luck if luck is known for any pair."""
        return self._luck_free.ratio(test) if self._luck_free.known else log_likelihood_ratio(self.counts, test)

    @property
    def saving(self) -> float:
        """Return the factor by which the correction for luck reduces the number of pairs."""
        return self._luck_free.saving if self._luck_free.known else 1.0

    def up_to(self, number: int) -> "Counted":
        """Count all pairs on positions before `number` that have not been counted yet, and return this object."""
        while self._next < number:
            self._take(self._next)
            self._next += 1
        return self

    def _take(self, number: int) -> None:
        ahead, behind = Pairing(number, (0, 1)), Pairing(number, (1, 0))
        one, two = self.outcomes.of(ahead), self.outcomes.of(behind)
        if one is None or two is None:
            return
        played = self.outcomes.play_hash(ahead), self.outcomes.play_hash(behind)
        if played[0] is not None and played[1] is not None:
            if played in self._seen:
                self.repeats += 1
                return
            self._seen.add((played[0], played[1]))
        self.repeats = 0
        share = (result_points(one[0], one[1]) + result_points(two[1], two[0])) / 2
        self.counts[EloEstimate.PAIR_SCORES.index(share)] += 1
        self._luck_free.add(share, (self.outcomes.luck(ahead, 0) + self.outcomes.luck(behind, 1)) / 2)
