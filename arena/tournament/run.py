"""Plays a tournament, in this process or in several processes."""

import threading
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from math import inf
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol

from arena.clock import monotonic
from arena.errors import ArenaError, Interrupted, PlayersLost, expect, expect_count
from arena.match.match import Seat
from arena.match.record import Record
from arena.plugins.manager import Events
from arena.processes.interrupts import user_interrupts
from arena.schedule.deals import Deals
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import CurrentTurn, MatchRunner, Turns, check_isolations
from arena.schedule.schedule import Batch, Scheduled, Take
from arena.search_engines import search_engines
from arena.secret import extend_secret
from arena.spec import Spec, load_spec, reload_spec
from arena.spec.positions import check_states
from arena.store import Store, TemporaryStore, put_aside
from arena.store.run import Run
from arena.tournament.code_check import check_code, clear_for
from arena.tournament.queue import MatchQueue, Shard
from arena.tournament.results import PlayedMatch, Results
from arena.waiting import Baton

CONCURRENCY = 8
"""The default number of matches with waiting agents that a process plays at the same time."""
MAX_JOIN_SECONDS = 1.0
"""Seconds to wait for the threads at the end of an interrupted run."""
Played = tuple[Scheduled, Record | BaseException]
Code = Mapping[str, Fingerprint]
Observer = Callable[[PlayedMatch], None]
Matches = Generator[tuple[Scheduled, Record], None, None]
"""A generator that yields every match with its record when the match has finished."""


REMEDY = (
    "give another path as `store` to play them all again; only the command `arena run` can play some of them again "
    "(--fresh-for) or keep them (--accept-changed-plugins)"
)
"""What the caller of `run` can do if a plugin has changed. It has no arguments for the options of the command."""


