"""The search engine that compiles searches. Every process loads this module, so it imports other modules only when they are
needed.
"""

import functools
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

from arena import Agent, Game
from arena.api.games import Evaluation
from arena.api.search import COMPILE, SearchEngine, SeatUse, compiles_first, wants_plain
from arena.clock import perf_counter, process_time

if TYPE_CHECKING:
    from arena import Spec

hookimpl = pluggy.HookimplMarker("arena")
LONG_PLAIN_SECONDS = 10.0
"""If the uncompiled decisions of an agent take more seconds than this, a run reports why they were not compiled."""


class UncompiledDecision:
    """A decision that asked for compiled code in a process that cannot or must not load compiled code."""

    ran = False
    failure = None
    settled = True

    def finish(self) -> None:
        """Do nothing, because no code will be requested."""


def find_loop(search: Any, loop: str, options: dict[str, Any]) -> Any:
    """Return the compiled loop with this name for a decision; None if the agent should run its own loop.

    This function is called while the clock of an agent runs. The modules that look for compiled code take 60 ms to import, so a
    process that can load no code does not import them, and in others the clock stops meanwhile.
    """
    if wants_plain() or _cannot_load():
        if search._meter.game is not None:  # noqa: SLF001 - Search.compiled calls this function
            search.served = UncompiledDecision()
        return None
    if "arena_compiled.seam" not in sys.modules:
        began, used = perf_counter(), process_time()
        import_module("arena_compiled.seam")
        search._meter.pause(perf_counter() - began, process_time() - used)  # noqa: SLF001 - not charged to the agent
    from arena_compiled import seam

    return seam.find_loop(search, loop, options)


@functools.cache
def _cannot_load() -> bool:
    return "llvmlite" not in sys.modules and find_spec("llvmlite") is None


class CompiledSearches(SearchEngine):
    """Runs the loops of searches as compiled code."""

    def prepare(self, spec: "Spec", note: Callable[[str], object]) -> None:
        """Compile the loops for the agents of a spec before play, if the user wants that."""
        if compiles_first():
            from arena_compiled import boards

            boards.prepare(spec, note)

    def sum_up(self, uses: Iterable[SeatUse]) -> Iterable[str]:
        """Yield lines about the agents that ran compiled, and about the agents that took long and were not compiled, with the
        reason.
        """
        if wants_plain():
            return []
        used = list(uses)
        notable = [use for use in used if use.first_compiled is not None or use.failure is not None]
        if not notable and sum([use.plain_seconds for use in used]) <= LONG_PLAIN_SECONDS:  # then nothing is imported
            return []
        from arena_compiled import boards

        return boards.sum_up(used, LONG_PLAIN_SECONDS)

    def note_plain(self, agent: Any, game: Game, evaluation: Evaluation | None, seconds: float) -> str | None:
        """Count the time of uncompiled decisions in another process. After enough time, a separate process compiles
        the search. Return why this has failed, or None.
        """
        from arena_compiled import seam

        engine = self.loop_of(agent, game)
        return None if engine is None else seam.note_plain(game, evaluation, engine, seconds)

    def loop_of(self, agent: Any, game: Game | None = None) -> str | None:
        """Return the engine that an agent names."""
        from arena_compiled.engines import engine_of

        return engine_of(agent, game)

    def loops_for(self, game: Game) -> frozenset[str]:
        """Return the engines that can be compiled for a game."""
        from arena_compiled.engines import engines_for

        return engines_for(game)

    def why_plain(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return the reason why a game or a heuristic cannot be compiled."""
        from arena_compiled.edition import why_plain

        return why_plain(game, evaluation)

    def describe(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Say in a few words how searches of a game can be compiled, or why they cannot. If a heuristic is given, it is compiled,
        too. The decision is that of `arena check`. So code is compiled if the compiler is installed, except for the built-in
        games and heuristics, because the tests of arena compile those.
        """
        from arena_compiled.cache import OWN_PACKAGES
        from arena_compiled.checks import find_obstacle
        from arena_compiled.edition import owner_of

        owner = owner_of(evaluation)
        modules = [type(game).__module__, "arena" if owner is None else getattr(owner, "__module__", type(owner).__module__)]
        own = all(module.partition(".")[0] in OWN_PACKAGES for module in modules)
        reason = find_obstacle(game, evaluation, compiling=not own)
        return "with the extra `fast`" if reason is None else f"no, {reason}"

    def can_load(self) -> bool:
        """Return True if compiled code is wanted and can be loaded."""
        from arena_compiled import seam

        return seam.can_load()

    def compiles_own(self, seconds: float) -> bool:
        """Return True if the search of an entry with its own plugin should be compiled: after enough uncompiled decisions, or if
        the user always wants compiled code.
        """
        from arena_compiled import seam

        mode = os.environ.get(COMPILE)
        return not wants_plain() and mode != "never" and (mode == "always" or seconds > seam.COMPILE_AFTER_CPU_SECONDS)

    def prepare_agent(self, agent: Any, game: Game, evaluation: Evaluation | None, private: str | None) -> str | None:
        """Load the loop for an agent. Code that appears in the folder `private` later is loaded as soon as no clock runs."""
        from arena_compiled import cache, seam

        if private is not None:
            cache.keep_private(Path(private))
        try:
            engine = self.loop_of(agent, game)
        except Exception:  # a property of the agent is faulty; `choose` will raise the error again
            engine = None
        return None if engine is None else seam.prepare(game, evaluation, engine)

    def compile_agent(self, agent: Any, game: Game, evaluation: Evaluation | None, private: str) -> Mapping[str, bytes]:
        """Compile the loop for an agent, unless `private` or the cache of the user has its code."""
        from arena_compiled import cache, seam

        cache.keep_private(Path(private))
        engine = self.loop_of(agent, game)
        if engine is not None:
            seam.load_loop(game, evaluation, engine, compiling=True)
        return cache.unwritten()

    def checks(self, game: Game, evaluation: Evaluation | None, agents: Mapping[str, type[Agent]], reason: str | None) -> Any:
        """Return the compiled rules of a game, to be compared with the game itself."""
        from arena_compiled.checks import CompiledSetup

        return CompiledSetup(game, evaluation, agents, reason)


@hookimpl
def arena_search_engines() -> list[SearchEngine]:
    """Return the search engine of this extension."""
    return [CompiledSearches("compiled", find_loop)]
