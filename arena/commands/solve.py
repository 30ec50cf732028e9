"""The command solve: one position of a puzzle, one agent, and all that can be said about its solution."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from time import sleep
from typing import Any

from arena.commands.terminal import human
from arena.commands.terminal.board_text import shown
from arena.commands.terminal.defaults import SOLUTION
from arena.commands.terminal.match_setup import MatchSetup
from arena.commands.terminal.solution import Solution
from arena.console.notices import load, say, say_problems, tracebacks_wanted
from arena.console.output import results_alone
from arena.console.progress import Work
from arena.console.screen import Screen
from arena.errors import ArenaError
from arena.format import Pairing
from arena.game import Puzzle
from arena.match.record import Record
from arena.match.replay import Differs, steps
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Scheduled
from arena.spec import Spec
from arena.tracking import listening

PAUSE = 0.3
"""Seconds that a position of an animation stands."""
SHOWN = 200
"""Lines of positions that are printed; of a longer solution the first and the last are."""
LARGEST = 20_000
"""Characters of one position that are shown."""


@dataclass(frozen=True, slots=True)
class SolveCall:
    """What `arena solve` was asked for."""

    puzzle: str
    agent: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    shuffle: int | None = None
    seed: int = 0
    position: str | None = None
    heuristic: str | None = None
    limits: Mapping[str, Any] | None = None
    animate: bool = False
    moves: bool = False
    delay: float | None = None
    style: str = "text"
    plugins: tuple[str, ...] = ()


def solve(call: SolveCall) -> int:
    """Have an agent solve a position, and print how; 1 where it does not."""
    with results_alone() as out, listening(Work(sys.stderr)):
        screen = Screen(out)
        spec = _prepared(call)
        say_problems(spec.registry)
        for note in spec.notes:
            say(f"note: {note}")
        if call.style == "json":
            solution = _solved(spec)
            screen.put(json.dumps(solution.document(), indent=2, allow_nan=False))
        elif call.moves:
            solution = _solved(spec)
            _print_moves(screen, solution)
        else:
            solution = show_solution(screen, spec, call.delay if call.animate else None, animate=call.animate)
        if solution.record.traceback is not None and tracebacks_wanted():
            say(solution.record.traceback.rstrip("\n"))
    return 0 if solution.record.solved else 1


def _prepared(call: SolveCall) -> Spec:
    registry = load(call.plugins)
    if not issubclass(registry.game(call.puzzle), Puzzle):
        raise ArenaError(f"{call.puzzle} is no puzzle: nobody can solve it; `arena play {call.puzzle}` plays it")
    if call.agent.partition(":")[0] == human.NAME:
        raise ArenaError(f"human: a person plays with `arena play {call.puzzle}`")
    parameters = dict(call.parameters)
    if call.shuffle is not None:
        if call.position is not None:
            raise ArenaError("--shuffle draws a position: it does not go with --position")
        parameters["shuffle"] = call.shuffle
    limits = SOLUTION if call.limits is None else call.limits
    setting = MatchSetup(call.puzzle, parameters, call.seed, call.position, call.heuristic, limits, call.plugins)
    return setting.load([call.agent])


def _solved(spec: Spec) -> Solution:
    with closing(MatchRunner(spec)) as stage:
        return Solution(spec, stage.play(Scheduled(0, 0, Pairing(0, (0,)))))


def _print_moves(screen: Screen, solution: Solution) -> None:
    record = solution.record
    if solution.failure is not None:
        say(f"not solved: {solution.failure}")
    else:
        screen.put(" ".join(record.actions) if record.answer is None else record.answer)


def show_solution(screen: Screen, spec: Spec, delay: float | None, *, animate: bool = True) -> Solution:
    """Have an agent solve a position, show how, position by position, and say all that is known about it."""
    board = spec.boards[0]
    screen.say(f"{board.title}: {board.seats[0].label}", "bold")
    solution = _solved(spec)
    if animate:
        _animate(screen, solution, PAUSE if delay is None else delay)
    else:
        _print(screen, solution)
    screen.put("")
    for word, said in solution.lines():
        style = None if word != "solved" else "good" if solution.record.solved else "bad"
        screen.say(f"{word:12}{said}", style)
    return solution


def _animate(screen: Screen, solution: Solution, delay: float) -> None:
    pause = delay if screen.terminal else 0
    for number, frame in enumerate(_frames(screen, solution)):
        if number and pause:
            sleep(pause)
        screen.draw(frame)
    screen.leave()


def _print(screen: Screen, solution: Solution) -> None:
    frames = list(_frames(screen, solution))
    if sum([frame.count("\n") + 2 for frame in frames]) > SHOWN and len(frames) > 4:
        middle = f"... {len(frames) - 4:,} positions left out; --moves prints all moves, --animate shows all positions ..."
        frames = [*frames[:2], middle, *frames[-2:]]
    for frame in frames:
        screen.put(f"\n{frame}")


def _frames(screen: Screen, solution: Solution) -> Iterator[str]:
    """Every position of a record with a line on how it came about."""
    record, puzzle = solution.record, solution.puzzle
    if record.termination == "void":
        return
    total = len(record.actions)
    try:
        for step in steps(puzzle, record):
            board = shown(puzzle, step.state, screen)
            cut = board if len(board) <= LARGEST else f"{board[:LARGEST]}... ({len(board):,} characters)"
            yield f"{_headline(record, step.number, step.action, total)}\n{cut}"
    except Differs as differs:  # an agent's state that the notation cannot say
        yield f"cannot be shown: {differs}"


def _headline(record: Record, number: int, action: str | None, total: int) -> str:
    if number < 0:
        return "answer"
    return f"position {record.position}" if action is None else f"{number} of {total}: {action}"
