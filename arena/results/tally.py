"""Counts matches for a leaderboard: many equal ones at once, as a store has them, or one by one if they are in memory.

One by one, every distinct match is remembered, at some 200 bytes.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from arena.format import Format, Outcomes, Pairing, RankedBy, Tie, ranks, result_points
from arena.match.record import CPU_SECONDS, FAULTS, Decision, Reason, Record
from arena.results import figures
from arena.results.claims import Claims
from arena.results.fallbacks import FallbackCounts, fallback_counts
from arena.results.pairs import PairedGames
from arena.schedule.board_info import BoardInfo
from arena.schedule.ranking import Ranking, ask_ranking, find_format
from arena.stats.clustered import ClusteredMean, clustered_mean, remove_luck
from arena.store.rows import play_hash_of


@dataclass(slots=True)
class ResultCount:
    """Games by their results."""

    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, got: float, best: float, times: int = 1) -> None:
        """Count games with the return `got` if the best of the others got `best`."""
        self.games += times
        self.wins += times * (got > best)
        self.draws += times * (got == best)
        self.losses += times * (got < best)

    @property
    def score(self) -> float | None:
        """Points over games: a win is 1, a draw a half."""
        return (self.wins + self.draws / 2) / self.games if self.games else None


MAX_VOID_SHARE = 0.05
"""If a larger share of the matches of an entry is void, the board reports it."""


MIN_COMPILED_DECISIONS = 30
"""If fewer decisions of an entry ran compiled, its plain ones count in its seconds, too."""


@dataclass(slots=True)
class Count(ResultCount):
    """The sums of one agent on one board."""

    solved: int = 0
    nodes: int = 0
    seconds: float = 0.0
    cpu: float | None = None
    """Processor time of its decisions; None if it was not measured."""
    compiled: int = 0
    """Decisions that ran with the loop of a search engine, and decisions that requested one and ran plain, with their seconds."""
    plain: int = 0
    plain_seconds: float = 0.0
    decisions: int = 0
    unmetered: int = 0
    """States generated past the view, as far as seen."""
    fallbacks: int | None = 0
    """Decisions drawn at random because a budget ran out; None if the number is unknown."""
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
    """Matches without a score, which the other counts do not contain."""
    faults: Counter[str] = field(default_factory=Counter)
    spent: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Other amounts of its decisions, by name."""
    points: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    met: Counter[int] = field(default_factory=Counter)

    @property
    def left_out(self) -> int:
        """Plain decisions that its mean seconds leave out, because enough others ran compiled."""
        return self.plain if self.compiled >= MIN_COMPILED_DECISIONS else 0

    def mean_seconds(self, times: int) -> float | None:
        """Return the mean seconds of `times` decisions or attempts, without the plain ones that are left out."""
        left = times - self.left_out
        seconds = self.seconds - (self.plain_seconds if self.left_out else 0.0)
        return max(0.0, seconds) / left if left > 0 else None


@dataclass(frozen=True, slots=True)
class Failure:
    """The matches that an agent lost by one kind of fault, and the first of them in the schedule."""

    agent: str
    kind: str
    count: int
    first: str
    """The id of the match."""
    message: str | None


@dataclass(slots=True)
class Facts:
    """Matches that are equal in all of these facts, and their number."""

    seats: tuple[int, ...]
    returns: tuple[float, ...]
    termination: Reason
    seat: int | None
    solved: bool | None
    count: int = 1
    moves: int = 0
    """The sum over the matches with a known number of moves, and the number of these matches; the same for costs."""
    moves_of: int = 0
    cost: float = 0.0
    cost_of: int = 0
    fallbacks: int = 0


class RoundSums:
    """The sum and the number of some values in each round; 16 bytes a round."""

    def __init__(self) -> None:
        self.sums = array("d")
        self.counts = array("q")

    def add(self, round_: int, value: float) -> None:
        """Add a value of a round, which counts from 0."""
        if round_ >= len(self.sums):
            more = round_ + 1 - len(self.sums)
            self.sums.extend([0.0] * more)
            self.counts.extend([0] * more)
        self.sums[round_] += value
        self.counts[round_] += 1

    def by_round(self) -> dict[int, float]:
        """Return the mean of each round that has values."""
        return {round_: self.sums[round_] / count for round_, count in enumerate(self.counts) if count}

    def mean(self) -> ClusteredMean:
        """Return the mean of all values, with its interval by rounds."""
        return clustered_mean(self.sums, self.counts)


