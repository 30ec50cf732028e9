"""Two agents, pair of games after pair of games, until a test decides or the rounds are over."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Bounds

from arena.errors import ArenaError
from arena.format import Field, Format, Kind, Outcomes, Pairing
from arena.stats.pairs import pentanomial
from arena.stats.sprt import Sprt, expected_pairs, log_likelihood_ratio

PAIRS_AT_ONCE = 4
"""Pairs between two looks at the test. The same whoever plays, so that the match ends at the same pair."""
MOST_PAIRS = 100_000
"""Rounds where a test decides and the spec says nothing."""


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

    @property
    def follows_results(self) -> bool:  # type: ignore[override]
        """Whether a test can end the match early."""
        return self.sprt is not None

    def default_rounds(self, entries: int) -> int:
        """Return 10 pairs, with a test as many as it may take."""
        return super().default_rounds(entries) if self.sprt is None else MOST_PAIRS

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
        """Yield pair after pair, and ask the test after every few of them."""
        counts = [0, 0, 0, 0, 0]
        for number in range(field.rounds):
            yield Pairing(number, (0, 1))
            yield Pairing(number, (1, 0))
            if self.sprt is not None and (number + 1) % PAIRS_AT_ONCE == 0:
                yield None
                new = counted(outcomes, range(number + 1 - PAIRS_AT_ONCE, number + 1))
                counts = [before + more for before, more in zip(counts, new, strict=True)]
                if self.sprt.verdict(log_likelihood_ratio(counts, self.sprt)) is not None:
                    return

    def announcement(self) -> str | None:
        """What is said before the match starts: how many pairs the test will take."""
        if self.sprt is None:
            return None
        test = self.sprt
        likely = [(elo, expected_pairs(test, elo)) for elo in (test.elo0, (test.elo0 + test.elo1) / 2, test.elo1)]
        listed = ", ".join([f"{pairs:,.0f} at {elo:+g} Elo" for elo, pairs in likely])
        return f"the test will take about {listed} ({test.model}), in pairs of games"

    def status(self, outcomes: Outcomes) -> str | None:
        """Return the state of the test."""
        if self.sprt is None:
            return None
        llr = log_likelihood_ratio(counted(outcomes, range(len(outcomes) // 2)), self.sprt)
        return f"LLR {llr:+.2f} ({self.sprt.lower:.2f} to {self.sprt.upper:.2f})"


def counted(outcomes: Outcomes, pairs: Iterable[int]) -> tuple[int, int, int, int, int]:
    """The pentanomial counts of these pairs of games, from the view of the first entry; those with a void game are left out."""
    found = [(outcomes.of(Pairing(number, (0, 1))), outcomes.of(Pairing(number, (1, 0)))) for number in pairs]
    whole = [(one, two) for one, two in found if one is not None and two is not None]
    return pentanomial([(points(one[0], one[1]) + points(two[1], two[0])) / 2 for one, two in whole])


def points(got: float, theirs: float) -> float:
    """What a result is worth: 1, a half or nothing."""
    return 1.0 if got > theirs else 0.5 if got == theirs else 0.0
