"""The version of arena, and the name under which it is installed."""

from functools import cache

__version__ = "0.1.0"


@cache
def distribution() -> str:
    """Return the name of the distribution, from its metadata. It stands in `pyproject.toml` alone."""
    from importlib.metadata import entry_points

    owners = [point.dist for point in entry_points(group="arena", name="builtin-formats")]
    return next((owner.name for owner in owners if owner is not None), "arena")


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{distribution()}[{extra}]'"
