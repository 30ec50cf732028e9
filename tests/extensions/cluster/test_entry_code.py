"""Entries with their own code have the same records and messages on a cluster, and only their own processes load the code."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena.match.record import Record
from arena.plugins.sources import PluginPlace
from arena.schedule.schedule import Schedule
from arena.spec import Spec, load_spec
from arena.store import Store
from arena_cluster.address import address_of
from arena_cluster.dask import dask_engine
from arena_cluster.engine import Order
from arena_cluster.node import Disagrees, NodeTournament
from arena_cluster.parcel import pack_parcel, unpack_parcel
from arena_isolation.agent_start import prove_once
from tests.conftest import Arena
from tests.eventually import eventually
from tests.extensions.cluster.conftest import Cluster
from tests.extensions.cluster.test_trust import PROGRAM

AGENT = """\
{before}
from arena import Agent, hookimpl

class Mine(Agent):
    name = "{name}"

    def choose(self, game, state, search):
        actions = list(game.actions(state))
        {body}

@hookimpl
def arena_agents():
    return [Mine]
"""
MARK = """\
import os, sys
with open({file!r}, "a") as marks:
    main = getattr(sys.modules["__main__"], "__spec__", None)
    marks.write(f"{{main and main.name}}\\n")
"""
READS = "from pathlib import Path\nWORST = int(Path(__file__).with_name('worst.txt').read_text())\n"
THROWS = "if len(actions) == 5: raise ValueError(f'{len(actions)} left, says {__file__} of {type(self).__module__}')\n        "
HOSTS = {"arena_isolation.agent_host", "arena_isolation.describe_host"}


def source(name: str, body: str = "return search.rng.choice(actions)", before: str = "") -> str:
    return AGENT.format(name=name, body=body, before=before)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Spec], NodeTournament]]:
    """Return a function that sets up the tournament of a spec in another folder, as a node does, but without Dask."""
    monkeypatch.setenv(PluginPlace.ENVIRONMENT, "")
    made: list[NodeTournament] = []

    def node(spec: Spec) -> NodeTournament:
        folder = tmp_path / "a node" / str(len(made))
        folder.mkdir(parents=True)
        made.append(NodeTournament(unpack_parcel(pack_parcel(spec)), folder.resolve()))
        return made[-1]

    yield node
    for one in made:
        one.end()


def cup(folder: Path, entries: list[Any], **more: Any) -> Path:
    folder.mkdir(exist_ok=True)
    values = {"game": "tic-tac-toe", "rounds": 2, "seed": 3, "agents": entries, **more}
    (folder / "cup.yaml").write_text(yaml.safe_dump(values))
    return folder / "cup.yaml"


def records(path: Path) -> dict[str, Record]:
    with Store.open(path) as store:
        return {record.id: record for record, _ in store.records()}


def commit_agent(folder: Path) -> None:
    """Create a repository in which `current.py` and the module beside it have changed since the commit."""
    folder.mkdir()
    (folder / "tools.py").write_text("def best(actions): return actions[-1]\n")
    (folder / "current.py").write_text(
        source("current", "return best(actions)", "from tools import best\nopen(__file__).close()\n")
    )
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / "tools.py").write_text("def best(actions): return actions[0]\n")
    (folder / "current.py").write_text(source("current", "return actions[0]"))


@pytest.fixture(scope="module")
def one(dask: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Start a cluster with one worker."""
    cluster = Cluster(tmp_path_factory.mktemp("one")).add()
    yield cluster
    cluster.close()


def test_records_of_entries_with_code_equal_a_local_run(one: Cluster, bubblewrap: str, arena: Arena, tmp_path: Path) -> None:
    """The entries use a folder with a module and data, a sandbox and a Git revision. Messages of exceptions name files as on
    this machine. Only the hosts of agents load the code.
    """
    marks, work = tmp_path / "marks", tmp_path / "cup"
    (work / "first").mkdir(parents=True)
    (work / "more").mkdir()
    commit_agent(work / "repository")
    (work / "first" / "agent.py").write_text(
        source("mine", "return actions[WORST]", MARK.format(file=str(marks)) + "import beside\n" + READS)
    )
    (work / "first" / "beside.py").write_text("")
    (work / "first" / "worst.txt").write_text("0")
    (work / "boxed").mkdir()
    (work / "boxed" / "boxed.py").write_text(source("mine", THROWS + "return actions[0]"))
    (work / "more" / "faces.py").write_text(source("faces"))
    entries = [
        {"agent": "mine", "plugin": "first/agent.py", "label": "folder"},
        {"agent": "mine", "plugin": "boxed/boxed.py", "isolation": "sandbox"},
        {"agent": "faces", "plugin": str(work / "more" / "faces.py"), "label": "faces"},
        {"agent": "current", "version": "git:HEAD", "label": "then"},
    ]
    spec = cup(work, entries, plugins=["repository/current.py"], rounds=1)
    # The path is set on this machine, but on no node.
    path = {"PYTHONPATH": os.pathsep.join([str(work / "repository"), os.environ.get("PYTHONPATH", "")])}
    assert arena("run", spec, "--store", "here.db", "--workers", "1", **path).returncode == 0
    there = arena("run", spec, "--store", "there.db", "--cluster", one.address, **path)
    assert there.returncode == 0, there.stderr
    assert there.stderr == ""
    here, found = records(tmp_path / "here.db"), records(tmp_path / "there.db")
    assert len(here) == 12
    assert {key: record.timeless() for key, record in found.items()} == {key: record.timeless() for key, record in here.items()}
    told = {(record.message, record.traceback) for record in here.values()} - {(None, None)}
    assert {(record.message, record.traceback) for record in found.values()} - {(None, None)} == told
    assert any(f"5 left, says {work}/boxed/boxed.py of arena_plugin_boxed_" in str(text) for text, _ in told)
    assert set(marks.read_text().split()) == HOSTS


