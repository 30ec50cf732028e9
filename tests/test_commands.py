"""Every command once, as its user calls it: the installed program, in a process of its own.

`.ci/run` plays these tests with the installed wheel. Expected values come from counts and theorems.
"""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.eventually import DEADLINE_SECONDS

PROGRAM = Path(sys.executable).with_name("arena")
SPEC = "game: tic-tac-toe\nagents: [random, minimax]\nrounds: 4\n"
PUZZLE = "game: {name: sliding-tiles, shuffle: 10}\nagents: [a-star, bfs]\nrounds: 3\n"
AGENT = """
from arena import Agent, hookimpl

class First(Agent):
    name = "first"
    def choose(self, game, state, search):
        return game.actions(state)[{place}]

@hookimpl
def arena_agents():
    return [First]
"""
COMMANDS = {
    "bundle", "check", "compare", "dataset", "docs", "duel", "exploit", "export", "heuristic", "leaderboard", "list",
    "matches", "matrix", "merge", "new", "plan", "play", "plugins", "replay", "report", "review", "run", "schema", "serve",
    "show", "solve", "stats", "try", "tune", "validate", "verify",
}  # fmt: skip
"""All commands of fairarena. Each is the word after `call(` or `start(` in a test below."""
OF_LADDER = {"ladder", "submit"}
"""The commands of fairarena-ladder, which `tests/ladder/test_ladder_commands.py` calls."""

Call = Callable[..., str]
pytestmark = pytest.mark.process


