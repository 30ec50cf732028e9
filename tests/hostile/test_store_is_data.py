"""Every command reads a foreign store without running code that the store names."""

import http.client
import json
import re
import shlex
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena as api
from arena.errors import StoreError
from arena.store import Store
from tests.conftest import Arena, arena_in
from tests.eventually import DEADLINE_SECONDS

pytestmark = pytest.mark.promise(hole="store", isolation="any")

EXAMPLE = Path(__file__).parents[2] / "docs/examples/python_agent.py"
PLUGIN = """
import pathlib
pathlib.Path({marker!r}).touch()
from arena import Agent, Game, hookimpl
class Pebbles(Game):
    "Take one or two pebbles; who takes the last one wins."
    name = "pebbles"
    def initial(self, rng): return (5, 0)
    def to_move(self, state): return state[1]
    def actions(self, state): return [n for n in (1, 2) if n <= state[0]]
    def result(self, state, action): return (state[0] - action, 1 - state[1])
    def returns(self, state): return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)
    def format_state(self, state): return f"{{state[0]}} {{state[1]}}"
    def parse_state(self, text): return tuple(map(int, text.split()))
class First(Agent):
    "Plays the first action."
    name = "first"
    def choose(self, game, state, search): return game.actions(state)[0]
@hookimpl
def arena_games(): return [Pebbles]
@hookimpl
def arena_agents(): return [First]
"""
PROGRAM = "import pathlib, runpy\npathlib.Path({marker!r}).touch()\nrunpy.run_path({example!r}, run_name='__main__')\n"
SPEC = """
games: [pebbles, tic-tac-toe]
rounds: 1
agents: [first, random, {agent: {command: [PYTHON, program.py]}, label: program}]
plugins: [mine.py]
"""


