"""The registry of everything that the loaded plugins define, by name. It also chooses defaults if the user names nothing."""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from arena.agent import Agent, Hints
from arena.configured import make_default
from arena.encodings import import_later
from arena.errors import PluginError, UnknownName, expect, listing
from arena.format import Format
from arena.game import Game, Puzzle
from arena.hookspecs import Part
from arena.plugins.contract import Unfit, locate, source_line
from arena.plugins.manager import Key, NamedObject, PluginManager
from arena.search_engines import SearchEngine, add_search_engine
from arena.traits import Abilities, Traits
from arena.version import distribution, hint_at_distribution

Name = TypeVar("Name")
Brought = TypeVar("Brought")


def own_prefix() -> str:
    """Return the prefix with which the names of arena's own plugins begin."""
    return f"{distribution()}:"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a plugin comes from."""

    name: str
    """Its name for the user: the entry point and its distribution, or the file or module that the user named."""
    version: str | None = None
    asked: bool = True
    """Whether the user has named this plugin. If so, a fault in it stops the run."""

    def __str__(self) -> str:
        return f"{self.name} {self.version}" if self.version else self.name

    @property
    def own(self) -> bool:
        """Whether the plugin is part of arena."""
        return self.name.startswith(own_prefix())


@dataclass(frozen=True, slots=True)
class Plugin:
    """One plugin and the result of loading it."""

    source: Source
    names: tuple[str, ...] = ()
    """What it defines, for example `agent random`."""
    problem: str | None = None
    """Why it could not be loaded; None if it was loaded."""
    file: str | None = None
    """The file with its code; None if it was not found."""
    notes: tuple[str, ...] = ()
    """Notes about how it was loaded."""
    blocked: bool = False
    """True if the user blocked it, so it was not loaded."""


class Table(MutableMapping[Name, Brought]):
    """Objects by name. An object that a plugin brings by its place is imported when it is looked up, and all of them if the
    values are iterated.
    """

    def __init__(self) -> None:
        self._found: dict[Name, Any] = {}

    def __getitem__(self, name: Name) -> Brought:
        return _import_named(self._found[name])  # type: ignore[no-any-return]

    def __setitem__(self, name: Name, value: Any) -> None:
        self._found[name] = value

    def __delitem__(self, name: Name) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[Name]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return repr(self._found)


def _import_named(value: Any) -> Any:
    return value.load() if isinstance(value, NamedObject) else value


@dataclass(slots=True)
class Registry:
    """Everything that the loaded plugins define, by name.

    `games`, `agents` and `formats` hold classes by name. `heuristics` and `encodings` hold the decorated objects by (game, name).
    `plugins` holds the result of loading each plugin.

    >>> arena.load_plugins().heuristics_of("othello")
    ['corners-mobility', 'discs']
    """

    games: Table[str, type[Game]] = field(default_factory=Table)
    agents: Table[str, type[Agent]] = field(default_factory=Table)
    heuristics: Table[tuple[str, str], Callable[..., Any]] = field(default_factory=Table)
    encodings: Table[tuple[str, str], Callable[..., Any]] = field(default_factory=Table)
    formats: Table[str, type[Format]] = field(default_factory=Table)
    parts: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    """The parts that extensions define, by kind and name, for example `parts["isolation"]["process"]`."""
    plugins: list[Plugin] = field(default_factory=list)
    sources: dict[Key, Source] = field(default_factory=dict)
    """The source of each object, by keys such as ("agent", "random") and ("heuristic", "sliding-tiles", "manhattan")."""
    manager: PluginManager = field(default_factory=PluginManager, repr=False)
    """The plugin manager. All registries of a process whose plugins come from entry points alone share one."""
    withdrawn: dict[Key, str] = field(default_factory=dict)
    """Names that two installed plugins define. Neither gets the name, and using it raises an error."""

    def game(self, name: str) -> type[Game]:
        """Return the class of the game `name`. UnknownName suggests similar names."""
        return self._find("game", self.games, name)

    def agent(self, name: str) -> type[Agent]:
        """Return the class of the agent `name`. UnknownName suggests similar names."""
        return self._find("agent", self.agents, name)

    def format(self, name: str) -> type[Format]:
        """Return the class of the format `name`. UnknownName suggests similar names."""
        return self._find("format", self.formats, name)

    def heuristic(self, game: str, name: str) -> Callable[..., Any]:
        """Return the heuristic `name` for a game. UnknownName suggests similar names, or lists the games that have it."""
        return self._find_of(game, "heuristic", self.heuristics, name)

    def encoding(self, game: str, name: str) -> Callable[..., Any]:
        """Return the encoding `name` of a game. UnknownName suggests similar names of this game."""
        return self._find_of(game, "encoding", self.encodings, name)

    def part(self, kind: str, name: str) -> Any:
        """Return the part `name` of a `kind` such as "isolation". UnknownName suggests similar names."""
        return self._find(kind, self.parts[kind], name)

    def value(self, key: Key) -> Any:
        """Return the class, heuristic or encoding with a `key` of `sources`. KeyError if two installed plugins define it."""
        return self.table(key[0])[_name(key)]

    def items(self) -> list[tuple[Key, Any]]:
        """Return every class, heuristic and encoding with its key in `sources`."""
        return [(key, self.value(key)) for key in self.sources if key not in self.withdrawn and key[0] not in self.parts]

    def named(self, name: str) -> list[tuple[Key, Any]]:
        """Return every class, heuristic and encoding with this `name`, for all games. UnknownName suggests similar names."""
        found = [(key, value) for key, value in self.items() if key[-1] == name]
        if not found:
            kinds, known = "game, agent, heuristic, encoding or format", [key[-1] for key, _ in self.items()]
            raise UnknownName(kinds, name, known, loadable=True, hint=self._explain_name(name))
        return found

    def described(self, text: str, kind: str | None = None) -> list[Key]:
        """Return the keys of everything, or everything of a `kind`, whose name or docstring contains the words of `text`.

        Upper case, hyphens and line ends make no difference. Names and sentences that begin with `Also called` come first: if any
        of them contains the words, only such objects are returned.

        >>> arena.load_plugins().described("Monte-Carlo tree search", "agent")[0]
        ('agent', 'mcts')
        """
        wanted = _plain_words(text)
        if not wanted.strip():
            return []
        texts = {
            key: f"{key[-1]}. {value.__doc__ or ''}"
            for key, value in self.items()
            if kind in (None, key[0]) and key[0] not in self.parts
        }
        named = [
            key
            for key, words in texts.items()
            if any(wanted in _plain_words(one) for one in (key[-1], *_ALSO_CALLED.findall(words)))
        ]
        return named or [key for key, words in texts.items() if wanted in _plain_words(words)]

    def table(self, kind: str) -> MutableMapping[Any, Any]:
        """Return all objects of a `kind`: game, agent, heuristic, encoding, format or a kind of part. KeyError otherwise."""
        tables: dict[str, MutableMapping[Any, Any]] = {
            "game": self.games,
            "agent": self.agents,
            "heuristic": self.heuristics,
            "encoding": self.encodings,
            "format": self.formats,
            **self.parts,
        }
        return tables[kind]

    def heuristics_of(self, game: str) -> list[str]:
        """Return the names of the heuristics of a game, sorted."""
        return sorted(name for owner, name in self.heuristics if owner == game)

    def encodings_of(self, game: str) -> list[str]:
        """Return the names of the encodings of a game, in the order of their definition. The first is the default."""
        return [name for owner, name in self.encodings if owner == game]

    def games_for(self, agent: type[Agent]) -> dict[str, Game]:
        """Return the games that `agent` can play, made with default parameters. Other games are left out.

        Native games, which may crash this process, are also left out, unless the agent is made for certain games.
        """
        wanted = {name: kind for name, kind in self.games.items() if Abilities(agent).games or kind.native is not True}
        games = {name: make_default(kind) for name, kind in wanted.items()}
        return {name: game for name, game in games.items() if game is not None and Abilities(agent).find_refusal(game) is None}

    def agents_for(self, game: Game) -> list[str]:
        """Return the names of the agents that can play `game`, sorted."""
        return sorted(name for name, agent in self.agents.items() if Abilities(agent).find_refusal(game) is None)

    def propose_agents(self, game: Game, *, informed: bool) -> list[str]:
        """Return the names of agents that declare a priority for `game` and can play it, the highest priority first.

        `informed` is true if they get a heuristic. Agents with equal priorities stay in the order in which plugins define them.
        """
        words = Traits.of(game) | ({"heuristic"} if informed else set())
        weights = {
            name: max([weight for word, weight in Hints.of(agent).proposed.items() if word in words], default=0)
            for name, agent in self.agents.items()
            if Abilities(agent).find_refusal(game) is None
        }
        return sorted([name for name, weight in weights.items() if weight > 0], key=lambda name: -weights[name])

    def list_references(self, game: Game) -> list[str]:
        """Return the names of reference agents that can play `game`, arena's own agents first."""
        wanted = (True, "puzzles" if game.players == 1 else "games")
        agents = self.agents.items()
        found = [
            name for name, agent in agents if Hints.of(agent).reference in wanted and Abilities(agent).find_refusal(game) is None
        ]
        return sorted(found, key=lambda name: not self.sources["agent", name].own)

    def find_first_game(self, *, puzzle: bool) -> str | None:
        """Return the first puzzle or, if `puzzle` is false, the first game with several seats. Arena's own games come first."""
        found = [name for name, kind in self.games.items() if issubclass(kind, Puzzle) == puzzle]
        native = {name: bool(self.games[name].native) for name in found}
        return min(found, key=lambda name: (not self.sources["game", name].own, native[name]), default=None)

    def _find(self, kind: str, known: Mapping[str, Brought], name: str) -> Brought:
        expect(kind, name, str, "a name")
        if name in known:
            return known[name]
        self._refuse_withdrawn(kind, name)
        hint = None if kind in self.parts else self._explain_name(name, kind)
        raise UnknownName(kind, name, known, loadable=kind not in self.parts, hint=hint)

    def _find_of(self, game: str, kind: str, known: Mapping[tuple[str, str], Brought], name: str) -> Brought:
        expect(kind, name, str, "a name")
        if (game, name) in known:
            return known[game, name]
        self._refuse_withdrawn(kind, game, name)
        raise UnknownName(f"{kind} of {game}", name, [other for owner, other in known if owner == game], loadable=True)

    def _explain_name(self, name: str, kind: str | None = None) -> str | None:
        """Return a hint for an unknown name that is known elsewhere, or that a docstring mentions; None without a hint."""
        elsewhere = ELSEWHERE.get(name.lower())
        if elsewhere is not None and kind in (None, elsewhere[0]):
            return elsewhere[1]
        found = sorted({key[-1] for key in self.described(name, kind)})
        if not 1 <= len(found) <= MAX_DESCRIBED:
            return None
        where = "its description mentions" if len(found) == 1 else "their descriptions mention"
        return f"did you mean {listing([*map(repr, found)], 'or')}? ({where} {name!r})"

    def _refuse_withdrawn(self, *key: str) -> None:
        if key in self.withdrawn:
            raise PluginError("conflict", self.withdrawn[key])