def run(
    spec: str | PathLike[str] | Mapping[str, Any] | Spec,
    *,
    workers: int = 1,
    store: str | PathLike[str] | None = None,
    observe: Observer | None = None,
    concurrency: int = CONCURRENCY,
) -> Results:
    """Play a tournament and return its results. `spec` is a path, a mapping with the keys of a spec, or a Spec.

    `workers` is the number of processes that play; it does not affect the records. `store` is the path of a file. Every match is
    written to it when the match ends, and matches that it already holds are not played again. `observe` is called after every
    match. If agents wait for something outside, such as a model on a server, one process plays `concurrency` matches at the same
    time; this does not affect the records, either.

    If the spec has faults, SpecError lists all of them before the first match. Raises PluginError if a plugin cannot be loaded,
    StoreError if the store cannot be used, ValueError if `workers` or `concurrency` is less than 1, TypeError if an argument has
    another type, and ArenaError if the server does not answer.

    >>> results = run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 3})
    >>> len(results.records)
    6
    """
    workers, concurrency = expect_count("workers", workers, 1), expect_count("concurrency", concurrency, 1)
    if store is not None:
        expect("store", store, (str, PathLike), "a path or None")
    if observe is not None:
        expect("observe", observe, Callable, "a function or None")
    path = None if store is None else Path(store)
    ready = resume_secret(load_spec(spec), path)
    monitor = Monitor(None if observe is None else lambda one: observe(_add_parameters(ready, one)))
    return play_tournament(ready, path, RunSettings(workers=workers, concurrency=concurrency, remedy=REMEDY), monitor)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of a run, apart from its spec and its store."""

    workers: int = 1
    concurrency: int = CONCURRENCY
    """The number of matches that are played at the same time if agents wait for something outside: by threads of this process, or
    by this number of workers if the run is `guarded`."""
    alone: float | None = None
    """Seconds to play in this process before workers are started, because a short run needs none."""
    guarded: bool = False
    """Whether this process plays nothing, because an agent might crash it. It also plays nothing if a game is native."""
    shard: Shard | None = None
    fresh: bool = False
    """Whether an existing store is renamed, so that all matches are played again."""
    fresh_for: Sequence[str] = ()
    """The entries whose matches are played again; see `clear_for`."""
    accept: bool = False
    """Whether the run continues although a plugin has changed."""
    remedy: str | None = None
    """What the user can do if a plugin has changed; None for the options of `arena run`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of `arena run` by name, for plugins."""


class Monitor:
    """Follows a run while it is played. The one of the command line shows the run; this one only calls `observe`."""

    watches = False
    """Whether `watch` needs the decisions in progress, which take time to note."""

    def __init__(self, observe: Observer | None = None) -> None:
        self._observe = observe

    def observe(self, one: PlayedMatch) -> None:
        """Take a match that has been stored."""
        if self._observe is not None:
            self._observe(one)

    def note(self, text: str) -> None:
        """Show a line to the user."""

    def warn(self, text: str) -> None:
        """Show a warning to the user."""
        warnings.warn(text, RuntimeWarning, stacklevel=2)

    def found(self, *, failed: bool) -> None:
        """Count a match that the store already has. `failed` is whether a seat lost it by a fault."""

    def watch(self, turns: Turns) -> None:
        """Take a function that returns the decisions in progress."""

    def break_off(self, results: Results) -> None:
        """Take the results so far of an interrupted run. It has a temporary store, so they are lost afterwards."""

    def follow(self, queue: MatchQueue, staff: Callable[[], str] | None) -> AbstractContextManager[object]:
        """Return a context manager for the time in which matches are played. `staff` is set if the players of a plugin play."""
        return nullcontext()


def play_tournament(spec: Spec, place: Path | Store | None, settings: RunSettings, monitor: Monitor) -> Results:
    """Play the remaining matches of a tournament and return its results. Every run goes this way: `arena run`, `arena.run`, duels
    and tunings.

    `place` is the path of a file, or a store that is open for writing, which stays open. None stands for a temporary store, which
    belongs to the results. For errors, see `run`.
    """
    check_states(spec.boards)
    planned = Run.of(spec)
    path = place.path if isinstance(place, Store) else place
    events = RunEvents(StartedRun(spec, path, settings.options, monitor.note), monitor.warn)
    with events.open_players() as players, ExitStack() as ends:
        store = place if isinstance(place, Store) else ends.enter_context(_open_store(place, spec, settings, monitor))
        if settings.fresh_for and (cleared := clear_for(store, spec, planned, settings.fresh_for, accept=settings.accept)):
            monitor.note(cleared)
        planned = check_code(store, spec, planned, monitor.note, accept=settings.accept, remedy=settings.remedy)
        store.begin(planned)
        events.start()
        queue = MatchQueue(spec, store, settings.shard, monitor.found)
        play = LocalPlayers(spec, planned.plugins, settings, monitor).play if players is None else players.play
        try:
            with (
                monitor.follow(queue, None if players is None else players.staff),
                user_interrupts() as interrupts,
                closing(play(queue)) as played,  # `closing` ends the workers, even after an interrupt
            ):
                for match, record in played:
                    with interrupts:
                        queue.finish(match, record)
                        one = PlayedMatch(*match, record)
                        events.tell(one)
                        monitor.observe(one)
                interrupts.check()
        except (PlayersLost, Interrupted):
            if isinstance(store, TemporaryStore):
                store.flush()
                ends.pop_all()
                monitor.break_off(Results(spec, store))
            raise
        if not queue.others:
            store.end(queue.rankings(), spec)
        elif settings.shard is not None:
            store.end_shard(f"{settings.shard.number}/{settings.shard.of}")
        results = Results(spec, store if isinstance(store, TemporaryStore) else store.path)
        if isinstance(store, TemporaryStore):
            ends.pop_all()  # from now on, it belongs to the results
    return events.finish(results)


def _add_parameters(spec: Spec, one: PlayedMatch) -> PlayedMatch:
    return one._replace(record=one.record._replace(parameters=spec.boards[one.board].parameters))


def _open_store(path: Path | None, spec: Spec, settings: RunSettings, monitor: Monitor) -> Store:
    if path is None:
        return TemporaryStore()
    if settings.fresh and (aside := put_aside(path)) is not None:
        monitor.note(f"the matches so far are kept in {aside}")
    if spec.secret:
        with suppress(OSError):  # on a file system without modes, whoever may see the folder may read it
            Store.make_private(path)
    return Store.open(path, write=True)


class StartedRun(NamedTuple):
    """A run that begins."""

    spec: Spec
    store: Path | None
    """The path of its store; None if the store is temporary."""
    options: Mapping[str, Any] = {}
    """The options of `arena run` by name, including options that plugins have added; empty in a run by `arena.run`."""
    note: Callable[[str], object] = lambda _: None
    """A function that prints a line for the user."""


class Players(Protocol):
    """Plays the matches of one run, on this machine or elsewhere."""

    def play(self, queue: MatchQueue) -> Matches:
        """Take matches from a queue, and yield each one with its record. Closing the iterator stops the players."""

    def staff(self) -> str:
        """Return the number of players as text for the progress line. Any thread may call this."""


class RunEvents:
    """Asks plugins about one run, and tells them of its events. `warn` gets a line about a plugin that raises an exception."""

    def __init__(self, run: StartedRun, warn: Callable[[str], object]) -> None:
        self._run = run
        self._events = Events(run.spec.registry.manager, warn)
        self._tells_matches = self._events.has_listeners("arena_match_finished")

    def open_players(self) -> AbstractContextManager[Players | None]:
        """Return the players that a plugin offers, in a context manager. It yields None if no plugin wants to play this run."""
        manager = self._run.spec.registry.manager
        found = None if manager is None else manager.hook.arena_play_matches(run=self._run)
        return nullcontext() if found is None else found

    def start(self) -> None:
        """Tell that the run begins."""
        self._events.notify("arena_run_started", run=self._run)

    def tell(self, one: PlayedMatch) -> None:
        """Tell that a match has been stored. Plugins get the record with the parameters of its game."""
        if self._tells_matches:
            record = _add_parameters(self._run.spec, one).record
            self._events.notify("arena_match_finished", match=Scheduled(one.number, one.board, one.pairing), record=record)

    def finish(self, results: Results) -> Results:
        """Tell that the run has ended, and return its results."""
        self._events.notify("arena_run_finished", results=results)
        return results


class LocalPlayers:
    """Plays the matches of a run on this machine: in this process, in threads of it, or in worker processes.

    `code` holds the fingerprints of the plugins. `monitor` gets the decisions in progress, and notes.
    """

    def __init__(self, spec: Spec, code: Code, settings: RunSettings, monitor: Monitor) -> None:
        self._spec, self._code, self._alone, self._monitor = spec, code, settings.alone, monitor
        self._guarded = settings.guarded or any(board.native for board in spec.boards)
        self._workers, self._concurrency = settings.workers, 0
        if find_waiting_seats(spec):
            self._concurrency = 1 if Deals(spec) else settings.concurrency
            if self._guarded:
                self._workers = max(self._workers, self._concurrency)

    def play(self, queue: MatchQueue) -> Matches:
        """Play the remaining matches. Raises ArenaError if an isolation or a backend is missing."""
        check_isolations(self._spec)
        waiting = list(first := queue.take(1))
        if first is Batch.OVER:  # then nothing is compiled
            return
        for engine in search_engines():
            engine.prepare(self._spec, self._monitor.note)

        def take(size: int) -> Batch:
            return Batch([waiting.pop()]) if waiting else queue.take(size)

        here = not self._guarded and not self._concurrency
        if here and self._workers == 1:
            yield from self._play_here(take, inf)
            return
        if here and self._alone is not None:
            yield from self._play_here(take, self._alone)
        if not waiting:
            if (first := queue.take(1)) is Batch.OVER:
                return
            waiting += first
        if self._concurrency:
            for line in check_backends(self._spec, queue.store, queue.left(self._spec.size), alone=not self._guarded):
                self._monitor.note(line)
        if self._concurrency and not self._guarded:
            runners = [self._make_runner() for _ in range(min(self._concurrency, self._spec.size))]
            matches = ConcurrentMatches(take, runners)
            self._monitor.watch(matches.turns)
            yield from matches.play()
            return
        from arena.workers.pool import WorkerPool

        left = self._spec.size - queue.held - queue.played - queue.others
        pool = WorkerPool(self._spec, self._workers, take, total=left if self._spec.exact else None, code=self._code)
        self._monitor.watch(pool.turns)
        yield from pool.play()

    def _play_here(self, take: Callable[[int], Batch], seconds: float) -> Matches:
        end = monotonic() + seconds
        with closing(self._make_runner()) as runner:
            self._monitor.watch(runner.turns)
            while monotonic() < end and (batch := take(1)):
                yield batch[0], runner.play(batch[0])

    def _make_runner(self) -> MatchRunner:
        return MatchRunner(self._spec, code=self._code, watched=self._monitor.watches)


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


def resume_secret(spec: Spec, path: Path | None, *, shared: bool = False) -> Spec:
    """Return the spec with the secret seed from the store at `path`. If the seed is revealed, further rounds get a new part.

    A spec that does not ask for a secret is returned unchanged. Raises ArenaError if several machines play the run (`shared`) and
    the store has no secret yet, because each machine would draw another one.
    """
    if not spec.secret:
        return spec
    held = _read_secret(path)
    if held is None:
        if shared:
            raise ArenaError(
                "seed: secret: every shard needs the same secret. Set a seed in the spec, or start `arena run` without --shard "
                "on one machine and stop it with Ctrl-C; then copy the store of that run to each shard and pass it with --store"
            )
        return spec
    secret, revealed, rounds = held
    if not revealed or max(board.field.rounds for board in spec.boards) <= rounds:
        found = reload_spec(spec.document, spec.plugins, secret, secret=not revealed, shared=spec.shared)
    else:
        found = reload_spec(spec.document, spec.plugins, extend_secret(secret, rounds), secret=True, shared=spec.shared)
    return replace(found, registry=spec.registry)  # which knows which plugins the command line has named


def _read_secret(path: Path | None) -> tuple[str, bool, int] | None:
    if path is None or not path.is_file():
        return None
    with Store.open(path) as store:
        runs = store.runs()
        if not runs or runs[-1].secret is None:
            return None
        last = next(iter(store.query("SELECT max(round) FROM place")))[0]
        return runs[-1].secret, runs[-1].revealed is not None, 0 if last is None else last + 1
