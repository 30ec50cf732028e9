"""Changes of code that has played are refused."""

import json
import re
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from arena import run
from arena.errors import StoreError
from arena.formats import RoundRobin
from arena.results.leaderboard import Leaderboard
from arena.schedule.fingerprint import Fingerprint
from arena.spec import load_spec
from arena.store import Store
from arena.store.run import Run
from arena.tournament.code_check import clear_for
from arena.tournament.queue import MatchQueue
from arena_isolation.agent_start import prove_once
from arena_web.live import Watcher
from tests.conftest import Arena
from tests.rehash import rehash

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
ALL_THERE = "note: all 12 matches were in s.db; there were no matches left to play\n"
SEVERAL = "more than one version"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """The plugin, its spec, and the store of both."""
    (tmp_path / "s.yaml").write_text(SPEC)
    (tmp_path / "mine.py").write_text(MINE)
    run(tmp_path / "s.yaml", store=tmp_path / "s.db")
    return tmp_path / "mine.py"


@pytest.mark.parametrize("better", ["game.actions(state)[-1]", "__import__('os')._exit(3)"])
def test_a_plugin_that_plays_differently_is_refused(mine: Path, invoke: Arena, better: str) -> None:
    mine.write_text(MINE.replace("game.actions(state)[0]", better))
    refused = invoke("run", "s.yaml", "--store", "s.db")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "s.db: mine.py changed since the matches in it were played; use --fresh" in refused.stderr
    accepted = invoke("run", "s.yaml", "--store", "s.db", "--accept-changed-plugins")
    assert (accepted.returncode, accepted.stderr) == (0, ALL_THERE)
    again = invoke("run", "s.yaml", "--store", "s.db")
    assert (again.returncode, again.stderr) == (0, ALL_THERE)
    assert SEVERAL not in accepted.stdout + again.stdout, "all matches are of the first version"


def test_in_python_the_error_names_the_argument(mine: Path) -> None:
    """`run` does not have the options of the command."""
    mine.write_text(MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]"))
    with pytest.raises(
        StoreError, match=r"mine\.py changed since .*; give another path as `store` to play them all again; only the"
    ):
        run(mine.with_name("s.yaml"), store=mine.with_name("s.db"))


def test_damage_is_reported_in_addition_to_a_changed_plugin(mine: Path, arena: Arena) -> None:
    mine.write_text(MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]"))
    with sqlite3.connect(mine.with_name("s.db")) as connection:
        connection.execute("UPDATE detail SET actions = actions || char(10) || '1' WHERE record = 3")
        (key,) = connection.execute("SELECT lower(hex(id)) FROM record WHERE number = 3").fetchone()
    connection.close()
    refused = arena("run", "s.yaml", "--store", "s.db")
    assert refused.returncode == 2
    assert "s.db: mine.py changed since the matches in it were played; use --fresh" in refused.stderr
    assert f". Besides, s.db is damaged: match {key} has changed since it was written" in refused.stderr


@pytest.mark.parametrize("interrupted", [False, True])
def test_versions_without_a_match_are_not_listed(mine: Path, invoke: Arena, tmp_path: Path, interrupted: bool) -> None:
    mine.write_text(MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]"))
    if interrupted:
        spec = load_spec(tmp_path / "s.yaml")
        with Store.open(tmp_path / "s.db", write=True) as store:
            store.begin(replace(Run.of(spec), accepted=True))
    else:
        assert invoke("run", "s.yaml", "--store", "s.db", "--accept-changed-plugins").returncode == 0
    assert SEVERAL not in invoke("leaderboard", "s.db").stdout
    assert invoke("merge", "copy.db", "s.db").returncode == 0
    assert SEVERAL not in invoke("leaderboard", "copy.db").stdout
    (tmp_path / "s.yaml").write_text(SPEC.replace("rounds: 2", "rounds: 3"))
    more = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1")
    assert (more.returncode, more.stderr) == (0, "note: 12 matches were in s.db, 6 have been added\n")
    assert "Matches of this board were played with more than one version of mine.py." in more.stdout


