"""The coordinator. It divides a schedule among the nodes of a cluster and passes on the matches that they have played."""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from math import inf
from secrets import token_hex

from arena import Record, Spec
from arena.api.errors import escape_line
from arena.api.run import Backlog, Batch, CurrentTurn, MatchRunner, Scheduled
from arena.clock import monotonic
from arena_cluster import wire
from arena_cluster.engine import ClusterError, Engine, Order, Reply

POLL_SECONDS = 0.25
"""Seconds between two checks for nodes that have joined or left."""
MAX_REASON_CHARACTERS = 600
"""The maximum length, in characters, of the reason that a node gives for a refusal."""
ALONE_NOTICE_SECONDS = 5.0
"""The number of seconds without a node after which a notice is printed."""
MAX_LOST_ORDERS = 10
"""A node is refused after this many lost orders in a row, multiplied by the number of its threads. (An order is a job that was
sent to a node.)
"""
OVERDUE_SECONDS = 60.0
"""An order that takes longer than this, and far longer than usual, is also given to an idle node."""
OVERDUE_FACTOR = 10
"""An order is overdue if it takes more than this multiple of the usual time for its matches."""
JOB_SECONDS = 1.0
"""The target duration of a job in seconds. It is long compared with the overhead of Dask (about 2 ms per task) and short compared
with the run.
"""
MAX_JOB_MATCHES = 5000
"""Maximum number of matches in a job."""
QUICK_SECONDS = 5.0
"""A job that takes longer than this is not queued at a busy node, because another node may become idle first."""
MAX_NODES_LOST = 2
"""A match is given up if this many nodes were lost while they played it."""
ORDERS_AHEAD_PER_THREAD = 2
"""The number of orders for each thread of a node: one in progress and one waiting, so that the node is never idle."""

Finished = tuple[Scheduled, Record]
Say = Callable[[str], object]


@dataclass(slots=True, eq=False)
class Job:
    """Matches that are sent to a node together."""

    matches: list[Scheduled]
    lost: int = 0
    """The number of nodes that were lost while they played this job."""
    orders: set[str] = field(default_factory=set)
    """The keys of its current orders: usually one, and two if the first one is long overdue."""


@dataclass(slots=True)
class Pace:
    """The average time of a match so far. It determines the size of a job."""

    seconds: float | None = None
    """The average time of recent matches; None before the first match."""
    size: int = 1

    def note(self, matches: int, seconds: float) -> None:
        """Add the time that some matches took."""
        latest = max(seconds, 1e-6) / matches
        self.seconds = latest if self.seconds is None else 0.7 * self.seconds + 0.3 * latest
        self.size = max(1, min(MAX_JOB_MATCHES, self.size * 2, int(JOB_SECONDS / self.seconds)))

    @property
    def quick(self) -> bool:
        """True if jobs are so short that the next one may wait at a node while the node still plays."""
        return self.seconds is not None and self.seconds * self.size <= QUICK_SECONDS


class JobQueue:
    """Divides the waiting matches into jobs. For each job, it knows how many nodes were lost while they played it."""

    def __init__(self, take: Callable[[int], Batch], total: int | None) -> None:
        self.pace = Pace()
        self._backlog = Backlog(take, total)
        self._suspects: deque[Job] = deque()

    def next(self, threads: int) -> Job | None:
        """Return the next job for a node with this many threads; None if there is nothing to play at the moment."""
        if self._suspects:
            return self._suspects.popleft()
        matches = self._backlog.share(self.pace.size, threads)
        return Job(matches) if matches else None

    def put_back(self, job: Job) -> None:
        """Take back a job that no node has begun to play."""
        if job.lost:
            self._suspects.append(job)
        else:
            self._backlog.put_back(job.matches)

    def lost(self, job: Job) -> Scheduled | None:
        """Take back a job after its node was lost while it played. If two nodes have now been lost while they played the
        same match, return this match.

        If the job has several matches, it is unknown which of them was being played, so each is played alone from now on.
        """
        if len(job.matches) == 1 and job.lost + 1 >= MAX_NODES_LOST:
            return job.matches[0]
        self._suspects.extend([Job([one], job.lost + 1) for one in job.matches])
        return None

    def any_left(self) -> bool:
        """Return True if there is something to play now. To find out, a match may be taken from the schedule."""
        return bool(self._suspects) or self._backlog.any_left()

    @property
    def over(self) -> bool:
        """True if the schedule has no more matches, not counting matches that have to be repeated."""
        return self._backlog.over


