"""The interface between the coordinator and a cluster. Nodes join and leave, orders are sent, and replies arrive.
`arena_cluster.dask` implements it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from arena import ArenaError
from arena.api.errors import PlayersLost
from arena.api.run import Scheduled


class ClusterError(ArenaError):
    """A cluster cannot be reached, or none of its machines can play the match."""


class ClusterLost(PlayersLost, ClusterError):
    """The scheduler of a cluster has disappeared during a run. All matches played so far are stored."""


class Order(NamedTuple):
    """Matches that one node plays together."""

    key: str
    """The key, which is computed from the ids of its matches and the number of earlier orders."""
    run: str
    """The id of the tournament. A node keeps the parcel for all orders of the run."""
    matches: Sequence[Scheduled]
    parcel: bytes | None
    """The parcel (the packed description of the tournament), if the node has asked for it."""
    start_seconds: Mapping[str, float]
    """See `MatchRunner.start_seconds`."""


class Change(NamedTuple):
    """A node has joined or left."""

    node: str
    """The address of the node."""
    threads: int
    """The number of orders that the node plays at the same time; 0 if it has left."""
    leave: bool = False
    """True if the node has left in an orderly way, so that no match can have caused this."""


class Reply(NamedTuple):
    """The reply to an order: an answer, or the reason why there is none. Without either, the answer was lost on the way."""

    key: str
    body: bytes | None = None
    """The answer of the node."""
    failed: str | None = None
    """The reason why the node could not begin."""
    killed: bool = False
    """True if the cluster has given up this order, because nodes were lost while they played it."""


class SlowStart(NamedTuple):
    """A node waits for an agent to answer at its start, and has waited for some time."""

    number: int
    """The number of the match."""
    seat: int


class Engine(Protocol):
    """A cluster. All methods are called from one thread, and they raise ClusterLost if the cluster is gone."""

    def changes(self) -> Sequence[Change]:
        """Return the nodes that have joined or left since the last call, in order. The first call returns all nodes."""

    def send(self, order: Order, node: str) -> None:
        """Send an order to a node."""

    def drop(self, key: str) -> None:
        """Cancel an order. If its reply still arrives, it is ignored."""

    def replies(self, seconds: float) -> Sequence[Reply]:
        """Return the replies that have arrived. Wait for the first one, but at most `seconds`."""

    def slow_starts(self) -> Mapping[str, SlowStart]:
        """Return the starts for which nodes wait; the keys are those of the orders. Keys of other runs and of earlier orders
        may be among them. This may be called from another thread.
        """

    def close(self, run: str) -> None:
        """Cancel all orders and make every node forget the tournament."""
