"""Facts about an entry, downloads, and the progress of a run."""

import asyncio
import csv
import io
import json
from dataclasses import replace
from math import ceil, log
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from click.testing import CliRunner

from arena import Registry, run
from arena.cli import cli
from arena.results.leaderboard import Leaderboard
from arena.results.stored_tallies import tallies_of
from arena.schedule.board_info import BoardInfo
from arena.schedule.runner import MatchRunner
from arena.spec import load_spec
from arena.store import Run, Store
from arena.tournament.queue import MatchQueue
from arena_pairings.sprt import forecast
from arena_web.live import RunState, Watcher, expected_total, limits_text, run_state
from arena_web.requests import Requests
from tests.conftest import VirtualClock
from tests.extensions.web.conftest import HOSTILE, PLUGIN, Pages


def entry(pages: Pages, label: str) -> Any:
    answer = pages.ask(f"/api/t/cup/entry?name={quote(label)}")
    assert answer.status == 200
    return answer.json


@pytest.mark.parametrize("label", ["random", "lookahead", HOSTILE])
def test_meetings_add_up_to_the_leaderboard(pages: Pages, label: str) -> None:
    """The sum covers games, wins, draws and losses against each opponent. Half of the games are in the first seat."""
    boards = pages.ask("/api/t/cup").json["boards"]
    found = entry(pages, label)
    assert [board["title"] for board in found["boards"]] == [board["title"] for board in boards]
    for told, board in zip(found["boards"], boards, strict=True):
        row = next(row for row in board["rows"] if row["agent"] == label)
        for key in ("games", "wins", "draws", "losses"):
            assert sum(one[key] for one in told["meetings"]) == row[key]
        assert sum(one["first"] for one in told["meetings"]) == row["games"] / 2
        place = [row["agent"] for row in board["rows"]].index(label)
        for one in told["meetings"]:
            column = [row["agent"] for row in board["rows"]].index(one["opponent"])
            assert one["score"] == pytest.approx(board["cross"][place][column])


@pytest.mark.process
def test_the_curve_ends_at_the_rating(server: Any) -> None:
    board = server.ask("/api/t/cup").json["boards"][0]
    for row in board["rows"]:
        found = server.ask(f"/api/t/cup/panels?place=agent&id={quote(row['agent'])}").json["panels"]
        curve = next(panel for panel in found if panel["name"] == "rating-curve")["data"][0]["points"]
        played, value, low, high = curve[-1]
        assert (played, value) == (board["games"], pytest.approx(row["rating"], abs=1e-6))
        ratings = [other["rating"] for other in board["rows"]]
        assert (low, high) == (pytest.approx(min(ratings), abs=1e-6), pytest.approx(max(ratings), abs=1e-6))
        assert [point[0] for point in curve] == sorted({point[0] for point in curve})


@pytest.mark.process
def test_facts_about_an_entry_come_from_its_plugin(server: Any) -> None:
    """These are the options with their defaults, the heuristic of each game, and the source. An unknown agent has no page."""
    found = server.ask("/api/t/cup/entry/facts?name=lookahead").json["entry"]
    assert [one["title"] for one in found] == ["tic-tac-toe", "pebbles"]
    assert {one["agent"] for one in found} == {"lookahead"}
    assert [one["options"] for one in found] == [{"depth": "3"}, {"depth": "3"}]
    assert [one["heuristic"] for one in found] == [{"name": "open-lanes", "parameters": {}}, None]
    assert "arena_agents/full_width.py:" in found[0]["source"]
    (one, *_) = server.ask(f"/api/t/cup/entry/facts?name={quote(HOSTILE)}").json["entry"]
    line = PLUGIN.splitlines().index("class Chatty(Agent):") + 1
    assert one["source"].endswith(f", pebbles.py:{line}")
    assert server.ask("/api/t/cup/entry?name=nobody").status == 404


OWN = """
from arena import Agent, hookimpl

class Mine(Agent):
    name = "greedy"
    def choose(self, game, state, search):
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Mine]
"""


