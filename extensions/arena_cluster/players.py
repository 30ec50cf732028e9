"""Plays on a cluster, for one run or for a ladder. A ladder keeps one connection for all its seasons."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Self

from arena import Record, Spec
from arena.api.run import Batch, CurrentTurn, Fingerprint, MatchQueue, Scheduled, StartedRun
from arena_cluster.address import address_of
from arena_cluster.coordinator import Coordinator
from arena_cluster.dask import dask_engine
from arena_cluster.engine import ClusterError, Engine
from arena_cluster.parcel import pack_parcel

ORDERS_PER_THREAD = 2
"""The waiting matches are divided into this many orders for each thread of the cluster, so that no node gets all of them."""


class RunPlayers:
    """Plays one run on the engine of a cluster."""

    def __init__(self, spec: Spec, parcel: bytes, engine: Engine, note: Callable[[str], object]) -> None:
        self._spec = spec
        self._parcel = parcel
        self._engine = engine
        self._note = note
        self._coordinator: Coordinator | None = None

    def play(self, queue: MatchQueue) -> Generator[tuple[Scheduled, Record], None, None]:
        """Yield the matches of a queue with their records."""
        total = self._spec.size if self._spec.exact else None
        self._coordinator = Coordinator(self._spec, self._parcel, self._engine, queue.take, self._note, total=total)
        return self._coordinator.play()

    def staff(self) -> str:
        """Return the number of workers and of their threads, as text."""
        return "no worker" if self._coordinator is None else self._coordinator.staff()


@contextmanager
def connect(address: str, run: StartedRun) -> Iterator[RunPlayers]:
    """Connect to the cluster at an address while the block runs. Raises ClusterError if there is none."""
    found = address_of(address)
    parcel = pack_parcel(run.spec)
    if found.warning is not None:
        run.note(found.warning)
    with dask_engine(found) as engine:
        yield RunPlayers(run.spec, parcel, engine, run.note)


class ClusterPlayers:
    """Plays the seasons of a ladder on a cluster. The user gives its address. `note` is called once for each event.

    Only one thread at a time may call the methods.
    """

    def __init__(self, address: str, note: Callable[[str], object]) -> None:
        self._address = address
        self._note = note
        self._connection = ExitStack()
        self._engine: Engine | None = None
        self._coordinator: Coordinator | None = None
        self._told = ""

    def connect(self) -> Engine:
        """Return the engine. If the connection was closed, connect again. Raises ClusterError if there is no cluster."""
        if self._engine is None:
            address = address_of(self._address)  # after a restart, the scheduler may have written its file again
            if address.warning is not None:
                self.tell(address.warning)
            self._engine = self._connection.enter_context(dask_engine(address))
        return self._engine

    def leave(self) -> None:
        """Close the connection."""
        self._engine = None
        with suppress(ClusterError):
            self._connection.close()

    @property
    def alone(self) -> bool:
        """Return True if a season is waiting for a worker to join."""
        return self._coordinator is not None and self._coordinator.alone

    def turns(self) -> Sequence[CurrentTurn]:
        """Return the decisions in progress that the nodes report; see `Coordinator.turns`."""
        return () if self._coordinator is None else self._coordinator.turns()

    def tell(self, text: str) -> None:
        """Report a text, unless it is the same as the last one."""
        if text != self._told:
            self._told = text
            self._note(text)

    def play(
        self,
        spec: Spec,
        code: Mapping[str, Fingerprint],
        take: Callable[[int], Batch],
        waiting: Callable[[], int],
        check: Callable[[], None],
        start_seconds: Callable[[], Mapping[str, float]],
    ) -> Generator[tuple[Scheduled, Record], None, None]:
        """Yield every match from `take` with its record. `waiting` returns the number of matches of the plan that are left.

        `check` is called several times a second, and an exception from it ends the iteration. Raises ClusterError if the cluster
        is gone or if none of its nodes can play. `spec` and `code` describe the season. `start_seconds` is called for each order;
        see `WorkerPool`.
        """

        def fair(size: int) -> Batch:
            return take(max(1, min(size, waiting() // (ORDERS_PER_THREAD * max(1, coordinator.threads)))))

        parcel, engine = pack_parcel(spec, code), self.connect()
        coordinator = Coordinator(spec, parcel, engine, fair, self.tell, check=check, start_seconds=start_seconds)
        self._coordinator = coordinator
        try:
            yield from coordinator.play()
        finally:
            self._coordinator = None

    def __enter__(self) -> Self:
        """Connect."""
        self.connect()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the connection."""
        self.leave()
