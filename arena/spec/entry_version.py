"""The keys `version` and `plugin` of an entry: an agent whose code is in its own process alone, known by what that tells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from arena.agent import Agent
from arena.configured import parameters_of
from arena.errors import suggestion
from arena.game import Action, Game, State
from arena.isolation.describe import CheckedValues, Claim, DescribedAgent, DescribeHost, NotDescribed
from arena.match.match import Isolation, PluginVersion
from arena.outcome import Answer, Path
from arena.plugins.revisions import RevisionError
from arena.plugins.sources import real_place, whole
from arena.plugins.versions import NoVersion, submission, version_of
from arena.search import Search
from arena.spec.choices import Choices
from arena.spec.document import Path as Where
from arena.spec.games import Rules
from arena.spec.given_plugins import organisers, submitted_files
from arena.spec.parameters import Report
from arena.spec.reader import SpecReader

KEY = "version"
PLUGIN = "plugin"
_EXPECTED = {KEY: "a Python file or git:REVISION", PLUGIN: "a Python file"}


class _Elsewhere(Agent):
    """An agent whose code is in another process alone."""

    def __init__(self, **options: Any) -> None:
        """Take any options: they were checked where its code is."""


def _choose(self: Agent, game: Game, state: State, search: Search) -> Action:
    raise TypeError("an agent with code of its own plays in a process of its own")


def _solve(self: Agent, game: Game, state: State, search: Search) -> Path | Answer | None:
    raise TypeError("an agent with code of its own plays in a process of its own")


@dataclass(frozen=True, slots=True)
class VersionedAgent:
    """An agent with code of its own: what stands for its class here, where its code is, and who tells about it."""

    agent: type[Agent]
    version: PluginVersion
    plugins: tuple[str, ...]
    """What its process loads beside, as whole paths."""
    host: DescribeHost

    def claiming(self, claim: Claim | None) -> type[Agent]:
        """What stands for its class, with what it claims of its solutions."""
        return type(self.agent.__name__, (self.agent,), {"optimal": claim})


def code_key(reading: SpecReader, values: Mapping[str, Any]) -> str | None:
    """The key by which an entry brings code of its own, `plugin` before `version`; None where it brings none.

    A key of that name is an option where the class of the agent declares one, and where the agent is a command.
    """
    name = values.get("agent")
    if not isinstance(name, str):
        return None
    agent = reading.registry.agents.get(name)
    options = parameters_of(agent) if agent is not None else ()
    return next((key for key in (PLUGIN, KEY) if key in values and key not in options), None)


def read_version(
    reading: SpecReader, values: Mapping[str, Any], key: str, isolation: Isolation, report: Report
) -> VersionedAgent | None:
    """The agent of an entry whose code is told by `key`; None after its fault. Its process lives as long as the spec is read."""
    name, text = values["agent"], values[key]
    if not isinstance(text, str) or not text:
        report((key,), f"expected {_EXPECTED[key]}, got {text!r}")
        return None
    try:
        moved = reading.moved.versions.get((name, key == PLUGIN, text))
        if key == KEY:
            version = moved or version_of(reading.registry, name, text, reading.document.folder)
            plugins = _others(reading, name)
            reading.pinned[text] = version.text
        else:
            version = moved or submission(text, reading.document.folder, submitted_files(reading))
            plugins = organisers(reading, reading.games, but=version.file)
        host = _host(reading, version, plugins, isolation)
    except (NoVersion, RevisionError, NotDescribed) as error:
        report((key,), str(error))
        return None
    described = host.description.agents.get(name)
    if described is None:
        report(("agent",), f"no agent {name!r} in {key} {text}; {suggestion(name, host.description.agents)}")
        return None
    return VersionedAgent(stand_in(described), replace(version, heuristics=host.description.heuristics), plugins, host)


def checked_options(versioned: VersionedAgent, given: Mapping[str, Any], report: Report) -> CheckedValues | None:
    """The options of an entry, as the process of its agent has them; None after faults have been reported."""
    return _sound(lambda: versioned.host.options(versioned.agent.name, given), report)


def chosen_heuristic(versioned: VersionedAgent, choices: Choices, rules: Rules) -> dict[str, Any] | None:
    """The heuristic that an entry gets on a board, for the identity of its seat; None where there is none.

    As with other entries a heuristic of another game gives way to the default of the board.
    """
    known = versioned.host.description.known
    choice = choices.get(rules.name) or choices.get(None)
    if choice is not None and (rules.name, choice.name) in known:
        name, given, report = choice.name, choice.parameters, choice.report
    elif rules.game.default_heuristic is not None and (rules.name, rules.game.default_heuristic) in known:
        name, given, report = rules.game.default_heuristic, {}, _nowhere
    else:
        return None
    checked = _sound(lambda: versioned.host.parameters(rules.name, name, given), report)
    return None if checked is None else {"name": name, "parameters": checked.values}


def check_known(versioned: VersionedAgent, choices: Choices, reading: SpecReader, games: Sequence[str]) -> None:
    """Note a fault for every heuristic that the process of the agent does not know for a game of the spec."""
    known = versioned.host.description.known
    key = PLUGIN if versioned.version.submitted else KEY
    for game, choice in choices.items():
        wanted = [name for name in games if game in (None, name)]
        if not any((name, choice.name) in known for name in wanted):
            hint = suggestion(choice.name, [name for owner, name in known if owner in wanted])
            reading.faults.add(choice.path, f"no heuristic {choice.name!r} of {' or '.join(games)} in that {key}; {hint}")


def pinned(value: Any, texts: Mapping[str, str]) -> Any:
    """The list of agents of a spec with every version that names a revision replaced by its commit, which stays what it is."""
    if isinstance(value, list):
        return [pinned(one, texts) for one in value]
    if not isinstance(value, dict) or KEY not in value or not isinstance(value.get("agent"), (str, dict)):
        return value
    given = value[KEY]
    if isinstance(given, dict) and isinstance(given.get("sweep"), list):
        return {**value, KEY: {"sweep": [texts.get(one, one) if isinstance(one, str) else one for one in given["sweep"]]}}
    return {**value, KEY: texts.get(given, given) if isinstance(given, str) else given}


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


def _others(reading: SpecReader, agent: str) -> tuple[str, ...]:
    """The plugins of a spec but for the one that brings an agent, as a process in another folder understands them."""
    source = reading.registry.sources.get(("agent", agent))
    own = None if source is None else real_place(source.name)
    return tuple([whole(plugin) for plugin in reading.plugins if real_place(plugin) != own])


def _host(reading: SpecReader, version: PluginVersion, plugins: tuple[str, ...], isolation: Isolation) -> DescribeHost:
    key = (version.plugin, version.code, isolation, *plugins)
    if key not in reading.hosts:
        folder = str(reading.document.folder)
        reading.hosts[key] = DescribeHost(version, plugins, folder, isolation, reading.told.get(key))
    return reading.hosts[key]


def _sound(ask: Any, report: Report) -> CheckedValues | None:
    try:
        checked: CheckedValues = ask()
    except NotDescribed as error:
        report(("agent",), str(error))
        return None
    for path, message in checked.faults:
        report(path, message)
    return None if checked.faults else checked


def _nowhere(path: Where, message: str) -> None:
    """A default that takes no parameters has no faults."""