def call_in(folder: Path, *words: object, code: int = 0, typed: str = "") -> str:
    """Run a command, check its exit code, and return its standard output."""
    done = subprocess.run(
        [PROGRAM, *map(str, words)], cwd=folder, input=typed, capture_output=True, text=True, check=False, timeout=250
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Return a function that runs a command in the folder of the test."""
    return lambda *words, **options: call_in(tmp_path, *words, **options)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play two tournaments, and return the folder with their stores."""
    folder = tmp_path_factory.mktemp("played")
    for name, spec in (("cup", SPEC), ("tiles", PUZZLE)):
        (folder / f"{name}.yaml").write_text(spec)
        call_in(folder, "run", f"{name}.yaml", "--store", f"{name}.db")
    return folder


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Return a function that starts a server and returns its address. At the end, SIGTERM must end the server with 0."""
    started = []

    def start(*words: object) -> str:
        server = subprocess.Popen([PROGRAM, *map(str, words)], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        started.append(server)
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
        assert found is not None
        return found[0]

    yield start
    for server in started:
        with server:
            server.send_signal(signal.SIGTERM)
            assert server.wait(DEADLINE_SECONDS) == 0


def read(address: str) -> str:
    with urllib.request.urlopen(address, timeout=DEADLINE_SECONDS) as answer:
        return str(answer.read().decode())


def test_every_command_has_a_test() -> None:
    shown = call_in(Path.cwd(), "--help").partition("Commands:")[2]
    assert {line.split()[0] for line in shown.splitlines() if line.strip()} - OF_LADDER == COMMANDS
    called = re.findall(r'(?:call|start|call_in)\((?:\w+, )?"(\w+)"', Path(__file__).read_text("utf-8"))
    assert {*called} >= COMMANDS


def test_run_plays_and_leaderboard_shows_the_matches(played: Path, call: Call) -> None:
    """Minimax never loses at tic-tac-toe. Four rounds in two seat orders are eight matches, and a second run plays none."""
    rows = {
        row["agent"]: row for row in json.loads(call("leaderboard", played / "cup.db", "--format", "json"))["boards"][0]["rows"]
    }
    assert rows["minimax"]["losses"] == rows["random"]["wins"] == 0
    assert rows["minimax"]["games"] == 8
    before = call("export", played / "cup.db")
    call("run", played / "cup.yaml", "--store", played / "cup.db")
    assert call("export", played / "cup.db") == before  # with the times of the first run


def test_matches_export_and_replay_show_the_records(played: Path, call: Call) -> None:
    records = [json.loads(line) for line in call("export", played / "cup.db").splitlines()]
    assert len(records) == len(json.loads(call("matches", played / "cup.db", "--format", "json"))) == 8
    assert records[0]["actions"][-1] in call("replay", played / "cup.db", records[0]["id"])


def test_merge_and_check_accept_a_store(played: Path, call: Call) -> None:
    """A store that is merged with itself has the same matches."""
    call("merge", "both.db", played / "cup.db", played / "cup.db")
    assert len(call("export", "both.db").splitlines()) == 8
    call("check", "both.db")


def test_compare_report_and_dataset_write_results(played: Path, call: Call, tmp_path: Path) -> None:
    assert "minimax" in call("compare", played / "cup.db")
    call("report", played / "cup.db", "-o", "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").startswith("<!doctype html>")
    call("dataset", played / "cup.db", "-o", "data")
    assert (tmp_path / "data" / "README.md").exists()


def test_review_finds_no_mistake_of_minimax(played: Path, call: Call) -> None:
    """Minimax only plays moves that an exact judge calls best."""
    found = json.loads(call("review", played / "cup.db", "--format", "json", "--agent", "minimax"))
    [agent] = found["boards"][0]["agents"]
    assert (agent["best"], agent["loss"], agent["judges"]) == (1.0, 0.0, {"exact": agent["decisions"]})


@pytest.mark.usefixtures("bubblewrap")
def test_a_bundle_can_be_verified(played: Path, call: Call) -> None:
    call("bundle", played / "cup.db", "-o", "cup.arena")
    assert json.loads(call("verify", "cup.arena", "--format", "json"))["equal"] == 8


def test_lists_and_descriptions_are_printed(call: Call) -> None:
    assert "connect-four" in call("list", "games")
    assert "minimax" in call("matrix")
    assert "builtin-agents" in call("plugins")
    assert "depth" in call("show", "alpha-beta")
    assert "agents" in json.loads(call("schema"))["properties"]
    assert "first agent" in call("docs").lower()


def test_a_new_agent_is_checked_tried_and_raced(call: Call, tmp_path: Path) -> None:
    call("new", "agent", "mine.py")
    call("check", "mine.py")
    assert "connect-four" in call("try", "mine.py", "--game", "connect-four")
    (tmp_path / "first.py").write_text(AGENT.format(place=0))
    call("duel", "first.py", "--game", "tic-tac-toe")
    (tmp_path / "first.py").write_text(AGENT.format(place=-1))
    call("duel", "first.py", "--game", "tic-tac-toe", "--games", "4")


def test_tune_runs_a_search(call: Call) -> None:
    words = ["alpha-beta", "--game", "tic-tac-toe", "--set", "depth=1..2", "--matches", "40"]
    call("tune", *words)


def test_play_and_solve_finish_a_game_and_a_puzzle(call: Call) -> None:
    """The goal of the 8-puzzle with the last tile moved is solved by one move."""
    assert call("play", "tic-tac-toe", "minimax", "minimax")
    assert (
        json.loads(call("solve", "sliding-tiles", "a-star", "--position", "1 2 3 / 4 5 6 / 7 . 8", "--format", "json"))["cost"]
        == 1
    )


def test_plan_forecasts_the_number_of_rounds(call: Call, tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text(SPEC.replace("minimax", "{agent: random, label: twin}"))
    assert "a difference of 100 Elo needs about " in call("plan", "cup.yaml", "--elo", "100", "--pilot", "0.1")


def test_exploit_heuristic_and_stats_print_known_values(call: Call) -> None:
    """Random play at Kuhn poker has the NashConv 11/12 (open_spiel), half of which is 11/24. A level score is 0 Elo."""
    exact = json.loads(call("exploit", "kuhn-poker", "random", "--format", "json"))
    assert exact["exploitability"] == pytest.approx(11 / 24)
    assert "manhattan" in call("heuristic", "manhattan", "--on", "sliding-tiles", "--states", "100")
    assert json.loads(call("stats", "10", "0", "10", "--format", "json"))["elo"] == pytest.approx(0)


def test_validate_accepts_a_valid_spec_and_refuses_an_invalid_one(call: Call, tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text(SPEC)
    call("validate", "cup.yaml")
    (tmp_path / "bad.yaml").write_text(SPEC.replace("minimax", "minimaxx"))
    call("validate", "bad.yaml", code=2)


def test_serve_answers_requests(played: Path, start: Callable[..., str]) -> None:
    pytest.importorskip("fastapi")
    address = start("serve", played / "cup.db", "--port", "0")
    assert "minimax" in read(f"{address}/api/t/cup")
