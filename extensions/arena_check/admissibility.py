"""Compares a heuristic with the cost of ways to a goal: over a whole small puzzle, else near a goal and along cheapest ways.

Every way that is found bounds the distance from above, so a value above its cost proves that the heuristic overestimates. That it
does not is only told at states whose way is a cheapest one as far as the search saw.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from arena import Puzzle, State
from arena_check.distances import Known, distances, near_goal, shortest_way
from arena_check.trial import Trial

WHOLE_PUZZLE_STATES = 20_000
"""The most states of a puzzle that is explored as a whole."""
NEAR_STATES = 1_000
"""States near a goal that are compared for every match of the check."""
SEARCH_STATES = 15_000
"""States that a search for one cheapest way may take for every match of the check."""
MAX_SEARCH_STATES = 1_000_000
"""States after which it gives up, however many matches: more do not fit into memory."""
MATCHES_PER_WAY = 5
"""Matches of the check for every position from which a cheapest way is searched."""
MIN_WAYS = 3
MAX_FAILED_SEARCHES = 2
"""Searches without a way after which no further position is tried."""
MIN_STATES_TO_TELL = 100
"""States below which nothing is told: of 100 without a fault, an overestimate at up to 3 % of all states is still likely to be
missed (the rule of three)."""
TOLERANCE = 1e-9


class Extent(NamedTuple):
    """The extent of a check, in words, and whether that is enough to tell that the promise is kept."""

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
    """The states whose value was compared with their distance."""
    furthest: float = 0.0

    def check(self, way: Sequence[Known]) -> Extent:
        """Compare; `way` has the states on some way to a goal, the goal first, or nothing if none is known."""
        rng = self.trial.rng
        number = max(MIN_WAYS, self.matches)
        positions = [self.trial.call("initial", self.puzzle.initial, rng) for _ in range(number)]
        if self._explore(positions):
            return self._extent(whole=True)
        for state, cost in way:
            self._compare(state, cost)
        self._count(near_goal(self.puzzle, way[:2], NEAR_STATES * self.matches))
        self._along_cheapest_ways(positions)
        return self._extent(whole=False)

    def _explore(self, positions: Iterable[State]) -> bool:
        """Compare all states that can be reached from the positions; False once these are too many."""
        for position in positions:
            if position in self.compared:
                continue
            known = (
                distances(self.puzzle, position, WHOLE_PUZZLE_STATES) if len(self.compared) < NEAR_STATES * self.matches else None
            )
            if known is None:
                return False
            self._count(known)
        return True

    def _along_cheapest_ways(self, positions: Sequence[State]) -> None:
        most = min(MAX_SEARCH_STATES, SEARCH_STATES * self.matches)
        failed = 0
        for position in islice(positions, max(MIN_WAYS, self.matches // MATCHES_PER_WAY)):
            way = shortest_way(self.puzzle, position, most)
            self._count(way)
            failed += not way
            if failed >= MAX_FAILED_SEARCHES:
                return

    def _count(self, known: Iterable[Known]) -> None:
        for state, cost in known:
            self._compare(state, cost)
            self.compared.add(state)
            self.furthest = max(self.furthest, cost)

    def _compare(self, state: State, cost: float) -> None:
        value = self.value(state)
        what = f"h({self.puzzle.format_state(state)}) is at most the true distance"
        self.trial.expect(value <= cost + TOLERANCE, what, f"at most {cost}", value)

    def _extent(self, *, whole: bool) -> Extent:
        states = f"{len(self.compared):,} {'state' if len(self.compared) == 1 else 'states'}"
        if not self.compared:
            return Extent("could not be checked: no goal was found", told=False)
        if whole:
            return Extent(f"at {states}")
        if len(self.compared) < MIN_STATES_TO_TELL:
            return Extent(f"too few to tell: {states}; more --matches search further", told=False)
        return Extent(f"at {states}, up to {self.furthest:g} from a goal")
