"""A store knows with which code its matches were played; also one whose hashes are of the old kind."""

import gzip
import json
import re
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from arena import run
from arena.errors import StoreError
from arena.formats import RoundRobin
from arena.isolation.agent_start import proven
from arena.schedule.fingerprint import fingerprints
from arena.spec import load_spec
from arena.store import Store
from arena.store.run import run_of
from arena.tournament.queue import MatchQueue
from tests.conftest import Arena

OLD = Path(__file__).with_name("old_hashes.db.gz")
"""A store of SPEC, with MINE, that was made before hashes were over syntax; but for the folder of the spec, which was another."""
MINE = '''"""One end of the list."""

from arena import Agent, hookimpl


class Mine(Agent):
    """Plays one end of the list."""

    name = "mine"

    def choose(self, game, state, search):
        return game.actions(state)[0]


@hookimpl
def arena_agents():
    return [Mine]
'''
SPEC = "game: tic-tac-toe\nrounds: 2\nseed: 3\nagents: [mine, random, greedy]\nplugins: [mine.py]\n"
LINE = "note: s.db has hashes of plugins from an older version of arena; "
ALL_THERE = "note: all 12 matches were in s.db; nothing was left to play\n"
SEVERAL = "more than one version"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The plugin, its spec, and the store of both that older code has made."""
    (tmp_path / "s.yaml").write_text(SPEC)
    (tmp_path / "s.db").write_bytes(gzip.decompress(OLD.read_bytes()))
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "mine.py"


def aged(store: Path) -> None:
    """Give the last run of a store hashes of the old kind."""
    with sqlite3.connect(store) as connection:
        (text,) = connection.execute("SELECT plugins FROM run ORDER BY number DESC").fetchone()
        old = {name: [version, "0" * 32] for name, (version, _) in json.loads(text).items()}
        connection.execute(
            "UPDATE run SET plugins = ?, digest = NULL WHERE number = (SELECT max(number) FROM run)", (json.dumps(old),)
        )
    connection.close()


def test_a_store_with_old_hashes_goes_on_with_one_line(mine: Path, arena: Arena) -> None:
    """Its 12 matches are played again and come out the same; the next run knows it and says nothing."""
    first = arena("run", "s.yaml", "--store", "s.db")
    assert (first.returncode, first.stderr) == (0, f"{LINE}12 of its matches came out the same again\n{ALL_THERE}")
    assert SEVERAL not in first.stdout
    second = arena("run", "s.yaml", "--store", "s.db")
    assert (second.returncode, second.stderr) == (0, ALL_THERE)
    assert SEVERAL not in second.stdout
    mine.write_text(MINE.replace("[0]", "[-1]"))
    assert "s.db: mine.py changed since" in arena("run", "s.yaml", "--store", "s.db").stderr


def test_a_store_with_old_hashes_goes_on_in_silence_where_that_is_asked_for(mine: Path, arena: Arena, tmp_path: Path) -> None:
    """By `--quiet`, and from Python."""
    assert arena("run", "s.yaml", "--store", "s.db", "--quiet").stderr == ""
    (tmp_path / "s.db").write_bytes(gzip.decompress(OLD.read_bytes()))
    assert len(run(tmp_path / "s.yaml", store=tmp_path / "s.db").records) == 12


@pytest.mark.parametrize("better", ["game.actions(state)[-1]", "__import__('os')._exit(3)", "game.actions(state)[1 // 0]"])
def test_a_plugin_that_plays_otherwise_is_refused(mine: Path, arena: Arena, better: str) -> None:
    """It is named, and no other; so it is where it takes its process down. Once accepted, the board tells of two versions."""
    mine.write_text(MINE.replace("game.actions(state)[0]", better))
    refused = arena("run", "s.yaml", "--store", "s.db")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "s.db: mine.py changed since the matches in it were played; use --fresh" in refused.stderr
    accepted = arena("run", "s.yaml", "--store", "s.db", "--accept-changed-plugins")
    assert (accepted.returncode, accepted.stderr) == (0, ALL_THERE)
    assert "The store has matches of more than one version of mine.py." in accepted.stdout
    again = arena("run", "s.yaml", "--store", "s.db")
    assert (again.returncode, again.stderr) == (0, ALL_THERE)
    assert SEVERAL in again.stdout


def test_words_about_a_plugin_are_no_change(mine: Path, arena: Arena) -> None:
    """With hashes of either kind; code is one that is there again."""
    mine.write_text(MINE.replace("One end", "The first").replace("    def", "    # the end\n\n    def"))
    assert arena("run", "s.yaml", "--store", "s.db").returncode == 0
    for text in (MINE, MINE.replace('"""Plays one end of the list."""', '"""Plays."""\n\n    a = 1')):
        mine.write_text(text)
        done = arena("run", "s.yaml", "--store", "s.db")
        assert (done.returncode, "mine.py changed" in done.stderr) == ((0, False) if text == MINE else (2, True))


def test_an_agent_may_be_added_from_a_plugin_that_is_known(mine: Path, arena: Arena, tmp_path: Path) -> None:
    """What is refused is other code, and not other classes of the same package."""
    arena("run", "s.yaml", "--store", "s.db", "--quiet")
    (tmp_path / "s.yaml").write_text(SPEC.replace("greedy]", "greedy, minimax]"))
    done = arena("run", "s.yaml", "--store", "s.db")
    assert (done.returncode, done.stderr) == (0, "note: 12 matches were in s.db, 12 have been added\n")
    assert SEVERAL not in done.stdout


def test_matches_that_need_not_come_out_the_same_prove_nothing(mine: Path, arena: Arena, tmp_path: Path) -> None:
    """The run goes on all the same, and says so."""
    (tmp_path / "s.yaml").write_text(f"{SPEC}limits: {{seconds: 9}}\nisolation: none\n")
    arena("run", "s.yaml", "--store", "t.db")
    aged(tmp_path / "t.db")
    done = arena("run", "s.yaml", "--store", "t.db")
    assert done.returncode == 0
    assert done.stderr.splitlines()[0] == f"{LINE.replace('s.db', 't.db')}none of its matches could be played again"


def test_old_and_new_hashes_are_not_versions(mine: Path, arena: Arena, tmp_path: Path) -> None:
    """Not for `merge`, not on a board, not for `replay`; but two old ones are, and two new ones."""
    assert arena("run", "s.yaml", "--store", "new.db").returncode == 0
    assert arena("merge", "both.db", "s.db", "new.db").stdout == "both.db: 12 matches\n"
    assert SEVERAL not in arena("leaderboard", "both.db").stdout
    first = json.loads(arena("export", "new.db").stdout.splitlines()[0])["id"]
    mine.write_text(MINE + "ONE = 1\n")
    assert "mine.py: not the same now" in arena("replay", "new.db", first, "--plugin", mine).stdout
    aged(tmp_path / "new.db")
    assert "not the same now" not in arena("replay", "new.db", first, "--plugin", mine).stdout
    assert "mine.py was another one for new.db than for s.db" in arena("merge", "not.db", "s.db", "new.db").stderr


def test_a_package_is_held_to_what_is_imported(arena: Arena, tmp_path: Path) -> None:
    """An edit of another agent's file does not matter, one of a module that is imported does."""
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "__init__.py").write_text("from kit.mine import arena_agents\nfrom kit.unused import NOTHING\n")
    (kit / "mine.py").write_text(MINE.replace("hookimpl\n\n", "hookimpl\n\nfrom .ends import END\n").replace("[0]", "[END]"))
    (kit / "ends.py").write_text("END = 0\n")
    (kit / "unused.py").write_text("NOTHING = 0\n")
    (tmp_path / "s.yaml").write_text(SPEC.replace("mine.py", "kit"))

    def again() -> str:
        return arena("run", "s.yaml", "--store", "k.db", PYTHONPATH=str(tmp_path)).stderr

    assert again() == ""
    (kit / "unused.py").write_text("NOTHING = 1\n")
    assert again() == ALL_THERE.replace("s.db", "k.db")
    (kit / "ends.py").write_text("END = -1\n")
    assert "kit changed since the matches in it were played" in again()


