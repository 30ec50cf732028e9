"""The Python files of the user's own that a file imports, found by reading; nothing is run."""

import os
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
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
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        for name in _outside(parsed(waiting.pop()).imports):
            new = set(_files(name, path)) - found - {file}
            found |= new
            waiting += new
    return found


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
    package = _Package(name.partition(".")[0])
    found: set[Path] = set()
    read: set[Path] = set()
    waiting: list[_Module] = [(Path(place), name)] if place else []
    while waiting:
        file, name = waiting.pop()
        found.add(file)
        if name != _TEXT and file not in read:
            read.add(file)
            imports = parsed(file).imports
            waiting += package.imported(imports, name if file.stem == "__init__" else name.rpartition(".")[0])
            waiting += [(one, "") for other in _outside(imports) - {package.name} for one in _files(other, None)]
    return found


_Module = tuple[Path, str]
"""A file and the name of its module; without a name where its relative imports need not be followed."""
_TEXT = "."
"""In place of the name of a module whose own imports do not count."""


class _Package:
    """The package that a module belongs to; without folders where the module belongs to none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._folders = [Path(folder) for folder in getattr(sys.modules.get(name), "__path__", [])]

    def imported(self, imports: Iterable[Import], here: str) -> Iterator[_Module]:
        """The modules of the package that are imported from the package `here`."""
        for one in imports if self._folders else ():
            if one.module in _BY_NAME and one.name not in _HARMLESS:
                yield from [(file, "") for folder in self._folders for file in sources(folder)]
            whole = _absolute(one, here)
            if whole.partition(".")[0] == self.name:
                yield from self._named(whole, one.name)

    def _named(self, module: str, name: str | None) -> Iterator[_Module]:
        if name is not None:
            yield from self._module(f"{module}.{name}") or self._module(module)
            return
        yield from self._module(module)
        yield from [(file, _TEXT) for file, _ in self._module(self.name)]  # what `import` binds is the package at the top

    def _module(self, name: str) -> list[_Module]:
        parts = name.split(".")[1:]
        for folder in self._folders:
            place = folder.joinpath(*parts)
            for file in (place / f"__init__{SUFFIX}", place.with_name(f"{place.name}{SUFFIX}")):
                if file.is_file():
                    return [(file, name)]
        return []


def _absolute(one: Import, here: str) -> str:
    """The module of an import in the package `here`; empty where it points out of all packages."""
    if not one.level:
        return one.module
    parts = here.split(".")
    above = parts[: max(0, len(parts) - one.level + 1)]
    return ".".join([*above, *([one.module] if one.module else [])]) if above else ""


def sources(folder: Path) -> Iterator[Path]:
    """All Python files of a package; hidden folders in it and virtual environments are no part of it."""
    for place, below, files in os.walk(folder):
        below[:] = [name for name in below if not (name.startswith(".") or Path(place, name, "pyvenv.cfg").exists())]
        yield from [Path(place, name) for name in files if name.endswith(SUFFIX)]


def _outside(imports: Iterable[Import]) -> set[str]:
    """The first parts of the names of modules that are imported absolutely, without Python's own and arena."""
    names = {one.module.partition(".")[0] for one in imports if not one.level}
    return names - sys.stdlib_module_names - {"arena"}


def _files(name: str, path: Sequence[str] | None) -> Iterator[Path]:
    where = _spec(name, path)
    if where is None:
        return
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
    return not any(place.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[str, ...]:
    """Where Python and installed packages lie."""
    paths = sysconfig.get_paths()
    known = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return (*known, *site.getsitepackages(), site.getusersitepackages())