class MeanReturns:
    """The returns of every entry of a board, and the returns corrected for luck if records have them."""

    def __init__(self, entries: int) -> None:
        self._returns = [RoundSums() for _ in range(entries)]
        self._by_group: dict[tuple[int, ...], dict[int, tuple[RoundSums, RoundSums]]] = {}
        self._partly = False

    def add(self, round_: int, seats: Sequence[int], returns: Sequence[float], adjusted: Sequence[float] | None = None) -> None:
        """Add one match that was not void; `adjusted` are its returns corrected for luck, if they are known."""
        for entry, got in zip(seats, returns, strict=True):
            self._returns[entry].add(round_, got)
        if adjusted is None:
            self._partly = True
            return
        group = tuple(sorted(seats))
        sums = self._by_group.setdefault(group, {entry: (RoundSums(), RoundSums()) for entry in group})
        for entry, got, corrected in zip(seats, returns, adjusted, strict=True):
            own, luck = sums[entry]
            own.add(round_, got)
            luck.add(round_, got - corrected)

    def of(self, entry: int) -> ClusteredMean:
        """Return the mean return of an entry."""
        return self._returns[entry].mean()

    def by_round(self, entry: int) -> dict[int, float]:
        """Return the mean return of an entry in each round in which it has played."""
        return self._returns[entry].by_round()

    def luck_by_round(self, entry: int) -> Mapping[int, float]:
        """Return the mean luck of an entry in each round; only for the first group of entries that met."""
        return next((members[entry][1].by_round() for members in self._by_group.values() if entry in members), {})

    def adjusted(self, entry: int) -> ClusteredMean:
        """Return the mean corrected for luck of an entry; no values if a match has no correction, or an opponent too few rounds.

        Luck is weighted by its effect on the returns of the group of entries that met.
        """
        sums: list[float] = []
        counts: list[int] = []
        for own, luck in [members[entry] for members in self._by_group.values() if entry in members]:
            corrected = remove_luck(own.sums, luck.sums, own.counts)
            if corrected is None or self._partly:
                return ClusteredMean(None, None, None)
            sums = [sum(both) for both in zip_longest(sums, corrected, fillvalue=0.0)]
            counts = [sum(both) for both in zip_longest(counts, own.counts, fillvalue=0)]
        return clustered_mean(sums, counts)


