"""Plays the tournament of a spec, in this process or in several."""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any

from arena.errors import StoreError
from arena.match.record import Record
from arena.processes.interrupts import user_interrupts
from arena.schedule.fingerprint import fingerprints
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import OVER, Batch, Scheduled, Take
from arena.spec import Spec, load_spec
from arena.store import Run, Store
from arena.store.run import run_of
from arena.tournament.queue import MatchQueue
from arena.tournament.results import PlayedMatch, Results
from arena.workers.pool import WorkerPool

Observer = Callable[[PlayedMatch], None]
Matches = Generator[tuple[Scheduled, Record], None, None]
"""Somebody who plays: every match with its record, as it is finished."""


def run(
    spec: str | PathLike[str] | Mapping[str, Any] | Spec,
    *,
    workers: int = 1,
    store: str | PathLike[str] | None = None,
    observe: Observer | None = None,
) -> Results:
    """Play a tournament and return its results. `spec` is a path, its keys as a mapping, or a Spec.

    SpecError lists every fault before anything is played. With several `workers` the matches are played in that many
    processes; the records are the same. With a `store`, a path, every match is written there as it comes; what it holds
    already is not played again. `observe` is called after every match that was played. ValueError for less than one worker,
    StoreError for a store that cannot be used, PluginError for a plugin that cannot be loaded.
    """
    if workers < 1:
        raise ValueError(f"workers: expected at least 1, got {workers}")
    ready = load_spec(spec)
    if store is None:
        played: list[PlayedMatch] = []
        feed = MatchQueue(ready)

        def keep(one: PlayedMatch) -> None:
            played.append(one)
            if observe is not None:
                observe(one)

        play_all(ready, feed, workers, keep)
        return Results(ready, sorted(played, key=lambda one: one.number))
    with Store.open(Path(store), write=True) as opened:
        check_plugins(opened, run_of(ready))
        opened.begin(run_of(ready))
        feed = MatchQueue(ready, opened)
        play_all(ready, feed, workers, observe or _nobody)
        opened.end(feed.rankings())
    return Results(ready, store=Path(store))


def _nobody(played: PlayedMatch) -> None:
    pass


def check_plugins(store: Store, run: Run) -> None:
    """StoreError where a plugin is not the one with which the store's matches were played."""
    before: dict[str, str] = {}
    for one in store.runs():
        before |= one.code()
    changed = [name for name, found in run.code().items() if before.get(name, found) != found]
    if changed:
        listed = ", ".join(changed)
        raise StoreError(
            f"{store.path}: {listed} changed since the matches in it were played; "
            "use --fresh to play them anew, or --accept-changed-plugins to keep them"
        )


def play_all(
    spec: Spec,
    feed: MatchQueue,
    workers: int,
    observe: Callable[[PlayedMatch], object],
    *,
    alone: float | None = None,
    guarded: bool = False,
) -> None:
    """Play what a feed hands out, in this process or by several workers, and have it take the records as they come.

    With `alone`, play that many seconds in this process first: work that is done by then needs no workers. With `guarded`
    nothing is played in this process, which an agent might take down with it.
    """
    record_all(feed, _played(spec, feed, workers, alone, guarded), observe)


def record_all(feed: MatchQueue, played: Matches, observe: Callable[[PlayedMatch], object]) -> None:
    """Have a feed take what somebody plays, match by match; the user's interrupt ends whoever plays."""
    with user_interrupts() as interrupts, closing(played) as matches:
        for scheduled, record in matches:  # an interrupt must not leave workers behind
            with interrupts.held():
                feed.finished(scheduled, record)
                observe(PlayedMatch(*scheduled, record))
        interrupts.check()


def _played(spec: Spec, feed: MatchQueue, workers: int, alone: float | None, guarded: bool) -> Matches:
    code = fingerprints(spec) if guarded or workers > 1 else None
    if not guarded and (workers == 1 or alone is not None):
        yield from _here(spec, feed, None if workers == 1 else alone)
    first = feed.take(1) if guarded or workers > 1 else OVER
    if first is not OVER:
        total = sum(board.size for board in spec.boards) - feed.held - feed.played - feed.others
        exact = not any(board.format.follows_results for board in spec.boards)
        yield from WorkerPool(spec, workers, _after(first, feed), total=total if exact else None, code=code).play()


def _after(first: Batch, feed: MatchQueue) -> Take:
    """What hands out some matches that were taken already, and then what the feed has."""
    waiting = list(first)

    def take(size: int) -> Batch:
        return Batch([waiting.pop()]) if waiting else feed.take(size)

    return take


def _here(spec: Spec, feed: MatchQueue, seconds: float | None) -> Iterator[tuple[Scheduled, Record]]:
    """Play in this process, for a while or to the end."""
    until = None if seconds is None else monotonic() + seconds
    with closing(MatchRunner(spec)) as stage:
        while (until is None or monotonic() < until) and (batch := feed.take(1)):
            yield batch[0], stage.play(batch[0])
