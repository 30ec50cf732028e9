"""Plays a tournament, in this process or in several processes."""

import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol

from arena.errors import ArenaError
from arena.match.record import Record
from arena.plugins.manager import Events
from arena.processes.interrupts import user_interrupts
from arena.schedule.deals import Deals
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import MatchRunner, Turns, check_isolations
from arena.schedule.schedule import Batch, Scheduled, Take
from arena.search_engines import search_engines
from arena.secret import extend_secret
from arena.spec import Spec, load_spec, reload_spec
from arena.store import Store, TemporaryStore, put_aside
from arena.store.run import Run
from arena.tournament.code_check import check_code, clear_for
from arena.tournament.concurrent_matches import CONCURRENCY, ConcurrentMatches, check_backends, find_waiting_seats
from arena.tournament.queue import MatchQueue, Shard
from arena.tournament.results import PlayedMatch, Results

Code = Mapping[str, Fingerprint]
Observer = Callable[[PlayedMatch], None]
Matches = Generator[tuple[Scheduled, Record], None, None]
"""A generator that yields every match with its record when the match has finished."""


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
    StoreError if the store cannot be used, ValueError if `workers` or `concurrency` is less than 1, and ArenaError if the server
    does not answer.

    >>> results = run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 3})
    >>> len(results.records)
    6
    """
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    if concurrency < 1:
        raise ValueError(f"concurrency: expected at least 1, got {concurrency}")
    path = None if store is None else Path(store)
    ready = resume_secret(load_spec(spec), path)
    monitor = Monitor(None if observe is None else lambda one: observe(_add_parameters(ready, one)))
    return play_tournament(ready, path, RunSettings(workers=workers, concurrency=concurrency), monitor)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """The settings of a run, apart from its spec and its store."""

    workers: int = 1
    concurrency: int = CONCURRENCY
    alone: float | None = None
    guarded: bool = False
    """This and the setting above: see `play_all`."""
    shard: Shard | None = None
    fresh: bool = False
    """Whether an existing store is renamed, so that all matches are played again."""
    fresh_for: Sequence[str] = ()
    """The entries whose matches are played again; see `clear_for`."""
    accept: bool = False
    """Whether the run continues although a plugin has changed."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of `arena run` by name, for plugins."""


class Monitor:
    """Follows a run while it is played. The one of the command line shows the run; this one only calls `observe`."""

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

    def found(self) -> None:
        """Count a match that the store already has."""

    @staticmethod
    def watch(turns: Turns) -> None:
        """Take a function that returns the decisions in progress."""

    def follow(self, queue: MatchQueue, staff: Callable[[], str] | None) -> AbstractContextManager[object]:
        """Return a context manager for the time in which matches are played. `staff` is set if the players of a plugin play."""
        return nullcontext()


def play_tournament(spec: Spec, path: Path | None, settings: RunSettings, monitor: Monitor) -> Results:
    """Play the remaining matches of a tournament and return its results. Every run goes this way: `arena run` and `arena.run`.

    `path` is the file of its store; None for a temporary store, which belongs to the results. For errors, see `run`.
    """
    planned = Run.of(spec)
    events = RunEvents(StartedRun(spec, path, settings.options, monitor.note), monitor.warn)

    def tell(one: PlayedMatch) -> None:
        events.tell(one)
        monitor.observe(one)

    with events.open_players() as players, ExitStack() as ends:
        store = ends.enter_context(_open_store(path, settings, monitor))
        if settings.fresh_for and (cleared := clear_for(store, spec, planned, settings.fresh_for, accept=settings.accept)):
            monitor.note(cleared)
        planned = check_code(store, spec, planned, monitor.note, accept=settings.accept)
        store.begin(planned)
        events.start()
        queue = MatchQueue(spec, store, settings.shard, monitor.found)
        if players is None:
            played = _LocalRun(
                spec, queue, settings.workers, planned.plugins, settings.alone, settings.guarded, monitor.watch, monitor.note,
                settings.concurrency,
            ).play()  # fmt: skip
        else:
            played = players.play(queue)
        with monitor.follow(queue, None if players is None else players.staff):
            finish_all(queue, played, tell)
        if not queue.others:
            store.end(queue.rankings(), spec)
        elif settings.shard is not None:
            store.end_shard(f"{settings.shard.number}/{settings.shard.of}")
        results = Results(spec, store if isinstance(store, TemporaryStore) else store.path)
        if isinstance(store, TemporaryStore):
            ends.pop_all()  # from now on, it belongs to the results
    return events.finish(results)


def finish_all(queue: MatchQueue, played: Matches, observe: Callable[[PlayedMatch], object]) -> None:
    """Pass all matches that are `played` to their queue, which stores them. An interrupt by the user stops the matches."""
    with user_interrupts() as interrupts, closing(played) as matches:  # `closing` ends the workers, even after an interrupt
        for match, record in matches:
            with interrupts:
                queue.finish(match, record)
                observe(PlayedMatch(*match, record))
        interrupts.check()


