"""Asks a separate process to describe a plugin. The file of the plugin is loaded only in that process, and the answers are not
trusted.

The code in that process is `arena_isolation.describe_host`. The two processes exchange lines of JSON, as arena and agents do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar, get_args

from arena import ArenaError
from arena.api.errors import IsolationError
from arena.api.games import Traits
from arena.api.match import Program
from arena_isolation import protocol
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.helper_process import pack
from arena_isolation.protocol import Broken
from arena_isolation.versions import PluginVersion, Told

DESCRIBING_MODULE = "arena_isolation.describe_host"
"""The module that the process runs."""
DESCRIBE = pack({"type": "describe"})
"""The key for the description among the answers of a process (see `Told`). It is the same for every plugin; `Described` keeps the
answers about different plugins apart.
"""
ANSWER_SECONDS = 60.0
"""Timeout in seconds for loading a plugin, and for one answer."""
Claim = Literal["cost", "length", "admissible"]
"""A claim of a solver about its solutions; see `Agent.optimal`."""

Answered = TypeVar("Answered")
Start = Callable[[Program, int | None, str, str], AgentProcess]
"""A function that starts the process of a program. Its arguments are the program, the memory limit in MiB, the isolation, and the
module that the process runs.
"""


class NotDescribed(ArenaError):
    """The process cannot load the plugin that it should describe, or its answers are not valid."""


@dataclass(frozen=True, slots=True)
class DescribedAgent:
    """Everything that a run needs to know about an agent."""

    name: str
    needs: frozenset[str]
    """The traits that a game must have."""
    copes: frozenset[str]
    """The traits of games that the agent can handle."""
    games: frozenset[str]
    """The names of the games for which the agent is made; empty if it plays any game."""
    wants_heuristic: bool
    chooses: bool
    solves: bool
    options: Mapping[str, Mapping[str, Any]]
    """The JSON Schema of each option, with its default if there is one."""


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that a plugin defines."""

    agents: Mapping[str, DescribedAgent]
    """The agents of the described plugin, by name."""
    games: frozenset[str]
    """The names of the plugin's games."""
    heuristics: frozenset[tuple[str, str]]
    """The plugin's heuristics, each as (game, name)."""
    known: frozenset[tuple[str, str]]
    """All heuristics that the process knows, including heuristics of other plugins."""


@dataclass(frozen=True, slots=True)
class CheckedValues:
    """The validated options or parameters for a constructor. `values` includes defaults; it is None if there are faults."""

    values: dict[str, Any] | None
    faults: Sequence[tuple[tuple[str | int, ...], str]]
    """The path of each wrong value, and the message about it."""
    optimal: Claim | None = None
    """The claim of the agent about its solutions with these options."""
    defaults: frozenset[str] = frozenset()
    """The names of the values that equal their defaults."""

    @property
    def changed(self) -> dict[str, Any]:
        """Return the values that differ from their defaults."""
        return {name: value for name, value in (self.values or {}).items() if name not in self.defaults}


