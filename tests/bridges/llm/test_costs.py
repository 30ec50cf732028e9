"""Test costs, requests and tokens: limits of a run, limits of an entry, and the columns of a board."""

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena_bridges.llm import endpoint as endpoints, gate as gates
from arena_bridges.llm.agent import LanguageModel
from arena_bridges.llm.budget import Budget
from arena_bridges.llm.costs import estimate_decision
from arena_bridges.llm.gate import Limits, Price, SharedThrottle, Throttle, Usage, open_limits, throttle
from arena_records.merger import merge_stores
from tests.bridges.llm.stub import Reply, first, legal, move, serving
from tests.conftest import Arena
from tests.eventually import DEADLINE_SECONDS, eventually

PRICE = {"in": 1000, "out": 2000}
"""The price of a request with 100 tokens in and 10 out is 0.12."""
REQUEST = 0.12


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorten the pauses."""
    monkeypatch.setattr(endpoints, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(endpoints, "WAIT_SECONDS", 1.0)
    yield
    endpoints.endpoint.cache_clear()
    gates._own_throttle.cache_clear()


def spec(url: str, *, own: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m", "tokens": 20, "price": PRICE, **(own or {})}
    return {"game": "tic-tac-toe", "seed": 5, "rounds": 2, "agents": [model, "random"], **more}


def test_a_price_covers_cached_tokens_and_has_a_maximum() -> None:
    """By hand: 60 of 100 tokens are cached at a quarter of the price. A token has at least one byte."""
    price = Price.read({"in": 4, "out": 10, "cached": 1})
    assert price.of(Usage(100, 10, 60)) == pytest.approx((40 * 4 + 60 * 1 + 10 * 10) / 1e6)
    assert price.most(500, 20) == pytest.approx((500 * 4 + 20 * 10) / 1e6)
    assert Price.read({"in": 4, "out": 10}).of(Usage(100, 10, 60)) == pytest.approx((100 * 4 + 10 * 10) / 1e6)


def open_ledger(place: Path, limit: float) -> Budget:
    """Return a new ledger without a store."""
    place.touch()
    budget = Budget(place, limit)
    budget.begin()
    return budget


@pytest.mark.process
def test_requests_in_flight_reserve_their_maximum_cost(tmp_path: Path) -> None:
    """The second request waits for the real cost of the first one and is then sent. A request that never fits into the budget
    ends it for all.
    """
    budget = open_ledger(tmp_path / "ledger.db", 1.0)
    flying = budget.reserve(0.9)
    passed: list[float] = []
    waiting = threading.Thread(target=lambda: passed.append(budget.reserve(0.5)))
    waiting.start()
    time.sleep(0.02)
    assert passed == []
    budget.settle(flying, 0.1)
    waiting.join(1)
    assert len(passed) == 1
    budget.settle(passed[0], None)  # a missing answer may be billed
    assert budget.spent == pytest.approx(0.6)
    for most in (0.5, 0.1):
        with pytest.raises(arena.errors.BackendGone, match=r"max_cost: 0\.6 of 1 is spent"):
            budget.reserve(most)


@pytest.mark.process
def test_a_run_stops_before_its_limit_and_resumes_with_a_larger_one(tmp_path: Path) -> None:
    """With 8 concurrent matches, the bill stays within the limit. Finished matches send no further requests."""
    with serving(first) as stub:
        cup = spec(stub.url, rounds=4, max_cost=3.0)
        cup["agents"].append("greedy")
        stopped = arena.run(cup, store=tmp_path / "s.db")
        played = {record.id for record in stopped.records if "llm" in record.labels and record.termination != "void"}
        assert 0.5 < REQUEST * len(stub.requests) <= 3.0
        assert played
        assert len(stopped.void) == 16 - len(played)  # matches of other agents are played
        assert {"set a larger max_cost to play the remaining matches" in (record.message or "") for record in stopped.void} == {
            True
        }
        assert arena.run(cup, store=tmp_path / "s.db").void
        assert REQUEST * len(stub.requests) <= 3.0  # earlier costs of the store count
        asked = len(stub.requests)
        done = arena.run({**cup, "max_cost": 100.0}, store=tmp_path / "s.db")
    assert done.void == []
    later = [record for record in done.records if "llm" in record.labels and record.id not in played]
    assert len(later) == 16 - len(played)
    assert sum(one.spent["requests"] for record in later for one in record.decisions if one.spent) == len(stub.requests) - asked


def test_the_command_estimates_the_cost_and_fails_if_it_is_stopped(arena: Arena, tmp_path: Path) -> None:
    with serving(first) as stub:
        (tmp_path / "s.yaml").write_text(
            "game: tic-tac-toe\nrounds: 2\nmax_cost: 1\n"
            f"agents: [random, {{agent: llm, url: '{stub.url}', model: m, tokens: 20, price: {{in: 1000, out: 2000}}}}]\n"
        )
        stopped = arena("run", "s.yaml")
    assert stopped.returncode == 1
    assert "note: the models cost about" in stopped.stderr
    assert "max_cost is 1" in stopped.stderr
    assert "set a larger max_cost to play the remaining matches" in stopped.stderr


def read_ledger(store: Path) -> tuple[int, float, float]:
    """Return the requests, the known costs and the maximum of unknown costs in the ledger of a store."""
    with closing(sqlite3.connect(store)) as opened:
        sums = opened.execute("SELECT sum(requests), sum(known), sum(unknown + reserved) FROM spending").fetchone()
    return sums[0], sums[1], sums[2]


def test_requests_in_flight_count_after_an_interrupted_or_killed_run(arena: Arena, tmp_path: Path) -> None:
    """Two runs end with unanswered requests, and the provider bills 0.104 for each. The reserved cost is higher, because it
    counts the bytes of the question. A later run stops in time.
    """
    cup = "game: tic-tac-toe\nrounds: 9\nmax_cost: {}\nagents: [random, {{agent: llm, url: '{}', model: m, tokens: 20, "
    with serving(lambda request: move(legal(request)[0], seconds=60, usage=(1000, 20))) as stub:
        for end, code in ((signal.SIGINT, 130), (signal.SIGKILL, -9)):
            (tmp_path / "s.yaml").write_text(cup.format(6, stub.url) + "price: {in: 100, out: 200}}]\n")
            before = len(stub.requests)
            run = subprocess.Popen(
                [sys.executable, "-m", "arena", "run", "s.yaml", "--store", "s.db", "--quiet", "--concurrency", "5"],
                cwd=tmp_path,
                stderr=subprocess.DEVNULL,
            )
            eventually(lambda: len(stub.requests) >= before + 5 or run.poll() is not None)  # noqa: B023
            run.send_signal(end)
            assert run.wait(DEADLINE_SECONDS) == code
        asked, known, unknown = read_ledger(tmp_path / "s.db")
        assert asked == len(stub.requests) == 10
        assert (known, 0.104 * asked < unknown <= 6) == (0, True)
        stub.answers = first
        (tmp_path / "s.yaml").write_text(cup.format(unknown + 0.5, stub.url) + "price: {in: 100, out: 200}}]\n")
        stopped = arena("run", "s.yaml", "--store", "s.db")
        assert stopped.returncode == 1
        assert f"{unknown:.3g} is already spent; max_cost is {unknown + 0.5:g}" in stopped.stderr
        assert "is the largest possible cost of requests whose cost is unknown" in stopped.stderr
        assert 0.1 < 0.012 * (len(stub.requests) - asked) <= 0.5
        (tmp_path / "s.yaml").write_text(cup.format(600, stub.url) + "price: {in: 100, out: 200}}]\n")
        assert arena("run", "s.yaml", "--store", "s.db", "--quiet").returncode == 0


@pytest.mark.process
def test_costs_of_a_void_match_count_after_a_replay_and_a_merge(tmp_path: Path) -> None:
    """The first answer is illegal and the second is missing, so the record has no decision. A copy counts once."""

    def answers(request: dict[str, Any]) -> Reply:
        return move("99") if len(request["messages"]) < 4 else Reply("no such model", status=404)

    with serving(answers) as stub:
        for _ in range(2):
            assert len(arena.run(spec(stub.url, rounds=1), store=tmp_path / "s.db", concurrency=1).void) == 2
        answered = sum(len(request["messages"]) < 4 for request in stub.requests)
        assert answered >= 2
        assert read_ledger(tmp_path / "s.db") == pytest.approx((len(stub.requests), REQUEST * answered, 0))
        (tmp_path / "copy.db").write_bytes((tmp_path / "s.db").read_bytes())
        for name in ("s.db", "other.db"):
            arena.run(spec(stub.url, rounds=1), store=tmp_path / name, concurrency=1)
        merge_stores(tmp_path / "all.db", [tmp_path / name for name in ("copy.db", "s.db", "other.db")])
        answered = sum(len(request["messages"]) < 4 for request in stub.requests)
        assert read_ledger(tmp_path / "all.db") == pytest.approx((len(stub.requests), REQUEST * answered, 0))
        stub.answers = first
        assert arena.run(spec(stub.url, rounds=1, max_cost=0.01), store=tmp_path / "all.db").void
        recorded = Budget(tmp_path / "all.db")
        recorded.begin(5.0)
        assert recorded.spent == pytest.approx(5.0)  # records of other machines may have more


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"own": {"price": None}}, r"price: max_cost needs the price per million tokens"),
        ({"own": {"price": {"in": 1}}}, r"expected in and out"),
        ({"own": {"price": {"in": -1, "out": 1}}}, "at least 0"),
        ({"max_cost": 0}, "more than 0"),
        ({"own": {"max_cost": 3}}, "write it at the top level of the spec"),
        ({"agents": ["random", "greedy"]}, "max_cost: no agent of the spec has a cost"),
        ({"own": {"headers": {"X-Api-Key": "sk-1"}}}, "X-Api-Key may contain a secret"),
        ({"own": {"headers": {"Host": "x"}}}, "expected the name of a header"),
        ({"own": {"headers": {"X-A": "a\nb"}}}, "printable ASCII"),
        ({"own": {"extra_body": {"messages": []}}}, "messages is set by arena"),
        ({"own": {"extra_body": {"generationConfig": {"candidateCount": 4}}}}, "candidateCount is set by arena"),
        ({"own": {"extra_body": {"web_search_options": {}}}}, "web_search_options may add costs that max_cost does not count"),
    ],
)
def test_invalid_prices_and_request_options_are_refused_before_a_match(change: dict[str, Any], message: str) -> None:
    cup = spec("http://127.0.0.1:1/v1", **{"max_cost": 1, **change})
    if "max_cost" in change.get("own", {}):
        cup["agents"].append({"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "other", "price": PRICE})
    with pytest.raises(arena.SpecError, match=message):
        load_spec(cup)


def test_extra_fields_are_allowed_if_they_are_free_or_costs_have_no_limit() -> None:
    changes: list[dict[str, Any]] = [
        {"own": {"extra_body": {"top_p": 0.5}}, "max_cost": 1},
        {"own": {"extra_body": {"tools": []}}},
    ]
    for more in changes:
        assert load_spec(spec("http://127.0.0.1:1/v1", **more)).boards


def test_an_estimate_includes_thoughts_and_retries() -> None:
    """By hand: a question of 400 bytes with 40 bytes of legal moves costs 1 per million tokens in and 2 per million out."""
    own: dict[str, Any] = {"url": "http://127.0.0.1:1/v1", "model": "m", "tokens": 1000, "price": {"in": 1, "out": 2}}
    brief, thinking = LanguageModel(**own), LanguageModel(**own, think=True)
    again = 200 + 40 + 1000  # the reason, the legal moves and the previous answer
    most = (3 * 400 + again + 2 * again + 3 * 2 * 1000) / 1e6
    assert estimate_decision(brief, 400, 40) == pytest.approx(((100 + 2 * 50) / 1e6, most))
    assert estimate_decision(thinking, 400, 40) == pytest.approx(((100 + 2 * 500) / 1e6, most))


@pytest.mark.process
@pytest.mark.parametrize("more", [{"own": {"isolation": "process"}}, {"plugins": ["games.py"]}])
def test_a_cost_limit_covers_all_processes(more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model has a process of its own, or a plugin requires worker processes. The bill stays within the limit."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.py").write_text("# the code of an author\n")
    with serving(first) as stub:
        cup = spec(stub.url, max_cost=2.0, rounds=3, **more)
        stopped = arena.run(cup, store="s.db", workers=2)
        assert 0.5 < REQUEST * len(stub.requests) <= 2.0
        assert {"set a larger max_cost to play the remaining matches" in (record.message or "") for record in stopped.void} == {
            True
        }
        assert arena.run({**cup, "max_cost": 100.0}, store="s.db", workers=2).void == []


SPENDER = """
import sys
from pathlib import Path
from arena import BackendGone
from arena_bridges.llm.budget import Budget

