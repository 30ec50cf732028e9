"""Compiles what the searches of a run need, before its workers start: these load it, and never compile."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.compiled.cache import COMPILE, OWN, PLAIN
from arena.compiled.engines import engine_of
from arena.compiled.fields import NotCompilable
from arena.compiled.seam import NOT_KEPT, available, plain_wanted, ready
from arena.errors import IsolationError
from arena.game import Game
from arena.isolation.agent_process import AgentLost
from arena.isolation.remote import plain_reason
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
    for number, ((agent, game), (board, seat)) in enumerate(wanted.items()):
        tell_progress(f"compiling {agent} on {game}", number, len(wanted))
        reason = _reason(board.game, seat)
        if reason is not None:
            note(f"{agent} on {game} runs plain: {reason}")


def _wanted(spec: Spec) -> Iterator[tuple[tuple[str, str], tuple[Board, Seat]]]:
    """Every pair of an agent and a game whose agent may have an engine."""
    for board in spec.boards:
        for seat in board.seats:
            if seat.program is None or seat.program.command is None:
                heuristic = f"({seat.heuristic})" if seat.heuristic is not None else ""
                yield (seat.label if _alone(seat) else f"{seat.agent}{heuristic}", board.name), (board, seat)


def _alone(seat: Seat) -> bool:
    """Whether its process alone can tell what runs plain there."""
    return seat.version is not None or seat.limits.memory_mb is not None


def _reason(game: Game, seat: Seat) -> str | None:
    """Compile the engine of a seat if it has one, and return why it runs plain all the same; None where it does not."""
    try:
        if seat.version is None:  # the code of an entry's own plugin its process alone compiles, and this one never runs it
            engine = engine_of(seat.make(), game)
            if engine is None:
                return None
            if ready(game, seat.evaluation, engine, compiling=os.environ.get(COMPILE) != "never") is None:
                return NOT_KEPT
        return plain_reason(seat, game) if _alone(seat) and available() else None
    except NotCompilable as reason:
        return str(reason)
    except (AgentLost, IsolationError):
        return None  # the first match tells


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
