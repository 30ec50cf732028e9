"""Compares the values of a heuristic with the costs of paths to a goal. In a small puzzle, all states are compared; in a larger
one, only states near a goal and on cheapest paths.

The distance is at most the cost of any known path. So if a value is greater than the cost of a known path, the heuristic
overestimates.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from arena import Puzzle, State
from arena.api.results import figures
from arena_check.distances import Known, distances, near_goal, shortest_way
from arena_check.trial import Trial

WHOLE_PUZZLE_STATES = 20_000
"""Maximum number of states of a puzzle that is explored as a whole."""
NEAR_STATES = 1_000
"""Number of states near a goal that are compared. It is multiplied by the number of matches of the check."""
SEARCH_STATES = 15_000
"""Maximum number of states in the search for one cheapest path. It is multiplied by the number of matches of the check."""
MAX_SEARCH_STATES = 1_000_000
"""Maximum number of states in one search, however many matches there are, because more do not fit into memory."""
MATCHES_PER_WAY = 5
"""For every group of this many matches, a cheapest path is searched from one position."""
MIN_WAYS = 3
MAX_FAILED_SEARCHES = 2
"""The number of failed searches after which no further position is tried."""
MIN_STATES_TO_TELL = 100
"""With fewer states, no result is reported. Even after 100 states without a fault, the heuristic may overestimate at up to 3 % of
all states (the rule of three).
"""
TOLERANCE = 1e-9


class Extent(NamedTuple):
    """How many states a check has compared, in words, and whether they are enough to report that the claim holds."""

    words: str
    told: bool = True


@dataclass(slots=True)
class Admissibility:
    """The check that the values of a heuristic are at most the distance to the nearest goal."""

    puzzle: Puzzle
    value: Callable[[State], float]
    trial: Trial
    matches: int
    compared: set[State] = field(default_factory=set)
    """The states at which values were compared."""
    furthest: float = 0.0
    """The largest cost of a path with which a value was compared. The distance of that state may be smaller, because some of the
    paths are not the cheapest ones: see `near_goal`.
    """

    def check(self, way: Sequence[Known]) -> Extent:
        """Compare the values. `way` is some path to a goal: its states, beginning with the goal. It is empty if no path
        is known.
        """
        rng = self.trial.rng
        number = max(MIN_WAYS, self.matches)
        positions = [self.trial.call("initial", self.puzzle.initial, rng) for _ in range(number)]
        if self._explore(positions):
            return self._extent(whole=True)
        for state, cost in way:
            self._compare(state, cost)
        self._count(near_goal(self.puzzle, way[:2], NEAR_STATES * self.matches))
        failed = 0
        for position in islice(positions, max(MIN_WAYS, self.matches // MATCHES_PER_WAY)):
            cheapest = shortest_way(self.puzzle, position, min(MAX_SEARCH_STATES, SEARCH_STATES * self.matches))
            self._count(cheapest)
            failed += not cheapest
            if failed >= MAX_FAILED_SEARCHES:
                break
        return self._extent(whole=False)

    def _explore(self, positions: Iterable[State]) -> bool:
        """Compare all states that can be reached from the positions. Return False if there are too many."""
        for position in positions:
            if position in self.compared:
                continue
            few = len(self.compared) < NEAR_STATES * self.matches
            explored = distances(self.puzzle, [position], WHOLE_PUZZLE_STATES) if few else None
            if explored is None:
                return False
            self._count(explored.known)
        return True

    def _count(self, known: Iterable[Known]) -> None:
        for state, cost in known:
            self._compare(state, cost)
            self.compared.add(state)
            self.furthest = max(self.furthest, cost)

    def _compare(self, state: State, cost: float) -> None:
        value = self.value(state)
        what = f"h({self.puzzle.format_state(state)}) must be at most the true distance"
        self.trial.expect(value <= cost + TOLERANCE, what, f"at most {cost}", value)

    def _extent(self, *, whole: bool) -> Extent:
        states = figures.amount(len(self.compared), "state")
        if not self.compared:
            return Extent("not checked: no goal was found", told=False)
        if whole:
            return Extent(f"at {states}")
        if len(self.compared) < MIN_STATES_TO_TELL:
            return Extent(f"too few to be sure: {states}; raise --matches to search more states", told=False)
        return Extent(f"at {states}, compared with paths of up to {self.furthest:g} to a goal")