@pytest.mark.process
def test_unloaded_code_of_one_entry_does_not_affect_the_others(tmp_path: Path, registry: Registry) -> None:
    """Only the store names the third entry's file, so the file is not loaded. Facts about the other entries are shown, and their
    matches can be continued. The file defines an agent with the name of a built-in agent, which no page may offer instead.
    """
    (tmp_path / "own.py").write_text(OWN)
    spec = tmp_path / "cup.yaml"
    entries = [{"agent": "lookahead", "depth": 1}, "greedy", {"agent": "greedy", "plugin": "own.py", "label": "third"}]
    spec.write_text(yaml.safe_dump({"game": {"name": "tic-tac-toe", "rows": 4}, "agents": entries, "rounds": 1}))
    store = tmp_path / "cup.db"
    run(load_spec(spec), store=store)
    (tmp_path / "own.py").write_text("raise SystemExit")
    requests = Requests(registry, ())

    def facts(label: str) -> Any:
        (found,) = requests.answer({"do": "entry", "store": str(store), "label": label})["entry"]
        return found

    with Store.open(store) as opened:
        first, second, third = opened.last().boards[0].labels
        matches = [(record.id, record.labels) for record, _ in opened.records()]
    assert (facts(first)["options"], facts(first)["isolation"], facts(first)["moves"]) == ({"depth": "1"}, "none", 1000)
    assert "arena_agents/" in facts(second)["source"]
    assert (facts(third)["agent"], facts(third)["isolation"]) == ("greedy", None)
    assert "only the store names" in facts(third)["source"]
    for id_, labels in matches:
        found = requests.answer({"do": "view", "store": str(store), "id": id_})["play_on"]
        assert found["game"] == {"name": "tic-tac-toe", "parameters": {"rows": 4}}
        assert [None if form is None else form["agent"] for form in found["agents"]] == [
            {first: "lookahead", second: "greedy", third: None}[label] for label in labels
        ]


def test_downloads_are_complete(pages: Pages, place: Path) -> None:
    """The files are all matches as CSV and JSON, the leaderboards as JSON, and a spec that plays the same tournament."""
    answers = {
        name: pages.ask(f"/t/cup/download/{name}") for name in ("matches.csv", "matches.jsonl", "leaderboards.json", "spec.yaml")
    }
    assert {answer.status for answer in answers.values()} == {200}
    assert answers["matches.csv"].headers["content-disposition"] == 'attachment; filename="cup-matches.csv"'
    with Store.open(place / "cup.db") as store:
        keys = [record.id for record, _ in store.records()]
    rows = list(csv.DictReader(io.StringIO(answers["matches.csv"].text)))
    assert sorted([row["id"] for row in rows]) == sorted(keys)
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("[", "{"))], "each value has its own column"
    assert [json.loads(line)["id"] for line in answers["matches.jsonl"].text.splitlines()] == keys
    boards = answers["leaderboards.json"].json["boards"]
    assert [board["rows"] for board in boards] == [board["rows"] for board in pages.ask("/api/t/cup").json["boards"]]
    again = run(load_spec(yaml.safe_load(answers["spec.yaml"].text)))
    assert sorted(record.id for record in again.records) == sorted(keys)
    assert pages.ask("/t/cup/download/cup.db").status == pages.ask("/t/cup/download/..%2Fcup.db").status == 404


def test_limits_are_described_in_words() -> None:
    def told(**spec: Any) -> str:
        boards = [BoardInfo.of(board).as_dict() for board in load_spec({"game": "tic-tac-toe", **spec}).boards]
        return limits_text(BoardInfo.from_json(json.dumps(boards)))  # as a store has them

    assert told(agents=["random", "greedy"]) == "none"
    assert told(agents=["random", "greedy"], limits={"nodes": 5000, "seconds": 0.5}) == "5,000 nodes, 0.5 s"
    some = [{"agent": "greedy", "limits": {"nodes": 10}}, {"agent": "lookahead", "limits": {"nodes": 2000}}]
    assert told(agents=some) == "10 to 2,000 nodes"
    assert told(agents=["random", *some]) == "10 to 2,000 nodes for some"


def test_a_run_is_finished_interrupted_or_running(place: Path, tmp_path: Path) -> None:
    with Store.open(place / "cup.db") as store:
        last = store.last()
        assert run_state(store, last, writing=False).word == run_state(store, last, writing=True).word == "finished"
    begun = tmp_path / "begun.db"
    with Store.open(begun, write=True) as store:
        store.begin(last)
        assert [run_state(store, store.last(), writing=writing).word for writing in (True, False)] == ["running", "interrupted"]
        assert run_state(store, store.last(), writing=False).total == 72


