"""Two workers compared with one, and the costs of handing a match to a worker and of replacing a worker."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import Spec, load_spec
from arena.workers.pool import WorkerPool

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

BIG = {"game": "tic-tac-toe", "rounds": 50, "agents": [{"agent": "lookahead", "depth": depth} for depth in (4, 5)]}
"""A spec with 100 matches, each of at least 25 ms."""
SMALL = {"game": "tic-tac-toe", "rounds": 5000, "agents": [{"agent": "random", "label": label} for label in ("one", "two")]}


@contextmanager
def working(spec: Spec, workers: int) -> Iterator[Any]:
    """Start a pool, and skip its first results, so the start of its workers is not timed. Yield an iterator of the others."""
    pool = WorkerPool(spec, workers, Schedule(spec).take, total=sum(board.size for board in spec.boards))
    finished = pool.play()
    try:
        for _ in range(4 * workers):
            next(finished)
        yield finished
    finally:
        finished.close()  # type: ignore[attr-defined]


def seconds_each(spec: Spec, workers: int) -> float:
    """Return the seconds per match, without the first few matches."""
    with working(spec, workers) as finished:
        began = time.perf_counter()
        count = sum(1 for _ in finished)
        return (time.perf_counter() - began) / count


def test_two_workers_are_nearly_twice_as_fast_as_one(bench: "Bench") -> None:
    """With matches of at least 20 ms, they are at least 1.8 times as fast. One and two workers take turns, because other work on
    the machine then affects both.
    """
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one processor")
    spec = load_spec(BIG)
    pairs = [(seconds_each(spec, 1), seconds_each(spec, 2)) for _ in range(5)]
    bench.in_turns(lambda: None, lambda: None, rounds=1)
    one, two = [f"{min(times) * 1e3:.1f} ms" for times in zip(*pairs, strict=True)]
    assert min(pairs)[0] > 0.02, "smaller matches than this is about"
    bench.at_least(1.8, "one worker / two workers", median(one / two for one, two in pairs), "x", one=one, two=two)


def test_a_small_match_costs_little_more_in_a_worker(bench: "Bench") -> None:
    """Handing over, playing and sending back the smallest match takes at most 1.6 times as long as playing it in this process."""
    spec = load_spec(SMALL)

    def here() -> None:
        stage, plan = MatchRunner(spec), Schedule(spec)
        while batch := plan.take(1):
            stage.play(batch[0])

    def handed() -> None:
        with working(spec, 1) as finished:
            began = time.perf_counter()
            count = sum(1 for _ in finished)
            rates.append((time.perf_counter() - began) / count)

    rates: list[float] = []
    timings = bench.in_turns(here, handed, rounds=5)
    local = [spent / 10_000 for spent in timings.ours]
    ratio = median(remote / mine for remote, mine in zip(rates[-5:], local, strict=True))
    details = {"here": f"{min(local) * 1e6:.0f} us", "worker": f"{min(rates) * 1e6:.0f} us"}
    bench.at_most(1.6, "random match in a worker / in the main process", ratio, "x", **details)
