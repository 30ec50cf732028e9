"""Rules over whole numbers, which run as they are and, with the extra `fast`, compiled."""

from typing import TYPE_CHECKING, Any

from arena.compiled.rules import Board, Estimate, Grid, Rules

if TYPE_CHECKING:
    from arena.compiled.random_play import Playout, playouts

__all__ = ["Board", "Estimate", "Grid", "Playout", "Rules", "playouts"]


def __getattr__(name: str) -> Any:
    """Import random play where it is asked for: games import this package at every start."""
    if name in ("Playout", "playouts"):
        from arena.compiled import random_play

        return getattr(random_play, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
