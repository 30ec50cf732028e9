"""Plugins: found, loaded each on its own, checked, and gathered in a registry.

Sources are the entry points of the group `arena` (the built-ins come this way too), the environment variable
ARENA_PLUGINS, and whatever the caller names: files or modules. Order carries no meaning, so a name may come only once.
"""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from arena.agent import Agent
from arena.contract import Unfit, brought, line, source_line
from arena.errors import Interrupted, PluginError, UnknownName, describe
from arena.format import Format
from arena.game import Game
from arena.members import ignored

GROUP = "arena"
ENVIRONMENT = "ARENA_PLUGINS"

Brought = TypeVar("Brought")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a plugin comes from."""

    name: str
    """What the user would call it: the entry point and its distribution, or the file or module that was asked for."""
    version: str | None = None
    asked: bool = True
    """Whether somebody asked for it by name: then a fault in it stops the run."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin and what became of it."""

    source: Source
    names: tuple[str, ...] = ()
    """What it brought, each as `agent random`."""
    problem: str | None = None
    """Why it was left out, None where it was not."""
    file: str | None = None
    """Where its code lies; None where it could not be found."""
    notes: tuple[str, ...] = ()
    """Members of its classes that are ignored, since their names mean something else in arena."""


@dataclass(slots=True)
class Registry:
    """Everything that the loaded plugins brought, by name.

    `games`, `agents` and `formats` hold classes by name, `heuristics` the decorated objects by (game, name), and `plugins` tells
    what became of every plugin.
    """

    games: dict[str, type[Game]] = field(default_factory=dict)
    agents: dict[str, type[Agent]] = field(default_factory=dict)
    heuristics: dict[tuple[str, str], Callable[..., Any]] = field(default_factory=dict)
    formats: dict[str, type[Format]] = field(default_factory=dict)
    plugins: list[Plugin] = field(default_factory=list)
    sources: dict[tuple[str, ...], Source] = field(default_factory=dict)
    """Who brought what: ("agent", "random"), ("heuristic", "sliding-tiles", "manhattan")."""
    withdrawn: dict[tuple[str, ...], str] = field(default_factory=dict)
    """Names that two installed plugins claim: neither gets it, and using it says so."""

    def game(self, name: str) -> type[Game]:
        """The class of the game `name`; UnknownName with the nearest names."""
        return self._find("game", self.games, name)

    def agent(self, name: str) -> type[Agent]:
        """The class of the agent `name`; UnknownName with the nearest names."""
        return self._find("agent", self.agents, name)

    def format(self, name: str) -> type[Format]:
        """The class of the format `name`; UnknownName with the nearest names."""
        return self._find("format", self.formats, name)

    def heuristic(self, game: str, name: str) -> Callable[..., Any]:
        """The heuristic `name` of a game; UnknownName with the nearest names of that game, or the games that have the name."""
        found = self.heuristics.get((game, name))
        if found is not None:
            return found
        self._refuse_withdrawn("heuristic", game, name)
        raise UnknownName(f"heuristic of {game}", name, self.heuristics_of(game))

    def value(self, key: tuple[str, ...]) -> Any:
        """The class or the heuristic of a `key` of `sources`; KeyError where two plugins claim it."""
        return self.table(key[0])[_name(key)]

    def table(self, kind: str) -> dict[Any, Any]:
        """Everything of one `kind`: game, agent, heuristic or format; KeyError for another word."""
        tables: dict[str, dict[Any, Any]] = {
            "game": self.games,
            "agent": self.agents,
            "heuristic": self.heuristics,
            "format": self.formats,
        }
        return tables[kind]

    def heuristics_of(self, game: str) -> list[str]:
        """The names of the heuristics of a game, sorted."""
        return sorted(name for owner, name in self.heuristics if owner == game)

    def _find(self, kind: str, known: Mapping[str, Brought], name: str) -> Brought:
        if name in known:
            return known[name]
        self._refuse_withdrawn(kind, name)
        raise UnknownName(kind, name, known)

    def _refuse_withdrawn(self, *key: str) -> None:
        if key in self.withdrawn:
            raise PluginError("conflict", self.withdrawn[key])


def load_plugins(paths: Iterable[str | Path] = (), *, environ: bool = True, entry_points: bool = True) -> Registry:
    """Load every plugin and return what they brought.

    `paths` are files (`my_agents.py`) or modules (`my_package.agents`). `environ` and `entry_points` tell whether those of the
    variable ARENA_PLUGINS and the installed ones are loaded, too. A plugin that was asked for, here or in
    ARENA_PLUGINS, and cannot be used raises PluginError; an installed one is left out, with the reason in
    `Registry.plugins`, and the others go on.
    """
    registry = Registry()
    if entry_points:
        for point in _installed():
            _add(registry, _origin(point), point.load, point.module)
    for path in asked(paths, environ):
        _ask(registry, path)
    return registry


def add_plugin(registry: Registry, path: str) -> None:
    """Load one more plugin, as if it had been the last of those that `load_plugins` was asked for.

    PluginError where it cannot be used; the registry is as before then.
    """
    asked = [plugin.source.name for plugin in registry.plugins if plugin.source.asked]
    if real_place(path) not in map(real_place, asked):
        _ask(registry, path)


def survey(paths: Iterable[str | Path] = ()) -> Registry:
    """Do as `load_plugins` does, but go on behind every fault: also what was asked for and cannot be used is in `plugins`."""
    registry = load_plugins(environ=False)
    for path in asked(paths, environ=True):
        try:
            _ask(registry, path)
        except PluginError as error:
            problem = str(error).removeprefix(f"plugin {path}: ")
            registry.plugins.append(Plugin(Source(path), problem=problem, file=path))
    return registry


