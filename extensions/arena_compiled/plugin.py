"""Compiled searches as a search engine. What they need is imported when it is asked for: every process loads this module."""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import pluggy

from arena import Agent, Game
from arena.api.spec import Evaluation, SearchEngine

if TYPE_CHECKING:
    from arena.api.spec import Spec

hookimpl = pluggy.HookimplMarker("arena")


def find_loop(search: Any, loop: str, options: dict[str, Any]) -> Any:
    """Return the compiled loop of a name for a decision; None if the agent is to run its own."""
    from arena_compiled import seam

    return seam.find_loop(search, loop, options)


class CompiledSearches(SearchEngine):
    """Runs loops compiled."""

    def prepare(
        self,
        spec: "Spec",
        note: Callable[[str], object],
        seconds: float | None = None,
    ) -> AbstractContextManager[object]:
        """Compile what the agents of a spec ask for."""
        from arena_compiled import boards

        return boards.prepare(spec, note, seconds)

    def loop_of(self, agent: Any, game: Game | None = None) -> str | None:
        """Return the engine that an agent names."""
        from arena_compiled.engines import engine_of

        return engine_of(agent, game)

    def loops_for(self, game: Game) -> frozenset[str]:
        """Return the engines whose loops compile."""
        from arena_compiled.engines import engines_for

        return engines_for(game)

    def why_plain(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return what keeps a game or a heuristic from compiling."""
        from arena_compiled.edition import why_plain

        return why_plain(game, evaluation)

    def describe(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return a word on whether searches of a game compile, with a heuristic if one is given, and why not."""
        reason = self.why_plain(game, evaluation)
        return "by the extra fast" if reason is None else f"no, {reason}"

    def can_load(self) -> bool:
        """Tell whether compiled code is wanted, and can be loaded."""
        from arena_compiled import seam

        return seam.can_load()

    def compiles_own(self) -> bool:
        """Tell whether the run is long, or the user wants compiled code in any case."""
        from arena_compiled import cache

        return os.environ.get(cache.COMPILE) in ("always", cache.OWN)

    def prepare_agent(
        self, agent: Any, game: Game, evaluation: Evaluation | None, *, private: bool, compiling: bool
    ) -> str | None:
        """Load the loop of an agent; only a private process compiles it."""
        from arena_compiled import cache, seam

        if private:
            cache.keep_private()
        try:
            engine = self.loop_of(agent, game)
        except Exception:  # an author's property: `choose` is going to meet it again
            engine = None
        return None if engine is None else seam.prepare(game, evaluation, engine, compiling=compiling and private)

    def checks(self, game: Game, evaluation: Evaluation | None, agents: Mapping[str, type[Agent]], reason: str | None) -> Any:
        """Return the compiled rules of a game beside the game itself."""
        from arena_compiled.checks import CompiledSetup

        return CompiledSetup(game, evaluation, agents, reason)


@hookimpl
def arena_search_engines() -> list[SearchEngine]:
    """Return the engine."""
    return [CompiledSearches("compiled", find_loop)]