def test_another_file_and_an_unpacked_program_play_on_a_node(elsewhere: Callable[[Spec], NodeTournament], tmp_path: Path) -> None:
    """The name of an entry's file is also the name of a plugin of the organiser, and a program is given by its absolute path.
    The ids and moves are the same on the node.
    """
    laid_out, work = tmp_path / "store.code" / "17", tmp_path / "cup"
    laid_out.mkdir(parents=True)
    (laid_out / ".laid-out").touch()
    (laid_out / "program_17").write_text("#!/usr/bin/env python3\nimport part\n" + PROGRAM)
    (laid_out / "program_17").chmod(0o755)
    (laid_out / "part.py").write_text("")
    (work / "old").mkdir(parents=True)
    (work / "old" / "mine.py").write_text(source("mine", "return actions[0]", "import lower\n"))
    (work / "old" / "lower.py").write_text("")
    (work / "mine.py").write_text(source("mine", "return actions[-1]"))
    entries = [
        {"agent": "mine", "version": "old/mine.py"},
        {"agent": "mine", "plugin": "mine.py"},
        {"agent": {"command": [str(laid_out / "program_17")]}, "label": "program"},
    ]
    spec = load_spec(cup(work, entries, rounds=1, plugins=["mine.py"]))
    there = elsewhere(spec)
    shutil.rmtree(laid_out)
    shutil.rmtree(work / "old")
    plan = Schedule(spec).take(100)
    found, _ = there.play(plan, {}, lambda turns: None)
    assert [record.id for record in found] == [one.match_id(spec) for one in plan]
    assert [record.termination for record in found] == ["normal"] * 6
    begun = {one.pairing.seats[0]: record.actions[0] for one, record in zip(plan, found, strict=True)}
    assert (begun[0], begun[1]) == ("1", "9")


def test_a_load_error_on_a_node_names_the_files_of_this_machine(
    elsewhere: Callable[[Spec], NodeTournament], tmp_path: Path
) -> None:
    """Data in the folder of the spec is not sent, because the folder does not belong to one entry."""
    folder = tmp_path / "cup"
    spec = cup(folder, ["random", {"agent": "mine", "plugin": "mine.py"}])
    (folder / "mine.py").write_text(source("mine", before=READS))
    (folder / "beside.py").write_text("")
    (folder / "worst.txt").write_text("0")
    with pytest.raises(Disagrees) as refused:
        elsewhere(load_spec(spec))
    assert f"agents[1].plugin: plugin {folder}/mine.py: FileNotFoundError: " in str(refused.value)
    assert f"'{folder}/worst.txt'" in str(refused.value)
    assert "a node" not in str(refused.value).partition("; what the code")[0]


def test_a_node_without_a_sandbox_is_refused(
    elsewhere: Callable[[Spec], NodeTournament], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "isolation": "sandbox"})
    monkeypatch.setenv("PATH", "")
    prove_once.cache_clear()
    with pytest.raises(
        Disagrees, match="agents play in a sandbox, which does not work on the node: sandbox: expected bwrap on PATH"
    ):
        elsewhere(spec)


def test_large_code_of_an_entry_is_sent_without_a_warning(one: Cluster) -> None:
    """Dask warns if more than 10 MB are sent. In this test the warning would be an error, and the order would be lost."""
    with dask_engine(address_of(one.address)) as engine:
        node = eventually(engine.changes)[0].node
        engine.send(Order("large", "run", [], os.urandom(11 << 20), {}), node)
        (reply,) = eventually(lambda: engine.replies(0.1))
        assert b"refused" in (reply.body or b"")
