"""Asks a process what a plugin brings: the file is loaded there and nowhere else, and what comes back is not trusted.

The other end is `arena_isolation.describe_host`. Both speak in lines of JSON, as agents and their processes do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeVar, get_args

from arena import ArenaError
from arena.api.match import Program
from arena.api.run import pack
from arena.errors import IsolationError
from arena.traits import TRAITS
from arena_isolation import protocol
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.protocol import Broken
from arena_isolation.versions import PluginVersion

DESCRIBING_MODULE = "arena_isolation.describe_host"
"""The module that the process runs."""
ANSWER_SECONDS = 60.0
"""Seconds for a plugin to be loaded, and for one answer."""
Claim = Literal["cost", "length", "admissible"]
"""What a solver may promise of its solutions; see `Agent.optimal`."""

Answered = TypeVar("Answered")


class NotDescribed(ArenaError):
    """A plugin cannot be loaded by the process that is to describe it, or that process does not answer as it should."""


@dataclass(frozen=True, slots=True)
class DescribedAgent:
    """The description of an agent: all that a run has to know of it."""

    name: str
    needs: frozenset[str]
    """Traits of games."""
    copes: frozenset[str]
    """Traits of games that it knows how to play."""
    games: frozenset[str]
    """The names of the games that it is made for; none where it plays any."""
    wants_heuristic: bool
    chooses: bool
    solves: bool
    options: Mapping[str, Mapping[str, Any]]
    """The JSON Schema of each option, with its default where it has one."""


@dataclass(frozen=True, slots=True)
class Description:
    """The description of a plugin: all that it brings."""

    agents: Mapping[str, DescribedAgent]
    """By name; those of the plugin that is described."""
    games: frozenset[str]
    """The names of its games."""
    heuristics: frozenset[tuple[str, str]]
    """Its heuristics, each as (game, name)."""
    known: frozenset[tuple[str, str]]
    """All heuristics that its process knows, those of other plugins too."""


@dataclass(frozen=True, slots=True)
class CheckedValues:
    """Options or parameters as a constructor takes them, defaults filled in; None after faults."""

    values: dict[str, Any] | None
    faults: Sequence[tuple[tuple[str | int, ...], str]]
    """The path of each value at fault, and what is wrong with it."""
    optimal: Claim | None = None
    """Return what an agent with these options claims."""
    defaults: frozenset[str] = frozenset()
    """The names of those that have their default value."""

    @property
    def changed(self) -> dict[str, Any]:
        """The values that differ from their defaults."""
        return {name: value for name, value in (self.values or {}).items() if name not in self.defaults}


class DescribeHost:
    """The process that has loaded a plugin. NotDescribed from any method ends it.

    In a sandbox it finds the plugins that this process has imported before, as an agent there does. `told` are answers that it
    gave to another process of arena, by request: only for others it is started.
    """

    def __init__(
        self,
        plugin: PluginVersion,
        plugins: Sequence[str],
        folder: str,
        isolation: str = "process",
        told: Mapping[bytes, Mapping[str, Any]] | None = None,
    ) -> None:
        self._program = Program(plugin.source, {}, None, tuple(plugins), folder, version=plugin)
        self._isolation: str = isolation
        self._process: AgentProcess | None = None
        self._describe = {"type": "describe", "plugin": plugin.plugin, "plugins": list(plugins)}
        self.told = dict(told or {})
        self.description = self._ask(self._describe, "description", _read_description)

    def options(self, agent: str, given: Mapping[str, Any]) -> CheckedValues:
        """The options of an agent, checked by its own hints and by making it once."""
        return self._ask({"type": "options", "agent": agent, "given": dict(given)}, "checked", _read_checked)

    def parameters(self, game: str, heuristic: str, given: Mapping[str, Any]) -> CheckedValues:
        """The parameters of a heuristic, checked by its own hints."""
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

    def _ask(self, request: Mapping[str, Any], kind: str, read: Callable[[Mapping[str, Any]], Answered]) -> Answered:
        try:
            line = pack(request)
            answer = self.told.get(line)
            if not answer:
                if self._process is None:
                    self._process = AgentProcess(self._program, None, self._isolation, module=DESCRIBING_MODULE)
                    if self.told:  # the answers of another process: this one has not loaded the plugin yet
                        self._process.ask(pack(self._describe), ANSWER_SECONDS)
                answer = self._process.ask(line, ANSWER_SECONDS)
            protocol.expect(answer, kind, "failed")
            if answer["type"] == "failed":
                raise NotDescribed(protocol.message_of(answer, "message") or "cannot be loaded")
            found = read(answer)
            self.told[line] = answer
            return found
        except IsolationError as error:
            raise NotDescribed(f"cannot be described: {error}") from error
        except AgentLost as lost:
            said = f"no answer within {ANSWER_SECONDS:g} s" if lost.reason == "timeout" else lost.message
            raise NotDescribed(f"cannot be described: {said}") from lost
        except ValueError as error:
            self.end()
            raise NotDescribed(f"cannot be described: its request has no JSON: {error}") from error
        except (Broken, NotDescribed) as error:
            self.end()
            raise NotDescribed(str(error)) from error


def _read_description(answer: Mapping[str, Any]) -> Description:
    agents = [_read_agent(_read_object(one, "agents")) for one in _read_list(answer, "agents")]
    return Description(
        {agent.name: agent for agent in agents},
        frozenset(protocol.texts_of(answer, "games")),
        frozenset(_read_pairs(answer, "heuristics")),
        frozenset(_read_pairs(answer, "known")),
    )


def _read_agent(told: Mapping[str, Any]) -> DescribedAgent:
    answer = {**told, "type": "agents"}
    needs = frozenset(protocol.texts_of(answer, "needs"))
    if not needs <= set(TRAITS):
        raise Broken(f"needs: expected traits, got {min(needs - set(TRAITS))[:40]!r}")
    return DescribedAgent(
        protocol.text_of(answer, "name"),
        needs,
        frozenset(protocol.texts_of(answer, "copes") if "copes" in answer else ()),
        frozenset(protocol.texts_of(answer, "games") if "games" in answer else ()),
        protocol.flag(answer, "wants_heuristic", default=False),
        protocol.flag(answer, "chooses", default=False),
        protocol.flag(answer, "solves", default=False),
        {name: _read_object(schema, name) for name, schema in _read_object(answer.get("options"), "options").items()},
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
