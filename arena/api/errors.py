"""Errors for extensions, and how a message describes a value, a name or an exception."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.errors import (
        GameTooLarge as GameTooLarge,
        Interrupted as Interrupted,
        IsolationError as IsolationError,
        PlayersLost as PlayersLost,
        StoreError as StoreError,
        StoreFull as StoreFull,
        abbreviate as abbreviate,
        call_foreign as call_foreign,
        cut as cut,
        describe as describe,
        escape_controls as escape_controls,
        escape_line as escape_line,
        is_authors as is_authors,
        name_place as name_place,
        suggest as suggest,
    )
else:
    __getattr__, __dir__ = pass_on(__name__)
