"""The counts of a board, from which a leaderboard is made. `arena.results.stored_tallies` reads them from a store."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, Literal

from arena.columns import TIME_KEYS
from arena.errors import escape_line
from arena.format import Format, Outcomes, RankedBy, Tie, concludes, put_last, ranks, result_points
from arena.limits import UNLIKE_SPEEDS
from arena.match.record import CPU_SECONDS, EXPANDED, FAULTS, Reason, Record, find_loser
from arena.results import figures
from arena.results.claims import Claims
from arena.results.pairs import PairedGames
from arena.schedule.board_info import BoardInfo
from arena.schedule.ranking import Ranking, ask_ranking, find_format
from arena.stats.clustered import (
    ClusteredMean,
    LoneMatches,
    PlainGames,
    Repeats,
    RoundValues,
    StratifiedMean,
    clustered_mean,
    find_repeated_groups,
    find_repeats,
    remove_luck,
    stratify,
)


@dataclass(slots=True)
class ResultCount:
    """The number of games with each result."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    shared: float = 0.0
    """The points of the draws."""

    def add(self, got: float, rivals: Sequence[float], times: int = 1) -> None:
        """Count `times` games in which the entry got the result `got` and the other seats got `rivals`; one without a rival is
        won if the result is above 0.
        """
        best = max(rivals, default=0.0)
        self.games += times
        self.wins += times * (got > best)
        self.losses += times * (got < best)
        if got == best:
            self.draws += times
            self.shared += times / (1 + rivals.count(got))

    @property
    def score(self) -> float | None:
        """The points divided by the games: a win is 1 point, and a draw is the point divided by the number of seats that share
        it.
        """
        return (self.wins + self.shared) / self.games if self.games else None


MAX_VOID_SHARE = 0.05
"""If a larger share of the matches of an entry is void, a remark on the board says so."""
MIN_FALLBACK_SHARE = 0.05
"""From this share of random decisions of an entry on, a remark on the board says that its rank says little."""
Way = Literal["compiled", "plain"] | None
"""How all decisions of an entry ran. None if both occur, or if the cache of compiled code decided how they ran."""


