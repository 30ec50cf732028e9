"""Plays several matches at the same time in one process, if agents wait for something outside it."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from queue import SimpleQueue

from arena.errors import ArenaError, Interrupted
from arena.match.match import Seat
from arena.match.record import Record
from arena.schedule.runner import CurrentTurn, MatchRunner
from arena.schedule.schedule import Scheduled, Take
from arena.spec import Spec
from arena.store import Store
from arena.waiting import Baton

CONCURRENCY = 8
"""The default number of matches with waiting agents that a process plays at the same time."""
MAX_JOIN_SECONDS = 1.0
"""Seconds to wait for the threads at the end of an interrupted run."""
Played = tuple[Scheduled, Record | BaseException]


def find_waiting_seats(spec: Spec) -> list[Seat]:
    """Return the seats with agents that wait for something outside, in whichever process they run."""
    return [seat for board in spec.boards for seat in board.seats if seat.waits]


def check_backends(spec: Spec, store: Store, left: float, *, alone: bool) -> Iterator[str]:
    """Yield notes from agents that wait, for a run with `left` matches. `alone` is true if one process plays all of them.

    Raises ArenaError, with the label of the agent, if a backend that an agent needs does not answer.
    """
    agents = {seat.label: seat.make() for seat in find_waiting_seats(spec)}
    for kind in dict.fromkeys([type(agent) for agent in agents.values() if hasattr(agent, "check_run")]):
        yield from kind.check_run(spec, store, left, alone=alone)
    for label, agent in agents.items():
        check = getattr(agent, "check_backend", None)
        try:
            if callable(check):
                check()
        except ArenaError as error:
            raise ArenaError(f"{label}: {error}") from error


class ConcurrentMatches:
    """Plays matches in threads of this process, one per runner. The records are the same as for matches played in sequence."""

    def __init__(self, take: Take, runners: Sequence[MatchRunner]) -> None:
        self._take = take
        self._runners = runners
        self._baton = Baton()
        self._orders: SimpleQueue[Scheduled | None] = SimpleQueue()
        self._played: SimpleQueue[Played] = SimpleQueue()

    def turns(self) -> Sequence[CurrentTurn]:
        """Return the decisions in progress, or the last ones."""
        return [turn for runner in self._runners for turn in runner.turns()]

    def play(self) -> Iterator[tuple[Scheduled, Record]]:
        """Yield every finished match with its record. Only one thread may iterate; it must report the results to the schedule."""
        threads = [threading.Thread(target=self._serve, args=(runner,), daemon=True) for runner in self._runners]
        for thread in threads:
            thread.start()
        flying = 0
        try:
            while True:
                while flying < len(threads) and (batch := self._take(1)):
                    self._orders.put(batch[0])
                    flying += 1
                if not flying:
                    return
                scheduled, outcome = self._played.get()
                flying -= 1
                if isinstance(outcome, BaseException):
                    raise outcome
                yield scheduled, outcome
        finally:
            self._baton.ended = True
            for _ in threads:
                self._orders.put(None)
            with ExitStack() as ends:
                for runner in self._runners:
                    ends.callback(runner.close)
                for thread in threads:
                    thread.join(MAX_JOIN_SECONDS / len(threads))

    def _serve(self, runner: MatchRunner) -> None:
        while (scheduled := self._orders.get()) is not None and not self._baton.ended:
            try:
                with self._baton.held():
                    outcome: Record | BaseException = runner.play(scheduled)
            except Interrupted:  # the run is over
                return
            except BaseException as error:
                outcome = error
            self._played.put((scheduled, outcome))
