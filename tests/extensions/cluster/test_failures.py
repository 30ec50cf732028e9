"""A tournament ends with the same results if processes die, freeze, join or are stopped."""

import re
import shlex
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer

import pytest

from arena.match.record import Record
from arena.spec import load_spec
from arena.store import TemporaryStore
from arena.tournament.queue import MatchQueue
from arena_cluster.address import address_of
from arena_cluster.coordinator import Coordinator
from arena_cluster.dask import dask_engine
from arena_cluster.parcel import pack_parcel
from tests.conftest import Arena
from tests.eventually import DEADLINE_SECONDS
from tests.extensions.cluster.conftest import SLOW, Cluster, Known, digest, hashed, held, started

Start = Callable[..., Cluster]


def test_a_run_continues_if_a_worker_dies_and_another_joins(
    clusters: Start, long: Known, words: list[str], tmp_path: Path
) -> None:
    """One worker is killed by SIGKILL, and another one joins. The store is the same, and stderr is empty."""
    cluster = clusters(workers=2)
    playing = started(words, tmp_path, "run", long.spec, "--store", "there.db", "--cluster", cluster.address)
    cluster.wait(lambda: held(tmp_path / "there.db") >= 40)
    cluster.workers[0].kill()
    cluster.add(arguments=["--nthreads", "2"])
    _, err = playing.communicate(timeout=DEADLINE_SECONDS)
    assert (playing.returncode, err) == (0, "")
    assert hashed(tmp_path / "there.db") == long.whole
    cluster.wait(lambda: not cluster.arena_processes())


def test_a_run_continues_if_a_worker_freezes(clusters: Start, long: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker stops, like a machine that sleeps or is disconnected, and the other one plays its matches. After it continues,
    it gets orders again, and its answers to old orders are ignored.
    """
    monkeypatch.setattr("arena_cluster.dask.WORKER_SILENCE_SECONDS", 3.0)
    monkeypatch.setattr("arena_cluster.dask.PULSE_POLL_SECONDS", 0.2)
    cluster, spec = clusters(workers=2), load_spec(long.spec)
    found: dict[str, Record] = {}
    frozen = cluster.workers[0]
    rescue = Timer(DEADLINE_SECONDS, frozen.send_signal, [signal.SIGCONT])  # lets the test fail instead of waiting for ever
    rescue.start()
    with dask_engine(address_of(cluster.address)) as engine:
        feed = MatchQueue(spec, TemporaryStore())
        coordinator = Coordinator(spec, pack_parcel(spec), engine, feed.take, print, total=240)
        seen: list[dict[str, int]] = []
        for scheduled, record in coordinator.play():
            assert record.id not in found
            found[record.id] = record
            feed.finish(scheduled, record)
            if len(found) == 40:
                frozen.send_signal(signal.SIGSTOP)
            if len(found) > 40 and not seen and len(engine._workers._there) == 1:
                seen.append(dict(engine._workers._there))
                frozen.send_signal(signal.SIGCONT)
    rescue.cancel()
    assert len(found) == 240
    assert seen
    assert digest({identity: record.timeless() for identity, record in found.items()}) == long.whole[1]


def test_a_run_ends_if_the_scheduler_dies(
    clusters: Start, two: Cluster, long: Known, words: list[str], arena: Arena, tmp_path: Path
) -> None:
    """The exit code is 1, and the printed command continues the run to the usual end."""
    cluster = clusters(workers=2)
    playing = started(words, tmp_path, "run", long.spec, "--store", "there.db", "--cluster", cluster.file)
    cluster.wait(lambda: held(tmp_path / "there.db") >= 40)
    cluster.scheduler.kill()
    out, err = playing.communicate(timeout=DEADLINE_SECONDS)
    assert (playing.returncode, out) == (1, "")
    assert err.splitlines()[-1].startswith(f"the scheduler {cluster.address} has not answered for 10 s")
    assert len(err.splitlines()) == 4  # an empty line, the number of matches, the command, and this line
    told = re.search(r"([\d,]+) matches are in there.db; continue with\n  arena (run .*)\n", err)
    assert told is not None
    assert int(told[1]) == held(tmp_path / "there.db")
    assert 40 <= int(told[1]) < 240
    done = arena(*[two.address if word == str(cluster.file) else word for word in shlex.split(told[2])])
    assert done.returncode == 0
    assert f"{told[1]} matches were in there.db" in done.stderr
    assert hashed(tmp_path / "there.db") == long.whole


def test_ctrl_c_leaves_no_tasks_processes_or_files_on_the_cluster(two: Cluster, words: list[str], tmp_path: Path) -> None:
    """The exit code is 130, and the output contains the command to continue. This holds even if a long match is in progress."""
    from distributed import Client

    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "s.yaml").write_text(
        "game: tic-tac-toe\nrounds: 4\nplugins: [slow.py]\nagents: [{agent: slow, label: stuck, seconds: 600}, random, slow]\n"
    )  # the first pair is random and slow
    playing = started(words, tmp_path, "run", "s.yaml", "--store", "there.db", "--cluster", two.address)
    two.wait(lambda: held(tmp_path / "there.db") >= 2)
    assert len(two.arena_processes()) == 4  # each worker has a process and its guard
    time.sleep(0.5)  # wait until both are stuck
    playing.send_signal(signal.SIGINT)
    out, err = playing.communicate(timeout=DEADLINE_SECONDS)
    assert (playing.returncode, out) == (130, "")
    assert f"continue with\n  arena run s.yaml --cluster {two.address} --store there.db\n" in err
    two.wait(lambda: not two.arena_processes())
    with Client(two.address, set_as_default=False) as client:
        two.wait(lambda: not client.run_on_scheduler(_tasks))
    two.wait(lambda: not list(two.folder.rglob("slow.py")))


def _tasks(dask_scheduler: object) -> list[str]:
    return list(dask_scheduler.tasks)  # type: ignore[attr-defined]
