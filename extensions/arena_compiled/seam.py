"""The lookup of compiled loops for searches. The result is None if a search should run uncompiled."""

import os
import random
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import inf
from typing import Any

from arena import Game
from arena.api.errors import Interrupted, describe
from arena.api.games import Evaluation
from arena.api.match import Stream
from arena.api.search import COMPILE, GoCompiled, Meter, compiles_first, wants_plain
from arena.clock import perf_counter, process_time
from arena.compiled import NotCompilable
from arena_compiled import cache
from arena_compiled.background import MISSING, Compilation, request_code, unwatch, watch
from arena_compiled.edition import Edition, edition_of, estimate_of, owner_of
from arena_compiled.engines import ENGINES
from arena_compiled.loop import Drive, Loop
from arena_compiled.memory import COMPILING_BYTES, headroom, require, require_loading
from arena_compiled.module import Module, assemble
from arena_compiled.specialiser import Specialiser

COMPILE_AFTER_CPU_SECONDS = 1.0
"""The CPU seconds of uncompiled decisions for a game, heuristic and engine after which compiled code is wanted."""
MAX_REMEMBERED_LOOPS = 64
"""The maximum number of loops that a process keeps."""
UNFIT = "a number or an index was out of range"
NOT_KEPT = f"its code is not in the cache, and {COMPILE}=never"


class CompilerFault(NotCompilable):
    """An unexpected error of the compiler. The search runs plain, and a run names the error in one line."""


Parts = tuple[Edition, Specialiser, Specialiser, Module]


@dataclass
class CompiledPair:
    """One engine (the compiled inner loop of a search) for one game and one heuristic, in one thread."""

    game: Game
    evaluation: Evaluation | None
    engine: str
    loop: Loop | None = None
    reason: str | None = None
    """The reason why this pair will never run compiled; None if it runs compiled, or may do so later."""
    unfit: bool = False
    """Whether this reason lies in the code of the game or the heuristic alone, so that it holds in every run."""
    parts: Parts | None = None
    """The parts of the loop; None until the pair has been examined."""
    fault: str | None = None
    """The unexpected error that is this reason; None for other reasons."""
    key: str = ""
    """The key of the code in the cache, which is set when the pair is examined."""
    compilation: Compilation | None = None
    """The requested compilation."""

    @property
    def use(self) -> tuple[type, str, str]:
        """The class of the game, the name of the heuristic, and the engine. They are the same for different objects of these
        classes.
        """
        owner = owner_of(self.evaluation)
        return type(self.game), getattr(owner, "__qualname__", type(owner).__qualname__), self.engine

    @property
    def has_code(self) -> bool:
        """True if the code of the loop can be loaded now."""
        return cache.has(self.key)

    @property
    def failure(self) -> str | None:
        """Why its compilation failed, or the unexpected error that prevents it; None without either."""
        compilation = self.compilation
        return self.fault if compilation is None or compilation.failure is None else str(compilation.failure)

    def fail(self, reason: NotCompilable) -> None:
        """Run uncompiled from now on."""
        self.reason, self.loop = str(reason if self.parts is None else _explain(reason, self.parts)), None
        self.fault = self.reason if isinstance(reason, CompilerFault) else None
        self.parts = None


_plain_seconds: dict[tuple[type, str, str], float] = defaultdict(float)
"""CPU seconds of uncompiled decisions in this process, by `CompiledPair.use`."""


