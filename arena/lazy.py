"""Looks up names on first use: names that a module re-exports, and entry points of packages."""

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple


def pass_on(module: str, homes: Mapping[str, str], *own: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a module that imports names of other modules on first use.

    `homes` contains the names from each module, separated by spaces. So a plugin that only registers itself imports nothing
    heavy. `__all__` of the module is the sorted list of these names and of `own`, the public names that the module itself
    defines. A type checker needs the same imports in a block below `if TYPE_CHECKING`.

    >>> find, names = pass_on("arena", {"arena.limits": "Limits", "arena.game": "Game Puzzle"})
    >>> find("Limits")(nodes=3).nodes, names()
    (3, ['Game', 'Limits', 'Puzzle'])
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name == "__all__":
            return names()
        if name not in home_of:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(home_of[name]), name)

    def names() -> list[str]:
        return sorted([*home_of, *own])

    return find, names


class EntryPoint(NamedTuple):
    """An entry point of an installed package, and the folder with the metadata of the package."""

    name: str
    value: str
    group: str
    metadata: str

    def load(self) -> Any:
        """Import the module, or the attribute of a module, that the entry point names."""
        return resolve_name(self.value.partition("[")[0].replace(" ", ""))

    @property
    def owner(self) -> tuple[str | None, str | None]:
        """The name and the version of its package; None if they are unknown."""
        return _read_owner(self.metadata)


def find_entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, sorted. The packages are read only once, because this takes some milliseconds."""
    return sorted([point for point in _read_entry_points(tuple(sys.path)) if point.group == group])


PLUGINS = "arena"
"""The group of entry points of plugins."""
BLOCKED = "ARENA_BLOCKED_PLUGINS"
"""The environment variable with the names of installed plugins that are not loaded, separated by commas."""


def find_plugins() -> dict[str, EntryPoint]:
    """Return the entry points of installed plugins by the name of the plugin, sorted by distribution and name."""
    points = {f"{point.owner[0] or 'unknown'}:{point.name}": point for point in find_entry_points(PLUGINS)}
    return dict(sorted(points.items()))


def list_blocked() -> frozenset[str]:
    """Return the names of the installed plugins that the user has blocked."""
    return frozenset(filter(None, os.environ.get(BLOCKED, "").split(",")))


@cache
def _read_entry_points(path: tuple[str, ...]) -> list[EntryPoint]:
    """Return all entry points. To import `importlib.metadata` for this would take as long as the rest of `arena --help`."""
    points, known = list[EntryPoint](), set[str]()
    for folder in path:
        with suppress(OSError), os.scandir(folder or ".") as entries:
            for folder_name, place in [(one.name, one.path) for one in entries if one.name.endswith((".dist-info", ".egg-info"))]:
                package = re.sub("[-_.]+", "-", os.path.splitext(folder_name)[0].partition("-")[0]).lower()  # noqa: PTH122
                group = ""
                for line in [] if package in known else _read_lines(place, "entry_points.txt"):
                    name, equals, value = map(str.strip, line.partition("="))
                    if line.startswith("["):
                        group = line.strip("[]")
                    elif equals and not line.startswith("#"):
                        points.append(EntryPoint(name, value, group, place))
                known.add(package)  # of several packages with the same name, only the first is used
    return points


def _read_lines(folder: str, file: str) -> list[str]:
    try:
        return Path(folder, file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []


@cache
def _read_owner(metadata: str) -> tuple[str | None, str | None]:
    lines = _read_lines(metadata, "METADATA") or _read_lines(metadata, "PKG-INFO")
    fields = dict([line.partition(": ")[::2] for line in takewhile(str.strip, lines)])
    return fields.get("Name"), fields.get("Version")
