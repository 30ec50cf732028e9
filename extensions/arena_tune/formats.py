"""The formats for the confirmation in `arena tune`. They compare two entries on positions that the search has not used."""

from collections.abc import Iterator

from arena import Field, Format, Outcomes, Pairing
from arena_pairings.head_to_head import MAX_REPEATED_PAIRS, PAIRS_PER_LOOK, HeadToHead, TestKeys
from arena_tune.shared_rivals import SharedRivals

MAX_SEARCH_POSITIONS = 128
"""The maximum number of positions in a search. The positions of the confirmation come after them."""


class HeldOut(HeadToHead):
    """Head-to-head on positions that come after those of a search by `arena tune`.

    `first` is the number of the first position; the search has used the positions before it. `test` sets the sequential test, as
    in the format head-to-head.
    """

    name = "held-out"

    def __init__(self, *, test: TestKeys | None = None, first: int = MAX_SEARCH_POSITIONS) -> None:
        super().__init__(test=test)
        self.first = first


class HeldOutGauntlet(HeadToHead):
    """The first two entries play all others, on positions that come after those of a search by `arena tune`.

    `first` is the number of the first position; the search has used the positions before it. `test` sets the sequential test, as
    in the format head-to-head. A sequential test compares the scores of the two, position by position.
    """

    name = "held-out-gauntlet"
    ranked_by = "rating"  # scores against different opponents cannot be compared

    def __init__(self, *, test: TestKeys | None = None, first: int = MAX_SEARCH_POSITIONS) -> None:
        super().__init__(test=test)
        self.sequential_test = None  # a board shows a test only if its two entries play each other
        self.first = first
        self.scores = SharedRivals(1)
        """The scores in the schedule that was created last, up to the last evaluation of the test; empty without a test."""

    def refusal(self, field: Field) -> str | None:
        """Refuse games that are not for two players."""
        return None if field.players == 2 else f"expected a game for two players, got one for {field.players}"

    def fewest(self, players: int) -> int:
        """Return 3."""
        return 3

    def size(self, field: Field) -> int:
        """Return the number of matches: four in each round against each opponent."""
        return 4 * field.rounds * (field.entries - 2)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield the matches position by position. A test is evaluated after every few positions, and can end them."""
        rivals = range(2, field.entries)
        self.scores = scores = SharedRivals(len(rivals))
        last = self.first + field.rounds - 1
        due: list[int] = []
        for number in range(self.first, last + 1):
            for rival in rivals:
                for entry in (0, 1):
                    yield Pairing(number, (entry, rival))
                    yield Pairing(number, (rival, entry))
            due.append(number)
            if self.sprt is not None and (len(due) == PAIRS_PER_LOOK or number == last):
                yield None
                for one in due:
                    scores.take(outcomes, one)
                due = []
                if self.sprt.verdict(scores.ratio(self.sprt)) is not None or scores.repeats >= MAX_REPEATED_PAIRS:
                    return

    def announcement(self) -> str | None:
        """Return None, because the number of positions depends on the results."""
        return None

    def status(self, outcomes: Outcomes) -> str | None:
        """Return the state of the test at its last evaluation."""
        if self.sprt is None:
            return None
        return f"LLR {self.scores.ratio(self.sprt):+.2f} ({self.sprt.lower:.2f} to {self.sprt.upper:.2f})"

    def expected_size(self, outcomes: Outcomes) -> int | None:
        """Return None, because this test has no forecast."""
        return None


class HeldOutBenchmark(Format):
    """A benchmark on positions that come after those of a search by `arena tune`.

    `first` is the number of the first position; the search has used the positions before it.
    """

    name = "held-out-benchmark"
    kind = "puzzle"

    def __init__(self, *, first: int = MAX_SEARCH_POSITIONS) -> None:
        self.first = first

    def fewest(self, players: int) -> int:
        """Return 1."""
        return 1

    def size(self, field: Field) -> int:
        """Return the number of rounds times the number of entries."""
        return field.rounds * field.entries

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing]:
        """Yield the matches position by position. Every agent plays each position."""
        for number in range(self.first, self.first + field.rounds):
            for entry in range(field.entries):
                yield Pairing(number, (entry,))
