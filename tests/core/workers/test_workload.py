"""The matches that workers are given: every match is recorded once, in fair shares."""

import os
import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from arena.errors import ArenaError
from arena.format import Pairing
from arena.schedule.schedule import Batch, Scheduled
from arena.spec import load_spec
from arena.workers import pool
from arena.workers.messages import Done, Ready
from arena.workers.pool import Task, WorkerPool, Workload
from arena.workers.worker_process import WorkerEnded
from tests.conftest import VirtualClock


class Counted:
    """A schedule of this many matches."""

    def __init__(self, matches: int) -> None:
        self.upcoming = [Scheduled(number, 0, Pairing(number, (0,))) for number in range(matches)]

    def take(self, size: int) -> Batch:
        batch, self.upcoming = self.upcoming[:size], self.upcoming[size:]
        return Batch(batch) or Batch.OVER


def played(task: Task, deadly: set[int], rng: random.Random) -> tuple[int, bool]:
    """How many matches a worker begins, and whether it ends. The task notes the matches recorded by then.

    It ends in a deadly match, and sometimes, but in no retry, in or before another one; then some records may be lost.
    """
    time_for = rng.randint(1, len(task.matches))
    fatal = [place for place in range(time_for) if task.matches[place].number in deadly]
    accidents = [rng.randrange(time_for)] if not task.alone and rng.random() < 0.3 else []
    if not fatal and not accidents:
        task.recorded = time_for
        return time_for, False
    place = min(fatal + accidents)
    task.recorded = rng.randint(0, place)
    return (place + 1 if place in fatal else place + rng.randint(0, 1)), True


@given(st.integers(0, 60), st.integers(1, 4), st.sets(st.integers(0, 59)), st.booleans(), st.integers())
def test_every_match_is_recorded_once(matches: int, workers: int, deadly: set[int], known: bool, seed: int) -> None:
    """Some workers crash during a match or at random, and others return matches that they had no time for."""
    rng = random.Random(seed)
    workload = Workload(Counted(matches).take, workers, matches if known else None)
    recorded: list[int] = []
    culprits: list[int] = []
    fresh = [True] * workers
    while workload.any_left():
        place = rng.randrange(workers)
        task = workload.next(rng.randint(1, 9), fresh=fresh[place])
        if task is None:  # only retries are left, which wait for the new workers
            assert not fresh[place]
            continue
        assert not task.alone or (fresh[place] and len(task.matches) == 1)
        begun, fresh[place] = played(task, deadly, rng)
        recorded += [scheduled.number for scheduled in task.matches[: task.recorded]]
        if not fresh[place]:
            workload.hand_back(task)
        elif (culprit := workload.salvage(task, begun)) is not None:
            culprits.append(culprit.number)
    assert sorted(recorded) == [number for number in range(matches) if number not in deadly]
    assert sorted(culprits) == [number for number in range(matches) if number in deadly]


def test_the_last_matches_are_shared() -> None:
    """Two workers get at most a quarter of the remaining 40 matches at a time, however many they request."""
    workload = Workload(Counted(40).take, 2, 40)
    sizes = []
    while (task := workload.next(1000, fresh=True)) is not None:
        sizes.append(len(task.matches))
    assert sizes[:4] == [10, 7, 5, 4]
    assert sizes[-3:] == [1, 1, 1]
    assert sum(sizes) == 40


def test_matches_that_a_worker_hands_back_are_played_next() -> None:
    workload = Workload(Counted(10).take, 1, None)
    task = workload.next(4, fresh=True)
    assert task is not None
    task.recorded = 1
    workload.hand_back(task)
    following = workload.next(5, fresh=False)
    assert following is not None
    assert [scheduled.number for scheduled in following.matches] == [1, 2, 3, 4, 5]


def test_an_interrupted_match_is_retried_alone_in_a_new_worker() -> None:
    """Of five matches, two are recorded, one is finished, one is being played and one has not started."""
    workload = Workload(Counted(5).take, 1, None)
    task = workload.next(5, fresh=True)
    assert task is not None
    task.recorded = 2
    assert workload.salvage(task, 4) is None
    given = [workload.next(5, fresh=fresh) for fresh in (False, True, False)]
    assert [(one.alone, [scheduled.number for scheduled in one.matches]) for one in given if one is not None] == [
        (False, [2]),
        (True, [3]),
        (False, [4]),
    ]
    retry = Task([task.matches[3]], alone=True)
    assert workload.salvage(retry, 1) == task.matches[3]


def test_the_wait_before_a_failed_worker_is_started_again_doubles(monkeypatch: pytest.MonkeyPatch, clock: VirtualClock) -> None:
    """After the third failure, the run ends."""
    starts = []

    def tick() -> float:
        clock.now += 0.01
        return clock.now

    def fail(*_: object) -> None:
        starts.append(clock.now)
        raise OSError("no room")

    monkeypatch.setattr(clock, "monotonic", tick)
    monkeypatch.setattr(pool, "WorkerProcess", fail)
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0)
    spec = load_spec({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]})
    with pytest.raises(ArenaError, match="3 worker processes in a row ended before they played; the last could not be started"):
        list(WorkerPool(spec, 1, Counted(2).take).play())
    assert [later - earlier for earlier, later in pairwise(starts)] == pytest.approx([0.5, 1], abs=0.05)


class Mortal:
    """A worker that plays one match and ends. Two starts fail before each that succeeds."""

    starts = 0
    turn = (0, 0)

    def __init__(self, *_: object) -> None:
        Mortal.starts += 1
        if Mortal.starts % 3:
            raise OSError("no room")
        self.replies, other = os.pipe()
        os.write(other, b"any")
        os.close(other)
        self.begun = 0
        self.messages: list[Any] = [Ready({})]

    def order(self, matches: Any, *_: object, **__: object) -> None:
        if not self.begun:
            self.begun = 1
            self.messages.append(Done([f"record {matches[0].number}"], 1.0))  # type: ignore[list-item]

    def send(self) -> bool:
        return False

    def receive(self) -> Iterator[Any]:
        if not self.messages:
            raise WorkerEnded("ended")
        yield self.messages.pop(0)

    def has_ended(self) -> bool:
        return False

    def check_alive(self, elapsed: float, longest: float) -> None:
        pass


def test_failures_to_start_count_in_a_row(monkeypatch: pytest.MonkeyPatch, clock: VirtualClock) -> None:
    """Two starts fail before each of four workers that plays a match. That is never three in a row."""

    def tick() -> float:
        clock.now += 0.1
        return clock.now

    def end(workers: Sequence[Mortal]) -> None:
        for one in workers:
            os.close(one.replies)

    monkeypatch.setattr(clock, "monotonic", tick)
    monkeypatch.setattr(Mortal, "starts", 0)
    monkeypatch.setattr(pool, "WorkerProcess", Mortal)
    monkeypatch.setattr(pool, "end_workers", end)
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0)
    monkeypatch.setattr(pool, "MAX_BATCH_MATCHES", 1)
    spec = load_spec({"game": "tic-tac-toe", "rounds": 2, "agents": ["random", "greedy"]})
    found: list[tuple[int, Any]] = [(one.number, record) for one, record in WorkerPool(spec, 1, Counted(4).take, code={}).play()]
    assert found == [(number, f"record {number}") for number in range(4)]
    assert Mortal.starts == 12
