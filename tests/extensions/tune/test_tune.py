"""`arena tune` searches small games, continues after breaks, refuses invalid values, and confirms on held-out positions."""

import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from arena.cli import cli
from arena.errors import ArenaError
from arena.store import Store
from arena.tournament.run import run
from arena_tune.panel import list_trials, show_course
from tests.conftest import arena_in
from tests.eventually import eventually
from tests.extensions.web.conftest import served

BIDS = '''
"""Each seat bids once; the higher bid wins."""
from time import sleep
from typing import Annotated, Literal
from pydantic import Field
from arena import Agent, Game, hookimpl

class Bids(Game):
    name = "bids"
    def initial(self, rng):
        return ()
    def to_move(self, state):
        return len(state) % 2
    def actions(self, state):
        return range(100)
    def result(self, state, action):
        return (*state, action)
    def is_terminal(self, state):
        return len(state) == 4
    def returns(self, state):
        lead = (state[2] > state[3]) - (state[2] < state[3])
        return float(lead), float(-lead)

class Bidder(Agent):
    name = "bidder"
    def __init__(
        self, *, most: Annotated[int, Field(ge=0, le=50)] = 10, bonus: Annotated[float, Field(gt=0, le=40)] = 0.5,
        mood: Literal["shy", "bold"] = "shy",
    ) -> None:
        self.most, self.bonus, self.mood = most, bonus, mood
    def choose(self, game, state, search):
        SLEEP
        bid = search.rng.randint(0, self.most) + int(self.bonus)
        return bid if self.mood == "bold" else bid // 2

@hookimpl
def arena_games():
    return [Bids]

@hookimpl
def arena_agents():
    return [Bidder]
'''
QUICK = ("bids.py", "--openings", "2", "--quiet", "--workers", "1", "--format", "json")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the game and its agent into the working directory."""
    (tmp_path / "bids.py").write_text(BIDS.replace("SLEEP", "pass"))
    monkeypatch.chdir(tmp_path)


def tune(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert cli(["tune", *words], standalone_mode=False) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_better_options_are_found_and_confirmed(capsys: pytest.CaptureFixture[str]) -> None:
    """The search covers the whole space of the type hints. The answer is confirmed on positions that no match of the search
    used.
    """
    found = tune(capsys, *QUICK, "--limits", "nodes=1000", "--matches", "160", "--elo", "0", "100")
    assert found["verdict"] == "better"
    assert found["space"] == "most=0..50, bonus=0.0625..4:log, mood=shy,bold"
    assert found["default"] == {"most": 10, "bonus": 0.5, "mood": "shy"}
    assert found["best"]["mood"] == "bold"
    assert found["best"]["most"] >= 30
    assert found["entry"] == {"agent": "bidder", **found["best"]}
    assert "Elo over the default on" in found["sentence"] or "every game won over" in found["sentence"]
    assert found["search"]["matches"] <= 112
    pairs = sum(found["confirmation"]["pairs"])
    with Store.open(found["store"]) as store:
        runs = store.runs()
        every = {record.id: record.position for record, _ in store.records()}
        rows = list_trials(store, 0)
        course = show_course(store, 0)
        confirmed = {record.id: record.position for record, _ in store.records(boards=True)}
    assert rows is not None
    assert sum(row["Matches"] for row in rows) <= found["search"]["matches"]
    assert [row["Matches"] for row in rows] == sorted([row["Matches"] for row in rows], reverse=True)
    assert float(rows[0]["Mean result"]) > 0.5
    assert course is not None
    assert course["best"][-1]["matches"] == sum([row["Matches"] for row in rows]) or len(rows) == 20
    assert course["best"][-1]["score"] >= float(rows[0]["Mean result"]) - 0.001  # of the trials with most matches
    assert (course["level"], [one["name"] for one in course["options"]]) == (0.5, ["most", "bonus", "mood"])
    (moods,) = [one for one in course["options"] if one["name"] == "mood"]
    assert {tick["text"] for tick in moods["ticks"]} == {"shy", "bold"}
    means = {mood: fmean([one["score"] for one in moods["values"] if one["value"] == mood]) for mood in ("bold", "shy")}
    assert means["bold"] > means["shy"]
    searched = {position for key, position in every.items() if key not in confirmed}
    assert len(confirmed) == 2 * pairs
    assert len(set(confirmed.values())) == pairs
    assert not searched & set(confirmed.values())
    assert [run.boards[0].format for run in runs][-1] == "held-out"
    assert len(every) == found["search"]["matches"] + len(confirmed) <= 160
    played = dict.fromkeys(("bold", "shy"), 0)
    for row in found["search"]["trials"]:
        played[row["options"]["mood"]] += row["positions"]
    assert played["bold"] > 2 * played["shy"]  # weak trials were dropped


def test_the_best_entry_is_printed_as_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    """The sentence comes first, and the entry can be copied into a spec."""
    words = ("--set", "mood=shy,bold", "--set", "bonus=20", "--matches", "80", "--elo", "0", "200")
    assert cli(["tune", *QUICK[:-2], *words], standalone_mode=False) == 0
    sentence, *_, entry = capsys.readouterr().out.partition("\n\n")
    assert sentence.startswith("mood bold, bonus 20: every game won over the default on ")
    assert entry == "agent: bidder\nmood: bold\nbonus: 20.0\n"
    assert run({"game": "bids", "agents": [{"agent": "bidder", "mood": "bold", "bonus": 20.0}, "bidder"], "plugins": ["bids.py"]})


def test_options_without_an_effect_are_not_better(capsys: pytest.CaptureFixture[str]) -> None:
    found = tune(capsys, *QUICK, "--set", "bonus=0.1..0.9", "--matches", "120")
    assert (found["verdict"], found["sentence"]) == ("nothing better", "nothing better than the default was found")
    assert found["entry"] == {"agent": "bidder"}


def test_a_spec_names_the_opponents(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """`--agent` selects the entry, and all other entries are its opponents. The default plays as well."""
    spec = {
        "game": "bids",
        "plugins": ["bids.py"],
        "agents": ["random", {"agent": "bidder", "label": "mine", "most": 20}, {"agent": "bidder", "most": 40, "label": "other"}],
        "openings": {"plies": 2},
        "seed": 4,
    }
    (tmp_path / "cup.json").write_text(json.dumps(spec))
    words = ("cup.json", "--agent", "mine", "--set", "mood=shy,bold", "--set", "most=20..50", "--matches", "800")
    found = tune(capsys, *words, "--elo", "0", "100", *QUICK[3:])
    assert found["default"] == {"mood": "shy", "most": 20}
    assert found["best"]["mood"] == "bold"
    with Store.open(found["store"]) as store:
        first = store.runs()[0].boards[0]
    assert first.labels[-2:] == ("random", "other")
    assert "default" in first.labels
    with pytest.raises(ArenaError, match=r"unknown entry of cup.json 'mien'; did you mean 'mine'"):
        cli(["tune", "cup.json", "--agent", "mien"])


HANDS = '''
"""Two random plies, then each seat shows a hand: 0 loses to 1, 1 loses to 2, and 2 loses to 0."""
from typing import Literal
from arena import Agent, Game, hookimpl

class Hands(Game):
    name = "hands"
    def initial(self, rng):
        return ()
    def to_move(self, state):
        return len(state) % 2
    def actions(self, state):
        return range(100 if len(state) < 2 else 3)
    def result(self, state, action):
        return (*state, action)
    def is_terminal(self, state):
        return len(state) == 4
    def returns(self, state):
        lead = (0, 1, -1)[(state[2] - state[3]) % 3]
        return float(lead), float(-lead)

class Shower(Agent):
    name = "shower"
    def __init__(self, *, hand: Literal[0, 1, 2] = 0) -> None:
        self.hand = hand
    def choose(self, game, state, search):
        return self.hand

@hookimpl
def arena_games():
    return [Hands]

@hookimpl
def arena_agents():
    return [Shower]
'''


def test_the_opponents_of_a_spec_decide_the_confirmation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Hand 2 loses to the default and beats the opponents, which beat the default. It is better, because only the opponents
    count.
    """
    (tmp_path / "hands.py").write_text(HANDS)
    rivals = [{"agent": "shower", "hand": 1, "label": label} for label in ("one", "other")]
    spec = {"game": "hands", "plugins": ["hands.py"], "agents": ["shower", *rivals], "openings": {"plies": 2}}
    (tmp_path / "cup.json").write_text(json.dumps(spec))
    found = tune(capsys, "cup.json", "--set", "hand=0,1,2", "--matches", "800", "--elo", "0", "100", *QUICK[3:])
    assert (found["verdict"], found["best"]) == ("better", {"hand": 2})
    figures = found["confirmation"]
    assert figures["scores"] == {"best": 1.0, "default": 0.0}
    assert found["sentence"] == (
        f"hand 2: 100.0 % of the points instead of 0.0 % against the 2 opponents, on {figures['positions']} held-out positions"
    )
    with Store.open(found["store"]) as store:
        *searches, confirmation = store.runs()
        every = {record.id: record.position for record, _ in store.records()}
        confirmed = {record.id: record.position for record, place in store.records(boards=True) if place is not None}
        labels = {record.labels for record, _ in store.records(boards=True)}
    assert searches
    assert confirmation.boards[0].format == "held-out-gauntlet"
    assert labels == {pair for one in ("hand=2", "default") for two in ("one", "other") for pair in ((one, two), (two, one))}
    assert len(confirmed) == 8 * figures["positions"] == 8 * len(set(confirmed.values()))
    assert not set(confirmed.values()) & {position for key, position in every.items() if key not in confirmed}
    assert len(every) <= 800
    before = count_records(Path(found["store"]))
    assert tune(capsys, "cup.json", "--set", "hand=0,1,2", "--matches", "800", "--elo", "0", "100", *QUICK[3:]) == found
    assert count_records(Path(found["store"])) == before


