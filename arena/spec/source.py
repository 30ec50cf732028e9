"""How an entry of a spec gets its agent: from the registry, or from a source that an extension brings."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path as FilePath
from typing import Any, NamedTuple, get_type_hints

from arena.agent import Agent
from arena.configured import SPEC_FILE, initializer, parameters_of
from arena.errors import suggest
from arena.game import Game
from arena.heuristics import Evaluation, info_of
from arena.limits import Limits
from arena.match.match import OwnCode, Program
from arena.parts import AgentSource, explain_missing
from arena.plugins.registry import Registry
from arena.plugins.sources import is_file, make_absolute, resolve_place
from arena.spec.choices import Choices, Fitted, check_choices, fit_heuristic
from arena.spec.document import Path
from arena.spec.games import Rules
from arena.spec.labels import CodeLabel
from arena.spec.model import EntryKeys
from arena.spec.parameters import UNKNOWN_KEY, drop_defaults, validate_parameters
from arena.spec.reader import SpecReader
from arena.spec.sweep import Variant
from arena.traits import find_refusal

KEYS = tuple(EntryKeys.model_fields)
"""The keys of an entry that need no source."""


@dataclass(frozen=True, slots=True)
class GivenEntry:
    """An entry as the spec gives it, sweeps expanded."""

    reading: SpecReader
    path: Path
    variant: Variant

    @property
    def values(self) -> dict[str, Any]:
        """The keys of the entry."""
        return self.variant.values

    def report(self, path: Path, message: str) -> None:
        """Note a fault at a value, by its path from the entry."""
        self.reading.below(self.path, self.variant)(path, message)

    def options(self, *keys: str) -> dict[str, Any]:
        """Return the options of the agent: all keys but `keys` and the common keys of all entries."""
        return {key: value for key, value in self.values.items() if key not in (*KEYS, *keys)}


class SoundAgent(NamedTuple):
    """The class of an agent with its options; None for each that has a fault."""

    agent: type[Agent] | None = None
    options: dict[str, Any] | None = None
    """The options with defaults filled in."""
    changed: Mapping[str, Any] = {}
    """The options that differ from their defaults, in the terms of JSON."""


class EntryAgent:
    """The agent of an entry. These methods are for an agent of the registry; a source overrides those that differ."""

    apart: str | None = None
    """The kind of entry if it always runs in its own process, such as "a program"."""
    moves = False
    """Whether it runs in its own process even if the whole spec has `isolation: none`; otherwise this is a fault."""
    here = True
    """Whether the agent is made from the class; otherwise the class stands for code in another process."""
    code: OwnCode | None = None
    """Code that the entry brings, loaded only by the process of its agent."""
    code_label: CodeLabel | None = None
    """The text for this code in default labels."""

    def __init__(self, given: GivenEntry) -> None:
        self.given = given
        self.reading = given.reading

    def read(self, isolation: str) -> SoundAgent:
        """Return the class and the options, checked; faults are noted."""
        agent = self.find()
        options = None if agent is None else self.check_options(agent)
        if agent is None or options is None:
            return SoundAgent(agent)
        return SoundAgent(agent, options, drop_defaults(agent, options))

    def find(self) -> type[Agent] | None:
        """Return the class; None after its fault is noted."""
        name, path = self.given.values.get("agent"), self.given.path
        if not isinstance(name, str):
            return None
        where = (*path, *self.given.variant.origin(("agent",))) if self.reading.is_mapping(path) else path
        found: type[Agent] | None = self.reading.known(self.reading.registry.agent, name, where)
        return found

    def check_options(self, agent: type[Agent]) -> dict[str, Any] | None:
        """Return the options with defaults, checked against the hints of the class and by making the agent once; None after a
        fault.
        """
        options = validate_parameters(agent, self.given.options(), (), self._report_option)
        if options is None:
            return None
        files = find_option_files(agent, options, self.reading.document.folder)
        made = self.reading.made(agent, locate_options(options, files, FilePath.cwd()), self.given.path)
        return None if made is None else options

    def _report_option(self, path: Path, message: str) -> None:
        """Note a fault of an option; an unknown option may be a misspelt key of the entry."""
        if len(path) == 1 and message.startswith(UNKNOWN_KEY) and explain_missing(str(path[0])) is not None:
            return  # `take_entry` has noted that its source is missing
        if len(path) == 1 and message.startswith(UNKNOWN_KEY) and "did you mean" not in message:
            near = suggest(str(path[-1]), (*KEYS, *source_keys(self.reading.registry)))
            message = f"{UNKNOWN_KEY}; {near}" if near.startswith("did") else message
        self.given.report(path, message)

    def check_limits(self, agent: type[Agent], options: Mapping[str, Any], limits: Limits) -> None:
        """Note a fault if the agent cannot keep limits of its entry."""

    def check_heuristics(self, choices: Choices) -> None:
        """Note a fault for every heuristic that does not exist or fits no game of the spec."""
        check_choices(self.reading, choices, self.reading.games)

    def name(self, agent: type[Agent]) -> str:
        """Return the name of the entry if it has no label and no rival."""
        return agent.name

    def refusal(self, agent: type[Agent], game: Game) -> str | None:
        """Return why the agent cannot play a game; None if it can."""
        return find_refusal(agent, game)

    def heuristic(self, choices: Choices, rules: Rules) -> tuple[Evaluation | None, Fitted | None]:
        """Return the heuristic on a board, ready to be called, and its description; see `fit_heuristic`."""
        return fit_heuristic(self.reading, choices, rules, self.given.path)

    def knows_admissible(self, game: str, heuristic: str) -> bool:
        """Return whether a heuristic is known to be admissible."""
        known = self.reading.registry.heuristics.get((game, heuristic))
        info = None if known is None else info_of(known)
        return info is not None and info.admissible

    def identity_options(self) -> Mapping[str, Any]:
        """The part of the entry in the identity of its seat, beside its options."""
        return {}

    def program(self, program: Program, game: str) -> Program:
        """Return how another process makes the agent; `program` does this for an agent of the registry."""
        return program

    def note_trust(self, agent: str) -> None:
        """Note that arena's own processes load the file of an agent that plays in a closed place."""
        source = self.reading.registry.sources.get(("agent", agent))
        if source is not None and source.asked:
            name = name_plugin(self.reading, source.name)
            file = name if is_file(source.name) else "FILE"
            advice = f"write {{agent: {agent}, plugin: {file}, isolation: sandbox}} and name it nowhere else"
            say_trusted(self.reading, agent, source.name, advice)


