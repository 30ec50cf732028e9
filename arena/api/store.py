"""The file that keeps the matches of a tournament."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.store import Run as Run
    from arena.store import Store as Store
    from arena.store.database import Database as Database
    from arena.store.database import settle as settle
    from arena.store.lock import lock_store as lock_store
    from arena.store.rows import NANOSECONDS as NANOSECONDS
    from arena.store.rows import returns_of as returns_of
    from arena.store.rows import seats_of as seats_of
    from arena.store.run import SOFTWARE as SOFTWARE
    from arena.store.run import CodeKey as CodeKey
    from arena.store.run import ForeignCode as ForeignCode
    from arena.store.run import KnownOptions as KnownOptions
    from arena.store.run import list_changed_options as list_changed_options
    from arena.store.run import list_environments as list_environments
    from arena.store.run import list_mixed_plugins as list_mixed_plugins
    from arena.store.run import run_of as run_of
    from arena.store.schema import APPLICATION as APPLICATION
    from arena.whole_files import write_whole as write_whole
else:
    __getattr__, __dir__ = pass_on(__name__)
