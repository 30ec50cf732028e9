"""The search engines in this process. Plugins add them to run the inner loops of searches in another form, such as compiled."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from arena.agent import Agent
from arena.clock import perf_counter, process_time
from arena.game import Game
from arena.heuristics import Evaluation
from arena.hookspecs import Part
from arena.lazy import find_plugins, list_blocked
from arena.search import Search

PLAIN = "ARENA_PLAIN"
"""The environment variable that is set to 1 if every search must run uncompiled."""
COMPILE = "ARENA_COMPILE"
"""The environment variable with the mode of compilers: `always` compiles everything that can be compiled before the first match,
and `never` uses only cached code.
"""


@dataclass(frozen=True)
class SearchEngine(Part):
    """Runs the inner loops of searches in another form, for example compiled, with the same results, counts and random numbers.

    `find_loop` gets the search of a decision, the name of a loop, such as `ida-star`, and its options, as an agent passes them to
    `Search.compiled`. It returns the loop, or None if the agent must run its own loop. The engine may keep an object in
    `search.served`. The method `finish()` of this object is called after every decision. Its attribute `ran` says whether a loop
    has run, `failure` says why no loop could be made (None if this was not tried), and `settled` says whether the spec and the
    options of the run alone decided whether a loop runs, so that times can be compared. If a loop cannot go on, it raises
    `arena.api.search.GoPlain`. If a decision began without a loop and a loop becomes available, the engine may raise
    `arena.api.search.GoCompiled`. In both cases, the agent repeats the decision after `search.served.undo(reason)` has restored
    the random numbers; the reason is None for GoCompiled.

    >>> SearchEngine("none", find_loop=lambda search, loop, options: None).kind
    'search-engine'

    A subclass may also prepare long runs, and describe games and agents for commands.
    """

    kind: ClassVar[str] = "search-engine"
    find_loop: Callable[[Search, str, dict[str, Any]], Any]

    def prepare(self, spec: Any, note: Callable[[str], object]) -> None:
        """Prepare the loops that the agents of a spec (`arena.Spec`) request, before anything is played.

        `note` is called with a line for each agent that runs uncompiled, with the reason.
        """

    def sum_up(self, uses: Iterable[Any]) -> Iterable[str]:
        """Yield lines for the end of a run. They say which agents ran a loop, and which took long without one and why.

        `uses` contains the counts for these agents, as `arena.api.search.SeatUse`.
        """
        return ()

    def note_plain(self, agent: Any, game: Game, evaluation: Evaluation | None, seconds: float) -> str | None:
        """Add up the seconds of uncompiled decisions of an agent in its own process. Return why compiling has failed, or None."""

    def loop_of(self, agent: Any, game: Game | None = None) -> str | None:
        """Return the name of the loop that an agent requests from this engine, for `game` if given; None if it requests none."""
        return None

    def loops_for(self, game: Game) -> frozenset[str]:
        """Return the names of the loops that the engine can run for a game, as far as this depends on the rules."""
        return frozenset()

    def why_plain(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return why searches of a game run uncompiled with a heuristic (None: with any heuristic); None if they run compiled."""
        return None

    def describe(self, game: Game, evaluation: Evaluation | None = None) -> str | None:
        """Return a line for `arena show` that says how searches of a game run, or why they run uncompiled; None for no line."""
        return None

    def can_load(self) -> bool:
        """Return whether the processes of agents should load loops before their time is measured."""
        return False

    def compiles_own(self, seconds: float) -> bool:
        """Return whether to call `compile_agent` for an entry with its own plugin after `seconds` of uncompiled decisions."""
        return False

    def prepare_agent(self, agent: Any, game: Game, evaluation: Evaluation | None, private: str | None) -> str | None:
        """Load the loop of an agent in its process, also from folder `private`. Return why the agent runs uncompiled, or None."""
        return None

    def compile_agent(self, agent: Any, game: Game, evaluation: Evaluation | None, private: str) -> Mapping[str, bytes]:
        """Compile an agent's loop in a separate process, and return new files for `private`. Raises NotCompilable on failure."""
        return {}

    def checks(self, game: Game, evaluation: Evaluation | None, agents: Mapping[str, type[Agent]], reason: str | None) -> Any:
        """Return the comparisons of compiled and uncompiled code for `arena check`, or None.

        `reason` says why some are skipped; None if none are.
        """
        return None


_engines: dict[str, SearchEngine] = {}
_complete = False
"""Whether the installed plugins have been loaded."""


def add_search_engine(engine: SearchEngine) -> None:
    """Use an engine in this process from now on. It replaces an engine with the same name."""
    _engines[engine.name] = engine


def note_installed() -> None:
    """Record that the installed plugins have been loaded, so that decisions need not load them."""
    global _complete  # noqa: PLW0603 - a fact about the whole process
    _complete = True


def search_engines() -> list[SearchEngine]:
    """Return the engines of the plugins that are loaded. If none is loaded, as in a script, load the installed plugins."""
    if not _complete:
        for name, point in find_plugins().items():
            with suppress(Exception):  # commands report faults of a plugin
                for engine in () if name in list_blocked() else getattr(point.load(), "arena_search_engines", list)():
                    add_search_engine(engine)
        note_installed()
    return list(_engines.values())


def find_loop(search: Search, loop: str, options: dict[str, Any]) -> Any:
    """Return the loop for a decision from the first engine that has one; None if the agent must run its own loop."""
    if not _complete:  # for example in a script that calls `arena.play`
        began, used = perf_counter(), process_time()
        search_engines()
        search._meter.pause(perf_counter() - began, process_time() - used)  # noqa: SLF001 - not charged to the agent
    for engine in _engines.values():
        found = engine.find_loop(search, loop, options)
        if found is not None:
            return found
    return None


def wants_plain() -> bool:
    """Return whether every search must run uncompiled."""
    return os.environ.get(PLAIN, "") not in ("", "0")


def compiles_first() -> bool:
    """Return whether everything that can be compiled is compiled before the first match, so that no cache decides how it runs."""
    return os.environ.get(COMPILE) == "always"


@contextmanager
def running(*, plain: bool, compiled: bool) -> Iterator[None]:
    """Run all searches `plain`, or compile all that can be compiled before the first match, inside the block.

    This applies to this process and to processes that it starts. If both are false, the environment decides.
    """
    before = {name: os.environ.pop(name, None) for name in (PLAIN, COMPILE) if plain or compiled}
    if plain:
        os.environ[PLAIN] = "1"
    if compiled:
        os.environ[COMPILE] = "always"
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
