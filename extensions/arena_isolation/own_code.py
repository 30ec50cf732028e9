"""The keys `version` and `plugin` of an entry: an agent whose code is in its own process alone, known by what that tells."""

from collections.abc import Mapping
from dataclasses import replace
from os.path import realpath
from pathlib import Path
from typing import Any

from arena import Action, Agent, Answer, Game, State
from arena import Path as Solution
from arena.api.cli import suggest
from arena.api.match import Program, Search
from arena.api.spec import (
    EntryAgent,
    Evaluation,
    GivenEntry,
    SoundAgent,
    SourceReader,
    SpecReader,
    make_absolute,
    parameters_of,
    resolve_place,
)
from arena.spec.choices import Choices, Fitted
from arena.spec.document import Path as Where
from arena.spec.games import Rules
from arena.spec.labels import CodeLabel
from arena.spec.parameters import Report
from arena.spec.source import list_organisers, name_plugin, say_trusted
from arena_isolation.describe import CheckedValues, DescribedAgent, DescribeHost, NotDescribed
from arena_isolation.revisions import RevisionError
from arena_isolation.versions import NoVersion, PluginVersion, SharedCode, shared_code, submission, version_of

VERSION = "version"
PLUGIN = "plugin"
_EXPECTED = {VERSION: "a Python file or git:REVISION", PLUGIN: "a Python file"}
_APART = {PLUGIN: "an agent with a plugin of its own", VERSION: "another version"}


class _Elsewhere(Agent):
    """An agent whose code is in another process alone."""

    def __init__(self, **options: Any) -> None:
        """Take any options: they were checked where its code is."""


def _choose(self: Agent, game: Game, state: State, search: Search) -> Action:
    raise TypeError("an agent with code of its own plays in a process of its own")


def _solve(self: Agent, game: Game, state: State, search: Search) -> Solution | Answer | None:
    raise TypeError("an agent with code of its own plays in a process of its own")


def stand_in(described: DescribedAgent) -> type[Agent]:
    """A class that stands for an agent whose code is in another process: it has its name and needs, and cannot play."""
    members = {
        "name": described.name,
        "needs": described.needs,
        "copes": described.copes,
        "games": described.games,
        "wants_heuristic": described.wants_heuristic,
        **({"choose": _choose} if described.chooses else {}),
        **({"solve": _solve} if described.solves else {}),
    }
    return type("Elsewhere", (_Elsewhere,), members)


