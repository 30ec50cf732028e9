"""Entries with the key `version` or `plugin`, which bring their own code. The code of such an agent runs only in a separate
process, which also describes the agent.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from os.path import realpath, relpath
from pathlib import Path
from typing import Any

from arena import Agent, Game, Search, State
from arena.api.errors import CodeTooComplex, suggest
from arena.api.games import NO_HEURISTIC, Evaluation
from arena.api.match import Program
from arena.api.processes import PythonProcess
from arena.api.spec import (
    Choices,
    CodeLabel,
    EntryAgent,
    Fitted,
    GivenEntry,
    Parameters,
    PluginPlace,
    PythonFile,
    Rules,
    SoundAgent,
    SourceReader,
    SpecReader,
    list_organisers,
)
from arena_isolation.agent_process import AgentProcess
from arena_isolation.describe import CheckedValues, DescribedAgent, DescribeHost, NotDescribed
from arena_isolation.revisions import RevisionError
from arena_isolation.versions import NoVersion, PluginVersion, SharedCode, list_plugin_code, shared_code, submission, version_of

VERSION = "version"
PLUGIN = "plugin"
_EXPECTED = {VERSION: "a Python file or git:REVISION", PLUGIN: "a Python file"}
_APART = {PLUGIN: "an agent with its own plugin", VERSION: "another version"}


class _Elsewhere(Agent):
    """The base class of agents whose code is only in another process."""

    def __init__(self, **options: Any) -> None:
        """Accept any options: the other process has validated them."""


def stand_in(described: DescribedAgent) -> type[Agent]:
    """Return a class that stands for an agent in another process. It has the name and the needs of the agent, but cannot play."""

    def refuse(self: Agent, game: Game, state: State, search: Search) -> Any:
        raise TypeError("an agent with its own code cannot play in this process; it needs a separate process")

    members = {
        "name": described.name,
        "needs": described.needs,
        "copes": described.copes,
        "games": described.games,
        "wants_heuristic": described.wants_heuristic,
        **({"choose": refuse} if described.chooses else {}),
        **({"solve": refuse} if described.solves else {}),
    }
    return type("Elsewhere", (_Elsewhere,), members)


class CodeReader(SourceReader):
    """Reads entries that bring their own code, and asks processes to describe this code. Each process lives as long as the spec
    is being read.
    """

    def __init__(self, reading: SpecReader) -> None:
        super().__init__(reading)
        self.shared = shared_code(reading.shared)
        self._hosts: dict[tuple[str, ...], DescribeHost] = {}
        self._pinned: dict[str, str] = {}
        self._imported: dict[Path, set[Path]] = {}

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of an entry with a `plugin` or `version`; None for any other entry.

        If the class of the agent declares an option named like the key, or if the agent is a command, the key is an ordinary
        option.
        """
        name = given.values.get("agent")
        if not isinstance(name, str):
            return None
        agent = self.reading.registry.agents.get(name)
        options = Parameters(agent).known if agent is not None else ()
        key = next((key for key in (PLUGIN, VERSION) if key in given.values and key not in options), None)
        return None if key is None else CodeAgent(given, self, name, key)

    def code(self, agent: str, key: str, text: str) -> tuple[PluginVersion, tuple[str, ...]]:
        """Return the code that an entry names by `key`, and the plugins that the process of its agent loads in addition.

        Raises NoVersion or RevisionError if the code is not available.
        """
        reading, folder = self.reading, self.reading.document.folder
        moved = self.shared.versions.get((agent, key == PLUGIN, text))
        if key == VERSION:
            version = moved or version_of(reading.registry, agent, text, folder)
            self._pinned[text] = version.text
            source = reading.registry.sources.get(("agent", agent))
            own = None if source is None else PluginPlace(source.name).real
            # All plugins except the one that defines the agent. Their paths are valid in any folder.
            return version, tuple([PluginPlace(plugin).absolute for plugin in reading.plugins if PluginPlace(plugin).real != own])
        version = moved or submission(text, folder, self._submitted_files(), self._list_foreign(realpath(folder / text)))
        return version, self.plugins(version, reading.games)

    def plugins(self, version: PluginVersion, games: tuple[str, ...]) -> tuple[str, ...]:
        """Return the plugins of the organiser that define one of the games; the code of the entry itself is not among them."""
        return self._list_plugins(version.file, games)

    def _list_plugins(self, file: str, games: tuple[str, ...]) -> tuple[str, ...]:
        return list_organisers(self.reading.registry, games, but=self.shared.twins.get(file, file))

    def _submitted_files(self) -> set[Path]:
        """Return the files that entries of the spec name as their `plugin`. Sweeps (lists of values) are included, and faulty
        entries are left out.
        """
        found: set[Path] = set()
        for entry in self.reading.values.get("agents") or ():
            given = _plugin_of(entry)
            swept = given.get("sweep") if isinstance(given, dict) else [given]
            texts = [text for text in swept if isinstance(text, str) and "\0" not in text] if isinstance(swept, list) else []
            found |= {Path(realpath(self.reading.document.folder / text)) for text in texts}
        return found

    def _list_foreign(self, own: str) -> set[Path]:
        """Return the Python files that the rest of the spec names, and those that they import: programs, plugins, versions, and
        the files in options. `own` is the plugin of an entry; what the entry itself names is not foreign, nor are the files of
        the games, which the entry may read.
        """
        folder, values = self.reading.document.folder, self.reading.values
        entries = values.get("agents")
        entries = entries if isinstance(entries, list) else [entries]
        others = [one for one in entries if own not in {realpath(folder / text) for text in _list_texts(_plugin_of(one))}]
        texts = _list_texts([*others, *[value for key, value in values.items() if key != "agents"]])
        asked = [plugin.file for plugin in self.reading.registry.plugins if plugin.source.asked and plugin.file is not None]
        named = {realpath(folder / text) for text in (*texts, *asked) if text.endswith(".py") and "\0" not in text} - {own}
        shown = {realpath(one) for plugin in self._list_plugins(own, self.reading.games) for one in list_plugin_code(plugin)}
        found: set[Path] = set()
        for file in [Path(one) for one in named if Path(one).is_file()]:
            if file not in self._imported:
                self._imported[file] = {file}
                with suppress(CodeTooComplex):  # a program that arena need not read, or a plugin whose own entry has the fault
                    self._imported[file] |= PythonFile(file).find_imported([str(file.parent), *PythonProcess.import_path()])
            found |= self._imported[file]
        return {one for one in found if realpath(one) not in shown}

    def host(self, version: PluginVersion, plugins: tuple[str, ...], isolation: str) -> DescribeHost:
        """Return the process that describes a version. Raises NotDescribed if that fails."""
        key = (version.plugin, version.code, isolation, *plugins)
        if key not in self._hosts:
            folder = str(self.reading.document.folder)
            claims = self.shared.claims.get(version.plugin)
            told = self.shared.described.get(key) if claims is None else claims
            start = AgentProcess if claims is None else None
            self._hosts[key] = DescribeHost(version, plugins, folder, isolation, told, start)
        return self._hosts[key]

    def pin(self, agents: Any) -> Any:
        """Return the agents of a spec with each revision replaced by its commit, because a branch changes over time."""
        return _pin(agents, self._pinned) if self._pinned else agents

    def share(self) -> SharedCode:
        """Return the descriptions of plugins, so that workers need not ask for them again."""
        return replace(self.shared, described={key: host.told for key, host in self._hosts.items()})

    def close(self) -> None:
        """End the processes."""
        for host in self._hosts.values():
            host.end()


