"""Two agents, pair of games after pair of games, until a test decides or the rounds are over."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import ceil
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Bounds

from arena.errors import ArenaError
from arena.format import Field, Format, Kind, Outcomes, Pairing, result_points
from arena.stats.observations import PAIR_SCORES
from arena.stats.sprt import Sprt, expected_pairs, forecast, log_likelihood_ratio

PAIRS_PER_LOOK = 4
"""Pairs between two looks at the test; constant, so that the match ends at the same pair with any number of workers."""
DEFAULT_TEST_PAIRS = 100_000
"""Rounds of a test where the spec gives none."""


MAX_REPEATED_PAIRS = 40
"""Pairs in a row that only repeat others after which a test ends undecided."""


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
    """Two agents meet on position after position, seats swapped; with `test: {sprt: ...}` until the test decides."""

    name = "head-to-head"
    kind: ClassVar[Kind] = "versus"

    def __init__(self, *, test: TestKeys | None = None) -> None:
        keys = TestKeys.model_validate(test) if isinstance(test, Mapping) else test
        try:
            self.sprt = None if keys is None else Sprt(**keys.sprt.model_dump())
        except ArenaError as error:
            raise ValueError(str(error)) from error
        self.sequential_test = None if self.sprt is None else asdict(self.sprt)
        self._told: Counted | None = None
        """The counts of the last status: the next one adds only the pairs that have come since."""
        self._ratio: tuple[list[int], float] | None = None

    @property
    def follows_results(self) -> bool:  # type: ignore[override]
        """True if a test can end the match early."""
        return self.sprt is not None

    def default_rounds(self, entries: int) -> int:
        """Return 10 pairs, with a test as many as it may take."""
        return super().default_rounds(entries) if self.sprt is None else DEFAULT_TEST_PAIRS

    def refusal(self, field: Field) -> str | None:
        """Refuse all but two entries in two seats."""
        if field.players != 2 or field.entries != 2:
            return f"expected two agents at a game for two, got {field.entries} at a game for {field.players}"
        return None

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return two games a round."""
        return 2 * field.rounds

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield pair after pair until the test, which is computed after every few of them, decides."""
        pairs = Counted(outcomes)
        for number in range(field.rounds):
            yield Pairing(number, (0, 1))
            yield Pairing(number, (1, 0))
            if self.sprt is not None and (number + 1) % PAIRS_PER_LOOK == 0:
                yield None
                pairs.up_to(number + 1)
                if (
                    self.sprt.verdict(log_likelihood_ratio(pairs.counts, self.sprt)) is not None
                    or pairs.repeats >= MAX_REPEATED_PAIRS
                ):
                    return

    def announcement(self) -> str | None:
        """Return the expected number of pairs of the test, at three differences in strength."""
        if self.sprt is None:
            return None
        test = self.sprt
        likely = [(elo, expected_pairs(test, elo)) for elo in (test.elo0, (test.elo0 + test.elo1) / 2, test.elo1)]
        listed = ", ".join([f"{pairs:,.0f} at {elo:+g} Elo" for elo, pairs in likely])
        return f"pairs of games that the test will take, about ({test.model}): {listed}"

    def status(self, outcomes: Outcomes) -> str | None:
        """Return the state of the test, and how many pairs it is expected to take while it is not decided."""
        if self.sprt is None:
            return None
        pairs, llr = self._state(self.sprt, outcomes)
        words = f"LLR {llr:+.2f} ({self.sprt.lower:.2f} to {self.sprt.upper:.2f})"
        if pairs.repeats:
            return f"{words}, only repeats: try openings"
        ahead = forecast(self.sprt, pairs.counts, llr)
        return words if ahead is None else f"{words}, about {ahead.likely:,.0f} pairs in all"

    def expected_size(self, outcomes: Outcomes) -> int | None:
        """Return the matches that the test will have taken, by Wald's forecast; None without a test."""
        if self.sprt is None:
            return None
        pairs, llr = self._state(self.sprt, outcomes)
        ahead = forecast(self.sprt, pairs.counts, llr)
        if ahead is None:
            return len(outcomes)
        looks = max(1, ceil((ahead.likely - sum(pairs.counts)) / PAIRS_PER_LOOK))
        return len(outcomes) + 2 * PAIRS_PER_LOOK * looks

    def _state(self, test: Sprt, outcomes: Outcomes) -> tuple["Counted", float]:
        """The pairs so far, and their log-likelihood ratio, which is computed once for every number of them."""
        if self._told is None or self._told.outcomes is not outcomes:
            self._told = Counted(outcomes)
        pairs = self._told.up_to(len(outcomes) // 2)
        if self._ratio is None or self._ratio[0] != pairs.counts:
            self._ratio = (list(pairs.counts), log_likelihood_ratio(pairs.counts, test))
        return pairs, self._ratio[1]


class Counted:
    """Pairs of games as a test counts them: one in which no seat used random numbers counts once, however often it is played."""

    def __init__(self, outcomes: Outcomes) -> None:
        self.counts = [0, 0, 0, 0, 0]
        """Pentanomial, from the view of the first entry; pairs with a void game are left out."""
        self.repeats = 0
        """The number of pairs in a row that have only repeated others."""
        self.outcomes = outcomes
        self._next = 0
        self._seen: set[tuple[int, int]] = set()

    def up_to(self, number: int) -> "Counted":
        """Count the pairs of all positions before this one that have not been counted yet."""
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
        self.counts[PAIR_SCORES.index(share)] += 1
