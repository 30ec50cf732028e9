"""The coordinator's interface to a cluster: nodes join and leave, orders go out, replies come in. Dask is one such engine."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from arena.api.run import Scheduled


class Order(NamedTuple):
    """Matches that one node plays together."""

    key: str
    """Made from the identities of its matches and the number of earlier orders."""
    run: str
    """Id of the tournament. A node keeps its parcel for all orders of the run."""
    matches: Sequence[Scheduled]
    parcel: bytes | None = None
    """The parcel of the tournament, if the node has asked for it."""


class Change(NamedTuple):
    """A node has joined or left."""

    node: str
    """Its address."""
    threads: int
    """Number of orders that it plays at a time; 0 if it has left."""
    leave: bool = False
    """True if it left in good order, so that no match is to blame."""


class Reply(NamedTuple):
    """The reply to an order: a body, or the reason for its absence. Without either, it was lost on the way."""

    key: str
    body: bytes | None = None
    """The node's answer."""
    failed: str | None = None
    """Why the node could not even begin."""
    killed: bool = False
    """True if nodes were lost over it, and the cluster has given up."""


class Engine(Protocol):
    """A cluster. All calls come from one thread and raise ClusterLost if the cluster is gone."""

    def changes(self) -> Sequence[Change]:
        """Return the nodes that have joined or left since the last call, in order. The first call returns all nodes."""

    def send(self, order: Order, node: str) -> None:
        """Give an order to a node."""

    def drop(self, key: str) -> None:
        """Cancel an order. Its reply is ignored if it still arrives."""

    def replies(self, seconds: float) -> Sequence[Reply]:
        """Return the replies that have arrived. Wait for the first one, but at most `seconds`."""

    def close(self, run: str) -> None:
        """Cancel all orders, and make every node forget the tournament."""
