"""The interface of a cluster to its coordinator: nodes that come and go, orders out, replies in. Dask is one such engine."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from arena.api.run import Scheduled


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
    """Orders that it plays at a time; 0 if it has gone."""
    leave: bool = False
    """True if it has gone in good order, so that no match is to blame."""


class Reply(NamedTuple):
    """The reply to an order: a body, or why there is none. Without either it was lost on the way."""

    key: str
    body: bytes | None = None
    """The node's answer."""
    failed: str | None = None
    """The reason why the node could not even begin."""
    killed: bool = False
    """True if nodes were lost over it, and the cluster has given up."""


class Engine(Protocol):
    """A cluster. All calls come from one thread; ClusterLost where the cluster is gone."""

    def changes(self) -> Sequence[Change]:
        """Nodes that have come and gone since the last call, in order; at first all that are there."""

    def send(self, order: Order, node: str) -> None:
        """Give an order to a node."""

    def drop(self, key: str) -> None:
        """Take an order back; a reply that comes all the same means nothing."""

    def replies(self, seconds: float) -> Sequence[Reply]:
        """The replies that have come; waits for the first one, but not longer than `seconds`."""

    def close(self, run: str) -> None:
        """Take back all orders, and have every node forget the tournament."""
