"""Test where open_spiel runs: in workers, which may crash, never in the web server, and with clear errors if it is missing."""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from psutil import Process

from arena import Record
from arena.store import Store
from tests.conftest import arena_in
from tests.extensions.web.conftest import served
from tests.players import PLAYERS

pytestmark = pytest.mark.process

FRAGILE = '''
import os

from arena import hookimpl
from arena_bridges.openspiel.game import OpenSpiel


class Fragile(OpenSpiel):
    """Tic-tac-toe of open_spiel. The last cell as the first action aborts the process, like a fault in C++."""

    name = "fragile"

    def result(self, state, action):
        if action == 8 and not state.history:
            os.abort()
        return super().result(state, action)


@hookimpl
def arena_games():
    return [Fragile]
'''
SPEC = {"game": "fragile", "agents": ["first", "last"], "rounds": 2, "plugins": ["fragile.py", str(PLAYERS)]}
SENTENCE = "pyspiel is not installed: pip install 'open-spiel>=1.6'"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fragile")
    (made / "fragile.py").write_text(FRAGILE)
    (made / "fragile.yaml").write_text(json.dumps(SPEC))
    return made


def assert_no_other_match_is_void(records: Sequence[Record]) -> None:
    crashed = {record.labels: record for record in records if record.termination == "void"}
    assert {record.termination for record in records} == {"normal", "void"}
    assert list(crashed) == [("last", "first")]
    assert [record.labels for record in records if record.termination == "normal"] == [("first", "last")] * 2
    record = crashed["last", "first"]
    assert (record.seat, record.returns) == (None, (0.0, 0.0))
    assert "the process that played this match was killed by SIGABRT, twice" in str(record.message)


def test_the_command_reports_a_void_match_and_exits_with_1(folder: Path) -> None:
    """Even a single worker is a process of its own, so the command itself survives."""
    done = arena_in(folder)("run", "fragile.yaml", "--store", "cup.db", "--workers", "1", "--seed", "3")
    assert done.returncode == 1
    assert "void match " in done.stderr
    assert "SIGABRT" in done.stderr
    assert "first" in done.stdout
    with Store.open(folder / "cup.db") as store:
        assert_no_other_match_is_void([record for record, _ in store.records()])


def libraries(process: Process) -> set[str]:
    return {Path(mapped.path).name for mapped in process.memory_maps() if "pyspiel" in mapped.path}


def test_the_web_server_never_loads_open_spiel(folder: Path) -> None:
    """A page plays Kuhn poker of open_spiel. Only a child process of the server loads the library."""
    pytest.importorskip("fastapi")
    pytest.importorskip("uvicorn")
    (folder / "kuhn.yaml").write_text("game: {name: openspiel, game: kuhn_poker}\nagents: [random, openspiel-cfr]\n")
    with served(folder, "kuhn.yaml") as server:
        asked = {"game": {"name": "openspiel", "parameters": {"game": "kuhn_poker"}}, "seed": 1}
        frame = server.ask("/api/position", asked).json["frame"]
        moved = server.ask("/api/move", {**asked, "state": frame["state"], "agent": {"agent": "openspiel-cfr"}}).json["frame"]
        assert moved["action"] in ("Pass", "Bet")
        own = psutil.Process(server.process.pid)
        assert any(libraries(child) for child in own.children(recursive=True))
        assert libraries(own) == set()


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Return the command line in an environment without open_spiel."""
    place = tmp_path_factory.mktemp("without")
    (place / "pyspiel.py").write_text('raise ModuleNotFoundError("No module named \'pyspiel\'", name="pyspiel")\n')
    spec = Path(__file__).parents[3] / "tournaments" / "openspiel.yaml"
    (place / "openspiel.yaml").write_text(spec.read_text("utf-8"))
    path = os.pathsep.join([str(place), *filter(None, [os.environ.get("PYTHONPATH")])])

    return partial(arena_in(place), PYTHONPATH=path)


def test_a_spec_without_open_spiel_says_how_to_install_it(without: Callable[..., Any]) -> None:
    done = without("validate", "openspiel.yaml")
    assert done.returncode == 2
    assert SENTENCE in done.stderr
    assert f"games[0]: {SENTENCE}" in done.stderr
    assert "openspiel.yaml:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["list", "games"], ["list", "agents"], ["matrix"], ["plugins"]])
def test_lists_are_complete_without_open_spiel(without: Callable[..., Any], words: list[str]) -> None:
    done = without(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert "openspiel" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["play", "openspiel", "random", "random"],
        ["export", "openspiel", "--format", "efg"],
        ["check", "openspiel"],
        ["check", "openspiel-mcts"],
        ["show", "openspiel"],
    ],
)
def test_commands_without_open_spiel_say_how_to_install_it(without: Callable[..., Any], words: list[str]) -> None:
    """The message is one sentence, without a traceback or the name of a class."""
    done = without(*words)
    output = done.stderr + done.stdout
    assert SENTENCE in output
    assert "Traceback" not in output
    assert "MissingExtra" not in output
