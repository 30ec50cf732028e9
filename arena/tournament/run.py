"""Plays the tournament of a spec, in this process or in several."""

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

from arena.errors import ArenaError
from arena.match.record import Record
from arena.processes.interrupts import user_interrupts
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import MatchRunner, Turns, check_isolations
from arena.schedule.schedule import Batch, Scheduled, Take
from arena.search_engines import search_engines
from arena.secret import extend_secret
from arena.spec import Spec, load_spec, reload_spec
from arena.store import Store
from arena.store.run import run_of
from arena.tournament.code_check import check_code
from arena.tournament.concurrent_matches import CONCURRENCY, ConcurrentMatches, check_backends, find_waiting_seats
from arena.tournament.queue import MatchQueue
from arena.tournament.results import PlayedMatch, Results
from arena.workers.pool import WorkerPool

Code = Mapping[str, Fingerprint]
Observer = Callable[[PlayedMatch], None]
Matches = Generator[tuple[Scheduled, Record], None, None]
"""Yields every match with its record when it is finished."""


def run(
    spec: str | PathLike[str] | Mapping[str, Any] | Spec,
    *,
    workers: int = 1,
    store: str | PathLike[str] | None = None,
    observe: Observer | None = None,
    concurrency: int = CONCURRENCY,
) -> Results:
    """Play a tournament and return its results. `spec` is a path, its keys as a mapping, or a Spec.

    SpecError lists every fault before anything is played. With several `workers` the matches are played in that many processes;
    the records are the same. With a `store`, a path, every match is written there when it ends; matches already in it are not
    played again. `observe` is called after every match. If agents wait for something outside, such as a model behind a network,
    one process plays `concurrency` matches at the same time, with the same records; ArenaError if it cannot be reached.
    ValueError for less than one worker or match, StoreError for a store that cannot be used, PluginError for a plugin that cannot
    be loaded.

    >>> results = run({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 3})
    >>> len(results.records)
    6
    """
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    if concurrency < 1:
        raise ValueError(f"concurrency: expected at least 1, got {concurrency}")
    ready = resume_secret(load_spec(spec), None if store is None else Path(store))

    def tell(one: PlayedMatch) -> PlayedMatch:
        told = one._replace(record=one.record._replace(parameters=ready.boards[one.board].parameters))
        if observe is not None:
            observe(told)
        return told

    if store is None:
        played: list[PlayedMatch] = []
        feed = MatchQueue(ready)
        play_all(ready, feed, workers, lambda one: played.append(tell(one)), concurrency=concurrency)
        return Results(ready, sorted(played, key=lambda one: one.number))
    with Store.open(Path(store), write=True) as opened:
        planned = check_code(opened, ready, run_of(ready), _ignore)
        opened.begin(planned)
        feed = MatchQueue(ready, opened)
        play_all(ready, feed, workers, tell, code=planned.plugins, concurrency=concurrency)
        opened.end(feed.rankings(), ready.registry)
    return Results(ready, store=Path(store))


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
    """Play the matches of a `feed`, in this process or by several `workers`, and give it the records as they come.

    `spec` is the spec of the matches. `code` holds the fingerprints, by default of the present code. With `alone`, play this many
    seconds in this process first, because a short run needs no workers. With `guarded`, or if a game is native, nothing is played
    in this process, because an agent or the rules might crash it. `watch` gets a function that returns the decisions in progress,
    and another one when workers take over. `note` gets the agents that run plain if a run is long enough to compile for. If
    agents wait for something outside, `concurrency` matches are played at the same time: here by threads, or by this number of
    workers if the run is `guarded`. ArenaError if the isolation of an agent is not available here, or if a backend of an agent
    cannot be reached.
    """
    guarded = guarded or any(board.native for board in spec.boards)
    if not find_waiting_seats(spec):
        concurrency = 0
    elif guarded:
        workers = max(workers, concurrency)
    local = _LocalRun(spec, feed, workers, code, alone, guarded, watch, note, concurrency)
    record_all(feed, local.play(), observe)


