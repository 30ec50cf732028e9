"""The same tournament on a real cluster: what is in the store afterwards, whoever dies, joins, or stops it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import NamedTuple

import pytest

from arena import run
from arena.cluster import Coordinator, address_of, dask_engine, packed
from arena.errors import ClusterError
from arena.feed import Feed
from arena.record import Record
from arena.spec import load_spec
from tests.cluster.conftest import CUP, PATIENCE, Arena, Cluster, digest, hashed, held

Start = Callable[..., Cluster]


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


class Known(NamedTuple):
    """A tournament that has been played on one machine."""

    spec: Path
    whole: tuple[int, str]
    """What its store must hold."""


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """A round robin of 240 matches."""
    folder = tmp_path_factory.mktemp("cup")
    spec = folder / "cup.yaml"
    spec.write_text(CUP.format(rounds=20))
    run(spec, store=folder / "local.db")
    return Known(spec, hashed(folder / "local.db"))


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Known:
    """240 matches of about 20 ms with a plugin that is a single file."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "slow.py").write_text(SLOW)
    spec = folder / "long.yaml"
    spec.write_text("game: tic-tac-toe\nrounds: 120\nseed: 8\nagents: [slow, random]\nplugins: [slow.py]\n")
    run(spec, workers=4, store=folder / "local.db")
    return Known(spec, hashed(folder / "local.db"))


@pytest.mark.slow
def test_the_store_is_that_of_a_run_on_one_machine(two: Cluster, cup: Known, arena: Arena, tmp_path: Path) -> None:
    """By a hash over identities and results; and so is the board. A second run finds everything there."""
    here = arena("run", cup.spec, "--store", "here.db", "--format", "json")
    there = arena("run", cup.spec, "--store", "there.db", "--format", "json", "--cluster", two.address)
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")
    scores = [
        [(row["agent"], row["games"], row["score"]) for row in json.loads(text)["boards"][0]["rows"]]
        for text in (here.stdout, there.stdout)
    ]
    assert scores[0] == scores[1]
    again = arena("run", cup.spec, "--store", "there.db", "--cluster", two.file)  # its scheduler file this time
    assert "all 240 matches were in there.db; nothing was left to play" in again.stderr


@pytest.mark.slow
def test_a_format_that_follows_results_plays_on_a_cluster(two: Cluster, arena: Arena, tmp_path: Path) -> None:
    """Swiss rounds come out as on one machine, here with agents in processes of their own."""
    spec = tmp_path / "swiss.yaml"
    spec.write_text(
        "game: tic-tac-toe\nformat: swiss\nisolation: process\nrounds: 3\nseed: 5\n"
        "agents: [random, greedy, lookahead, type-a-plus]\n"
    )
    run(spec, store=tmp_path / "here.db")
    there = arena("run", spec, "--store", "there.db", "--cluster", two.address)
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")


VILLAINS = '''\
import os, signal
from arena import Agent, hookimpl

class Murderer(Agent):
    """Kills the process in which it plays, sometimes, and notes that it tried."""
    name = "murderer"
    def __init__(self, *, log: str, parent: bool = False):
        self.log, self.parent = log, parent
    def choose(self, game, state, search):
        if state[0].bit_count() == 2:
            with open(self.log, "a") as log:
                log.write("x")
            os.kill(os.getppid() if self.parent else os.getpid(), signal.SIGKILL)
            signal.pause()
        return search.rng.choice(game.actions(state))

class Thrower(Agent):
    """Raises what names this file."""
    name = "thrower"
    def choose(self, game, state, search):
        if state[0].bit_count() == 1:
            raise ValueError("not today")
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Murderer, Thrower]
'''


@pytest.mark.slow
def test_villains_lose_on_a_cluster_as_they_do_here(two: Cluster, arena: Arena, tmp_path: Path) -> None:
    """An agent that kills its process, or the one above, is a `crash` after two tries and costs no Dask worker; a message that
    names a file of a plugin that was sent along names it as it is called here.
    """
    (tmp_path / "villains.py").write_text(VILLAINS)
    spec, log = tmp_path / "v.yaml", tmp_path / "tries"
    spec.write_text(
        "game: tic-tac-toe\nrounds: 1\nplugins: [villains.py]\nagents:\n  - thrower\n  - random\n"
        f"  - {{agent: murderer, label: a, log: {log}}}\n"
    )
    run(spec, workers=2, store=tmp_path / "here.db")
    tries = len(log.read_text())
    assert tries == 2 * 2  # two matches come so far: who throws loses before
    there = arena("run", spec, "--store", "there.db", "--cluster", two.address)
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")
    assert len(log.read_text()) == 2 * tries
    log.write_text("")
    spec.write_text(spec.read_text().replace("label: a", "label: a, parent: true"))
    above = arena("run", spec, "--store", "above.db", "--cluster", two.address)
    assert (above.returncode, above.stderr) == (0, "")
    assert len(log.read_text()) == tries
    rows = [json.loads(line) for line in arena("export", "above.db").stdout.splitlines()]
    assert sorted(row["termination"] for row in rows if "a" in row["labels"]).count("crash") == 2
    assert all(worker.poll() is None for worker in two.workers)


