"""A search asks here for its compiled loop, and gets None if it is to run plain."""

import os
import random
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf
from time import perf_counter, process_time
from typing import Any

from arena import Game
from arena.api.cli import describe
from arena.api.match import Stream
from arena.api.spec import Evaluation
from arena.compiled import NotCompilable
from arena.errors import Interrupted
from arena.search_engines import PLAIN
from arena.version import install_command
from arena_compiled import cache
from arena_compiled.edition import Edition, edition_of, estimate_of, owner_of
from arena_compiled.engines import ENGINES
from arena_compiled.loop import Drive, Loop
from arena_compiled.memory import COMPILING_BYTES, headroom, require, require_loading
from arena_compiled.module import Module, assemble
from arena_compiled.specialiser import Specialiser

COMPILE_AFTER_CPU_SECONDS = 5.0
"""Seconds of the processor in one plain decision after which its loop is compiled: about as long as compiling takes."""
MAX_REMEMBERED_LOOPS = 64
"""Loops that are kept in a process."""
UNFIT = "a number or an index did not fit"
MISSING = f"numba is not installed ({install_command('fast')})"
NOT_KEPT = f"its code is not in the cache, and {cache.COMPILE}=never"


@dataclass
class CompiledPair:
    """One engine for one game and one heuristic, in one thread."""

    game: Game
    evaluation: Evaluation | None
    engine: str
    loop: Loop | None = None
    reason: str | None = None
    """Why it runs plain for good; None if it runs compiled, or may later."""
    missed: bool = False
    """Whether its code was not in the cache; nobody looks there again until something was compiled."""


class Served:
    """One decision: since when it asks for a loop, which one runs, and the random generator as it was before that."""

    __slots__ = ("_before", "_pair", "_rng", "asked")

    def __init__(self, rng: Any) -> None:
        self._rng = rng
        self._pair: CompiledPair | None = None
        self.asked = process_time()

    @property
    def ran(self) -> bool:
        """Whether compiled code has run."""
        return self._pair is not None

    def use(self, pair: CompiledPair) -> None:
        """Note that the loop of a pair runs."""
        if self._pair is None:
            rng = self._rng
            self._before = (type(rng), None if isinstance(rng, Stream) else rng.getstate())
        self._pair = pair

    def undo(self, reason: str) -> None:
        """Take back the random numbers that were drawn, and let the pair that failed run plain from now on."""
        assert self._pair is not None
        self._pair.reason, self._pair.loop = reason, None
        kind, state = self._before
        self._rng.__class__ = kind
        if state is not None:
            self._rng.setstate(state)


_pairs: OrderedDict[tuple[Any, ...], CompiledPair] = OrderedDict()


def wants_plain() -> bool:
    """Tell whether the user wants no compiled code."""
    return os.environ.get(PLAIN, "") not in ("", "0")


def can_load() -> bool:
    """Tell whether compiled code is wanted, and can be loaded."""
    return not wants_plain() and is_installed("llvmlite")


def prepare(game: Game, evaluation: Evaluation | None, engine: str, *, compiling: bool) -> str | None:
    """Get the loop of an engine ready before a clock runs; return why it runs plain, None if it does not or will not."""
    if wants_plain():
        return None
    pair = _pair(game, evaluation, engine)
    if pair.loop is None and pair.reason is None:
        _load(pair, compiling=compiling)
    return pair.reason


def find_loop(search: Any, engine: str, options: Mapping[str, Any]) -> Any:
    """Return the loop of an engine for a decision; None for the plain path. Time that is spent here is not the agent's."""
    meter = search._meter  # noqa: SLF001 - the other half of Search.compiled
    if meter.game is None or wants_plain():
        return None
    pair = _pair(meter.game, search._evaluation, engine)  # noqa: SLF001
    served = search.served
    if served is None:
        served = search.served = Served(search.rng)
    if pair.loop is None:
        hosted = os.environ.get(cache.COMPILE) == cache.HOSTED
        if pair.reason is not None or (hosted and meter.timed):  # nothing can be taken off a clock that runs outside
            return None
        began, used = perf_counter(), process_time()
        _prepare(pair, used - served.asked)
        meter.pause(perf_counter() - began, process_time() - used)
        if pair.loop is None:
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


