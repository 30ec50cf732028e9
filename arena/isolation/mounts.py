"""The files that a program in a sandbox may read: the system's programs and libraries, Python, and the packages of this process.

All of it read-only, and no more of the user's own folders than is needed.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType

from platformdirs import user_cache_path

from arena.processes.child import import_path

SYSTEM = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/bin", "/usr/local/lib", "/usr/local/lib64"),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
)
"""Programs and libraries, and how they find each other. Not all of /usr: images keep the user's sources in /usr/src."""
PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of its prefix that Python needs; not all of it, which may be the folder of a project."""
NAMED = ("__main__", "arena_plugin_")
"""Modules of files that somebody named, rather than imported."""
SITES = ("site-packages", "dist-packages")


def mounts(named: Iterable[Path]) -> list[str]:
    """The arguments that make bubblewrap show all this and the files and folders `named`, which are absolute."""
    line: list[str] = []
    for text in SYSTEM:
        path = Path(text)
        if path.is_symlink() and path.is_dir():  # /bin of most systems
            line += ["--symlink", str(path.readlink()), text]
        elif path.exists():
            line += ["--ro-bind", text, text]
    shown = [Path(text) for text in SYSTEM]
    for path in sorted({*_python(), *_both(named)}):  # folders before what is in them
        if not any(path.is_relative_to(upper) for upper in shown):
            line += ["--ro-bind", str(path), str(path)]
            shown.append(path)
    return line


def tables() -> Path:
    """The folder where tables are kept that take long to build; they are arena's own, and shown where they are there."""
    return Path(os.environ.get("ARENA_CACHE") or user_cache_path("gamearena")).absolute()


def _python() -> Iterator[Path]:
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    parts = [Path(prefix, name) for prefix in prefixes for name in PREFIX]
    yield from _both(chain(parts, _packages(), _imported(), [tables()]))


def _packages() -> Iterator[Path]:
    for entry in map(Path, import_path()):
        if entry.name in SITES or entry.is_file():
            yield entry
        else:  # a folder of sources is the user's own: what has been imported from it, and by which names it is installed
            yield from chain(entry.glob("*.dist-info"), entry.glob("*.egg-info"))


def _imported() -> Iterator[Path]:
    """The packages and modules that have been imported from elsewhere than Python's own library; plugin files are named."""
    library = tuple({os.path.dirname(os.__file__), os.path.realpath(os.path.dirname(os.__file__))})  # noqa: PTH120
    for name, module in list(sys.modules.items()):
        file = _file(module)
        if file is None or file.startswith(library) or name.startswith(NAMED):
            continue
        if _file(sys.modules.get(name.rpartition(".")[0])):  # it is under its package
            continue
        path = Path(file)
        yield path.parent if hasattr(module, "__path__") else path


def _file(module: ModuleType | None) -> str | None:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None


def _both(paths: Iterable[Path]) -> Iterator[Path]:
    """Each path as it is called, and where it leads; none that does not exist."""
    for path in paths:
        if path.exists():
            yield path.absolute()
            yield path.resolve()