class Tally:
    """The counts of one board. Without its `format_`, the board is ranked by a built-in format, or as its sheet says."""

    def __init__(self, sheet: BoardInfo, format_: Format | None = None) -> None:
        self.sheet = sheet
        self._format = format_ or find_format(sheet.format)
        self.outcomes = Outcomes() if self._format is not None and ranks(self._format) else None
        """The result of every match, kept if the format has its own ranking."""
        self.counts = [Count() for _ in sheet.labels]
        self.games = 0
        self.void = 0
        self.adjudicated = 0
        self.fallbacks = 0
        self.distinct: int | None = None
        """Counted by a store; None if the matches are counted one by one."""
        self.matches = PairedGames(shared=sheet.has_chance)
        self.returns = MeanReturns(len(sheet.labels))
        self.claims = Claims(sheet)
        self._plays: set[tuple[tuple[int, ...], int]] = set()
        self._first: dict[tuple[int, str], tuple[int, str, str | None]] = {}

    @property
    def distinct_games(self) -> int:
        """The number of matches that differ in seats, position or actions."""
        return len(self._plays) if self.distinct is None else self.distinct

    @property
    def ranked_by(self) -> RankedBy:
        """The order of the board if its format has no ranking of its own."""
        if self._format is None or self.sheet.ranked_by == "returns":  # requested by the spec or the game
            return self.sheet.ranked_by
        return self._format.ranked_by

    def ranking(self) -> Ranking | None:
        """The ranking by the board's format; None if the format has none of its own."""
        if self._format is None or self.outcomes is None:
            return self.sheet.ranking
        return ask_ranking(self._format, len(self.sheet.labels), self.outcomes)

    def bracket(self) -> tuple[tuple[Tie[str], ...], ...]:
        """The rounds of a knockout so far; none if the format has no bracket."""
        if self._format is None or self.outcomes is None or len(self.sheet.labels) < 2:
            return ()
        labels = dict(enumerate(self.sheet.labels))
        rounds = self._format.bracket(len(labels), self.outcomes)
        return tuple([tuple([tie.named(labels) for tie in ties]) for ties in rounds])

    def test_state(self) -> Any:
        """The state of the board's sequential test, from its format; None without one."""
        if self._format is None or self.sheet.test is None:
            return None
        return self._format.test_state(self.sheet, self.matches, self.returns.luck_by_round(0))

    def add(self, number: int, pairing: Pairing, record: Record) -> None:
        """Count one record; `number` is its place in the schedule."""
        seats = pairing.seats
        facts = Facts(seats, record.returns, record.termination, record.seat, record.solved, fallbacks=record.fallbacks)
        if record.moves is not None:
            facts.moves, facts.moves_of = record.moves, 1
        if record.cost is not None:
            facts.cost, facts.cost_of = record.cost, 1
        self.count(facts)
        if record.termination == "void":
            return
        self.claims.add(number, pairing, record)
        if self.outcomes is not None:
            self.outcomes.add(pairing, record.returns)
        played = play_hash_of(record)
        self._plays.add((seats, played))
        self.add_game(pairing.round, seats, record.returns, played, any(record.drew), record.adjusted)
        if record.fallbacks:
            self.add_fallbacks(fallback_counts(self.sheet, seats, record.fallbacks, record.drew, record.decisions))
        for decision in record.decisions:
            self.add_effort(seats[decision.seat], 1, decision.nodes, decision.seconds)
            self.counts[seats[decision.seat]].unmetered += decision.unmetered
        self.add_amounts(seats, record.decisions)
        self.add_timing(seats, record.timing)
        if record.seat is not None and record.termination in FAULTS:
            self.add_failure(seats[record.seat], record.termination, number, record.id, record.message)

    def add_game(
        self,
        round_: int,
        seats: tuple[int, ...],
        returns: tuple[float, ...],
        played: int,
        drew: bool,
        adjusted: Sequence[float] | None,
    ) -> None:
        """Add one match that was not void to the games of its round."""
        if self.sheet.kind != "puzzle":
            self.returns.add(round_, seats, returns, adjusted)
        if len(seats) > 1:
            self.matches.add(round_, seats, returns, played, drew or self.sheet.has_chance)

    def count(self, facts: Facts) -> None:
        """Count equal matches. Void ones are counted separately and not scored."""
        if facts.termination == "void":
            self.void += facts.count
            for entry in set(facts.seats):
                self.counts[entry].void += facts.count
            return
        self.games += facts.count
        self.adjudicated += facts.count * (facts.termination == "adjudicated")
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
        times, got = facts.count, facts.returns[seat]
        rivals = facts.returns[:seat] + facts.returns[seat + 1 :]
        count.add(got, max(rivals, default=0.0), times)
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

    def add_timing(self, seats: Sequence[int], timing: Mapping[str, Any] | None) -> None:
        """Add the processor time and the compiled decisions of each seat of a match.

        Invalid amounts from a node of a cluster are left out.
        """
        for key in (CPU_SECONDS, "compiled", "plain", "plain_seconds"):
            amounts = None if timing is None else timing.get(key)
            for entry, amount in zip(seats, amounts if isinstance(amounts, list) else (), strict=False):
                if isinstance(amount, (int, float)) and amount >= 0:
                    count = self.counts[entry]
                    name = "cpu" if key == CPU_SECONDS else key
                    setattr(count, name, (getattr(count, name) or 0) + amount)

    def add_amounts(self, seats: Sequence[int], decisions: Sequence[Decision]) -> None:
        """Add the other amounts of the decisions of a match."""
        for decision in decisions:
            for name, amount in (decision.spent or {}).items():
                self.counts[seats[decision.seat]].spent[name] += amount

    def add_fallbacks(self, found: FallbackCounts) -> None:
        """Add fallbacks to the entries to which they belong; if these are unknown once, the number stays unknown."""
        for entry, number in found.known.items():
            before = self.counts[entry].fallbacks
            self.counts[entry].fallbacks = None if before is None else before + number
        for entry in found.unclear:
            self.counts[entry].fallbacks = None

    def add_failure(self, entry: int, kind: str, number: int, key: str, message: str | None) -> None:
        """Remember a match that an agent lost by a fault, if it is the first of its kind."""
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

    def describe(self) -> Iterator[str]:
        """Yield the remarks on matches without a score, actions drawn at random, states without a count, and time limits."""
        counts = list(zip(self.sheet.labels, self.counts, strict=True))
        if self.void:
            yield f"{self.void:,} void, not scored: the game, arena itself or the backend of an agent that waits is at fault."
            often = [
                f"{label} {count.void:,} of {count.void + count.games:,}"
                for label, count in counts
                if count.void > MAX_VOID_SHARE * (count.void + count.games)
            ]
            if often:
                yield f"More than one match in 20 is void: {', '.join(often)}. Their scores leave these matches out."
        if left_out := sum(count.left_out for count in self.counts):
            decisions = sum(count.compiled + count.plain for count in self.counts)
            yield f"{left_out:,} of {decisions:,} decisions ran plain and are not in the seconds."
        if self.adjudicated:
            were = "game was" if self.adjudicated == 1 else "games were"
            yield f"{self.adjudicated:,} {were} adjudicated: ended by the values that the agents reported."
        if self.fallbacks:
            yield f"{self.fallbacks:,} actions were drawn at random: a budget ran out before anything was reported."
            shares = [
                f"{label} {fell:,} of {count.decisions:,} decisions ({figures.share(fell / count.decisions)})"
                for label, count in counts
                if (fell := count.fallbacks)
            ]
            if shares:
                yield f"! : {', '.join(shares)}. A rank says little of an agent that did not choose."
            unclear = [label for label, count in counts if count.fallbacks is None]
            if unclear:
                yield f"The records do not tell how many of them were whose among {', '.join(unclear)}."
        past = ", ".join([f"{label} {count.unmetered:,}" for label, count in counts if count.unmetered])
        if past:
            yield f"Generated past the view, in no count of nodes and under no limit of nodes: {past} states, as far as seen."
        if self.sheet.soft:
            yield f"Time limits are soft for {', '.join(self.sheet.soft)}: isolation is none, so nobody stops them."
        if self.sheet.timed:
            yield "Some decisions had a time limit: the same matches may come out otherwise another time."