def _add_parameters(spec: Spec, one: PlayedMatch) -> PlayedMatch:
    return one._replace(record=one.record._replace(parameters=spec.boards[one.board].parameters))


def _open_store(path: Path | None, settings: RunSettings, monitor: Monitor) -> Store:
    if path is None:
        return TemporaryStore()
    if settings.fresh and (aside := put_aside(path)) is not None:
        monitor.note(f"the matches so far are kept in {aside}")
    return Store.open(path, write=True)


class StartedRun(NamedTuple):
    """A run that begins."""

    spec: Spec
    store: Path | None
    """The path of its store; None if the store is temporary."""
    options: Mapping[str, Any] = {}
    """The options of `arena run` by name, also those that plugins have added; empty in a run by `arena.run`."""
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


def _ignore(_: object) -> None:
    pass


def play_all(
    spec: Spec,
    feed: MatchQueue,
    workers: int,
    observe: Callable[[PlayedMatch], object],
    *,
    code: Code | None = None,
    alone: float | None = None,
    guarded: bool = False,
    watch: Callable[[Turns], object] = _ignore,
    note: Callable[[str], object] = _ignore,
    concurrency: int = CONCURRENCY,
) -> None:
    """Play the matches of a `feed`, in this process or in `workers` processes, and pass each match that has ended to `observe`.

    `spec` is the spec of the matches. `code` holds the fingerprints; if it is None, they are taken from the current code. `alone`
    is the number of seconds to play in this process first, because a short run needs no workers. `guarded` says that this process
    plays nothing, because an agent might crash it; it also plays nothing if a game is native. `watch` gets a function that
    returns the decisions in progress, and another one when workers take over. `note` gets the agents that run uncompiled, if the
    run is long enough for compiling. If agents wait for something outside, `concurrency` matches are played at the same time: by
    threads of this process, or by this number of workers if `guarded`. Raises ArenaError if an isolation or a backend is missing.
    """
    local = _LocalRun(spec, feed, workers, code, alone, guarded, watch, note, concurrency)
    finish_all(feed, local.play(), observe)


@dataclass(slots=True)
class _LocalRun:
    """The arguments of `play_all`."""

    spec: Spec
    feed: MatchQueue
    workers: int
    code: Code | None
    alone: float | None
    guarded: bool
    watch: Callable[[Turns], object]
    note: Callable[[str], object]
    concurrency: int

    def __post_init__(self) -> None:
        self.guarded = self.guarded or any(board.native for board in self.spec.boards)
        if not find_waiting_seats(self.spec):
            self.concurrency = 0
        elif Deals(self.spec):
            self.concurrency = 1
        elif self.guarded:
            self.workers = max(self.workers, self.concurrency)

    def play(self) -> Matches:
        """Play the remaining matches."""
        check_isolations(self.spec)
        for engine in search_engines():
            engine.prepare(self.spec, self.note)
        if self.concurrency and not self.guarded:
            yield from self._concurrently()
            return
        if not self.guarded and (self.workers == 1 or self.alone is not None):
            yield from self._here(self.alone)
        if not self.guarded and self.workers == 1 and self.alone is not None:
            yield from self._here(None)
        first = self.feed.take(1) if self.guarded or self.workers > 1 else Batch.OVER
        if first is not Batch.OVER:
            self._check_backends()
            left = self.spec.size - self.feed.held - self.feed.played - self.feed.others
            total = left if self.spec.exact else None
            from arena.workers.pool import WorkerPool

            pool = WorkerPool(self.spec, self.workers, self._after(first), total=total, code=self.code)
            self.watch(pool.turns)
            yield from pool.play()

    def _concurrently(self) -> Matches:
        first = self.feed.take(1)
        if first is Batch.OVER:
            return
        self._check_backends()
        matches = ConcurrentMatches(self._after(first), [self._runner() for _ in range(min(self.concurrency, self.spec.size))])
        self.watch(matches.turns)
        yield from matches.play()

    def _check_backends(self) -> None:
        if not self.feed.played:
            left = self.feed.left(self.spec.size)
            kept = None if self.feed.store is None or self.feed.store.is_temporary else self.feed.store
            for line in check_backends(self.spec, kept, left, alone=not self.guarded):
                self.note(line)

    def _here(self, seconds: float | None) -> Matches:
        until = None if seconds is None else monotonic() + seconds
        with closing(self._runner()) as stage:
            self.watch(stage.turns)
            while (until is None or monotonic() < until) and (batch := self.feed.take(1)):
                yield batch[0], stage.play(batch[0])

    def _runner(self) -> MatchRunner:
        return MatchRunner(self.spec, code=self.code, watched=self.watch not in (_ignore, Monitor.watch))

    def _after(self, first: Batch) -> Take:
        """Return a function that hands out the batch `first`, which was already taken, and then the matches of the feed."""
        waiting = list(first)
        return lambda size: Batch([waiting.pop()]) if waiting else self.feed.take(size)


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
                "seed: secret: every shard needs the same secret. Name a seed in the spec, or start `arena run` without --shard "
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
