"""Finds the user's own Python files that a file imports, by reading; nothing is run."""

import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from arena.plugins.syntax import SUFFIX, Import, parse_file

_BY_NAME = frozenset({"importlib", "importlib.util", "pkgutil", "runpy"})
"""Modules that import others by names that reading does not find."""
_HARMLESS = frozenset({"metadata", "resources"})
"""The names that may still be imported from them."""


def find_imported(file: Path, path: Sequence[str] | None = None) -> set[Path]:
    """Return all Python files that a file imports, directly or indirectly, except files of Python and of installed packages.

    A module is looked up as in this process, or in the folders of `path`. Of a package all files count.
    """
    return _follow_all(file, lambda one: _find_outside(one, path)) - {file}


def stands_alone(file: Path) -> bool:
    """Return whether a file imports only Python, arena and installed packages; a missing module may be the user's own."""
    for one in parse_file(file).imports:
        name = one.module.partition(".")[0]
        if not one.level and (name in sys.stdlib_module_names or name == "arena"):
            continue
        where = None if one.level else _find_spec(name, None)
        if where is None or where.origin is None or _is_own(Path(where.origin)):
            return False
    return True


def find_beside(file: Path) -> set[Path]:
    """Return the files that a Python program imports from its folder and below, which Python searches first; none for other
    programs.
    """
    return find_imported(file, [str(file.parent)]) if file.suffix == SUFFIX else set()


def find_required(name: str) -> set[Path]:
    """Return the file of a loaded module and its imports, direct and indirect, from its own package and as in `find_imported`.

    From its own package only the imported modules count, not those above them, which Python runs first: with
    `from package import name` the module `name`, or the `__init__` of the package if there is no such module. A module that
    imports by names known only at run time, as with `importlib`, needs all of its package.
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
    """Yield the files of a package, which lies in `folders`, to which an import in a file refers."""
    if one.module in _BY_NAME and one.name not in _HARMLESS:
        yield from [found for folder in folders for found in find_sources(folder)]
    parts = one.module.split(".") if one.module else []
    if one.level:
        here = file.parents[min(one.level, len(file.parents)) - 1]
        above = [here.relative_to(folder).parts for folder in folders if here.is_relative_to(folder)]
        if not above:
            return
        parts = [*above[0], *parts]
    elif parts.pop(0) != package:
        return
    if one.name is None:  # `import` binds the package at the top
        yield from (*_find_module(folders, parts), *_find_module(folders, []))
    else:
        yield from _find_module(folders, [*parts, one.name]) or _find_module(folders, parts)


def _find_module(folders: Sequence[Path], parts: Sequence[str]) -> list[Path]:
    places = [folder.joinpath(*parts) for folder in folders]
    files = [file for place in places for file in (place / f"__init__{SUFFIX}", place.with_name(f"{place.name}{SUFFIX}"))]
    return [file for file in files if file.is_file()][:1]


def find_sources(folder: Path) -> Iterator[Path]:
    """All Python files of a package; hidden folders in it and virtual environments are left out."""
    for place, below, files in os.walk(folder):
        below[:] = [name for name in below if not (name.startswith(".") or Path(place, name, "pyvenv.cfg").exists())]
        yield from [Path(place, name) for name in files if name.endswith(SUFFIX)]


def _find_outside(file: Path, path: Sequence[str] | None, package: str = "") -> Iterator[Path]:
    """Yield the user's own files that a file imports absolutely, except files of `package`; of other packages all files."""
    names = {one.module.partition(".")[0] for one in parse_file(file).imports if not one.level}
    for name in names - sys.stdlib_module_names - {"arena", package}:
        where = _find_spec(name, path)
        if where is None:
            continue
        if where.submodule_search_locations is not None:
            for folder in map(Path, where.submodule_search_locations):
                if _is_own(folder):
                    yield from find_sources(folder)
        elif where.origin is not None and where.origin.endswith(SUFFIX) and _is_own(Path(where.origin)):
            yield Path(where.origin)


def _find_spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    try:
        return find_spec(name) if path is None else PathFinder.find_spec(name, path)
    except (ImportError, ValueError, AttributeError):
        return None


def _is_own(place: Path) -> bool:
    # An environment may see the packages of another, whose folder this interpreter does not list; its name identifies it.
    packages = {"site-packages", "dist-packages"}
    return packages.isdisjoint(place.parts) and not any(place.is_relative_to(folder) for folder in _list_installed())


@cache
def _list_installed() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (*known, *site.getsitepackages(), site.getusersitepackages())