@pytest.mark.process
def test_a_puzzle_is_tuned_by_solved_share_and_effort(capsys: pytest.CaptureFixture[str]) -> None:
    """Linear conflicts are a better heuristic than Manhattan distances (O. Hansson et al., 1992), with equal costs and fewer
    nodes.
    """
    words = ("a-star", "--game", "sliding-tiles", "--set", "heuristic=manhattan,misplaced,linear-conflict")
    found = tune(capsys, *words, "--matches", "240", *QUICK[3:])
    assert found["best"] == {"heuristic": "linear-conflict"}
    assert found["entry"] == {"agent": "a-star", "heuristic": "linear-conflict"}
    figures = found["confirmation"]
    assert (figures["solved"]["best"], figures["solved"]["default"]) == (1.0, 1.0)
    assert figures["cost"]["best"] == figures["cost"]["default"]
    assert figures["nodes"]["best"] < figures["nodes"]["default"]
    assert "nodes" in found["sentence"]
    assert "held-out positions" in found["sentence"]


WRONG = [
    ("most=0..99", "--set most=0..99: most takes whole numbers from 0 to 50, got 99"),
    ("most=1.5..3", "--set most=1.5..3: most takes whole numbers from 0 to 50, got 1.5..3"),
    ("bonus=0..3", "--set bonus=0..3: bonus takes numbers above 0 up to 40, got 0.0"),
    ("mood=shy,mad", "--set mood=shy,mad: mood takes shy and bold, got 'mad'"),
    ("mood=1..2", "--set mood=1..2: mood takes shy and bold, got a range of numbers"),
    ("most=5..2", "--set most=5..2: expected LOW below HIGH, got 5..2"),
    ("most=0..9:log", "--set most=0..9:log: a logarithmic range begins above 0, got 0"),
    ("most=1..x", "--set most=1..x: expected LOW..HIGH or LOW..HIGH:log, as in weight=0.1..10:log, got '1..x'"),
    ("most=1,2,1", "--set most=1,2,1: most has the same value twice"),
    ("msot=1..3", "--set: no option 'msot'; did you mean 'most'?"),
    ("rows=3", "--set: neither bidder nor bids has an option 'rows'; `arena show` lists them"),
    ("most", "--set: expected OPTION=VALUES, as in depth=1..6 or order=game,heuristic, got 'most'"),
]


