"""A tournament on a real cluster leaves the same store as on one machine."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from arena import run
from tests.conftest import Arena
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.extensions.cluster.conftest import Cluster, Known, hashed, held


def test_the_store_of_a_cluster_equals_a_local_one(two: Cluster, cup: Known, arena: Arena, tmp_path: Path) -> None:
    """The comparison uses a hash of ids and results, and the leaderboard. A second run finds all matches in the store. The run
    does not use compiled code, because compilation prints a note on stderr.
    """
    here = arena("run", cup.spec, "--store", "here.db", "--format", "json")
    there = arena("run", cup.spec, "--store", "there.db", "--format", "json", "--cluster", two.address, ARENA_PLAIN=1)
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")
    scores = [
        [(row["agent"], row["games"], row["score"]) for row in json.loads(text)["boards"][0]["rows"]]
        for text in (here.stdout, there.stdout)
    ]
    assert scores[0] == scores[1]
    again = arena("run", cup.spec, "--store", "there.db", "--cluster", two.file)  # this run uses the scheduler file
    assert "all 240 matches were in there.db; there were no matches left to play" in again.stderr


def test_a_schedule_that_depends_on_results_plays_on_a_cluster(two: Cluster, arena: Arena, tmp_path: Path) -> None:
    """A Swiss tournament has the same results as on one machine. Its agents are in separate processes."""
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
    """An agent that kills its process in some games, and logs each attempt."""
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
    """An agent that raises an exception, whose traceback names this file."""
    name = "thrower"
    def choose(self, game, state, search):
        if state[0].bit_count() == 1:
            raise ValueError("not today")
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Murderer, Thrower]
'''


def test_faulty_agents_lose_on_a_cluster_as_on_one_machine(two: Cluster, arena: Arena, tmp_path: Path) -> None:
    """An agent that kills its process, or the parent process, has a `crash` after two attempts, and no Dask worker is lost. A
    message about a plugin uses the path on this machine, although the file was sent to the node.
    """
    (tmp_path / "villains.py").write_text(VILLAINS)
    spec, log = tmp_path / "v.yaml", tmp_path / "tries"
    spec.write_text(
        "game: tic-tac-toe\nrounds: 1\nplugins: [villains.py]\nagents:\n  - thrower\n  - random\n"
        f"  - {{agent: murderer, label: a, log: {log}}}\n"
    )
    run(spec, workers=2, store=tmp_path / "here.db")
    tries = len(log.read_text())
    assert tries == 2 * 2  # the murderer reaches its third turn in two matches only, because the thrower loses before
    there = arena("run", spec, "--store", "there.db", "--cluster", two.address)
    assert (there.returncode, there.stderr) == (0, "")
    assert hashed(tmp_path / "there.db") == hashed(tmp_path / "here.db")
    assert len(log.read_text()) == 2 * tries  # as often on the node as here, so no match is played twice
    log.write_text("")
    spec.write_text(spec.read_text().replace("label: a", "label: a, parent: true"))
    above = arena("run", spec, "--store", "above.db", "--cluster", two.address)
    assert (above.returncode, above.stderr) == (0, "")
    assert len(log.read_text()) == tries
    rows = [json.loads(line) for line in arena("export", "above.db").stdout.splitlines()]
    assert sorted(row["termination"] for row in rows if "a" in row["labels"]).count("crash") == 2
    assert all(worker.poll() is None for worker in two.workers)


def test_local_workers_play_and_end_with_the_run(
    dask: None, words: list[str], long: Known, cup: Known, arena: Arena, tmp_path: Path
) -> None:
    """`local:2` starts a cluster for one run, and stdout has only results. Ctrl-C in a terminal also reaches the workers, and
    all processes end without further output.
    """
    done = arena("run", cup.spec, "--store", "there.db", "--cluster", "local:2", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["boards"][0]["rows"]
    assert hashed(tmp_path / "there.db") == cup.whole
    command = [*words, "run", str(long.spec), "--store", "stopped.db", "--cluster", "local:2"]
    playing = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    eventually(lambda: held(tmp_path / "stopped.db") >= 10)
    os.killpg(playing.pid, signal.SIGINT)
    out, err = playing.communicate(timeout=DEADLINE_SECONDS)
    assert (playing.returncode, out) == (130, "")
    assert len(err.split("\n")) == 6, err  # the number of matches, the command, `interrupted`, and two empty lines
    assert err.endswith("interrupted\n")


@pytest.mark.parametrize("begun", [1, 3])
def test_ctrl_c_while_workers_start_ends_the_run(dask: None, words: list[str], long: Known, tmp_path: Path, begun: int) -> None:
    """Ctrl-C comes after the first process has started, or after all have. The run waits until the workers have started, and
    ends without a traceback.
    """
    from psutil import Process

    playing = subprocess.Popen(
        [*words, "run", str(long.spec), "--no-store", "--cluster", "local:2"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )  # fmt: skip
    eventually(lambda: len(Process(playing.pid).children(recursive=True)) >= begun, pause=0.01)
    os.killpg(playing.pid, signal.SIGINT)
    out, err = playing.communicate(timeout=DEADLINE_SECONDS)
    assert (playing.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert err.endswith("interrupted\n")
