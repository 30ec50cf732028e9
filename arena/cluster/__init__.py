"""The same tournament on the machines of a Dask cluster: they play, this process alone keeps the records."""

from arena.cluster.address import Address, address_of
from arena.cluster.coordinator import Coordinator
from arena.cluster.dask import dask_engine
from arena.cluster.engine import Change, Engine, Order, Reply
from arena.cluster.parcel import packed

__all__ = ["Address", "Change", "Coordinator", "Engine", "Order", "Reply", "address_of", "dask_engine", "packed"]
