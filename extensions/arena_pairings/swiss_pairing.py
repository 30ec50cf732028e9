"""Swiss tournaments: pairings and standings.

In every round, competitors with about the same score meet, no two meet again if that can be avoided, and seats are balanced.

The rules follow the handbook of the world chess federation (C.04). Groups with equal scores are paired from the top: the upper
half of a group meets the lower half. A competitor that cannot be paired floats to the next group. A pair is made only if all
others can still be paired, which is decided by a maximum matching. So if a round without repeated meetings exists, it is found.
The pairing itself is not random: the caller gives the order of competitors with equal scores, and the same order and history
always give the same round.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, TypeAlias

from arena import ArenaError
from arena_pairings.bracket import Competitor

Seats: TypeAlias = tuple[Competitor, Competitor | None]
"""The competitors in the first and the second seat; or a single one with a bye."""

MAX_SEAT_EXCESS = 2
"""A competitor may have one seat at most this many times more often than the other seat. After that, the competitor must get the
other seat (the absolute preference in the handbook). Two competitors that must get the same seat do not meet.
"""


class Encounter(NamedTuple, Generic[Competitor]):
    """A meeting of two competitors in a round; or a bye, in which `second` is None."""

    first: Competitor
    second: Competitor | None
    points: float = 1.0
    """The share of the points that the first competitor won, within [0, 1]; 1 for a bye."""


class SwissStanding(NamedTuple, Generic[Competitor]):
    """A line in the table of a Swiss tournament."""

    agent: Competitor
    score: float
    buchholz: float
    """The sum of the scores of the opponents; byes add nothing (B. Buchholz, 1932)."""
    sonneborn_berger: float
    """The sum of the scores of the opponents, each multiplied by the points won against that opponent; a bye adds nothing."""


def scores(agents: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> dict[Competitor, float]:
    """Return the points of each competitor: at most one for a meeting, one for a bye."""
    points = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        points[first] += share
        if second is not None:
            points[second] += 1 - share
    return points


def standings(lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> tuple[SwissStanding[Competitor], ...]:
    """Return the table, the best competitor first. It is sorted by score, then Buchholz, then Sonneborn-Berger, then in the order
    of the lots.
    """
    points = scores(lots, history)
    buchholz, sonneborn_berger = dict.fromkeys(lots, 0.0), dict.fromkeys(lots, 0.0)
    for first, second, share in history:
        if second is not None:
            buchholz[first] += points[second]
            buchholz[second] += points[first]
            sonneborn_berger[first] += share * points[second]
            sonneborn_berger[second] += (1 - share) * points[first]
    rows = [SwissStanding(agent, points[agent], buchholz[agent], sonneborn_berger[agent]) for agent in lots]
    return tuple(sorted(rows, key=lambda row: (-row.score, -row.buchholz, -row.sonneborn_berger)))


def draw_lots(agents: Sequence[Competitor], rng: random.Random) -> tuple[Competitor, ...]:
    """Return the competitors in random order. Draw this order once, before the first round, and keep it."""
    return tuple(rng.sample(list(agents), len(agents)))


def swiss_round(lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> tuple[Seats[Competitor], ...]:
    """Return the next round, from the best pair down, with the bye last.

    `lots` contains all competitors, in the order that decides between equal scores; `history` contains all meetings so far,
    in order. If possible, no two competitors meet again; otherwise, there are as few repeated meetings as possible. The bye
    goes to one of the competitors with the fewest byes so far: to the lowest one without whom all others can be paired in
    this way. Raises ArenaError for fewer than two competitors, for duplicates, and for meetings with unknown competitors.
    """
    known = set(lots)
    if len(lots) < 2 or len(known) < len(lots):
        raise ArenaError(f"swiss: expected two or more agents, each listed once; got {', '.join(map(str, lots)) or 'none'}")
    met = [agent for meeting in history for agent in (meeting.first, meeting.second) if agent is not None]
    strange = [agent for agent in met if agent not in known]
    if strange:
        raise ArenaError(f"swiss: expected encounters of {', '.join(map(str, lots))}; got one with {strange[0]!r}")
    return _Round(lots, history).pairs()


class NeighborGraph:
    """A graph with the vertices 0, 1, ... that answers questions about its subgraphs.

    rustworkx computes the matchings: J. Edmonds, Paths, Trees, and Flowers, 1965, with the algorithm of Z. Galil, 1986.
    """

    def __init__(self, neighbors: Sequence[Collection[int]]) -> None:
        """`neighbors` contains the possible partners of each vertex. If a vertex is a partner of another, the reverse must
        hold too.
        """
        import rustworkx

        self.neighbors = neighbors
        self._graph = rustworkx.PyGraph()
        self._graph.add_nodes_from(range(len(neighbors)))
        self._graph.add_edges_from_no_data([(one, two) for one, found in enumerate(neighbors) for two in found if one < two])

    def exposed(self, present: Collection[int]) -> int:
        """Return the number of the `present` vertices without a partner in a maximum matching of their subgraph.

        The number is the same for all maximum matchings.
        """
        import rustworkx

        part = self._graph.subgraph(list(present))
        return len(present) - 2 * len(rustworkx.max_weight_matching(part, max_cardinality=True))


class _SeatHistory(NamedTuple):
    """The seats that a competitor has had so far."""

    balance: int
    """The number of first seats minus the number of second seats."""
    last: tuple[int, ...]
    """1 for a first seat, -1 for a second seat, the latest seat first."""


class _Round(Generic[Competitor]):
    """A round that is being built. Competitors are identified by their ranks; 0 is the best."""

    def __init__(self, lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> None:
        score = scores(lots, history)
        self._agents = sorted(lots, key=lambda agent: -score[agent])
        self._score = [score[agent] for agent in self._agents]
        self._lot = [lots.index(agent) for agent in self._agents]
        rank = {agent: k for k, agent in enumerate(self._agents)}
        played = [(rank[meeting.first], rank[meeting.second]) for meeting in history if meeting.second is not None]
        self._met = Counter(frozenset(pair) for pair in played)
        self._byes = Counter(rank[meeting.first] for meeting in history if meeting.second is None)
        self._seats = []
        for k in range(len(lots)):
            seats = [1 if first == k else -1 for first, second in reversed(played) if k in {first, second}]
            self._seats.append(_SeatHistory(sum(seats), tuple(seats)))

    def pairs(self) -> tuple[Seats[Competitor], ...]:
        bye, graph = self._feasible()
        found = [self._seated(one, two) for one, two in self._by_group(graph, bye)]
        return tuple(found) if bye is None else (*found, (self._agents[bye], None))

    def _feasible(self) -> tuple[int | None, NeighborGraph]:
        """Return the bye, if there is one, and the graph of allowed pairs under the strictest rule with which all other
        competitors can be paired.
        """
        count = len(self._agents)
        everyone = range(count)

        def strictest(one: int, two: int) -> bool:
            """Return True if two competitors have not met and their preferences for seats allow a game."""
            balances = self._seats[one].balance, self._seats[two].balance
            same_need = min(balances) >= MAX_SEAT_EXCESS or max(balances) <= -MAX_SEAT_EXCESS
            return not self._met[frozenset((one, two))] and not same_need

        def up_to(times: int) -> Callable[[int, int], bool]:
            return lambda one, two: self._met[frozenset((one, two))] <= times

        for allowed in (strictest, *map(up_to, range(max(self._met.values(), default=0) + 1))):
            graph = NeighborGraph([{two for two in everyone if two != one and allowed(one, two)} for one in everyone])
            if graph.exposed(everyone) != count % 2:
                continue
            if not count % 2:
                return None, graph
            fewest = min(self._byes[k] for k in everyone)
            for k in reversed(everyone):
                if self._byes[k] == fewest and not graph.exposed({*everyone} - {k}):
                    return k, graph
        raise AssertionError("internal error: no pairing was found, although the last rule allows every pairing")

    def _by_group(self, graph: NeighborGraph, bye: int | None) -> Iterator[tuple[int, int]]:
        """Yield pairs by score group, from the top. Competitors without a pair float into the next group."""
        floating: list[int] = []
        ranks = [k for k in range(len(self._agents)) if k != bye]
        unpaired = set(ranks)
        for _, group in groupby(ranks, key=lambda k: self._score[k]):
            bracket = _ScoreBracket(floating, list(group), graph, unpaired)
            yield from bracket.pairs()
            floating = bracket.floating

    def _seated(self, one: int, two: int) -> tuple[Competitor, Competitor]:
        """Return the pair in the order of its seats. The competitor with fewer first seats gets the first seat. If both have had
        equally many, the latest of their games in which their seats differed decides; if there is none, the lots decide.
        """
        mine, yours = self._seats[one], self._seats[two]
        if mine.balance != yours.balance:
            swap = mine.balance > yours.balance
        elif mine.last != yours.last:
            swap = mine.last > yours.last
        else:
            swap = self._lot[min(one, two)] % 2 == 1
        return (self._agents[two], self._agents[one]) if swap else (self._agents[one], self._agents[two])


class _ScoreBracket:
    """A score group together with the competitors that float into it from above, the best one first."""

    def __init__(self, floating: list[int], residents: list[int], graph: NeighborGraph, unpaired: set[int]) -> None:
        """`unpaired` contains all competitors, of any group, that are not paired yet. `pairs` removes the ones that it pairs
        from this set.
        """
        self._above = floating
        self._residents = residents
        self._graph = graph
        self._unpaired = unpaired
        self._inside = {*floating, *residents}
        self._exposed = graph.exposed(self._inside)
        self.floating: list[int] = []

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield pairs. Each pairs the best unpaired competitor with a candidate so that all others can still be paired. If
        several candidates are possible, a competitor from above gets the best one, and a member of the group gets the one nearest
        to half a group below itself.
        """
        for one in self._above:
            yield from self._pair(one, [*self._above, *self._residents])
        left = [one for one in self._residents if one in self._inside]
        half = len(left) // 2
        for k, one in enumerate(left):
            order = sorted(range(len(left)), key=lambda place, aim=k + half: (abs(place - aim), place))  # type: ignore[misc]
            yield from self._pair(one, [left[place] for place in order])

    def _pair(self, one: int, candidates: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pair one competitor with the first candidate that fits. If none fits, the competitor floats into the next group."""
        if one not in self._inside:
            return
        for two in candidates:
            if two in self._inside and self._fits(one, two):
                self._inside -= {one, two}
                self._unpaired -= {one, two}
                yield one, two
                return
        self._inside.remove(one)
        self._exposed = self._graph.exposed(self._inside)
        self.floating.append(one)

    def _fits(self, one: int, two: int) -> bool:
        """Return True if no more competitors of the bracket than necessary float after this pair, and all unpaired competitors
        can still be paired.
        """
        return (
            two in self._graph.neighbors[one]
            and self._graph.exposed(self._inside - {one, two}) <= self._exposed
            and not self._graph.exposed(self._unpaired - {one, two})
        )
