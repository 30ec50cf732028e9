"""The costs of a cluster: the coordinator with ten thousand workers, and two Dask workers compared with two local workers.

With ARENA_BENCH_RECORDS=1000000, the coordinator handles a million records; the default is a tenth of this number.
"""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import pytest

import arena
from arena.match.record import Record
from arena.schedule.schedule import Scheduled
from arena.spec import Spec, load_spec
from arena.store import Store, TemporaryStore
from arena.store.run import Run
from arena.tournament.queue import MatchQueue
from arena.tournament.run import Monitor, RunSettings, play_tournament
from arena_cluster.address import address_of
from arena_cluster.coordinator import Coordinator
from arena_cluster.dask import dask_engine
from arena_cluster.parcel import pack_parcel
from tests.extensions.cluster.conftest import Cluster
from tests.extensions.cluster.standin import Standin

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

RECORDS = int(os.environ.get("ARENA_BENCH_RECORDS", "100000"))
WORKERS = 10_000
MATCHES = 300
LOOPS = 5_000_000
PLIES = 7.6
"""The approximate number of plies in a random match of tic-tac-toe."""
TWO_RANDOM: list[Any] = ["random", {"agent": "random", "label": "other"}]


def memory() -> float:
    """Return the largest amount of memory that this process has used so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def recorded(spec: Spec) -> Callable[[Scheduled], Record]:
    """Return a function that answers at once for each match, with the record of an earlier match under the requested id."""
    base = arena.run({"game": "tic-tac-toe", "rounds": 500, "agents": TWO_RANDOM}).records

    def play(scheduled: Scheduled) -> Record:
        labels = tuple([spec.boards[0].seats[entry].label for entry in scheduled.pairing.seats])
        return base[scheduled.number % len(base)]._replace(id=scheduled.match_id(spec), labels=labels)

    return play


def taken(path: Path, records: int) -> float:
    """Return the seconds that the coordinator needs for this number of records from ten thousand workers, from the schedule to
    the store. The time in which the stand-in makes its answers does not count.
    """
    spec = load_spec({"game": "tic-tac-toe", "rounds": records // 2, "agents": TWO_RANDOM})
    engine = Standin(spec, [f"tcp://10.0.{number // 250}.{number % 250}:4000" for number in range(WORKERS)], play=recorded(spec))
    engine.seconds = 1.0  # per match, so each match is an order of its own, the most work for the coordinator
    engine.told.update(change.node for change in engine.pending)
    answer, elsewhere = engine._reply, 0.0

    def timed(key: str) -> Any:
        nonlocal elsewhere
        before = perf_counter()
        reply = answer(key)
        elsewhere += perf_counter() - before
        return reply

    engine._reply = timed  # type: ignore[method-assign]
    began = perf_counter()
    with Store.open(path, write=True) as store:
        store.begin(Run.of(spec))
        feed = MatchQueue(spec, store)
        for match, record in Coordinator(spec, pack_parcel(spec), engine, feed.take, print, total=records).play():
            feed.finish(match, record)
        store.end()
        assert len(store) == records
    assert engine.most_out <= 2 * WORKERS
    return perf_counter() - began - elsewhere


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")
def test_ten_thousand_workers(bench: "Bench", tmp_path: Path) -> None:
    """At least 5,000 records per second go from ten thousand workers into the store, and the memory does not grow."""
    taken(tmp_path / "small.db", max(RECORDS // 10, 5 * WORKERS))
    before = memory()
    rate = RECORDS / taken(tmp_path / "large.db", RECORDS)
    bench.at_least(5000, f"records a second of {WORKERS:,} workers, {RECORDS:,} in all", rate, "/s")
    bench.at_most(64, f"memory more for {RECORDS:,} records than for few", memory() - before, " MiB")


BUSY = '''
import time
from arena import Agent, hookimpl

class Busy(Agent):
    """Thinks for about 5 ms of processor time, and plays at random."""
    name = "busy"
    def __init__(self, *, work: int):
        self.work = work
    def choose(self, game, state, search):
        for _ in range(self.work):
            pass
        return search.rng.choice(game.actions(state))

@hookimpl
def arena_agents():
    return [Busy]
'''


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start two Dask workers with one thread each."""
    folder = tmp_path / "cluster"
    folder.mkdir()
    cluster = Cluster(folder).add(2)
    yield cluster
    cluster.close()


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")
def test_two_dask_workers(bench: "Bench", cluster: Cluster, tmp_path: Path) -> None:
    """With matches of 50 ms, two Dask workers play at least 0.9 times as many as two local ones, including start and end."""
    (tmp_path / "busy.py").write_text(BUSY)
    began = process_time()
    for _ in range(LOOPS):
        pass
    work = round(0.05 / PLIES * LOOPS / (process_time() - began))
    agents = ", ".join([f"{{agent: busy, work: {number}}}" for number in (work, work + 1)])
    text = f"game: tic-tac-toe\nrounds: {MATCHES // 2}\nplugins: [busy.py]\nagents: [{agents}]\n"
    (tmp_path / "s.yaml").write_text(text)
    spec = load_spec(tmp_path / "s.yaml")

    def local() -> None:
        play_tournament(spec, None, RunSettings(workers=2), Monitor())

    def dask() -> None:
        with dask_engine(address_of(cluster.address)) as engine:
            feed = MatchQueue(spec, TemporaryStore())
            total = sum(board.size for board in spec.boards)
            for match, record in Coordinator(spec, pack_parcel(spec), engine, feed.take, print, total=total).play():
                feed.finish(match, record)

    timings = bench.in_turns(local, dask, rounds=3)
    mine, theirs = timings.best
    bench.at_least(
        0.9, f"two Dask workers against two local ones, {MATCHES} matches of 50 ms", timings.ratio, "",
        local=f"{mine:.2f} s", dask=f"{theirs:.2f} s"
    )  # fmt: skip
