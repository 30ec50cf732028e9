"""Matches with the same deal are played in succession by one worker, if their agents could tell each other about it."""

import random
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from arena.schedule.deals import Deals
from arena.schedule.schedule import Schedule, Scheduled
from arena.spec import Spec, load_spec
from arena.store import TemporaryStore
from arena.tournament.queue import MatchQueue
from arena.workers.pool import Workload

STRANGER: dict[str, Any] = {"agent": {"command": ["true"]}, "isolation": "sandbox"}
CARDS: dict[str, Any] = {"game": "kuhn-poker", "rounds": 30, "agents": [STRANGER, "random", "cfr-plus"]}


def values_with(**changes: Any) -> Spec:
    """The spec of a card game, changed."""
    return load_spec(CARDS | changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"game": "pig", "agents": [STRANGER, "random"]}, True),  # dice
        ({"game": "tic-tac-toe", "agents": [STRANGER, "random"]}, False),
        ({"agents": [STRANGER | {"isolation": "process"}, "random"]}, False),  # its processes can use files
        ({"agents": ["random", {"agent": "cfr-plus", "isolation": "sandbox"}]}, False),  # the organiser has chosen the code
    ],
)
def test_only_foreign_code_in_a_sandbox_needs_matches_grouped_by_deals(changes: dict[str, Any], expected: bool) -> None:
    assert bool(Deals(values_with(**changes))) is expected


def test_the_queue_groups_matches_by_seats() -> None:
    """Three agents have six orders of seats, so 180 matches need only five changes."""
    spec = values_with()
    queue = MatchQueue(spec, TemporaryStore())
    taken: list[Scheduled] = []
    while batch := queue.take(7):
        taken += batch
    assert sorted(one.number for one in taken) == list(range(180))
    assert sum(one.pairing.seats != two.pairing.seats for one, two in pairwise(taken)) == 5
    plain = MatchQueue(values_with(agents=["random", "cfr-plus"]), TemporaryStore())
    assert [one.number for one in plain.take(60)] == list(range(60))


@pytest.mark.parametrize("seed", range(5))
def test_no_two_workers_play_the_same_deal(seed: int) -> None:
    spec = values_with(rounds=40)
    work = Workload(MatchQueue(spec, TemporaryStore()).take, 3, spec.size, deals := Deals(spec))
    rng = random.Random(seed)
    workers = [object() for _ in range(3)]
    living: dict[str, set[object]] = defaultdict(set)
    played: list[int] = []
    while work.any_left():
        place = rng.randrange(3)
        task = work.next(rng.randrange(1, 9), fresh=False, worker=workers[place])
        for number, one in enumerate([] if task is None else task.matches):
            if rng.random() < 0.01:
                assert task is not None
                task.recorded = number
                work.salvage(task, number)  # it ended between two matches
                for found in living.values():
                    found.discard(workers[place])
                deals.release(workers[place])
                workers[place] = object()
                break
            positions = spec.boards[one.board].positions
            know = living[positions.key(one.pairing.round)]
            know.add(workers[place])
            assert len(know) == 1
            played.append(one.number)
    assert sorted(played) == [one.number for one in Schedule(spec).take(spec.size)]
