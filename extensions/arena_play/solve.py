"""The command `solve`: an agent solves one position of a puzzle, and the solution is shown with the facts about it."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import click

from arena import ArenaError, Limits, Pairing, Puzzle, Record, Spec, overrides
from arena.api.cli import PercentLine, load, results_alone, say, say_notes, tracebacks_wanted
from arena.api.games import HeuristicInfo
from arena.api.match import Differs, Step
from arena.api.results import figures
from arena.api.run import MatchRunner, Scheduled
from arena.clock import sleep
from arena_play import human
from arena_play.defaults import SOLUTION_LIMITS
from arena_play.endings import explain_failure, find_exhausted_limit
from arena_play.screen import Screen, fit_board
from arena_play.slow_decision import SlowDecision
from arena_setup.match_setup import setup_of
from arena_setup.options import match_options

FRAME_PAUSE_SECONDS = 0.3
"""Seconds between two positions in an animation."""
MAX_PRINTED_LINES = 200
"""The maximum number of lines of positions. If a solution is longer, only its first and its last positions are printed."""
MAX_BOARD_CHARACTERS = 20_000
"""The maximum number of characters of one position."""
MAX_COUNTING_NODES = 100_000
"""The node limit for counting the solutions of a position."""
SOLUTIONS = {0: "none", 1: "one", 2: "several"}


@dataclass(frozen=True, slots=True)
class Solution:
    """The record of a puzzle match, and the facts that follow from it."""

    spec: Spec
    record: Record

    @property
    def puzzle(self) -> Puzzle:
        """The rules of the puzzle."""
        game = self.spec.boards[0].game
        assert isinstance(game, Puzzle)
        return game

    @property
    def limits(self) -> Limits:
        """Return the limits of the agent."""
        return self.spec.boards[0].seats[0].limits

    @property
    def failure(self) -> str | None:
        """Return the reason why the puzzle is not solved; None if it is."""
        return explain_failure(self.record, self.limits)

    def total(self, name: str) -> Any:
        """Return the sum of one figure over all decisions."""
        return sum([getattr(decision, name) for decision in self.record.decisions])

    @property
    def depth(self) -> int | None:
        """Return the depth that the agent reported last."""
        return self.record.decisions[-1].depth if self.record.decisions else None

    def optimality(self) -> tuple[bool | None, str]:
        """Return whether the solution is optimal (True when no solution is cheaper, None when this is not known), and the reason.
        The answer follows from what the agent claims in `Agent.optimal`.
        """
        record, seat = self.record, self.spec.boards[0].seats[0]
        if not record.solved or record.answer is not None or not self.puzzle.path_matters:
            return None, "unknown: only the final state counts"
        if not record.actions:
            return True, "yes: the position was already solved"
        claim = seat.make().optimal
        if claim not in ("cost", "length", "admissible"):
            return None, f"unknown: {seat.label} does not claim to be optimal"
        if (spent := find_exhausted_limit(record, self.limits)) is not None:
            return None, f"unknown: {seat.label} used up {spent}, so it may have ended before it reported an optimal solution"
        if claim == "cost":
            return True, f"yes, {seat.label} claims this for every solution"
        if claim == "length" and overrides(self.puzzle, "step_cost"):
            return None, f"unknown: steps differ in cost, and {seat.label} only claims to find a solution with the fewest steps"
        if claim == "length":
            return True, f"yes, {seat.label} claims this if all steps cost the same"
        if seat.heuristic is None:
            return True, f"yes, {seat.label} claims this without a heuristic"
        info = HeuristicInfo.of(self.spec.registry.heuristics.get((record.game, seat.heuristic)))
        if info is not None and info.admissible:
            return True, f"yes, {seat.label} claims this with {seat.heuristic}, which claims to be admissible"
        return None, f"unknown: {seat.heuristic} does not claim to be admissible"

    def solutions(self) -> int | None:
        """Return the number of solutions that the position has: 0, 1, or 2 for several; None if the puzzle cannot count them.

        A puzzle counts them with a method `solutions(state, *, nodes)`, which may use up to MAX_COUNTING_NODES nodes.
        """
        count = getattr(self.puzzle, "solutions", None)
        if count is None:
            return None
        try:
            found = count(self.puzzle.parse_state(self.record.position), nodes=MAX_COUNTING_NODES)
        except Exception:  # a fault in the plugin, which does not affect the result
            return None
        return found if found in SOLUTIONS else None

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield all facts except the solution itself. Each is a label and a text."""
        record = self.record
        yield "solved", "yes" if record.solved else f"no: {self.failure}"
        if record.moves is not None:
            yield ("moves" if record.answer is None else "steps"), f"{record.moves:,}"
        if record.cost is not None and record.solved:
            yield "cost", figures.figure(record.cost, 6)
        yield "nodes", f"{self.total('nodes'):,}"
        yield "evaluations", f"{self.total('evaluations'):,}"
        yield "time", figures.duration(self.total("seconds"))
        if self.depth is not None:
            yield "depth", f"{self.depth:,}"
        if record.fallbacks:
            yield "at random", f"{figures.amount(record.fallbacks, 'move')}, because a decision used up its budget"
        if record.solved and self.puzzle.path_matters:
            yield "optimal", self.optimality()[1]
        count = self.solutions()
        if count is not None:
            yield "solutions", SOLUTIONS[count]

    def document(self) -> Mapping[str, Any]:
        """Return the facts as plain values that can be written as JSON."""
        record, seat, board = self.record, self.spec.boards[0].seats[0], self.spec.boards[0]
        return {
            "game": {"name": board.name, **board.parameters},
            "position": record.position,
            "seed": record.seed,
            "agent": seat.label,
            "heuristic": seat.heuristic,
            "limits": {"nodes": self.limits.nodes, "seconds": self.limits.seconds, "moves": self.limits.moves},
            "solved": record.solved,
            "termination": record.termination,
            "reason": self.failure,
            "message": record.message,
            "actions": list(record.actions),
            "answer": record.answer,
            "moves": record.moves,
            "cost": record.cost,
            "nodes": self.total("nodes"),
            "evaluations": self.total("evaluations"),
            "seconds": self.total("seconds"),
            "depth": self.depth,
            "fallbacks": record.fallbacks,
            "optimal": self.optimality()[0],
            "solutions": self.solutions(),
        }


