"""Finds plugins and loads each of them on its own.

Plugins, including the built-in ones, come from the entry points in the group `arena`. Others come from the environment variable
ARENA_PLUGINS, and from files or modules that the caller names. A name may be defined only once, so the order of plugins decides
only which of them answers first when a hook asks all of them.
"""

import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import blake2b
from importlib.machinery import SourceFileLoader
from pathlib import Path
from shlex import quote
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from arena.errors import Interrupted, PluginError, UnknownName, expect_list, listing
from arena.lazy import EntryPoint, find_plugins, list_blocked
from arena.plugins.contract import Unfit, describe_fault, describe_unregistered
from arena.plugins.manager import EVENTS, Key, PluginManager
from arena.plugins.registry import Plugin, Registry, Source, enter, refuse_duplicates, same_code
from arena.search_engines import note_installed


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
    def locate(folder: Path, name: str) -> str:
        """Return a plugin that a spec in `folder` names: a file in that folder, or a module."""
        file = folder / name
        return str(file) if name.endswith(".py") or "/" in name or file.is_file() else name

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
        found = Registry(manager=registry.manager)
        _ask(found, self.name, silent=True)
        for key in found.sources:
            registry.withdrawn.pop(key, None)
            enter(registry, Source(self.name), key, found.value(key))
        registry.plugins += found.plugins
        return list(found.sources)


def load_plugins(
    paths: Iterable[str | Path] = (),
    *,
    environ: bool = True,
    entry_points: bool | Collection[str] = True,
    strict: bool = True,
    broken: list[PluginError] | None = None,
) -> Registry:
    """Load plugins and return the registry of everything that they define.

    `paths` are files (`my_agents.py`) or modules (`my_package.agents`). If `environ` or `entry_points` is false, plugins from
    ARENA_PLUGINS or installed plugins are not loaded; names in `entry_points` are the only installed plugins to load. Raises
    PluginError if a plugin in `paths` or ARENA_PLUGINS cannot be used. An installed plugin that cannot be used is left out;
    `Registry.plugins` has the reason. If `strict` is false, every plugin that cannot be used is left out in this way. If there is
    a list `broken`, single classes and functions that break a rule are left out, and their faults are added to the list. Raises
    TypeError if `paths` or `entry_points` is of another type, such as a single path.

    >>> load_plugins(environ=False).game("pig").name
    'pig'
    """
    paths = expect_list("paths", paths, (str, os.PathLike), "a list of paths or modules")
    if not isinstance(entry_points, bool):
        entry_points = expect_list("entry_points", entry_points, str, "True, False or a list of names")
    registry = Registry()
    if entry_points:
        wanted = {
            name: point for name, point in find_plugins().items() if isinstance(entry_points, bool) or point.name in entry_points
        }
        installed = _load_installed(wanted)
        registry.manager = installed.manager
        for one in installed.plugins:
            one.enter(registry)
        note_installed()
    for path in PluginPlace.list_asked(paths, environ):
        try:
            _ask(registry, path, broken=broken)
        except PluginError as error:
            if strict:
                raise
            registry.plugins.append(Plugin(Source(path), problem=str(error).removeprefix(f"plugin {path}: "), file=path))
    return registry


def add_plugin(registry: Registry, path: str) -> None:
    """Load one more plugin, which is not told of events. Raises PluginError if it cannot be used.

    Then the registry is unchanged.
    """
    asked = [PluginPlace(plugin.source.name).real for plugin in registry.plugins if plugin.source.asked]
    if PluginPlace(path).real not in asked:
        _ask(registry, path, silent=True)


def _ask(registry: Registry, path: str, *, silent: bool = False, broken: list[PluginError] | None = None) -> None:
    """Load a plugin that the user has named, in a manager of its own, so that a fault leaves the registry as it was."""
    faults: list[Unfit] = []
    source, loaded, manager = Source(path), _Loaded(path), registry.manager.copy()
    try:
        plugin = loaded.plugin = load_file(path) if PluginPlace(path).is_file else _load_module(path)
        if not manager.is_registered(plugin):
            _know_hooks(manager, plugin)
            manager.enrol(plugin, path, silent=silent)
        loaded.ask(manager, faults)
        if faults and broken is None:
            number = len(faults) + len(loaded.found)
            raise Unfit(f"{faults[0]}{f'; so none of the {number} parts of this plugin is loaded' if number > 1 else ''}")
        if not manager.get_hookcallers(plugin) and (forgotten := describe_unregistered(plugin)) is not None:
            raise Unfit(forgotten)
        refuse_duplicates(registry, source, loaded.found)
    except Interrupted:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt during the import are faults of the plugin
        raise PluginError(path, f"{describe_fault(error)}{_explain_missing(path, error)}") from error
    notes = [
        f"{' '.join(key)} of {source} is used instead of the one from {other}"
        for key, value in loaded.found
        if (other := registry.sources.get(key)) is not None and not same_code(registry, key, value)
    ]
    unheard = [hook for hook in EVENTS if silent and hasattr(plugin, hook)]
    if unheard:
        notes.append(
            f"{unheard[0]} of {source} is not called, because only the spec names the plugin; "
            f"to call it, use --plugin {quote(path)}"
        )
    if broken is not None:
        broken += [PluginError(path, str(fault)) for fault in faults]
    registry.manager = manager
    for key, value in loaded.found:
        enter(registry, source, key, value)
    registry.plugins.append(loaded.describe(source, notes))