budget = Budget(Path(sys.argv[1]), 6.0)
try:
    while True:
        budget.settle(budget.reserve(1.0), 0.5)
except BackendGone:
    pass
"""
MORTAL = "import os, sys; from pathlib import Path; from arena_bridges.llm.budget import Budget; "
MORTAL += "Budget(Path(sys.argv[1]), 3.0).reserve(2.0); os._exit(1)"


@pytest.mark.process
def test_processes_share_a_budget(tmp_path: Path) -> None:
    """Three concurrent processes spend until each is refused. A request costs 0.5 and reserves 1, so 0.5 is left.

    Each request waits for the disk twice, so the test sends only eleven.
    """
    place = tmp_path / "ledger.db"
    budget = open_ledger(place, 6.0)
    children = [subprocess.Popen([sys.executable, "-c", SPENDER, place]) for _ in range(3)]
    assert [child.wait() for child in children] == [0] * 3
    assert budget.spent == pytest.approx(5.5)


@pytest.mark.process
def test_a_request_of_a_dead_process_counts_in_full(tmp_path: Path) -> None:
    place = tmp_path / "ledger.db"
    budget = open_ledger(place, 3.0)
    subprocess.run([sys.executable, "-c", MORTAL, place], check=False)
    with pytest.raises(arena.BackendGone, match="max_cost: 2 of 3 is spent"):
        budget.reserve(1.5)
    assert budget.spent == 2.0


ENTERER = """
import os, time
from arena_bridges.llm.gate import Limits, throttle

