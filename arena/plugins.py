"""Plugins: found, loaded each on its own, checked, and gathered in a registry.

Sources are the entry points of the group `arena` (the built-ins come this way too), the environment variable
ARENA_PLUGINS, and whatever the caller names: files or modules. Order carries no meaning, so a name may come only once.
"""

import importlib
import importlib.util
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from hashlib import blake2b
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract, isclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from arena import hookspecs
from arena.agent import Agent, chooses, solves
from arena.configured import parameters_of
from arena.errors import ADDRESS, Interrupted, PluginError, UnknownName, describe, suggestion
from arena.format import Format
from arena.game import Game, Puzzle
from arena.heuristic import info_of
from arena.traits import unknown_needs

GROUP = "arena"
ENVIRONMENT = "ARENA_PLUGINS"
HOOKS = ("arena_games", "arena_agents", "arena_heuristics", "arena_formats")
NAME = re.compile(r"[a-z0-9-]+")
RESERVED = {
    "agent": {"agent", "command", "heuristic", "isolation", "label", "limits"},
    "format": {"name"},
    "game": {"name"},
    "heuristic": {"name"},
}
"""Keys that mean something else in a spec, so that a parameter of that name could never be set."""

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
    for path in _asked(paths, environ):
        _add(registry, Source(path), _loader(path), path)
    return registry


def survey(paths: Iterable[str | Path] = ()) -> Registry:
    """Do as `load_plugins` does, but go on behind every fault: also what was asked for and cannot be used is in `plugins`."""
    registry = load_plugins(environ=False)
    for path in _asked(paths, environ=True):
        try:
            _add(registry, Source(path), _loader(path), path)
        except PluginError as error:
            problem = str(error).removeprefix(f"plugin {path}: ")
            registry.plugins.append(Plugin(Source(path), problem=problem, file=path))
    return registry


def _installed() -> Iterator[EntryPoint]:
    seen: set[tuple[str, str]] = set()
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if (point.name, point.value) not in seen:  # an editable install can be listed twice
            seen.add((point.name, point.value))
            yield point


def _origin(point: EntryPoint) -> Source:
    try:
        owner, version = (point.dist.name, point.dist.version) if point.dist else (None, None)
    except Exception:  # the remains of a distribution may lack their metadata
        owner, version = None, None
    return Source(f"{owner or 'unknown'}:{point.name}", version, asked=False)


def _asked(paths: Iterable[str | Path], environ: bool) -> list[str]:
    wanted = os.environ.get(ENVIRONMENT, "").split(os.pathsep) if environ else []
    wanted += [str(path) for path in paths]
    return list({_canonical(path): path for path in wanted if path}.values())


def _canonical(path: str) -> str:
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
        raise _Unfit("no such file or module")
    if getattr(module, "__file__", None) is None and hasattr(module, "__path__"):
        raise _Unfit("is a directory without __init__.py; expected a Python file or a module")
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
        found = list(_brought(loaded))
        _refuse_duplicates(registry, source, found)
    except Interrupted:
        raise
    except BaseException as error:  # SystemExit and KeyboardInterrupt at import are the plugin's fault
        problem = str(error) if isinstance(error, _Unfit) else describe(error)
        if source.asked:
            raise PluginError(str(source), problem) from error
        registry.plugins.append(Plugin(source, problem=problem, file=_place(loaded, place)))
        return
    for key, value in found:
        _enter(registry, source, key, value)
    registry.plugins.append(Plugin(source, tuple(" ".join(key) for key, _ in found), file=_place(loaded, place)))


def _place(loaded: object, place: str) -> str:
    """The file of a plugin; of one that did not load, what it was loaded by."""
    return getattr(loaded, "__file__", None) or place


class _Unfit(Exception):
    """What a plugin brought breaks the contract."""