_ENGINE = "an engine is a program: write {{agent: {{command: [{}], protocol: {}}}}}, as `arena docs engines` shows"
_SPIEL = "open_spiel has a game of this name: write {{name: openspiel, game: {}}}, as `arena docs openspiel` shows"
ELSEWHERE: dict[str, tuple[str, str]] = {
    "chess": ("game", hint_at_distribution("chess")),
    **{name: ("agent", _ENGINE.format(name, "uci")) for name in ("stockfish", "lc0", "komodo", "crafty", "fruit")},
    **{name: ("agent", _ENGINE.format(name, "gtp")) for name in ("gnugo", "katago", "leela", "pachi", "mohex")},
    **{name: ("game", _SPIEL.format(name.replace("-", "_"))) for name in ("go", "havannah", "y", "amazons", "tiny-bridge")},
}
"""Names that belong to other distributions or programs, each with its kind and how to get it."""
_ALSO_CALLED = re.compile(r"\bAlso called ([^.]*)")
MAX_DESCRIBED = 3
"""The largest number of descriptions with an unknown name that a message lists. More of them would not help."""


def _plain_words(text: str) -> str:
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def refuse_duplicates(registry: Registry, source: Source, found: Iterable[tuple[Key, Any]]) -> None:
    """Raise Unfit if a plugin that the user named defines a name of arena or of another plugin that the user named.

    If an installed package has the name, the plugin that the user named takes its place.
    """
    for key, value in found:
        other = registry.sources.get(key)
        if source.asked and other is not None and (other.asked or other.own) and not same_code(registry, key, value):
            entry = f"{{agent: {key[-1]}, plugin: {Path(source.name).name}}}"
            both = f", or play both versions: do not load this one, but name it in an entry, {entry}"
            raise Unfit(
                f"defines {' '.join(key)!r}, which {other} also defines ({locate(registry.table(key[0]).get(_name(key)))}); "
                f"rename one of them{both if key[0] == 'agent' else ''}"
            )


