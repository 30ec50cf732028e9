"""Where a search asks for its compiled loop, and gets None where it is to run plain."""

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

from arena.compiled import cache
from arena.compiled.drive import Drive
from arena.compiled.edition import Edition, edition_of, estimate_of, owner_of
from arena.compiled.engines import ENGINES
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop
from arena.compiled.module import Module, assembled
from arena.errors import Interrupted, describe
from arena.game import Game
from arena.heuristic import Evaluation

if TYPE_CHECKING:
    from arena.compiled.specialiser import Specialiser

PATIENCE = 5.0
"""Seconds of the processor in one plain decision after which its loop is compiled: about as long as compiling takes."""
REMEMBERED = 64
"""Loops that are kept in a process."""
MISSING = "numba is not installed (pip install 'gamearena[fast]')"


@dataclass
class CompiledPair:
    """One engine for one game and one heuristic, in one thread."""

    game: Game
    evaluation: Evaluation | None
    engine: str
    loop: Loop | None = None
    reason: str | None = None
    """Why it runs plain for good; None where it runs compiled, or may later."""
    missed: bool = False
    """Whether its code was not in the cache; nobody looks there again until something was compiled."""


_pairs: OrderedDict[tuple[Any, ...], CompiledPair] = OrderedDict()


def plain_wanted() -> bool:
    """Tell whether the user wants no compiled code."""
    return os.environ.get(cache.PLAIN, "") not in ("", "0")


def loop_for(search: Any, engine: str, options: Mapping[str, Any]) -> Any:
    """Return the loop of an engine for a decision; None for the plain path. Time that is spent here is not the agent's."""
    meter = search._meter  # noqa: SLF001 - the other half of Search.compiled
    if meter.game is None or plain_wanted():
        return None
    pair = _pair(meter.game, search._evaluation, engine)  # noqa: SLF001
    if pair.loop is None:
        if pair.reason is not None:
            return None
        began, used = perf_counter(), process_time()
        _prepare(pair, search.limits, search._patience(used))  # noqa: SLF001
        meter.pause(perf_counter() - began, process_time() - used)
        if pair.loop is None:
            return None
    search._using(pair)  # noqa: SLF001
    pair.loop.begin(meter, options)
    return pair.loop


def _pair(game: Game, evaluation: Evaluation | None, engine: str) -> CompiledPair:
    key = (id(game), id(owner_of(evaluation)), engine, threading.get_ident())
    pair = _pairs.get(key)
    if pair is None:
        pair = _pairs[key] = CompiledPair(game, evaluation, engine)
        if len(_pairs) > REMEMBERED:
            _pairs.popitem(last=False)
    return pair


def _prepare(pair: CompiledPair, limits: Any, spent: float) -> None:
    """Load the loop of a pair if its code is there, or compile it if it is time to."""
    mode = os.environ.get(cache.COMPILE)
    compiling = mode == "always" or (mode != "never" and spent > PATIENCE)
    if pair.missed and not compiling:
        return
    try:
        if limits.memory_mb is not None:
            raise NotCompilable("its memory is limited")
        pair.loop = ready(pair.game, pair.evaluation, pair.engine, compiling=compiling)
        pair.missed = pair.loop is None
    except NotCompilable as unfit:
        pair.reason = str(unfit)


def ready(game: Game, evaluation: Evaluation | None, engine: str, *, compiling: bool) -> Loop | None:
    """Return the loop of an engine for a game; None where it has to be compiled first. NotCompilable where it runs plain."""
    if not installed("llvmlite"):
        raise NotCompilable(MISSING)
    if engine in ENGINES and not ENGINES[engine].informed:
        evaluation = None
    edition, rules, estimate, module = assembly(game, evaluation, engine)
    try:
        from arena.compiled.loader import argument, loaded
        from arena.compiled.rehearsal import tried

        tried(module, edition, rules, estimate, evaluation)
        found = compiled(module, compiling=compiling)
        if found is None:
            return None
        call = loaded(*found, module.kinds)
    except (Interrupted, NotCompilable):
        raise
    except Exception as error:  # a library that is broken is as good as none
        raise NotCompilable(describe(error)) from error
    drive = Drive(call, tuple([argument(one) for one in module.fields]))
    loop = ENGINES[engine](edition, estimate.words, module.memory, drive)
    loop.kept = module.fields
    return loop


def installed(name: str) -> bool:
    """Tell whether there is a package of this name."""
    try:
        return find_spec(name) is not None
    except ValueError:  # somebody has put None into its place
        return False


def assembly(game: Game, evaluation: Evaluation | None, engine: str) -> tuple[Edition, "Specialiser", "Specialiser", Module]:
    """Return what an engine would run; NotCompilable says why it runs plain."""
    if engine not in ENGINES:
        raise NotCompilable(f"there is no engine {engine}")
    edition, loop = edition_of(game), ENGINES[engine]
    if edition.in_place and not loop.in_place:
        raise NotCompilable("its states are changed in place, which bfs, dfs and iterative-deepening can follow alone")
    rules, estimate = edition.specialised(), estimate_of(edition, evaluation)
    module = assembled(loop.kernel, rules, estimate, loop.constants(edition))
    return edition, rules, estimate, module


def compiled(module: Module, *, compiling: bool) -> tuple[str, bytes] | None:
    """Return the symbol and the code of a module, from the cache, or compiled now; None where that is not wanted."""
    key = cache.key_of(module.text, module.kinds)
    found = cache.read(key)
    if found is None and compiling:
        if not installed("numba"):
            raise NotCompilable(MISSING)
        try:
            from arena.compiled.compiler import object_code
        except ImportError as error:
            raise NotCompilable(f"numba cannot be imported: {describe(error)}") from error
        found = object_code(module.text, module.kinds, key)
        cache.write(key, *found)
        for pair in list(_pairs.values()):
            pair.missed = False
    return found
