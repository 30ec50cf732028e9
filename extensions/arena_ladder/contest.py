"""Plays the matches of a ladder for as long as it is open: seasons, plans, workers, suspensions and ratings."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, time

from arena import Record, SpecError
from arena.api.errors import ClusterError, StoreFull
from arena.api.match import FAULTS
from arena.api.run import Batch, Scheduled, WorkerPool
from arena.api.store import Store
from arena_cluster.players import ClusterPlayers
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.ledger import CoursePoint, Ledger, Submission
from arena_ladder.matchmaking import BoardStandings, pairs_to_meet, standings
from arena_ladder.season import Entrant, Season, begin_season, entry_faults
from arena_ladder.spec import LadderSpec

FAULTS_IN_ROW = 5
"""A submission is suspended after this many matches in a row that it lost by faults."""
MAX_RECENT_FAULTS, RECENT_MATCHES = 10, 100
"""So it is after more faults than this in so many matches, however they follow each other."""
MAX_VOIDS = 3
"""After this many void pairs of matches in a row, two agents are not paired again in the season."""
LOOK_SECONDS = 0.5
"""Seconds between two checks for changes by other processes."""
FULL_DISK_SECONDS = 2.0
"""Seconds between two attempts to write to a full disk."""
CLUSTER_AWAY_SECONDS = 5.0
"""Seconds between two attempts to reach a lost cluster."""

TREND_POINTS = 40
"""Number of ratings in the trend that a page shows."""


@dataclass(slots=True)
class Contest:
    """Current state of the contest. The contest's thread writes it; pages read it from other threads."""

    standings: Sequence[BoardStandings] = ()
    state: str = "starting"
    """`playing`, `idle`, `paused`, `over`, or a sentence that names the obstacle."""
    matches: int = 0
    """Matches played since the process started."""
    voids: int = 0
    version: int = 0
    """Grows with every change."""
    courses: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    """Latest ratings by board and agent."""

    @property
    def paused(self) -> bool:
        """Whether something blocks the next match: an admin, a full disk, or a lost cluster."""
        return self.state.startswith("paused")

    def trend(self, board: str, agent: str) -> list[float]:
        """Return the latest ratings of an agent on a board, the newest one last."""
        return list(self.courses.get((board, agent), ()))


NO_WORKER = "paused: no worker is on the cluster"
"""State while matches wait for a cluster worker to join."""


MAX_SEASONS = 5
SEASONS_SECONDS = 25.0
"""At most MAX_SEASONS seasons begin within this many seconds, because each new season drops the matches in progress."""


NOT_SET_UP = "it cannot be loaded any more"
"""First words of the reason if a submission is suspended at the start of a season."""


class Closing(Exception):
    """Ends the iteration of a pool because the ladder is closing."""


class ContestRunner:
    """Plays a ladder until it is stopped. Every decision follows from the store, so a restarted ladder continues seamlessly."""

    def __init__(
        self, ladder: LadderSpec, store: Store, ledger: Ledger, folder: CodeFolder, workers: int | ClusterPlayers
    ) -> None:
        self._ladder, self._store, self._ledger, self._folder, self._workers = ladder, store, ledger, folder, workers
        self.contest = Contest()
        self.stopping = threading.Event()
        self._waiting = threading.Event()
        self._playing: dict[str, Submission] = {}
        self._seasons: deque[float] = deque(maxlen=MAX_SEASONS)
        """Start times of the latest seasons."""
        self._faults: dict[str, int] = {}
        self._recent: dict[str, deque[bool]] = {}
        """For each submission, whether it lost its last matches by faults."""
        """Matches in a row that each submission in play has lost by faults."""

    def stop(self) -> None:
        """Request the end. Matches in progress are dropped; their plans stay."""
        self.stopping.set()
        self._waiting.set()

    def wake(self) -> None:
        """Make the contest check for changes at once."""
        self._waiting.set()

    def play(self) -> None:
        """Play until `stop` is called. Raises ArenaError for problems that only an admin can solve."""
        over = False
        while not over and not self.stopping.is_set():
            try:
                self._store.flush()
                over = self._go_on()
            except StoreFull as error:  # a new season plays all matches that have no record yet
                self._tell(f"paused: {error}")
                self.stopping.wait(FULL_DISK_SECONDS)
            except ClusterError as error:  # same as above
                self._await_cluster(error)
        self._tell("over" if over else "stopped")

    def _go_on(self) -> bool:
        """Play until something changes, then wait if nothing is left to play. Return True if the ladder is over for good."""
        changes = self._ledger.changes()
        if self._ledger.setting("over") is not None:
            self._ledger.turn_away("the ladder was over before it was checked")
            self._rate(self._season())
            self._store.end()  # reveals the seed
            return True
        self._seasons.append(monotonic())
        season = self._season()
        self._rate(season)
        if self._ledger.setting("paused") == "yes":
            self._rest("paused", changes)
            return False
        goes_on, rate = partial(self._goes_on, changes), partial(self._rate, season)
        plans = SeasonPlans(season, self._ledger, goes_on, rate, frozenset(self._playing))
        self._play_season(season, plans)
        if self._goes_on(changes):
            self._rest("idle", changes)
        return False

    def _goes_on(self, changes: int) -> bool:
        """Return whether the season continues: nothing has changed, or too many seasons began lately and the change must wait."""
        if self.stopping.is_set():
            return False
        if self._ledger.changes() == changes:
            return True
        crowded = len(self._seasons) == MAX_SEASONS and monotonic() < self._seasons[0] + SEASONS_SECONDS
        return crowded and self._ledger.setting("paused") != "yes" and self._ledger.setting("over") is None

    def _season(self) -> Season:
        """Start a season with all submissions in play, without asking their processes. Suspend submissions that cannot be set
        up.
        """
        while True:
            playing, entrants = self._lay_out()
            try:
                banned = frozenset([name for name, banned in self._ledger.authors() if banned])
                return begin_season(self._ladder, self._store, entrants, banned)
            except SpecError as error:
                faulty = entry_faults(error, self._ladder.spec)
                if not faulty:
                    raise
                for place, message in faulty.items():
                    self._suspend(playing[place].label, f"{NOT_SET_UP}: {message}")

    def _suspend(self, label: str, reason: str) -> None:
        """Take a submission out of play. Its author can read the reason, which uses the author's own file names."""
        self._ledger.suspend(label, self._folder.as_handed_in(self._playing.pop(label), reason))
        self._faults.pop(label, None)

    def _lay_out(self) -> tuple[list[Submission], list[Entrant]]:
        """Return the submissions in play and their entries. Suspend submissions that cannot be unpacked under today's spec."""
        playing, entries = self._ledger.in_play(), []
        self._playing = {one.label: one for one in playing}
        self._faults = {one.label: one.faults for one in playing}
        for one in playing:
            try:
                entries.append(self._folder.entrant(one, self._ladder.spec))
            except BadSubmission as error:
                self._suspend(one.label, f"{NOT_SET_UP}: {error}")
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
        """Wait for a cluster that is lost or has only refused nodes: they may be repaired, or other nodes may join."""
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
                continue
            recent = self._recent.setdefault(label, deque(maxlen=RECENT_MATCHES))
            recent.append(at_fault)
            if sum(recent) > MAX_RECENT_FAULTS:
                last = ", ".join(filter(None, (record.termination, record.message)))
                often = f"{sum(recent)} of its last {len(recent)} matches"
                self._suspend(label, f"it lost {often} by its own fault, the last one so: {last}")

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
        paused = state == "paused"  # an admin's next command takes effect at once
        while not self.stopping.is_set() and (self._ledger.changes() == changes if paused else self._goes_on(changes)):
            self._waiting.wait(LOOK_SECONDS)
            self._waiting.clear()

    def _tell(self, state: str) -> None:
        self.contest.state = state
        self.contest.version += 1


