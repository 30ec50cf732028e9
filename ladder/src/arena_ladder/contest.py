"""Plays the matches of a ladder as long as the ladder is open, and handles workers, suspensions and ratings.

A season is the time between two changes of the agents in play. A plan consists of the pairs of games that are chosen at one time.
"""

import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

from arena import Record, SpecError
from arena.api.cli import say
from arena.api.errors import StoreFull
from arena.api.match import FAULTS
from arena.api.results import figures
from arena.api.run import Batch, CurrentTurn, Scheduled, WorkerPool
from arena.api.store import Store
from arena.clock import monotonic, wall_time
from arena_cluster.engine import ClusterError
from arena_cluster.players import ClusterPlayers
from arena_isolation.agent_pool import NOT_STARTED_AGAIN
from arena_isolation.agent_process import HELLO, LOADING, START
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.feedback import NightReview
from arena_ladder.ledger import CoursePoint, Ledger, find_deadline
from arena_ladder.mark_book import AttemptBook, MarkBook
from arena_ladder.matchmaking import (
    PAIRS_AHEAD,
    BoardStandings,
    Measure,
    PositionSchedule,
    list_attempts,
    pairs_to_meet,
    plan_size,
    rank_solvers,
    standings,
)
from arena_ladder.season import Entrant, Season, begin_season, entry_faults
from arena_ladder.spec import LadderSpec
from arena_ladder.submissions import ENDED, Starts, Submission
from arena_ladder.turns import Side, Turns, Visit
from arena_web.errors import Refusal

FAULTS_IN_ROW = 5
"""The number of consecutive matches lost by faults after which a submission is suspended."""
MAX_RECENT_FAULTS, RECENT_MATCHES = 10, 100
"""A submission is also suspended after more than 10 faults in its last 100 matches."""
MAX_SILENT_STARTS = 2
"""A submission is also suspended after this many starts in a row that it has not answered, because every such start holds up a
worker.
"""
LATE_START_SECONDS = 1.0
"""A start that takes longer than this is late. Meanwhile, no other worker plays with the submission."""
SILENT = ""
"""The group of the submissions that did not answer at their last start."""
START_FACTOR, MIN_START_SECONDS = 4 / 3, 3.0
"""A submission that has answered starts gets this multiple of its longest start for a new one, and at least this many seconds,
because the machine may be busy. It never gets more than `limits.start_seconds`.
"""
UNSOLVED = frozenset({"timeout", "memory"})
"""Faults for which a solver of puzzles is not suspended. A position that is too hard for a solver only counts as unsolved."""
MAX_VOIDS = 3
"""If this many consecutive pairs of matches between two agents are void (have no result), the two agents are not paired again in
this season.
"""
LOOK_SECONDS = 0.5
"""Seconds between two checks for changes by other processes."""
FULL_DISK_SECONDS = 2.0
"""Seconds between two attempts to write when the disk is full."""
CLUSTER_AWAY_SECONDS = 5.0
"""Seconds between two attempts to reach a cluster after the connection was lost."""

START_SECONDS = 1.0
"""The number of seconds after which a client should ask again if the standings are not available yet."""
TREND_POINTS = 40
"""The number of ratings that a page shows as the trend of an agent."""


@dataclass(slots=True)
class Contest:
    """The current state of the contest. The thread that plays the contest writes it, and pages read it from other threads."""

    standings: Sequence[BoardStandings] = ()
    state: str = "starting"
    """`playing`, `checking`, `reviewing`, `idle`, `final`, `paused`, `over`, or a sentence that names what prevents play."""
    matches: int = 0
    """The number of matches played since the process started."""
    voids: int = 0
    positions: int | None = None
    """The number of hidden positions that every agent attempts now; None for a game of two seats."""
    version: int = 0
    """A number that grows with every change."""
    courses: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    """The latest ratings by board and agent."""

    @property
    def ended(self) -> bool:
        """True if no more submissions are accepted and nothing is left to play."""
        return self.state in ("final", "over")

    def trend(self, board: str, agent: str) -> list[float]:
        """Return the latest ratings of an agent on a board, the newest one last."""
        return list(self.courses.get((board, agent), ()))