@dataclass(slots=True, eq=False)
class Sent:
    """An order that was sent to a node."""

    job: Job
    ids: Sequence[str]
    node: str
    told: bool
    """True if the parcel (the description of the tournament) was sent with it."""
    since: float = field(default_factory=monotonic)

    def __str__(self) -> str:
        count = len(self.job.matches)
        return (
            f"{self.node} has been playing {'a match' if count == 1 else f'{count:,} matches'} for "
            f"{monotonic() - self.since:.0f} s"
        )


@dataclass(slots=True, eq=False)
class NodeState:
    """A node, and the orders that were sent to it."""

    threads: int
    orders: dict[str, Sent] = field(default_factory=dict)
    """The orders by key, in the order in which the node plays them."""
    lost: int = 0
    """The number of orders in a row that were lost on the way."""


class Coordinator:
    """Plays the matches of a spec on the nodes of an engine.

    `parcel` contains the spec. `take` and `total` come from the schedule, as in `WorkerPool`. Code that iterates over `play` must
    report each result to the schedule before it requests the next one. No match is recorded twice. Only the reply to a current
    order counts, and if a match is in two orders, the first reply counts. If nothing else is left to play and an order is long
    overdue, an idle node gets the matches of this order in a second order (the backup tasks of Dean and Ghemawat, MapReduce, OSDI
    2004).

    If a node is lost, all its orders are sent to other nodes. A match that the node was playing is tried once more. If a second
    node is lost while it plays this match, the match ends. With a single agent, it is recorded as a `crash` of this agent; with
    several agents, it is void, because it is unknown which agent was to move. (If an agent crashes the process in which it plays,
    the node detects this and is not lost.)

    A node is refused if any of its versions differs, or if it sends an invalid record. `say` is called with the reason, and the
    node gets no more orders. ClusterError is raised if no node is left. Apart from that, nodes are trusted: no match is played a
    second time to verify it.

    `check` is called about every POLL_SECONDS. An exception from it ends the iteration. `start_seconds` is called for each order;
    see `WorkerPool`.
    """

    def __init__(
        self,
        spec: Spec,
        parcel: bytes,
        engine: Engine,
        take: Callable[[int], Batch],
        say: Say,
        *,
        total: int | None = None,
        check: Callable[[], None] = lambda: None,
        start_seconds: Callable[[], Mapping[str, float]] = dict,
    ) -> None:
        self._spec = spec
        self._engine = engine
        self._say = say
        self._run = token_hex(8)
        self._parcel = parcel
        self._reader = wire.Reader(spec)
        self._check = check
        self._start_seconds = start_seconds
        self._jobs = JobQueue(take, total)
        self._nodes: dict[str, NodeState] = {}
        self._room: dict[str, None] = {}
        """The nodes that can take more orders, with the node that has waited longest first."""
        self._out: dict[str, Sent] = {}
        self._refused: dict[str, str] = {}
        self.threads = 0
        """The number of matches that all nodes together can play at the same time."""
        self.alone = False
        """True if there has been no node for some time."""
        self._number = 0
        self._alone_since: float | None = monotonic()
        self._heard = monotonic()
        """The time of the last reply; infinite after the notice that there are no replies."""

    def play(self) -> Generator[Finished, None, None]:
        """Yield every match with its record when the record arrives, in no particular order. Only one thread may iterate.

        Closing the iterator cancels all current orders and makes the nodes forget the tournament. Raises ClusterLost if the
        cluster is gone.
        """
        try:
            while True:
                self._check()
                for change in self._engine.changes():
                    yield from self._part_from(change.node, leave=change.leave)
                    self._refused.pop(change.node, None)  # a node that joins again may be a different one
                    if change.threads:
                        self._nodes[change.node] = NodeState(change.threads)
                        self.threads += change.threads
                        self._room[change.node] = None
                self._hand_out()
                if not self._out and not self._jobs.any_left():
                    if not self._jobs.over:
                        raise RuntimeError("the schedule waits for results; report each result before you ask for the next match")
                    break
                for reply in self._engine.replies(POLL_SECONDS):
                    self._heard = monotonic()
                    yield from self._take_in(reply)
                self._look_around()
        finally:
            self._engine.close(self._run)

    def staff(self) -> str:
        """Return the number of workers and of their threads as text. It may be called from any thread."""
        workers, threads = len(self._nodes), self.threads
        found = "no worker" if not workers else "1 worker" if workers == 1 else f"{workers:,} workers"
        return found if threads == workers else f"{found} of {threads:,} threads"

    def turns(self) -> Sequence[CurrentTurn]:
        """Return the starts for which nodes have waited for some time. Nodes do not report other decisions in progress."""
        found = []
        for key, start in self._engine.slow_starts().items():
            sent = self._out.get(key)
            matches = [] if sent is None else [match for match in sent.job.matches if match.number == start.number]
            found += [
                CurrentTurn(match, start.seat, 1, starting=True) for match in matches if start.seat < len(match.pairing.seats)
            ]
        return found

    # Orders

    def _hand_out(self) -> None:
        """Send jobs to nodes as long as there are jobs and nodes with room."""
        while self._room:
            node = next(iter(self._room))
            del self._room[node]
            state = self._nodes[node]
            if len(state.orders) >= state.threads * (ORDERS_AHEAD_PER_THREAD if self._jobs.pace.quick else 1):
                continue
            job = self._jobs.next(self.threads)
            self._room[node] = None
            if job is None:
                break
            self._send(job, node, told=False)
        for node in [node for node in self._room if not self._nodes[node].orders]:  # nothing else is left to play
            late = self._find_overdue(node)
            if late is not None:
                self._say(f"{late}; {node} plays the overdue matches as well")
                self._send(late.job, node, told=False)

    def _find_overdue(self, node: str | None) -> Sent | None:
        """Return the oldest order at another node that is long overdue and has no second order."""
        now = monotonic()
        for sent in self._out.values():
            if now - sent.since < OVERDUE_SECONDS:
                return None
            usual = (self._jobs.pace.seconds or 0.0) * len(sent.job.matches)
            if len(sent.job.orders) == 1 and sent.node != node and now - sent.since > OVERDUE_FACTOR * usual:
                return sent
        return None

    def _send(self, job: Job, node: str, *, told: bool) -> None:
        ids = self._reader.identities(job.matches)
        self._number += 1
        key = f"arena-{blake2b(' '.join([self._run, str(self._number), *ids]).encode(), digest_size=16).hexdigest()}"
        self._out[key] = self._nodes[node].orders[key] = Sent(job, ids, node, told)
        job.orders.add(key)
        self._engine.send(Order(key, self._run, job.matches, self._parcel if told else None, self._start_seconds()), node)

    # Replies

    def _take_in(self, reply: Reply) -> Iterator[Finished]:
        sent = self._out.pop(reply.key, None)
        if sent is None:
            return
        state = self._nodes[sent.node]
        del state.orders[reply.key]
        sent.job.orders.discard(reply.key)
        self._room[sent.node] = None
        if reply.killed:
            yield from self._blame(sent)
        elif reply.body is None:
            self._put_back(sent.job)
            state.lost += 1
            if reply.failed is not None:
                self._refuse(sent.node, escape_line(reply.failed)[:MAX_REASON_CHARACTERS])
            elif state.lost >= MAX_LOST_ORDERS * state.threads:
                self._refuse(sent.node, f"{state.lost} answers in a row could not be read")
        else:
            state.lost = 0
            yield from self._read(reply.body, sent)

    def _read(self, body: bytes, sent: Sent) -> Iterator[Finished]:
        try:
            answer = self._reader.read(body, sent.job.matches, sent.ids)
        except wire.Invalid as invalid:
            self._put_back(sent.job)
            self._refuse(sent.node, f"sent an invalid answer: {invalid}")
            return
        if answer.records is not None:
            for key in sent.job.orders:  # another node may have a second order for the same matches
                other = self._out.pop(key)
                del self._nodes[other.node].orders[key]
                self._room[other.node] = None
                self._engine.drop(key)
            sent.job.orders.clear()
            self._jobs.pace.note(len(answer.records), answer.seconds)
            yield from zip(sent.job.matches, answer.records, strict=True)
        elif answer.asks and not sent.told:
            self._send(sent.job, sent.node, told=True)
        else:
            self._put_back(sent.job)
            reason = answer.refused or "asks for a file that it already has"
            self._refuse(sent.node, escape_line(reason)[:MAX_REASON_CHARACTERS])

    # Nodes

    def _part_from(self, node: str, *, leave: bool) -> Iterator[Finished]:
        """Drop a node and handle its orders. If the node was lost, one of the orders that it was playing may be the cause."""
        state = self._nodes.pop(node, None)
        if state is None:
            return
        self._room.pop(node, None)
        self.threads -= state.threads
        for place, (key, sent) in enumerate(state.orders.items()):
            del self._out[key]
            sent.job.orders.discard(key)
            self._engine.drop(key)
            if leave or place >= state.threads:
                self._put_back(sent.job)
            else:
                yield from self._blame(sent)

    def _put_back(self, job: Job) -> None:
        if not job.orders:  # otherwise another node is still playing it
            self._jobs.put_back(job)

    def _blame(self, sent: Sent) -> Iterator[Finished]:
        culprit = None if sent.job.orders else self._jobs.lost(sent.job)
        if culprit is not None:
            message = "two machines of the cluster were lost while they played this match"
            if len(culprit.pairing.seats) == 1 and not self._spec.boards[culprit.board].native:
                yield culprit, MatchRunner.make_unplayed(self._spec, culprit, "crash", 0, message)
            else:
                yield culprit, MatchRunner.make_unplayed(self._spec, culprit, message=f"{message}; the seat to move is unknown")

    def _refuse(self, node: str, reason: str) -> None:
        """Refuse a node, so that it gets no more orders."""
        self._refused[node] = reason
        for _ in self._part_from(node, leave=True):
            raise AssertionError("internal error: a node that was asked to leave lost a match")
        if not self._nodes:
            listed = "\n".join([f"  {name}: {why}" for name, why in self._refused.items()])
            raise ClusterError(f"no machine of the cluster can play {self._spec.name}:\n{listed}")
        self._say(f"{node} is refused: {reason}")

    def _look_around(self) -> None:
        if self._nodes:
            self._alone_since, self.alone = None, False
        elif self._alone_since is None:
            self._alone_since = monotonic()
        elif monotonic() - self._alone_since > ALONE_NOTICE_SECONDS:
            self._say(_NOBODY_LEFT if self._number else _NOBODY)
            self._alone_since, self.alone = inf, True
        late = self._find_overdue(None) if monotonic() - self._heard > OVERDUE_SECONDS else None
        if late is not None:
            self._say(f"{late}, and no other node has answered since; still waiting")
            self._heard = inf


_NOBODY = "no workers on the cluster yet; waiting for one to join: dask worker ADDRESS --nthreads 1"
_NOBODY_LEFT = (
    "no workers are left on the cluster; waiting for one to join: dask worker ADDRESS --nthreads 1 "
    "(after a restart of the scheduler, restart its workers as well)"
)
