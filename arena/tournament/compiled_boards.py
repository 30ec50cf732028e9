"""Compiles what the searches of a run need, before its workers start: these load it, and never compile."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.compiled.cache import COMPILE, PLAIN
from arena.compiled.engines import engine_of
from arena.compiled.fields import NotCompilable
from arena.compiled.seam import plain_wanted, ready
from arena.match.match import Seat
from arena.spec import Spec
from arena.spec.board import Board
from arena.tracking import tell_progress

LONG = 10.0
"""Seconds that a run has to have before it to be worth compiling for."""


def at_once() -> bool:
    """Tell whether the user wants every engine compiled before a run begins, whatever its length."""
    return os.environ.get(COMPILE) == "always" and not plain_wanted()


def compile_boards(spec: Spec, note: Callable[[str], object]) -> None:
    """Compile the engines of a spec that are not in the cache; `note` is told which pairs run plain, and why."""
    if plain_wanted():
        return
    wanted = dict(_wanted(spec))
    for number, ((agent, game), (board, seat, engine)) in enumerate(wanted.items()):
        tell_progress(f"compiling {agent} on {game}", number, len(wanted))
        try:
            if seat.limits.memory_mb is not None:
                raise NotCompilable("its memory is limited")
            ready(board.game, seat.evaluation, engine, compiling=True)
        except NotCompilable as reason:
            note(f"{agent} on {game} runs plain: {reason}")


def _wanted(spec: Spec) -> Iterator[tuple[tuple[str, str], tuple[Board, Seat, str]]]:
    """Every pair of an agent and a game whose agent has an engine. The code of an entry's own plugin is not compiled here."""
    for board in spec.boards:
        for seat in board.seats:
            if seat.program is not None and (seat.program.version is not None or seat.program.command is not None):
                continue
            engine = engine_of(seat.make())
            if engine is not None:
                heuristic = f"({seat.heuristic})" if seat.heuristic is not None else ""
                yield (f"{seat.agent}{heuristic}", board.name), (board, seat, engine)


@contextmanager
def running_plain(*, wanted: bool) -> Iterator[None]:
    """Use no compiled code for a while, in this process and in those that it starts, if that is `wanted`."""
    before = os.environ.get(PLAIN)
    if wanted:
        os.environ[PLAIN] = "1"
    try:
        yield
    finally:
        if wanted and before is None:
            del os.environ[PLAIN]
