"""The format `best-of`: several agents play until a test has found the best one. Agents that are found worse leave early."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field as Bounds

from arena import Field, Format, Outcomes, Pairing
from arena.api.results import figures, result_points

if TYPE_CHECKING:
    from arena.api.results import BoardInfo
    from arena_pairings.contest import Contest

ROUNDS_PER_LOOK = 4
"""The number of rounds between two evaluations of the test. It is fixed, so that a contest ends at the same game for any number
of workers.
"""
DEFAULT_POSITIONS = 100_000
"""The default number of rounds, which is also the number of positions."""
MAX_REPEATED_LOOKS = 10
"""A contest ends undecided after this many evaluations in a row for which all pairs of games only repeated earlier pairs."""


@dataclass(frozen=True, slots=True)
class ContestResult:
    """What a contest has found so far."""

    winner: str | None
    """The best entry; None while the contest is undecided."""
    still_in: tuple[str, ...]
    """The entries that remain in the contest, in the order of the spec."""
    level: tuple[str, ...]
    """The entries among these that were found to differ from the winner by at most the margin."""
    entries: int
    rest_is_worse: bool
    """Whether each entry that has left was found to be worse than each one that remains."""
    margin: float
    """The margin of the contest, in Elo."""
    risk: float
    """The probability of a wrong winner is at most this."""

    @classmethod
    def of(cls, labels: Sequence[str], contest: "Contest", margin: float, risk: float) -> Self:
        """Return the result of the first contest of `contest`. Its variants have these labels."""
        better, level = contest.relations()
        answer, numbers = int(contest.answers[0]), range(len(labels))
        still = [one for one in numbers if contest.is_in[0, one]]
        rest_is_worse = all(better[one, other] for one in still for other in numbers if other not in still)
        near = [labels[one] for one in still if answer >= 0 and level[answer, one]]
        winner = labels[answer] if answer >= 0 else None
        return cls(winner, tuple([labels[one] for one in still]), tuple(near), len(labels), rest_is_worse, margin, risk)

    def explain(self) -> str:
        """Return the result as a sentence without a full stop."""
        if self.winner is None:
            return f"Undecided: {figures.listing(self.still_in)} are still in the contest"
        risk = f" (error probability at most {100 * self.risk:g} %)"
        perhaps = [one for one in self.still_in if one != self.winner and one not in self.level]
        if not self.level and not perhaps:
            return f"{self.winner} is the best of {self.entries}{risk}"
        elo, words = f"{self.margin:g} Elo", []
        if len(self.level) == 1 and not perhaps:
            near = [one for one in self.still_in if one in (self.winner, *self.level)]
            words.append(f"{figures.listing(near)} are within {elo}")
        elif self.level:
            words.append(f"{figures.listing(self.level)} {'is' if len(self.level) == 1 else 'are'} within {elo} of {self.winner}")
        if perhaps:
            words.append(f"{self.winner} is better than {figures.listing(perhaps)} or within {elo}")
        if len(self.still_in) < self.entries:
            both = "both" if len(self.still_in) == 2 else "all"
            worse = self.rest_is_worse and not perhaps
            words.append(f"{both} better than the rest" if worse else "each of the others is worse than one of these")
        return f"{', '.join(words)}{risk}"

    def describe(self, *, finished: bool) -> str:
        """Return the result as a remark below the board."""
        if self.winner is not None:
            return f"{self.winner} wins the contest: {self.explain()}."
        open_ = "The contest ended without a winner" if finished else "The contest has no winner yet"
        return f"{open_}: {figures.listing(self.still_in)} are still in it."


class BestOf(Format):
    """In each round, agents meet in random pairs on one position and swap seats. Agents that are found worse than others leave.

    `risk` is the probability that the contest names an agent that is worse than that. The contest ends when one agent is found to
    be better than every other agent, or at most `margin` Elo worse. The contest also ends before it would exceed `games` games.
    """

    name = "best-of"
    kind = "versus"
    follows_results = True
    ranked_by = "rating"

    def __init__(
        self,
        *,
        margin: Annotated[float, Bounds(gt=0, le=400)] = 5.0,
        risk: Annotated[float, Bounds(gt=0, lt=0.5)] = 0.05,
        games: Annotated[int, Bounds(ge=2)] | None = None,
    ) -> None:
        self.margin = margin
        self.risk = risk
        self.games = games
        self.contest: Contest | None = None
        """The contest of the schedule that was created last; None before the first evaluation."""
        self.scores: list[list[float]] = []
        """The scores of every entry in this contest, one for each pair of games."""
        self.played = 0
        """The number of games in this contest up to the last evaluation."""

    def default_rounds(self, entries: int) -> int:
        """Return the largest number of rounds."""
        return DEFAULT_POSITIONS

    def refusal(self, field: Field) -> str | None:
        """Refuse games for more than two players."""
        return None if field.players == 2 else f"expected a game for two players, got one for {field.players}"

    def fewest(self, players: int) -> int:
        """Return 2."""
        return 2

    def size(self, field: Field) -> int:
        """Return the number of games if no agent leaves early."""
        most = field.rounds * 2 * (field.entries // 2)
        return most if self.games is None else min(most, self.games)

    def schedule(self, field: Field, outcomes: Outcomes) -> Iterator[Pairing | None]:
        """Yield rounds of game pairs until the contest is decided."""
        import numpy as np

        from arena_pairings.contest import Contest

        contest = self.contest = Contest(field.entries, self.margin, self.risk)
        self.played = 0
        self.scores = [[] for _ in range(field.entries)]
        seen: set[tuple[int, ...]] = set()
        games = repeats = 0
        for first in range(0, field.rounds, ROUNDS_PER_LOOK):
            left = np.flatnonzero(contest.is_in[0]).tolist()
            drawn = [self._draw_round(field, left, number) for number in range(first, min(first + ROUNDS_PER_LOOK, field.rounds))]
            games += sum(2 * len(met) for met, _ in drawn)
            if games > self.size(field):
                return
            for number, (met, _) in enumerate(drawn, first):
                for one, two in met:
                    yield Pairing(number, (one, two))
                    yield Pairing(number, (two, one))
            yield None
            self.played = games
            new = False
            for number, (met, alone) in enumerate(drawn, first):
                scores = self._score_round(field.entries, outcomes, number, met, alone, seen)
                contest.add(scores[None])
                for entry in np.flatnonzero(~np.isnan(scores)):
                    if entry != alone:
                        new = True
                        self.scores[entry].append(float(scores[entry]))
            contest.look()
            repeats = 0 if new else repeats + 1
            if contest.answers[0] >= 0 or repeats >= MAX_REPEATED_LOOKS:
                return

    def status(self, outcomes: Outcomes) -> str | None:
        """Return, in words, the number of agents that remain in the contest."""
        if self.contest is None:
            return None
        left = self.contest.is_in[0]
        return f"{left.sum()} of {len(left)} still in"

    def conclude(self, board: "BoardInfo", outcomes: Outcomes) -> ContestResult:
        """Return the winner of the contest, or the entries that are still in it, from the results alone."""
        from arena_pairings.contest import Contest

        entries = len(board.labels)
        contest, seen = Contest(entries, self.margin, self.risk), set[tuple[int, ...]]()
        played: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
        for round_, (one, two) in outcomes.pairings():
            played[round_].add((one, two))
        most = board.size // (2 * (entries // 2))
        for first in range(0, max(played, default=-1) + 1, ROUNDS_PER_LOOK):
            left = {entry for entry in range(entries) if contest.is_in[0, entry]}
            rounds = [number for number in range(first, first + ROUNDS_PER_LOOK) if len(played[number]) == 2 * (len(left) // 2)]
            if len(rounds) < ROUNDS_PER_LOOK and first + len(rounds) < most:
                break  # they are not evaluated yet
            for number in rounds:
                met = [(one, two) for one, two in played[number] if one < two]
                alone = next(iter(left.difference(*met)), None)
                contest.add(self._score_round(entries, outcomes, number, met, alone, seen)[None])
            contest.look()
        return ContestResult.of(board.labels, contest, self.margin, self.risk)

    def _score_round(
        self,
        entries: int,
        outcomes: Outcomes,
        number: int,
        met: Sequence[tuple[int, int]],
        alone: int | None,
        seen: set[tuple[int, ...]],
    ) -> Any:
        """Return the score of every entry in a round, as an array: 1/2 without an opponent, and NaN without a score."""
        import numpy as np

        scores = np.full(entries, np.nan)
        if alone is not None:
            scores[alone] = 0.5
        for one, two in met:
            share = self._score_pair(outcomes, number, one, two, seen)
            if share is not None:
                scores[one], scores[two] = share, 1 - share
        return scores

    def _draw_round(self, field: Field, left: Sequence[int], number: int) -> tuple[list[tuple[int, int]], int | None]:
        """Return the pairs for a round, drawn from the entries that are `left`, and the entry that has no opponent.

        The entries are sorted by their keys before they are shuffled, so that their order in the spec does not matter.
        """
        order = sorted(left, key=lambda entry: field.keys[entry])
        field.lots(f"{self.name} {number}").shuffle(order)
        pairs = list(zip(order[::2], order[1::2], strict=False))
        return pairs, order[-1] if len(order) % 2 else None

    def _score_pair(self, outcomes: Outcomes, number: int, one: int, two: int, seen: set[tuple[int, ...]]) -> float | None:
        """Return the score of `one` in a game pair; None if a game was void, or if the agents used no random numbers and the pair
        repeats an earlier one.
        """
        ahead, behind = Pairing(number, (one, two)), Pairing(number, (two, one))
        returns, swapped = outcomes.of(ahead), outcomes.of(behind)
        if returns is None or swapped is None:
            return None
        hashes = outcomes.play_hash(ahead), outcomes.play_hash(behind)
        if hashes[0] is not None and hashes[1] is not None:
            # The same two entries may have been drawn in the other order before.
            played = (one, two, hashes[0], hashes[1]) if one < two else (two, one, hashes[1], hashes[0])
            if played in seen:
                return None
            seen.add(played)
        return (result_points(returns[0], returns[1]) + result_points(swapped[1], swapped[0])) / 2
