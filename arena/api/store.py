"""The file that keeps the matches of a tournament."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.errors import StoreDamaged, StoreError
    from arena.store import Run, Store
    from arena.store.rows import NANOSECONDS, returns_of, seats_of
    from arena.store.run import run_of

_HOMES = {
    "arena.errors": "StoreDamaged StoreError",
    "arena.store": "Run Store",
    "arena.store.rows": "NANOSECONDS returns_of seats_of",
    "arena.store.run": "run_of",
}
_PLACES = {name: module for module, names in _HOMES.items() for name in names.split()}
__all__ = [
    "NANOSECONDS",
    "Run",
    "Store",
    "StoreDamaged",
    "StoreError",
    "returns_of",
    "run_of",
    "seats_of",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: a plugin that only registers itself imports nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
