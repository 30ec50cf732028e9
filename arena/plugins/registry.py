"""Everything that the loaded plugins brought, by name, and the defaults that are proposed if the user names nothing."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from arena.agent import Agent
from arena.configured import make_default
from arena.errors import PluginError, UnknownName
from arena.format import Format
from arena.game import Game, Puzzle
from arena.parts import KINDS, Part, SearchEngine
from arena.plugins.contract import Unfit, locate, source_line
from arena.plugins.members import HEURISTIC, read_member
from arena.search_engines import add_search_engine
from arena.traits import find_refusal, find_traits, read_games
from arena.version import distribution

Brought = TypeVar("Brought")
Key = tuple[str, ...]
"""The key of one thing in `Registry.sources`: ("agent", "random"), ("heuristic", "sliding-tiles", "manhattan")."""


def own_prefix() -> str:
    """Return the prefix of the names of the plugins that come with arena."""
    return f"{distribution()}:"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a plugin."""

    name: str
    """Its name for the user: the entry point and its distribution, or the file or module that was requested."""
    version: str | None = None
    asked: bool = True
    """Whether the user requested it by name. If so, a fault in it stops the run."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name

    @property
    def own(self) -> bool:
        """Whether the plugin came with arena."""
        return self.name.startswith(own_prefix())


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin and the result of loading it."""

    source: Source
    names: tuple[str, ...] = ()
    """The things that it brought, each as `agent random`."""
    problem: str | None = None
    """Why it was left out, None if it was not."""
    file: str | None = None
    """The place of its code; None if it could not be found."""
    notes: tuple[str, ...] = ()
    """Members of its classes that are ignored, because their names mean something else in arena."""


@dataclass(slots=True)
class Registry:
    """Everything that the loaded plugins brought, by name.

    `games`, `agents` and `formats` hold classes by name, `heuristics` and `encodings` the decorated objects by (game, name), and
    `plugins` the result of loading every plugin.

    >>> arena.load_plugins().heuristics_of("othello")
    ['corners-mobility', 'discs']
    """

    games: dict[str, type[Game]] = field(default_factory=dict)
    agents: dict[str, type[Agent]] = field(default_factory=dict)
    heuristics: dict[tuple[str, str], Callable[..., Any]] = field(default_factory=dict)
    encodings: dict[tuple[str, str], Callable[..., Any]] = field(default_factory=dict)
    formats: dict[str, type[Format]] = field(default_factory=dict)
    parts: dict[str, dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in KINDS})
    """Further parts that extensions brought, by kind and name: `parts["executor"]["cluster"]`."""
    plugins: list[Plugin] = field(default_factory=list)
    sources: dict[Key, Source] = field(default_factory=dict)
    """The source of each thing, by keys such as ("agent", "random") and ("heuristic", "sliding-tiles", "manhattan")."""
    withdrawn: dict[Key, str] = field(default_factory=dict)
    """Names that two installed plugins claim. Neither gets the name, and using it is an error that explains this."""

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
        return self._find_of(game, "heuristic", self.heuristics, name)

    def encoding(self, game: str, name: str) -> Callable[..., Any]:
        """The encoding `name` of a game; UnknownName with the nearest names of that game."""
        return self._find_of(game, "encoding", self.encodings, name)

    def part(self, kind: str, name: str) -> Any:
        """The part `name` of a `kind` such as "executor"; UnknownName with the nearest names."""
        return self._find(kind, self.parts[kind], name)

    def value(self, key: Key) -> Any:
        """The class, heuristic or encoding of a `key` of `sources`; KeyError if two plugins claim it."""
        return self.table(key[0])[_name(key)]

    def items(self) -> list[tuple[Key, Any]]:
        """Every class, heuristic and encoding with its key in `sources`."""
        return [(key, self.value(key)) for key in self.sources if key not in self.withdrawn and key[0] not in self.parts]

    def named(self, name: str) -> list[tuple[Key, Any]]:
        """Every class, heuristic and encoding of a `name`, of all kinds and games; UnknownName with the nearest names."""
        found = [(key, value) for key, value in self.items() if key[-1] == name]
        if not found:
            raise UnknownName(
                "game, agent, heuristic, encoding or format", name, [key[-1] for key, _ in self.items()], loadable=True
            )
        return found

    def table(self, kind: str) -> dict[Any, Any]:
        """Everything of one `kind`: game, agent, heuristic, encoding, format or a part; KeyError for another word."""
        tables: dict[str, dict[Any, Any]] = {
            "game": self.games,
            "agent": self.agents,
            "heuristic": self.heuristics,
            "encoding": self.encodings,
            "format": self.formats,
            **self.parts,
        }
        return tables[kind]

    def heuristics_of(self, game: str) -> list[str]:
        """The names of the heuristics of a game, sorted."""
        return sorted(name for owner, name in self.heuristics if owner == game)

    def encodings_of(self, game: str) -> list[str]:
        """The names of the encodings of a game, in the order in which they were brought: the first is the default."""
        return [name for owner, name in self.encodings if owner == game]

    def games_for(self, agent: type[Agent]) -> dict[str, Game]:
        """The games that `agent` can play, made with their default parameters; games that need other parameters are left out.

        Native games are left out too, unless the agent is made for certain games: they may end this process.
        """
        wanted = {name: kind for name, kind in self.games.items() if read_games(agent) or kind.native is not True}
        games = {name: make_default(kind) for name, kind in wanted.items()}
        return {name: game for name, game in games.items() if game is not None and find_refusal(agent, game) is None}

    def agents_for(self, game: Game) -> list[str]:
        """The names of the agents that can play `game`, sorted."""
        return sorted(name for name, agent in self.agents.items() if find_refusal(agent, game) is None)

    def propose_agents(self, game: Game, *, informed: bool) -> list[str]:
        """Return the names of agents with a priority for `game` that can play it, the highest priority first.

        `informed` means that they get a heuristic. Equal priorities keep the order in which plugins brought the agents.
        """
        words = find_traits(game) | ({HEURISTIC} if informed else set())
        weights = {
            name: max([weight for word, weight in read_member(agent, "hints").proposed.items() if word in words], default=0)
            for name, agent in self.agents.items()
            if find_refusal(agent, game) is None
        }
        return sorted([name for name, weight in weights.items() if weight > 0], key=lambda name: -weights[name])

    def list_references(self, game: Game) -> list[str]:
        """Return the names of reference agents that can play `game`: arena's own first, then agents of other plugins."""
        wanted = (True, "puzzles" if game.players == 1 else "games")
        agents = self.agents.items()
        found = [
            name
            for name, agent in agents
            if read_member(agent, "hints").reference in wanted and find_refusal(agent, game) is None
        ]
        return sorted(found, key=lambda name: not self.sources["agent", name].own)

    def find_first_game(self, *, puzzle: bool) -> str | None:
        """Return the first game that came with arena, else of all plugins: a `puzzle`, or one for several; None without any.

        Games that may crash the process come last.
        """
        found = [name for name, kind in self.games.items() if issubclass(kind, Puzzle) == puzzle]
        native = {name: bool(read_member(self.games[name], "native")) for name in found}
        return min(found, key=lambda name: (not self.sources["game", name].own, native[name]), default=None)

    def _find(self, kind: str, known: Mapping[str, Brought], name: str) -> Brought:
        if name in known:
            return known[name]
        self._refuse_withdrawn(kind, name)
        raise UnknownName(kind, name, known, loadable=kind not in self.parts)

    def _find_of(self, game: str, kind: str, known: Mapping[tuple[str, str], Brought], name: str) -> Brought:
        if (game, name) in known:
            return known[game, name]
        self._refuse_withdrawn(kind, game, name)
        raise UnknownName(f"{kind} of {game}", name, [other for owner, other in known if owner == game], loadable=True)

    def _refuse_withdrawn(self, *key: str) -> None:
        if key in self.withdrawn:
            raise PluginError("conflict", self.withdrawn[key])


