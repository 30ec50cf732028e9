"""How an entry of a spec gets its agent: from the registry, or from a source that an extension adds."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path as FilePath
from typing import Any, ClassVar, NamedTuple

from arena.agent import Agent
from arena.errors import suggest
from arena.game import Game
from arena.heuristics import Evaluation, HeuristicInfo
from arena.hookspecs import Part
from arena.limits import Limits
from arena.match.match import OwnCode, Program
from arena.plugins.registry import Registry
from arena.plugins.sources import PluginPlace
from arena.spec.choices import Choices, Fitted, check_choices, fit_heuristic
from arena.spec.document import Path
from arena.spec.games import Rules
from arena.spec.labels import CodeLabel
from arena.spec.model import EntryKeys
from arena.spec.parameters import UNKNOWN_KEY, Parameters, check_value, locate_options, make_adapter
from arena.spec.reader import SpecReader
from arena.spec.sweep import Variant
from arena.traits import Abilities

KEYS = tuple(EntryKeys.model_fields)
"""The keys of an entry that do not depend on a source."""


@dataclass(frozen=True, slots=True)
class GivenEntry:
    """An entry as the spec gives it, after sweeps have been expanded."""

    reading: SpecReader
    path: Path
    variant: Variant

    @property
    def values(self) -> dict[str, Any]:
        """The keys of the entry, with their values."""
        return self.variant.values

    def report(self, path: Path, message: str) -> None:
        """Report a fault at a value. The path starts at the entry."""
        self.reading.below(self.path, self.variant)(path, message)

    def check(self, path: Path, hint: Any, value: Any) -> Any:
        """Return the value at a path that starts at the entry, converted by its type hint; None if faults were noted."""
        return check_value(make_adapter(hint), value, path, self.report)

    def options(self, *keys: str) -> dict[str, Any]:
        """Return the options of the agent: all keys except `keys` and the keys that every entry may have."""
        return {key: value for key, value in self.values.items() if key not in (*KEYS, *keys)}


class SoundAgent(NamedTuple):
    """The class and the options of an agent, if they passed the checks; either of them is None if it has a fault."""

    agent: type[Agent] | None = None
    options: dict[str, Any] | None = None
    """The options, completed with defaults."""
    changed: Mapping[str, Any] = {}
    """The options that differ from their defaults, as JSON values."""


class EntryAgent:
    """The agent of an entry. The methods here are for an agent in the registry; a source overrides those that differ."""

    apart: str | None = None
    """If the entry always runs in its own process, a description of this kind of entry, such as "a program"; otherwise None."""
    moves = False
    """Whether the entry runs in its own process even if the whole spec says `isolation: none`. If False, this is a fault."""
    here = True
    """Whether this process creates the agent from the class. If not, the class stands for code in another process."""
    code: OwnCode | None = None
    """Code that the entry brings along and that only the process of its agent loads."""
    code_label: CodeLabel | None = None
    """How default labels name this code."""

    def __init__(self, given: GivenEntry) -> None:
        self.given = given
        self.reading = given.reading

    def read(self, isolation: str) -> SoundAgent:
        """Check the class and the options, and return them. Faults are noted."""
        agent = self.find()
        options = None if agent is None else self.check_options(agent)
        if agent is None or options is None:
            return SoundAgent(agent)
        return SoundAgent(agent, options, Parameters(agent).drop_defaults(options))

    def find(self) -> type[Agent] | None:
        """Return the class; None if a fault was noted."""
        name, path = self.given.values.get("agent"), self.given.path
        if not isinstance(name, str):
            return None
        where = (*path, *self.given.variant.origin(("agent",))) if self.reading.is_mapping(path) else path
        found: type[Agent] | None = self.reading.known(self.reading.registry.agent, name, where)
        return found

    def check_options(self, agent: type[Agent]) -> dict[str, Any] | None:
        """Check the options by their type hints and by creating the agent. Return them with defaults; None after a fault."""
        known, cost = Parameters(agent), self.reading.values.get("max_cost")
        common = {} if cost is None or "max_cost" not in known.known else {"max_cost": cost}

        keys = (*KEYS, *source_keys(self.reading.registry))  # an unknown option may be a misspelt key of the entry
        options = known.validate(common | self.given.options(), (), self.given.report, beside=keys)
        if options is None:
            return None
        files = known.find_files(options, self.reading.document.folder)
        made = self.reading.made(agent, locate_options(options, files, FilePath.cwd()), self.given.path)
        return None if made is None else options

    def check_limits(self, agent: type[Agent], options: Mapping[str, Any], limits: Limits) -> None:
        """Report a fault if the agent cannot keep a limit of its entry."""

    def check_heuristics(self, choices: Choices) -> None:
        """Report a fault for every heuristic that does not exist or does not fit any game of the spec."""
        check_choices(self.reading, choices, self.reading.games)

    def name(self, agent: type[Agent]) -> str:
        """Return the name that is shown if the entry has no label and no other entry has the same name."""
        return agent.name

    def refusal(self, agent: type[Agent], game: Game) -> str | None:
        """Return why the agent cannot play a game; None if it can."""
        return Abilities(agent).find_refusal(game)

    def heuristic(self, choices: Choices, rules: Rules) -> tuple[Evaluation | None, Fitted | None]:
        """Return the heuristic for a board, ready to be called, and its description; see `fit_heuristic`."""
        return fit_heuristic(self.reading, choices, rules, self.given.path)

    def knows_admissible(self, game: str, heuristic: str) -> bool:
        """Return whether a heuristic is known to be admissible."""
        known = self.reading.registry.heuristics.get((game, heuristic))
        info = None if known is None else HeuristicInfo.of(known)
        return info is not None and info.admissible

    def identity_options(self) -> Mapping[str, Any]:
        """The data that the identity of the entry includes in addition to its options."""
        return {}

    def program(self, program: Program, game: str) -> Program:
        """Return how another process creates the agent. For an agent in the registry, this is `program`, unchanged."""
        return program

    def note_trust(self, agent: str) -> None:
        """Add a note that arena's own processes also load the file of an agent that plays in an isolation without
        access to files.
        """
        source = self.reading.registry.sources.get(("agent", agent))
        if source is not None and source.asked:
            name = name_plugin(self.reading, source.name)
            file = name if PluginPlace(source.name).is_file else "FILE"
            advice = (
                f"write {{agent: {agent}, plugin: {file}, isolation: sandbox}} and do not list it under plugins or load it "
                "elsewhere"
            )
            say_trusted(self.reading, agent, source.name, advice)


class SourceReader:
    """Reads the entries of one spec that have a key of this source."""

    def __init__(self, reading: SpecReader) -> None:
        self.reading = reading

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of an entry; None if the entry does not use this source."""
        raise NotImplementedError

    def pin(self, agents: Any) -> Any:
        """Return the `agents` of the spec with fixed references: for example, a commit instead of the name of a branch."""
        return agents

    def share(self) -> Any:
        """Return data (or None) for other processes that rebuild this spec. They get a pickled copy in `SpecReader.shared`."""
        return None

    def close(self) -> None:
        """Stop everything that was started. This is called after the spec has been read."""