@pytest.mark.parametrize(("word", "message"), WRONG)
def test_an_error_names_the_option_its_bounds_and_the_value(word: str, message: str) -> None:
    with pytest.raises(ArenaError) as error:
        cli(["tune", *QUICK, "--set", word])
    assert str(error.value) == message


def test_an_error_explains_how_to_install_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not installed
    with pytest.raises(ArenaError, match=r"^arena tune needs Optuna; install it with: pip install 'optuna>=4'$"):
        cli(["tune", *QUICK], standalone_mode=False)


def test_a_search_with_a_time_limit_is_repeated_from_its_store(capsys: pytest.CaptureFixture[str]) -> None:
    """The same command finds the answer in its store and plays no match."""
    words = (*QUICK, "--minutes", "0.01", "--store", "timed.db")
    first = tune(capsys, *words)
    played = count_records(Path("timed.db"))
    assert played > 12
    assert tune(capsys, *words) == first
    assert count_records(Path("timed.db")) == played


def test_a_store_of_another_run_is_refused(tmp_path: Path) -> None:
    """Its matches may have used the positions of the confirmation."""
    run({"game": "bids", "agents": ["random", "bidder"], "plugins": ["bids.py"], "rounds": 2}, store=tmp_path / "cup.db")
    with pytest.raises(ArenaError, match="which is another search: its matches may have used positions that are reserved"):
        cli(["tune", *QUICK, "--store", "cup.db"])


