"""The file that keeps the matches of a tournament."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.store import Run as Run, Store as Store
    from arena.store.database import Database as Database
    from arena.store.run import ForeignCode as ForeignCode
    from arena.whole_files import write_whole as write_whole
else:
    __getattr__, __dir__ = pass_on(__name__)
