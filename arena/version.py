"""The version of arena, and the name of the installed distribution."""

from functools import cache
from shlex import quote

from arena.lazy import find_entry_points

__version__ = "0.1.0"


@cache
def distribution() -> str:
    """Return the name of the distribution from its metadata. It is defined only in `pyproject.toml`."""
    return next((point.owner[0] for point in find_entry_points("arena") if point.name == "builtin-formats"), None) or "arena"


def hint_at_distribution(name: str) -> str:
    """Return a hint that names another distribution of the project, which is in the folder `name` of the repository.

    The command in the hint works even if no package index has the distribution.
    """
    return f"the distribution fairarena-{name} defines it: in a checkout of fairarena, run `pip install ./{name}`"


@cache
def install_command(extra: str) -> str:
    """Return the command that installs the libraries of an extra under their own names, so that it works without a package
    index that has arena. Without metadata of arena, the command installs the extra from a checkout.
    """
    from importlib.metadata import PackageNotFoundError, requires  # slow to import

    try:
        wanted = [line.partition(";") for line in requires(distribution()) or ()]
    except PackageNotFoundError:
        wanted = []
    libraries = [name.strip() for name, _, marker in wanted if f"extra == '{extra}'" in marker.replace('"', "'")]
    return f"pip install {' '.join(map(quote, libraries or [f'.[{extra}]']))}"