def refuse_duplicates(registry: Registry, source: Source, found: list[tuple[Key, Any]]) -> None:
    """Raise Unfit if a plugin brings a name twice, or if a requested plugin brings a name that another plugin has."""
    seen: set[Key] = set()
    for key, value in found:
        if key in seen:
            raise Unfit(f"brings {' '.join(key)!r} twice")
        seen.add(key)
        if source.asked and key in registry.sources and not _same_code(registry, key, value):
            other = registry.sources[key]
            entry = f"{{agent: {key[-1]}, plugin: {Path(source.name).name}}}"
            both = f", or play both versions: leave this one out, and give it an entry of its own, {entry}"
            raise Unfit(
                f"brings {' '.join(key)!r}, which {other} brings too ({locate(registry.table(key[0]).get(_name(key)))}); "
                f"rename one of them{'' if other.asked else ', or uninstall that one'}{both if key[0] == 'agent' else ''}"
            )


def _same_code(registry: Registry, key: Key, value: Any) -> bool:
    """Return whether the requested code is installed from the very same lines, as with `pip install --editable`."""
    other = registry.table(key[0]).get(_name(key))
    if other is value:
        return False
    here, there = source_line(value), source_line(other)
    return None not in (here, there) and os.path.realpath(str(here)) == os.path.realpath(str(there))


def enter(registry: Registry, source: Source, key: Key, value: Any) -> None:
    """Add a name to the registry; a name that two installed plugins bring is withdrawn."""
    if key in registry.sources and not source.asked:
        both = f"{registry.sources[key]} and {source} both bring {' '.join(key)!r}; uninstall one of them"
        registry.withdrawn[key] = both
        registry.plugins.append(Plugin(source, problem=both, file=source_line(value)))
        registry.table(key[0]).pop(_name(key), None)
        return
    if isinstance(value, Part):
        registry.parts.setdefault(value.kind, {})
    registry.sources[key] = source
    registry.table(key[0])[_name(key)] = value
    if isinstance(value, SearchEngine):  # it also serves matches without a registry
        add_search_engine(value)


def _name(key: Key) -> Any:
    return key[1] if len(key) == 2 else key[1:]