def test_every_output_with_a_board_says_that_versions_of_code_differ(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    """Boards, pages and comparisons have the same sentence, only for the board that was played with two versions."""
    games = SPEC.replace("game: tic-tac-toe", "games: [connect-four, tic-tac-toe]").replace("rounds: 2", "rounds: 3")
    remark = "Matches of this board were played with more than one version of mine.py."

    def count_remarks() -> dict[str, int]:
        """Return how often each output has the sentence."""
        report = invoke("report", "s.db", "-o", "report.html")
        page = invoke("compare", "s.db", "-o", "page.html")
        assert report.returncode == page.returncode == 0, report.stderr + page.stderr
        across = invoke("compare", "s.db", "--across")
        assert f"note: tic-tac-toe: {remark}" in across.stderr or remark not in across.stderr
        boards = Watcher(tmp_path / "s.db")._read()["boards"]
        texts = {
            "leaderboard": invoke("leaderboard", "s.db").stdout,
            "report": (tmp_path / "report.html").read_text(),
            "live": "\n".join([line for board in boards for line in board["remarks"]]),
            "compare": invoke("compare", "s.db").stdout,
            "pair": invoke("compare", "s.db", "mine", "random").stdout,
            "seconds": invoke("compare", "s.db", "--by", "seconds").stdout,
            "json": invoke("compare", "s.db", "--format", "json").stdout,
            "page": (tmp_path / "page.html").read_text(),
            "methods": invoke("compare", "s.db", "--methods").stdout,
            "across": across.stderr,
        }
        return {name: text.count(remark) for name, text in texts.items()}

    assert {*count_remarks().values()} == {0}
    mine.write_text(MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]"))
    (tmp_path / "s.yaml").write_text(games)
    done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1", "--accept-changed-plugins")
    assert done.returncode == 0, done.stderr
    found = count_remarks()
    assert {name: count for name, count in found.items() if count != 1} == {}


def test_a_board_names_only_the_versions_that_played_its_matches(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    mixed = "Matches of this board were played with more than one version of mine.py."

    def play(text: str, *options: str) -> list[bool]:
        """Return for each board whether it mentions the versions."""
        (tmp_path / "s.yaml").write_text(text)
        done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1", *options)
        assert done.returncode == 0, done.stderr
        return [mixed in board.remarks for board in Leaderboard.load(tmp_path / "s.db")]

    games = SPEC.replace("game: tic-tac-toe", "games: [tic-tac-toe, connect-four]")
    mine.write_text(MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]"))
    # The old version has played two rounds of tic-tac-toe, and the new one plays connect four.
    assert play(games, "--accept-changed-plugins") == [False, False]
    assert play(games.replace("rounds: 2", "rounds: 3")) == [True, False]
    assert play(games) == [False, False], "the third round is not counted"
    assert play(games.replace("rounds: 2", "rounds: 3").replace("mine, random", "random")) == [False, False]
    assert play(games.replace("rounds: 2", "rounds: 3"), "--fresh-for", "mine") == [False, False]


HEAPS = '''"""Nim under another name."""

from arena import heuristic, hookimpl
from arena_games.nim import Nim


class Heaps(Nim):
    """Nim with another heuristic."""

    name = "heaps"
    default_heuristic = "flat"


@heuristic("flat", game="heaps")
def flat(game, state, player=0):
    """Return 0."""
    return 0.0


@hookimpl
def arena_games():
    return [Heaps]


@hookimpl
def arena_heuristics():
    return [flat]
'''


def test_a_changed_game_or_heuristic_is_named_only_on_boards_of_the_game(tmp_path: Path, invoke: Arena) -> None:
    for rounds, text in ((2, HEAPS), (3, HEAPS.replace("return 0.0", "return 0.5"))):
        (tmp_path / "heaps.py").write_text(text)
        (tmp_path / "s.yaml").write_text(
            f"games: [nim, heaps]\nrounds: {rounds}\nagents: [greedy, random]\nplugins: [heaps.py]\n"
        )
        done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1", "--accept-changed-plugins")
        assert done.returncode == 0, done.stderr
    nim, heaps = Leaderboard.load(tmp_path / "s.db")
    assert [any(SEVERAL in remark for remark in board.remarks) for board in (nim, heaps)] == [False, True]


def test_only_matches_of_the_spec_are_compared(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    other = MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]")

    def again(rounds: int, text: str, *options: str) -> tuple[int, str]:
        (tmp_path / "s.yaml").write_text(SPEC.replace("rounds: 2", f"rounds: {rounds}"))
        mine.write_text(text)
        done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1", *options)
        return done.returncode, done.stderr

    assert again(3, other, "--accept-changed-plugins") == (0, "note: 12 matches were in s.db, 6 have been added\n")
    assert again(3, other) == (0, ALL_THERE.replace("12", "18")), "accepted matches stay accepted"
    assert again(2, MINE) == (0, ALL_THERE), "all 12 matches were played by this code"
    assert again(2, other) == (0, ALL_THERE), "this code has been accepted for the first 12 matches"
    # the agent plays 4 of the 6 matches of a round
    several = (
        "s.db: the store has matches of several versions of mine.py, and 4 of the 12 that this spec uses were not played by "
        "the current version; use --fresh"
    )
    code, error = again(3, MINE)
    assert (code, several in error) == (2, True), error
    code, error = again(3, MINE, "--fresh-for", "greedy")
    assert code == 2
    assert "several versions of agent mine of mine.py, and 2 of the 6 that this spec uses were not played by the" in error
    assert "current version, and mine uses this code; add --fresh-for mine, or" in error
    assert again(2, MINE, "--fresh-for", "greedy")[0] == 0, "the matches that are kept were played by this code"
    code, error = again(2, other.replace("one end", "an end").replace("[-1]", "[0 * 1]"))
    assert (code, "mine.py changed since the matches in it were played" in error) == (2, True), error


def test_matches_that_replace_deleted_ones_count_for_the_run_that_played_them(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    def again(agents: str, text: str, *options: str) -> tuple[int, str]:
        (tmp_path / "s.yaml").write_text(SPEC.replace("[mine, random, greedy]", agents))
        mine.write_text(text)
        done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1", *options)
        return done.returncode, done.stderr

    other = MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]")
    assert again("[mine, random, greedy, lookahead]", other, "--accept-changed-plugins")[0] == 0
    spec = load_spec(tmp_path / "s.yaml")
    with Store.open(tmp_path / "s.db", write=True) as store:  # as after a crash before the matches are played again
        clear_for(store, spec, Run.of(spec), ["greedy", "lookahead"])
    assert again("[mine, random, greedy, lookahead]", other)[0] == 0
    # against each of three rivals, the agent plays two rounds in two orders
    code, error = again("[mine, random, greedy, lookahead]", MINE)
    assert (code, "8 of the 12 that this spec uses" in error) == (2, True), error
    assert again("[mine, random]", MINE)[0] == 0


def test_the_code_of_a_killed_run_without_matches_is_not_a_version_in_use(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    (tmp_path / "s.db").unlink()
    with Store.open(tmp_path / "live.db", write=True) as store:
        store.begin(Run.of(load_spec(tmp_path / "s.yaml")))
        with sqlite3.connect(tmp_path / "live.db") as connection:  # as a kill leaves it, before the store is closed
            connection.execute("VACUUM INTO ?", [str(tmp_path / "s.db")])
    mine.write_text(MINE.replace("game.actions(state)[0]", "game.actions(state)[-1]"))
    done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert SEVERAL not in done.stdout


def test_changed_comments_in_a_plugin_are_ignored(mine: Path, invoke: Arena) -> None:
    mine.write_text(MINE.replace("One end", "The first").replace("    def", "    # the end\n\n    def"))
    assert invoke("run", "s.yaml", "--store", "s.db").returncode == 0
    for text in (MINE, MINE.replace('"""Plays one end of the list."""', '"""Plays."""\n\n    a = 1')):
        mine.write_text(text)
        done = invoke("run", "s.yaml", "--store", "s.db")
        assert (done.returncode, "mine.py changed" in done.stderr) == ((0, False) if text == MINE else (2, True))


def test_an_agent_may_be_added_from_a_known_plugin(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SPEC.replace("greedy]", "greedy, lookahead]"))
    done = invoke("run", "s.yaml", "--store", "s.db", "--workers", "1")
    assert (done.returncode, done.stderr) == (0, "note: 12 matches were in s.db, 12 have been added\n")
    assert SEVERAL not in done.stdout


def altered(store: Path, **details: str) -> None:
    """Give a built-in agent another hash in a store, and some columns of all matches another value."""
    with sqlite3.connect(store) as connection:
        (text,) = connection.execute("SELECT plugins FROM run ORDER BY number DESC").fetchone()
        plugins = re.sub("(agent greedy=)[0-9a-f]{4}", r"\g<1>0000", text)
        assert plugins != text
        connection.execute("UPDATE run SET plugins = ?", (plugins,))
        for column, value in details.items():
            connection.execute(f"UPDATE detail SET {column} = ?", (value,))
    connection.close()
    rehash(store)


def test_matches_that_are_not_reproducible_do_not_prove_equal_code(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(f"{SPEC}limits: {{seconds: 90}}\nisolation: none\n")
    run(tmp_path / "s.yaml", store=tmp_path / "t.db")
    altered(tmp_path / "t.db")
    done = invoke("run", "s.yaml", "--store", "t.db")
    assert done.returncode == 0
    expected = "note: t.db has matches of another version of arena; none of its matches could be replayed"
    assert done.stderr.splitlines()[0] == expected


def test_versions_of_a_plugin_are_distinguished(mine: Path, invoke: Arena, tmp_path: Path) -> None:
    run(tmp_path / "s.yaml", store=tmp_path / "new.db")
    assert invoke("merge", "both.db", "s.db", "new.db").stdout == "both.db: 12 matches\n"
    assert SEVERAL not in invoke("leaderboard", "both.db").stdout
    first = json.loads(invoke("export", "new.db").stdout.splitlines()[0])["id"]
    mine.write_text(MINE + "ONE = 1\n")
    same = invoke("replay", "new.db", first, "--plugin", mine).stdout
    assert "the agents made the same decisions again" in same
    assert "changed since the match" not in same, "there is no difference to explain"
    altered(tmp_path / "new.db", actions="[]")
    other = invoke("replay", "new.db", first, "--plugin", mine).stdout
    assert "\ndifferent from the record\n" in other
    assert "mine.py: changed since the match" in other
    run(tmp_path / "s.yaml", store=tmp_path / "other.db")
    assert "mine.py differs between other.db and s.db" in invoke("merge", "not.db", "s.db", "other.db").stderr


def test_a_package_consists_of_its_imported_modules(arena: Arena, tmp_path: Path) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "__init__.py").write_text("from kit.mine import arena_agents\nfrom kit.unused import NOTHING\n")
    (kit / "mine.py").write_text(MINE.replace("hookimpl\n\n", "hookimpl\n\nfrom .ends import END\n").replace("[0]", "[END]"))
    (kit / "ends.py").write_text("END = 0\n")
    (kit / "unused.py").write_text("NOTHING = 0\n")
    (tmp_path / "s.yaml").write_text(SPEC.replace("mine.py", "kit"))

    def again() -> str:
        return arena("run", "s.yaml", "--store", "k.db", "--workers", "1", PYTHONPATH=str(tmp_path)).stderr

    assert again() == ""
    (kit / "unused.py").write_text("NOTHING = 1\n")
    assert again() == ALL_THERE.replace("s.db", "k.db")
    (kit / "ends.py").write_text("END = -1\n")
    assert "kit changed since the matches in it were played" in again()


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


@pytest.mark.parametrize(("workers", "keeps"), [(1, True), (1, False), pytest.param(2, False, marks=pytest.mark.process)])
def test_code_is_hashed_once_in_a_run(calls: Callable[..., int], mine: Path, tmp_path: Path, workers: int, keeps: bool) -> None:
    store = tmp_path / "new.db" if keeps else None
    assert calls(Fingerprint.take_all, lambda: run(tmp_path / "s.yaml", workers=workers, store=store)) == 1


def test_the_size_of_a_schedule_is_computed_once(calls: Callable[..., int], mine: Path, tmp_path: Path) -> None:
    spec = load_spec(tmp_path / "s.yaml")
    assert calls(RoundRobin.size, lambda: [spec.size, spec.size, Run.of(spec), spec.boards[0].size]) <= 1


def test_a_queue_of_matches_does_not_test_the_sandbox(calls: Callable[..., int], tmp_path: Path) -> None:
    """The queue computes the ids of matches without starting agents."""
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "isolation": "sandbox"})
    with Store.open(tmp_path / "s.db", write=True) as store:
        store.begin(Run.of(spec))
        prove_once.cache_clear()
        assert calls(prove_once.__wrapped__, lambda: MatchQueue(spec, store).take(1)) == 0


def test_another_version_of_arena_is_accepted_if_it_plays_the_same(mine: Path, arena: Arena, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    altered(store)
    done = arena("run", "s.yaml", "--store", "s.db")
    assert done.returncode == 0
    assert re.match("note: s.db has matches of another version of arena; [0-9]+ of its matches were identical", done.stderr)
    assert arena("run", "s.yaml", "--store", "s.db").stderr == ALL_THERE
    altered(store)
    assert len(run(tmp_path / "s.yaml", store=store).records) == 12
    altered(store, actions="\n1\n2")
    refused = arena("run", "s.yaml", "--store", "s.db")
    assert (refused.returncode, re.search(r"fairarena:.* changed since", refused.stderr) is not None) == (2, True), refused.stderr