def _brought(plugin: object) -> Iterator[tuple[tuple[str, ...], Any]]:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    try:
        manager.register(plugin)
    except pluggy.PluginValidationError as error:
        definition = re.search(r"definition: (.+)", str(error))
        raise _Unfit(f"{definition[1]}: a hook takes no argument" if definition else " ".join(str(error).split())) from error
    _refuse_misspelt(manager)
    for hook in HOOKS:
        implementations = getattr(manager.hook, hook).get_hookimpls()
        if not implementations and inspect.isroutine(getattr(plugin, hook, None)):
            raise _Unfit(f"{hook} is not decorated with @hookimpl ({_line(getattr(plugin, hook))})")
        for implementation in implementations:
            returned = implementation.function()
            if not isinstance(returned, Iterable):
                raise _Unfit(f"{hook} returned {_seen(returned)}; expected a list ({_line(implementation.function)})")
            for value in returned:
                yield _checked(hook, value, _line(implementation.function))


def _refuse_misspelt(manager: pluggy.PluginManager) -> None:
    try:
        manager.check_pending()
    except pluggy.PluginValidationError as error:
        hooks = re.findall(r"hook '(\w+)'", str(error))
        raise _Unfit(f"unknown hook {hooks[0]!r}; {suggestion(hooks[0], HOOKS)}" if hooks else str(error)) from error


def _seen(value: object) -> str:
    """A value for a message, without the place where it happens to lie in memory."""
    return ADDRESS.sub("0x...", repr(value))


def _checked(hook: str, value: Any, where: str) -> tuple[tuple[str, ...], Any]:
    if hook == "arena_heuristics":
        info = info_of(value)
        if info is None:
            raise _Unfit(f"{hook} returned {_seen(value)}; expected functions or classes decorated with @heuristic ({where})")
        _check_name("heuristic", info.name, value)
        if isclass(value):
            _check_parameters("heuristic", info.name, value)
        _check_call(info.name, value)
        return ("heuristic", info.game, info.name), value
    kind, base = {"arena_games": ("game", Game), "arena_agents": ("agent", Agent), "arena_formats": ("format", Format)}[hook]
    if not isclass(value) or not issubclass(value, base):
        raise _Unfit(f"{hook} returned {_seen(value)}; expected classes derived from {base.__name__} ({where})")
    name = getattr(value, "name", None)
    _check_name(kind, name, value)
    if isabstract(value):
        raise _Unfit(f"{kind} {name} ({_line(value)}) lacks {', '.join(sorted(getattr(value, '__abstractmethods__', ())))}")
    _check_parameters(kind, name, value)
    for kin in (Agent, Game, Puzzle):
        if issubclass(value, kin):
            _check_methods(kind, name, value, kin)
    if issubclass(value, Agent):
        _check_agent(value)
    if issubclass(value, Game):
        _check_game(value)
    if issubclass(value, Format) and getattr(value, "kind", None) not in ("versus", "puzzle"):
        raise _Unfit(f"format {name} ({_line(value)}): kind: expected versus or puzzle, got {getattr(value, 'kind', None)!r}")
    return (kind, str(name)), value


def _check_name(kind: str, name: object, value: object) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        called = getattr(value, "__name__", None) or repr(value)
        raise _Unfit(f"{kind} {called} ({_line(value)}): name: expected small letters, digits and dashes, got {name!r}")


def _check_parameters(kind: str, name: object, value: Callable[..., Any]) -> None:
    parameters = set(parameters_of(value))
    if kind == "heuristic":
        parameters -= {next(iter(parameters_of(value)), "")}  # the game comes first
    for parameter in sorted(parameters & RESERVED[kind]):
        raise _Unfit(f"{kind} {name}: a parameter may not be called {parameter!r}, the spec uses that key itself")


def _check_game(game: type[Game]) -> None:
    """Refuse class variables of a wrong type; a property tells its value later."""
    _check_variable(game, "players", "a number of seats", lambda given: type(given) is int and given > 0)
    _check_variable(game, "zero_sum", "True or False", lambda given: isinstance(given, bool))
    _check_variable(game, "default_heuristic", "a name or None", lambda given: given is None or isinstance(given, str))