NASTY = """\
import arena.cluster.node

def play(order):
    raise RecursionError("deep")

arena.cluster.node.play = play
"""


@pytest.mark.slow
def test_a_node_whose_failure_cannot_be_read(clusters: Start, cup: Known, arena: Arena, tmp_path: Path) -> None:
    """It is refused by name, and the run goes on without it."""
    (tmp_path / "nasty.py").write_text(NASTY)
    cluster = clusters()
    cluster.add(arguments=["--preload", str(tmp_path / "nasty.py")]).add()
    done = arena("run", cup.spec, "--store", "there.db", "--cluster", cluster.address)
    assert done.returncode == 0
    assert re.fullmatch(r"note: tcp://\S+ is refused: .*RecursionError.*\n", done.stderr)
    assert hashed(tmp_path / "there.db") == cup.whole


PROGRAM = (Path(__file__).parents[2] / "docs" / "examples" / "python_agent.py").read_text("utf-8")


@pytest.mark.slow
def test_a_program_that_does_not_start_there(two: Cluster, arena: Arena, tmp_path: Path) -> None:
    """It reads a file from beside it, which is not sent along: refused before the first match, instead of crashing in each."""
    spec = tmp_path / "p.yaml"
    spec.write_text(
        f"game: connect-four\nrounds: 2\nagents: [random, {{agent: {{command: [{sys.executable}, agent.py]}}, label: mine}}]\n"
    )
    (tmp_path / "agent.py").write_text(PROGRAM)
    whole = arena("run", spec, "--store", "there.db", "--cluster", two.address)
    assert (whole.returncode, whole.stderr) == (0, "")
    (tmp_path / "agent.py").write_text("import beside\n" + PROGRAM)
    (tmp_path / "beside.py").write_text("")
    assert arena("run", spec, "--store", "here.db").returncode == 0
    refused = arena("run", spec, "--no-store", "--cluster", two.address)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "agent.py starts here and not there: its process ended with code 1; what it reads beside its own" in refused.stderr
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")


@pytest.mark.slow
def test_a_worker_dies_and_another_joins(clusters: Start, long: Known, words: list[str], tmp_path: Path) -> None:
    """kill -9 in the middle, a third one a moment later: the store is the same, and nothing is said to be wrong."""
    cluster = clusters(workers=2)
    playing = _started(words, tmp_path, "run", long.spec, "--store", "there.db", "--cluster", cluster.address)
    cluster.wait(lambda: held(tmp_path / "there.db") >= 40)
    cluster.workers[0].kill()
    cluster.add(arguments=["--nthreads", "2"])
    _, err = playing.communicate(timeout=60)
    assert (playing.returncode, err) == (0, "")
    assert hashed(tmp_path / "there.db") == long.whole
    cluster.wait(lambda: not cluster.arena_processes())


