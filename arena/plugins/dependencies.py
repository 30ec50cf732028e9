"""The Python files of the user's own that a file imports, found by reading; nothing is run."""

import os
import site
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

from arena.plugins.syntax import SUFFIX, Import, parsed

_BY_NAME = frozenset({"importlib", "importlib.util", "pkgutil", "runpy"})
"""Modules that import others by names which reading does not find."""
_HARMLESS = frozenset({"metadata", "resources"})
"""What may be imported from them all the same."""


def imported(file: Path, path: Sequence[str] | None = None) -> set[Path]:
    """All Python files that a file imports, however indirectly, but for those of Python and of installed packages.

    A module is looked for where this process would, or in the folders of `path`. Of a package all files count.
    """
    return _reached(file, lambda one: _outside(one, path)) - {file}


def stands_alone(file: Path) -> bool:
    """True if a file imports nothing but Python, arena and installed packages; what cannot be found may be the user's own."""
    for one in parsed(file).imports:
        name = one.module.partition(".")[0]
        if not one.level and (name in sys.stdlib_module_names or name == "arena"):
            continue
        where = None if one.level else _spec(name, None)
        if where is None or where.origin is None or _own(Path(where.origin)):
            return False
    return True


def beside(file: Path) -> set[Path]:
    """The files that a Python program imports from its folder and below, where Python looks first; none for other programs."""
    return imported(file, [str(file.parent)]) if file.suffix == SUFFIX else set()


def required(name: str) -> set[Path]:
    """The file of a loaded module and what it imports, however indirectly, from its own package and as `imported` has it.

    Of its own package the modules count that are imported, not those above them, which Python runs first: with
    `from package import name` the module `name`, or the `__init__` of the package where there is no such module. One that
    imports by names which only running it tells, as with `importlib`, needs all of its package.
    """
    place = getattr(sys.modules.get(name), "__file__", None)
    package = name.partition(".")[0]
    folders = [Path(folder) for folder in getattr(sys.modules.get(package), "__path__", [])]

    def follow(file: Path) -> Iterator[Path]:
        yield from _outside(file, None, package)
        for one in parsed(file).imports:
            yield from _inside(one, file, package, folders)

    return _reached(Path(place), follow) if place else set()


def _reached(file: Path, follow: Callable[[Path], Iterable[Path]]) -> set[Path]:
    """A file and all that can be reached from it."""
    found: set[Path] = set()
    waiting = {file}
    while waiting:
        found |= waiting
        waiting = {new for one in waiting for new in follow(one)} - found
    return found


def _inside(one: Import, file: Path, package: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files of a package, which lies in `folders`, that an import in a file stands for."""
    if one.module in _BY_NAME and one.name not in _HARMLESS:
        yield from [found for folder in folders for found in sources(folder)]
    parts = one.module.split(".") if one.module else []
    if one.level:
        here = file.parents[min(one.level, len(file.parents)) - 1]
        above = [here.relative_to(folder).parts for folder in folders if here.is_relative_to(folder)]
        if not above:
            return
        parts = [*above[0], *parts]
    elif parts.pop(0) != package:
        return
    if one.name is None:  # what `import` binds is the package at the top
        yield from (*_module(folders, parts), *_module(folders, []))
    else:
        yield from _module(folders, [*parts, one.name]) or _module(folders, parts)


def _module(folders: Sequence[Path], parts: Sequence[str]) -> list[Path]:
    places = [folder.joinpath(*parts) for folder in folders]
    files = [file for place in places for file in (place / f"__init__{SUFFIX}", place.with_name(f"{place.name}{SUFFIX}"))]
    return [file for file in files if file.is_file()][:1]


def sources(folder: Path) -> Iterator[Path]:
    """All Python files of a package; hidden folders in it and virtual environments are no part of it."""
    for place, below, files in os.walk(folder):
        below[:] = [name for name in below if not (name.startswith(".") or Path(place, name, "pyvenv.cfg").exists())]
        yield from [Path(place, name) for name in files if name.endswith(SUFFIX)]


def _outside(file: Path, path: Sequence[str] | None, package: str = "") -> Iterator[Path]:
    """The user's own files that a file imports absolutely, without those of a `package`; of other packages all files."""
    names = {one.module.partition(".")[0] for one in parsed(file).imports if not one.level}
    for name in names - sys.stdlib_module_names - {"arena", package}:
        where = _spec(name, path)
        if where is None:
            continue
        if where.submodule_search_locations is not None:
            for folder in map(Path, where.submodule_search_locations):
                if _own(folder):
                    yield from sources(folder)
        elif where.origin is not None and where.origin.endswith(SUFFIX) and _own(Path(where.origin)):
            yield Path(where.origin)


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    try:
        return find_spec(name) if path is None else PathFinder.find_spec(name, path)
    except (ImportError, ValueError, AttributeError):
        return None


def _own(place: Path) -> bool:
    # An environment may see the packages of another, whose folder this interpreter does not list: its name tells.
    packages = {"site-packages", "dist-packages"}
    return packages.isdisjoint(place.parts) and not any(place.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[str, ...]:
    """Where Python and installed packages lie."""
    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (*known, *site.getsitepackages(), site.getusersitepackages())
