"""Writes the first file of a plugin, or the first folder of a package."""

from arena.scaffold.author import KINDS, write

__all__ = ["KINDS", "write"]
