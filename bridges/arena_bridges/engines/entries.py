"""Engines in a spec: `{agent: {command: [stockfish], protocol: uci}}`. There is an adapter for each protocol.

An adapter is a program that speaks the agent protocol (docs/reference/protocol.md) with arena, and the engine's own protocol with
the engine. So isolation, clocks, limits and faults are handled as for any program. The class of an adapter is found through the
entry points of the group `arena.protocols`.
"""

import inspect
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import takewhile
from typing import Any, ClassVar

from arena import Agent, Game, Limits
from arena.api.errors import describe, suggest
from arena.api.games import name_of
from arena.api.match import Program
from arena.api.spec import EntryAgent, GivenEntry, SourceReader
from arena_bridges.dialects import dialect_of
from arena_isolation.command import CommandAgent, ExternalAgent, called

GROUP = "arena.protocols"
KEY = "protocol"
"""The key for the protocol in an entry, which is used together with `command`."""


class EngineAgent(ExternalAgent):
    """An engine that speaks the protocol `name`. Its `__init__` takes the options of the engine, each with a default.

    Its adapter is the module of the class, run as `python -m MODULE COMMAND...`. The message `start` also contains `plugins` and
    `start_seconds`.
    """

    name: ClassVar[str]
    copes = frozenset()
    keeps: ClassVar[frozenset[str]] = frozenset()
    """The limits among `nodes`, `depth` and `seconds` that the protocol can express."""

    def limit_fault(self, limits: Limits) -> str | None:
        """Return a message if the protocol cannot express a limit of an entry; None if it can express all of them."""
        for limit in ("nodes", "depth"):
            if getattr(limits, limit) is not None and limit not in self.keeps:
                return f"{self.name} cannot express a limit on {limit}; remove it with limits: {{{limit}: null}} in this entry"
        return None


class EngineReader(SourceReader):
    """Reads entries with an engine as their agent."""

    def read(self, given: GivenEntry) -> EntryAgent | None:
        """Return the agent of `{command: ..., protocol: ...}`; None if the entry has no protocol."""
        agent = given.values.get("agent")
        return EngineEntry(given) if isinstance(agent, dict) and KEY in agent else None


class EngineEntry(CommandAgent):
    """An engine behind an adapter."""

    def find(self) -> type[Agent] | None:
        """Return the class of the adapter; None if a fault was noted."""
        points = {point.name: point for point in entry_points(group=GROUP)}
        name, where = self.given.values["agent"][KEY], ("agent", KEY)
        if not isinstance(name, str) or name not in points:
            hint = suggest(name, points) if isinstance(name, str) else f"expected one of {', '.join(sorted(points))}"
            message = (
                f"unknown protocol {name!r}; {hint}; without this key, a program must use the protocol of `arena docs protocol`"
            )
            self.given.report(where, message)
            return None
        try:
            found = points[name].load()
            if not (inspect.isclass(found) and issubclass(found, EngineAgent)):
                raise TypeError(f"expected a subclass of EngineAgent, got {found!r}")
        except Exception as error:  # the class may belong to a plugin
            self.given.report(where, f"the adapter of {name} cannot be loaded: {describe(error)}")
            return None
        return found

    def check_options(self, agent: type[Agent]) -> dict[str, Any] | None:
        """Return the options. The class of the adapter declares them, like the class of any other agent."""
        return EntryAgent.check_options(self, agent)

    def check_limits(self, agent: type[Agent], options: Mapping[str, Any], limits: Limits) -> None:
        """Report a fault if the protocol cannot express the limits."""
        engine = agent(**options)
        fault = engine.limit_fault(limits) if isinstance(engine, EngineAgent) else None
        if fault is not None:
            self.given.report(("limits",) if "limits" in self.given.values else (), fault)

    def name(self, agent: type[Agent]) -> str:
        """Return the default label of the entry, without its many options."""
        words = self.words or ()
        return called([*takewhile(lambda word: word[:1] != "-", words)] or words)

    def refusal(self, agent: type[Agent], game: Game) -> str | None:
        """Return why the engine cannot play a game: the game must also have a dialect for its protocol."""
        reason = super().refusal(agent, game)
        if reason is not None:
            return reason
        try:
            known = dialect_of(game, agent.name)
        except Exception as error:  # the game may belong to a plugin
            return f"{agent.name} cannot play {name_of(game)}: its method dialects raised {describe(error)}"
        silent = f"{agent.name} cannot play {name_of(game)}: {name_of(game)} has no dialect for {agent.name}"
        return None if known else silent

    def program(self, program: Program, game: str) -> Program:
        """Return the adapter together with the engine's command."""
        agent = self.find()
        return replace(super().program(program, game), adapter=None if agent is None else agent.__module__)