print("ready", flush=True)
throttle("http://127.0.0.1:1/v1", "m", Limits(concurrency=1)).enter(1)
print(time.monotonic(), flush=True)
os._exit(1)
"""


@pytest.mark.process
def test_processes_share_the_limits_of_a_run() -> None:
    """A request of another process starts after this one ends. A dead process does not block the others."""
    open_limits(shared=True)
    try:
        entry = throttle("http://127.0.0.1:1/v1", "m", Limits(concurrency=1))
        started: Any = entry.enter(1)
        with subprocess.Popen([sys.executable, "-c", ENTERER], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.1)  # without the shared limit, it would enter meanwhile
            ended = time.monotonic()
            entry.leave(started, 1)
            assert float(child.stdout.readline()) > ended
        assert entry.enter(1)
    finally:
        open_limits(shared=False)


def test_prices_and_limits_do_not_change_ids() -> None:
    """A run can be resumed in its store after they change."""
    own = {"price": {"in": 7, "out": 7}, "requests_per_minute": 5, "tokens_per_minute": 5, "concurrency": 1}
    plain, changed = (load_spec(spec("http://127.0.0.1:1/v1", own=each)) for each in ({}, own))
    assert plain.boards[0].seats[0].identity == changed.boards[0].seats[0].identity
    other = load_spec(spec("http://127.0.0.1:1/v1", own={"reasoning_effort": "low"}))
    assert plain.boards[0].seats[0].identity != other.boards[0].seats[0].identity


@pytest.mark.process
def test_headers_effort_and_further_fields_of_an_entry_are_sent_with_each_request() -> None:
    own = {"headers": {"X-Title": "cup"}, "reasoning_effort": "low", "extra_body": {"top_p": 0.5}}
    with serving(first) as stub:
        arena.run(spec(stub.url, own=own, rounds=1))
    assert {headers["X-Title"] for headers in stub.headers} == {"cup"}
    assert {(request["reasoning_effort"], request["top_p"]) for request in stub.requests} == {("low", 0.5)}


@pytest.mark.process
def test_concurrent_requests_of_an_entry_are_limited() -> None:
    def slow(request: dict[str, Any]) -> Reply:
        reply = first(request)
        reply.seconds = 0.05
        return reply

    with serving(slow) as stub:
        assert arena.run(spec(stub.url, own={"concurrency": 2})).void == []
        assert stub.most == 2


def test_limits_of_requests_and_tokens_hold_in_every_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute is shortened to 0.2 s. The requests in every window are counted, with a tolerance for the clock. Two throttles
    that share a file count together.
    """
    monkeypatch.setattr(gates, "MINUTE_SECONDS", 0.2)
    for limits, most in ((Limits(requests_per_minute=3), 3), (Limits(tokens_per_minute=100), 2)):
        throttle, starts = Throttle(limits), []
        for _ in range(8):
            begun = throttle.enter(50)
            starts.append(begun[0])
            throttle.leave(begun, 50)
        assert all(sum(start <= other < start + 0.199 for other in starts) <= most for start in starts)
    SharedThrottle.create(tmp_path / "shared.db")
    pair = [SharedThrottle(tmp_path / "shared.db", "m", Limits(requests_per_minute=3)) for _ in range(2)]
    began = time.monotonic()
    for number in range(8):
        pair[number % 2].enter(50)
    assert time.monotonic() - began >= 0.4  # the seventh request is in the third window
    alone = Throttle(Limits(tokens_per_minute=10))
    assert alone.enter(90)  # a request above the limit does not wait for ever


