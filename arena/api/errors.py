"""Errors for extensions, and how a message describes a value, a name or an exception."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.errors import EXTENSIONS as EXTENSIONS
    from arena.errors import ClusterError as ClusterError
    from arena.errors import ClusterLost as ClusterLost
    from arena.errors import ExtensionMissing as ExtensionMissing
    from arena.errors import GameTooLarge as GameTooLarge
    from arena.errors import Interrupted as Interrupted
    from arena.errors import IsolationError as IsolationError
    from arena.errors import StoreConflict as StoreConflict
    from arena.errors import StoreError as StoreError
    from arena.errors import StoreFull as StoreFull
    from arena.errors import abbreviate as abbreviate
    from arena.errors import call_foreign as call_foreign
    from arena.errors import cut as cut
    from arena.errors import describe as describe
    from arena.errors import escape_controls as escape_controls
    from arena.errors import escape_line as escape_line
    from arena.errors import import_extension as import_extension
    from arena.errors import is_authors as is_authors
    from arena.errors import suggest as suggest
else:
    __getattr__, __dir__ = pass_on(__name__)