def check_known(boards: Sequence[BoardStandings]) -> None:
    """Raise Refusal 503 if the standings are not available yet, which is normal in the first seconds after a start."""
    if not boards:
        raise Refusal(503, "the standings are not available yet", "ask again in a second", START_SECONDS)


FOLDERS = re.compile(r"(?<![\w./:])/(?:[^/\n:;]+/)+")
"""The folders of an absolute path, whose names may have spaces."""
NO_WORKER = "paused: the cluster has no workers"
"""The state while matches wait for a worker to join the cluster."""


MAX_SEASONS = 5
SEASONS_SECONDS = 25.0
"""The number of seconds in which at most MAX_SEASONS seasons begin, because each new season drops the matches in progress."""


NOT_SET_UP = "it can no longer be loaded"
"""The first words of the reason if a submission is suspended at the start of a season."""


class Closing(Exception):
    """Ends the iteration over a pool because the ladder is closing, or the turn of the contest is over."""


def _is_unanswered(record: Record) -> bool:
    """Return True if the agent to move did not answer at its start."""
    return record.termination == "timeout" and (record.message or "").startswith((HELLO, START, LOADING))


def _is_repeated(record: Record) -> bool:
    """Return True if the agent to move was not started, because it had not answered at its start in an earlier match."""
    return _is_unanswered(record) and (record.message or "").endswith(NOT_STARTED_AGAIN)


