"""Real clusters (a scheduler and workers as processes on 127.0.0.1), and tournaments to play on them."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena import run
from arena.store import Store
from tests.eventually import eventually
from tests.fork_server import ForkedProcess, preload, start_module

CUP = "game: tic-tac-toe\nrounds: {rounds}\nseed: 3\nagents: [random, greedy, {{agent: lookahead, depth: 1}}, type-a-plus]\n"
SLOW = '''\
import time
from arena import Agent, hookimpl

class Slow(Agent):
    """An agent that waits and then plays at random."""
    name = "slow"
    def __init__(self, *, seconds: float = 0.005):
        self.seconds = seconds
    def choose(self, game, state, search):
        time.sleep(self.seconds)
        return search.rng.choice(game.actions(state))

@hookimpl
def arena_agents():
    return [Slow]
'''


@pytest.fixture(scope="session")
def dask(missing: Callable[[str, str], None]) -> None:
    """Skip a test that plays on a cluster if the extra `cluster` is not installed."""
    if importlib.util.find_spec("distributed") is None:
        missing("cluster", "the extra `cluster` is not installed")
    preload("distributed", "distributed.cli.dask_scheduler", "distributed.cli.dask_worker", "arena_cluster.dask")


class Cluster:
    """A scheduler and its workers. Each of them is a process."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", options: Sequence[str] = ()) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.options = list(options)
        self.log = (folder / "cluster.log").open("wb")
        self.host = host
        self.workers: list[ForkedProcess | subprocess.Popen[str]] = []
        self.begin()

    def begin(self) -> None:
        """Start a scheduler, which writes a new scheduler file."""
        self.file.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "--host", self.host, "--port", "0", "--scheduler-file", str(self.file))

    @property
    def address(self) -> str:
        """The address of the scheduler. Reading it waits until the scheduler listens."""
        self.wait(self.file.exists)
        self.wait(lambda: self.file.read_text().endswith("}"))
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def add(self, count: int = 1, *, path: Path | None = None, arguments: Sequence[str] = ()) -> "Cluster":
        """Start workers with one thread each. `path` comes first on their PYTHONPATH."""
        environment = dict(os.environ)
        if path is not None:
            environment["PYTHONPATH"] = os.pathsep.join([str(path), environment.get("PYTHONPATH", "")])
        for _ in range(count):
            words = ["worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder), *arguments]
            self.workers.append(self._start(*words, environment=environment))
        return self

    def _start(
        self, kind: str, *words: str, environment: dict[str, str] | None = None
    ) -> "ForkedProcess | subprocess.Popen[str]":
        log, command = self.log.fileno(), [kind, *words, "--no-dashboard", *self.options]
        return start_module("dask", command, folder=self.folder, environment=environment or os.environ, errors=log, out=log)

    def wait(self, for_what: Callable[[], object]) -> None:
        """Wait until `for_what` returns a true value."""
        eventually(for_what, (self.folder / "cluster.log").read_text)

    def wait_for_workers(self) -> None:
        """Wait until all workers have joined. A run ends if it refuses all workers that have joined so far."""
        self.wait(lambda: (self.folder / "cluster.log").read_text().count("Registered to:") >= len(self.workers))

    def arena_processes(self) -> list[int]:
        """Return the ids of the processes that the workers have started."""
        import psutil

        found = []
        for worker in self.workers:
            if worker.poll() is None:
                found += [child.pid for child in psutil.Process(worker.pid).children(recursive=True)]
        return found

    def close(self) -> None:
        """Kill the workers and the scheduler."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
        for process in [*self.workers, self.scheduler]:
            process.wait()
        self.log.close()


@pytest.fixture
def clusters(dask: None, tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    """Return a function that starts a cluster. All clusters end with the test."""
    with ExitStack() as stack:

        def start(*, workers: int = 0, name: str = "cluster", **more: Any) -> Cluster:
            folder = tmp_path / name
            folder.mkdir()
            cluster = Cluster(folder, **more)
            stack.callback(cluster.close)
            return cluster.add(workers)

        yield start


@pytest.fixture(scope="module")
def two(dask: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster with two workers for all tests of a module."""
    cluster = Cluster(tmp_path_factory.mktemp("two")).add(2)
    yield cluster
    cluster.close()


class Known(NamedTuple):
    """A tournament that has been played without a cluster, and its results."""

    spec: Path
    whole: tuple[int, str]
    """The result of `hashed` for the complete store."""


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """Play a round robin with 240 matches."""
    folder = tmp_path_factory.mktemp("cup")
    spec = folder / "cup.yaml"
    spec.write_text(CUP.format(rounds=20))
    run(spec, store=folder / "local.db")
    return Known(spec, hashed(folder / "local.db"))


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """Play 240 matches of about 20 ms each, with an agent from a plugin that is a single file."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "slow.py").write_text(SLOW)
    spec = folder / "long.yaml"
    spec.write_text("game: tic-tac-toe\nrounds: 120\nseed: 8\nagents: [slow, random]\nplugins: [slow.py]\n")
    run(spec, workers=4, store=folder / "local.db")
    return Known(spec, hashed(folder / "local.db"))


@pytest.fixture
def words() -> list[str]:
    """Return the words that start the command line in a process of its own."""
    return [sys.executable, "-m", "arena"]


def hashed(path: Path) -> tuple[int, str]:
    """Return the number of matches in a store, and a hash of their ids and results."""
    with Store.open(path) as store:
        records = {record.id: record.timeless() for record, _ in store.records()}
    return len(records), digest(records)


def digest(records: dict[str, Any]) -> str:
    """Return a hash of records without their times; the keys are the ids."""
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def held(path: Path) -> int:
    """Return the number of matches in a store to which a run is writing, or 0 if it cannot be opened yet."""
    import arena as arena_

    try:
        with Store.open(path) as store:
            return len(store)
    except arena_.ArenaError:
        return 0


def started(words: Sequence[str], folder: Path, *more: object) -> subprocess.Popen[str]:
    """Start the command line in a folder."""
    command = [*words, *map(str, more)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
