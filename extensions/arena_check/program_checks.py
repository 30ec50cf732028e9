"""Checks of agents in separate processes, including programs in other languages.

They check only behaviour that another process can observe.
"""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from arena import Game, Limits, Puzzle, Record, State
from arena.api.games import name_of
from arena.api.match import FAULTS, Forfeit, Match, Position, Program, Seat, Stepper, Stream, play_match
from arena.api.spec import make_seat
from arena_check.agent_checks import MOVES, NODES, Anyone
from arena_check.finding import Violation
from arena_check.patience import CALL_SECONDS
from arena_check.trial import Trial, position_text
from arena_check.verdicts import UNREACHED, Verdict
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.agent_process import AgentLost, AgentProcess
from arena_isolation.child import ChildLost
from arena_isolation.command import ExternalAgent, called
from arena_isolation.helper_process import pack
from arena_isolation.remote import RemotePlayer, player_maker

DECISION_SECONDS = 1.0
"""Time limit that a program must keep for a decision."""
LIMIT_MOVES = 8
"""Number of moves in the matches in which limits must be kept."""
MAX_RANDOM_PLIES = 5
"""In one of the checks, a program takes over all seats after a random number of plies, which is less than this number."""

HELLO = "it answers `hello` with the version of its protocol and what it can do"
QUITS = "it ends after `quit`"
CHECKS = {
    "ready": "it answers `start` with `ready`, even while another match is unfinished",
    "plays": "legal actions or solutions, against a random player and against itself",
    "repeats": "the same start and moves get the same answers, from the same process and from a new one",
    "limits": "a decision stays within its time limit and, by the program's own count, within its node limit",
}
"""The promises (properties to be checked) of a program in every game; the keys are the names of their checks."""
LIMITS = (Limits(seconds=DECISION_SECONDS), Limits(nodes=NODES))
"""The limits that a decision must keep. Each of them is checked in a separate match."""
OWN_LIMITS = Limits(nodes=NODES, moves=MOVES, patient=True)
"""The limits of all other checks. The user has not named them, so they replace no action of an agent by a random one."""


class PatientProcess(AgentProcess):
    """An agent process that gets `patience` seconds for every answer, even if there is no limit."""

    def __init__(self, patience: float, program: Program, memory_mb: int | None, isolation: str) -> None:
        self.patience = patience
        super().__init__(program, memory_mb, isolation)

    def quits(self) -> bool:
        """Ask the process to end, and return True if it does. Afterwards the process is gone in any case."""
        try:
            self.wake()
            self._process.send(pack({"type": "quit"}), None)
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(self.patience)
        except subprocess.TimeoutExpired:
            return False
        except (AgentLost, ChildLost, OSError):  # the process is already gone
            pass
        finally:
            self.end()
        return True


def program_of(command: Sequence[str]) -> Program:
    """Return the program for a command, which runs in the working folder."""
    return Program(called(command), {}, None, (), str(Path.cwd()), tuple(command))


def program_seat(program: Program) -> Seat:
    """Return the seat of a program for the matches of a check."""
    name = program.agent
    return Seat(name, ExternalAgent, True, None, Limits(), "", name, isolation="process", program=program)


def greeting_verdicts(program: Program, *, patience: float = CALL_SECONDS) -> Iterator[Verdict]:
    """Start a program and end it. Yield two verdicts: whether its first message is correct, and whether it ends on request."""
    trial = Trial(program.agent, 0, 0)
    try:
        quits = PatientProcess(patience, program, None, "process").quits()
    except AgentLost as lost:
        yield Verdict("hello", HELLO, _violation(trial, "hello", HELLO, "an answer to `hello`", lost.message))
        return
    yield Verdict("hello", HELLO)
    late = None if quits else _violation(trial, "quits", QUITS, f"its end within {patience:g} s", "it continues")
    yield Verdict("quits", QUITS, late)


def program_verdicts(
    seat: Seat,
    game: Game,
    *,
    seed: int = 0,
    matches: int = 4,
    patience: float = CALL_SECONDS,
    limits: Sequence[Limits] = LIMITS,
    processes: AgentProcesses | None = None,
    passed: int = 0,
) -> Iterator[Verdict]:
    """Let an agent in a separate process play a game, and yield a verdict for every promise.

    After a broken promise, the other promises are not checked. The opponents play at random. The agent gets a node limit,
    although only the agent itself can count its nodes. No answer may take longer than `patience` seconds. If `processes` are
    given, their own timeout applies instead. The first checks, as many as `passed` says, were passed before and are left out.
    """
    with processes or AgentProcesses(partial(PatientProcess, patience)) as kept:
        check = ProgramCheck(seat, game, kept, seed, matches, limits)
        broken = False
        for name, promise in islice(CHECKS.items(), passed, None):
            try:
                if not broken:
                    check.steps[name]()
            except Violation as violation:
                broken = True
                yield Verdict(name, promise, violation)
            else:
                yield Verdict(name, promise if not broken else UNREACHED, reached=not broken)


