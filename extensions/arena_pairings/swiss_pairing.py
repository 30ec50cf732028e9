"""Swiss tournaments: pairings and standings.

In every round competitors of about the same score meet, no two meet twice, and seats are balanced.

The rules follow the handbook of the world chess federation (C.04): score groups are paired from the top, the upper half of a
group against the lower, and a competitor that cannot be paired floats to the next group. A pair is made only if all others can
still be paired, which a maximum matching decides. So a round without a repeated meeting is found whenever one exists. The pairing
itself is not random: the caller gives the order of equals, and the same order and history always give the same round.
"""

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Generic, NamedTuple, TypeAlias

from arena import ArenaError
from arena_pairings.bracket import Competitor

Seats: TypeAlias = tuple[Competitor, Competitor | None]
"""The competitors in the first and the second seat; or one with a bye."""

MAX_SEAT_EXCESS = 2
"""A competitor with this excess of one seat over the other must get the other seat (the handbook's absolute preference). Two
competitors that must get the same seat do not meet.
"""


class Encounter(NamedTuple, Generic[Competitor]):
    """A meeting of two in a round, or a bye, in which `second` is None."""

    first: Competitor
    second: Competitor | None
    points: float = 1.0
    """The first one's share of the points, within [0, 1]; 1 for a bye."""


class SwissStanding(NamedTuple, Generic[Competitor]):
    """A line of the table of a Swiss tournament."""

    agent: Competitor
    score: float
    buchholz: float
    """The sum of the opponents' scores; a bye counts nothing (B. Buchholz, 1932)."""
    sonneborn_berger: float
    """The sum of the opponents' scores, each times the points won against that opponent; a bye counts nothing."""


def scores(agents: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> dict[Competitor, float]:
    """The points of each competitor: at most one for an encounter, one for a bye."""
    points = dict.fromkeys(agents, 0.0)
    for first, second, share in history:
        points[first] += share
        if second is not None:
            points[second] += 1 - share
    return points


def standings(lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> tuple[SwissStanding[Competitor], ...]:
    """The table, the best first: by score, then Buchholz, then Sonneborn-Berger, then in the order of the lots."""
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
    """The field in random order. Draw it once, before the first round, and keep it."""
    return tuple(rng.sample(list(agents), len(agents)))


def swiss_round(lots: Sequence[Competitor], history: Sequence[Encounter[Competitor]]) -> tuple[Seats[Competitor], ...]:
    """The next round, from the best pair down, the bye last.

    `lots` has the whole field, in the order of equals; `history` all encounters so far, in their order. No two meet again if such
    a round exists; otherwise there are as few repeats as possible. The bye goes to a competitor with the fewest byes: the lowest
    one for which such a round exists. Raises ArenaError for fewer than two competitors, for duplicates, and for encounters with
    unknown competitors.
    """
    known = set(lots)
    if len(lots) < 2 or len(known) < len(lots):
        raise ArenaError(f"swiss: expected two or more agents, each once; got {', '.join(map(str, lots)) or 'none'}")
    met = [agent for meeting in history for agent in (meeting.first, meeting.second) if agent is not None]
    strange = [agent for agent in met if agent not in known]
    if strange:
        raise ArenaError(f"swiss: expected encounters of {', '.join(map(str, lots))}; got one of {strange[0]!r}")
    return _Round(lots, history).pairs()


class NeighborGraph:
    """A graph of the vertices 0, 1, ... that answers questions about its subgraphs.

    The matchings are rustworkx's: J. Edmonds, Paths, Trees, and Flowers, 1965, by the algorithm of Z. Galil, 1986.
    """

    def __init__(self, neighbors: Sequence[Collection[int]]) -> None:
        """`neighbors` holds for each vertex its possible partners; the relation is symmetric."""
        import rustworkx

        self.neighbors = neighbors
        self._graph = rustworkx.PyGraph()
        self._graph.add_nodes_from(range(len(neighbors)))
        self._graph.add_edges_from_no_data([(one, two) for one, found in enumerate(neighbors) for two in found if one < two])

    def exposed(self, present: Collection[int]) -> int:
        """The number of vertices that a maximum matching of the subgraph of the `present` ones leaves without a partner.

        It does not depend on which of the maximum matchings is found.
        """
        import rustworkx

        part = self._graph.subgraph(list(present))
        return len(present) - 2 * len(rustworkx.max_weight_matching(part, max_cardinality=True))


class _SeatHistory(NamedTuple):
    """The seats that a competitor has had so far."""

    balance: int
    """The number of first seats less the number of second ones."""
    last: tuple[int, ...]
    """1 for first, -1 for second, the latest first."""


class _Round(Generic[Competitor]):
    """A round under construction. Competitors are identified by their ranks; 0 is the best."""

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
        """The bye, if one is due, and the graph of allowed pairs under the strictest rule that leaves all others pairable."""
        count = len(self._agents)
        everyone = range(count)

        def strictest(one: int, two: int) -> bool:
            """Whether two have not met, and their seat preferences allow a game."""
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
        raise AssertionError("the last rule lets everyone meet everyone")

    def _by_group(self, graph: NeighborGraph, bye: int | None) -> Iterator[tuple[int, int]]:
        """Pairs by score groups from the top; the rest of a group floats into the next."""
        floating: list[int] = []
        ranks = [k for k in range(len(self._agents)) if k != bye]
        unpaired = set(ranks)
        for _, group in groupby(ranks, key=lambda k: self._score[k]):
            bracket = _ScoreBracket(floating, list(group), graph, unpaired)
            yield from bracket.pairs()
            floating = bracket.floating

    def _seated(self, one: int, two: int) -> tuple[Competitor, Competitor]:
        """Seat the pair. The first seat goes to the one with fewer first seats, else by their last different seats, else by
        lot.
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
    """A score group with the competitors that float into it from above, the best first."""

    def __init__(self, floating: list[int], residents: list[int], graph: NeighborGraph, unpaired: set[int]) -> None:
        """`unpaired` has the competitors of all groups without a pair; pairing removes them."""
        self._above = floating
        self._residents = residents
        self._graph = graph
        self._unpaired = unpaired
        self._inside = {*floating, *residents}
        self._exposed = graph.exposed(self._inside)
        self.floating: list[int] = []

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Pair the best one left with the candidate nearest to its place, as long as all others can still be paired."""
        for one in self._above:
            yield from self._pair(one, [*self._above, *self._residents])
        left = [one for one in self._residents if one in self._inside]
        half = len(left) // 2
        for k, one in enumerate(left):
            order = sorted(range(len(left)), key=lambda place, aim=k + half: (abs(place - aim), place))  # type: ignore[misc]
            yield from self._pair(one, [left[place] for place in order])

    def _pair(self, one: int, candidates: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pair one competitor with the first candidate that fits; if none fits, it floats."""
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
        """Whether a pair leaves as few unpaired in the bracket as before, and none in the end."""
        return (
            two in self._graph.neighbors[one]
            and self._graph.exposed(self._inside - {one, two}) <= self._exposed
            and not self._graph.exposed(self._unpaired - {one, two})
        )
