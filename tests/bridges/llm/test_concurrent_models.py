"""Test concurrent matches in one process: records do not depend on the order of answers, and transcripts are per match."""

import itertools
import json
import random
import threading
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.api.run import transcript_file
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena.tournament.results import PlayedMatch
from arena.waiting import Baton, waiting
from tests.bridges.llm.stub import Reply, first, legal, move, serving
from tests.eventually import DEADLINE_SECONDS


def spec(url: str, **more: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m", "price": {"in": 1, "out": 2}}
    others = ["random", {"agent": "mcts", "rollouts": 3}]
    return {"game": "tic-tac-toe", "seed": 5, "rounds": 2, "agents": [model, *others], **more}


def answer_erratically(request: dict[str, Any]) -> Reply:
    """Return a legal move, an illegal move or prose, which depends on the question, after a random time."""
    drawn = random.Random(json.dumps(request["messages"]))
    said = drawn.random()
    reply = Reply("no idea") if said < 0.1 else move("99") if said < 0.2 else move(drawn.choice(legal(request)))
    reply.seconds = random.uniform(0, 0.03)
    return reply


def test_records_do_not_depend_on_the_order_of_answers() -> None:
    """Sequential requests are compared with up to eight concurrent ones. The first three of the latter wait for each other."""
    meeting, numbers = threading.Barrier(3), itertools.count()

    def wait_for_others(request: dict[str, Any]) -> Reply:
        if next(numbers) < meeting.parties:
            meeting.wait(DEADLINE_SECONDS)
        return answer_erratically(request)

    with serving(answer_erratically) as stub:
        one = arena.run(spec(stub.url), concurrency=1)
        assert stub.most == 1
        stub.answers = wait_for_others
        many = arena.run(spec(stub.url), concurrency=8)
        assert 3 <= stub.most <= 8
    assert [record.timeless() for record in one.records] == [record.timeless() for record in many.records]
    assert [record.transcript for record in one.records] == [record.transcript for record in many.records]


def test_concurrent_matches_work_with_processes_and_swiss_rounds() -> None:
    """A Swiss schedule waits for results, and one agent has a process of its own. The records equal the sequential ones."""
    with serving(answer_erratically) as stub:
        cup = spec(stub.url, format="swiss")
        cup["agents"].append("greedy")
        here = [record.timeless() for record in arena.run(cup, concurrency=1).records]
        cup["agents"][2]["isolation"] = "process"
        assert [record.timeless() for record in arena.run(cup, concurrency=6).records] == here


def test_the_transcripts_of_each_match_are_stored_beside_the_store(tmp_path: Path) -> None:
    """The file contains a line for each match of the model, with all requests. The amounts add up to those of the record."""
    with serving(answer_erratically) as stub:
        results = arena.run(spec(stub.url), store=tmp_path / "cup.db")
        asked = len(stub.requests)
    file = transcript_file(tmp_path / "cup.db")
    assert file == tmp_path / "cup.transcripts.jsonl"
    lines = {line["match"]: line for line in map(json.loads, file.read_text("utf-8").splitlines())}
    records = {record.id: record for record in results.records if "llm" in record.labels}
    assert lines.keys() == records.keys()
    assert sum(len(line["exchanges"]) for line in lines.values()) == asked
    for identity, line in lines.items():
        record = records[identity]
        decisions = [decision.spent for decision in record.decisions if decision.spent is not None]
        assert {each["seat"] for each in line["exchanges"]} == {record.labels.index("llm")}
        illegal = sum(each["outcome"] == "illegal" for each in line["exchanges"])
        assert illegal == sum(amounts["illegal"] for amounts in decisions)
        assert {each["model"] for each in line["exchanges"]} == {"stub-1"}
    assert "transcript" not in results.records[0].as_dict()


def test_transcripts_are_collected_from_other_processes(tmp_path: Path) -> None:
    """The exchanges are the same if the model has its own process, alone or with workers."""
    with serving(answer_erratically) as stub:
        cup = spec(stub.url, rounds=1)
        cup["agents"] = cup["agents"][:2]
        here = arena.run(cup).records
        cup["agents"][0]["isolation"] = "process"
        apart = arena.run(cup, workers=2, store=tmp_path / "cup.db").records
    expected = {record.id: [json.loads(said) for _, said in record.transcript] for record in here if record.transcript}
    lines = [json.loads(line) for line in transcript_file(tmp_path / "cup.db").read_text("utf-8").splitlines()]
    kept = {line["match"]: [{key: each[key] for key in each if key != "seat"} for each in line["exchanges"]] for line in lines}
    assert kept == expected
    assert [record.actions for record in apart] == [record.actions for record in here]


def test_submitted_agents_write_no_transcripts(tmp_path: Path) -> None:
    """An agent from a plugin of the organizer writes transcripts, even from a process of its own."""
    (tmp_path / "teller.py").write_text(
        "from arena import Agent, hookimpl\n"
        "class Teller(Agent):\n"
        "    name = 'teller'\n"
        "    def choose(self, game, state, search):\n"
        "        search.transcribe({'said': 1})\n"
        "        return game.actions(state)[0]\n"
        "@hookimpl\n"
        "def arena_agents(): return [Teller]\n"
    )
    own = {"agent": "teller", "isolation": "process"}
    cup = {"game": "tic-tac-toe", "rounds": 1, "agents": [own, "random"]}
    records = arena.run({**cup, "plugins": [str(tmp_path / "teller.py")]}).records
    assert all({said for _, said in record.transcript} == {'{"said": 1}'} for record in records)
    handed_in = {**cup, "agents": [{**own, "plugin": str(tmp_path / "teller.py")}, "random"]}
    assert [(record.termination, record.transcript) for record in arena.run(handed_in).records] == [("normal", ())] * 2


def test_the_board_shows_tokens_and_money_with_and_without_a_store(tmp_path: Path) -> None:
    """A request has 100 tokens in and 10 out, at 1 and 2 per million. Entries without costs have no amounts."""
    with serving(first) as stub:
        stored = Leaderboard.of_results(arena.run(spec(stub.url), store=tmp_path / "cup.db"))[0]
        requests = len(stub.requests)
        here = Leaderboard.of_results(arena.run(spec(stub.url)))[0]
    for board in (stored, here):
        rows = {row["agent"]: row for row in board.rows}
        assert rows["llm"]["spent"]["requests"] == requests
        assert (rows["llm"]["tokens_in"], rows["llm"]["tokens_out"]) == (100 * requests, 10 * requests)
        assert rows["llm"]["money"] == pytest.approx(requests * (100 + 2 * 10) / 1e6)
        assert rows["random"]["tokens_in"] is None
    plain = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}))[0]
    assert not {"spent", "tokens_in", "money"} & plain.rows[0].keys()