class ContestRunner:
    """Plays a ladder until it is stopped. All decisions depend only on the store, so a ladder that is restarted continues as
    before.
    """

    def __init__(
        self,
        ladder: LadderSpec,
        store: Store,
        ledger: Ledger,
        folder: CodeFolder,
        workers: int | ClusterPlayers,
        turns: Turns | None = None,
    ) -> None:
        self._ladder, self._store, self._ledger, self._folder, self._workers = ladder, store, ledger, folder, workers
        self.turns = turns or Turns(None)
        """No hidden position is attempted during a check, or during matches of another ladder whose output authors can read."""
        self._side = Side.OPEN if ladder.solvers is None else Side.HIDDEN
        self._visit: Visit | None = None
        """The turn of this contest; None while it waits for its turn or has nothing to play."""
        self._rests_until = -inf
        """The time until which others go first, because a match of this contest has overrun its turn."""
        self._yielded = False
        self._dropped: set[int] = set()
        """The numbers of the matches that were dropped at the end of a turn, and have not been played again."""
        self.contest = Contest()
        self.stopping = threading.Event()
        self._waiting = threading.Event()
        self._playing: dict[str, Submission] = {}
        self._seasons: deque[float] = deque(maxlen=MAX_SEASONS)
        """The start times of the latest seasons."""
        self._suspended: set[str] = set()
        """The submissions that were suspended since the current season began. The standings leave them out."""
        self._faults: dict[str, int] = {}
        """The number of matches in a row that each submission in play has lost by faults."""
        self._night = NightReview(ladder, ledger, workers if isinstance(workers, int) else 1, self.stopping)
        self._schedule: PositionSchedule | None = None
        """The schedule for adding hidden positions; None for a game of two seats."""
        self._recent: dict[str, deque[bool]] = {}
        """For each submission, one flag for each of its last matches; a flag is true if the match was lost by a fault."""
        self._starts = ledger.starts()
        """How submissions have answered at their starts, by label."""

    def stop(self) -> None:
        """Request the end. Matches in progress are dropped, but their plans are kept."""
        self.stopping.set()
        self._waiting.set()

    def wake(self) -> None:
        """Make the contest check for changes at once."""
        self._waiting.set()

    def play(self) -> None:
        """Play until `stop` is called. Raises ArenaError for problems that only an admin can solve."""
        over = False
        try:
            while not over and not self.stopping.is_set():
                try:
                    self._store.flush()
                    over = self._go_on()
                except StoreFull as error:  # a new season plays all matches that have no record yet
                    self._leave_turn()
                    self._tell(f"paused: {error}")
                    self.stopping.wait(FULL_DISK_SECONDS)
                except ClusterError as error:  # here, too, a new season plays the matches without a record
                    self._await_cluster(error)
        finally:
            self._leave_turn()
        self._tell("over" if over else "stopped")

    def _await_turn(self, plans: "SeasonPlans") -> bool:
        """Wait until this contest may play. Return False if the ladder is closing."""
        self._dropped &= plans.numbers()  # the others have been played, or their agents have left play
        while self._visit is None:
            if self.stopping.is_set():
                return False
            if monotonic() >= self._rests_until:
                self._visit = self.turns.enter(self._side, late=not self._dropped)
            if self._visit is None:
                if self.contest.state != "checking":
                    self._tell("checking")
                self.stopping.wait(LOOK_SECONDS)
        return True

    def _leave_turn(self) -> None:
        if self._visit is not None:
            self._rests_until = self._visit.leave()
            self._visit = None

    def _yields(self) -> bool:
        """Return True if the turn of this contest is over."""
        over = self._visit is not None and self._visit.is_over()
        self._yielded |= over
        return over

    def _go_on(self) -> bool:
        """Play until something changes. When nothing is left to play, wait for a change. Return True if the ladder has ended."""
        changes = self._ledger.changes()
        if self._ledger.setting("over") is not None:
            self._ledger.turn_away(ENDED)
            season = self._season()
            self._schedule = PositionSchedule.load(self._ladder, self._store, self._ledger)
            self._rate(season)
            self._store.end()  # this reveals the seed
            return True
        self._seasons.append(monotonic())
        season = self._season()
        schedule = self._schedule = PositionSchedule.load(self._ladder, self._store, self._ledger)
        self._rate(season)
        if self._night.is_requested():
            self._leave_turn()
            self._tell("reviewing")
            self._night.run()
        if self._ledger.setting("paused") == "yes":
            self._rest("paused", changes)
            return False
        if wall_time() >= self._ladder.ends:
            self._rest("final", changes)
            return False
        goes_on, rate = partial(self._goes_on, changes), partial(self._rate, season)
        marks = None if self._ladder.marks is None else MarkBook.load(self._ladder.marks, self._store, self._ledger)
        guests, now = frozenset(self._playing), wall_time()
        if schedule is None:
            plans = SeasonPlans(season, self._ledger, goes_on, rate, guests, marks, rates=self._ladder.rates)
        else:
            plans = AttemptPlans(season, self._ledger, goes_on, rate, guests, marks, rates=self._ladder.rates)
            plans.schedule = schedule
        plans.groups, plans.yields = self._groups, self._yields
        if self.turns.keep_apart and isinstance(self._workers, int):
            plans.most_at_once = self._workers
        self._yielded = False
        if not self.turns.keep_apart or plans.has_match():
            if not self._await_turn(plans) or not self._goes_on(changes):
                return False  # the next season has the agents that have passed their checks meanwhile, and this turn
            try:
                self._play_season(season, plans)
            finally:
                self._leave_turn()
        if self._goes_on(changes) and not self._yielded:
            self._rate(season)  # the last results may have suspended an agent, and the next season may begin much later
            self._rest("idle", changes, inf if schedule is None else schedule.next_change(now))
        return False

    def _goes_on(self, changes: int, *, idle: bool = False, late: bool = False) -> bool:
        """Return True if the season continues, because nothing has changed or because the change has to wait: too many seasons
        have begun recently, or a worker waits for a `late` start. In an `idle` season no match is in progress, so a change does
        not wait.
        """
        if self.stopping.is_set() or wall_time() >= self._ladder.ends or self._night.is_due():
            return False
        if self._ledger.changes() == changes:
            return True
        crowded = not idle and len(self._seasons) == MAX_SEASONS and monotonic() < self._seasons[0] + SEASONS_SECONDS
        return (crowded or late) and self._ledger.setting("paused") != "yes" and self._ledger.setting("over") is None

    def _season(self) -> Season:
        """Start a season with all submissions in play. Their processes are not started, because the necessary facts are stored.
        Submissions that cannot be set up are suspended.
        """
        while True:
            playing, entrants = self._lay_out()
            try:
                return begin_season(self._ladder, self._store, entrants, self._ledger.banned())
            except SpecError as error:
                faulty = entry_faults(error, self._ladder.spec)
                if not faulty:
                    raise
                for place, message in faulty.items():
                    self._suspend(playing[place].label, f"{NOT_SET_UP}: {message}")

    def _suspend(self, label: str, reason: str) -> None:
        """Take a submission out of the standings and out of play. The author can read the reason. It refers to files by the names
        that the author used.
        """
        self._suspended.add(label)
        self.contest.standings = [self._without_suspended(one) for one in self.contest.standings]
        self._ledger.suspend(label, self._folder.as_handed_in(self._playing.pop(label), reason))
        self._faults.pop(label, None)
        self._recent.pop(label, None)
        self._starts.pop(label, None)

    def _lay_out(self) -> tuple[list[Submission], list[Entrant]]:
        """Return the submissions in play and their entries. Submissions that cannot be unpacked under the current spec are
        suspended.
        """
        if surplus := self._ledger.make_room(self._ladder.room):
            name, most = self._ladder.spec.name, self._ladder.room
            say(f"note: {name}: at most {most:,} submissions can be in play; the oldest {surplus:,} of them were suspended")
        playing, entries = self._ledger.in_play(), []
        self._playing = {one.label: one for one in playing}
        self._suspended.clear()
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
        starts, check = self._start_seconds, partial(self._check, plans)
        if isinstance(self._workers, ClusterPlayers):
            plans.turns = self._workers.turns
            matches = self._workers.play(season.spec, code, plans.take, plans.waiting, check, starts)
        else:
            pool = WorkerPool(season.spec, self._workers, plans.take, check=check, code=code, start_seconds=starts)
            plans.turns = pool.turns
            matches = pool.play()
        with suppress(Closing), closing(matches):  # type: ignore[type-var]  # it is a generator
            for scheduled, record in matches:
                self._store.add(scheduled, record)
                self._store.flush()
                plans.finished(scheduled, record)
                self.contest.matches += 1
                self.contest.voids += record.termination == "void"
                self._judge(record)

    def _check(self, plans: "SeasonPlans") -> None:
        if self.stopping.is_set():
            raise Closing
        if self._visit is not None and self._visit.must_end():
            self._yielded = True
            begun = plans.numbers(begun=True)
            if self._side is Side.HIDDEN and begun & self._dropped:
                self.turns.lengthen()
            self._dropped |= begun
            raise Closing
        state = NO_WORKER if isinstance(self._workers, ClusterPlayers) and self._workers.alone else "playing"
        if self.contest.state != state:
            self._tell(state)

    def _await_cluster(self, error: ClusterError) -> None:
        """Wait for a cluster that is lost or has only refused nodes. It may be repaired, or other nodes may join."""
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
        solves = self._ladder.solvers is not None
        told = record.termination if solves else ", ".join(filter(None, (record.termination, record.message)))
        for seat, label in enumerate(record.labels):  # `told` contains no message of a solver: it could reveal a position
            if label not in self._faults or record.termination == "void" or (record.seat == seat and _is_repeated(record)):
                continue
            if self._count_start(label, record, seat) >= MAX_SILENT_STARTS:
                self._suspend(label, f"it did not respond when it was started, {MAX_SILENT_STARTS} times in a row")
                continue
            at_fault = record.termination in (FAULTS - UNSOLVED if solves else FAULTS) and record.seat == seat
            faults = self._faults[label] + 1 if at_fault else 0
            if faults != self._faults[label]:
                self._ledger.count_faults(label, faults)
                self._faults[label] = faults
            if faults >= FAULTS_IN_ROW:
                self._suspend(
                    label,
                    f"it lost {figures.amount(faults, 'match')} in a row through its own fault; the last time: {told}",
                )
                continue
            recent = self._recent.setdefault(label, deque(maxlen=RECENT_MATCHES))
            recent.append(at_fault)
            if sum(recent) > MAX_RECENT_FAULTS:
                often = f"{sum(recent)} of its last {len(recent)} matches"
                self._suspend(label, f"it lost {often} through its own fault; the last time: {told}")

    def _count_start(self, label: str, record: Record, seat: int) -> int:
        """Record how a submission answered at its start of a match. Return the number of starts that it has not
        answered since its last answer.
        """
        before = found = self._starts.get(label, Starts())
        seconds = (record.timing or {}).get("start", {seat: None})[seat]
        if record.seat == seat and _is_unanswered(record):
            found = found._replace(unanswered=found.unanswered + 1)
        elif seconds is not None:  # otherwise the match ended before this start
            found = Starts(0, max(found.longest, seconds))
        if found != before:
            self._starts[label] = found
            self._ledger.keep_starts(label, found)
        return found.unanswered

    def _groups(self) -> Mapping[str, str]:
        """Return the submissions in play that may not answer at their next start, each with its group: a submission that has not
        begun a match is alone, and those that did not answer at their last start are one group.
        """
        known = {label: self._starts.get(label) for label in self._playing}
        return {label: label if one is None else SILENT for label, one in known.items() if one is None or one.unanswered}

    def _start_seconds(self) -> Mapping[str, float]:
        """Return the seconds for a new start of each submission that has answered starts."""
        longest = {label: starts.longest for label, starts in self._starts.items() if starts.longest}
        return {label: max(MIN_START_SECONDS, START_FACTOR * seconds) for label, seconds in longest.items()}

    def _rate(self, season: Season) -> Sequence[BoardStandings]:
        """Compute the standings of all boards, store what has changed, and return them."""
        boards = range(len(season.spec.boards))
        before = {(one.title, row["agent"]): Measure.of(row).matches for one in self.contest.standings for row in one.rows}
        now = wall_time()
        if self._schedule is not None:
            self.contest.positions = self._schedule.count(now)
            found = [rank_solvers(season, board, self.contest.positions) for board in boards]
        else:
            interval = self._ladder.interval if self._ladder.rates else inf
            found = [standings(season, board, interval, self._ladder.anchor) for board in boards]
        found = [self._without_suspended(one) for one in found]
        points = []
        for board, one in enumerate(found):
            for row in one.rows:
                matches, value, low, high = Measure.of(row)
                course = self.contest.courses.setdefault((one.title, row["agent"]), deque(maxlen=TREND_POINTS))
                if value is not None and (not course or course[-1] != value):
                    course.append(value)
                if value is not None and before.get((one.title, row["agent"])) not in (None, matches):
                    points.append((row["agent"], CoursePoint(now, board, matches, value, low, high)))
        self._ledger.keep_ratings(points)
        self.contest.standings = found
        self._tell("playing")
        return found

    def _without_suspended(self, found: BoardStandings) -> BoardStandings:
        """Return the standings of a board without the agents that were suspended since the season began."""
        return replace(found, rows=tuple([row for row in found.rows if row["agent"] not in self._suspended]))

    def _rest(self, state: str, changes: int, until: float = inf) -> None:
        """Wait for a change, at most until the time `until`. A contest that is idle becomes final when no more submissions are
        taken.
        """
        self._leave_turn()
        self._tell(state)
        at_once = state != "idle"  # then a command of an admin takes effect at once
        last = find_deadline(self._ladder.submissions, self._ledger)
        closes = inf if last is None else last.timestamp()
        while not self.stopping.is_set() and (
            self._ledger.changes() == changes if at_once else self._goes_on(changes, idle=True)
        ):
            if self._night.is_due() or wall_time() > until:
                return
            if self.contest.state == "idle" and wall_time() > closes and not self._ledger.is_checking():
                self._tell("final")
            self._waiting.wait(LOOK_SECONDS)
            self._waiting.clear()

    def _tell(self, state: str) -> None:
        self.contest.state = drop_folders(state)
        self.contest.version += 1


