"""Swiss pairings: in every round those meet who have about the same score, nobody meets another twice, and seats are balanced.

After the rules of the world chess federation's handbook (C.04): score groups from the top, the upper half of a group against the
lower, whoever cannot be paired floats to the next group. Before a pair is made it is asked whether everyone left can still be
paired, by a matching (`arena.stats.matching`); so a round without a repeated meeting is found whenever one exists. Nothing is
drawn by lot here: the order in which equals stand is handed in, and the same order and history always give the same round.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

from arena.errors import ArenaError
from arena.stats.matching import Matching
from arena.stats.tiebreaks import Encounter, scores

Seats: TypeAlias = tuple[str, str | None]
"""Who sits first and who second; or one that has a bye."""

FAR = 2
"""How many times more often first than second, or second than first, an agent may have sat."""


def draw_lots(agents: Sequence[str], rng: random.Random) -> tuple[str, ...]:
    """The agents in an order by lot; draw it once, before the first round, and keep it."""
    return tuple(rng.sample(list(agents), len(agents)))


def swiss_round(lots: Sequence[str], history: Sequence[Encounter]) -> tuple[Seats, ...]:
    """The next round, from the best pair down, the bye last.

    `lots` has every agent once, in the order in which equals stand; `history` all encounters so far, in their order. No two meet
    again as long as there is a round without it; then as few times as possible. The bye goes to the lowest of those with the
    fewest byes for whom such a round exists. Raises ArenaError under two agents, where one is there twice, or where an encounter
    names another one.
    """
    known = set(lots)
    if len(lots) < 2 or len(known) < len(lots):
        raise ArenaError(f"swiss: expected two or more agents, each once; got {', '.join(lots) or 'none'}")
    strange = [
        agent for meeting in history for agent in (meeting.first, meeting.second) if agent is not None and agent not in known
    ]
    if strange:
        raise ArenaError(f"swiss: expected encounters of {', '.join(lots)}; got one of {strange[0]!r}")
    return _Round(lots, history).pairs()


class _Seen(NamedTuple):
    """What an agent has sat so far."""

    balance: int
    """How many times more often first than second."""
    last: tuple[int, ...]
    """1 for first, -1 for second, the latest first."""


class _Round:
    """One round in the making; agents are known by their ranks, 0 being the best."""

    def __init__(self, lots: Sequence[str], history: Sequence[Encounter]) -> None:
        score = scores(lots, history)
        self._agents = sorted(lots, key=lambda agent: -score[agent])
        self._score = [score[agent] for agent in self._agents]
        self._lot = [lots.index(agent) for agent in self._agents]
        rank = {agent: k for k, agent in enumerate(self._agents)}
        played = [(rank[meeting.first], rank[meeting.second]) for meeting in history if meeting.second is not None]
        self._met = Counter(frozenset(pair) for pair in played)
        self._byes = Counter(rank[meeting.first] for meeting in history if meeting.second is None)
        self._seen = [_seats_of(k, played) for k in range(len(lots))]

    def pairs(self) -> tuple[Seats, ...]:
        bye, neighbors = self._feasible()
        everyone = Matching(neighbors, [k for k in range(len(self._agents)) if k != bye])
        found = [self._seated(one, two) for one, two in self._by_group(neighbors, everyone, bye)]
        return tuple(found) if bye is None else (*found, (self._agents[bye], None))

    def _feasible(self) -> tuple[int | None, list[list[int]]]:
        """The bye, if one is due, and who may meet whom by the strictest rule that lets all others be paired."""
        count = len(self._agents)
        for allowed in self._rules():
            neighbors = [[two for two in range(count) if two != one and allowed(one, two)] for one in range(count)]
            matching = Matching(neighbors)
            if len(matching.exposed) != count % 2:
                continue
            if not count % 2:
                return None, neighbors
            fewest = min(self._byes[k] for k in range(count))
            for k in reversed(range(count)):
                if self._byes[k] == fewest and matching.remove(k, exposing=0):
                    return k, neighbors
        raise AssertionError("the last rule lets everyone meet everyone")

    def _rules(self) -> Iterator[Callable[[int, int], bool]]:
        """What may be a pair, from the strictest rule to none: seats and no repeats, no repeats, one repeat, two, ..."""
        yield lambda one, two: not self._met[frozenset((one, two))] and not self._same_need(one, two)
        for times in range(max(self._met.values(), default=0) + 1):
            yield lambda one, two, times=times: self._met[frozenset((one, two))] <= times  # type: ignore[misc]

    def _same_need(self, one: int, two: int) -> bool:
        """Whether both have sat in the same seat so often that neither may once more."""
        balances = self._seen[one].balance, self._seen[two].balance
        return min(balances) >= FAR or max(balances) <= -FAR

    def _by_group(self, neighbors: list[list[int]], everyone: Matching, bye: int | None) -> Iterator[tuple[int, int]]:
        """Pairs by score groups from the top; those left of a group float into the next."""
        floating: list[int] = []
        ranks = [k for k in range(len(self._agents)) if k != bye]
        for _, group in groupby(ranks, key=lambda k: self._score[k]):
            bracket = _Bracket(floating, list(group), neighbors, everyone)
            yield from bracket.pairs()
            floating = bracket.floating

    def _seated(self, one: int, two: int) -> tuple[str, str]:
        """Who has sat first less often sits first; else who did not when their seats last differed; else by lot."""
        mine, yours = self._seen[one], self._seen[two]
        if mine.balance != yours.balance:
            swap = mine.balance > yours.balance
        elif mine.last != yours.last:
            swap = mine.last > yours.last
        else:
            swap = self._lot[min(one, two)] % 2 == 1
        return (self._agents[two], self._agents[one]) if swap else (self._agents[one], self._agents[two])


class _Bracket:
    """A score group with those who float into it from above, the best first."""

    def __init__(self, floating: list[int], residents: list[int], neighbors: list[list[int]], everyone: Matching) -> None:
        self._above = floating
        self._residents = residents
        self._inner = Matching(neighbors, [*floating, *residents])
        self._everyone = everyone
        self._neighbors = [set(found) for found in neighbors]
        self._paired: set[int] = set()
        self.floating: list[int] = []

    def pairs(self) -> Iterator[tuple[int, int]]:
        """As many pairs as leave a pairing of all the others, each of the best one left with the one nearest to its place."""
        for one in self._above:
            yield from self._pair(one, [*self._above, *self._residents])
        left = [one for one in self._residents if one not in self._paired]
        half = len(left) // 2
        for k, one in enumerate(left):
            order = sorted(range(len(left)), key=lambda place, aim=k + half: (abs(place - aim), place))  # type: ignore[misc]
            yield from self._pair(one, [left[place] for place in order])

    def _pair(self, one: int, candidates: Sequence[int]) -> Iterator[tuple[int, int]]:
        if one in self._paired:
            return
        for two in candidates:
            if two != one and two not in self._paired and two not in self.floating and self._fits(one, two):
                self._paired.update((one, two))
                yield one, two
                return
        self._inner.remove(one, exposing=len(self._residents) + len(self._above))
        self.floating.append(one)

    def _fits(self, one: int, two: int) -> bool:
        """Make a pair, if this leaves no more unpaired in the bracket than before, and nobody at all in the end."""
        if two not in self._neighbors[one]:
            return False
        lonely = len(self._inner.exposed)
        kept = list(self._inner.partner)
        if not self._inner.remove(one, two, exposing=lonely):
            return False
        if self._everyone.remove(one, two, exposing=0):
            return True
        self._inner.put_back(one, two, partner=kept)
        return False


def _seats_of(agent: int, played: Sequence[tuple[int, int]]) -> _Seen:
    seats = [1 if first == agent else -1 for first, second in reversed(played) if agent in {first, second}]
    return _Seen(sum(seats), tuple(seats))