def _plugin_of(entry: Any) -> Any:
    return entry.get(PLUGIN) if isinstance(entry, dict) else None


def _list_texts(value: Any) -> list[str]:
    """Return all texts in a part of a spec, however deep."""
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in _list_texts(one)] if isinstance(value, list) else [value] * isinstance(value, str)


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
    """The agent of an entry that brings its own code. In this process, only a stand-in class represents the agent. The agent's
    own process describes it.
    """

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
        """Return a class that stands for the agent, and the options as the process of the agent has validated them. Report
        faults.
        """
        values, report = self.given.values, self.given.report
        if self._key == PLUGIN and VERSION in values:
            report((VERSION,), "expected either plugin or version, got both; leave one of them out")
        text = values[self._key]
        if not isinstance(text, str) or not text:
            report((self._key,), f"expected {_EXPECTED[self._key]}, got {text!r}")
            return SoundAgent()
        try:
            version, self._plugins = self._reader.code(self._name, self._key, text)
            self._host = self._reader.host(version, self._plugins, isolation)
        except (NoVersion, RevisionError, NotDescribed, CodeTooComplex) as error:
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
        """Report a fault for every heuristic that the process of the agent does not know for any game of the spec."""
        if self._known is None:
            super().check_heuristics(choices)
            return
        games = self.reading.games
        for game, choice in choices.items():
            wanted = [name for name in games if game in (None, name)]
            if choice.name != NO_HEURISTIC and not any((name, choice.name) in self._known for name in wanted):
                hint = suggest(choice.name, [name for owner, name in self._known if owner in wanted])
                message = f"no heuristic {choice.name!r} of {' or '.join(games)} in that {self._key}; {hint}"
                self.reading.faults.add(choice.path, message)

    def heuristic(self, choices: Choices, rules: Rules) -> tuple[Evaluation | None, Fitted | None]:
        """Return the heuristic of the entry on a board. The process of the agent creates it.

        If the heuristic that the entry names is for another game, the default heuristic of the board's game is used, as for other
        entries.
        """
        chosen = self._choose(choices, rules)
        known = None if chosen is None else (rules.name, chosen.name)
        if known in self.reading.registry.heuristics and known not in self.code.heuristics:
            super().heuristic(choices, rules)  # this process may build tables now, before the clock of the agent runs
        return None, chosen

    def _choose(self, choices: Choices, rules: Rules) -> Fitted | None:
        known = self._known or frozenset()
        choice, default = choices.get(rules.name) or choices.get(None), rules.game.default_heuristic
        if choice is not None and choice.name == NO_HEURISTIC:
            return None
        if choice is not None and (rules.name, choice.name) in known:
            name, given, report = choice.name, choice.parameters, choice.report
        elif default is not None and (rules.name, default) in known:
            name, given, report = default, {}, lambda path, message: None  # without parameters, there are no faults
        else:
            return None
        checked = _ask(lambda: self._host.parameters(rules.name, name, given), report)
        return None if checked is None or checked.values is None else Fitted(name, checked.values, checked.changed)

    def knows_admissible(self, game: str, heuristic: str) -> bool:
        """Return False, because the code of the heuristic is not in this process."""
        return False

    def program(self, program: Program, game: str) -> Program:
        """Return the program from which the process creates the agent: the code of the entry, and only the plugins that the
        process may load.
        """
        plugins = self._reader.plugins(self.code, (game,)) if self.code.submitted else self._plugins
        return replace(program, plugins=plugins, version=self.code)

    def note_trust(self, agent: str) -> None:
        """Add a note if arena's own processes load the file of this entry, too."""
        loaded = {PluginPlace(one.source.name).real: one.source.name for one in self.reading.registry.plugins if one.source.asked}
        given = loaded.get(self.code.file)
        if given is not None:
            name = relpath(given, self.reading.document.folder) if PluginPlace(given).is_file else given
            self.reading.note(
                f"{agent} plays in a sandbox, but arena itself loads its plugin {name} and trusts it; to avoid this, "
                "list the plugin only in the entry of the agent"
            )


def _ask(ask: Any, report: Callable[[tuple[str | int, ...], str], None]) -> CheckedValues | None:
    try:
        checked: CheckedValues = ask()
    except NotDescribed as error:
        report(("agent",), str(error))
        return None
    for path, message in checked.faults:
        report(path, message)
    return None if checked.faults else checked