def drop_folders(text: str) -> str:
    """Return a text in which only the last part of each absolute path is left, because everybody reads the state of a ladder."""
    return FOLDERS.sub("", text)


def _find_group(labels: Collection[str], groups: Mapping[str, str]) -> set[str]:
    """Return the agents that are in the same group as one of `labels`."""
    found = {groups[label] for label in labels if label in groups}
    return {label for label, group in groups.items() if group in found}


class SeasonPlans:
    """Hands out the matches of a season: first the matches that an earlier process did not play, then one plan after another.

    Only one thread may use it. `goes_on` is called before every plan, with `late=True` if a worker waits for a late start. If it
    returns False, the season ends. `rate` returns the standings of all boards. `guests` are the labels of the submissions that
    are in play when the season begins. Matches that decide `marks` come first; if `rates` is true, matches that narrow the
    intervals follow.
    """

    def __init__(
        self,
        season: Season,
        ledger: Ledger,
        goes_on: Callable[..., bool],
        rate: Callable[[], Sequence[BoardStandings]],
        guests: frozenset[str],
        marks: MarkBook | None = None,
        *,
        rates: bool = True,
    ) -> None:
        self._marks, self._rates = marks, rates
        self._season, self._ledger, self._goes_on, self._rate, self._guests = season, ledger, goes_on, rate, guests
        planned = [match for plan in ledger.plans() for match in season.matches(plan)]
        self._waiting = [match for match in planned if match.number not in season.known]
        """The matches without a record."""
        self._untold: dict[int, frozenset[str]] = {}
        """The labels in each match that was handed out and has not ended, by its number."""
        self._learned = True
        """Whether a match has ended since the last plan was made."""
        self._late: set[int] = set()
        """The numbers of the matches with a late start when the last plan was made."""
        self._void: Counter[tuple[int, tuple[int, int]]] = Counter()
        self._turn = 0
        self._changes = -1
        """The change counter of the ledger when the submissions in play were last read."""
        self._gone: frozenset[str] = frozenset()
        """The labels of the submissions that have left play since the season began."""
        self.turns: Callable[[], Sequence[CurrentTurn]] = tuple
        self.groups: Callable[[], Mapping[str, str]] = dict
        """A function that returns the labels of agents that may not answer at their next start, each with the name of a group.
        One match at a time is played with the agents of a group.
        """
        self.yields: Callable[[], bool] = lambda: False
        """A function that returns True if the turn of the contest is over, so that no match is handed out any more."""
        self.most_at_once: int | None = None
        """The number of workers, if turns must end soon. Then each worker has one match at a time, because it would play all that
        it has after the end of the turn. Without turns, workers get many matches at once, which is faster.
        """
        self._starting: dict[tuple[int, int], float] = {}
        """The times since which workers wait for a start, by match and seat."""

    def take(self, size: int) -> Batch:
        """Return up to `size` matches. If there are none, return Batch.WAIT while matches of a plan are in progress, and
        Batch.OVER if nothing is left to play.

        If an agent has left play, its waiting matches are dropped. Later seasons do not play them either. The matches of an agent
        whose start is late are held back, and a plan may follow that has only other agents.
        """
        if self.yields():
            return Batch.WAIT if self._untold else Batch.OVER
        if self.most_at_once is not None:
            if len(self._untold) >= self.most_at_once:
                return Batch.WAIT
            size = 1
        self._drop_gone()
        late, groups = self._find_late(), self.groups()
        held = {*late.values(), *([label for label, group in groups.items() if group == SILENT] if late else [])}
        for number, labels in self._untold.items():
            if number not in late:
                held |= _find_group(labels, groups)
        batch = self._pick(size, held, groups)
        stalled = self._untold.keys() <= late.keys() and (self._learned or late.keys() != self._late)
        if not batch and (stalled or not self._untold) and self._goes_on(late=bool(late)):
            self._waiting += self._next(self._gone | held)
            self._learned, self._late = False, set(late)
            batch = self._pick(size, held, groups)
        if not batch:
            return Batch.WAIT if self._untold else Batch.OVER
        return Batch(batch)

    def has_match(self) -> bool:
        """Return True if `take` would return a match. Call this only before the first match."""
        batch = self.take(1)
        for match in batch:
            del self._untold[match.number]
            self._waiting.insert(0, match)
        return bool(batch)

    def _find_late(self) -> dict[int, str]:
        """Return the agents for whose start a worker has waited long; the keys are the numbers of the matches."""
        now = monotonic()
        turns = {(turn.scheduled.number, turn.seat): turn.scheduled for turn in self.turns() if turn.starting}
        self._starting = {key: self._starting.get(key, now) for key in turns}
        late = [key for key, since in self._starting.items() if now - since >= LATE_START_SECONDS]
        return {number: self._label(turns[number, seat], seat) for number, seat in late}

    def _pick(self, size: int, held: Collection[str], groups: Mapping[str, str]) -> list[Scheduled]:
        """Hand out up to `size` waiting matches without the agents in `held`, at most one for each of the `groups`."""
        picked: list[Scheduled] = []
        left: list[Scheduled] = []
        for match in self._waiting:
            labels = self._labels(match)
            if len(picked) == size or not labels.isdisjoint(held):
                left.append(match)
                continue
            picked.append(match)
            held = {*held, *_find_group(labels, groups)}
            self._untold[match.number] = labels
        self._waiting = left
        return picked

    def _labels(self, match: Scheduled) -> frozenset[str]:
        return frozenset([self._label(match, seat) for seat in range(len(match.pairing.seats))])

    def _label(self, match: Scheduled, seat: int) -> str:
        return self._season.labels(match.board)[match.pairing.seats[seat]]

    def waiting(self) -> int:
        """Return the number of matches in this plan that have not been handed out."""
        return len(self._waiting)

    def numbers(self, *, begun: bool = False) -> set[int]:
        """Return the numbers of the matches that were handed out and have not ended and, unless `begun`, of those that wait."""
        return {*self._untold, *([] if begun else [match.number for match in self._waiting])}

    def finished(self, scheduled: Scheduled, record: Record) -> None:
        """Count the record of a match that has ended."""
        self._untold.pop(scheduled.number, None)
        self._learned = True
        self._season.add(scheduled, record)
        if self._marks is not None:
            labels = self._season.labels(scheduled.board)
            self._marks.take([labels[seat] for seat in scheduled.pairing.seats], scheduled.pairing.round, record)
        low, high = min(scheduled.pairing.seats), max(scheduled.pairing.seats)
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
        self._waiting = [match for match in self._waiting if self._gone.isdisjoint(self._labels(match))]

    def _next(self, away: Collection[str]) -> list[Scheduled]:
        """Return the matches of the next plan, for the next board on which something is left to learn. Agents with a label in
        `away` are left out.
        """
        found = self._rate()
        if self._marks is not None:
            labels = self._season.labels(0)
            void = [frozenset((labels[one], labels[other])) for (_, (one, other)), n in self._void.items() if n >= 2 * MAX_VOIDS]
            if pairs := self._marks.pairs(plan_size(self._season.playing(0)), away, void):
                return self._plan(pairs)
        for step in range(len(found) if self._rates else 0):
            board = (self._turn + step) % len(found)
            barred = [pair for (on, pair), count in self._void.items() if on == board and count >= 2 * MAX_VOIDS]
            pairs = pairs_to_meet(self._season, board, found[board], barred, away)
            if pairs:
                self._turn = board + 1
                return self._plan(pairs)
        return []

    def _plan(self, pairs: Iterable[tuple[int, str, str]]) -> list[Scheduled]:
        """Store the plans of the next pairs, and return their matches."""
        return [match for plan in self._ledger.plan(pairs, self._season.dealt) for match in self._season.matches(plan)]


class AttemptPlans(SeasonPlans):
    """Hands out attempts to solve hidden positions: first the attempts that decide marks, then those of agents with few
    attempts.
    """

    schedule: PositionSchedule

    def _next(self, away: Collection[str]) -> list[Scheduled]:
        """Return the attempts of the next plan, for the next board on which an agent has to attempt more positions. Agents with a
        label in `away` are left out.
        """
        found, now = self._rate(), wall_time()
        size = len(self._season.playing(0)) + PAIRS_AHEAD
        if isinstance(self._marks, AttemptBook):
            self._marks.positions = self.schedule.count_for_marks(now)
            if pairs := self._marks.pairs(size, away):
                return self._plan(pairs)
        for step in range(len(found) if self._rates else 0):
            board = (self._turn + step) % len(found)
            labels = [self._season.labels(board)[entry] for entry in self._season.playing(board)]
            chosen = list_attempts(labels, self._ledger.attempts(board), self.schedule.count(now), size, away)
            if chosen:
                self._turn = board + 1
                return self._plan([(board, label, label) for label in chosen])
        return []
