"""Finds plugins and loads each of them on its own.

Plugins, including the built-in ones, come from the entry points in the group `arena`. Others come from the environment variable
ARENA_PLUGINS, and from files or modules that the caller names. Their order has no effect: a name may be defined only once.
"""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable
from functools import cache
from hashlib import blake2b
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from arena.errors import Interrupted, PluginError, describe
from arena.lazy import find_entry_points
from arena.plugins.contract import Unfit, list_brought, locate
from arena.plugins.members import list_ignored
from arena.plugins.registry import Key, Plugin, Registry, Source, enter, refuse_duplicates, same_code
from arena.search_engines import note_installed

GROUP = "arena"


class PluginPlace:
    """A plugin as a spec or a command line names it: a file, or a module.

    >>> PluginPlace("my_agents.py").is_file, PluginPlace("my_package.agents").is_file
    (True, False)
    >>> PluginPlace("my_package.agents").absolute
    'my_package.agents'
    """

    ENVIRONMENT = "ARENA_PLUGINS"
    """The environment variable that names plugins to load, separated as in PYTHONPATH."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def is_file(self) -> bool:
        """Whether the plugin is a file, and not a module."""
        return self.name.endswith(".py") or os.sep in self.name or Path(self.name).is_file()

    @property
    def real(self) -> str:
        """The path of the file with links resolved, or the name of the module."""
        try:
            return os.path.realpath(self.name) if self.is_file else self.name
        except (OSError, ValueError):  # not a path at all; loading it reports this
            return self.name

    @property
    def absolute(self) -> str:
        """A name that also works for a process in another folder."""
        return str(Path(self.name).absolute()) if self.is_file else self.name

    @staticmethod
    def module_name(file: Path) -> str:
        """Return the module name for a file. It is the same in every process that imports the file."""
        mark = blake2b(str(file).encode(), digest_size=4).hexdigest()
        return re.sub(r"\W", "_", f"arena_plugin_{file.stem}_{mark}")  # with a dot, it would be part of a package

    @classmethod
    def list_asked(cls, paths: Iterable[str | Path], environ: bool = True) -> list[str]:
        """Return the plugins that the environment and `paths` name. Each file occurs once, even if several paths lead to it."""
        wanted = [*(os.environ.get(cls.ENVIRONMENT, "").split(os.pathsep) if environ else []), *map(str, paths)]
        return list({cls(path).real: path for path in wanted if path}.values())

    def replace_in(self, registry: Registry) -> list[Key]:
        """Load the plugin, replace everything in `registry` that has the same name, and return the keys of all that it defines.

        Raises PluginError if the plugin cannot be used.
        """
        found = Registry()
        _ask(found, self.name)
        for key in found.sources:
            registry.withdrawn.pop(key, None)
            enter(registry, Source(self.name), key, found.value(key))
        registry.plugins += found.plugins
        return list(found.sources)


def load_plugins(
    paths: Iterable[str | Path] = (), *, environ: bool = True, entry_points: bool | Collection[str] = True, strict: bool = True
) -> Registry:
    """Load plugins and return the registry of everything that they define.

    `paths` are files (`my_agents.py`) or modules (`my_package.agents`). If `environ` or `entry_points` is false, plugins from
    ARENA_PLUGINS or installed plugins are not loaded; names in `entry_points` are the only installed plugins to load. Raises
    PluginError if a plugin in `paths` or ARENA_PLUGINS cannot be used. An installed plugin that cannot be used is left out;
    `Registry.plugins` has the reason. If `strict` is false, every plugin that cannot be used is left out in this way.

    >>> load_plugins(environ=False).game("pig").name
    'pig'
    """
    registry = Registry()
    if entry_points:
        installed = {(point.name, point.value): point for point in find_entry_points(GROUP)}
        for point in installed.values():  # an editable install can be listed twice
            owner, version = point.owner
            source = Source(f"{owner or 'unknown'}:{point.name}", version, asked=False)
            if isinstance(entry_points, bool) or point.name in entry_points:
                _add(registry, source, point.load, point.value.partition(":")[0])
        note_installed()
    for path in PluginPlace.list_asked(paths, environ):
        try:
            _ask(registry, path)
        except PluginError as error:
            if strict:
                raise
            registry.plugins.append(Plugin(Source(path), problem=str(error).removeprefix(f"plugin {path}: "), file=path))
    return registry


def add_plugin(registry: Registry, path: str) -> None:
    """Load one more plugin, as if it were the last of the `paths` of `load_plugins`.

    Raises PluginError if it cannot be used; then the registry is unchanged.
    """
    asked = [PluginPlace(plugin.source.name).real for plugin in registry.plugins if plugin.source.asked]
    if PluginPlace(path).real not in asked:
        _ask(registry, path)


def _ask(registry: Registry, path: str) -> None:
    _add(registry, Source(path), lambda: load_file(path) if PluginPlace(path).is_file else _load_module(path), path)


def locate_plugin(folder: Path, name: str) -> str:
    """Return a plugin that a spec in `folder` names: a file in that folder, or a module."""
    file = folder / name
    return str(file) if name.endswith(".py") or "/" in name or file.is_file() else name


def _load_module(name: str) -> ModuleType:
    try:
        module = None if name.startswith(".") else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module exists, but imports a missing one
        module = None
    if module is None:
        raise Unfit("no such file or module")
    if getattr(module, "__file__", None) is None and hasattr(module, "__path__"):
        raise Unfit("is a directory without __init__.py; expected a Python file or a module")
    return module


class _CurrentSource(SourceFileLoader):
    """Compiles the text of the file. The bytecode that Python stores can be outdated if a file is saved twice within a second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