def test_a_complete_shard_is_finished(tmp_path: Path) -> None:
    """The shard has all of its matches, and their number equals the number of records. The leaderboard says that they are a
    shard.
    """
    (tmp_path / "cup.yaml").write_text("{game: nim, agents: [random, greedy], rounds: 20}")
    path = tmp_path / "one.db"
    words = ["run", str(tmp_path / "cup.yaml"), "--store", str(path), "--shard", "1/2", "--workers", "1"]
    done = CliRunner().invoke(cli, [*words, "--quiet", "--format", "json"])
    (printed,) = json.loads(done.stdout)["boards"]
    with Store.open(path) as store:
        played = len(store)
        assert 0 < played < 40
        assert run_state(store, store.last(), writing=False) == RunState("finished", played, played)
        assert run_state(store, replace(store.last(), shard=None), writing=False) == RunState("interrupted", played, 40)
    state = asyncio.run(Watcher(path).now())
    assert (state["state"], state["done"], state["total"], state["expected"]) == ("finished", played, played, None)
    (shown,) = state["boards"]
    assert any(remark.startswith("Shard 1 of 2 is complete") for remark in shown["remarks"])
    assert "in shard 1/2" in shown["verdict"]
    assert (printed["finished"], printed["size"], printed["shard"]) == (False, 40, "1/2")


def test_the_pace_of_a_resumed_run_counts_only_new_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clock: VirtualClock
) -> None:
    """An agent joins a run of 80 matches. The 80 are on the boards at once, and 4 new ones within the next 4 s: 1 a second."""
    path, values = tmp_path / "cup.db", {"game": "tic-tac-toe", "rounds": 40, "seed": 1}
    run({**values, "agents": ["random", "greedy"]}, store=path)
    spec = load_spec({**values, "agents": ["random", "greedy", {"agent": "random", "label": "late"}]})
    stage = MatchRunner(spec)
    monkeypatch.setattr("arena_web.live.Store.is_held", lambda _: True)
    watcher = Watcher(path)
    with Store.open(path, write=True) as store:
        store.begin(Run.of(spec))
        assert (watcher._read()["done"], watcher._read()["pace"]) == (0, None)
        feed = MatchQueue(spec, store)
        for _ in range(4):
            (one,) = feed.take(1)
            feed.finish(one, stage.play(one))
        store.flush()
        clock.now += 4
        told = watcher._read()
    assert (told["state"], told["done"], told["total"], told["pace"]) == ("running", 84, 240, 1.0)


def test_the_length_of_a_sequential_test_is_forecast(tmp_path: Path) -> None:
    """If eight equal pairs give a ratio of 1, the bound, which is ln 19 (Wald), is expected after 8 ln 19 pairs."""
    path = tmp_path / "duel.db"
    values = {"agents": ["random", "greedy"], "format": {"name": "head-to-head", "test": {"sprt": {"elo1": 2}}}, "rounds": 8}
    run({"game": "tic-tac-toe", **values}, store=path)
    with Store.open(path, write=True) as store:
        last = store.last()
        begun = replace(last, ended=None, boards=(replace(last.boards[0], size=200_000),))
        store.begin(begun)
        (board,) = Leaderboard.of_tallies(tallies_of(store, begun.boards), finished=False, store=str(path))
    told = Watcher(path)._read()
    assert (told["state"], told["done"], told["total"]) == ("interrupted", 16, None)
    assert board.test is not None
    assert board.test.forecast is not None
    assert told["expected"] == 16 + 2 * ceil(board.test.forecast.likely - 8) > 16
    alike = replace(board.test, llr=1.0, counts=(0, 0, 0, 8, 0), forecast=forecast(board.test.test, (0, 0, 0, 8, 0), 1.0))
    assert expected_total([replace(board, test=alike)]) == 2 * ceil(8 * log(19))
    decided = replace(board.test, forecast=None)
    assert expected_total([replace(board, test=decided)]) == 16
    assert expected_total([replace(board, test=None)]) is None


@pytest.mark.process
def test_a_match_page_gives_forms_that_the_play_page_accepts(server: Any) -> None:
    """The forms contain the position and the agents."""
    match = next(one for one in server.ask("/api/t/cup/matches?board=0&agent=lookahead").json["matches"] if one["moves"] >= 3)
    found = server.ask(f"/api/t/cup/match/{match['id']}").json
    forms, frames = found["play_on"], found["view"]["frames"]
    seat = match["labels"].index("lookahead")
    assert forms["game"] == {"name": "tic-tac-toe", "parameters": {}}
    assert forms["agents"][seat] == {
        "agent": "lookahead",
        "options": {"depth": 3},
        "heuristic": {"name": "open-lanes", "parameters": {}},
    }
    line = {"state": frames[0]["state"], "actions": [frame["action"] for frame in frames[1:3]]}
    reached = server.ask("/api/position", {"game": forms["game"], **line})
    assert reached.json["frames"][-1]["state"] == frames[2]["state"]
    ask = {"game": forms["game"], "state": frames[2]["state"], "agent": forms["agents"][seat], "limits": forms["limits"][seat]}
    assert server.ask("/api/move", ask).status == 200
