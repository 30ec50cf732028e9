"""Stores: one SQLite file per tournament, which holds every match that has been played."""

from arena.store.contents import Kept
from arena.store.database import put_aside
from arena.store.lock import Lock
from arena.store.run import Run
from arena.store.store import Store, TemporaryStore

__all__ = ["Kept", "Lock", "Run", "Store", "TemporaryStore", "put_aside"]
