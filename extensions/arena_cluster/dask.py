"""The engine that uses Dask. An order (matches that one node plays together) is a Dask task that may run only on one particular
worker.

So Dask itself never repeats an order on another worker. The coordinator decides about repetitions, because it knows the
consequences. Calls that may block while a scheduler is silent run in separate threads, and the thread of the coordinator never
waits for the network.
"""

import atexit
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from arena.api.errors import describe
from arena.clock import monotonic
from arena_cluster import node as nodes, wire
from arena_cluster.address import Address
from arena_cluster.connection import call_within, connect
from arena_cluster.engine import Change, ClusterLost, Order, Reply, SlowStart
from arena_cluster.parcel import versions

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

SCHEDULER_SILENCE_SECONDS = 10.0
"""Seconds without an answer after which a scheduler counts as lost."""
PULSE_POLL_SECONDS = 5.0
"""Seconds between two questions to the scheduler about the last heartbeat of each worker."""
WORKER_SILENCE_SECONDS = 30.0
"""Seconds of silence after which a worker counts as lost. Dask itself waits for 5 to 10 minutes."""
POLL_SECONDS = 1.0
"""Seconds between two requests for the list of workers."""
END_SECONDS = 5.0
"""Timeout for disconnecting, in seconds."""


class Workers:
    """The connected workers, known from events of the scheduler and from its answers. Events and answers may arrive in either
    order.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there: dict[str, int] = {}
        self._gone: dict[str, float] = {}
        """The times at which workers left. Each is kept as long as an older answer may still list the worker."""
        self._changes: list[Change] = []

    def changes(self) -> Sequence[Change]:
        """Return the changes since the last call, in order."""
        with self._lock:
            changes, self._changes = self._changes, []
        return changes

    def again(self) -> None:
        """Report all connected workers again among the next changes, for a new coordinator."""
        with self._lock:
            self._changes = [Change(address, number) for address, number in self._there.items()]

    def seen(self, threads: Mapping[str, int], asked: float) -> None:
        """Process an answer of the scheduler that lists the connected workers. `asked` is the time at which it was requested."""
        with self._lock:
            for address in self._there.keys() - threads.keys():
                self._leave(address, leave=False)
            self._gone = {address: when for address, when in self._gone.items() if when > asked}
            for address, number in threads.items():
                if self._there.get(address) != number and address not in self._gone:
                    self._there[address] = number
                    self._changes.append(Change(address, number))

    def gone(self, address: str, *, leave: bool) -> None:
        """Record that a worker has left."""
        with self._lock:
            self._gone[address] = monotonic()
            self._leave(address, leave=leave)

    def _leave(self, address: str, *, leave: bool) -> None:
        if self._there.pop(address, None) is not None:
            self._changes.append(Change(address, 0, leave))


class Pulses:
    """Detects workers that have been silent for a long time: frozen, disconnected, or on a machine that went down.

    The clocks of machines differ. So it only matters whether the time of the last heartbeat changes; its value does not matter.
    """

    def __init__(self) -> None:
        self.still: frozenset[str] = frozenset()
        """Workers that count as lost until their next heartbeat."""
        self.due = 0.0
        """The time of the next question."""
        self._last: dict[str, tuple[float, float]] = {}
        """For each worker, the time of its last heartbeat as reported by the scheduler, and the time since which this value has
        not changed."""

    def take(self, heard: Mapping[str, float], now: float) -> None:
        """Record the time of the last heartbeat of each worker."""
        self.due = now + PULSE_POLL_SECONDS
        before = self._last
        self._last = {
            address: before[address] if address in before and before[address][0] == last else (last, now)
            for address, last in heard.items()
        }
        silence = max(WORKER_SILENCE_SECONDS, len(heard) / 20)  # Dask limits heartbeats to 200 per second in total
        self.still = frozenset([address for address, (_, since) in self._last.items() if now - since > silence])

    def restart(self) -> None:
        """Start again, because the scheduler has been away."""
        self.still = frozenset()
        self._last = {}


@contextmanager
def dask_engine(address: Address) -> Iterator["DaskEngine"]:
    """Connect to the scheduler at an address, and provide the engine while the block runs. Raises ClusterError if this fails."""
    with _silence_logs(), _allow_large_parcels():
        client, cluster = connect(address)
        engine = DaskEngine(client, cluster, address)
        try:
            yield engine
        finally:
            engine.leave()


@contextmanager
def _allow_large_parcels() -> Iterator[None]:
    """Suppress the warning of Dask about parcels above 10 MB. Each parcel is sent to a node only once."""
    try:
        from dask import config
    except ImportError:  # this is reported when the connection is made
        yield
        return
    with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        yield


@contextmanager
def _silence_logs() -> Iterator[None]:
    """Silence the logging of Dask. Arena reports the relevant events itself, each in one line."""
    with suppress(ImportError):
        import distributed  # noqa: F401 - sets its loggers up
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado", "asyncio")]
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    interrupted = False
    try:
        yield
    except KeyboardInterrupt:
        interrupted = True  # threads that still start a cluster must not print after the last line of the command
        raise
    finally:
        if not interrupted:
            for logger, level in zip(loggers, before, strict=True):
                logger.setLevel(level)


class DaskEngine:
    """A Dask cluster, as seen by its client."""

    def __init__(self, client: "Client", cluster: "LocalCluster | None", address: Address) -> None:
        self._client = client
        self._cluster = cluster
        self._address = address
        self._futures: dict[str, Future] = {}
        self._done: queue.SimpleQueue[Future | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        self._workers = Workers()
        self._heard = 0
        """The number of answers from the scheduler so far."""
        self._noted = 0
        self._silence = 0.0
        self._lost = False
        self._slow_starts: dict[str, SlowStart] = {}
        self._asked = monotonic()
        self._wake = threading.Event()
        self._over = threading.Event()
        for target in (self._ask, self._gather):
            threading.Thread(target=target, name=f"arena-{target.__name__}", daemon=True).start()

    # For the coordinator

    def changes(self) -> Sequence[Change]:
        """Return the workers that have joined or left since the last call. Raises ClusterLost after a long silence of the
        scheduler.
        """
        now = monotonic()
        elapsed, self._asked = min(now - self._asked, 1.0), now  # this process itself may have been stopped
        self._silence = 0.0 if self._heard != self._noted else self._silence + elapsed
        self._noted = self._heard
        if self._silence > SCHEDULER_SILENCE_SECONDS:
            self._lost = True
            scheduler = self._address.url or self._address.given
            raise ClusterLost(
                f"the scheduler {scheduler} has not answered for {SCHEDULER_SILENCE_SECONDS:.0f} s; "
                "check that it runs, restart it if necessary, and continue with the same command"
            )
        return self._workers.changes()

    def send(self, order: Order, node: str) -> None:
        """Send an order to a worker."""
        plain: dict[str, Any] = {
            "key": order.key,
            "run": order.run,
            "matches": wire.matches(order.matches),
            "versions": dict(versions()),
            "parcel": order.parcel,
            "start_seconds": dict(order.start_seconds),
        }
        try:
            future = self._client.submit(
                nodes.play, plain, key=order.key, workers=[node], allow_other_workers=False, pure=False, retries=0
            )
        except Exception:  # the connection is lost, for good or for a short time
            self._replies.put(Reply(order.key))
            return
        self._futures[order.key] = future
        future.add_done_callback(self._done.put)

    def drop(self, key: str) -> None:
        """Cancel an order."""
        self._slow_starts.pop(key, None)
        future = self._futures.pop(key, None)
        if future is not None:
            with suppress(Exception):
                future.release()

    def replies(self, seconds: float) -> Sequence[Reply]:
        """Return the replies that have arrived. If there are none, wait for the first one, but at most `seconds`."""
        found: list[Reply] = []
        with suppress(queue.Empty):
            found.append(self._replies.get(timeout=seconds))
            while True:
                found.append(self._replies.get_nowait())
        for reply in found:
            self.drop(reply.key)
        return found

    def slow_starts(self) -> Mapping[str, SlowStart]:
        """Return the starts for which workers wait."""
        return dict(self._slow_starts)

    def close(self, run: str) -> None:
        """Cancel all orders and make every worker forget the tournament. This takes at most END_SECONDS.

        For the next tournament, all connected workers are reported again as changes.
        """
        for key in list(self._futures):
            self.drop(key)
        self._workers.again()
        if self._lost:
            return
        _try_within(lambda: self._client.run(nodes.forget, run, on_error="ignore"))

    def leave(self) -> None:
        """Close the connection, and the cluster if it was started for this run."""
        self._over.set()
        self._wake.set()
        self._done.put(None)
        if not self._lost:
            with suppress(Exception):  # the scheduler complains if a client that listens leaves
                self._client.unsubscribe_topic("all")
                self._client.unsubscribe_topic(nodes.STARTS)
        _try_within(lambda: self._client.close(timeout=END_SECONDS), 2.0 if self._lost else END_SECONDS)
        if self._cluster is not None:
            with suppress(ImportError):  # Dask would close it again at exit, and Ctrl-C would interrupt that
                from distributed.deploy.spec import close_clusters

                atexit.unregister(close_clusters)
            _try_within(self._cluster.close)

    # In separate threads

    def _ask(self) -> None:
        """Ask the scheduler for its workers, again and again."""
        listening = False
        pulses = Pulses()
        while not self._over.is_set():
            began = monotonic()
            self._wake.clear()
            try:
                if not listening:
                    self._client.subscribe_topic("all", self._take_event)
                    self._client.subscribe_topic(nodes.STARTS, self._take_start)
                    listening = True
                threads = self._client.nthreads()
                if began >= pulses.due:
                    # This does not use scheduler_info(), because some versions leave out workers.
                    found = self._client.sync(self._client.scheduler.identity)
                    pulses.take({address: worker["last_seen"] for address, worker in found["workers"].items()}, began)
            except Exception:  # the scheduler does not answer, or does not know this client after a restart
                listening = False
                pulses.restart()
            else:
                self._workers.seen({address: number for address, number in threads.items() if address not in pulses.still}, began)
                self._heard += 1
            self._wake.wait(POLL_SECONDS)

    def _take_event(self, event: tuple[float, Any]) -> None:
        """Process an event from the scheduler. This is called in the thread of the Dask client."""
        said = event[1]
        action = said.get("action") if isinstance(said, dict) else None
        if action == "remove-worker":
            self._workers.gone(str(said.get("worker")), leave=bool(said.get("expected")))
        elif action == "add-worker":
            self._wake.set()

    def _take_start(self, event: tuple[float, Any]) -> None:
        """Record that a worker waits for the start of an agent, or no longer does. Other clients of the cluster are
        ignored.
        """
        with suppress(TypeError, ValueError):  # anything may send an event
            key, number, seat = event[1]
            self._slow_starts.pop(key, None)
            if key in self._futures and type(number) is type(seat) is int and number >= 0 and seat >= 0:
                self._slow_starts[key] = SlowStart(number, seat)

    def _gather(self) -> None:
        """Fetch the results of finished tasks."""
        over = False
        while True:
            done: list[Future] = []
            with suppress(queue.Empty):
                one = self._done.get()
                while True:
                    if one is None:
                        over = True
                    else:
                        done.append(one)
                    one = self._done.get_nowait()
            if over:
                return
            finished = {future.key: future for future in done if future.status == "finished"}
            bodies: Mapping[str, Any] = {}
            with suppress(Exception):  # the results were lost on the way
                bodies = self._client.gather(finished, errors="skip")
            for future in done:
                body = bodies.get(future.key)
                self._replies.put(_failure(future) if body is None else Reply(future.key, body))


def _failure(future: "Future") -> Reply:
    """Return the reply for a task that has no result."""
    if future.status != "error":
        return Reply(future.key)
    try:
        from distributed import KilledWorker

        error = future.exception(timeout=END_SECONDS)
        if isinstance(error, KilledWorker):
            return Reply(future.key, killed=True)
        if isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] == "arena":
            return Reply(
                future.key, failed=f"arena {versions()['arena']} is not installed on the node; install it on every machine"
            )
        return Reply(future.key, failed="gave no reason" if error is None else describe(error))
    except BaseException as error:  # the exception from the node may be anything, and this thread must continue
        return Reply(future.key, failed=f"its error cannot be read: {type(error).__name__}")


def _try_within(call: Callable[[], object], seconds: float = END_SECONDS) -> None:
    """Run a call that may hang or fail. Return after `seconds` at most, and ignore errors."""
    with suppress(Exception):
        call_within(seconds, call)