def test_when_a_thread_waits_for_an_answer_exactly_one_other_thread_continues() -> None:
    """Between waits, only one thread works."""
    baton, at_work, most, done = Baton(), [0], [0], []

    def play() -> None:
        with baton.held():
            for _ in range(50):
                at_work[0] += 1
                most[0] = max(most[0], at_work[0])
                sum(range(1000))
                at_work[0] -= 1
                with waiting():
                    random.random()
            done.append(1)

    threads = [threading.Thread(target=play) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(done)) == ([1], 4)


PATIENT = """
import time
from pathlib import Path
from arena import Agent, hookimpl

at_work, waiting = [], []

class Patient(Agent):
    name = "patient"
    waits = True

    def choose(self, game, state, search):
        at_work.append(1)
        time.sleep(0.002)  # lets other threads run
        if len(at_work) > 1:
            raise RuntimeError("two at work")
        at_work.pop()
        with search.waiting():
            waiting.append(1)
            time.sleep(0.01)
            if len(waiting) > 1:
                Path(__file__).with_name("together").touch()
            waiting.pop()
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Patient]
"""


def test_only_one_agent_at_a_time_works_in_a_run(tmp_path: Path) -> None:
    """An agent that is not thread-safe plays eight concurrent matches without a fault, and waits in several at once."""
    (tmp_path / "patient.py").write_text(PATIENT)
    cup = {"game": "tic-tac-toe", "rounds": 6, "agents": ["patient", "random"], "plugins": [str(tmp_path / "patient.py")]}
    for most, together in ((1, False), (8, True)):
        assert {record.termination for record in arena.run(cup, concurrency=most).records} == {"normal"}
        assert (tmp_path / "together").exists() == together


def test_a_thread_that_stops_waiting_after_the_run_has_ended_is_interrupted() -> None:
    baton = Baton()
    with pytest.raises(arena.errors.Interrupted), baton.held(), waiting():
        baton.ended = True


def test_an_interrupted_run_continues_without_repeated_matches(tmp_path: Path) -> None:
    """The observer stops the run after five matches. The next run plays the rest."""

    class Stop(Exception):
        pass

    seen: list[str] = []

    def observe(one: PlayedMatch) -> None:
        seen.append(one.record.id)
        if len(seen) == 5:
            raise Stop

    with serving(first) as stub:
        with pytest.raises(Stop):
            arena.run(spec(stub.url), store=tmp_path / "cup.db", observe=observe)
        with Store.open(tmp_path / "cup.db") as store:
            assert len(store) == 5
        results = arena.run(spec(stub.url), store=tmp_path / "cup.db", observe=lambda one: seen.append(one.record.id))
    assert len(seen) == len(set(seen)) == len(results.records) == 12
