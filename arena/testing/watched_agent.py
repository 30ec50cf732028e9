"""An agent whose decisions are watched for side effects: states that it changes, threads that outlive it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from arena.agent import Agent
from arena.errors import Interrupted
from arena.game import Action, Game, State
from arena.outcome import Answer, Path
from arena.plugins.contract import source_line
from arena.processes.threads import lingering, place_of
from arena.search import Search
from arena.testing.trial import Trial, copied, position_text


@dataclass(slots=True)
class SideEffects:
    """Side effects of an agent's decisions in a play."""

    trial: Trial
    changed: list[tuple[State, State]] = field(default_factory=list)
    """The states that it changed, before and after."""
    left: str | None = None
    """The place of a thread that still ran after the decision."""


class LingeringThread(Exception):
    """A thread still runs after a decision. Ends the match: every further decision would leave another."""


class WatchedAgent(Agent):
    """The agent that is checked, with its side effects observed."""

    name = "watched"

    def __init__(self, agent: Agent, seen: SideEffects) -> None:
        self._agent = agent
        self._seen = seen

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Have the agent choose, and watch."""
        return self._watch(self._agent.choose, game, state, search)

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Have the agent solve, and watch."""
        found: Path | Answer | None = self._watch(self._agent.solve, game, state, search)
        return found

    def _watch(self, decide: Callable[..., Any], game: Game, state: State, search: Search) -> Any:
        before, threads = copied(state), threading.enumerate()
        trial = self._seen.trial
        trial.tell(decide.__name__, lambda: position_text(game, before))
        try:
            answer = decide(game, state, search)
        except Interrupted as interrupt:
            interrupt.add_note(f"  asked at: {position_text(game, before)}")
            raise
        finally:
            trial.tell("a method of the game")
            if state != before:
                self._seen.changed.append((before, state))
        for thread in lingering(threads):
            self._seen.left = place_of(thread) or f"{thread.name}, started in {_written(decide)}"
            raise LingeringThread
        return answer


def _written(method: Callable[..., Any]) -> str:
    return f"{method.__qualname__} ({source_line(method) or 'unknown file'})"