@dataclass(frozen=True)
class AgentSource(Part):
    """A source of agents other than the registry. It handles entries of a spec that have one of its keys.

    `open` returns a reader for the entries of one spec. If several readers accept an entry, the one
    whose source has the highest `rank` is used.

    >>> AgentSource("remote", open=lambda reading: None, keys={"address": "Where the agent runs."}).rank
    0
    """

    kind: ClassVar[str] = "source"
    open: Callable[[SpecReader], SourceReader]
    keys: Mapping[str, str] = field(default_factory=dict)
    """The keys of an entry, each with its description."""
    agent_keys: Sequence[str] = ()
    """The keys that it reads in a mapping that is the value of the key `agent`."""
    harmless_keys: Sequence[str] = ()
    """The keys in `keys` and `agent_keys` whose values do not name code (a file, a program or a module).

    The values of all other keys count as code. If a spec comes from a store, such code is loaded only if the user names it, too.
    """
    rank: int = 0


def source_keys(registry: Registry) -> dict[str, str]:
    """Return the keys of entries that agent sources accept, each with its description."""
    return {key: text for source in _list_sources(registry) for key, text in source.keys.items()}


def code_keys(registry: Registry) -> frozenset[str]:
    """Return the keys of an entry, or of a mapping at its key `agent`, whose values name code."""
    return frozenset(
        key for source in _list_sources(registry) for key in (*source.keys, *source.agent_keys) if key not in source.harmless_keys
    )


def _list_sources(registry: Registry) -> Iterable[AgentSource]:
    return sorted(registry.parts[AgentSource.kind].values(), key=lambda source: (-source.rank, source.name))


def take_entry(given: GivenEntry) -> EntryAgent:
    """Return the agent of an entry: from the first source that accepts it, or else from the registry."""
    reading, agent = given.reading, given.values.get("agent")
    inner = agent if isinstance(agent, dict) else {}
    known = sorted({key for source in _list_sources(reading.registry) for key in source.agent_keys})
    for key in [key for key in inner if key not in known]:
        hint = suggest(key, known) if known else "no keys are expected here"
        given.report(("agent", key), f"{UNKNOWN_KEY}; {hint}; write options next to agent, not inside it")
    for source in _list_sources(reading.registry):
        if any(key in given.values for key in source.keys) or any(key in inner for key in source.agent_keys):
            if source.name not in reading.sources:
                reading.sources[source.name] = source.open(reading)
            found: EntryAgent | None = reading.sources[source.name].read(given)
            if found is not None:
                return found
    if isinstance(agent, dict):
        given.report(("agent",), "expected the name of an agent or {command: [program, argument, ...]}")
    return EntryAgent(given)


def list_organisers(
    registry: Registry, games: Collection[str], *, but: str | None = None, agent: str | None = None
) -> tuple[str, ...]:
    """Return the plugins of the organiser that define one of the `games`, a heuristic for one of them, or the `agent`.

    The organiser requests plugins by `plugins`, `--plugin` and ARENA_PLUGINS. Paths are absolute. The file `but` is left out.
    """
    wanted = {
        source
        for key, source in registry.sources.items()
        if source.asked and (key == ("agent", agent) or (key[0] in ("game", "heuristic", "encoding") and key[1] in games))
    }
    given = [plugin.source.name for plugin in registry.plugins if plugin.source in wanted]
    return tuple([PluginPlace(name).absolute for name in given if PluginPlace(name).real != but])


def name_plugin(reading: SpecReader, plugin: str) -> str:
    """Return the name by which the spec may refer to a plugin."""
    return relpath(plugin, reading.document.folder) if PluginPlace(plugin).is_file else plugin


def say_trusted(reading: SpecReader, agent: str, plugin: str, advice: str) -> None:
    """Add a note that arena itself loads a plugin, and how to avoid this."""
    name = name_plugin(reading, plugin)
    reading.note(
        f"{agent} plays in a sandbox, but arena itself loads its plugin {name}, so it is trusted; to avoid this, {advice}"
    )
