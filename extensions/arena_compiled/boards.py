"""Compiles the searches of a run before play, if the user wants that."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from arena import Game, Spec, tell_progress
from arena.api.cli import install_command
from arena.api.errors import IsolationError
from arena.api.games import name_of
from arena.api.match import Isolation, Seat
from arena.api.search import COMPILE, SeatUse, compiles_first, wants_plain
from arena.compiled import NotCompilable
from arena_compiled.background import MISSING
from arena_compiled.engines import engine_of
from arena_compiled.seam import NOT_KEPT, assemble_engine, can_load, is_installed, load_loop


def prepare(spec: Spec, note: Callable[[str], object]) -> None:
    """Compile the engines (the compiled inner loops of searches) for a spec before anything is played, if the user wants that."""
    if at_once():
        compile_boards(spec, note)


def at_once() -> bool:
    """Return True if the user wants every engine to be compiled before a run begins, even if the run is short."""
    return compiles_first() and not wants_plain()


def compile_boards(spec: Spec, note: Callable[[str], object]) -> None:
    """Compile the engines for a spec that are not in the cache. `note` is called with a line for each reason why agents are not
    compiled.
    """
    if wants_plain():
        return
    wanted = {}  # every pair of an agent and a game that may have an engine
    for board in spec.boards:
        for seat in board.seats:
            if seat.program is None or seat.program.command is None:
                wanted[_name_of(seat), board.name] = board.game, seat
    reasons: dict[tuple[str, str], str | None] = {}
    for number, ((agent, game), (rules, seat)) in enumerate(wanted.items()):
        tell_progress(f"compiling {agent} on {game}", number, len(wanted))
        reasons[agent, game] = _compile_seat(spec, rules, seat)
    for line in _describe_failures(reasons):
        note(line)


def _describe_failures(reasons: Mapping[tuple[str, str], str | None]) -> Iterator[str]:
    """Yield a line for each game and reason. `reasons` says why agents on games are not compiled; None if they are."""
    agents: dict[tuple[str, str], list[str]] = {}
    for (agent, game), reason in reasons.items():
        if reason is not None:
            agents.setdefault((game, reason), []).append(agent)
    for (game, reason), named in agents.items():
        yield f"{', '.join(named)} on {game} {'is' if len(named) == 1 else 'are'} not compiled: {reason}"


def sum_up(uses: Iterable[SeatUse], long_seconds: float) -> Iterator[str]:
    """Yield a line about the agents whose searches ran compiled. For each agent that took long and was not compiled, yield a line
    with the reason.
    """
    found: dict[tuple[str, str], SeatUse] = {}
    for use in uses:
        known = found.setdefault((_name_of(use.seat), name_of(use.game)), use)
        if known is not use:
            known.plain_seconds += use.plain_seconds
            known.failure = known.failure or use.failure
    compiled = [
        f"{agent} on {game}" + (f" (after {use.first_compiled:,} of {use.matches:,} matches)" if use.first_compiled else "")
        for (agent, game), use in found.items()
        if use.first_compiled is not None
    ]
    if compiled:
        yield f"compiled: {', '.join(compiled)}"
    if not at_once():  # otherwise, this was said before the first match
        yield from _describe_failures({key: use.failure for key, use in found.items()})
    for (agent, game), use in found.items():
        took = f"{agent} on {game} took {use.plain_seconds:,.0f} s uncompiled"
        if use.failure is None and use.first_compiled is None and use.plain_seconds > long_seconds:
            reason = _why_plain(use)
            if reason == MISSING:
                yield f"{took}; to compile it, run {install_command('fast')}"
            elif reason is not None:
                yield f"{took}: {reason}"


def _why_plain(use: SeatUse) -> str | None:
    """Return the reason why a seat is not compiled; None if it can be compiled, but has no code yet."""
    try:
        engine = None if use.seat.version is not None else engine_of(use.seat.make(), use.game)
        if engine is not None:
            assemble_engine(use.game, use.seat.evaluation, engine)
    except NotCompilable as reason:
        return str(reason)
    return None if is_installed("numba") and is_installed("llvmlite") else MISSING


def _name_of(seat: Seat) -> str:
    heuristic = f"({seat.heuristic})" if seat.heuristic is not None else ""
    return seat.label if _is_opaque(seat) else f"{seat.agent}{heuristic}"


def _is_opaque(seat: Seat) -> bool:
    """Return True if only the process of a seat can know why its search is not compiled."""
    return seat.version is not None or seat.limits.memory_mb is not None


def _compile_seat(spec: Spec, game: Game, seat: Seat) -> str | None:
    """Compile the engine for a seat if it has one. Return the reason if the seat is still not compiled; None if it is."""
    try:
        if seat.version is None:  # the plugin of an entry is compiled only by the process of the entry and never runs here
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
        return None  # the first match reports the reason
