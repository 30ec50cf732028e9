"""The matches of a ladder on a cluster: one connection for all seasons, and what becomes of them while the cluster is away."""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self

from arena.cluster import Coordinator, Engine, address_of, dask_engine, packed
from arena.errors import ClusterError
from arena.match.record import Record
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.schedule import Batch, Scheduled
from arena.spec import Spec

AHEAD = 2
"""Orders for each thread of the cluster into which the matches that wait are divided, so that no node has all of them."""


class ClusterPlayers:
    """Plays seasons on a cluster, by its address as the user gives it; `note` is told what becomes of it, each thing once.

    Its methods are for one thread at a time.
    """

    def __init__(self, address: str, note: Callable[[str], object]) -> None:
        self._address = address
        self._note = note
        self._connection = ExitStack()
        self._engine: Engine | None = None
        self._coordinator: Coordinator | None = None
        self._told = ""

    def connect(self) -> Engine:
        """Return the engine, connected anew where the connection was given up; ClusterError where there is no cluster."""
        if self._engine is None:
            address = address_of(self._address)  # a scheduler that was started again may have written its file anew
            if address.warning is not None:
                self.tell(address.warning)
            self._engine = self._connection.enter_context(dask_engine(address))
        return self._engine

    def leave(self) -> None:
        """Give the connection up."""
        self._engine = None
        with suppress(ClusterError):
            self._connection.close()

    @property
    def alone(self) -> bool:
        """Whether a season waits for the first worker to join, or for another one."""
        return self._coordinator is not None and self._coordinator.alone

    def tell(self, text: str) -> None:
        """Say something, unless it was said last."""
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
    ) -> Generator[tuple[Scheduled, Record], None, None]:
        """Yield every match that `take` gives, with its record; `waiting` tells how many matches of its plan are left.

        What `check` raises ends it; it is asked several times a second. ClusterError where the cluster is gone, or where none of
        its nodes can play.
        """

        def fair(size: int) -> Batch:
            return take(max(1, min(size, waiting() // (AHEAD * max(1, coordinator.threads)))))

        coordinator = self._coordinator = Coordinator(spec, packed(spec, code), self.connect(), fair, self.tell, check=check)
        try:
            yield from coordinator.play()
        finally:
            self._coordinator = None

    def __enter__(self) -> Self:
        """Connect."""
        self.connect()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Give the connection up."""
        self.leave()
