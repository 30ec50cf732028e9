"""The command try: the shortest loop of a plugin's author."""

from arena.trying.command import try_file

__all__ = ["try_file"]