class SourceReader:
    """Reads the entries of one spec that have a key of a source."""

    def __init__(self, reading: SpecReader) -> None:
        self.reading = reading

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of an entry; None if the entry does not belong to this source."""
        raise NotImplementedError

    def pin(self, agents: Any) -> Any:
        """Return the list of agents of the spec, with references that may change replaced by their present meaning."""
        return agents

    def share(self) -> Any:
        """Return the data that other processes that read the spec find in `SpecReader.shared`; it is pickled. None for nothing
        new.
        """
        return None

    def close(self) -> None:
        """End everything that was started; the spec has been read."""


def source_keys(registry: Registry) -> dict[str, str]:
    """Return the keys of entries that sources accept, each with its description."""
    return {key: text for source in _list_sources(registry) for key, text in source.keys.items()}


def code_keys(registry: Registry) -> frozenset[str]:
    """Return the keys of an entry, or of a mapping at its key `agent`, whose values name code."""
    return frozenset(
        key for source in _list_sources(registry) for key in (*source.keys, *source.agent_keys) if key not in source.harmless_keys
    )


def _list_sources(registry: Registry) -> Iterable[AgentSource]:
    return sorted(registry.parts[AgentSource.kind].values(), key=lambda source: (-source.rank, source.name))


def take_entry(given: GivenEntry) -> EntryAgent:
    """Return the agent of an entry, from the first source that accepts it, otherwise from the registry."""
    reading, agent = given.reading, given.values.get("agent")
    inner = agent if isinstance(agent, dict) else {}
    if not _check_keys(given, inner):
        return EntryAgent(given)
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


def _check_keys(given: GivenEntry, inner: Mapping[str, Any]) -> bool:
    """Return False after noting a fault for unknown keys in `agent`, or for a key when its source is not installed."""
    registry = given.reading.registry
    known = sorted({key for source in _list_sources(registry) for key in source.agent_keys})
    for key in inner:
        if key not in known and (missing := explain_missing(key)) is not None:
            given.report(("agent", key), missing)
            return False
        if key not in known:
            hint = suggest(key, known) if known else "none is expected here"
            given.report(("agent", key), f"{UNKNOWN_KEY}; {hint}; options stand beside agent")
    if inner:
        return True
    agent = registry.agents.get(str(given.values.get("agent")))
    known = [*KEYS, *source_keys(registry), *(() if agent is None else parameters_of(agent))]
    for key in given.values:
        if key not in known and (missing := explain_missing(key)) is not None:
            given.report((key,), missing)
            return False
    return True


def list_organisers(
    registry: Registry, games: Collection[str], *, but: str | None = None, agent: str | None = None
) -> tuple[str, ...]:
    """Return the requested plugins that bring one of some games, a heuristic of one, or an agent, as absolute paths.

    They belong to the organiser: `plugins`, `--plugin` and ARENA_PLUGINS. The file `but` is left out.
    """
    wanted = {
        source
        for key, source in registry.sources.items()
        if source.asked and (key == ("agent", agent) or (key[0] in ("game", "heuristic", "encoding") and key[1] in games))
    }
    given = [plugin.source.name for plugin in registry.plugins if plugin.source in wanted]
    return tuple([make_absolute(name) for name in given if resolve_place(name) != but])


def name_plugin(reading: SpecReader, plugin: str) -> str:
    """Return a plugin as the spec may name it."""
    return relpath(plugin, reading.document.folder) if is_file(plugin) else plugin


def say_trusted(reading: SpecReader, agent: str, plugin: str, advice: str) -> None:
    """Note that arena itself loads a plugin, and how to avoid it."""
    name = name_plugin(reading, plugin)
    reading.note(f"{agent} plays in a sandbox, but arena itself loads its plugin {name}, so that is trusted; else {advice}")


def find_option_files(constructor: Callable[..., Any], options: Mapping[str, Any], folder: FilePath) -> dict[str, str]:
    """Return the options with the hint SpecFile, each with the absolute path of its file. Options without an existing file are
    left out.

    A relative path starts in `folder`, the folder of the spec, or if no file is there, in the current folder.
    """
    try:
        hints = get_type_hints(initializer(constructor), include_extras=True)
    except Exception:  # the hints belong to a plugin; faults are reported when the options are checked
        return {}
    found: dict[str, str] = {}
    for name, hint in hints.items():
        if SPEC_FILE in getattr(hint, "__metadata__", ()) and isinstance(options.get(name), str):
            with suppress(OSError, RuntimeError, ValueError):  # not a valid file name, or an unknown home
                given = FilePath(options[name]).expanduser()
                path = next((path for path in (folder / given, given.absolute()) if path.exists()), None)
                if path is not None:
                    found[name] = str(path)
    return found


def locate_options(options: Mapping[str, Any], files: Mapping[str, str], folder: FilePath) -> dict[str, Any]:
    """Return options for a process that runs in `folder`: files in other folders as absolute paths."""
    return {**options, **{name: file for name, file in files.items() if FilePath(file) != folder / options[name]}}