class Place:
    """A folder with a spec that has been played into `cup.db`, and whether anything that it names has run since."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.marker = folder, folder / "marker"
        (folder / "mine.py").write_text(PLUGIN.format(marker=str(self.marker)))
        (folder / "program.py").write_text(PROGRAM.format(marker=str(self.marker), example=str(EXAMPLE)))
        (folder / "cup.yaml").write_text(SPEC.replace("PYTHON", json.dumps(sys.executable)))
        self.arena: Arena = arena_in(folder)
        played = self.arena("run", "cup.yaml", "--store", "cup.db", "--workers", "1")
        assert played.returncode == 0, played.stderr
        assert self.ran()  # the marker tells
        with Store.open(folder / "cup.db") as store:
            self.ids = {record.game: record.id for record, _ in store.records() if "program" not in record.labels}

    def ran(self) -> bool:
        """Tell whether code of the store has run, and forget it."""
        there = self.marker.exists()
        self.marker.unlink(missing_ok=True)
        return there


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("cup"))


@pytest.mark.parametrize(
    "words",
    [
        ["leaderboard", "cup.db"],
        ["compare", "cup.db"],
        ["export", "cup.db"],
        ["matches", "cup.db"],
        ["check", "cup.db", "--replay", "1"],
        ["report", "cup.db", "-o", "cup.html"],
    ],
    ids=lambda words: words[0],
)
def test_code_named_only_by_a_store_is_not_run(place: Place, words: list[str]) -> None:
    done = place.arena(*words)
    assert (done.returncode, place.ran()) == (0, False), done.stderr
    if words[0] == "report":
        assert re.search(r"^note: pebbles: unknown, .* --plugin .*mine\.py'? ", done.stderr, re.MULTILINE)


def test_a_replay_without_the_rules_shows_the_moves_of_the_record(place: Place) -> None:
    """The moves are shown as text."""
    known = place.arena("replay", "cup.db", place.ids["tic-tac-toe"])
    unknown = place.arena("replay", "cup.db", place.ids["pebbles"])
    assert (known.returncode, unknown.returncode, place.ran()) == (0, 0, False)
    assert "the record follows the rules; the agents did not replay the match" in known.stdout
    assert "pebbles is unknown" in unknown.stdout
    assert re.search(r"^1\. \w+: [12]$", unknown.stdout, re.MULTILINE)


def test_a_missing_plugin_is_reported_with_a_command_that_works(place: Place) -> None:
    told = place.arena("replay", "cup.db", place.ids["pebbles"]).stdout.splitlines()[-1]
    assert "mine.py" in told
    assert "program.py" in told
    words = shlex.split(told.partition("to load it: arena ")[2])
    done = place.arena(*words)
    assert (done.returncode, place.ran()) == (0, True), done.stderr
    assert "the agents made the same decisions again" in done.stdout
    shown = place.arena("replay", "cup.db", place.ids["pebbles"], "--plugin", "mine.py")
    assert (shown.returncode, place.ran()) == (0, True)
    assert "the record follows the rules; the agents did not replay the match" in shown.stdout  # the program is not named


def test_a_check_names_the_command_that_knows_the_games(place: Place) -> None:
    told = place.arena("check", "cup.db", "--replay", "1").stdout.splitlines()[-1]
    words = shlex.split(told.partition("`arena ")[2].partition("`")[0])
    assert words[:4] == ["check", "cup.db", "--replay", "1"]
    assert not place.ran()
    done = place.arena(*words)
    assert (done.returncode, place.ran()) == (0, True), done.stderr
    assert done.stdout.endswith("0 faults; 100 % of the matches with known games were replayed\n")


def test_a_server_does_not_run_code_named_by_a_store(place: Place) -> None:
    command = [sys.executable, "-m", "arena", "serve", "cup.db", "--port", "0"]
    with subprocess.Popen(command, cwd=place.folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
            view = asked(port, f"/api/t/cup/match/{place.ids['pebbles']}")
            assert "pebbles is unknown" in view["view"]["differences"][0]
            assert "1" in view["view"]["frames"][0]["rendered"].split("\n\n")[1].split()
            assert len(asked(port, f"/api/t/cup/match/{place.ids['tic-tac-toe']}")["view"]["frames"]) > 5
            assert "only the store names this code" in asked(port, "/api/t/cup/entry/facts?name=first")["error"]
        finally:
            server.send_signal(signal.SIGINT)
    assert not place.ran()


def asked(port: int, path: str) -> Any:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)) as connection:
        connection.request("GET", path)
        return json.loads(connection.getresponse().read())


@pytest.mark.unit
def test_trusting_one_file_of_a_store_does_not_load_its_other_files(tmp_path: Path) -> None:
    store = tmp_path / "cup.db"
    api.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}, store=store)
    with Store.open(store) as opened:
        run = opened.last()
    run.load()
    for key, value in (
        ("plugins", ["mine.py"]),
        ("positions", "/dev/zero"),
        ("agents", ["random", {"agent": {"command": ["./own"]}}]),
        ("agents", [{"agent": {"sweep": [{"command": ["./own"]}]}}]),
        ("agents", ["random", {"agent": "greedy", "version": "old.py"}]),
    ):
        object.__setattr__(run, "spec", {**run.spec, "values": {**run.spec["values"], key: value}})
        with pytest.raises(StoreError, match="only the store names this code"):
            run.load([str(tmp_path / "elsewhere" / "other.py")])


SOURCE = """
import pathlib
from arena import hookimpl
from arena.api.spec import AgentSource, EntryAgent, SourceReader
class Touch(EntryAgent):
    def find(self):
        pathlib.Path(self.given.values["address"]).touch()
        return super().find()
    def check_options(self, agent):
        return {}
class Reader(SourceReader):
    def read(self, given):
        return Touch(given)
@hookimpl
def arena_agent_sources():
    keys = {"address": "A file to touch.", "mood": "A word."}
    return [AgentSource("touch", Reader, keys, harmless_keys=["mood"])]
"""


def test_code_named_by_a_key_of_a_plugin_is_not_loaded(tmp_path: Path) -> None:
    """The user loads the plugin that adds the key, but the value comes from the store."""
    (tmp_path / "source.py").write_text(SOURCE)
    entry = "{agent: random, label: stranger, address: marker, mood: calm}"
    (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\nrounds: 1\nagents: [random, {entry}]\nplugins: [source.py]\n")
    arena = arena_in(tmp_path)
    played = arena("run", "cup.yaml", "--store", "cup.db", "--workers", "1")
    assert played.returncode == 0, played.stderr
    marker = tmp_path / "marker"
    marker.unlink()
    with Store.open(tmp_path / "cup.db") as store:
        match = next(record.id for record, _ in store.records())
    shown = arena("replay", "cup.db", match, "--plugin", "source.py")
    assert (shown.returncode, marker.exists()) == (0, False), shown.stderr
    assert f"only the store names this code: address marker in {tmp_path}" in shown.stdout
    assert "mood" not in shown.stdout
    again = arena("replay", "cup.db", match, "--spec", "cup.yaml")
    assert (again.returncode, marker.exists()) == (0, True), again.stderr