def _know_hooks(manager: PluginManager, plugin: object) -> None:
    """Let a plugin add its hooks. If it implements a hook that is unknown so far, let all installed plugins add theirs, too."""
    manager.let_add_hookspecs(plugin)
    own = {name for name in dir(plugin) if name.startswith("arena_") and inspect.isroutine(getattr(plugin, name))}
    for point in find_plugins().values() if own - {*manager.list_hooks()} else ():
        with suppress(Exception):  # this plugin is not at fault
            manager.let_add_hookspecs(point.load())


class _Loaded:
    """A plugin with what it brings, or the reason why it cannot be used."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.plugin: Any = None
        self.found: tuple[tuple[Key, Any], ...] = ()
        self.problem: str | None = None

    def ask(self, manager: PluginManager, broken: list[Unfit] | None = None) -> None:
        """Ask the plugin what it brings. For `broken`, see `PluginManager.ask`."""
        self.found = manager.ask(self.plugin, broken)

    def describe(self, source: Source, notes: Iterable[str] = ()) -> Plugin:
        """Return the result of loading the plugin."""
        file = getattr(self.plugin, "__file__", None) or self.place
        if self.problem is not None:
            return Plugin(source, problem=self.problem, file=file, blocked=source.name in list_blocked())
        return Plugin(source, tuple([" ".join(key) for key, _ in self.found]), file=file, notes=tuple(notes))


class _Installed(_Loaded):
    """An installed plugin. Its faults are kept, because they must not keep others from being used."""

    def __init__(self, name: str, point: EntryPoint) -> None:
        super().__init__(point.value.partition(":")[0])
        self.point = point
        self.source = Source(name, point.owner[1], asked=False)

    def attempt(self, step: Callable[[], object]) -> None:
        """Take the next step, unless one has failed already."""
        try:
            if self.problem is None:
                step()
        except Interrupted:
            raise
        except BaseException as error:  # SystemExit and KeyboardInterrupt during the import are faults of the plugin
            self.problem = describe_fault(error)

    def load(self, manager: PluginManager) -> None:
        """Import the plugin, and let it add hooks."""
        self.plugin = self.point.load()
        manager.let_add_hookspecs(self.plugin)

    def enter(self, registry: Registry) -> None:
        """Add what the plugin brings to a registry."""
        conflicts = [enter(registry, self.source, key, value) for key, value in self.found]
        registry.plugins.append(self.describe(self.source, filter(None, conflicts)))


class _InstalledPlugins(NamedTuple):
    manager: PluginManager
    plugins: list[_Installed]


_loaded: dict[tuple[Any, ...], _InstalledPlugins] = {}
"""The installed plugins that this process has loaded, if all of them could be loaded. To check them takes milliseconds."""


def find_installed(name: str) -> str:
    """Return the whole name of an installed plugin, such as `fairarena:cluster` for `cluster`. Raises UnknownName.

    >>> find_installed("builtin-games")
    'fairarena:builtin-games'
    """
    known = find_plugins()
    found = [name] if name in known else [whole for whole, point in known.items() if point.name == name]
    if len(found) != 1:
        hint = f"several distributions have one; use {listing(found, 'or')}" if found else None
        raise UnknownName("installed plugin", name, [point.name for point in known.values()], hint=hint)
    return found[0]


def _load_installed(points: dict[str, EntryPoint]) -> _InstalledPlugins:
    """Load installed plugins. All of them add hooks before one is registered, and are registered before one is asked."""
    blocked = list_blocked()
    key = (*points.items(), blocked)
    if key in _loaded:
        return _loaded[key]
    manager, plugins = PluginManager(), [_Installed(name, point) for name, point in points.items()]
    for one in plugins:
        one.attempt(partial(one.load, manager))
    for one in plugins:
        if one.source.name in blocked:
            manager.set_blocked(one.source.name)
            one.problem = f"blocked by -p no:{one.source.name}"
        one.attempt(partial(manager.enrol, one.plugin, one.source.name))
    for one in plugins:
        one.attempt(partial(one.ask, manager))
        if one.problem is not None and manager.has_plugin(one.source.name):
            manager.unregister(name=one.source.name)
    installed = _InstalledPlugins(manager, plugins)
    if all(one.problem is None or one.source.name in blocked for one in plugins):
        _loaded[key] = installed
    return installed


def _explain_missing(path: str, error: BaseException) -> str:
    """Return a hint if a plugin file imports a module beside it, whose folder Python does not search."""
    if not isinstance(error, ModuleNotFoundError) or error.name is None or not PluginPlace(path).is_file:
        return ""
    folder, top = Path(path).absolute().parent, error.name.partition(".")[0]
    if not ((folder / f"{top}.py").is_file() or (folder / top / "__init__.py").is_file()):
        return ""
    return f"; {top} is beside the plugin, but Python does not search there: set PYTHONPATH={quote(str(folder))}"


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
    with ExitStack() as ends:
        ends.callback(sys.modules.pop, name)
        loader.exec_module(module)
        ends.pop_all()
    return module