def load_file(path: str | Path) -> ModuleType:
    """Import a Python file as a module with a unique name, so that worker processes find it in the same way."""
    place = Path(path).resolve()
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a directory; expected a Python file")
    if not place.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    name = PluginPlace.module_name(place)
    if name in sys.modules:
        return sys.modules[name]
    if place.suffix != ".py":
        raise ImportError(f"{path} is not a Python file; expected a name that ends in .py")
    loader = _CurrentSource(name, str(place))
    spec = importlib.util.spec_from_file_location(name, place, loader=loader)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _add(registry: Registry, source: Source, load: Callable[[], object], place: str) -> None:
    loaded: object = None
    try:
        loaded = load()
        found, ignored = _check(loaded) if source.asked else _check_installed(loaded)
        refuse_duplicates(registry, source, found)
    except Interrupted:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt during the import are faults of the plugin
        problem = str(error) if isinstance(error, Unfit) else describe(error)
        if source.asked:
            raise PluginError(str(source), problem) from error
        registry.plugins.append(Plugin(source, problem=problem, file=getattr(loaded, "__file__", None) or place))
        return
    notes: list[str] = []
    for key, value in found:
        if source.asked and (other := registry.sources.get(key)) is not None and not same_code(registry, key, value):
            notes.append(f"{' '.join(key)} of {source} is used in place of the one from {other}")
        enter(registry, source, key, value)
    names = tuple(" ".join(key) for key, _ in found)
    registry.plugins.append(Plugin(source, names, file=getattr(loaded, "__file__", None) or place, notes=(*notes, *ignored)))


def _check(plugin: object) -> tuple[list[tuple[Key, Any]], list[str]]:
    """Return what a plugin defines, and a note for each of its members that nothing reads."""
    found = list(list_brought(plugin))
    classes = [(key, value) for key, value in found if isinstance(value, type)]
    return found, [f"{' '.join(key)} ({locate(value)}): {note}" for key, value in classes for note in list_ignored(value)]


_check_installed = cache(_check)
"""Checks an installed plugin once in a process, because the checks take milliseconds and loaded code does not change."""