class SeasonPlans:
    """Hands out the matches of a season: first the matches that an earlier process left over, then plan after plan.

    Used by one thread. `goes_on` is called before every plan, `rate` returns the standings of all boards, `guests` are the
    labels of the submissions that are in play when the season begins.
    """

    def __init__(
        self,
        season: Season,
        ledger: Ledger,
        goes_on: Callable[[], bool],
        rate: Callable[[], Sequence[BoardStandings]],
        guests: frozenset[str],
    ) -> None:
        self._season, self._ledger, self._goes_on, self._rate, self._guests = season, ledger, goes_on, rate, guests
        planned = [match for plan in ledger.plans() for match in season.matches(plan)]
        self._waiting = [match for match in planned if match.number not in season.known]
        """Matches without a record."""
        self._untold: set[int] = set()
        self._void: Counter[tuple[int, tuple[int, int]]] = Counter()
        self._turn = 0
        self._changes = -1
        """The ledger's change counter at the last query of the submissions in play."""
        self._gone: frozenset[str] = frozenset()
        """Labels of the submissions that have left play since the season began."""

    def take(self, size: int) -> Batch:
        """Return up to `size` matches; Batch.WAIT while a plan is incomplete, Batch.OVER if nothing is left to learn.

        A match of an agent that has left play does not begin. This season drops it, and later seasons drop its pairing.
        """
        self._drop_gone()
        if not self._waiting and not self._untold and self._goes_on():
            self._waiting = self._next()
        if not self._waiting:
            return Batch.WAIT if self._untold else Batch.OVER
        batch, self._waiting = self._waiting[:size], self._waiting[size:]
        self._untold.update(one.number for one in batch)
        return Batch(batch)

    def waiting(self) -> int:
        """Return the number of matches of this plan that have not been handed out."""
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

    def _drop_gone(self) -> None:
        changes = self._ledger.changes()
        if changes == self._changes:
            return
        self._changes = changes
        self._gone = self._guests - {one.label for one in self._ledger.in_play()}
        kept = []
        for match in self._waiting:
            labels = self._season.labels(match.board)
            if self._gone.isdisjoint([labels[entry] for entry in match.pairing.seats]):
                kept.append(match)
        self._waiting = kept

    def _next(self) -> list[Scheduled]:
        """Return the matches of the next plan, which is for the next board that has something to learn."""
        found = self._rate()
        for step in range(len(found)):
            board = (self._turn + step) % len(found)
            barred = [pair for (on, pair), count in self._void.items() if on == board and count >= 2 * MAX_VOIDS]
            pairs = pairs_to_meet(self._season, board, found[board], barred, self._gone)
            if pairs:
                self._turn = board + 1
                return [match for plan in self._ledger.plan(pairs) for match in self._season.matches(plan)]
        return []
