"""The marks of a ladder: which version of each author counts, the results against the baselines (one agent for each mark), and
the pairs to play next.

For a puzzle, the test that decides marks compares the attempts of an agent and a baseline to solve the same position. Each
position counts like a pair of games, with the score 1 if the agent does better, 0 if the baseline does, and 1/2 otherwise.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, log10
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from arena import Record
from arena.api.match import FAULTS
from arena.api.results import Way, put_last, result_points
from arena.api.store import Store
from arena.stats import EloEstimate
from arena_ladder.ledger import Ledger, find_last_run
from arena_ladder.mark_test import NOT_STRONGER, OPEN, STRONGER, MarkRule, MarkTests, lead_interval
from arena_ladder.roster import Person
from arena_ladder.spec import Effort, Marks
from arena_ladder.submissions import Submission

Decision = Literal["stronger", "not stronger", "open", "implied", "not reached"]
WORDS: Mapping[int, Decision] = {STRONGER: "stronger", NOT_STRONGER: "not stronger"}
MAX_EQUAL_SHARE = 4
"""A plan has at most a quarter of its pairs between the same two agents, if other pairs are possible."""


class Candidate(NamedTuple):
    """A version of an agent that may count for the mark of its author."""

    author: str
    label: str
    number: int
    """The number of the version among all accepted versions of the author, from 1."""
    is_late: bool = False


@dataclass(frozen=True, slots=True)
class MarkRow:
    """The mark of an author."""

    author: str
    mark: str | None
    """The highest mark that is reached; None if none is."""
    is_open: bool
    """True if a higher mark may still be reached."""
    agent: str | None
    """The version that counts; None if no version is in play."""
    decisions: dict[str, Decision]
    """For each mark, the decision about the version that counts."""
    against: str | None
    """The mark to whose baseline the lead refers: the open mark, or else the next higher mark, or else the mark that is reached.
    """
    pairs: int
    """The number of pairs of games against this baseline."""
    lead: float | None
    lead_low: float | None
    lead_high: float | None
    """The lead over this baseline in Elo, with a 95 % interval that stays valid if it is computed again after every pair."""
    games: int
    """The number of games against all baselines."""
    faults: int
    """The number of games against baselines that the version lost through its own faults."""
    is_late: bool
    """True if the version that counts was handed in after the deadline."""
    points: float
    """1 for the lowest mark, 2 for the next one, and so on, less the penalty of a late version; 0 without a mark."""
    penalty: float
    """The share of its points that the version loses because it is late."""
    more_pairs: int
    """The approximate number of further pairs that are needed to decide the mark; 0 if it is decided."""

    @property
    def reason(self) -> str:
        """Return what decided the mark, as text."""
        words = [f"{name}: {decision}" for name, decision in self.decisions.items()]
        return "; ".join(words) if self.agent is not None else "no active version"


def list_candidates(submissions: Iterable[Submission], counts: Literal["best", "last"], closes: float = inf) -> list[Candidate]:
    """Return the versions in play that count: all versions, or the last version of each author. Versions handed in after `closes`
    are late.
    """
    accepted: Counter[str] = Counter()
    found: dict[str, list[Candidate]] = defaultdict(list)
    for one in sorted((one for one in submissions if one.version is not None), key=lambda one: (one.decided or 0.0, one.number)):
        accepted[one.author] += 1
        if one.status == "playing":
            found[one.author].append(Candidate(one.author, one.label, accepted[one.author], one.received > closes))
    return [candidate for own in found.values() for candidate in (own if counts == "best" else own[-1:])]


class MarkBook:
    """The tests of a season. They use the results in the store and every new result."""

    def __init__(self, marks: Marks, candidates: Sequence[Candidate], ledger: Ledger) -> None:
        self.marks, self.candidates, self._ledger = marks, candidates, ledger
        self._rows = {one.label: row for row, one in enumerate(candidates)}
        self._columns = {label: column for column, label in enumerate(marks.labels)}
        rule = MarkRule(marks.size, len(marks.labels), marks.margin, marks.error)
        self.tests = MarkTests(rule, np.array([one.number for one in candidates], int))
        self._halves: dict[tuple[int, int, int], float] = {}
        """The points in the first game of a pair, by candidate (row), baseline (column) and round."""
        self._games: Counter[int] = Counter()
        self._faults: Counter[int] = Counter()
        for (label, baseline), (decision, _) in ledger.decisions(marks.terms).items():
            if label in self._rows and baseline in self._columns:
                self.tests.decisions[self._rows[label], self._columns[baseline]] = decision

    @classmethod
    def load(cls, marks: Marks, store: Store, ledger: Ledger) -> "MarkBook":
        """Return the marks of a ladder, computed from all matches in its store."""
        book: MarkBook = (cls if marks.effort is None else AttemptBook)(
            marks, list_candidates(ledger.submissions(), marks.counts, marks.closes), ledger
        )
        last = find_last_run(store)
        book.read(store, () if last is None else last.boards[0].labels)
        return book

    def read(self, store: Store, labels: Sequence[str]) -> None:
        """Count all matches in a store, and update the decisions. `labels` contains the label of each entry."""
        question = (
            "SELECT p.round, p.seats, r.returns, r.termination, r.seat FROM place p JOIN record r ON r.number = p.record "
            "WHERE p.board = 0 ORDER BY p.number"
        )
        for round_, seats, returns, termination, seat in store.query(question):
            pair = [labels[entry] for entry in Store.seats_of(seats)]
            known = None if termination == "void" else Store.returns_of(returns)
            self.count(pair, round_, known, seat if termination in FAULTS else None)
        self._look_at_all()

    def _look_at_all(self) -> None:
        for row in range(len(self.candidates)):
            for column in range(len(self.marks.labels)):
                self._look(row, column)

    def take(self, labels: Sequence[str], round_: int, record: Record) -> None:
        """Count the record of a match that has just ended. `labels` are the agents in its seats."""
        returns = None if record.termination == "void" else record.returns
        self.finished(labels, round_, returns, record.seat if record.termination in FAULTS else None)

    def count(self, labels: Sequence[str], round_: int, returns: Sequence[float] | None, blamed: int | None) -> None:
        """Count a game. `labels` are the agents in its seats. `returns` is None if the game was void; `blamed` is the seat that
        lost the game by a fault, or None.
        """
        for seat, label in enumerate(labels):
            row, column = self._rows.get(label), self._columns.get(labels[1 - seat])
            if row is None or column is None or returns is None:
                continue
            self._games[row] += 1
            self._faults[row] += blamed == seat
            results = put_last(returns, blamed)
            points = result_points(results[seat], results[1 - seat])
            before = self._halves.pop((row, column, round_), None)
            if before is None:
                self._halves[row, column, round_] = points
            else:
                self.tests.counts[row, column, EloEstimate.PAIR_SCORES.index((before + points) / 2)] += 1

    def finished(self, labels: Sequence[str], round_: int, returns: Sequence[float] | None, blamed: int | None) -> None:
        """Count a game that has just ended, update the decisions, and store new decisions."""
        self.count(labels, round_, returns, blamed)
        for seat, label in enumerate(labels):
            row, column = self._rows.get(label), self._columns.get(labels[1 - seat])
            if row is not None and column is not None:
                self._look(row, column)

    def _look(self, row: int, column: int) -> None:
        if self.tests.decisions[row, column] == OPEN:
            self.tests.look(np.array([row]), np.array([column]))
            if decision := int(self.tests.decisions[row, column]):
                pairs = int(self.tests.counts[row, column].sum())
                found = (self.candidates[row].label, self.marks.labels[column], decision, pairs)
                self._ledger.keep_decisions(self.marks.terms, [found])

    def open_tests(self, gone: Collection[str] = ()) -> list[tuple[float, int, int]]:
        """Return the tests that decide marks, the shortest first. Each is a tuple of the expected number of further pairs, the
        candidate (row) and the baseline (column).

        A version that cannot improve the mark of its author is left out.
        """
        wanted, left = self.tests.wanted(), self.tests.forecast()
        reached, missed = self.tests.bounds()
        best = self._best()
        found = []
        for row, column in enumerate(wanted.tolist()):
            one = self.candidates[row]
            so_far = best[one.author]
            if (
                column >= 0
                and one.label not in gone
                and self._points(row, missed[row] - 1) > self._points(so_far, reached[so_far])
            ):
                found.append((float(left[row]), row, column))
        return sorted(found)

    def pairs(self, size: int, gone: Collection[str] = (), barred: Collection[frozenset[str]] = ()) -> list[tuple[int, str, str]]:
        """Return the pairs for the next plan. The pairs for the tests that will end soonest come first.

        The list is empty if all marks are decided.
        """
        found = []
        for left, row, column in self.open_tests(gone):
            both = self.candidates[row].label, self.marks.labels[column]
            if frozenset(both) not in barred:
                found.append((ceil(left), both))
        plan: list[tuple[int, str, str]] = []
        share = max(1, size // MAX_EQUAL_SHARE)
        while found and len(plan) < size:
            for left, both in found:
                plan += [(0, *both)] * min(left, share, size - len(plan))
        return plan

    def _best(self) -> dict[str, int]:
        """Return the candidate that counts for each author.

        This is the candidate with the most points for the mark that it has reached. Among equals, it is the one that can still
        get the most points, and then the one that was handed in on time.
        """
        reached, missed = self.tests.bounds()
        found: dict[str, int] = {}
        merits: dict[str, tuple[float, float, bool]] = {}
        for row, one in enumerate(self.candidates):
            merit = (self._points(row, reached[row]), self._points(row, missed[row] - 1), not one.is_late)
            if one.author not in found or merit > merits[one.author]:
                found[one.author], merits[one.author] = row, merit
        return found

    def _points(self, row: int, mark: int) -> float:
        """Return the points that a candidate gets for a mark. `mark` is the place of the mark in ascending order, or -1."""
        return float(mark + 1) * (1 - self.marks.penalty if self.candidates[row].is_late else 1.0)

    def rows(self, authors: Iterable[str]) -> Iterator[MarkRow]:
        """Yield the marks of authors, including authors that have no active version."""
        best, names = self._best(), self.marks.names
        reached, missed = self.tests.bounds()
        still_open: dict[str, float] = {}
        for left, row, _ in self.open_tests():
            author = self.candidates[row].author
            still_open[author] = still_open.get(author, 0.0) + left
        for author in authors:
            if author not in best:
                nothing: dict[str, Decision] = dict.fromkeys(names, "not reached")
                yield MarkRow(author, None, False, None, nothing, None, 0, None, None, None, 0, 0, False, 0.0, 0.0, 0)
                continue
            row = best[author]
            high, low = int(reached[row]), int(missed[row])
            wanted = int(self.tests.wanted()[row])
            against = wanted if wanted >= 0 else min(high + 1, len(names) - 1)
            counts: Any = self.tests.counts[row, against]
            pairs = int(counts.sum())
            mean = float(counts @ np.array(EloEstimate.PAIR_SCORES)) / max(1, pairs)
            lead, lead_low, lead_high = [
                round(-400 * log10(1 / score - 1), 1) if pairs and 0 < score < 1 else None
                for score in (mean, *lead_interval(counts))
            ]
            decisions: dict[str, Decision] = {}
            for column, name in enumerate(names):
                implied: Decision = "implied" if column < high else "not reached" if column > low else "open"
                decisions[name] = WORDS.get(int(self.tests.decisions[row, column]), implied)
            yield MarkRow(
                author,
                names[high] if high >= 0 else None,
                author in still_open,
                self.candidates[row].label,
                decisions,
                names[against],
                pairs,
                lead,
                lead_low,
                lead_high,
                self._games[row],
                self._faults[row],
                self.candidates[row].is_late,
                round(self._points(row, high), 6),
                self.marks.penalty if self.candidates[row].is_late else 0.0,
                ceil(min(still_open.get(author, 0.0), 1e9)),
            )


class Attempt(NamedTuple):
    """An attempt of an agent to solve a position."""

    solved: bool
    cost: float | None
    """The cost of the solution; None for a puzzle that is solved by a state."""
    effort: float
    """The seconds or nodes of the attempt."""
    way: Way = "plain"
    """How all its decisions ran; None if some were compiled, or if a cache decided how they ran."""


MIN_SECONDS = 0.05
"""Shorter times count as this time, because the start of a solver and other processes affect them."""
SECONDS_FACTOR = 2.0
"""Times that differ by a smaller factor count as equal, because they depend on the load of the machine."""


def score_attempt(one: Attempt, other: Attempt, effort: Effort) -> float:
    """Return the score of the first of two attempts at the same position: 1 if it is better, 0 if it is worse, 1/2 otherwise.

    A solution is better than none, then the lower cost is better, and then the smaller effort. Seconds are compared only if all
    decisions of both attempts ran plain, or all ran compiled.
    """
    if not (one.solved and other.solved):
        return 0.5 + (one.solved - other.solved) / 2
    if one.cost is not None and other.cost is not None and one.cost != other.cost:
        return float(one.cost < other.cost)
    efforts = one.effort, other.effort
    if effort == "seconds":
        efforts = max(one.effort, MIN_SECONDS), max(other.effort, MIN_SECONDS)
        if one.way is None or one.way != other.way or max(efforts) < SECONDS_FACTOR * min(efforts):
            return 0.5
    return 0.5 + ((efforts[0] < efforts[1]) - (efforts[0] > efforts[1])) / 2


def find_way(timing: Mapping[str, Any] | None) -> Way:
    """Return how all decisions of an attempt ran, from the timing of its record.

    >>> find_way(None), find_way({"compiled": [1]}), find_way({"plain": [1], "unsettled": [1]})
    ('plain', 'compiled', None)
    """
    counts = [(timing or {}).get(key) for key in ("compiled", "plain", "unsettled")]
    compiled, plain, unsettled = [isinstance(count, list) and any(count) for count in counts]
    if unsettled or (compiled and plain):
        return None
    return "compiled" if compiled else "plain"


class AttemptBook(MarkBook):
    """The tests of a season on a puzzle.

    A test compares the attempts of an agent with the attempts of a baseline, position by position in a fixed order. It waits at
    the first position that one of the two has not attempted yet. Otherwise, the first results would all come from easy positions,
    because hard positions take longer.
    """

    def __init__(self, marks: Marks, candidates: Sequence[Candidate], ledger: Ledger) -> None:
        super().__init__(marks, candidates, ledger)
        self.positions = 0
        """The number of positions that may decide marks."""
        self._attempts: dict[str, dict[int, Attempt | None]] = defaultdict(dict)
        """For each label, its attempts; the keys are the numbers of the positions. Void attempts are None; they do not count."""
        self._compared: Counter[tuple[int, int]] = Counter()
        """The number of positions that each test has taken; the keys are pairs of a row and a column."""

    def read(self, store: Store, labels: Sequence[str]) -> None:
        """Count all attempts in a store, and update the decisions. `labels` contains the label of each entry."""
        question = (
            "SELECT p.round, p.seats, r.solved, r.cost, r.nodes_0, r.nanoseconds_0, r.termination, d.timing FROM place p "
            "JOIN record r ON r.number = p.record JOIN detail d ON d.record = r.number WHERE p.board = 0"
        )
        for round_, seats, solved, cost, nodes, nanoseconds, termination, timing in store.query(question):
            effort = nanoseconds / Store.NANOSECONDS if self.marks.effort == "seconds" else nodes
            attempt = Attempt(bool(solved), cost, effort, find_way(None if timing is None else json.loads(timing)))
            self._note(labels[Store.seats_of(seats)[0]], round_, attempt, termination)
        for row in range(len(self.candidates)):
            for column in range(len(self.marks.labels)):
                self._compare(row, column)
        self._look_at_all()

    def take(self, labels: Sequence[str], round_: int, record: Record) -> None:
        """Count the record of an attempt that has just ended, update the decisions, and store new decisions."""
        (label,) = labels
        seconds = self.marks.effort == "seconds"
        effort = sum([one.seconds if seconds else one.nodes for one in record.decisions])
        attempt = Attempt(bool(record.solved), record.cost, effort, find_way(record.timing))
        self._note(label, round_, attempt, record.termination)
        rows = range(len(self.candidates)) if label in self._columns else []
        for row, column in [(row, self._columns[label]) for row in rows] + [
            (self._rows[label], column) for column in self._columns.values() if label in self._rows
        ]:
            if self._compare(row, column):
                self._look(row, column)

    def _note(self, label: str, position: int, attempt: Attempt, termination: str) -> None:
        """Store an attempt of an agent."""
        self._attempts[label][position] = None if termination == "void" else attempt
        if label in self._rows and termination != "void":
            self._games[self._rows[label]] += 1
            self._faults[self._rows[label]] += termination in FAULTS

    def _compare(self, row: int, column: int) -> bool:
        """Continue a test up to the first position that the agent or the baseline has not attempted yet. Return True if the test
        has got any further.
        """
        assert self.marks.effort is not None
        own, others = self._attempts[self.candidates[row].label], self._attempts[self.marks.labels[column]]
        place = self._compared[row, column]
        while place in own and place in others:
            one, other = own[place], others[place]
            if one is not None and other is not None:
                score = score_attempt(one, other, self.marks.effort)
                self.tests.counts[row, column, EloEstimate.PAIR_SCORES.index(score)] += 1
            place += 1
        before, self._compared[row, column] = self._compared[row, column], place
        return place > before

    def pairs(self, size: int, gone: Collection[str] = (), barred: Collection[frozenset[str]] = ()) -> list[tuple[int, str, str]]:
        """Return the attempts for the next plan, each as a pair of an agent with itself. The attempts for the tests that will end
        soonest come first.

        The list is empty if no open test has a position left.
        """
        found = self.open_tests(gone)
        attempts = self._ledger.attempts(0)
        plan: list[tuple[int, str, str]] = []
        for ahead in range(1, self.positions + 1 if found else 0):
            for left, row, column in found:
                reach = self._compared[row, column] + ahead
                if ahead > ceil(left) or reach > self.positions:
                    continue
                for label in (self.candidates[row].label, self.marks.labels[column]):
                    missing = max(0, reach - attempts.get(label, 0))
                    plan += [(0, label, label)] * missing
                    attempts[label] = attempts.get(label, 0) + missing
                if len(plan) >= size:
                    return plan
        return plan


Graded = tuple[Person, MarkRow]
"""An author, and the mark of this author or the team."""


def grade(marks: Marks, place: Path, ledger: Ledger) -> list[Graded]:
    """Return the marks of all authors of the ladder whose store is at `place`. The members of a team share a row."""
    with Store.open(place) as store, store.snapshot():
        book = MarkBook.load(marks, store, ledger)
    people = ledger.people()
    by_handle = {row.author: row for row in book.rows(dict.fromkeys([handle for _, handle in people]))}
    return [(person, by_handle[handle]) for person, handle in people]
