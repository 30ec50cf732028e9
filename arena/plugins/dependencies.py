"""Finds the user's own Python files that a file imports. Files are read but not run."""

import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from arena.plugins.syntax import SUFFIX, Import, digest_bytes, forget_below, parse_file

_BY_NAME = frozenset({"importlib", "importlib.util", "pkgutil", "runpy"})
"""Modules with which a file can import other modules without an import statement."""
_HARMLESS = frozenset({"metadata", "resources"})
"""Submodules of these modules that do not import anything."""


class PythonFile:
    """A Python file, which is read and not run.

    >>> import random
    >>> PythonFile(Path(random.__file__)).stands_alone()
    True
    """

    def __init__(self, place: Path) -> None:
        self.place = place

    parse_file, digest_bytes, forget_below = staticmethod(parse_file), staticmethod(digest_bytes), staticmethod(forget_below)

    def find_imported(self, path: Sequence[str] | None = None) -> set[Path]:
        """Return all Python files that it imports, directly or indirectly, except files of Python itself and of installed
        packages.

        Modules are looked up as in this process, or in the folders of `path`. If a package is imported, all its files count.
        """
        return _follow_all(self.place, lambda one: _find_outside(one, path)) - {self.place}

    def stands_alone(self) -> bool:
        """Return whether it imports only Python, arena and installed packages. A missing module counts as a file of the user."""
        for one in parse_file(self.place).imports:
            name = one.module.partition(".")[0]
            if not one.level and (name in sys.stdlib_module_names or name == "arena"):
                continue
            where = None if one.level else _find_spec(name, None)
            if where is None or where.origin is None or _is_own(Path(where.origin)):
                return False
        return True

    def is_own(self) -> bool:
        """Return whether it is a file of the user, and not of Python, of an installed package or of an extension of arena."""
        return _is_own(self.place)

    def find_beside(self) -> set[Path]:
        """Return the files that a program imports from its own folder and below, which Python searches first."""
        return self.find_imported([str(self.place.parent)]) if self.place.suffix == SUFFIX else set()

    @staticmethod
    def find_sources(folder: Path) -> Iterator[Path]:
        """Yield all Python files of a package, except hidden files, and files in hidden folders and virtual environments."""
        for place, below, files in os.walk(folder):
            below[:] = [name for name in below if not (name.startswith(".") or Path(place, name, "pyvenv.cfg").exists())]
            yield from [Path(place, name) for name in files if name.endswith(SUFFIX) and not name.startswith(".")]


def find_required(name: str) -> set[Path]:
    """Return the files of a loaded module and of its imports in its own package, and what `find_imported` finds for these files.

    In its own package, only the imported modules count, not the packages above them, although Python runs these first. For `from
    package import name`, this is the module `name`, or the `__init__` of the package if there is no such module. If a module
    imports by names that are known only at run time, for example with `importlib`, its whole package counts.
    """
    place = getattr(sys.modules.get(name), "__file__", None)
    package = name.partition(".")[0]
    folders = [Path(folder) for folder in getattr(sys.modules.get(package), "__path__", [])]

    def follow(file: Path) -> Iterator[Path]:
        yield from _find_outside(file, None, package)
        for one in parse_file(file).imports:
            yield from _find_inside(one, file, package, folders)

    return _follow_all(Path(place), follow) if place else set()


def _follow_all(file: Path, follow: Callable[[Path], Iterable[Path]]) -> set[Path]:
    found: set[Path] = set()
    waiting = {file}
    while waiting:
        found |= waiting
        waiting = {new for one in waiting for new in follow(one)} - found
    return found


def _find_inside(one: Import, file: Path, package: str, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the files to which an import refers, if they are in `package`, a package in `folders`."""
    if one.module in _BY_NAME and one.name not in _HARMLESS:
        yield from [found for folder in folders for found in PythonFile.find_sources(folder)]
    parts = one.module.split(".") if one.module else []
    if one.level:
        here = file.parents[min(one.level, len(file.parents)) - 1]
        above = [here.relative_to(folder).parts for folder in folders if here.is_relative_to(folder)]
        if not above:
            return
        parts = [*above[0], *parts]
    elif parts.pop(0) != package:
        return
    if one.name is None:  # `import a.b` binds only the first part of the name
        yield from (*_find_module(folders, parts), *_find_module(folders, []))
    else:
        yield from _find_module(folders, [*parts, one.name]) or _find_module(folders, parts)


def _find_module(folders: Sequence[Path], parts: Sequence[str]) -> list[Path]:
    places = [folder.joinpath(*parts) for folder in folders]
    files = [file for place in places for file in (place / f"__init__{SUFFIX}", place.with_name(f"{place.name}{SUFFIX}"))]
    return [file for file in files if file.is_file()][:1]


def _find_outside(file: Path, path: Sequence[str] | None, package: str = "") -> Iterator[Path]:
    """Yield the user's own files outside `package` to which absolute imports in a file refer; for a package, all its files."""
    names = {one.module.partition(".")[0] for one in parse_file(file).imports if not one.level}
    for name in names - sys.stdlib_module_names - {"arena", package}:
        where = _find_spec(name, path)
        if where is None:
            continue
        if where.submodule_search_locations is not None:
            for folder in map(Path, where.submodule_search_locations):
                if _is_own(folder):
                    yield from PythonFile.find_sources(folder)
        elif where.origin is not None and where.origin.endswith(SUFFIX) and _is_own(Path(where.origin)):
            yield Path(where.origin)


def _find_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    try:
        return find_spec(name) if path is None else PathFinder.find_spec(name, path)
    except (ImportError, ValueError, AttributeError):
        return None


def _is_own(place: Path) -> bool:
    # An environment may use the packages of another one that this interpreter does not list. The folder of these packages is
    # recognised by its name.
    packages = {"site-packages", "dist-packages"}
    return packages.isdisjoint(place.parts) and not any(place.is_relative_to(folder) for folder in _list_installed())


@cache
def _list_installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    known += [str(file.parent) for file in Path(__file__).parents[2].glob("*/arena_*/__init__.py")]  # arena in a checkout
    return (*known, *site.getsitepackages(), site.getusersitepackages())
