"""The search engine for compiled searches. Every process loads this module, so other modules are imported on demand."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

from arena import Agent, Game
from arena.api.games import Evaluation
from arena.api.search import SearchEngine, SeatUse

if TYPE_CHECKING:
    from arena import Spec

hookimpl = pluggy.HookimplMarker("arena")


def find_loop(search: Any, loop: str, options: dict[str, Any]) -> Any:
    """Return the compiled loop with this name for a decision; None if the agent should run its own."""
    from arena_compiled import seam

    return seam.find_loop(search, loop, options)


class CompiledSearches(SearchEngine):
    """Runs loops compiled."""

    def prepare(self, spec: "Spec", note: Callable[[str], object]) -> None:
        """Compile the loops for the agents of a spec before play, if the user wants that."""
        from arena_compiled import boards

        boards.prepare(spec, note)

    def sum_up(self, uses: Iterable[SeatUse]) -> Iterable[str]:
        """Yield lines about the agents that ran compiled, and about the agents that took long plain, with the reason."""
        from arena_compiled import boards

        return boards.sum_up(uses)

    def note_plain(self, agent: Any, game: Game, evaluation: Evaluation | None, seconds: float) -> None:
        """Count plain decision time of a separate process. After enough time, another process compiles."""
        from arena_compiled import seam

        engine = self.loop_of(agent, game)
        if engine is not None:
            seam.note_plain(game, evaluation, engine, seconds)

    def loop_of(self, agent: Any, game: Game | None = None) -> str | None:
        """Return the engine that an agent names."""
        from arena_compiled.engines import engine_of

        return engine_of(agent, game)

    def loops_for(self, game: Game) -> frozenset[str]:
        """Return the engines whose loops compile."""
        from arena_compiled.engines import engines_for

        return engines_for(game)

    def why_plain(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return the reason why a game or a heuristic does not compile."""
        from arena_compiled.edition import why_plain

        return why_plain(game, evaluation)

    def describe(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return a word on whether searches of a game compile, with a heuristic if one is given, and why not."""
        reason = self.why_plain(game, evaluation)
        return "by the extra fast" if reason is None else f"no, {reason}"

    def can_load(self) -> bool:
        """Return whether compiled code is wanted and can be loaded."""
        from arena_compiled import seam

        return seam.can_load()

    def compiles_own(self) -> bool:
        """Return whether the user wants compiled code in any case."""
        from arena_compiled import cache

        return os.environ.get(cache.COMPILE) == "always"

    def prepare_agent(
        self, agent: Any, game: Game, evaluation: Evaluation | None, *, private: bool, compiling: bool
    ) -> str | None:
        """Load the loop of an agent; only a private process compiles it."""
        from arena_compiled import cache, seam

        if private:
            cache.keep_private()
        try:
            engine = self.loop_of(agent, game)
        except Exception:  # an author's property: `choose` will raise it again
            engine = None
        return None if engine is None else seam.prepare(game, evaluation, engine, compiling=compiling and private)

    def checks(self, game: Game, evaluation: Evaluation | None, agents: Mapping[str, type[Agent]], reason: str | None) -> Any:
        """Return the compiled rules of a game for a comparison with the game itself."""
        from arena_compiled.checks import CompiledSetup

        return CompiledSetup(game, evaluation, agents, reason)


@hookimpl
def arena_search_engines() -> list[SearchEngine]:
    """Return the engine."""
    return [CompiledSearches("compiled", find_loop)]
