"""Changes of files that options name are refused."""

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from shutil import copytree

import pytest

from arena import run
from arena.errors import ArenaError
from arena.schedule.fingerprint import Fingerprint
from arena.spec import Spec, load_spec, reload_spec
from arena.store import Store
from arena_cluster.node import Disagrees, check_sources
from arena_cluster.parcel import lay_out, pack_parcel, unpack_parcel
from tests.conftest import Arena
from tests.rehash import rehash

SPEC = """
game: tic-tac-toe
rounds: 2
agents: [{agent: policy-table, file: nets/first.tsv, missing: uniform, label: table}, greedy, random]
"""
ALL = 3 * 2 * 2
"""Matches: pairs of three, two orders, two rounds."""
OF_TABLE = 2 * 2 * 2
"""Matches of the entry `table`."""
NOTHING_LEFT = f"note: all {ALL} matches were in cup.db; there were no matches left to play\n"
MEDDLER = """
import os
from pathlib import Path
from arena import Agent, hookimpl

FILE = Path({file!r})

class Meddler(Agent):
    name = "meddler"
    def choose(self, game, state, search):
        text = FILE.read_text()
        if search.rng.random() < 0.02 and "9=1" not in text:
            FILE.write_text(text.replace("1=1", "9=1"))
            os.utime(FILE, ns=(0, 0))
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Meddler]
"""
_stamps = count(1)


def write(folder: Path, cell: int) -> Path:
    """Write a policy that begins with a cell."""
    file = folder / "nets" / "first.tsv"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f".../.../...\t{cell}=1\n")
    os.utime(file, ns=(0, next(_stamps)))  # as of another moment, however quick the test is
    return file


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spec, its file and a store, played with the table that begins in cell 1."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "cup.yaml").write_text(SPEC)
    write(folder, 1)
    run(folder / "cup.yaml", store=folder / "cup.db")
    return folder


@pytest.fixture
def played(original: Path, tmp_path: Path) -> Path:
    """A folder with that store, in which the table now begins in cell 9."""
    copytree(original, tmp_path, dirs_exist_ok=True)
    write(tmp_path, 9)
    return tmp_path


def begins(store: Path) -> Sequence[str]:
    """The first actions of the matches that the table begins, each once."""
    with Store.open(store) as opened:
        return sorted({record.actions[0] for record, _ in opened.records() if record.labels[0] == "table"})


def ids(store: Path) -> set[str]:
    with Store.open(store) as opened:
        return {record.id for record, _ in opened.records()}


def spec(folder: Path) -> Spec:
    return load_spec(folder / "cup.yaml")


def test_a_changed_file_is_refused(played: Path, invoke: Arena) -> None:
    refused = invoke("run", "cup.yaml", "--store", "cup.db")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "cup.db: first.tsv changed since the matches in it were played; use --fresh" in refused.stderr
    write(played, 1)
    done = invoke("run", "cup.yaml", "--store", "cup.db")
    assert (done.returncode, done.stderr) == (0, NOTHING_LEFT)


def test_the_matches_of_one_agent_are_played_again(played: Path, invoke: Arena) -> None:
    before = ids(played / "cup.db")
    assert begins(played / "cup.db") == ["1"]
    done = invoke("run", "cup.yaml", "--store", "cup.db", "--fresh-for", "table")
    assert done.returncode == 0
    assert f"{OF_TABLE} matches of table no longer count" in done.stderr
    assert begins(played / "cup.db") == ["9"]
    assert ids(played / "cup.db") == before
    assert "more than one version" not in done.stdout


def test_the_message_about_a_changed_file_names_all_agents_that_use_it(played: Path, invoke: Arena) -> None:
    (played / "cup.yaml").write_text(SPEC.replace("greedy", "{agent: policy-table, file: nets/first.tsv, missing: uniform}"))
    write(played, 1)
    assert invoke("run", "cup.yaml", "--store", "cup.db", "--workers", "1").returncode == 0
    write(played, 9)
    refused = invoke("run", "cup.yaml", "--store", "cup.db", "--fresh-for", "table")
    assert refused.returncode == 2
    assert (
        "content in nets of first.tsv changed since the matches in it were played, and policy-table uses this code; add"
        in refused.stderr
    )