@click.command()
@click.argument("puzzle")
@click.argument("agent", required=False)
@click.option("--agent", "named", metavar="AGENT", help="The same as the second argument.")
@click.option("--shuffle", type=click.IntRange(0), metavar="N", help="The same as --set shuffle=N.")
@click.option("--animate", is_flag=True, help="Animate the solution.")
@click.option("--moves", is_flag=True, help="Print only the actions.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@match_options
def solve(
    puzzle: str,
    agent: str | None,
    named: str | None,
    shuffle: int | None,
    animate: bool,
    moves: bool,
    style: str,
    delay: float | None,
    **asked: Any,
) -> int:
    """Let AGENT, such as a-star or a-star:weight=2, solve a position of PUZZLE, and print its solution with the cost; exit code 1
    if it is not solved.
    """
    setup = setup_of(puzzle, asked, (human.__name__,))
    with results_alone(draws=True) as out, PercentLine(sys.stderr):
        screen = Screen(out)
        if not issubclass(load(setup.plugins).game(puzzle), Puzzle):
            raise ArenaError(f"{puzzle} is not a puzzle, so it cannot be solved; `arena play {puzzle}` plays it")
        if (agent is None) == (named is None):
            raise click.UsageError(f"expected one agent, as in `arena solve {puzzle} a-star`")
        agent = agent or named or ""
        if agent.partition(":")[0] == human.NAME:
            raise ArenaError(f"human: to solve it yourself, use `arena play {puzzle}`")
        if shuffle is not None:
            if setup.position is not None:
                raise ArenaError("--shuffle draws a position, so it cannot be used with --position")
            setup = replace(setup, parameters={**setup.parameters, "shuffle": shuffle})
        if setup.limits is None:
            setup = replace(setup, limits=SOLUTION_LIMITS, patient=True)
        spec = setup.load([agent])
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


def _run_solver(spec: Spec) -> Solution:
    with closing(MatchRunner(spec)) as runner, SlowDecision(say).watch(spec.boards[0].seats[0]):
        return Solution(spec, runner.play(Scheduled(0, 0, Pairing(0, (0,)))))


def show_solution(screen: Screen, spec: Spec, delay: float | None, *, animate: bool = True) -> Solution:
    """Let an agent solve a position, and show the solution position by position and the facts about it."""
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
        frames = list(_frames(screen, solution))
        if sum([frame.count("\n") + 2 for frame in frames]) > MAX_PRINTED_LINES and len(frames) > 4:
            out = figures.amount(len(frames) - 4, "position")
            middle = f"... {out} left out; --moves prints all moves, --animate shows all positions ..."
            frames = [*frames[:2], middle, *frames[-2:]]
        for frame in frames:
            screen.put(f"\n{frame}")
    screen.put("")
    for word, said in solution.lines():
        style = None if word != "solved" else "good" if solution.record.solved else "bad"
        screen.say(f"{word:12}{said}", style)
    return solution


def _frames(screen: Screen, solution: Solution) -> Iterator[str]:
    """Yield every position in a record, each below a line with the action that led to it."""
    record, puzzle = solution.record, solution.puzzle
    if record.termination == "void":
        return
    try:
        for step in Step.follow(puzzle, record):
            board = fit_board(puzzle, step.state, screen)
            if len(board) > MAX_BOARD_CHARACTERS:
                board = f"{board[:MAX_BOARD_CHARACTERS]}... ({len(board):,} characters)"
            came = (
                f"position {record.position}" if step.action is None else f"{step.number} of {len(record.actions)}: {step.action}"
            )
            yield f"{'answer' if step.number < 0 else came}\n{board}"
    except Differs as differs:  # a state of the agent that the notation cannot express
        yield f"cannot be shown: {differs}"