def _check_variable(game: type[Game], name: str, expected: str, fits: Callable[[Any], bool]) -> None:
    given = inspect.getattr_static(game, name, None)
    if not hasattr(type(given), "__get__") and not fits(given):
        raise _Unfit(f"game {game.name} ({_line(game)}): {name}: expected {expected}, got {given!r}")


def _check_methods(kind: str, name: object, value: type, base: type) -> None:
    """Refuse methods that cannot be called as those of `base` are, here rather than in the middle of a match."""
    for method, promised in vars(base).items():
        given = inspect.getattr_static(value, method, None)
        if method.startswith("_") or given is promised or not inspect.isfunction(promised) or not inspect.isfunction(given):
            continue
        wanted = inspect.signature(promised)
        try:
            inspect.signature(given).bind(*[None] * len(wanted.parameters))
        except TypeError:
            expected = f"{method}({', '.join(wanted.parameters)})"
            got = f"{method}({', '.join(map(str, inspect.signature(given).parameters))})"
            raise _Unfit(f"{kind} {name} ({_line(given)}): expected {expected}, got {got}") from None


def _check_call(name: str, value: Any) -> None:
    """Refuse a heuristic that cannot be called with a state."""
    given = inspect.getattr_static(value, "__call__", None) if isclass(value) else value
    before = "self" if isclass(value) else "game"
    if given is None:
        raise _Unfit(f"heuristic {name} ({_line(value)}): expected a method __call__(self, state, player=0), got none")
    try:
        inspect.signature(given).bind(None, None, 0)
    except TypeError:
        got = f"({', '.join(map(str, inspect.signature(given).parameters.values()))})"
        raise _Unfit(f"heuristic {name} ({_line(given)}): expected ({before}, state, player=0), got {got}") from None
    except ValueError:
        return  # nobody can say how it is called


def _check_agent(agent: type[Agent]) -> None:
    if not chooses(agent) and not solves(agent):
        own = [name for name in vars(agent) if not name.startswith("_")]
        meant = [
            f"did you mean {word}, where {near[0]} is?" for word in ("choose", "solve") if (near := get_close_matches(word, own))
        ]
        raise _Unfit("; ".join([f"agent {agent.name} ({_line(agent)}) has neither choose nor solve", *meant]))
    if not isinstance(agent.needs, (frozenset, set)) or not all(isinstance(word, str) for word in agent.needs):
        raise _Unfit(f"agent {agent.name} ({_line(agent)}): needs: expected a frozenset of traits, got {agent.needs!r}")
    wrong = unknown_needs(agent)
    if wrong:
        raise _Unfit(f"agent {agent.name} ({_line(agent)}) {wrong}")


def source_line(value: object) -> str | None:
    """Where a class or a function is written, as `file:line`; None where nobody knows."""
    try:
        return f"{inspect.getsourcefile(value)}:{inspect.getsourcelines(value)[1]}"  # type: ignore[arg-type]
    except (OSError, TypeError):
        return None


def _line(value: Any) -> str:
    return source_line(value) or str(getattr(value, "__module__", "unknown file"))


def _refuse_duplicates(registry: Registry, source: Source, found: list[tuple[tuple[str, ...], Any]]) -> None:
    seen: set[tuple[str, ...]] = set()
    for key, value in found:
        if key in seen:
            raise _Unfit(f"brings {' '.join(key)!r} twice")
        seen.add(key)
        if source.asked and key in registry.sources and not _same_code(registry, key, value):
            other = registry.sources[key]
            raise _Unfit(
                f"brings {' '.join(key)!r}, which {other} brings too ({_line(registry.table(key[0]).get(_name(key)))}); "
                f"rename one of them{'' if other.asked else ', or uninstall that one'}"
            )


def _same_code(registry: Registry, key: tuple[str, ...], value: Any) -> bool:
    """Whether what was asked for is installed from the very same lines, as with `pip install --editable`."""
    other = registry.table(key[0]).get(_name(key))
    here, there = source_line(value), source_line(other)
    return other is not value and None not in (here, there) and os.path.realpath(str(here)) == os.path.realpath(str(there))


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