@dataclass(slots=True)
class Count(ResultCount):
    """The counts and sums of one agent on one board."""

    solved: int = 0
    nodes: int = 0
    seconds: float = 0.0
    cpu: float | None = None
    """The processor time of its decisions, in seconds; None if it was not measured."""
    compiled: int = 0
    """The number of compiled decisions. The next two: decisions that requested a compiled loop in vain, and decisions of either
    kind of which the cache decided how they ran."""
    plain: int = 0
    unsettled: int = 0
    decisions: int = 0
    fallbacks: int | None = 0
    """The number of random actions that were played because a budget ran out before the agent had a result; None if unknown."""
    moves: int = 0
    moves_of: int = 0
    """The number of solutions with a known number of moves."""
    moves_failed: int = 0
    moves_failed_of: int = 0
    cost: float = 0.0
    cost_of: int = 0
    best: float | None = None
    """The highest return."""
    void: int = 0
    """The number of void matches, which have no score; the other counts do not include them."""
    faults: Counter[str] = field(default_factory=Counter)
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Other amounts that its decisions used, by name."""
    points: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    met: Counter[int] = field(default_factory=Counter)

    @property
    def searches(self) -> bool:
        """Whether its nodes are counted. An agent that reports no nodes, such as one that moves at random, does not search with
        few. A solver whose records have expanded states may generate none, for example if the estimate of the start is infinite.
        """
        return self.nodes > 0 or EXPANDED in self.spent

    @property
    def way(self) -> Way:
        """How its decisions ran. Agents that never request a compiled loop run plain."""
        if self.unsettled or (self.compiled and self.plain):
            return None
        return "compiled" if self.compiled else "plain"

    @property
    def speed(self) -> str:
        """How its decisions ran, in words, whatever decided that."""
        return "uncompiled" if not self.compiled else "partly compiled" if self.plain else "compiled"


def add_timing(counts: Sequence[Count], timing: Mapping[str, Any] | None) -> None:
    """Add the processor time and the number of compiled decisions of a match to the `counts` of its seats.

    Invalid amounts, which a node of a cluster may send, are left out.
    """
    for key in (CPU_SECONDS, "compiled", "plain", "unsettled"):
        amounts = None if timing is None else timing.get(key)
        for count, amount in zip(counts, amounts if isinstance(amounts, list) else (), strict=False):
            if isinstance(amount, (int, float)) and amount >= 0:
                name = "cpu" if key == CPU_SECONDS else key
                setattr(count, name, (getattr(count, name) or 0) + amount)


def seat_ways(record: Record) -> list[Way]:
    """Return how the decisions of each seat of a match ran."""
    counts = [Count() for _ in record.labels]
    add_timing(counts, record.timing)
    return [count.way for count in counts]


def timed_way(ways: Iterable[Way]) -> Way:
    """Return how the decisions ran whose times are shown together: compiled, if all decisions of any entry did."""
    return "compiled" if "compiled" in set(ways) else "plain"


def describe_ways(ways: Mapping[str, Way]) -> str | None:
    """Return why the times of some entries are left out, and what to do, in one line; None if all can be compared."""
    unclear = [label for label, way in ways.items() if way is None]
    slow = [label for label, way in ways.items() if way != timed_way(ways.values())]
    if unclear:
        return (
            f"The times of {', '.join(unclear)} are left out, because the cache of compiled code may decide whether they run "
            "compiled. Use `arena run SPEC --compiled --fresh` to compile everything possible before the first match."
        )
    if slow:
        return (
            f"The times of {', '.join(slow)} are left out, because their decisions ran uncompiled, while other agents ran "
            "compiled code. "
            "Use `arena run SPEC --plain --fresh` to run all agents uncompiled."
        )
    return None


@dataclass(frozen=True, slots=True)
class Failure:
    """The matches that an agent lost by one kind of fault; `first` is the first of them in the schedule."""

    agent: str
    kind: str
    count: int
    first: str
    """The id of the match."""
    message: str | None

    def describe(self) -> str:
        """Return the failure in one line."""
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return f"{self.agent} failed {times} by {self.kind}, first in match {self.first}: {escape_line(self.message or '')}"


@dataclass(slots=True)
class Facts:
    """Facts that several matches have in common, and the number of these matches."""

    seats: tuple[int, ...]
    returns: tuple[float, ...]
    termination: Reason
    seat: int | None
    solved: bool | None
    count: int = 1
    moves: int = 0
    """The sum of the known numbers of moves; the next field says how many are known. Costs have two such fields, too."""
    moves_of: int = 0
    cost: float = 0.0
    cost_of: int = 0
    fallbacks: int = 0

    @classmethod
    def of(cls, seats: tuple[int, ...], record: Record) -> "Facts":
        """Return the facts of a single match. `seats` contains the number of the entry in each seat."""
        moves, cost = record.moves, record.cost
        measured = (moves or 0, int(moves is not None), cost or 0.0, int(cost is not None))
        return cls(seats, record.returns, record.termination, record.seat, record.solved, 1, *measured, record.fallbacks)


ROUNDS_PER_PAGE = 64


class RoundSums:
    """The sum and the number of values in each round, stored in 20 bytes per round.

    Rounds are in pages, and a page without values is not stored: the only match of a store may have the number of any round.
    """

    def __init__(self, start: "RoundSums | None" = None) -> None:
        """`start` contains the values with which to begin."""
        self._pages: dict[int, tuple[array[float], array[int]]] = {}
        for page, (sums, counts) in ({} if start is None else start._pages).items():  # noqa: SLF001 - of the same class
            self._pages[page] = sums[:], counts[:]

    def add(self, round_: int, value: float) -> None:
        """Add a value for a round; rounds count from 0."""
        page, at = divmod(round_, ROUNDS_PER_PAGE)
        if page not in self._pages:
            self._pages[page] = array("d", [0.0]) * ROUNDS_PER_PAGE, array("q", [0]) * ROUNDS_PER_PAGE
        sums, counts = self._pages[page]
        sums[at] += value
        counts[at] += 1

    def rounds(self) -> Iterator[tuple[int, float, int]]:
        """Yield each round that has values, in order, with their sum and their number."""
        for page, (sums, counts) in sorted(self._pages.items()):
            for at, (total, count) in enumerate(zip(sums, counts, strict=True)):
                if count:
                    yield page * ROUNDS_PER_PAGE + at, total, count

    def differs_from_0(self) -> bool:
        """Return whether the sum of any round is not 0."""
        return any(total for _, total, _ in self.rounds())

    def by_round(self) -> dict[int, float]:
        """Return the mean of each round that has values."""
        return {round_: total / count for round_, total, count in self.rounds()}

    def mean(self, within: tuple[float, float] = (-inf, inf)) -> ClusteredMean:
        """Return the mean of values from the range `within`. Its interval treats each round as one observation."""
        found = list(self.rounds())
        return clustered_mean([total for _, total, _ in found], [count for *_, count in found], within)


class MeanReturns:
    """The returns of every entry on a board, and the same returns after a correction for luck if the records contain it.

    A game without random numbers that is played again gives the same returns again. Such a repeat counts for the mean, and is no
    further observation for intervals and tests: it belongs to the round of the first of these games.
    """

    def __init__(self, entries: int, within: tuple[float, float] = (-inf, inf), lone: LoneMatches | None = None) -> None:
        """`lone` contains the matches with one seat."""
        self._within = within
        self._lone = lone or LoneMatches()
        self._returns = [RoundSums() for _ in range(entries)]
        """The returns from all games, except for `_plain`."""
        self._plain: dict[tuple[int, ...], PlainGames] = {}
        """The games that are repeats if they are played again, by their seats."""
        self._plain_of: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        """The seats of these games, by entry."""
        self._kinds: dict[tuple[float, ...], int] = {}
        """The returns of these games, numbered. The next field lists them."""
        self._returns_of_kind: list[tuple[float, ...]] = []
        self._by_group: dict[tuple[int, ...], dict[int, tuple[RoundSums, RoundSums]]] = {}
        self._groups_of: dict[int, list[dict[int, tuple[RoundSums, RoundSums]]]] = defaultdict(list)
        """The values of `_by_group`, by entry."""
        self._partly = False
        self._repeated: set[tuple[int, ...]] | None = None
        """The groups of entries that repeated games; None if they are not known yet. The next field is whether there is luck."""
        self._has_luck: bool | None = None

    def add(
        self,
        round_: int,
        seats: Sequence[int],
        returns: Sequence[float],
        adjusted: Sequence[float] | None = None,
        play_hash: int | None = None,
    ) -> None:
        """Add one match that was not void.

        `adjusted` are its returns after the correction for luck, if known. `play_hash` is a hash of its moves; None if the match
        used random numbers, so that it does not repeat another one.
        """
        self._repeated = self._has_luck = None
        if play_hash is None:
            for entry, got in zip(seats, returns, strict=True):
                self._returns[entry].add(round_, got)
        else:
            if (games := self._plain.get(tuple(seats))) is None:
                games = self._plain[tuple(seats)] = PlainGames()
                for entry in seats:
                    self._plain_of[entry].append(tuple(seats))
            games.rounds.append(round_)
            games.plays.append(play_hash)
            games.kinds.append(self._kinds.setdefault(tuple(returns), len(self._kinds)))
            if len(self._returns_of_kind) < len(self._kinds):
                self._returns_of_kind.append(tuple(returns))
        if adjusted is None:
            self._partly = True
            return
        group = tuple(sorted(seats))
        if (sums := self._by_group.get(group)) is None:
            sums = self._by_group[group] = {entry: (RoundSums(), RoundSums()) for entry in group}
            for entry in group:
                self._groups_of[entry].append(sums)
        for entry, got, corrected in zip(seats, returns, adjusted, strict=True):
            own, luck = sums[entry]
            own.add(round_, got)
            luck.add(round_, got - corrected)

    def of(self, entry: int) -> ClusteredMean:
        """Return the mean return of an entry."""
        if self.has_repeats(entry):
            return self.stratified(entry).with_interval(self._within)
        return self._sum_rounds(entry).mean(self._within)

    def by_round(self, entry: int) -> dict[int, float]:
        """Return the mean return of an entry for each round in which it has played."""
        return self._sum_rounds(entry).by_round()

    def has_repeats(self, entry: int) -> bool:
        """Return whether games of an entry are repeats of others."""
        repeated = self._repeated_groups()
        return any(tuple(sorted(seats)) in repeated for seats in self._plain_of[entry]) or self.attempts(entry) is not None

    def attempts(self, entry: int) -> Mapping[int, int] | None:
        """Return the clusters of the matches of an entry by round, if it plays alone and repeated any; otherwise None."""
        return self._lone.find_repeats().get((entry,))

    def stratified(self, entry: int) -> StratifiedMean:
        """Return the mean return of an entry. Each group of entries that repeated games is a stratum with these games; all
        other games form one more. The matches with one seat form one stratum.
        """
        if (attempts := self.attempts(entry)) is not None:
            values = RoundValues(entry, {(entry,): attempts})
            for round_, value in self.by_round(entry).items():
                values.add(round_, value, (entry,))
            return values.stratify()
        repeated = self._repeated_groups()
        others = self._sum_rounds(entry, left_out=repeated)
        strata: dict[tuple[int, ...], dict[int, tuple[float, int]]] = {}
        strata[()] = {round_: (total, count) for round_, total, count in others.rounds()}
        for seats in self._plain_of[entry]:
            games, group = self._plain[seats], tuple(sorted(seats))
            if group not in repeated:
                continue
            first, stratum = games.first_rounds(), strata.setdefault(group, {})
            for play, kind in zip(games.plays, games.kinds, strict=True):
                total, count = stratum.get(first[play], (0.0, 0))
                stratum[first[play]] = (total + self._returns_of_kind[kind][seats.index(entry)], count + 1)
        return stratify(strata.values())

    def find_repeats(self) -> Repeats:
        """Return the rounds of the games of which some are repeats of others."""
        return {**find_repeats(self._plain), **self._lone.find_repeats()}

    def _sum_rounds(self, entry: int, left_out: Collection[tuple[int, ...]] = ()) -> RoundSums:
        """Return the returns of an entry in all games, except for games without random numbers of the groups in `left_out`."""
        mine = [seats for seats in self._plain_of[entry] if not left_out or tuple(sorted(seats)) not in left_out]
        if not mine:
            return self._returns[entry]
        found = RoundSums(self._returns[entry])
        for seats in mine:
            for round_, kind in zip(self._plain[seats].rounds, self._plain[seats].kinds, strict=True):
                found.add(round_, self._returns_of_kind[kind][seats.index(entry)])
        return found

    def _repeated_groups(self) -> set[tuple[int, ...]]:
        if self._repeated is None:
            self._repeated = find_repeated_groups(self._plain)
        return self._repeated

    def luck_by_round(self, entry: int) -> Mapping[int, float]:
        """Return the mean luck of an entry in each round, only for matches of the first group of entries that met."""
        return next((members[entry][1].by_round() for members in self._groups_of[entry]), {})

    def adjusted(self, entry: int) -> ClusteredMean:
        """Return the mean return of an entry after the correction for luck.

        The result has no values if a match has no correction, if no match had any luck, or if an opponent has too few rounds.
        Luck is weighted by its effect on the returns of the group of entries that met; a group without luck needs no correction.
        """
        if self._has_luck is None:
            self._has_luck = not self._partly and any(
                luck.differs_from_0() for members in self._by_group.values() for _, luck in members.values()
            )
        if not self._has_luck:
            return ClusteredMean(None, None, None)
        rounds: dict[int, tuple[float, int]] = {}
        for own, luck in [members[entry] for members in self._groups_of[entry]]:
            sums, counts = [total for _, total, _ in own.rounds()], [count for *_, count in own.rounds()]
            corrected = remove_luck(sums, [total for _, total, _ in luck.rounds()], counts) if luck.differs_from_0() else sums
            if corrected is None:
                return ClusteredMean(None, None, None)
            for (round_, _, count), total in zip(own.rounds(), corrected, strict=True):
                before, known = rounds.get(round_, (0.0, 0))
                rounds[round_] = (before + total, known + count)
        clusters = [rounds[round_] for round_ in sorted(rounds)]
        found = clustered_mean([total for total, _ in clusters], [count for _, count in clusters], self._within)
        low, high = self._within
        return ClusteredMean(*[None if value is None else min(max(value, low), high) for value in found])


class Attempts:
    """The attempts of an entry at a puzzle, by position: what was solved, and what it took. Each needs 40 bytes."""

    __slots__ = ("cost", "moves", "nodes", "rounds", "seconds", "solved")

    def __init__(self) -> None:
        self.rounds, self.solved = array("q"), bytearray()
        self.moves, self.cost, self.nodes, self.seconds = array("d"), array("d"), array("d"), array("d")

    def add(self, round_: int, *, solved: bool, moves: float | None, cost: float | None, nodes: float, seconds: float) -> None:
        """Add the attempt at the position of a round."""
        self.rounds.append(round_)
        self.solved.append(solved)
        self.moves.append(nan if moves is None else moves)
        self.cost.append(nan if cost is None else cost)
        self.nodes.append(nodes)
        self.seconds.append(seconds)


class Tally:
    """The counts of one board. If `format_` is None or has no ranking of its own, `sheet` says how the board is ranked."""

    def __init__(self, sheet: BoardInfo, format_: Format | None = None) -> None:
        self.sheet = sheet
        self._format = format_ or find_format(sheet.format, sheet.options or {})
        self._has_ranking = self._format is not None and ranks(self._format)
        self.has_conclusion = self._format is not None and sheet.options is not None and concludes(self._format)
        self.outcomes = Outcomes() if self._has_ranking or self.has_conclusion else None
        """The result of every match; kept only if the format has its own ranking or conclusion."""
        self.counts = [Count() for _ in sheet.labels]
        self.games = 0
        self.void = self.unavailable = 0
        self.adjudicated = self.stopped = 0
        self.fallbacks = 0
        self.distinct = 0
        """The number of matches that differ in seats, position, actions or result."""
        self.matches = PairedGames()
        self.lone = LoneMatches()
        """The matches with one seat, to find repeats."""
        self.returns = MeanReturns(len(sheet.labels), sheet.range, self.lone)
        self.attempts = [Attempts() for _ in sheet.labels]
        """The attempts of every entry of a puzzle board."""
        self.claims = Claims(sheet)
        self._first: dict[tuple[int, str], tuple[int, str, str | None]] = {}

    @property
    def distinct_games(self) -> int:
        """The number of matches that differ in seats, position, actions or result; all matches in games with chance, where none
        counts as a repeat.
        """
        return self.games if self.sheet.has_chance else self.distinct

    @property
    def ranked_by(self) -> RankedBy:
        """How the board is ranked if its format has no ranking of its own."""
        if self.sheet.ranked_by == "returns" and (self._has_ranking or self.sheet.ranking is not None):
            return "score"  # stores of older versions say that the game asks for returns, although the format ranks the board
        if self._format is None or self.sheet.ranked_by == "returns":  # the spec or the game asks for this
            return self.sheet.ranked_by
        return self._format.ranked_by

    def is_complete(self, *, ended: bool) -> bool:
        """Return whether all matches of the board have been played. If their number depends on results, the answer is `ended`."""
        return self.games + self.void + self.sheet.left_out == self.sheet.size if self.sheet.exact else ended

    def ranking(self) -> Ranking | None:
        """The ranking that the format of the board computes; None if it has none of its own."""
        if self._format is None or self.outcomes is None or not self._has_ranking:
            return self.sheet.ranking
        return ask_ranking(self._format, len(self.sheet.labels), self.outcomes)

    def bracket(self) -> tuple[tuple[Tie[str], ...], ...]:
        """The rounds of a knockout so far; empty if the format has no bracket."""
        if self._format is None or self.outcomes is None or not self._has_ranking or len(self.sheet.labels) < 2:
            return ()
        labels = dict(enumerate(self.sheet.labels))
        rounds = self._format.bracket(len(labels), self.outcomes)
        return tuple([tuple([tie.named(labels) for tie in ties]) for ties in rounds])

    def test_state(self) -> Any:
        """The state of the sequential test of the board, as its format returns it; None without a test."""
        if self._format is None or self.sheet.test is None:
            return None
        return self._format.test_state(self.sheet, self.matches, self.returns.luck_by_round(0))

    def conclusion(self) -> Any:
        """The conclusion of the format, such as the winner of a contest; None if it has none."""
        if self._format is None or self.outcomes is None or not self.has_conclusion or len(self.sheet.labels) < 2:
            return None
        return self._format.conclude(self.sheet, self.outcomes)

    def add_game(
        self,
        round_: int,
        seats: tuple[int, ...],
        returns: tuple[float, ...],
        played: int,
        drew: bool,
        adjusted: Sequence[float] | None,
        loser: int | None = None,
    ) -> None:
        """Add one match that was not void to the games of its round. `loser` is the seat that lost by a fault."""
        if self.sheet.kind != "puzzle":
            random = drew or self.sheet.has_chance or len(seats) == 1
            self.returns.add(round_, seats, returns, adjusted, None if random else played)
        if len(seats) == 1 and not self.sheet.has_chance:
            self.lone.add(seats[0], round_, None if drew else played)
        if len(seats) > 1:
            self.matches.add(round_, seats, put_last(returns, loser), played, drew or self.sheet.has_chance)

    def count(self, facts: Facts) -> None:
        """Count several equal matches. Void matches are counted separately and not scored."""
        if facts.termination == "void":
            self.void += facts.count
            for entry in set(facts.seats):
                self.counts[entry].void += facts.count
            return
        self.games += facts.count
        self.adjudicated += facts.count * (facts.termination == "adjudicated")
        self.stopped += facts.count * (facts.termination == "move-limit")
        self.fallbacks += facts.fallbacks
        for seat, entry in enumerate(facts.seats):
            self._count_seat(facts, seat, self.counts[entry])
        if facts.solved is not None:
            self._count_solutions(facts, self.counts[facts.seats[0]])
        elif self.sheet.kind == "score":
            count = self.counts[facts.seats[0]]
            count.best = max(facts.returns[0], facts.returns[0] if count.best is None else count.best)
            count.moves += facts.moves
            count.moves_of += facts.moves_of

    @staticmethod
    def _count_solutions(facts: Facts, count: Count) -> None:
        if facts.solved:
            count.solved += facts.count
            count.moves += facts.moves
            count.moves_of += facts.moves_of
            count.cost += facts.cost
            count.cost_of += facts.cost_of
        else:
            count.moves_failed += facts.moves
            count.moves_failed_of += facts.moves_of

    def _count_seat(self, facts: Facts, seat: int, count: Count) -> None:
        results = put_last(facts.returns, find_loser(facts.termination, facts.seat))
        times, got, rivals = facts.count, results[seat], results[:seat] + results[seat + 1 :]
        count.add(got, rivals, times)
        for other, theirs in zip(facts.seats[:seat] + facts.seats[seat + 1 :], rivals, strict=True):
            count.points[other] += times * result_points(got, theirs)
            count.met[other] += times
        if facts.seat == seat and facts.termination in FAULTS:
            count.faults[facts.termination] += times

    def add_effort(self, entry: int, decisions: int, nodes: int, seconds: float) -> None:
        """Add the nodes and the time that an agent has used."""
        count = self.counts[entry]
        count.decisions += decisions
        count.nodes += nodes
        count.seconds += seconds

    @property
    def untimed(self) -> str | None:
        """Why the times of some entries are left out, and what to do; None if all can be compared."""
        counts = zip(self.sheet.labels, self.counts, strict=True)
        return describe_ways({label: count.way for label, count in counts if count.decisions})

    def describe_speeds(self, names: Collection[str] | None = None) -> str | None:
        """Return which searches with a time limit ran compiled and which did not; None if all ran the same way. `names` are the
        labels of the entries (default: all).
        """
        speeds: dict[str, list[str]] = {"compiled": [], "partly compiled": [], "uncompiled": []}
        for label, count in zip(self.sheet.labels, self.counts, strict=True):
            if label in self.sheet.timed and count.searches and (names is None or label in names):
                speeds[count.speed].append(label)
        known = [f"{figures.listing(labels)} ran {speed}" for speed, labels in speeds.items() if labels]
        if sum(map(len, speeds.values())) < 2 or (len(known) == 1 and not speeds["partly compiled"]):
            return None
        return figures.listing(known)

    def _uses_times(self) -> bool:
        """Return whether the board shows times, or sorts or ranks its entries by them."""
        chosen, sort = self.sheet.columns, (self.sheet.sort or "").removeprefix("-")
        return chosen is None or self.ranked_by == "seconds" or not TIME_KEYS.isdisjoint([*chosen, sort])

    def is_timed(self, entry: int) -> bool:
        """Return whether the times of an entry can be compared with the times of the other entries."""
        return self.counts[entry].way == timed_way(count.way for count in self.counts if count.decisions)

    def add_timing(self, seats: Sequence[int], timing: Mapping[str, Any] | None) -> None:
        """Add the processor time and the number of compiled decisions of each seat of a match."""
        add_timing([self.counts[entry] for entry in seats], timing)

    def add_fallbacks(self, seats: Sequence[int], fallbacks: int, drawn: Sequence[int], drew: Sequence[bool]) -> None:
        """Add the fallbacks of a match. `drawn` contains the seat of each marked decision; `drew` says which seats used their
        streams.

        A record of an earlier version has no marks. Its fallbacks belong to the only seat that used its stream. If several
        did, the numbers of their entries are unknown from then on.
        """
        able = [seat for seat, used in enumerate(drew) if used]
        if not drawn and len(able) == 1:
            drawn = able * fallbacks
        for entry in [seats[seat] for seat in (drawn or able)]:
            before = self.counts[entry].fallbacks
            self.counts[entry].fallbacks = before + 1 if drawn and before is not None else None

    def add_failure(self, entry: int, kind: str, number: int, key: str, message: str | None) -> None:
        """Count a match that an agent lost by a fault. The first match with each kind of fault is remembered."""
        first = self._first.get((entry, kind))
        if first is None or number < first[0]:
            self._first[entry, kind] = (number, key, message)

    def failures(self) -> tuple[Failure, ...]:
        """Every kind of fault of every agent, in the order of the schedule."""
        return tuple(
            [
                Failure(self.sheet.labels[entry], kind, self.counts[entry].faults[kind], key, message)
                for (entry, kind), (_, key, message) in sorted(self._first.items(), key=lambda item: item[1][0])
            ]
        )

    def _list_fallbacks(self, names: Collection[str]) -> Iterator[str]:
        """Yield how many decisions of the named entries were random, if any were."""
        shares = [
            f"{label} {fell:,} of {figures.amount(count.decisions, 'decision')} ({figures.share(fell / count.decisions)})"
            for label, count in zip(self.sheet.labels, self.counts, strict=True)
            if label in names and (fell := count.fallbacks)
        ]
        if shares:
            yield ", ".join(shares)

    def warn_of_failures(self, names: Collection[str]) -> Iterator[str]:
        """Yield remarks on random actions and on faults of the named entries."""
        for shares in self._list_fallbacks(names):
            yield f"Random, because the agent used up a budget before it reported an action: {shares}."
        counts = zip(self.sheet.labels, self.counts, strict=True)
        if unclear := [label for label, count in counts if label in names and count.fallbacks is None]:
            yield f"Some actions of {', '.join(unclear)} were random, but the records do not say how many of each."
        yield from [failure.describe() for failure in self.failures() if failure.agent in names]

    def warn_of_speeds(self, names: Collection[str] | None = None) -> Iterator[str]:
        """Yield a warning if searches with a time limit did not run the same way, see `describe_speeds`."""
        if (speeds := self.describe_speeds(names)) is not None:
            yield f"Speeds differ: {speeds}. {UNLIKE_SPEEDS}"

    def describe(self) -> Iterator[str]:
        """Yield remarks on matches without a score, matches that ended early, random actions and time limits."""
        counts = list(zip(self.sheet.labels, self.counts, strict=True))
        if self.void:
            server = "the server of an agent did not answer or its budget was spent; the game and arena are not at fault"
            why = "the game or arena failed"
            why += f" or, in {self.unavailable:,} of them, the server of an agent" if self.unavailable else ""
            void = f"{figures.amount(self.void, 'match')} {'is' if self.void == 1 else 'are'}"
            yield f"{void} void and not scored, because {server if self.unavailable == self.void else why}."
            often = [
                f"{label} {count.void:,} of {count.void + count.games:,}"
                for label, count in counts
                if count.void > MAX_VOID_SHARE * (count.void + count.games)
            ]
            if often:
                yield f"More than one match in 20 is void: {', '.join(often)}. Their scores leave these matches out."
        if (unlike := self.sheet.describe_limits()) is not None:
            yield unlike
        yield from self.warn_of_speeds()
        if (untimed := self.untimed) is not None and self._uses_times():
            yield untimed
        if self.adjudicated:
            were = "game was" if self.adjudicated == 1 else "games were"
            yield f"{self.adjudicated:,} {were} adjudicated: they ended early, based on the values that the agents reported."
        if self.stopped and self.sheet.kind != "puzzle":
            yield f"{self.stopped:,} of {figures.amount(self.games, 'match')} ended at the move limit."
        if self.fallbacks:
            drawn = f"{figures.amount(self.fallbacks, 'action')} {'was' if self.fallbacks == 1 else 'were'} random"
            yield f"{drawn}, because the agent used up a budget before it reported an action."
            for shares in self._list_fallbacks(self.sheet.labels):
                many = any(count.fallbacks >= MIN_FALLBACK_SHARE * count.decisions for _, count in counts if count.fallbacks)
                doubt = " The rank of an agent that did not choose its actions says little." if many else ""
                yield f"! : {shares}.{doubt}"
            unclear = [label for label, count in counts if count.fallbacks is None]
            if unclear:
                yield f"The records do not say how many of these actions each of {', '.join(unclear)} played."
        if self.sheet.soft:
            yield f"Time limits are soft for {', '.join(self.sheet.soft)}: with isolation: none, a late decision is not stopped."
        if self.sheet.timed:
            yield "Some decisions had a time limit, so the same matches may end differently next time."
