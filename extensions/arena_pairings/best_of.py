"""The format `best-of`: several agents play until a test has found the best one. Agents that are found worse leave early."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field as Bounds

from arena import Field, Format, Outcomes, Pairing
from arena.api.results import result_points

if TYPE_CHECKING:
    from arena_pairings.contest import Contest

ROUNDS_PER_LOOK = 4
"""The number of rounds between two evaluations of the test. It is fixed, so that a contest ends at the same game for any number
of workers.
"""
DEFAULT_POSITIONS = 100_000
"""The default number of rounds, which is also the number of positions."""
MAX_REPEATED_LOOKS = 10
"""A contest ends undecided after this many evaluations in a row for which all pairs of games only repeated earlier pairs."""


class BestOf(Format):
    """In each round, agents meet in random pairs on one position and swap seats. Agents that are found worse than others leave.

    `risk` is the probability that the contest names an agent that is worse than that. The contest ends when one agent is found to
    be better than every other agent, or at most `margin` Elo worse. It also ends before it would exceed `games` games.
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
        return None if field.players == 2 else f"expected a game for two, got one for {field.players}"

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
                scores = np.full((1, field.entries), np.nan)
                if alone is not None:
                    scores[0, alone] = 0.5
                for one, two in met:
                    share = self._score_pair(outcomes, number, one, two, seen)
                    if share is not None:
                        new = True
                        scores[0, one], scores[0, two] = share, 1 - share
                        self.scores[one].append(share)
                        self.scores[two].append(1 - share)
                contest.add(scores)
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
