"""Which Python files of the user's own a file imports, found by reading it: nothing is run."""

import ast
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path

SOURCE = ".py"


def imported(file: Path, path: Sequence[str] | None = None) -> set[Path]:
    """All Python files that a file imports, however indirectly, but for those of Python and of installed packages.

    A module is looked for where this process would, or in the folders of `path`. Of a package all files count.
    """
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        for name in _names(waiting.pop()):
            new = set(_files(name, path)) - found - {file}
            found |= new
            waiting += new
    return found


def beside(file: Path) -> set[Path]:
    """What a Python program imports from its own folder and below, where Python looks first; nothing for other programs."""
    return imported(file, [str(file.parent)]) if file.suffix == SOURCE else set()


def sources(folder: Path) -> Iterator[Path]:
    """All Python files of a package; hidden folders in it and virtual environments are no part of it."""
    for place, below, files in os.walk(folder):
        below[:] = [name for name in below if not (name.startswith(".") or Path(place, name, "pyvenv.cfg").exists())]
        yield from [Path(place, name) for name in files if name.endswith(SOURCE)]


def _names(file: Path) -> frozenset[str]:
    try:
        known = file.stat()
        return _read(file, known.st_mtime_ns, known.st_size)
    except (OSError, SyntaxError, ValueError):
        return frozenset()


@lru_cache(4096)
def _read(file: Path, changed: int, size: int) -> frozenset[str]:
    """The modules, by the first part of their names, that a file imports anywhere, as it was when it was changed last."""
    names = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names.add(node.module.partition(".")[0])
    return frozenset(names - sys.stdlib_module_names - {"arena"})


def _files(name: str, path: Sequence[str] | None) -> Iterator[Path]:
    where = _spec(name, path)
    if where is None:
        return
    if where.submodule_search_locations is not None:
        for folder in map(Path, where.submodule_search_locations):
            if _own(folder):
                yield from sources(folder)
    elif where.origin is not None and where.origin.endswith(SOURCE) and _own(Path(where.origin)):
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
