"""The file that keeps the matches of a tournament."""

from arena.match.record import play_hash_of
from arena.store import Run, Store, TemporaryStore
from arena.store.database import Database
from arena.store.run import ForeignCode
from arena.whole_files import write_whole

__all__ = ["Database", "ForeignCode", "Run", "Store", "TemporaryStore", "play_hash_of", "write_whole"]