def record_all(feed: MatchQueue, played: Matches, observe: Callable[[PlayedMatch], object]) -> None:
    """Give the records of `played` to a feed, match by match; the user's interrupt ends the play."""
    with user_interrupts() as interrupts, closing(played) as matches:
        for scheduled, record in matches:  # an interrupt must not leave workers behind
            with interrupts.held():
                feed.finished(scheduled, record)
                observe(PlayedMatch(*scheduled, record))
        interrupts.check()


@dataclass(frozen=True, slots=True)
class _LocalRun:
    """The arguments of `play_all`; `concurrency` is 0 if no agent waits for something outside."""

    spec: Spec
    feed: MatchQueue
    workers: int
    code: Code | None
    alone: float | None
    guarded: bool
    watch: Callable[[Turns], object]
    note: Callable[[str], object]
    concurrency: int

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
            if find_waiting_seats(self.spec) and not self.feed.played:
                check_backends(self.spec)
            left = self.spec.size - self.feed.held - self.feed.played - self.feed.others
            total = left if self.spec.exact else None
            pool = WorkerPool(self.spec, self.workers, self._after(first), total=total, code=self.code)
            self.watch(pool.turns)
            yield from pool.play()

    def _concurrently(self) -> Matches:
        first = self.feed.take(1)
        if first is Batch.OVER:
            return
        if not self.feed.played:
            check_backends(self.spec)
        matches = ConcurrentMatches(self._after(first), [self._runner() for _ in range(min(self.concurrency, self.spec.size))])
        self.watch(matches.turns)
        yield from matches.play()

    def _here(self, seconds: float | None) -> Matches:
        until = None if seconds is None else monotonic() + seconds
        with closing(self._runner()) as stage:
            self.watch(stage.turns)
            while (until is None or monotonic() < until) and (batch := self.feed.take(1)):
                yield batch[0], stage.play(batch[0])

    def _runner(self) -> MatchRunner:
        return MatchRunner(self.spec, code=self.code, watched=self.watch is not _ignore)

    def _after(self, first: Batch) -> Take:
        """Return a function that hands out the batch `first`, which was taken already, and then the matches of the feed."""
        waiting = list(first)

        def take(size: int) -> Batch:
            return Batch([waiting.pop()]) if waiting else self.feed.take(size)

        return take


def resume_secret(spec: Spec, path: Path | None, *, shared: bool = False) -> Spec:
    """Return the spec with the secret of the store at `path`, extended by a new one for further rounds once it is revealed.

    A spec without its own secret is returned unchanged. ArenaError if the run is `shared` among machines and the store
    holds no secret yet, because each machine would draw another one.
    """
    if not spec.secret:
        return spec
    held = _read_secret(path)
    if held is None:
        if shared:
            raise ArenaError(
                "seed: secret: every shard needs the same secret; start the run on one machine (`arena run` without --shard, "
                "ended by Ctrl-C), and give each shard a copy of its store by --store"
            )
        return spec
    secret, revealed, rounds = held
    if not revealed or max(board.field.rounds for board in spec.boards) <= rounds:
        return reload_spec(spec.document, spec.plugins, secret, secret=not revealed, shared=spec.shared)
    return reload_spec(spec.document, spec.plugins, extend_secret(secret, rounds), secret=True, shared=spec.shared)


def _read_secret(path: Path | None) -> tuple[str, bool, int] | None:
    """Return the secret of the last run of a store, whether it is revealed, and the number of rounds played with it."""
    if path is None or not path.is_file():
        return None
    with Store.open(path) as store:
        runs = store.runs()
        if not runs or runs[-1].secret is None:
            return None
        last = next(iter(store.query("SELECT max(round) FROM place")))[0]
        return runs[-1].secret, runs[-1].revealed is not None, 0 if last is None else last + 1
