"""Plays the tournament of a spec, in this process or in several."""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, closing
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
from arena.schedule.schedule import OVER, Batch, Scheduled, Take
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
"""Yields every match with its record, as it is finished."""


def run(
    spec: str | PathLike[str] | Mapping[str, Any] | Spec,
    *,
    workers: int = 1,
    store: str | PathLike[str] | None = None,
    observe: Observer | None = None,
    concurrency: int = CONCURRENCY,
) -> Results:
    """Play a tournament and return its results. `spec` is a path, its keys as a mapping, or a Spec.

    SpecError lists every fault before anything is played. With several `workers` the matches are played in that many
    processes; the records are the same. With a `store`, a path, every match is written there as it comes; what it holds
    already is not played again. `observe` is called after every match that was played. If agents wait for something outside,
    such as a model behind a network, one process plays `concurrency` matches at the same time, with the same records;
    ArenaError if that cannot be asked. ValueError for less than one worker or match, StoreError for a store that cannot be
    used, PluginError for a plugin that cannot be loaded.
    """
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    if concurrency < 1:
        raise ValueError(f"concurrency: expected at least 1, got {concurrency}")
    ready = resume_secret(load_spec(spec), None if store is None else Path(store))
    if store is None:
        played: list[PlayedMatch] = []
        feed = MatchQueue(ready)

        def keep(one: PlayedMatch) -> None:
            played.append(one)
            if observe is not None:
                observe(one)

        play_all(ready, feed, workers, keep, concurrency=concurrency)
        return Results(ready, sorted(played, key=lambda one: one.number))
    with Store.open(Path(store), write=True) as opened:
        planned = check_code(opened, ready, run_of(ready), _ignore)
        opened.begin(planned)
        feed = MatchQueue(ready, opened)
        play_all(ready, feed, workers, observe or _ignore, code=planned.plugins, concurrency=concurrency)
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
    """Play what a feed hands out, in this process or by several workers, and have it take the records as they come.

    `code` is what plays, by default as it is now. With `alone`, play that many seconds in this process first: work that is
    done by then needs no workers. With `guarded`, or a game that is native, nothing is played in this process, which an agent or
    the rules might take down with it.
    `watch` is handed a function that tells which decisions are being made, and another one when workers take over. `note` is
    told what runs plain if a run is long enough to compile for. If agents wait for something outside, `concurrency` matches
    are played at the same time: here by threads, or by so many workers if the run is `guarded`. ArenaError if the
    isolation of an agent cannot be had here, or if what an agent waits for cannot be asked.
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
    """What `play_all` is given; `concurrency` is 0 if no agent waits for something outside."""

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
        """Play what is left."""
        check_isolations(self.spec)
        engines = search_engines()
        for engine in engines:
            engine.prepare(self.spec, self.note)
        if self.concurrency and not self.guarded:
            yield from self._concurrently()
            return
        if not self.guarded and (self.workers == 1 or self.alone is not None):
            yield from self._here(self.alone)
        with ExitStack() as stack:
            seconds = self._expected()
            for engine in engines:
                stack.enter_context(engine.prepare(self.spec, self.note, seconds))
            yield from self._rest()

    def _rest(self) -> Matches:
        """Play what is left after a while alone."""
        if not self.guarded and self.workers == 1 and self.alone is not None:
            yield from self._here(None)
        first = self.feed.take(1) if self.guarded or self.workers > 1 else OVER
        if first is not OVER:
            if find_waiting_seats(self.spec) and not self.feed.played:
                check_backends(self.spec)
            total = self._left if self.spec.exact else None
            pool = WorkerPool(self.spec, self.workers, self._after(first), total=total, code=self.code)
            self.watch(pool.turns)
            yield from pool.play()

    def _concurrently(self) -> Matches:
        """Play several matches at the same time in this process."""
        first = self.feed.take(1)
        if first is OVER:
            return
        if not self.feed.played:
            check_backends(self.spec)
        matches = ConcurrentMatches(self._after(first), [self._runner() for _ in range(min(self.concurrency, self.spec.size))])
        self.watch(matches.turns)
        yield from matches.play()

    def _here(self, seconds: float | None) -> Matches:
        """Play in this process, for a while or to the end."""
        until = None if seconds is None else monotonic() + seconds
        with closing(self._runner()) as stage:
            self.watch(stage.turns)
            while (until is None or monotonic() < until) and (batch := self.feed.take(1)):
                yield batch[0], stage.play(batch[0])

    def _runner(self) -> MatchRunner:
        return MatchRunner(self.spec, code=self.code, watched=self.watch is not _ignore)

    def _after(self, first: Batch) -> Take:
        """What hands out some matches that were taken already, and then what the feed has."""
        waiting = list(first)

        def take(size: int) -> Batch:
            return Batch([waiting.pop()]) if waiting else self.feed.take(size)

        return take

    @property
    def _left(self) -> int:
        return self.spec.size - self.feed.held - self.feed.played - self.feed.others

    def _expected(self) -> float:
        """Seconds that a run has before it, as far as what was played alone tells; infinity if that was no match."""
        if self.alone is None:
            return 0.0
        played = self.feed.played
        return self.alone / played * self._left / self.workers if played else float("inf") if self._left else 0.0


def resume_secret(spec: Spec, path: Path | None, *, shared: bool = False) -> Spec:
    """Return the spec with the secret of the store at `path`; once that is revealed, with another one for further rounds.

    A spec without a secret of its own is returned as it is. ArenaError if the run is `shared` among machines and the store
    holds no secret yet: then each of them would draw another one.
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
    """Return the secret of the last run of a store, whether it is revealed, and how many rounds were played with it."""
    if path is None or not path.is_file():
        return None
    with Store.open(path) as store:
        runs = store.runs()
        if not runs or runs[-1].secret is None:
            return None
        last = next(iter(store.query("SELECT max(round) FROM place")))[0]
        return runs[-1].secret, runs[-1].revealed is not None, 0 if last is None else last + 1