def same_code(registry: Registry, key: Key, value: Any) -> bool:
    """Return whether a plugin that the user named and an installed one have the same code, as with `pip install --editable`."""
    other = registry.table(key[0]).get(_name(key))
    if other is (value := _import_named(value)):
        return False
    here, there = source_line(value), source_line(other)
    return None not in (here, there) and os.path.realpath(str(here)) == os.path.realpath(str(there))


def enter(registry: Registry, source: Source, key: Key, value: Any) -> str | None:
    """Add a name to the registry. If two installed plugins define it, withdraw the name, and return a note that says so."""
    if key in registry.sources and not source.asked:
        both = f"{registry.sources[key]} and {source} both define {' '.join(key)!r}; uninstall one of them"
        registry.withdrawn[key] = both
        registry.table(key[0]).pop(_name(key), None)
        return both
    registry.withdrawn.pop(key, None)
    if isinstance(value, Part):
        registry.parts.setdefault(value.kind, {})
    registry.sources[key] = source
    registry.table(key[0])[_name(key)] = value
    if key[0] == "encoding" and isinstance(value, NamedObject):
        import_later(key[1], key[2], value.load)
    if isinstance(value, SearchEngine):  # matches without a registry use it, too
        add_search_engine(value)
    return None


def _name(key: Key) -> Any:
    return key[1] if len(key) == 2 else key[1:]
