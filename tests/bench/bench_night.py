"""The costs of a long run: writing records to a store, computing leaderboards from it, and agents in their own processes.

With ARENA_BENCH_RECORDS=1000000, the store gets a million records; the default is a tenth of this number, with bounds in
proportion.
"""

import os
import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

import arena
from arena.results.leaderboard import Leaderboard
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Batch, Schedule
from arena.spec import Spec, load_spec
from arena.store import Store
from arena.store.run import Run
from arena.tournament.queue import MatchQueue

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

RECORDS = int(os.environ.get("ARENA_BENCH_RECORDS", "100000"))
TWO_RANDOM: list[Any] = ["random", {"agent": "random", "label": "other"}]


def memory() -> float:
    """Return the largest amount of memory that this process has used so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def filled(path: Path, spec: Spec) -> float:
    """Write a record for every match of a spec to a store. Return the seconds that this takes."""
    base = arena.run({"game": "tic-tac-toe", "rounds": 500, "agents": TWO_RANDOM}).records
    plan, spent = Schedule(spec), 0.0
    with Store.open(path, write=True) as store:
        store.begin(Run.of(spec))
        while batch := plan.take(1000):
            made = [(one, base[number]._replace(id=one.match_id(spec))) for number, one in enumerate(batch)]
            for one in batch:
                plan.tell(one, None)
            began = perf_counter()
            for one, record in made:
                store.add(one, record)
            spent += perf_counter() - began
        began = perf_counter()
        store.end()
        spent += perf_counter() - began
    return spent


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")
def test_writing_records_and_computing_a_leaderboard_are_fast_enough(bench: "Bench", tmp_path: Path) -> None:
    """A store takes at least 20,000 records per second. The leaderboard of a million records takes at most 5 s, and the scan
    before a run continues takes at most 60 us per record. The memory does not grow.
    """
    spec = load_spec({"game": "tic-tac-toe", "rounds": RECORDS // 2, "agents": TWO_RANDOM})
    small = load_spec({"game": "tic-tac-toe", "rounds": RECORDS // 20, "agents": TWO_RANDOM})
    filled(tmp_path / "small.db", small)
    Leaderboard.load(tmp_path / "small.db")
    before = memory()
    rate = RECORDS / filled(tmp_path / "a.db", spec)
    size = (tmp_path / "a.db").stat().st_size / RECORDS
    bench.at_least(20_000, f"records a second into a store of {RECORDS:,}", rate, "/s", bytes_a_record=f"{size:.0f}")
    began = perf_counter()
    assert Leaderboard.load(tmp_path / "a.db")[0].games == RECORDS
    bench.at_most(5 * RECORDS / 1_000_000, f"leaderboard of {RECORDS:,} records", perf_counter() - began, " s")
    with Store.open(tmp_path / "a.db", write=True) as store:
        began = perf_counter()
        store.begin(Run.of(spec))
        feed = MatchQueue(spec, store)
        assert feed.take(1) is Batch.OVER
        assert feed.held == RECORDS
        spent = perf_counter() - began
    bench.at_most(60, f"scan of a resume over {RECORDS:,} records, a match", spent / RECORDS * 1e6, " us")
    bench.at_most(64, f"memory more for {RECORDS:,} records than for a tenth of them", memory() - before, " MiB")


@contextmanager
def one_core() -> Iterator[None]:
    """Run on one core, like a worker that shares one core with its agents."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize("game", ["tic-tac-toe", "connect-four"])
def test_a_ply_in_a_process_of_its_own(bench: "Bench", game: str) -> None:
    """A ply takes at most 100 us more than in the process that plays the match, including the start and all checks."""
    specs = [load_spec({"game": game, "agents": TWO_RANDOM, "rounds": 50, "isolation": kind}) for kind in ("process", "none")]
    with one_core(), closing(MatchRunner(specs[0])) as isolated, closing(MatchRunner(specs[1])) as here:
        matches = Schedule(specs[0]).take(100)
        plies = sum(len(isolated.play(one).actions) for one in matches)
        timings = bench.in_turns(
            lambda: [isolated.play(one) for one in matches], lambda: [here.play(one) for one in matches], rounds=7
        )
    more = sorted(ours - theirs for ours, theirs in zip(timings.ours, timings.theirs, strict=True))[3]
    bench.at_most(100, f"isolation, a ply of {game}", more / plies * 1e6, " us")


@pytest.mark.filterwarnings("ignore:Benchmark fixture was not used")
def test_an_agent_that_does_not_stop_is_stopped(bench: "Bench", tmp_path: Path) -> None:
    """It is stopped within 200 ms after its limit, including the time to kill it."""
    plugin = tmp_path / "loops.py"
    plugin.write_text(
        "from arena import Agent, hookimpl\n"
        "class Loops(Agent):\n"
        '    """Never ends."""\n'
        '    name = "loops"\n'
        "    def choose(self, game, state, search):\n"
        "        while True: pass\n"
        "@hookimpl\ndef arena_agents(): return [Loops]\n"
    )
    values = {"game": "tic-tac-toe", "agents": ["loops", "random"], "rounds": 3, "limits": {"seconds": 0.2}}
    spec = load_spec({**values, "plugins": [str(plugin)]})
    late = []
    with closing(MatchRunner(spec)) as stage:
        for one in Schedule(spec).take(6):
            began = perf_counter()
            record = stage.play(one)
            assert record.termination == "timeout"
            assert record.timing is not None
            late.append(record.timing["overrun"])
            assert perf_counter() - began < 5
    bench.at_most(0.2, "an agent that does not stop is over, after its limit", max(late), " s")
