"""The version of arena, and the name of the installed distribution."""

from functools import cache

from arena.lazy import find_entry_points

__version__ = "0.1.0"


@cache
def distribution() -> str:
    """Return the name of the distribution from its metadata. It is defined only in `pyproject.toml`."""
    return next((point.owner[0] for point in find_entry_points("arena") if point.name == "builtin-formats"), None) or "arena"


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{distribution()}[{extra}]'"
