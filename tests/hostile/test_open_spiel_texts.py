"""Texts of games with which open_spiel crashes or computes for hours, in a spec and in a store."""

import json
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

import arena as api
from arena_bridges.openspiel import trial
from arena_bridges.openspiel.library import load_game
from tests.conftest import Arena
from tests.rehash import rehash

pytestmark = [
    pytest.mark.promise(hole="crash", isolation="any"),
    pytest.mark.skipif(find_spec("pyspiel") is None, reason="open_spiel is missing: pip install '.[openspiel]'"),
]
CRASHES = [
    "universal_poker(numPlayers=200)",
    "universal_poker(firstPlayer=99 99)",
    "zerosum(game=universal_poker(stack=1 1,blind=9 9))",
]
"""Each of these ends a process that loads it."""
NEVER_LOADED = ["blotto(coins=1000,fields=50)", "turn_based_simultaneous_game(game=goofspiel(num_cards=1000000))"]
HUGE = "mnk(m=100000,n=100000)"
"""A board with 10^10 cells."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each text less time and memory than usual."""
    monkeypatch.setattr(trial, "MAX_CPU_SECONDS", 1)
    monkeypatch.setattr(trial, "MAX_MEMORY_BYTES", 256 << 20)


@pytest.mark.parametrize("text", CRASHES)
def test_a_text_that_crashes_open_spiel_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="cannot be played: open_spiel crashed") as caught:
        load_game(text)
    assert text in str(caught.value)


@pytest.mark.parametrize("text", NEVER_LOADED)
def test_a_text_that_open_spiel_never_finishes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"open_spiel (did not answer within 1 s of CPU time|needs more than 256 MiB)") as caught:
        load_game(text)
    assert text in str(caught.value)


def test_a_game_with_a_huge_board_is_refused() -> None:
    with pytest.raises(ValueError, match=r"open_spiel (did not answer within|needs more than)"):
        load_game(HUGE)


def test_a_harmless_text_with_parameters_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that open_spiel raises keeps its words."""
    monkeypatch.setattr(trial, "MAX_MEMORY_BYTES", 2 << 30)
    assert load_game("hex(board_size=4)").num_distinct_actions() == 16
    with pytest.raises(ValueError, match="open_spiel cannot load 'kuhn_poker"):
        load_game("kuhn_poker(players=99)")


def test_a_game_in_a_file_is_tried_like_a_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its content goes to the process that tries it."""
    tried: list[tuple[str, str]] = []
    monkeypatch.setattr("arena_bridges.openspiel.library.find_crash", lambda text, kind, _: tried.append((text, kind)))
    (tmp_path / "g.nfg").write_text(NORMAL_FORM)
    game = {"name": "openspiel", "game": "nfg_game", "file": str(tmp_path / "g.nfg")}
    api.run({"game": game, "agents": ["random", {"agent": "random", "label": "b"}], "rounds": 1})
    assert tried == [(NORMAL_FORM, "nfg_game")]


NORMAL_FORM = 'NFG 1 R "" { "A" "B" } { 2 2 }\n\n1 1 0 2 2 0 1 1\n'


def test_no_command_crashes_on_such_a_text(arena: Arena, tmp_path: Path) -> None:
    """The commands read a spec, or a store from a stranger. `leaderboard` does not load the game."""
    good, bad = "kuhn_poker", CRASHES[0]
    agents = ["random", {"agent": "random", "label": "b"}]
    spec = {"game": {"name": "openspiel", "game": good}, "agents": agents, "rounds": 1}
    api.run(spec, store=tmp_path / "cup.db")
    (tmp_path / "cup.yaml").write_text(json.dumps(spec).replace(good, bad))
    with closing(sqlite3.connect(tmp_path / "cup.db")) as connection, connection:
        (key,) = connection.execute("SELECT lower(hex(id)) FROM record").fetchone()
        for table, columns in {"run": ("spec", "boards"), "detail": ("game",)}.items():
            for column in columns:
                connection.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (good, bad))
    rehash(tmp_path / "cup.db")
    for words in (["validate", "cup.yaml"], ["run", "cup.yaml"]):
        done = arena(*words)
        assert done.returncode == 2
        assert f"{bad!r} cannot be played: open_spiel crashed; choose other parameters" in done.stderr
    for words in (["check", "cup.db", "--replay"], ["replay", "cup.db", key], ["leaderboard", "cup.db"], ["matches", "cup.db"]):
        done = arena(*words)
        assert done.returncode in (0, 1, 2), words
        assert "Traceback" not in done.stderr, words
