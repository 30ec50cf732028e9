"""Where a search asks for its compiled loop, and gets None where it is to run plain."""

import os
import random
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter, process_time
from typing import Any

from arena.compiled import cache
from arena.compiled.board_edition import BoardSpecialiser, board_edition, board_of
from arena.compiled.board_loops import BoardLoop
from arena.compiled.drive import Drive
from arena.compiled.edition import Edition, edition_of, estimate_of, owner_of
from arena.compiled.engines import ENGINES
from arena.compiled.fields import NotCompilable
from arena.compiled.loop import Loop
from arena.compiled.memory import COMPILING, require, require_loading
from arena.compiled.module import Module, assembled
from arena.compiled.rules import Board
from arena.compiled.specialiser import Specialiser
from arena.counting import GoPlain
from arena.errors import Interrupted, describe
from arena.game import Game
from arena.heuristic import Evaluation
from arena.identity import Stream

PATIENCE = 5.0
"""Seconds of the processor in one plain decision after which its loop is compiled: about as long as compiling takes."""
REMEMBERED = 64
"""Loops that are kept in a process."""
UNFIT = "a number or an index did not fit"
MISSING = "numba is not installed (pip install 'gamearena[fast]')"
NOT_KEPT = f"its code is not in the cache, and {cache.COMPILE}=never"


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


def available() -> bool:
    """Tell whether compiled code is wanted, and can be loaded."""
    return not plain_wanted() and installed("llvmlite")


def prepared(game: Game, evaluation: Evaluation | None, engine: str, *, compiling: bool) -> str | None:
    """Get the loop of an engine ready before a clock runs; return why it runs plain, None where it does not or will not."""
    if plain_wanted():
        return None
    pair = _pair(game, evaluation, engine)
    if pair.loop is None and pair.reason is None:
        _load(pair, compiling=compiling)
    return pair.reason


def loop_for(search: Any, engine: str, options: Mapping[str, Any]) -> Any:
    """Return the loop of an engine for a decision; None for the plain path. Time that is spent here is not the agent's."""
    meter = search._meter  # noqa: SLF001 - the other half of Search.compiled
    if meter.game is None or plain_wanted():
        return None
    pair = _pair(meter.game, search._evaluation, engine)  # noqa: SLF001
    if pair.loop is None:
        hosted = os.environ.get(cache.COMPILE) == cache.HOSTED
        if pair.reason is not None or (hosted and meter.timed):  # nothing can be taken off a clock that runs outside
            return None
        began, used = perf_counter(), process_time()
        _prepare(pair, search._patience(used))  # noqa: SLF001
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


def _prepare(pair: CompiledPair, spent: float) -> None:
    """Load the loop of a pair if its code is there, or compile it if it is time to."""
    mode = os.environ.get(cache.COMPILE)
    never = mode == "never" or (mode == cache.HOSTED and not cache.is_private())
    compiling = mode == "always" or (spent > PATIENCE and not never)
    if not pair.missed or compiling:
        _load(pair, compiling=compiling)


def _load(pair: CompiledPair, *, compiling: bool) -> None:
    try:
        pair.loop = ready(pair.game, pair.evaluation, pair.engine, compiling=compiling)
        pair.missed = pair.loop is None
    except NotCompilable as unfit:
        pair.reason = str(unfit)


def drawn(game: Game, rng: random.Random) -> Board:
    """Return the board of `compiled_draw` of a puzzle, filled by its `draw`: compiled if that code is there, else plain."""
    loop = unmetered(game, "draw", rng)
    if loop is not None:
        try:
            filled: Board = loop.filled(rng)  # type: ignore[attr-defined]
            return filled
        except GoPlain:
            unfit(game, "draw")
    board = board_of(game, "compiled_draw")
    board.draw(rng)
    return board


def unmetered(game: Game, engine: str, rng: random.Random, spent: float = 0.0) -> Loop | None:
    """Return the loop of an engine for work outside a decision, which has spent so many seconds; None for the plain path."""
    if plain_wanted() or type(rng) not in (random.Random, Stream) or _bounded():
        return None
    pair = _pair(game, None, engine)
    if pair.loop is None and pair.reason is None:
        _prepare(pair, spent)
    return pair.loop