def test_an_accepted_change_is_shown_on_the_board(played: Path, invoke: Arena) -> None:
    done = invoke("run", "cup.yaml", "--store", "cup.db", "--accept-changed-plugins")
    assert (done.returncode, done.stderr) == (0, NOTHING_LEFT)
    assert "more than one version" not in done.stdout
    (played / "cup.yaml").write_text(SPEC.replace("rounds: 2", "rounds: 3"))
    done = invoke("run", "cup.yaml", "--store", "cup.db", "--workers", "1")
    assert "Matches of this board were played with more than one version of first.tsv." in done.stdout

    (played / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 3\nagents: [greedy, random]\n")
    done = invoke("run", "cup.yaml", "--store", "cup.db", "--workers", "1")
    assert "more than one version" not in done.stdout, "the matches of the table are not on this board"


def test_a_run_continues_if_the_store_has_no_hash_of_a_file(played: Path, invoke: Arena) -> None:
    with closing(sqlite3.connect(played / "cup.db")) as connection, connection:
        (text,) = connection.execute("SELECT plugins FROM run").fetchone()
        kept = {name: found for name, found in json.loads(text).items() if name != "nets/first.tsv"}
        assert len(kept) == len(json.loads(text)) - 1
        connection.execute("UPDATE run SET plugins = ?", (json.dumps(kept),))
    rehash(played / "cup.db")
    done = invoke("run", "cup.yaml", "--store", "cup.db")
    assert (done.returncode, done.stderr) == (0, NOTHING_LEFT)
    write(played, 5)
    assert "first.tsv changed since" in invoke("run", "cup.yaml", "--store", "cup.db").stderr


@pytest.mark.parametrize(("workers", "keeps"), [(1, True), (1, False), pytest.param(2, True, marks=pytest.mark.process)])
def test_a_run_ends_if_a_file_that_an_option_names_changes(tmp_path: Path, workers: int, keeps: bool) -> None:
    file = write(tmp_path, 1)
    (tmp_path / "meddler.py").write_text(MEDDLER.format(file=str(file)))
    spec = SPEC.replace("greedy", "meddler").replace("rounds: 2", "rounds: 40")
    (tmp_path / "cup.yaml").write_text(f"{spec}plugins: [meddler.py]\n")
    store = tmp_path / "cup.db" if keeps else None
    with pytest.raises(ArenaError, match=r"nets/first\.tsv changed during the run"):
        run(tmp_path / "cup.yaml", workers=workers, store=store)
    assert "9=1" in file.read_text()
    if store is not None:
        assert set(begins(store)) <= {"1"}


def test_files_of_options_are_compared_even_if_the_store_comes_from_another_machine(played: Path, tmp_path: Path) -> None:
    node = tmp_path / "node"
    parcel = unpack_parcel(pack_parcel(spec(played)))
    lay_out(parcel, node)
    assert (node / "nets" / "first.tsv").read_text() == (played / "nets" / "first.tsv").read_text()
    there = reload_spec(replace(parcel.document, folder=node), parcel.plugins, parcel.seed)
    check_sources(there, parcel, node)
    write(node, 1)
    with pytest.raises(Disagrees, match=r"the source code of .*nets/first\.tsv on the node differs from that on this machine"):
        check_sources(there, parcel, node)


def test_files_with_the_same_name_in_two_folders_are_distinguished(tmp_path: Path) -> None:
    """The name of a folder may contain a comma, which separates the hashes in a store."""
    folders = ["a", "b, c=d"]
    entries = []
    for folder in folders:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.tsv").write_text(f".../.../...\t{len(folder)}=1\n")
        entries.append({"agent": "policy-table", "file": str(tmp_path / folder / "net.tsv"), "missing": "uniform"})
    spec = load_spec({"game": "tic-tac-toe", "agents": entries})
    assert Fingerprint.is_trusted(spec)
    found = Fingerprint.take_all(spec)
    ours = [one for name, one in found.items() if name.endswith("net.tsv")]
    assert len({text for one in ours for text in one.hashes.values()}) == len(folders)
    assert [Fingerprint.of(None, one.text) for one in ours] == ours


def test_two_files_of_the_same_name_with_swapped_contents_are_refused(tmp_path: Path) -> None:
    """A store knows a file by its name and its folder, so it detects the swap although both hashes still occur."""
    files = [tmp_path / folder / "net.tsv" for folder in ("a", "b")]
    for cell, file in enumerate(files, 1):
        file.parent.mkdir()
        file.write_text(f".../.../...\t{cell}=1\n")
    agents = [{"agent": "policy-table", "file": str(file), "missing": "uniform", "label": file.parent.name} for file in files]
    spec = {"game": "tic-tac-toe", "rounds": 1, "agents": agents}
    run(spec, store=tmp_path / "cup.db")
    texts = [file.read_text() for file in files]
    for file, text in zip(files, reversed(texts), strict=True):
        file.write_text(text)
        os.utime(file, ns=(0, next(_stamps)))
    with pytest.raises(ArenaError, match=r"net\.tsv changed since the matches in it were played"):
        run(spec, store=tmp_path / "cup.db")