def _prepare(pair: CompiledPair, spent: float) -> None:
    """Load the loop of a pair if its code is there, or compile it if it is time to."""
    mode = os.environ.get(cache.COMPILE)
    never = mode == "never" or (mode == cache.HOSTED and not cache.is_private())
    compiling = mode == "always" or (spent > COMPILE_AFTER_CPU_SECONDS and not never)
    if not pair.missed or compiling:
        _load(pair, compiling=compiling)


def _load(pair: CompiledPair, *, compiling: bool) -> None:
    try:
        pair.loop = load_loop(pair.game, pair.evaluation, pair.engine, compiling=compiling)
        pair.missed = pair.loop is None
    except NotCompilable as unfit:
        pair.reason = str(unfit)


def find_unmetered_loop(game: Game, engine: str, rng: random.Random, spent: float = 0.0) -> Loop | None:
    """Return the loop of an engine for work outside a decision, which has spent so many seconds; None for the plain path."""
    if wants_plain() or type(rng) not in (random.Random, Stream):
        return None
    if headroom() < inf:  # the limits of the decision are not known here
        return None
    pair = _pair(game, None, engine)
    if pair.loop is None and pair.reason is None:
        _prepare(pair, spent)
    return pair.loop


def mark_unfit(game: Game, engine: str) -> None:
    """Note that an engine cannot go on with a game."""
    pair = _pair(game, None, engine)
    pair.loop, pair.reason = None, UNFIT


def load_loop(game: Game, evaluation: Evaluation | None, engine: str | type[Loop], *, compiling: bool) -> Loop | None:
    """Return the loop of an engine for a game; None if it has to be compiled first. NotCompilable if it runs plain."""
    if not is_installed("llvmlite"):
        raise NotCompilable(MISSING)
    require_loading()
    if not _kind(engine).informed:
        evaluation = None
    edition, rules, estimate, module = assemble_engine(game, evaluation, engine)
    try:
        from arena_compiled.loader import argument, load_code
        from arena_compiled.rehearsal import rehearse

        rehearse(module, edition, rules, estimate, evaluation)
        found = compile_module(module, compiling=compiling)
        if found is None:
            return None
        call = load_code(*found, module.kinds)
    except Interrupted:
        raise
    except NotCompilable as refused:
        places = {**rules.places(module.text), **estimate.places(module.text)} if refused.lines else {}
        place = next((places[line] for line in refused.lines if line in places), None)
        raise refused if place is None else NotCompilable(f"{place}: {refused}") from refused
    except Exception as error:  # a library that is broken is as good as none
        raise NotCompilable(describe(error)) from error
    drive = Drive(call, tuple([argument(one) for one in module.fields]))
    loop = _kind(engine)(edition, estimate.words, module.memory, drive)
    loop.kept = module.fields
    return loop


def is_installed(name: str) -> bool:
    """Tell whether a module can be found."""
    try:
        return find_spec(name) is not None
    except ValueError:  # somebody has put None into its place
        return False


def _kind(engine: str | type[Loop]) -> type[Loop]:
    if isinstance(engine, str) and engine not in ENGINES:
        raise NotCompilable(f"there is no engine {engine}")
    return ENGINES[engine] if isinstance(engine, str) else engine


def assemble_engine(
    game: Game, evaluation: Evaluation | None, engine: str | type[Loop]
) -> tuple[Edition, Specialiser, Specialiser, Module]:
    """Return what an engine would run; NotCompilable says why it runs plain."""
    kind = _kind(engine)
    edition = edition_of(game, searched=kind.searches)
    if edition.in_place and not kind.in_place:
        raise NotCompilable("its states are changed in place, which bfs, dfs and iterative-deepening can follow alone")
    rules, estimate = edition.specialise(), estimate_of(edition, evaluation if kind.informed else None)
    module = assemble(kind.kernel, rules, estimate, kind.constants(edition))
    return edition, rules, estimate, module


def compile_module(module: Module, *, compiling: bool) -> tuple[str, bytes] | None:
    """Return the symbol and the code of a module, from the cache, or compiled now; None if that is not wanted."""
    key = cache.key_of(module.text, module.kinds)
    found = cache.read(key)
    if found is None and compiling:
        if not is_installed("numba"):
            raise NotCompilable(MISSING)
        require(COMPILING_BYTES, "compiling")
        try:
            from arena_compiled.compiler import object_code
        except ImportError as error:
            raise NotCompilable(f"numba cannot be imported: {describe(error)}") from error
        found = object_code(module.text, module.kinds, key)
        cache.write(key, *found)
        for pair in list(_pairs.values()):
            pair.missed = False
    return found
