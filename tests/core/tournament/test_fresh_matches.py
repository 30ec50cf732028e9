"""The option that plays the matches of a changed agent again."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from unittest.mock import Mock

import pytest

from arena import run
from arena.errors import StoreError, UnknownName
from arena.match.match import Program
from arena.spec import load_spec
from arena.store import Store
from arena.store.run import Run
from arena.tournament.code_check import clear_for
from tests.conftest import Arena

AGENT = """
from arena import Agent, hookimpl

class {name}(Agent):
    name = "{lower}"
    def choose(self, game, state, search):
        return game.actions(state)[{index}]

@hookimpl
def arena_agents():
    return [{name}]
"""
SPEC = """
game: tic-tac-toe
rounds: 3
openings: {plies: 2}
agents: [mine, yours, greedy, random]
plugins: [mine.py, yours.py]
"""
ROUND_ROBIN = 4 * 3 // 2 * 2 * 3
"""Matches: pairs of four, two orders, three rounds."""
OF_ONE = 3 * 2 * 3
"""Matches of one of the entries."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The spec, the plugins and a store, played with both agents taking the first action."""
    folder = tmp_path_factory.mktemp("fresh")
    (folder / "cup.yaml").write_text(SPEC)
    write(folder, "mine", 0)
    write(folder, "yours", 0)
    run(folder / "cup.yaml", store=folder / "results" / "cup.db")
    return folder


@pytest.fixture
def played(folder: Path, tmp_path: Path) -> Path:
    """A store of the spec, played with `mine` that took the first action and now takes the last."""
    copytree(folder, tmp_path, dirs_exist_ok=True)
    write(tmp_path, "mine", -1)
    return tmp_path / "results" / "cup.db"


def write(folder: Path, name: str, index: int) -> None:
    (folder / f"{name}.py").write_text(AGENT.format(name=name.title(), lower=name, index=index))


def rows(store: Path) -> dict[str, tuple[tuple[str, ...], str, str]]:
    """Return the labels, the actions and all times of each record, by its id."""
    whole = (
        "SELECT hex(r.id), d.labels, d.actions, d.decisions || ' ' || r.number FROM record r JOIN detail d ON d.record = r.number"
    )
    with closing(sqlite3.connect(store)) as connection:
        found = connection.execute(whole).fetchall()
    return {key: (tuple(json.loads(labels)), actions, rest) for key, labels, actions, rest in found}


def test_only_the_matches_of_the_changed_agent_are_played_again(tmp_path: Path, invoke: Arena, played: Path) -> None:
    before = rows(played)
    assert "mine.py changed since" in invoke("run", "cup.yaml").stderr
    again = invoke("run", "cup.yaml", "--fresh-for", "mine", "--workers", "1")
    assert again.returncode == 0, again.stderr
    told = f"note: {OF_ONE} matches of mine no longer count and will be played again if the spec still has them; a copy is in"
    assert f"{told} results/cup.1.db" in again.stderr
    assert f"{ROUND_ROBIN - OF_ONE} matches were in results/cup.db, {OF_ONE} have been added" in again.stderr
    after = rows(played)
    assert set(after) == set(before)
    own = {key for key, (labels, _, _) in before.items() if "mine" in labels}
    assert len(own) == OF_ONE
    assert all(after[key] == before[key] for key in before if key not in own)
    assert any(after[key][1] != before[key][1] for key in own)
    assert rows(tmp_path / "results" / "cup.1.db") == before
    assert "more than one version" not in again.stdout


def test_matches_deleted_before_a_crash_are_played_by_the_next_run(invoke: Arena, played: Path) -> None:
    spec = load_spec(played.parents[1] / "cup.yaml")
    with Store.open(played, write=True) as store:
        clear_for(store, spec, Run.of(spec), ["mine"])
    assert len(rows(played)) == ROUND_ROBIN - OF_ONE
    again = invoke("run", "cup.yaml", "--workers", "1")
    assert f"{OF_ONE} have been added" in again.stderr
    assert len(rows(played)) == ROUND_ROBIN