class ProgramCheck(NamedTuple):
    """The checks of one agent on one game. The processes of the agent are kept from match to match."""

    seat: Seat
    game: Game
    processes: AgentProcesses
    seed: int
    matches: int
    kept: Sequence[Limits] = LIMITS

    @property
    def steps(self) -> Mapping[str, Callable[[], None]]:
        """Return the checks by the names of their promises."""
        return {"ready": self.ready, "plays": self.plays, "repeats": self.repeats, "limits": self.limits}

    def first_move(self) -> str | None:
        """Let the agent make the first move of a match, within the limits of its seat. Return its fault, or None."""
        trial, state = self._draw_state("plays", 0)
        limits = replace(self.seat.limits, moves=1)
        record = play_match(self._match(trial, state, [0], limits), make_player=player_maker(self.processes))
        return f"{record.termination}: {record.message}" if record.termination in FAULTS else None

    def ready(self) -> None:
        """Begin two matches, one after the other, but play neither of them."""
        for number in range(2):
            trial, state = self._draw_state("ready", number)
            player = RemotePlayer(self._match(trial, state, [0], OWN_LIMITS), 0, self.processes, [])
            try:
                player.make_agent()
            except Forfeit as forfeit:
                message = f"{forfeit.ending.reason}: {forfeit.ending.message}"
                raise _violation(trial, "ready", "must answer `start` with `ready`", "ready", message) from forfeit
            finally:
                player.leave()

    def plays(self) -> None:
        """Let the agent play in each seat against random players, and then in all seats from positions that random play has
        reached.
        """
        for number in range(self.matches):
            trial, state = self._draw_state("plays", number)
            self._play_match(trial, state, [number % self.game.players], OWN_LIMITS)
            if not isinstance(self.game, Puzzle):
                plies = trial.rng.randrange(1, MAX_RANDOM_PLIES)
                stepper = Stepper.of(self.game, state, plies, f"check/{trial.play}", 0)
                while legal := stepper.turn():
                    stepper.advance(trial.rng.choice(legal))
                state = state if stepper.over else stepper.state
                self._play_match(trial, state, range(self.game.players), OWN_LIMITS)

    def repeats(self) -> None:
        """Play a match, then play it again in the same process and in a new one."""
        trial, state = self._draw_state("repeats", 0)
        first = self._play_match(trial, state, [0], OWN_LIMITS)
        other, elsewhere = self._draw_state("repeats", 1)
        self._play_match(other, elsewhere, [0], OWN_LIMITS)
        for process in ("the same process, in a later match", "a new process"):
            if process == "a new process":
                self.processes.close()
            again = self._play_match(trial, state, [0], OWN_LIMITS)
            _check_same(trial, first, again, process)

    def limits(self) -> None:
        """Let the agent play a few moves under each of the limits. An agent that reports no nodes passes the check of the node
        limit.
        """
        trial, state = self._draw_state("limits", 0)
        for limits in self.kept:
            record = self._play_match(trial, state, [0], replace(limits, moves=LIMIT_MOVES))
            for ply, decision in enumerate(record.decisions):
                if limits.nodes is not None and decision.seat == 0 and decision.nodes > limits.nodes:
                    trial.actions = list(record.actions[:ply])
                    most, reported = f"at most {limits.nodes} nodes", f"{decision.nodes:,} reported"
                    raise _violation(trial, "limits", "must obey limits.nodes", most, reported)

    def _draw_state(self, check: str, number: int) -> tuple[Trial, State]:
        trial = Trial(f"{self.seat.agent} on {name_of(self.game)}", self.seed, number, check=check)
        return trial, self.game.initial(Stream.of_position(f"check/{trial.play}"))

    def _match(self, trial: Trial, state: State, seats: Sequence[int], limits: Limits) -> Match:
        """Return the match of a trial, with the agent in some seats and random players in the others."""
        puzzle = isinstance(self.game, Puzzle)
        given = self.seat.limits
        limits = replace(limits, depth=given.depth, memory_mb=given.memory_mb, start_seconds=given.start_seconds)
        own = replace(self.seat, limits=limits)
        other = make_seat(Anyone, {}, None, None, limits, "anyone", puzzle)
        seated = tuple([own if seat in seats else other for seat in range(self.game.players)])
        return Match(
            f"check/{trial.play}", self.game, Position("check", state, self.game.format_state(state)), seated, trial.play
        )

    def _play_match(self, trial: Trial, state: State, seats: Sequence[int], limits: Limits) -> Record:
        """Play a match and return its record. Raises Violation if the agent is at fault."""
        trial.position = position_text(self.game, state)
        record = play_match(self._match(trial, state, seats, limits), make_player=player_maker(self.processes))
        trial.actions = list(record.actions)
        if record.termination in (*FAULTS, "void"):
            got = f"{record.termination}: {record.message}"
            raise _violation(trial, trial.check, "must play without a fault", "an ending without a fault", got)
        return record


def _check_same(trial: Trial, first: Record, again: Record, process: str) -> None:
    """Check that two matches are equal. A violation shows the first action that differs."""
    what = f"must give the same answers in {process}"
    if again.answer != first.answer:
        raise _violation(trial, "repeats", what, f"{first.answer}, as in the first match", str(again.answer))
    for ply, (one, other) in enumerate(zip_longest(first.actions, again.actions, fillvalue="the end")):
        if one != other:
            trial.actions = list(first.actions[:ply])
            raise _violation(trial, "repeats", what, f"{one}, as in the first match", other)


def _violation(trial: Trial, check: str, what: str, expected: str, got: str) -> Violation:
    trial.check = check
    found = trial.violation(what, expected, got)
    assert isinstance(found, Violation)
    return found
