"""Writes the first file of a plugin, or the folder of its package."""

from arena.scaffold.author import KINDS, starter, write

__all__ = ["KINDS", "starter", "write"]