@pytest.mark.process
def test_the_board_shows_illegal_unreadable_and_truncated_answers() -> None:
    """The first answer of each match is illegal and the second is cut off. Expected figures come from counts of the server."""

    def answers(request: dict[str, Any]) -> Reply:
        asked = [message for message in request["messages"] if message["role"] == "assistant"]
        if "Moves so far" in str(request["messages"][1]) or len(asked) > 1:
            return first(request)
        return move("99") if not asked else Reply("{", finish="length")

    with serving(answers) as stub:
        board = Leaderboard.of_results(arena.run(spec(stub.url)))[0]
        requests = len(stub.requests)
    rows = {row["agent"]: row for row in board.rows}
    row = rows["llm"]
    assert (row["requests"], row["retries"], row["illegal"], row["unreadable"], row["truncated"]) == (requests, 8, 4, 4, 4)
    assert row["cost_per_game"] == pytest.approx(REQUEST * requests / 4)
    sums = f"{requests} requests, {100 * requests:,} tokens in, {10 * requests:,} tokens out, cost {REQUEST * requests:.4g}"
    assert f"All language models of this run, excluding void matches: {sums}." in board.remarks
    assert row["tokens_per_game"] == pytest.approx(110 * requests / 4)
    assert 0 < row["cost_per_game_low"] <= row["cost_per_game"] <= row["cost_per_game_high"]  # equal if all matches cost the same
    assert "requests_low" not in row
    assert 0.4 < row["legal_first"] < 0.8
    assert row["legal_first_low"] <= row["legal_first"] <= row["legal_first_high"]
    assert row["seconds_per_answer"] > 0
    assert rows["random"]["requests"] is None
    assert rows["random"]["legal_first"] is None
    plain = Leaderboard.of_results(arena.run({"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}))[0]
    assert "legal_first" not in json.dumps(plain.rows)