class Served:
    """One decision. It has the time at which the decision asked for a loop, the loop that is running, and the state that the
    random generator had at that time.
    """

    def __init__(self, rng: Any, meter: Meter) -> None:
        self._rng = rng
        self._before = (type(rng), None if isinstance(rng, Stream) else rng.getstate())
        self._meter = meter
        self._pair: CompiledPair | None = None
        self._pending: CompiledPair | None = None
        self._watched = False
        self._asked = process_time()

    @property
    def ran(self) -> bool:
        """Return True if compiled code has run."""
        return self._pair is not None

    @property
    def failure(self) -> str | None:
        """Return the reason why the code of the pair could not be compiled; None if compilation was not tried or has
        not failed.
        """
        return None if self._pending is None else self._pending.failure

    @property
    def settled(self) -> bool:
        """Return True if no cache and no clock decided whether compiled code runs."""
        return compiles_first() or (self._pending is not None and self._pending.unfit)

    def use(self, pair: CompiledPair) -> None:
        """Record that the loop of a pair is running."""
        self._pair = pair

    def run_plain(self, pair: CompiledPair, *, watched: bool = True) -> None:
        """Record that the decision runs uncompiled for now. If it is watched, it starts again when the code is
        available.
        """
        self._pending = pair
        if watched and pair.reason is None and not self._watched and os.environ.get(COMPILE) != "never":
            self._watched = True
            watch(self)

    def look(self) -> None:
        """Interrupt the decision if its code is available, or request the code if the decision has run long enough. This is
        called from another thread.
        """
        pair = self._pending
        if pair is None or pair.reason is not None:
            return
        if pair.has_code:
            self._meter.errand = _start_again
        elif pair.compilation is not None:
            if pair.compilation.failure is None:
                return
            self._meter.errand = partial(pair.fail, pair.compilation.failure)
        elif _plain_seconds[pair.use] + process_time() - self._asked > COMPILE_AFTER_CPU_SECONDS and _may_request():
            self._meter.errand = partial(_request, pair, self._meter)
        else:
            return
        self._meter.stop = -1

    def finish(self) -> None:
        """Count the CPU time of a finished decision. If the sum is large enough, request the code."""
        pair = self._pending
        if self._watched:
            self._watched = False
            unwatch(self)
            self._meter.errand = None
        if pair is None or self._pair is not None:
            return
        use = pair.use
        _plain_seconds[use] += process_time() - self._asked
        waiting = pair.reason is None and pair.compilation is None
        if waiting and _plain_seconds[use] > COMPILE_AFTER_CPU_SECONDS and _may_request():
            _request(pair)

    def undo(self, reason: str | None) -> None:
        """Restore the random generator. If there is a `reason`, the pair has failed and runs uncompiled from now on."""
        if reason is not None:
            assert self._pair is not None
            self._pair.fail(CompilerFault(reason))
        kind, state = self._before
        self._rng.__class__ = kind
        if state is not None:
            self._rng.setstate(state)


_pairs: OrderedDict[tuple[Any, ...], CompiledPair] = OrderedDict()


def _start_again() -> None:
    raise GoCompiled


def _may_request() -> bool:
    """Return True if this process may request code. A process that only hosts an agent leaves this to the process that plays."""
    return os.environ.get(COMPILE) not in ("never", cache.HOSTED)


def _request(pair: CompiledPair, meter: Meter | None = None) -> None:
    """Request the code of a pair, if its rules are correct. The time that this takes does not count for the agent."""
    began, used = perf_counter(), process_time()
    try:
        if not is_installed("numba"):
            raise NotCompilable(MISSING)
        if pair.parts is None:
            pair.parts, pair.key = _look_at(pair)
        _hold_to_game(pair.parts, pair.evaluation, pair.engine)
        pair.compilation = request_code(pair.parts[3], pair.key)
    except NotCompilable as reason:
        pair.fail(reason)
    if meter is not None:
        meter.pause(perf_counter() - began, process_time() - used)


def note_plain(game: Game, evaluation: Evaluation | None, engine: str, seconds: float) -> str | None:
    """Count the time of uncompiled decisions in another process. If the sum is large enough, request the code. Return why the
    code could not be compiled, or None.
    """
    if wants_plain() or not _may_request():
        return None
    pair = _pair(game, evaluation, engine)
    _plain_seconds[pair.use] += seconds
    if pair.reason is None and pair.compilation is None and _plain_seconds[pair.use] > COMPILE_AFTER_CPU_SECONDS:
        _request(pair)
    return pair.failure


def can_load() -> bool:
    """Return True if compiled code is wanted and can be loaded."""
    return not wants_plain() and is_installed("llvmlite")


def prepare(game: Game, evaluation: Evaluation | None, engine: str) -> str | None:
    """Load the loop of an engine before a clock runs. Return the reason why it runs uncompiled; None if it runs compiled, or will
    do so later.
    """
    if wants_plain():
        return None
    pair = _pair(game, evaluation, engine)
    if pair.loop is None and pair.reason is None:
        _load(pair, compiling=False)
    return pair.reason


