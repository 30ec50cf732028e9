"""Finds plugins and loads each on its own.

Sources are the entry points of the group `arena` (the built-ins come this way too), the environment variable
ARENA_PLUGINS, and files or modules that the caller names. Their order has no meaning, so a name may occur only once.
"""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from arena.errors import Interrupted, PluginError, describe
from arena.plugins.contract import Unfit, list_brought, locate
from arena.plugins.members import list_ignored
from arena.plugins.registry import Key, Plugin, Registry, Source, enter, refuse_duplicates
from arena.search_engines import note_installed

GROUP = "arena"
ENVIRONMENT = "ARENA_PLUGINS"
"""The environment variable that names plugins to load, joined as in PYTHONPATH."""


def load_plugins(paths: Iterable[str | Path] = (), *, environ: bool = True, entry_points: bool = True) -> Registry:
    """Load every plugin and return the registry of everything that they bring.

    `paths` are files (`my_agents.py`) or modules (`my_package.agents`). `environ` and `entry_points` control whether plugins of
    the variable ARENA_PLUGINS and installed plugins are loaded, too. PluginError if a requested plugin, here or in ARENA_PLUGINS,
    cannot be used; an installed one is left out, with the reason in `Registry.plugins`, and the others are still loaded.

    >>> load_plugins(environ=False).game("pig").name
    'pig'
    """
    registry = Registry()
    if entry_points:
        for point in _list_installed():
            _add(registry, _read_origin(point), point.load, point.module)
        note_installed()
    for path in list_asked(paths, environ):
        _ask(registry, path)
    return registry


def add_plugin(registry: Registry, path: str) -> None:
    """Load one more plugin, as if it were the last one requested from `load_plugins`.

    PluginError if it cannot be used; then the registry is unchanged.
    """
    asked = [plugin.source.name for plugin in registry.plugins if plugin.source.asked]
    if resolve_place(path) not in map(resolve_place, asked):
        _ask(registry, path)


def put_in_place(registry: Registry, path: str) -> list[Key]:
    """Load a plugin whose games, agents, heuristics and formats replace existing ones of the same names; return their keys.

    PluginError if it cannot be used.
    """
    found = Registry()
    _ask(found, path)
    for key in found.sources:
        registry.withdrawn.pop(key, None)
        enter(registry, Source(path), key, found.value(key))
    registry.plugins += found.plugins
    return list(found.sources)


def survey(paths: Iterable[str | Path] = ()) -> Registry:
    """Do the same as `load_plugins`, but continue after every fault: `plugins` also lists unusable requested plugins."""
    registry = load_plugins(environ=False)
    for path in list_asked(paths, environ=True):
        try:
            _ask(registry, path)
        except PluginError as error:
            problem = str(error).removeprefix(f"plugin {path}: ")
            registry.plugins.append(Plugin(Source(path), problem=problem, file=path))
    return registry


def _ask(registry: Registry, path: str) -> None:
    _add(registry, Source(path), lambda: load_file(path) if is_file(path) else _load_module(path), path)


def _list_installed() -> Iterator[EntryPoint]:
    seen: set[tuple[str, str]] = set()
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if (point.name, point.value) not in seen:  # an editable install can be listed twice
            seen.add((point.name, point.value))
            yield point


def _read_origin(point: EntryPoint) -> Source:
    try:
        told = point.dist.metadata if point.dist else None  # parsed again at every access
        owner, version = (None, None) if told is None else (told["Name"], told["Version"])
    except Exception:  # the remains of a distribution may lack their metadata
        owner, version = None, None
    return Source(f"{owner or 'unknown'}:{point.name}", version, asked=False)


def list_asked(paths: Iterable[str | Path], environ: bool = True) -> list[str]:
    """Return the plugins that the environment and `paths` name, each once, under however many paths a file is named."""
    wanted = os.environ.get(ENVIRONMENT, "").split(os.pathsep) if environ else []
    wanted += [str(path) for path in paths]
    return list({resolve_place(path): path for path in wanted if path}.values())


def resolve_place(path: str) -> str:
    """Return the real path of a plugin's file, or the name of a module."""
    try:
        return os.path.realpath(path) if is_file(path) else path
    except (OSError, ValueError):  # not a path at all; loading it reports this
        return path


def is_file(path: str) -> bool:
    """Return whether a plugin is named by its file, and not by a module name."""
    return path.endswith(".py") or os.sep in path or Path(path).is_file()


def locate_plugin(folder: Path, name: str) -> str:
    """Return a plugin that a spec in `folder` names: a file from there, or a module."""
    file = folder / name
    return str(file) if name.endswith(".py") or "/" in name or file.is_file() else name


def make_absolute(path: str) -> str:
    """Return the name of a plugin for a process in another folder."""
    return str(Path(path).absolute()) if is_file(path) else path


def _load_module(name: str) -> ModuleType:
    try:
        module = None if name.startswith(".") else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # it exists, but misses another module
        module = None
    if module is None:
        raise Unfit("no such file or module")
    if getattr(module, "__file__", None) is None and hasattr(module, "__path__"):
        raise Unfit("is a directory without __init__.py; expected a Python file or a module")
    return module


def load_file(path: str | Path) -> ModuleType:
    """Import a Python file as a module with a unique name, which worker processes can also find by loading it."""
    place = Path(path).resolve()
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a directory; expected a Python file")
    if not place.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    name = module_name(place)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file; expected a name that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def module_name(place: Path) -> str:
    """Return the name of the module of a file, which does not depend on the importer."""
    mark = blake2b(str(place).encode(), digest_size=4).hexdigest()
    return re.sub(r"\W", "_", f"arena_plugin_{place.stem}_{mark}")  # a dot would make it a part of a package


def _add(registry: Registry, source: Source, load: Callable[[], object], place: str) -> None:
    loaded: object = None
    try:
        loaded = load()
        found = list(list_brought(loaded))
        refuse_duplicates(registry, source, found)
    except Interrupted:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt at import are the plugin's fault
        problem = str(error) if isinstance(error, Unfit) else describe(error)
        if source.asked:
            raise PluginError(str(source), problem) from error
        registry.plugins.append(Plugin(source, problem=problem, file=_find_file(loaded, place)))
        return
    notes: list[str] = []
    for key, value in found:
        enter(registry, source, key, value)
        if isinstance(value, type):
            notes += [f"{' '.join(key)} ({locate(value)}): {note}" for note in list_ignored(value)]
    names = tuple(" ".join(key) for key, _ in found)
    registry.plugins.append(Plugin(source, names, file=_find_file(loaded, place), notes=tuple(notes)))


def _find_file(loaded: object, place: str) -> str:
    return getattr(loaded, "__file__", None) or place