@pytest.mark.slow
def test_a_worker_stands_still(clusters: Start, long: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frozen, as a machine is that sleeps or is cut off: its matches are played by the other; when it goes on it is used again,
    and what it still sends of old orders means nothing.
    """
    monkeypatch.setattr("arena.cluster.dask.STILL_SECONDS", 3.0)
    monkeypatch.setattr("arena.cluster.dask.PULSE_SECONDS", 0.2)
    cluster, spec = clusters(workers=2), load_spec(long.spec)
    found: dict[str, Record] = {}
    frozen = cluster.workers[0]
    rescue = Timer(PATIENCE, frozen.send_signal, [signal.SIGCONT])  # so that this test fails instead of waiting for ever
    rescue.start()
    with dask_engine(address_of(cluster.address)) as engine:
        feed = Feed(spec)
        coordinator = Coordinator(spec, packed(spec), engine, feed.take, print, total=240)
        seen: list[dict[str, int]] = []
        for scheduled, record in coordinator.play():
            assert record.id not in found
            found[record.id] = record
            feed.finished(scheduled, record)
            if len(found) == 40:
                frozen.send_signal(signal.SIGSTOP)
            if len(found) > 40 and not seen and len(engine._workers._there) == 1:
                seen.append(dict(engine._workers._there))
                frozen.send_signal(signal.SIGCONT)
    rescue.cancel()
    assert len(found) == 240
    assert seen
    assert digest({identity: record.timeless() for identity, record in found.items()}) == long.whole[1]


@pytest.mark.slow
def test_the_scheduler_dies(clusters: Start, two: Cluster, long: Known, words: list[str], arena: Arena, tmp_path: Path) -> None:
    """It is noticed within 30 s; exit code 1 and the command that goes on, which then ends as if nothing had been."""
    cluster = clusters(workers=2)
    playing = _started(words, tmp_path, "run", long.spec, "--store", "there.db", "--cluster", cluster.file)
    cluster.wait(lambda: held(tmp_path / "there.db") >= 40)
    cluster.scheduler.kill()
    killed = time.monotonic()
    out, err = playing.communicate(timeout=60)
    assert time.monotonic() - killed < 30
    assert (playing.returncode, out) == (1, "")
    assert err.splitlines()[-1].startswith(f"the scheduler {cluster.address} has not answered for 10 s")
    assert len(err.splitlines()) == 4  # an empty one, how many matches, the command, and this
    told = re.search(r"([\d,]+) matches are in there.db; go on with\n  arena (run .*)\n", err)
    assert told is not None
    assert int(told[1]) == held(tmp_path / "there.db")
    assert 40 <= int(told[1]) < 240
    done = arena(*[two.address if word == str(cluster.file) else word for word in told[2].split()])
    assert done.returncode == 0
    assert f"{told[1]} matches were in there.db" in done.stderr
    assert hashed(tmp_path / "there.db") == long.whole


@pytest.mark.slow
def test_ctrl_c_leaves_the_cluster_clean(two: Cluster, words: list[str], tmp_path: Path) -> None:
    """Exit code 130 and the command; nothing is queued any more, no process and no file of arena is left on the workers, also
    where a match is being played that takes long.
    """
    from distributed import Client

    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "s.yaml").write_text(
        "game: tic-tac-toe\nrounds: 4\nplugins: [slow.py]\nagents: [random, slow, {agent: slow, label: stuck, seconds: 600}]\n"
    )
    playing = _started(words, tmp_path, "run", "s.yaml", "--store", "there.db", "--cluster", two.address)
    two.wait(lambda: held(tmp_path / "there.db") >= 2)
    assert len(two.arena_processes()) == 4  # a worker and its guard each
    time.sleep(0.5)  # until both are stuck
    playing.send_signal(signal.SIGINT)
    out, err = playing.communicate(timeout=20)
    assert (playing.returncode, out) == (130, "")
    assert f"go on with\n  arena run s.yaml --cluster {two.address} --store there.db\n" in err
    two.wait(lambda: not two.arena_processes())
    with Client(two.address, set_as_default=False) as client:
        two.wait(lambda: not client.run_on_scheduler(_tasks))
    two.wait(lambda: not list(two.folder.rglob("slow.py")))


def _tasks(dask_scheduler: object) -> list[str]:
    return list(dask_scheduler.tasks)  # type: ignore[attr-defined]


def _started(words: list[str], folder: Path, *more: object) -> subprocess.Popen[str]:
    command = [*words, *map(str, more)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_other_plugins_are_refused_by_name(clusters: Start, arena: Arena, tmp_path: Path) -> None:
    """An installed plugin of another version or with another source, and one that is not there; alone it ends the run."""
    cluster = clusters()
    for name, version, choice in (("here", "1.0", 0), ("older", "0.9", 0), ("edited", "1.0", -1)):
        _installed(tmp_path / name, version, choice)
    spec = tmp_path / "p.yaml"
    spec.write_text("game: tic-tac-toe\nrounds: 20\nagents: [eager, random]\n")
    here = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "here"), os.environ.get("PYTHONPATH", "")])}
    cases: list[tuple[str | None, str]] = [
        ("older", "plugin eagerness:eager: version 0.9 there, 1.0 here"),
        ("edited", "eagerness:eager differs from the one here, by the hash of its source"),
        (None, "plugin eagerness:eager 1.0 is not installed there"),
    ]
    for other, expected in cases:
        cluster.add(path=tmp_path / other if other else None)
        refused = arena("run", spec, "--no-store", "--cluster", cluster.address, **here)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert expected in refused.stderr
        assert re.search(r"tcp://127\.0\.0\.1:\d+: ", refused.stderr)
    cluster.add(path=tmp_path / "here")
    assert arena("run", spec, "--store", "here.db", **here).returncode == 0
    done = arena("run", spec, "--store", "there.db", "--cluster", cluster.address, **here)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"note: tcp://\S+ is refused: ", done.stderr)) == 3
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")


def _installed(folder: Path, version: str, choice: int) -> None:
    """A distribution with a plugin, as pip leaves it."""
    info = folder / f"eagerness-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: eagerness\nVersion: {version}\n")
    (info / "entry_points.txt").write_text("[arena]\neager = eagerness\n")
    (folder / "eagerness.py").write_text(
        "from arena import Agent, hookimpl\n"
        "class Eager(Agent):\n"
        '    """Plays one end of the list."""\n'
        '    name = "eager"\n'
        f"    def choose(self, game, state, search): return game.actions(state)[{choice}]\n"
        "@hookimpl\ndef arena_agents(): return [Eager]\n"
    )


@pytest.mark.slow
def test_tls(clusters: Start, cup: Known, arena: Arena, tmp_path: Path) -> None:
    """By Dask's own options: equal again with certificates of one authority; refused without, with others, and by tcp://."""
    ours, theirs = _authority(tmp_path / "ours"), _authority(tmp_path / "theirs")
    from dask import config as dask_config

    cluster = clusters(options=_tls_options(ours))
    cluster.add()
    address = cluster.address
    assert address.startswith("tls://127.0.0.1:")
    there = arena("run", cup.spec, "--store", "there.db", "--cluster", address, **_tls_settings(ours))
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == cup.whole
    plain, open_ = address.replace("tls", "tcp"), clusters(name="open").address.replace("tcp", "tls")
    for target, settings, expected in (
        (address, {}, "distributed.comm.tls.ca-file is not set"),
        (address, _tls_settings(tmp_path / "nowhere"), "distributed.comm.tls.ca-file: no such file"),
        (address, _tls_settings(theirs), "the two ends do not trust each other"),
        (plain, _tls_settings(ours), "TLS is spoken there; use tls://"),
        (open_, _tls_settings(ours), "no TLS is spoken there; use tcp://"),
    ):
        options = {name[5:].lower().replace("__", ".").replace("_", "-"): file for name, file in settings.items()}
        with dask_config.set(options), pytest.raises(ClusterError, match=expected), dask_engine(address_of(target)):
            pass


MANUAL = (Path(__file__).parents[2] / "docs" / "how-to" / "cluster.md").read_text("utf-8")


def _authority(folder: Path) -> Path:
    """An authority and a certificate of its own, made by the commands of the manual."""
    folder.mkdir()
    found = re.search(r"<!-- authority -->\n *```sh\n(.*?)\n *```", MANUAL, re.DOTALL)
    assert found is not None
    for command in found[1].splitlines():
        subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


def test_the_manual_starts_what_the_tests_start() -> None:
    """Its commands have the options with which the test of TLS starts a cluster, and its variables are those of the test."""
    folder = Path("/shared/tls")
    commands = [
        line.split() for line in MANUAL.splitlines() if line.strip().startswith(("dask scheduler --pro", "dask worker tls"))
    ]
    assert [command[1] for command in commands] == ["scheduler", "worker"]
    for command in commands:
        assert set(_tls_options(folder)[2:]) <= set(command)
    exported = re.search(r"export (.*)", MANUAL)
    assert exported is not None
    assert dict(word.split("=") for word in exported[1].split()) == _tls_settings(folder)


def _tls_options(folder: Path) -> list[str]:
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
    return ["--protocol", "tls", *[word for option, file in files.items() for word in (option, str(folder / file))]]


def _tls_settings(folder: Path) -> dict[str, str]:
    before = "DASK_DISTRIBUTED__COMM__TLS"
    return {
        f"{before}__CA_FILE": str(folder / "ca.pem"),
        f"{before}__CLIENT__CERT": str(folder / "cert.pem"),
        f"{before}__CLIENT__KEY": str(folder / "key.pem"),
    }


@pytest.mark.slow
def test_local_workers(dask: None, words: list[str], long: Known, cup: Known, arena: Arena, tmp_path: Path) -> None:
    """`local:2` starts a cluster for this one run; results alone are on stdout. Ctrl-C in a terminal, which reaches its workers
    as well, ends all of it without a further word.
    """
    done = arena("run", cup.spec, "--store", "there.db", "--cluster", "local:2", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["boards"][0]["rows"]
    assert hashed(tmp_path / "there.db") == cup.whole
    command = [*words, "run", str(long.spec), "--store", "stopped.db", "--cluster", "local:2"]
    playing = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    until = time.monotonic() + 60
    while held(tmp_path / "stopped.db") < 10:
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(playing.pid, signal.SIGINT)
    out, err = playing.communicate(timeout=20)
    assert (playing.returncode, out) == (130, "")
    assert len(err.split("\n")) == 6, err  # how many matches, the command, `interrupted`, and two empty ones
    assert err.endswith("interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.9, 1.3])
def test_ctrl_c_while_workers_start(dask: None, words: list[str], long: Known, tmp_path: Path, delay: float) -> None:
    """It waits until they have, and then all ends without a word too many."""
    playing = subprocess.Popen(
        [*words, "run", str(long.spec), "--no-store", "--cluster", "local:2"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip
    time.sleep(delay)
    os.killpg(playing.pid, signal.SIGINT)
    out, err = playing.communicate(timeout=30)
    assert (playing.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert err.endswith("interrupted\n")