def test_the_interface_for_python_refuses_too(mine: Path, tmp_path: Path) -> None:
    """With the same words."""
    mine.write_text(MINE.replace("[0]", "[-1]"))
    with pytest.raises(StoreError, match=r"s\.db: mine\.py changed since the matches in it were played"):
        run(tmp_path / "s.yaml", store=tmp_path / "s.db")


# --- A run is prepared once -----------------------------------------------------------------------------------------------


@pytest.fixture
def calls() -> Callable[..., int]:
    """Count how often functions are called while another one is."""

    def calls(counted: Callable[..., object], played: Callable[[], object]) -> int:
        code, found = counted.__code__, 0

        def note(frame: object, event: str, _: object) -> None:
            nonlocal found
            found += event == "call" and frame.f_code is code  # type: ignore[attr-defined]

        sys.setprofile(note)
        try:
            played()
        finally:
            sys.setprofile(None)
        return found

    return calls


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("keeps", [True, False])
def test_code_is_hashed_once_in_a_run(calls: Callable[..., int], mine: Path, tmp_path: Path, workers: int, keeps: bool) -> None:
    """Not at all where nobody asks; agents' processes and workers compare on their own."""
    store = tmp_path / "new.db" if keeps else None
    assert calls(fingerprints, lambda: run(tmp_path / "s.yaml", workers=workers, store=store)) == (
        1 if keeps or workers > 1 else 0
    )


