"""Engines: programs that speak a protocol of their own field, such as UCI, each through an adapter that a distribution brings.

An adapter is a program that speaks the agent protocol of docs/protocol.md with arena and the other one with the engine, so
isolation, clocks, limits and blame are those of any program. Its class is found by the entry points of the group
`arena.protocols`.
"""

import inspect
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, ClassVar

from arena.agent import Agent
from arena.configured import name_of
from arena.dialects import dialect_of
from arena.errors import describe, suggestion
from arena.game import Game
from arena.limits import Limits
from arena.spec.external import ExternalAgent
from arena.spec.parameters import Report
from arena.traits import refusal

GROUP = "arena.protocols"
KEY = "protocol"
"""The key beside `command`."""


class EngineAgent(ExternalAgent):
    """An engine that speaks the protocol `name`. `__init__` takes its options, and has a default for each.

    Its adapter is the module of the class, run as `python -m MODULE COMMAND...`; it gets `plugins` and `start_seconds` with
    `start`.
    """

    name: ClassVar[str]
    copes = frozenset()
    keeps: ClassVar[frozenset[str]] = frozenset()
    """Which of the limits `nodes`, `depth` and `seconds` the protocol can tell an engine."""

    def limit_fault(self, limits: Limits) -> str | None:
        """Return what is wrong with the limits of an entry; None where the engine can be told all of them."""
        for limit in ("nodes", "depth"):
            if getattr(limits, limit) is not None and limit not in self.keeps:
                return f"{self.name} has no word for a limit of {limit}; write limits: {{{limit}: null}} for this entry"
        return None


def engine_agent(given: Mapping[str, Any], report: Report) -> type[ExternalAgent] | None:
    """Return the class of `{command: ..., protocol: ...}`, ExternalAgent without a protocol; None after a fault is reported."""
    if KEY not in given:
        return ExternalAgent
    points = {point.name: point for point in entry_points(group=GROUP)}
    name, where = given[KEY], ("agent", KEY)
    if not isinstance(name, str) or name not in points:
        hint = suggestion(name, points) if isinstance(name, str) else f"expected one of {', '.join(sorted(points))}"
        report(where, f"unknown protocol {name!r}; {hint}; without one a program speaks that of docs/protocol.md")
        return None
    try:
        found = points[name].load()
        if not (inspect.isclass(found) and issubclass(found, EngineAgent)):
            raise TypeError(f"expected a subclass of EngineAgent, got {found!r}")
    except Exception as error:  # it is a plugin's
        report(where, f"the adapter of {name} does not load: {describe(error)}")
        return None
    return found


def unplayable(agent: type[Agent], game: Game) -> str | None:
    """Return why an agent of an entry cannot play `game`, None where it can: an engine needs a dialect of the game, too."""
    reason = refusal(agent, game)
    if reason is not None or not issubclass(agent, EngineAgent):
        return reason
    try:
        known = dialect_of(game, agent.name)
    except Exception as error:  # the game is a plugin's
        return f"{agent.name} cannot play {name_of(game)}: dialects raised {describe(error)}"
    return None if known else f"{agent.name} cannot play {name_of(game)}: {name_of(game)} does not say how it speaks {agent.name}"


def adapter_of(agent: type[Agent]) -> str | None:
    """Return the module of the adapter of an engine; None for any other agent."""
    return agent.__module__ if issubclass(agent, EngineAgent) else None