def find_loop(search: Any, engine: str, options: Mapping[str, Any]) -> Any:
    """Return the loop of an engine for a decision; None if the decision should run uncompiled. The time spent here does not count
    for the agent.
    """
    meter = search._meter  # noqa: SLF001 - Search.compiled calls this function
    if meter.game is None:
        return None
    pair = _pair(meter.game, search._evaluation, engine)  # noqa: SLF001
    served = search.served
    if served is None:
        served = search.served = Served(search.rng, meter)
    if pair.loop is None:
        if pair.reason is None:
            hosted = meter.timed and os.environ.get(COMPILE) == cache.HOSTED  # if so, the clock runs in another process
            announce = meter.announce if hosted and pair.parts is not None else None
            if hosted and (announce is None or not pair.has_code):
                served.run_plain(pair, watched=announce is not None)
                return None
            if announce is not None:
                meter.announce = None  # the clock starts anew only once per match
                announce(True)
            _look_for(pair, meter)
            if announce is not None:
                announce(False)
        if pair.loop is None:
            served.run_plain(pair)
            return None
    served.use(pair)
    pair.loop.begin(meter, options)
    return pair.loop


def _pair(game: Game, evaluation: Evaluation | None, engine: str) -> CompiledPair:
    key = (id(game), id(owner_of(evaluation)), engine, threading.get_ident())
    pair = _pairs.get(key)
    if pair is None:
        pair = _pairs[key] = CompiledPair(game, evaluation, engine)
        if len(_pairs) > MAX_REMEMBERED_LOOPS:
            _pairs.popitem(last=False)
    return pair


def _look_for(pair: CompiledPair, meter: Meter | None) -> None:
    """Load the loop of a pair if its code is available, or compile it now if the user wants that."""
    compiling = compiles_first()
    if pair.parts is not None and not compiling:
        if pair.compilation is not None and pair.compilation.failure is not None:
            pair.fail(pair.compilation.failure)
        if pair.reason is not None or not pair.has_code:
            return
    began, used = perf_counter(), process_time()
    _load(pair, compiling=compiling)
    if meter is not None:
        meter.pause(perf_counter() - began, process_time() - used)


def _load(pair: CompiledPair, *, compiling: bool) -> None:
    try:
        if pair.parts is None:
            pair.parts, pair.key = _look_at(pair)
        pair.loop = _make_loop(pair.parts, pair.evaluation, pair.engine, compiling=compiling)
    except NotCompilable as unfit:
        pair.fail(unfit)


def _look_at(pair: CompiledPair) -> tuple[Parts, str]:
    if not is_installed("llvmlite"):
        raise NotCompilable(MISSING)
    require_loading()
    try:
        parts = _assemble(pair.game, pair.evaluation, pair.engine)
    except NotCompilable:
        pair.unfit = True
        raise
    return parts, parts[3].key


def _assemble(game: Game, evaluation: Evaluation | None, engine: str | type[Loop]) -> Parts:
    """Assemble the code of an engine. An unexpected error means that the game runs plain; it must not end a run."""
    try:
        return assemble_engine(game, evaluation, engine)
    except (Interrupted, NotCompilable):
        raise
    except Exception as error:
        raise CompilerFault(f"arena cannot translate its code: {describe(error)}") from error


def find_unmetered_loop(game: Game, engine: str, rng: random.Random, spent: float = 0.0) -> Loop | None:
    """Return the loop of an engine for work outside a decision; None if uncompiled code should do the work.

    `spent` is the CPU time that uncompiled code has spent on such work since the last call.
    """
    if wants_plain() or type(rng) not in (random.Random, Stream):
        return None
    if headroom() < inf:  # the limits of the decision are not known here
        return None
    pair = _pair(game, None, engine)
    if pair.loop is None and pair.reason is None:
        _look_for(pair, None)
        if spent and pair.loop is None:
            note_plain(game, None, engine, spent)
    return pair.loop


def mark_unfit(game: Game, engine: str) -> None:
    """Remember that an engine cannot continue in a game."""
    pair = _pair(game, None, engine)
    pair.loop, pair.reason = None, UNFIT


