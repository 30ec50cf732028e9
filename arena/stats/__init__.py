"""Statistics: pure functions over plain values."""

from arena.stats.proportion import wilson

__all__ = ["wilson"]
