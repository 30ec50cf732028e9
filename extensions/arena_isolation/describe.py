"""Asks a separate process to describe a plugin. The file is loaded only there, and the answers are not trusted.

The other side is `arena_isolation.describe_host`. Both exchange lines of JSON, as agents and their processes do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar, get_args

from arena import ArenaError
from arena.api.errors import IsolationError
from arena.api.games import TRAITS
from arena.api.match import Program
from arena_isolation import protocol
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.helper import pack
from arena_isolation.protocol import Broken
from arena_isolation.versions import PluginVersion, Told

DESCRIBING_MODULE = "arena_isolation.describe_host"
"""Module that the process runs."""
DESCRIBE = pack({"type": "describe"})
"""Key of the description among the answers of a process. The whole set of answers is keyed by the loaded code."""
ANSWER_SECONDS = 60.0
"""Timeout in seconds for the loading of a plugin, and for one answer."""
Claim = Literal["cost", "length", "admissible"]
"""Claims of a solver about its solutions; see `Agent.optimal`."""

Answered = TypeVar("Answered")
Start = Callable[[Program, int | None, str, str], AgentProcess]
"""Starts the process of a program, given its memory in MiB, its isolation and the module that it runs."""


class NotDescribed(ArenaError):
    """The process cannot load the plugin that it should describe, or does not answer correctly."""


@dataclass(frozen=True, slots=True)
class DescribedAgent:
    """Everything that a run needs to know about an agent."""

    name: str
    needs: frozenset[str]
    """Required traits of games."""
    copes: frozenset[str]
    """Traits of games that it can handle."""
    games: frozenset[str]
    """Names of the games that it is made for; empty if it plays any game."""
    wants_heuristic: bool
    chooses: bool
    solves: bool
    options: Mapping[str, Mapping[str, Any]]
    """JSON Schema of each option, with its default if there is one."""


@dataclass(frozen=True, slots=True)
class Description:
    """Everything that a plugin defines."""

    agents: Mapping[str, DescribedAgent]
    """Agents of the described plugin, by name."""
    games: frozenset[str]
    """Names of its games."""
    heuristics: frozenset[tuple[str, str]]
    """Its heuristics, each as (game, name)."""
    known: frozenset[tuple[str, str]]
    """All heuristics that its process knows, including other plugins'."""


@dataclass(frozen=True, slots=True)
class CheckedValues:
    """Options or parameters for a constructor, with defaults filled in; None after faults."""

    values: dict[str, Any] | None
    faults: Sequence[tuple[tuple[str | int, ...], str]]
    """The path of each wrong value, and the message about it."""
    optimal: Claim | None = None
    """The claim of an agent with these options."""
    defaults: frozenset[str] = frozenset()
    """Names of the values that equal their defaults."""

    @property
    def changed(self) -> dict[str, Any]:
        """Values that differ from their defaults."""
        return {name: value for name, value in (self.values or {}).items() if name not in self.defaults}


class DescribeHost:
    """The process that has loaded a plugin. A NotDescribed error from any method ends it.

    In a sandbox it finds the plugins that this process has imported before, as an agent there does. `told` contains answers
    from another process of arena, by request. The process is started only for other requests. Without `start` it is never
    started, and answers missing from `told` are unknown.
    """

    def __init__(
        self,
        plugin: PluginVersion,
        plugins: Sequence[str],
        folder: str,
        isolation: str = "process",
        told: Told | None = None,
        start: Start | None = AgentProcess,
    ) -> None:
        self._program = Program(plugin.source, {}, None, tuple(plugins), folder, version=plugin)
        self._isolation: str = isolation
        self._start = start
        self._process: AgentProcess | None = None
        self._describe = {"type": "describe", "plugin": plugin.plugin, "plugins": list(plugins)}
        self.told = dict(told or {})
        self.description = self._ask(self._describe, "description", _read_description, DESCRIBE)

    def options(self, agent: str, given: Mapping[str, Any]) -> CheckedValues:
        """Return the options of an agent, validated by its own type hints and by constructing it once."""
        return self._ask({"type": "options", "agent": agent, "given": dict(given)}, "checked", _read_checked)

    def parameters(self, game: str, heuristic: str, given: Mapping[str, Any]) -> CheckedValues:
        """Return the parameters of a heuristic, validated by its own type hints."""
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
            raise NotDescribed(f"cannot be described: its request has no JSON: {error}") from error
        except (Broken, NotDescribed) as error:
            self.end()
            raise NotDescribed(str(error)) from error

    def _loaded(self) -> AgentProcess:
        """Return the process, and start it if necessary."""
        if self._start is None:
            raise NotDescribed("not known from its check")
        if self._process is None:
            self._process = self._start(self._program, None, self._isolation, DESCRIBING_MODULE)
            if self.told:  # answers of another process: this one has not loaded the plugin yet
                self._process.ask(pack(self._describe), ANSWER_SECONDS)
        return self._process


def _read_description(answer: Mapping[str, Any]) -> Description:
    agents = []
    for one in _read_list(answer, "agents"):
        told = {**_read_object(one, "agents"), "type": "agents"}
        needs = frozenset(protocol.texts_of(told, "needs"))
        if not needs <= set(TRAITS):
            raise Broken(f"needs: expected traits, got {min(needs - set(TRAITS))[:40]!r}")
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