def load_loop(game: Game, evaluation: Evaluation | None, engine: str | type[Loop], *, compiling: bool) -> Loop | None:
    """Return the loop of an engine for a game; None if it must be compiled first. Raises NotCompilable if that is impossible."""
    if not is_installed("llvmlite"):
        raise NotCompilable(MISSING)
    require_loading()
    return _make_loop(_assemble(game, evaluation, engine), evaluation, engine, compiling=compiling)


def _make_loop(parts: Parts, evaluation: Evaluation | None, engine: str | type[Loop], *, compiling: bool) -> Loop | None:
    """Return the loop of an engine; None if its code is not in the cache and should not be compiled now."""
    edition, _, estimate, module = parts
    key = module.key
    found = cache.read(key)
    if found is None and not compiling:
        return None
    _hold_to_game(parts, evaluation, engine)
    try:
        from arena_compiled.loader import argument, load_code

        call = load_code(*(found or compile_module(module, key)), module.kinds)
    except Interrupted:
        raise
    except NotCompilable as refused:
        raise _explain(refused, parts) from refused
    except Exception as error:  # a broken library is treated like a missing one
        raise CompilerFault(describe(error)) from error
    drive = Drive(call, tuple([argument(one) for one in module.fields]))
    loop = _kind(engine)(edition, estimate.words, module.memory, drive)
    loop.kept = module.fields
    return loop


def _hold_to_game(parts: Parts, evaluation: Evaluation | None, engine: str | type[Loop]) -> None:
    """Compare the rules with the game before the rules are compiled. Raises NotCompilable if the two differ."""
    edition, rules, estimate, module = parts
    try:
        from arena_compiled.rehearsal import rehearse

        rehearse(module, edition, rules, estimate, evaluation if _kind(engine).informed else None)
    except (Interrupted, NotCompilable):
        raise
    except Exception as error:
        raise CompilerFault(describe(error)) from error


def _explain(refused: NotCompilable, parts: Parts) -> NotCompilable:
    """Return an error with the author's file and line, if the compiler named a line of the module."""
    _, rules, estimate, module = parts
    places = {**rules.places(module.text), **estimate.places(module.text)} if refused.lines else {}
    place = next((places[line] for line in refused.lines if line in places), None)
    return refused if place is None else NotCompilable(f"{place}: {refused}")


def is_installed(name: str) -> bool:
    """Return True if a module can be found."""
    try:
        return find_spec(name) is not None
    except ValueError:  # a test or a program has set its entry in sys.modules to None
        return False


def _kind(engine: str | type[Loop]) -> type[Loop]:
    if isinstance(engine, str) and engine not in ENGINES:
        raise NotCompilable(f"unknown engine {engine}")
    return ENGINES[engine] if isinstance(engine, str) else engine


IN_PLACE = "its states are changed in place, which only bfs, dfs and iterative-deepening support"
"""Why a search of a grid is not compiled."""


def assemble_engine(
    game: Game, evaluation: Evaluation | None, engine: str | type[Loop]
) -> tuple[Edition, Specialiser, Specialiser, Module]:
    """Return the parts that an engine would run. Raises NotCompilable with the reason if it cannot be compiled."""
    kind = _kind(engine)
    edition = edition_of(game, searched=kind.searches)
    if edition.in_place and not kind.in_place:
        raise NotCompilable(IN_PLACE)
    rules, estimate = edition.specialise(), estimate_of(edition, evaluation if kind.informed else None)
    module = assemble(kind.kernel, rules, estimate, kind.constants(edition))
    return edition, rules, estimate, module


def compile_module(module: Module, key: str) -> tuple[str, bytes]:
    """Compile a module in this process, and return its symbol and its code."""
    if not is_installed("numba"):
        raise NotCompilable(MISSING)
    require(COMPILING_BYTES, "compiling")
    try:
        from arena_compiled.compiler import object_code
    except ImportError as error:
        raise NotCompilable(f"numba cannot be imported: {describe(error)}") from error
    found = object_code(module.text, module.kinds, key)
    cache.write(key, *found)
    return found