def unfit(game: Game, engine: str) -> None:
    """Note that an engine cannot go on with a game."""
    pair = _pair(game, None, engine)
    pair.loop, pair.reason = None, UNFIT


def _bounded() -> bool:
    """Tell whether the memory of this process is limited: whoever draws does not know the limits of the decision."""
    try:
        import resource
    except ImportError:  # not Unix
        return False
    return resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY


def ready(game: Game, evaluation: Evaluation | None, engine: str | type[Loop], *, compiling: bool) -> Loop | None:
    """Return the loop of an engine for a game; None where it has to be compiled first. NotCompilable where it runs plain."""
    if not installed("llvmlite"):
        raise NotCompilable(MISSING)
    require_loading()
    if not _kind(engine).informed:
        evaluation = None
    edition, rules, estimate, module = assembly(game, evaluation, engine)
    try:
        from arena.compiled.board_trial import tried_board
        from arena.compiled.loader import argument, loaded
        from arena.compiled.rehearsal import tried

        local = issubclass(_kind(engine), BoardLoop)
        large = local and edition.rules.long  # tried when it is compiled, not whenever it is loaded
        found = compiled(module, compiling=False) if large else None
        if local and found is None:
            tried_board(module, edition, rules, estimate)
        elif found is None:
            tried(module, edition, rules, estimate, evaluation)
        if found is None:
            found = compiled(module, compiling=compiling or large)
        if found is None:
            return None
        call = loaded(*found, module.kinds)
    except Interrupted:
        raise
    except NotCompilable as refused:
        places = {**rules.places(module.text), **estimate.places(module.text)} if refused.lines else {}
        place = next((places[line] for line in refused.lines if line in places), None)
        raise refused if place is None else NotCompilable(f"{place}: {refused}") from refused
    except Exception as error:  # a library that is broken is as good as none
        raise NotCompilable(describe(error)) from error
    drive = Drive(call, () if local else tuple([argument(one) for one in module.fields]))
    loop = _kind(engine)(edition, estimate.words, module.memory, drive)
    loop.kept = module.fields
    loop.rules = rules
    return loop


def installed(name: str) -> bool:
    """Tell whether a module can be found."""
    try:
        return find_spec(name) is not None
    except ValueError:  # somebody has put None into its place
        return False


def _kind(engine: str | type[Loop]) -> type[Loop]:
    if isinstance(engine, str) and engine not in ENGINES:
        raise NotCompilable(f"there is no engine {engine}")
    return ENGINES[engine] if isinstance(engine, str) else engine


def assembly(
    game: Game, evaluation: Evaluation | None, engine: str | type[Loop]
) -> tuple[Edition, Specialiser, Specialiser, Module]:
    """Return what an engine would run; NotCompilable says why it runs plain."""
    kind = _kind(engine)
    if issubclass(kind, BoardLoop):
        edition = board_edition(game, kind.method, kind.replaced)
        rules: Specialiser = BoardSpecialiser(edition.rules)
        estimate = Specialiser("estimate", None)
    else:
        edition = edition_of(game, searched=kind.searches)
        if edition.in_place and not kind.in_place:
            raise NotCompilable("its states are changed in place, which bfs, dfs and iterative-deepening can follow alone")
        rules, estimate = edition.specialised(), estimate_of(edition, evaluation if kind.informed else None)
    module = assembled(kind.kernel, rules, estimate, kind.constants(edition))
    return edition, rules, estimate, module


def compiled(module: Module, *, compiling: bool) -> tuple[str, bytes] | None:
    """Return the symbol and the code of a module, from the cache, or compiled now; None where that is not wanted."""
    key = cache.key_of(module.text, module.kinds)
    found = cache.read(key)
    if found is None and compiling:
        if not installed("numba"):
            raise NotCompilable(MISSING)
        require(COMPILING, "compiling")
        try:
            from arena.compiled.compiler import object_code
        except ImportError as error:
            raise NotCompilable(f"numba cannot be imported: {describe(error)}") from error
        found = object_code(module.text, module.kinds, key)
        cache.write(key, *found)
        for pair in list(_pairs.values()):
            pair.missed = False
    return found