def test_matches_are_kept_if_the_copy_cannot_be_written(played: Path) -> None:
    spec = load_spec(played.parents[1] / "cup.yaml")
    before = rows(played)
    (played.parent / ".cup.1.db.part").mkdir()
    with Store.open(played, write=True) as store, pytest.raises(StoreError, match="cannot be written"):
        clear_for(store, spec, Run.of(spec), ["mine"])
    assert rows(played) == before


def test_another_change_is_refused(tmp_path: Path, invoke: Arena, played: Path) -> None:
    write(tmp_path, "yours", 1)
    refused = invoke("run", "cup.yaml", "--fresh-for", "mine")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert re.search(r"agent yours of yours.py changed .*, and yours uses this code; add --fresh-for yours, or", refused.stderr)
    both = invoke("run", "cup.yaml", "--fresh-for", "mine", "--fresh-for", "yours", "--workers", "1")
    assert both.returncode == 0
    assert f"{2 * OF_ONE - 2 * 3} matches of mine and yours no longer count" in both.stderr


def test_all_entries_with_the_changed_code_are_named_by_their_labels(tmp_path: Path, invoke: Arena) -> None:
    write(tmp_path, "mine", 0)
    agents = "[{agent: mine, label: first one}, {agent: mine, label: second one}, greedy]"
    spec = SPEC.replace("[mine, yours, greedy, random]", agents).replace("rounds: 3", "rounds: 1").replace(", yours.py", "")
    (tmp_path / "cup.yaml").write_text(spec)
    assert invoke("run", "cup.yaml", "--quiet", "--workers", "1").returncode == 0
    write(tmp_path, "mine", -1)
    refused = invoke("run", "cup.yaml", "--fresh-for", "first one")
    assert "agent mine of mine.py changed since the matches in it were played, and second one uses this code" in refused.stderr
    assert "add --fresh-for 'second one', or use --fresh or" in refused.stderr
    again = invoke("run", "cup.yaml", "--fresh-for", "first one", "--fresh-for", "second one", "--workers", "1")
    assert "note: 6 matches of first one and second one no longer count" in again.stderr  # all pairs of three, two orders


def test_a_similar_name_is_suggested(invoke: Arena, played: Path) -> None:
    wrong = invoke("run", "cup.yaml", "--fresh-for", "mini")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "unknown entry 'mini'; did you mean 'mine'?" in wrong.stderr
    assert invoke("run", "cup.yaml", "--fresh-for", "mine", "--fresh").returncode == 2
    assert invoke("run", "cup.yaml", "--fresh-for", "mine", "--no-store").returncode == 2
    assert played.is_file()


def test_another_version_is_played_again_if_its_label_is_named(tmp_path: Path) -> None:
    """Its code does not change with the plugin. So the name of the agent alone leaves its matches as they are."""
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2})
    run(spec, store=tmp_path / "cup.db")
    [board] = spec.boards
    code = Mock(source="old.py", mark="0123", heuristics=frozenset())
    pinned = replace(board.seats[0], label="random", agent="wild", program=Program("wild", {}, None, (), ".", version=code))
    spec = replace(spec, boards=(replace(board, seats=(pinned, board.seats[1])),))
    with Store.open(tmp_path / "cup.db", write=True) as store:
        with pytest.raises(UnknownName):
            clear_for(store, spec, store.last(), ["wild"], accept=True)
        assert len(store) == 4
        told = clear_for(store, spec, store.last(), ["random"], accept=True)
        assert len(store) == 0
    assert (told or "").startswith("4 matches of random no longer count")


def test_other_versions_of_an_agent_keep_their_matches(tmp_path: Path, arena: Arena) -> None:
    for name in ("mine", "yours"):
        write(tmp_path, name, 0)
    (tmp_path / "old.py").write_text((tmp_path / "mine.py").read_text())
    agents = "[mine, {agent: mine, version: old.py, label: before}, greedy]"
    spec = SPEC.replace("[mine, yours, greedy, random]", agents).replace("rounds: 3", "rounds: 1")
    (tmp_path / "cup.yaml").write_text(spec)
    assert arena("run", "cup.yaml", "--quiet", "--workers", "1").returncode == 0
    write(tmp_path, "mine", -1)
    again = arena("run", "cup.yaml", "--fresh-for", "mine", "--workers", "1")
    # of 6 matches: two rivals, two orders
    assert f"note: {2 * 2} matches of mine no longer count" in again.stderr, again.stderr
