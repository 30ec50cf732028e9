"""The command solve: one position of a puzzle, one agent, its solution and the facts about it."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from time import sleep
from typing import Any

import click

from arena import ArenaError, Puzzle
from arena.api.cli import MatchSetup, PercentLine, load, match_options, results_alone, say, say_notes, setup_of, tracebacks_wanted
from arena.api.match import Differs, steps
from arena.api.run import MatchRunner, Pairing, Scheduled
from arena.api.spec import Spec
from arena.console.screen import Screen
from arena.tracking import listening
from arena_play import human
from arena_play.board_text import fit_board
from arena_play.defaults import SOLUTION_LIMITS
from arena_play.solution import Solution

FRAME_PAUSE_SECONDS = 0.3
"""Seconds between two positions of an animation."""
MAX_PRINTED_LINES = 200
"""Lines of positions that are printed; of a longer solution the first and the last are."""
MAX_BOARD_CHARACTERS = 20_000
"""Characters of one position that are shown."""


@click.command()
@click.argument("puzzle")
@click.option("--agent", required=True, metavar="AGENT", help="Who solves it, as a-star or a-star:weight=2.")
@click.option("--shuffle", type=click.IntRange(0), metavar="N", help="The same as --set shuffle=N.")
@click.option("--animate", is_flag=True, help="Show the solution in motion.")
@click.option("--moves", is_flag=True, help="Print the actions alone.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@match_options
def solve(
    puzzle: str, agent: str, shuffle: int | None, animate: bool, moves: bool, style: str, delay: float | None, **asked: Any
) -> int:
    """Have an agent solve a position of PUZZLE, and say how, at what price, or why not; 1 where it is not solved."""
    setup = setup_of(puzzle, asked, (human.__name__,))
    with results_alone() as out, listening(PercentLine(sys.stderr)):
        screen = Screen(out)
        spec = _prepare(setup, agent, shuffle)
        say_notes(spec)
        if style == "json":
            solution = _run_solver(spec)
            screen.put(json.dumps(solution.document(), indent=2, allow_nan=False))
        elif moves:
            solution = _run_solver(spec)
            if solution.failure is not None:
                say(f"not solved: {solution.failure}")
            else:
                screen.put(" ".join(solution.record.actions) if solution.record.answer is None else solution.record.answer)
        else:
            solution = show_solution(screen, spec, delay, animate=animate)
        if solution.record.traceback is not None and tracebacks_wanted():
            say(solution.record.traceback.rstrip("\n"))
    return 0 if solution.record.solved else 1


def _prepare(setup: MatchSetup, agent: str, shuffle: int | None) -> Spec:
    if not issubclass(load(setup.plugins).game(setup.game), Puzzle):
        raise ArenaError(f"{setup.game} is no puzzle: nobody can solve it; `arena play {setup.game}` plays it")
    if agent.partition(":")[0] == human.NAME:
        raise ArenaError(f"human: a person plays with `arena play {setup.game}`")
    if shuffle is not None:
        if setup.position is not None:
            raise ArenaError("--shuffle draws a position: it does not go with --position")
        setup = replace(setup, parameters={**setup.parameters, "shuffle": shuffle})
    return replace(setup, limits=SOLUTION_LIMITS if setup.limits is None else setup.limits).load([agent])


def _run_solver(spec: Spec) -> Solution:
    with closing(MatchRunner(spec)) as runner:
        return Solution(spec, runner.play(Scheduled(0, 0, Pairing(0, (0,)))))


def show_solution(screen: Screen, spec: Spec, delay: float | None, *, animate: bool = True) -> Solution:
    """Have an agent solve a position, and show the solution position by position with the facts about it."""
    board = spec.boards[0]
    screen.say(f"{board.title}: {board.seats[0].label}", "bold")
    solution = _run_solver(spec)
    if animate:
        for number, frame in enumerate(_frames(screen, solution)):
            if number and screen.terminal:
                sleep(FRAME_PAUSE_SECONDS if delay is None else delay)
            screen.draw(frame)
        screen.leave()
    else:
        _print_frames(screen, solution)
    screen.put("")
    for word, said in solution.lines():
        style = None if word != "solved" else "good" if solution.record.solved else "bad"
        screen.say(f"{word:12}{said}", style)
    return solution


def _print_frames(screen: Screen, solution: Solution) -> None:
    frames = list(_frames(screen, solution))
    if sum([frame.count("\n") + 2 for frame in frames]) > MAX_PRINTED_LINES and len(frames) > 4:
        middle = f"... {len(frames) - 4:,} positions left out; --moves prints all moves, --animate shows all positions ..."
        frames = [*frames[:2], middle, *frames[-2:]]
    for frame in frames:
        screen.put(f"\n{frame}")


def _frames(screen: Screen, solution: Solution) -> Iterator[str]:
    """Yield every position of a record below a line with its action."""
    record, puzzle = solution.record, solution.puzzle
    if record.termination == "void":
        return
    try:
        for step in steps(puzzle, record):
            board = fit_board(puzzle, step.state, screen)
            if len(board) > MAX_BOARD_CHARACTERS:
                board = f"{board[:MAX_BOARD_CHARACTERS]}... ({len(board):,} characters)"
            came = (
                f"position {record.position}" if step.action is None else f"{step.number} of {len(record.actions)}: {step.action}"
            )
            yield f"{'answer' if step.number < 0 else came}\n{board}"
    except Differs as differs:  # an agent's state that the notation cannot say
        yield f"cannot be shown: {differs}"
