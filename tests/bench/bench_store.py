"""Stores of many records: how quickly they come in, are summed up, and are looked up again; and how little memory that takes.

`ARENA_BENCH_RECORDS=1000000` measures a million records, as in the manual; the default is a tenth of it, with the same bounds
on rates and a tenth of the bounds on times.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

RECORDS = int(os.environ.get("ARENA_BENCH_RECORDS", "100000"))
FEW = max(RECORDS // 10, 1000)
MILLION = 1_000_000

WORK = """
import json, resource, sys
from collections import deque
from pathlib import Path
from time import perf_counter
import arena
from arena.export import lines
from arena.feed import Feed
from arena.leaderboard import stored
from arena.schedule import Plan, Scheduled, Stage
from arena.spec import load_spec
from arena.store import Store, merge
from arena.store.run import run_of

what, path, size = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
agents = ["random", "greedy", "type-a-plus", {"agent": "lookahead", "depth": 1}]
spec = load_spec({"game": "tic-tac-toe", "rounds": -(-size // 12), "seed": 1, "agents": agents})
found = {}


def fill():
    seeds = arena.run({"game": "tic-tac-toe", "rounds": 20, "seed": 1, "agents": agents}).played
    stage, plan, spent, number = Stage(spec), Plan(spec), 0.0, 0
    with Store.open(path, write=True) as store:
        store.begin(run_of(spec))
        while batch := plan.take(2000):
            ids = [stage.identity(scheduled) for scheduled in batch]  # what a match would have been called
            records = [seeds[(number + n) % len(seeds)].record._replace(id=key) for n, key in enumerate(ids)]
            number += len(batch)
            began = perf_counter()
            for scheduled, record in zip(batch, records):
                store.add(scheduled, record)
            spent += perf_counter() - began
            for scheduled in batch:
                plan.tell(scheduled, (0.0, 0.0))
        began = perf_counter()
        store.flush()
        store.end()
    return number, spent + perf_counter() - began


def scan():
    with Store.open(path, write=True) as store:
        feed = Feed(spec, store)
        assert feed.take(1) == []
        return feed.held


if what == "fill":
    found["count"], found["seconds"] = fill()
else:
    began = perf_counter()
    if what == "board":
        found["count"] = stored(path)[0].games
    elif what == "scan":
        found["count"] = scan()
    elif what == "export":
        deque(lines(path_store := Store.open(path), "jsonl"), maxlen=0)
        found["count"] = len(path_store)
    elif what == "walk":
        with Store.open(path) as store:
            found["count"] = sum(1 for _ in store.records(boards=True))
    elif what == "merge":
        found["count"] = merge(path.with_suffix(".merged"), [path, path])
    found["seconds"] = perf_counter() - began
found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


def measured(what: str, path: Path, size: int) -> dict[str, Any]:
    """Run one piece of work in a process of its own, whose peak of memory is its own too."""
    done = subprocess.run([sys.executable, "-c", WORK, what, str(path), str(size)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found