def _ask(registry: Registry, path: str) -> None:
    _add(registry, Source(path), _loader(path), path)


def _installed() -> Iterator[EntryPoint]:
    seen: set[tuple[str, str]] = set()
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if (point.name, point.value) not in seen:  # an editable install can be listed twice
            seen.add((point.name, point.value))
            yield point


def _origin(point: EntryPoint) -> Source:
    try:
        told = point.dist.metadata if point.dist else None  # parsed anew at every look
        owner, version = (None, None) if told is None else (told["Name"], told["Version"])
    except Exception:  # the remains of a distribution may lack their metadata
        owner, version = None, None
    return Source(f"{owner or 'unknown'}:{point.name}", version, asked=False)


def asked(paths: Iterable[str | Path], environ: bool = True) -> list[str]:
    """The plugins that the environment and `paths` name, each once, however often and in whatever words a file is named."""
    wanted = os.environ.get(ENVIRONMENT, "").split(os.pathsep) if environ else []
    wanted += [str(path) for path in paths]
    return list({real_place(path): path for path in wanted if path}.values())


def real_place(path: str) -> str:
    """Where the file of a plugin really lies; of a module its name."""
    try:
        return os.path.realpath(path) if is_file(path) else path
    except (OSError, ValueError):  # no path at all: loading it says so
        return path


def is_file(path: str) -> bool:
    """Tell whether a plugin is named by its file; otherwise it is a module."""
    return path.endswith(".py") or os.sep in path or Path(path).is_file()


def whole(path: str) -> str:
    """The name of a plugin as a process in another folder understands it."""
    return str(Path(path).absolute()) if is_file(path) else path


def _loader(path: str) -> Callable[[], ModuleType]:
    return (lambda: load_file(path)) if is_file(path) else (lambda: _load_module(path))


def _load_module(name: str) -> ModuleType:
    try:
        module = None if name.startswith(".") else importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # it exists, and misses another
        module = None
    if module is None:
        raise Unfit("no such file or module")
    if getattr(module, "__file__", None) is None and hasattr(module, "__path__"):
        raise Unfit("is a directory without __init__.py; expected a Python file or a module")
    return module


def load_file(path: str | Path) -> ModuleType:
    """Import a Python file as a module of its own name, which worker processes can find again by loading it too."""
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
    """What the module of a file is called, whoever loads it."""
    mark = blake2b(str(place).encode(), digest_size=4).hexdigest()
    return re.sub(r"\W", "_", f"arena_plugin_{place.stem}_{mark}")  # a dot would make it a part of a package


def _add(registry: Registry, source: Source, load: Callable[[], object], place: str) -> None:
    loaded: object = None
    try:
        loaded = load()
        found = list(brought(loaded))
        _refuse_duplicates(registry, source, found)
    except Interrupted:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt at import are the plugin's fault
        problem = str(error) if isinstance(error, Unfit) else describe(error)
        if source.asked:
            raise PluginError(str(source), problem) from error
        registry.plugins.append(Plugin(source, problem=problem, file=_place(loaded, place)))
        return
    for key, value in found:
        _enter(registry, source, key, value)
    names = tuple(" ".join(key) for key, _ in found)
    registry.plugins.append(Plugin(source, names, file=_place(loaded, place), notes=tuple(_notes(found))))


def _notes(found: list[tuple[tuple[str, ...], Any]]) -> Iterator[str]:
    for key, value in found:
        if isinstance(value, type):
            yield from [f"{' '.join(key)} ({line(value)}): {note}" for note in ignored(value)]


def _place(loaded: object, place: str) -> str:
    """The file of a plugin; of one that did not load, what it was loaded by."""
    return getattr(loaded, "__file__", None) or place


def _refuse_duplicates(registry: Registry, source: Source, found: list[tuple[tuple[str, ...], Any]]) -> None:
    seen: set[tuple[str, ...]] = set()
    for key, value in found:
        if key in seen:
            raise Unfit(f"brings {' '.join(key)!r} twice")
        seen.add(key)
        if source.asked and key in registry.sources and not _same_code(registry, key, value):
            other = registry.sources[key]
            raise Unfit(
                f"brings {' '.join(key)!r}, which {other} brings too ({line(registry.table(key[0]).get(_name(key)))}); "
                f"rename one of them{'' if other.asked else ', or uninstall that one'}"
            )


def _same_code(registry: Registry, key: tuple[str, ...], value: Any) -> bool:
    """Whether what was asked for is installed from the very same lines, as with `pip install --editable`."""
    other = registry.table(key[0]).get(_name(key))
    if other is value:
        return False
    here, there = source_line(value), source_line(other)
    return None not in (here, there) and os.path.realpath(str(here)) == os.path.realpath(str(there))


def _enter(registry: Registry, source: Source, key: tuple[str, ...], value: Any) -> None:
    if key in registry.sources and not source.asked:
        both = f"{registry.sources[key]} and {source} both bring {' '.join(key)!r}; uninstall one of them"
        registry.withdrawn[key] = both
        registry.plugins.append(Plugin(source, problem=both, file=source_line(value)))
        registry.table(key[0]).pop(_name(key), None)
        return
    registry.sources[key] = source
    registry.table(key[0])[_name(key)] = value


def _name(key: tuple[str, ...]) -> Any:
    return key[1] if len(key) == 2 else key[1:]
