"""What the coordinator wants of a cluster: who is there, orders out, replies in. Dask is one such engine."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from arena.schedule.schedule import Scheduled


class Order(NamedTuple):
    """Matches that one node plays in one go."""

    key: str
    """From the identities of its matches, and how many orders went before it."""
    run: str
    """Of the tournament: what a node has been told about it once holds for all orders."""
    matches: Sequence[Scheduled]
    parcel: bytes | None = None
    """All that a node has to know of the tournament, where it has asked for that."""


class Change(NamedTuple):
    """A node has come or gone."""

    node: str
    """Its address."""
    threads: int
    """How many orders it plays at a time; 0 where it has gone."""
    leave: bool = False
    """Whether it has gone in good order, so that nobody is to blame."""


class Reply(NamedTuple):
    """What became of an order: a body, or why there is none. Without either it was lost on the way."""

    key: str
    body: bytes | None = None
    """What the node says."""
    failed: str | None = None
    """Why the node could not even begin."""
    killed: bool = False
    """Whether nodes were lost over it, and the cluster has given up."""


class Engine(Protocol):
    """A cluster. All calls come from one thread; ClusterLost where the cluster is gone."""

    def changes(self) -> Sequence[Change]:
        """Which nodes have come and gone since the last call, in order; at first all that are there."""

    def send(self, order: Order, node: str) -> None:
        """Give an order to a node."""

    def drop(self, key: str) -> None:
        """Take an order back; a reply that comes all the same means nothing."""

    def replies(self, seconds: float) -> Sequence[Reply]:
        """The replies that have come; waits for the first one, but not longer than `seconds`."""

    def close(self, run: str) -> None:
        """Take back all orders, and have every node forget the tournament."""