class DescribeHost:
    """The process that has loaded a plugin. When a method raises NotDescribed, the process is ended.

    In a sandbox, this process can read only the plugins that the process of arena has imported before, as agents in a sandbox
    can. `told` maps requests to answers that another process of arena has passed on. The describing process is started only for
    requests that are not in `told`. Without `start`, it is never started, and such requests raise NotDescribed. `installed` names
    the installed plugins that the process loads; None stands for all of them.
    """

    def __init__(
        self,
        plugin: PluginVersion,
        plugins: Sequence[str],
        folder: str,
        isolation: str = "process",
        told: Told | None = None,
        start: Start | None = AgentProcess,
        installed: Sequence[str] | None = None,
    ) -> None:
        self._program = Program(plugin.source, {}, None, tuple(plugins), folder, version=plugin)
        self._isolation: str = isolation
        self._start = start
        self._process: AgentProcess | None = None
        self._describe = {"type": "describe", "plugin": plugin.plugin, "plugins": list(plugins), "installed": installed}
        self.told = dict(told or {})
        self.description = self._ask(self._describe, "description", _read_description, DESCRIBE)

    def options(self, agent: str, given: Mapping[str, Any]) -> CheckedValues:
        """Return the options of an agent. They are validated by its type hints and by constructing the agent once."""
        return self._ask({"type": "options", "agent": agent, "given": dict(given)}, "checked", _read_checked)

    def parameters(self, game: str, heuristic: str, given: Mapping[str, Any]) -> CheckedValues:
        """Return the parameters of a heuristic. They are validated by its type hints."""
        request = {"type": "parameters", "game": game, "heuristic": heuristic, "given": dict(given)}
        return self._ask(request, "checked", _read_checked)

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.end()

    def _ask(
        self, request: Mapping[str, Any], kind: str, read: Callable[[Mapping[str, Any]], Answered], key: bytes | None = None
    ) -> Answered:
        try:
            line = pack(request)
            key = key or line
            answer = self.told.get(key)
            if not answer:
                answer = self._loaded().ask(line, ANSWER_SECONDS, what="its description")
            protocol.expect(answer, kind, "failed")
            if answer["type"] == "failed":
                raise NotDescribed(protocol.message_of(answer, "message") or "cannot be loaded")
            found = read(answer)
            self.told[key] = answer
            return found
        except IsolationError as error:
            raise NotDescribed(f"cannot be described: {error}") from error
        except AgentLost as lost:
            raise NotDescribed(f"cannot be described: {lost.message}") from lost
        except ValueError as error:
            self.end()
            raise NotDescribed(f"cannot be described: its request cannot be written as JSON: {error}") from error
        except (Broken, NotDescribed) as error:
            self.end()
            raise NotDescribed(str(error)) from error

    def _loaded(self) -> AgentProcess:
        """Return the process. It is started if necessary."""
        if self._start is None:
            raise NotDescribed("cannot be described: the check of the plugin did not request this")
        if self._process is None:
            self._process = self._start(self._program, None, self._isolation, DESCRIBING_MODULE)
            if self.told:  # if the first answers came from another process, this one has not loaded the plugin yet
                self._process.ask(pack(self._describe), ANSWER_SECONDS)
        return self._process


def _read_description(answer: Mapping[str, Any]) -> Description:
    agents = []
    for one in _read_list(answer, "agents"):
        told = {**_read_object(one, "agents"), "type": "agents"}
        needs = frozenset(protocol.texts_of(told, "needs"))
        if not needs <= set(Traits.WORDS):
            raise Broken(f"needs: expected traits, got {min(needs - set(Traits.WORDS))[:40]!r}")
        options = _read_object(told.get("options"), "options")
        agents.append(
            DescribedAgent(
                protocol.text_of(told, "name"),
                needs,
                frozenset(protocol.texts_of(told, "copes") if "copes" in told else ()),
                frozenset(protocol.texts_of(told, "games") if "games" in told else ()),
                protocol.flag(told, "wants_heuristic", default=False),
                protocol.flag(told, "chooses", default=False),
                protocol.flag(told, "solves", default=False),
                {name: _read_object(schema, name) for name, schema in options.items()},
            )
        )
    return Description(
        {agent.name: agent for agent in agents},
        frozenset(protocol.texts_of(answer, "games")),
        frozenset(_read_pairs(answer, "heuristics")),
        frozenset(_read_pairs(answer, "known")),
    )


def _read_checked(answer: Mapping[str, Any]) -> CheckedValues:
    faults = []
    for one in _read_list(answer, "faults"):
        fault = {**_read_object(one, "faults"), "type": "faults"}
        path = tuple(_read_list(fault, "path"))
        if not all(type(part) in (str, int) for part in path):
            raise Broken("faults: path: expected keys and numbers")
        faults.append((path, protocol.message_of(fault, "message") or "is not as expected"))
    claim = answer.get("optimal")
    if claim is not None and claim not in get_args(Claim):
        raise Broken(f"optimal: expected {' or '.join(get_args(Claim))}, got {str(claim)[:40]!r}")
    values = None if answer.get("values") is None else _read_object(answer["values"], "values")
    if values is None and not faults:
        raise Broken("checked: expected values or faults, got neither")
    defaults = frozenset(protocol.texts_of(answer, "defaults") if "defaults" in answer else ())
    return CheckedValues(None if faults else values, faults, claim, defaults)


def _read_object(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Broken(f"{key}: expected an object, got {type(value).__name__}")
    return value


def _read_list(answer: Mapping[str, Any], key: str) -> list[Any]:
    value = answer.get(key)
    if not isinstance(value, list):
        raise Broken(f"{key}: expected a list, got {type(value).__name__}")
    return value


def _read_pairs(answer: Mapping[str, Any], key: str) -> Iterable[tuple[str, str]]:
    for one in _read_list(answer, key):
        if not isinstance(one, list) or len(one) != 2 or not all(isinstance(part, str) for part in one):
            raise Broken(f"{key}: expected pairs of a game and a name")
        yield one[0], one[1]
