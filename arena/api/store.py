"""The file that keeps the matches of a tournament."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

# looked up on first use, because a process that only plays matches or holds an agent needs few of these names
if TYPE_CHECKING:
    from arena.match.record import play_hash_of as play_hash_of
    from arena.store import Run as Run, Store as Store, TemporaryStore as TemporaryStore
    from arena.store.database import Database as Database
    from arena.store.run import ForeignCode as ForeignCode
    from arena.whole_files import (
        are_own as are_own,
        cache_folder as cache_folder,
        describe_cache_fault as describe_cache_fault,
        make_cache_folder as make_cache_folder,
        private_cache as private_cache,
        read_cached as read_cached,
        write_whole as write_whole,
    )
else:
    __getattr__, __dir__ = pass_on(
        __name__,
        {
            "arena.match.record": "play_hash_of",
            "arena.store": "Run Store TemporaryStore",
            "arena.store.database": "Database",
            "arena.store.run": "ForeignCode",
            "arena.whole_files": (
                "are_own cache_folder describe_cache_fault make_cache_folder private_cache read_cached write_whole"
            ),
        },
    )
