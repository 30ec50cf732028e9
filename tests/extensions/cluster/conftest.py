"""Real clusters: a scheduler and workers as processes on 127.0.0.1, and the command line that plays on them."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena import run
from arena.store import Store

CUP = "game: tic-tac-toe\nrounds: {rounds}\nseed: 3\nagents: [random, greedy, {{agent: lookahead, depth: 1}}, type-a-plus]\n"
PATIENCE = 60.0
SLOW = '''\
import time
from arena import Agent, hookimpl

class Slow(Agent):
    """Takes its time, and plays at random."""
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
    """What a test needs that plays on a cluster."""
    if importlib.util.find_spec("distributed") is None:
        missing("cluster", "the extra `cluster` is not installed")


class Cluster:
    """A scheduler and its workers, each a process of its own."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", options: Sequence[str] = ()) -> None:
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.options = list(options)
        self.log = (folder / "cluster.log").open("wb")
        self.host = host
        self.workers: list[subprocess.Popen[bytes]] = []
        self.begin()

    def begin(self) -> None:
        """Start a scheduler, which writes its file anew."""
        self.file.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "--host", self.host, "--port", "0", "--scheduler-file", str(self.file))

    @property
    def address(self) -> str:
        """Where the scheduler listens; waits until it does."""
        self.wait(self.file.exists)
        self.wait(lambda: self.file.read_text().endswith("}"))
        address: str = json.loads(self.file.read_text())["address"]
        return address

    def add(self, count: int = 1, *, path: Path | None = None, arguments: Sequence[str] = ()) -> "Cluster":
        """Start workers of one thread, with `path` before everything else that they import from."""
        environment = dict(os.environ)
        if path is not None:
            environment["PYTHONPATH"] = os.pathsep.join([str(path), environment.get("PYTHONPATH", "")])
        for _ in range(count):
            words = ["worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", str(self.folder), *arguments]
            self.workers.append(self._start(*words, environment=environment))
        return self

    def _start(self, kind: str, *words: str, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", kind, *words, "--no-dashboard", *self.options]
        return subprocess.Popen(command, cwd=self.folder, stdout=self.log, stderr=self.log, env=environment)

    def wait(self, for_what: Callable[[], object]) -> None:
        """Wait until something is so."""
        until = time.monotonic() + PATIENCE
        while not for_what():
            assert time.monotonic() < until, (self.folder / "cluster.log").read_text()
            time.sleep(0.02)

    def arena_processes(self) -> list[int]:
        """The processes of arena that the workers have started."""
        import psutil

        found = []
        for worker in self.workers:
            if worker.poll() is None:
                found += [child.pid for child in psutil.Process(worker.pid).children(recursive=True)]
        return found

    def close(self) -> None:
        """End all of it."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
        for process in [*self.workers, self.scheduler]:
            process.wait()
        self.log.close()


@pytest.fixture
def clusters(dask: None, tmp_path: Path) -> Iterator[Callable[..., Cluster]]:
    """Start a cluster that ends with the test."""
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
    """A cluster of two workers for all tests of a module."""
    cluster = Cluster(tmp_path_factory.mktemp("two")).add(2)
    yield cluster
    cluster.close()


class Known(NamedTuple):
    """A tournament that has been played on one machine."""

    spec: Path
    whole: tuple[int, str]
    """What its store must hold."""


@pytest.fixture(scope="session")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """A round robin of 240 matches."""
    folder = tmp_path_factory.mktemp("cup")
    spec = folder / "cup.yaml"
    spec.write_text(CUP.format(rounds=20))
    run(spec, store=folder / "local.db")
    return Known(spec, hashed(folder / "local.db"))


@pytest.fixture(scope="session")
def long(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """240 matches of about 20 ms with a plugin that is a single file."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "slow.py").write_text(SLOW)
    spec = folder / "long.yaml"
    spec.write_text("game: tic-tac-toe\nrounds: 120\nseed: 8\nagents: [slow, random]\nplugins: [slow.py]\n")
    run(spec, workers=4, store=folder / "local.db")
    return Known(spec, hashed(folder / "local.db"))


@pytest.fixture
def words() -> list[str]:
    """The command line as a process."""
    return [sys.executable, "-m", "arena"]


def hashed(path: Path) -> tuple[int, str]:
    """How many matches a store holds, and a hash over their identities and results."""
    with Store.open(path) as store:
        records = {record.id: record.timeless() for record, _ in store.records()}
    return len(records), digest(records)


def digest(records: dict[str, Any]) -> str:
    """A hash over timeless records by their identities."""
    return hashlib.sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()


def held(path: Path) -> int:
    """How many matches a store holds that is being written."""
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
