"""The file that keeps the matches of a tournament."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.store import Run as Run, Store as Store
    from arena.store.database import Database as Database, settle as settle
    from arena.store.lock import lock_store as lock_store
    from arena.store.rows import NANOSECONDS as NANOSECONDS, returns_of as returns_of, seats_of as seats_of
    from arena.store.run import (
        SOFTWARE as SOFTWARE,
        CodeKey as CodeKey,
        ForeignCode as ForeignCode,
        KnownOptions as KnownOptions,
        list_changed_options as list_changed_options,
        list_environments as list_environments,
        list_mixed_plugins as list_mixed_plugins,
        run_of as run_of,
    )
    from arena.store.schema import APPLICATION as APPLICATION
    from arena.whole_files import write_whole as write_whole
else:
    __getattr__, __dir__ = pass_on(__name__)
