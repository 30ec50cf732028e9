"""Errors for extensions, and how a message describes a value, a name or an exception."""

from arena.errors import (
    CodeTooComplex,
    GameTooLarge,
    Interrupted,
    IsolationError,
    PlayersLost,
    StoreError,
    StoreFull,
    abbreviate,
    call_foreign,
    cut,
    describe,
    escape_controls,
    escape_line,
    is_authors,
    name_place,
    suggest,
)

__all__ = [
    "CodeTooComplex",
    "GameTooLarge",
    "Interrupted",
    "IsolationError",
    "PlayersLost",
    "StoreError",
    "StoreFull",
    "abbreviate",
    "call_foreign",
    "cut",
    "describe",
    "escape_controls",
    "escape_line",
    "is_authors",
    "name_place",
    "suggest",
]