def test_sizes_are_computed_once(calls: Callable[..., int], mine: Path, tmp_path: Path) -> None:
    """However often they are asked for."""
    spec = load_spec(tmp_path / "s.yaml")
    assert calls(RoundRobin.size, lambda: [spec.size, spec.size, run_of(spec), spec.boards[0].size]) <= 1


def test_a_queue_of_matches_proves_no_sandbox(calls: Callable[..., int], tmp_path: Path) -> None:
    """It knows the ids of matches without what plays them."""
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "isolation": "sandbox"})
    with Store.open(tmp_path / "s.db", write=True) as store:
        store.begin(run_of(spec))
        proven.cache_clear()
        assert calls(proven.__wrapped__, lambda: MatchQueue(spec, store).take(1)) == 0


def test_what_comes_with_arena_may_change_as_long_as_it_plays_the_same(mine: Path, arena: Arena, tmp_path: Path) -> None:
    """Another hash of a built-in agent is another arena: the run goes on if its matches come out the same, else it is refused."""
    arena("run", "s.yaml", "--store", "s.db")

    def altered(**returns: str) -> None:
        with sqlite3.connect(tmp_path / "s.db") as connection:
            (text,) = connection.execute("SELECT plugins FROM run ORDER BY number DESC").fetchone()
            plugins = re.sub("(agent greedy=)[0-9a-f]{4}", r"\g<1>0000", text)
            assert plugins != text
            connection.execute("UPDATE run SET plugins = ?, digest = NULL", (plugins,))
            for column, value in returns.items():
                connection.execute(f"UPDATE detail SET {column} = ?", (value,))
                connection.execute("UPDATE record SET digest = NULL")
        connection.close()

    altered()
    done = arena("run", "s.yaml", "--store", "s.db")
    assert (done.returncode, "of its matches came out the same again" in done.stderr) == (0, True)
    altered(actions="\n1\n2")
    refused = arena("run", "s.yaml", "--store", "s.db")
    assert (refused.returncode, re.search(r"gamearena:.* changed since", refused.stderr) is not None) == (2, True), refused.stderr
