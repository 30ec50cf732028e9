"""Compiles what the searches of a run need, before its workers start: these load it, and never compile."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from arena import Game, tell_progress
from arena.api.match import Isolation, Seat
from arena.api.spec import Spec
from arena.compiled import NotCompilable
from arena.errors import IsolationError
from arena.spec.board import Board
from arena_compiled.cache import COMPILE, OWN
from arena_compiled.engines import engine_of
from arena_compiled.seam import NOT_KEPT, can_load, load_loop, wants_plain

LONG_RUN_SECONDS = 10.0
"""Seconds that a run has to have before it to be worth compiling for."""


def prepare(spec: Spec, note: Callable[[str], object], seconds: float | None) -> AbstractContextManager[object]:
    """Compile the engines of a spec: before anything is played if the user wants that, else once the run is long."""
    if at_once():
        if seconds is None:
            compile_boards(spec, note)
    elif seconds is not None and seconds > LONG_RUN_SECONDS:
        compile_boards(spec, note)
        return long_run()
    return nullcontext()


def at_once() -> bool:
    """Tell whether the user wants every engine compiled before a run begins, whatever its length."""
    return os.environ.get(COMPILE) == "always" and not wants_plain()


def compile_boards(spec: Spec, note: Callable[[str], object]) -> None:
    """Compile the engines of a spec that are not in the cache; `note` is told which pairs run plain, and why."""
    if wants_plain():
        return
    wanted = dict(_wanted(spec))
    for number, ((agent, game), (board, seat)) in enumerate(wanted.items()):
        tell_progress(f"compiling {agent} on {game}", number, len(wanted))
        reason = _compile_seat(spec, board.game, seat)
        if reason is not None:
            note(f"{agent} on {game} runs plain: {reason}")


def _wanted(spec: Spec) -> Iterator[tuple[tuple[str, str], tuple[Board, Seat]]]:
    """Every pair of an agent and a game whose agent may have an engine."""
    for board in spec.boards:
        for seat in board.seats:
            if seat.program is None or seat.program.command is None:
                heuristic = f"({seat.heuristic})" if seat.heuristic is not None else ""
                yield (seat.label if _is_opaque(seat) else f"{seat.agent}{heuristic}", board.name), (board, seat)


def _is_opaque(seat: Seat) -> bool:
    """Whether only its process can tell what runs plain there."""
    return seat.version is not None or seat.limits.memory_mb is not None


def _compile_seat(spec: Spec, game: Game, seat: Seat) -> str | None:
    """Compile the engine of a seat if it has one, and return why it runs plain all the same; None if it does not."""
    try:
        if seat.version is None:  # the code of an entry's own plugin its process alone compiles, and this one never runs it
            engine = engine_of(seat.make(), game)
            if engine is None:
                return None
            if load_loop(game, seat.evaluation, engine, compiling=os.environ.get(COMPILE) != "never") is None:
                return NOT_KEPT
        if not (_is_opaque(seat) and can_load()):
            return None
        isolation: Isolation = spec.registry.part(Isolation.kind, seat.isolation)
        return isolation.why_plain(seat, game)
    except NotCompilable as reason:
        return str(reason)
    except IsolationError:
        return None  # the first match reports it


@contextmanager
def long_run() -> Iterator[None]:
    """Have the processes of entries with plugins of their own compile for themselves, in workers as well."""
    before = os.environ.get(COMPILE)
    if before is None:
        os.environ[COMPILE] = OWN
    try:
        yield
    finally:
        if before is None:
            del os.environ[COMPILE]