def test_a_few_positions_are_divided_between_search_and_confirmation(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Every second position of a spec is used only for the confirmation."""
    listed = [json.dumps(one) for one in range(12)]
    source = BIDS.replace("SLEEP", "pass").replace(
        "    def is_terminal",
        "    def parse_state(self, text):\n        return (int(text), 0)\n    def format_state(self, state):\n"
        "        return str(state[0] if state else 0)\n    def is_terminal",
    )
    (tmp_path / "bids.py").write_text(source)
    spec = {"game": "bids", "plugins": ["bids.py"], "agents": ["bidder"], "positions": listed}
    (tmp_path / "cup.json").write_text(json.dumps(spec))
    found = tune(capsys, "cup.json", "--set", "mood=shy,bold", "--matches", "200", "--elo", "0", "200", *QUICK[3:])
    with closing(sqlite3.connect(found["store"])) as database:
        rows = database.execute("SELECT name, spec FROM run").fetchall()
    used = {word: set[str]() for word in ("search", "confirm")}
    for name, text in rows:
        used[name.split()[0]] |= set(json.loads(text)["values"]["positions"])
    assert used["search"] <= set(listed[::2])
    assert used["confirm"] <= set(listed[1::2])
    assert used["confirm"]


def count_records(path: Path) -> int:
    if not path.is_file():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM record").fetchone()[0])
    except sqlite3.OperationalError:  # the table does not exist yet
        return 0


def test_a_page_shows_the_progress_of_a_running_search(tmp_path: Path, browser: Any) -> None:
    """The figures change with each stage of the search, without a reload."""
    (tmp_path / "bids.py").write_text(BIDS.replace("SLEEP", "sleep(0.005)"))
    words = [*QUICK, "--matches", "2000", "--store", "live.db"]
    command = [sys.executable, "-m", "arena", "tune", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as started:
        try:
            eventually(lambda: count_records(tmp_path / "live.db") >= 20 or started.poll() is not None, pause=0.005)
            with served(tmp_path, "live.db") as server:
                page = browser.new_page()
                page.goto(server.address)
                page.goto(f"http://127.0.0.1:{server.port}/t/live")
                drawing = page.get_by_role("img", name="best so far")
                drawing.wait_for()
                before = drawing.get_attribute("aria-label")
                page.get_by_role("img", name="mood: ").wait_for()
                page.wait_for_function(
                    "before => document.querySelector('svg[aria-label^=\"best so far\"]')?.getAttribute('aria-label') !== before",
                    arg=before,
                )
                assert started.poll() is None
        finally:
            started.kill()


@pytest.mark.process
def test_an_interruption_does_not_change_the_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """After Ctrl-C and after a kill, the same command continues with the same trials and finds the same options as a search
    without a break.
    """
    (tmp_path / "bids.py").write_text(BIDS.replace("SLEEP", "sleep(0.002)"))
    words = [*QUICK, "--matches", "120"]
    words.remove("--quiet")
    broken = tmp_path / "broken.db"
    for how, enough in ((signal.SIGINT, 15), (signal.SIGKILL, 40)):
        command = [sys.executable, "-m", "arena", "tune", *words, "--store", str(broken)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as started:
            assert started.stderr is not None
            eventually(lambda: count_records(broken) >= enough or started.poll() is not None, pause=0.005)  # noqa: B023
            started.send_signal(how)
            said = started.stderr.read()
        assert started.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
        if how is signal.SIGINT:
            assert "run the same command again to continue" in said
    assert count_records(broken) >= 40
    resumed = arena_in(tmp_path)("tune", *words, "--store", broken)
    assert resumed.returncode == 0, resumed.stderr
    whole = tune(capsys, *words, "--store", "whole.db")
    assert {**json.loads(resumed.stdout), "store": ""} == {**whole, "store": ""}
    assert count_records(broken) == count_records(tmp_path / "whole.db")
