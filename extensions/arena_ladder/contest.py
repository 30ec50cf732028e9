"""The matches of a ladder, one after another for as long as it is open: seasons, plans, workers, suspensions, ratings."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, time
from typing import Any

from arena import SpecError
from arena.api.match import FAULTS, Record
from arena.api.run import Batch, Scheduled
from arena.api.store import Store
from arena.errors import ClusterError, StoreFull
from arena.results.pairs import Entries
from arena.schedule.schedule import OVER, WAIT
from arena.workers.pool import WorkerPool
from arena_cluster.players import ClusterPlayers
from arena_isolation.versions import shared_code
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.ledger import CoursePoint, Ledger, Submission
from arena_ladder.matchmaking import BoardStandings, pairs_to_meet, standings
from arena_ladder.season import Season, begin_season
from arena_ladder.spec import LadderSpec

FAULTS_IN_ROW = 5
"""Matches in a row that a submission may lose by faults before it is suspended."""
MAX_VOIDS = 3
"""Void pairs of matches in a row after which two agents are not paired any more in a season."""
LOOK_SECONDS = 0.5
"""Seconds between two looks at what other processes have changed."""
FULL_DISK_SECONDS = 2.0
"""Seconds between two tries to write on a full disk."""
CLUSTER_AWAY_SECONDS = 5.0
"""Seconds between two tries to reach a cluster that is gone."""

TREND_POINTS = 40
"""Ratings that a page shows as a course."""


@dataclass(slots=True)
class Contest:
    """What is going on: read by pages from other threads, written by the one that plays."""

    standings: Sequence[BoardStandings] = ()
    state: str = "starting"
    """`playing`, `idle`, `paused`, `over`, or what is in the way, in a sentence."""
    matches: int = 0
    """Matches played since the start of the process."""
    voids: int = 0
    version: int = 0
    """Grows with every change."""
    courses: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    """The latest ratings by board and agent."""

    @property
    def paused(self) -> bool:
        """Whether something is in the way of the next match: an admin, a full disk, a cluster that is away."""
        return self.state.startswith("paused")

    def trend(self, board: str, agent: str) -> list[float]:
        """The latest ratings of an agent on a board, the last one at the end."""
        return list(self.courses.get((board, agent), ()))


NO_WORKER = "paused: no worker is on the cluster"
"""The state while matches wait for a worker of the cluster to join."""


MAX_SEASONS = 5
SEASONS_SECONDS = 25.0
"""At most so many seasons begin in so many seconds: the beginning of one drops the matches in progress."""


class Closing(Exception):
    """Ends the iteration of a pool, since the ladder ends."""


class ContestRunner:
    """Plays a ladder until it is stopped. Everything it decides follows from the store, so that it goes on as if never ended."""

    def __init__(
        self, ladder: LadderSpec, store: Store, ledger: Ledger, folder: CodeFolder, workers: int | ClusterPlayers
    ) -> None:
        self._ladder, self._store, self._ledger, self._folder, self._workers = ladder, store, ledger, folder, workers
        self.contest = Contest()
        self.stopping = threading.Event()
        self._waiting = threading.Event()
        self._described: dict[Any, Any] = dict(ledger.descriptions())
        self._playing: dict[str, Submission] = {}
        self._seasons: deque[float] = deque(maxlen=MAX_SEASONS)
        """The times at which the last seasons began."""
        self._faults: dict[str, int] = {}
        """Matches in a row that each submission in play has lost by faults."""

    def stop(self) -> None:
        """Have it end: matches in progress are dropped, their plans stay."""
        self.stopping.set()
        self._waiting.set()

    def wake(self) -> None:
        """Have it look at once whether there is something new."""
        self._waiting.set()

    def play(self) -> None:
        """Play until `stop`. ArenaError for what nobody but an admin can mend."""
        over = False
        while not over and not self.stopping.is_set():
            try:
                self._store.flush()
                over = self._go_on()
            except StoreFull as error:  # a season that begins anew plays what has no record yet
                self._tell(f"paused: {error}")
                self.stopping.wait(FULL_DISK_SECONDS)
            except ClusterError as error:  # likewise
                self._await_cluster(error)
        self._tell("over" if over else "stopped")

    def _go_on(self) -> bool:
        """Play until something changes, and rest where nothing is left to play; return True where the ladder is over for ever."""
        changes = self._ledger.changes()
        if self._ledger.setting("over") is not None:
            self._reveal()
            return True
        self._seasons.append(monotonic())
        season = self._season()
        self._rate(season)
        if self._ledger.setting("paused") == "yes":
            self._rest("paused", changes)
            return False
        plans = SeasonPlans(season, self._ledger, partial(self._goes_on, changes), partial(self._rate, season))
        self._play_season(season, plans)
        if self._goes_on(changes):
            self._rest("idle", changes)
        return False

    def _goes_on(self, changes: int) -> bool:
        """Return whether the season goes on: nothing has changed, or so many seasons have begun lately that the change waits."""
        if self.stopping.is_set():
            return False
        if self._ledger.changes() == changes:
            return True
        crowded = len(self._seasons) == MAX_SEASONS and monotonic() < self._seasons[0] + SEASONS_SECONDS
        return crowded and self._ledger.setting("paused") != "yes" and self._ledger.setting("over") is None

    def _season(self) -> Season:
        """A season with all submissions in play; one that cannot be loaded any more is suspended."""
        while True:
            playing, entries = self._lay_out()
            try:
                season = begin_season(self._ladder, self._store, entries, self._described)
            except SpecError as error:
                house = len(self._ladder.spec.document.values["agents"])
                faulty = {place - house: fault.message for fault in error.faults if (place := _entry(fault.where)) >= house}
                if not faulty:
                    raise
                for place, message in faulty.items():
                    self._suspend(playing[place].label, f"it cannot be loaded any more: {message}")
                continue
            new = {key: told for key, told in shared_code(season.spec.shared).described.items() if key not in self._described}
            if new:
                self._described.update(new)
                self._ledger.keep_descriptions(new)
            return season

    def _suspend(self, label: str, reason: str) -> None:
        """Take a submission out of play; its author reads why, with files by the names that he gave them."""
        self._ledger.suspend(label, self._folder.as_handed_in(self._playing.pop(label), reason))
        self._faults.pop(label, None)

    def _lay_out(self) -> tuple[list[Submission], list[dict[str, Any]]]:
        """The submissions in play and their entries; one that cannot be laid out by the spec of now is suspended."""
        playing, entries = self._ledger.in_play(), []
        self._playing = {one.label: one for one in playing}
        self._faults = {one.label: one.faults for one in playing}
        for one in playing:
            try:
                entries.append(self._folder.entry(one))
            except BadSubmission as error:
                self._suspend(one.label, f"it cannot be loaded any more: {error}")
        return [one for one in playing if one.label in self._playing], entries

    def _play_season(self, season: Season, plans: "SeasonPlans") -> None:
        code = season.run.plugins
        matches: Iterator[tuple[Scheduled, Record]]
        if isinstance(self._workers, ClusterPlayers):
            matches = self._workers.play(season.spec, code, plans.take, plans.waiting, self._check)
        else:
            matches = WorkerPool(season.spec, self._workers, plans.take, check=self._check, code=code).play()
        with suppress(Closing), closing(matches):  # type: ignore[type-var]  # it is a generator
            for scheduled, record in matches:
                self._store.add(scheduled, record)
                self._store.flush()
                plans.finished(scheduled, record)
                self.contest.matches += 1
                self.contest.voids += record.termination == "void"
                self._judge(record)

    def _check(self) -> None:
        if self.stopping.is_set():
            raise Closing
        state = NO_WORKER if isinstance(self._workers, ClusterPlayers) and self._workers.alone else "playing"
        if self.contest.state != state:
            self._tell(state)

    def _await_cluster(self, error: ClusterError) -> None:
        """Wait for a cluster that is gone, or whose nodes are all refused: they may be mended, or others may join."""
        assert isinstance(self._workers, ClusterPlayers)
        self._workers.leave()
        while not self.stopping.is_set():
            self._workers.tell(f"paused: {error}")
            self._tell(f"paused: {error}")
            self.stopping.wait(CLUSTER_AWAY_SECONDS)
            try:
                self._workers.connect()
                return
            except ClusterError as again:
                error = again

    def _judge(self, record: Record) -> None:
        """Count faults in a row, and suspend a submission that has too many."""
        for seat, label in enumerate(record.labels):
            if label not in self._faults or record.termination == "void":
                continue
            at_fault = record.termination in FAULTS and record.seat == seat
            faults = self._faults[label] + 1 if at_fault else 0
            if faults != self._faults[label]:
                self._ledger.count_faults(label, faults)
                self._faults[label] = faults
            if faults >= FAULTS_IN_ROW:
                last = ", ".join(filter(None, (record.termination, record.message)))
                self._suspend(label, f"it lost {faults} matches in a row by its own fault, the last one so: {last}")

    def _rate(self, season: Season) -> Sequence[BoardStandings]:
        """Compute the standings of all boards, keep what has changed, and return them."""
        boards = range(len(season.spec.boards))
        before = {(one.title, row["agent"]): row["games"] for one in self.contest.standings for row in one.rows}
        found = [standings(season, board, self._ladder.interval, self._ladder.anchor) for board in boards]
        now = time()
        self._ledger.keep_ratings(
            (row["agent"], CoursePoint(now, board, row["games"], row["rating"], row["rating_low"], row["rating_high"]))
            for board, one in enumerate(found)
            for row in one.rows
            if row["rating"] is not None and before.get((one.title, row["agent"])) not in (None, row["games"])
        )
        for one in found:
            for row in one.rows:
                course = self.contest.courses.setdefault((one.title, row["agent"]), deque(maxlen=TREND_POINTS))
                if row["rating"] is not None and (not course or course[-1] != row["rating"]):
                    course.append(row["rating"])
        self.contest.standings = found
        self._tell("playing")
        return found

    def _rest(self, state: str, changes: int) -> None:
        self._tell(state)
        paused = state == "paused"  # what an admin does next takes effect at once
        while not self.stopping.is_set() and (self._ledger.changes() == changes if paused else self._goes_on(changes)):
            self._waiting.wait(LOOK_SECONDS)
            self._waiting.clear()

    def _reveal(self) -> None:
        """End the ladder for ever: its seed is shown, and what waits for its check never plays."""
        self._ledger.turn_away("the ladder was over before it was checked")
        self._rate(self._season())
        self._store.end()

    def _tell(self, state: str) -> None:
        self.contest.state = state
        self.contest.version += 1


class SeasonPlans:
    """Hands out the matches of a season: what an earlier process has left, then plan after plan.

    Used by one thread. `goes_on` is asked before every plan, `rate` gives the standings of all boards.
    """

    def __init__(
        self, season: Season, ledger: Ledger, goes_on: Callable[[], bool], rate: Callable[[], Sequence[BoardStandings]]
    ) -> None:
        self._season, self._ledger, self._goes_on, self._rate = season, ledger, goes_on, rate
        planned = [match for plan in ledger.plans() for match in season.matches(plan)]
        self._waiting = [match for match in planned if match.number not in season.known]
        """Matches without a record."""
        self._untold: set[int] = set()
        self._void: Counter[tuple[int, Entries]] = Counter()
        self._turn = 0

    def take(self, size: int) -> Batch:
        """Return up to `size` matches; WAIT while a plan is not complete, OVER where nothing is left to learn."""
        if not self._waiting and not self._untold and self._goes_on():
            self._waiting = self._next()
        if not self._waiting:
            return WAIT if self._untold else OVER
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        self._untold.update(one.number for one in batch)
        return Batch(batch)

    def waiting(self) -> int:
        """The number of matches of this plan that have not been handed out."""
        return len(self._waiting)

    def finished(self, scheduled: Scheduled, record: Record) -> None:
        """Take the record of a match."""
        self._untold.discard(scheduled.number)
        self._season.add(scheduled, record)
        low, high = sorted(scheduled.pairing.seats)
        if record.termination == "void":
            self._void[scheduled.board, (low, high)] += 1
        else:
            del self._void[scheduled.board, (low, high)]

    def _next(self) -> list[Scheduled]:
        """The matches of the next plan: of the first board after the last one that has something to learn."""
        found = self._rate()
        for step in range(len(found)):
            board = (self._turn + step) % len(found)
            barred = [pair for (on, pair), count in self._void.items() if on == board and count >= 2 * MAX_VOIDS]
            pairs = pairs_to_meet(self._season, board, found[board], barred)
            if pairs:
                self._turn = board + 1
                return [match for plan in self._ledger.plan(pairs) for match in self._season.matches(plan)]
        return []


def _entry(where: str) -> int:
    """The number of the entry that a fault is in, by its path such as `agents[7].plugin`; -1 for another path."""
    number = where.removeprefix("agents[").partition("]")[0]
    return int(number) if where.startswith("agents[") and number.isdigit() else -1