class CodeReader(SourceReader):
    """Reads entries that bring code, and asks processes what that is. Each process lives as long as the spec is read."""

    def __init__(self, reading: SpecReader) -> None:
        super().__init__(reading)
        self.shared = shared_code(reading.shared)
        self._hosts: dict[tuple[str, ...], DescribeHost] = {}
        self._pinned: dict[str, str] = {}

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of an entry that brings code by `plugin`, or by `version`; None for any other.

        A key of that name is an option if the class of the agent declares one, or if the agent is a command.
        """
        name = given.values.get("agent")
        if not isinstance(name, str):
            return None
        agent = self.reading.registry.agents.get(name)
        options = parameters_of(agent) if agent is not None else ()
        key = next((key for key in (PLUGIN, VERSION) if key in given.values and key not in options), None)
        return None if key is None else CodeAgent(given, self, name, key)

    def code(self, agent: str, key: str, text: str) -> tuple[PluginVersion, tuple[str, ...]]:
        """Return the code that an entry names by `key`, and the plugins that its process loads beside it.

        NoVersion or RevisionError says why it cannot be had.
        """
        reading, folder = self.reading, self.reading.document.folder
        moved = self.shared.versions.get((agent, key == PLUGIN, text))
        if key == VERSION:
            version = moved or version_of(reading.registry, agent, text, folder)
            self._pinned[text] = version.text
            return version, self._others(agent)
        version = moved or submission(text, folder, self._submitted_files())
        return version, self.plugins(version, reading.games)

    def plugins(self, version: PluginVersion, games: tuple[str, ...]) -> tuple[str, ...]:
        """Return the plugins of the organiser that bring one of some games, but for the code itself."""
        return list_organisers(self.reading, games, but=self.shared.twins.get(version.file, version.file))

    def _others(self, agent: str) -> tuple[str, ...]:
        """The plugins of a spec but for the one that brings an agent, as a process in another folder understands them."""
        source = self.reading.registry.sources.get(("agent", agent))
        own = None if source is None else resolve_place(source.name)
        return tuple([make_absolute(plugin) for plugin in self.reading.plugins if resolve_place(plugin) != own])

    def _submitted_files(self) -> set[Path]:
        """The files that entries of the spec name as their `plugin`, sweeps written out; entries with faults are left out."""
        found: set[Path] = set()
        for entry in self.reading.values.get("agents") or ():
            given = entry.get(PLUGIN) if isinstance(entry, dict) else None
            swept = given.get("sweep") if isinstance(given, dict) else [given]
            texts = [text for text in swept if isinstance(text, str) and "\0" not in text] if isinstance(swept, list) else []
            found |= {Path(realpath(self.reading.document.folder / text)) for text in texts}
        return found

    def host(self, version: PluginVersion, plugins: tuple[str, ...], isolation: str) -> DescribeHost:
        """Return the process that describes a version. NotDescribed if it cannot."""
        key = (version.plugin, version.code, isolation, *plugins)
        if key not in self._hosts:
            folder = str(self.reading.document.folder)
            self._hosts[key] = DescribeHost(version, plugins, folder, isolation, self.shared.described.get(key))
        return self._hosts[key]

    def pin(self, agents: Any) -> Any:
        """Return the agents of a spec with every version that names a revision replaced by its commit: a branch moves on."""
        return _pin(agents, self._pinned) if self._pinned else agents

    def share(self) -> SharedCode:
        """Return the descriptions, so that workers need not ask again."""
        return replace(self.shared, described={key: host.told for key, host in self._hosts.items()})

    def close(self) -> None:
        """End the processes."""
        for host in self._hosts.values():
            host.end()


def _pin(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_pin(one, texts) for one in value]
    if not isinstance(value, dict) or VERSION not in value or not isinstance(value.get("agent"), (str, dict)):
        return value
    given = value[VERSION]
    if isinstance(given, dict) and isinstance(given.get("sweep"), list):
        return {**value, VERSION: {"sweep": [texts.get(one, one) if isinstance(one, str) else one for one in given["sweep"]]}}
    return {**value, VERSION: texts.get(given, given) if isinstance(given, str) else given}


class CodeAgent(EntryAgent):
    """An agent with code of its own: a class stands for it here, and its own process tells about it."""

    moves = True
    here = False
    code: PluginVersion
    _host: DescribeHost

    def __init__(self, given: GivenEntry, reader: CodeReader, name: str, key: str) -> None:
        super().__init__(given)
        self._reader = reader
        self._name = name
        self._key = key
        self._known: frozenset[tuple[str, str]] | None = None
        self._plugins: tuple[str, ...] = ()
        self.apart = _APART[key]

    def read(self, isolation: str) -> SoundAgent:
        """Return a class that stands for the agent, and the options as its process has them; faults are noted."""
        values, report = self.given.values, self.given.report
        if self._key == PLUGIN and VERSION in values:
            report((VERSION,), "an entry has a plugin of its own or another version of one; leave one of them out")
        text = values[self._key]
        if not isinstance(text, str) or not text:
            report((self._key,), f"expected {_EXPECTED[self._key]}, got {text!r}")
            return SoundAgent()
        try:
            version, self._plugins = self._reader.code(self._name, self._key, text)
            self._host = self._reader.host(version, self._plugins, isolation)
        except (NoVersion, RevisionError, NotDescribed) as error:
            report((self._key,), str(error))
            return SoundAgent()
        description = self._host.description
        described = description.agents.get(self._name)
        if described is None:
            report(("agent",), f"no agent {self._name!r} in {self._key} {text}; {suggest(self._name, description.agents)}")
            return SoundAgent()
        self.code = replace(version, heuristics=description.heuristics)
        self.code_label = CodeLabel(f"{self._key}={self.code.short}", always=self._key == VERSION)
        self._known = description.known
        agent = stand_in(described)
        checked = _ask(lambda: self._host.options(self._name, self.given.options(PLUGIN, VERSION)), report)
        if checked is None:
            return SoundAgent(agent)
        claiming = type(agent.__name__, (agent,), {"optimal": checked.optimal})
        return SoundAgent(claiming, checked.values, checked.changed)

    def check_heuristics(self, choices: Choices) -> None:
        """Note a fault for every heuristic that the process of the agent does not know for a game of the spec."""
        if self._known is None:
            super().check_heuristics(choices)
            return
        games = self.reading.games
        for game, choice in choices.items():
            wanted = [name for name in games if game in (None, name)]
            if not any((name, choice.name) in self._known for name in wanted):
                hint = suggest(choice.name, [name for owner, name in self._known if owner in wanted])
                message = f"no heuristic {choice.name!r} of {' or '.join(games)} in that {self._key}; {hint}"
                self.reading.faults.add(choice.path, message)

    def heuristic(self, choices: Choices, rules: Rules) -> tuple[Evaluation | None, Fitted | None]:
        """Return the heuristic that the entry gets on a board, which its own process makes.

        As with other entries a heuristic of another game gives way to the default of the board.
        """
        chosen = self._choose(choices, rules)
        known = None if chosen is None else (rules.name, chosen.name)
        if known in self.reading.registry.heuristics and known not in self.code.heuristics:
            super().heuristic(choices, rules)  # its tables are built here, before the clock of its agent runs
        return None, chosen

    def _choose(self, choices: Choices, rules: Rules) -> Fitted | None:
        known = self._known or frozenset()
        choice, default = choices.get(rules.name) or choices.get(None), rules.game.default_heuristic
        if choice is not None and (rules.name, choice.name) in known:
            name, given, report = choice.name, choice.parameters, choice.report
        elif default is not None and (rules.name, default) in known:
            name, given, report = default, {}, _ignore
        else:
            return None
        checked = _ask(lambda: self._host.parameters(rules.name, name, given), report)
        return None if checked is None or checked.values is None else Fitted(name, checked.values, checked.changed)

    def knows_admissible(self, game: str, heuristic: str) -> bool:
        """Return False: a heuristic of that code is not here."""
        return False

    def program(self, program: Program, game: str) -> Program:
        """Return how its process makes the agent: with its code, and with no plugins but those that it may have."""
        plugins = self._reader.plugins(self.code, (game,)) if self.code.submitted else self._plugins
        return replace(program, plugins=plugins, version=self.code)

    def note_trust(self, agent: str) -> None:
        """Note that arena's own processes load the same file."""
        loaded = {resolve_place(one.source.name): one.source.name for one in self.reading.registry.plugins if one.source.asked}
        given = loaded.get(self.code.file)
        if given is not None:
            say_trusted(self.reading, agent, name_plugin(self.reading, given), "name it nowhere else")


def _ask(ask: Any, report: Report) -> CheckedValues | None:
    try:
        checked: CheckedValues = ask()
    except NotDescribed as error:
        report(("agent",), str(error))
        return None
    for path, message in checked.faults:
        report(path, message)
    return None if checked.faults else checked


def _ignore(path: Where, message: str) -> None:
    """A default that takes no parameters has no faults."""
