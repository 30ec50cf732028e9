"""Test backends that are slow, busy, broken or missing: no agent loses a match, and a run waits only for a limited time."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena.store import Store
from arena_bridges.llm import endpoint as endpoints
from arena_bridges.llm.apis import Question
from tests.bridges.llm.stub import Answers, Reply, first, serving
from tests.conftest import Arena


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shorten the pauses, and remove the key from the environment."""
    monkeypatch.setattr(endpoints, "FIRST_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(endpoints, "WAIT_SECONDS", 1.0)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    yield
    endpoints.endpoint.cache_clear()


def spec(url: str, **more: Any) -> dict[str, Any]:
    return {"game": "tic-tac-toe", "seed": 1, "agents": [{"agent": "llm", "url": url, "model": "m"}, "random"], **more}


def fail_first(times: int, trouble: Reply) -> Answers:
    """Return a function that answers the first requests with a failure."""
    left = [trouble] * times
    return lambda request: left.pop() if left else first(request)


@pytest.mark.parametrize(
    "trouble",
    [
        Reply(status=429, headers={"Retry-After": "0"}),
        Reply(status=429, headers={"Retry-After": formatdate(usegmt=True)}),
        Reply(status=503, headers={"Retry-After": "0"}),
        Reply("x", cut=20),
        Reply("x", cut=0),
        Reply(status=400, content="something else is wrong"),
    ],
)
def test_temporary_failures_do_not_change_records(trouble: Reply) -> None:
    """The first question of the run fails three times. Moves and amounts are the same as without failures."""
    with serving(first) as stub:
        calm = arena.run(spec(stub.url), concurrency=1).records
        asked = len(stub.requests)
        stub.answers = fail_first(3, trouble)
        records = arena.run(spec(stub.url), concurrency=1).records
        assert len(stub.requests) == asked + 3 + asked
    assert [record.timeless() for record in records] == [record.timeless() for record in calm]


def test_a_retry_waits_as_long_as_the_header_retry_after_says() -> None:
    with serving(fail_first(1, Reply(status=429, headers={"Retry-After": "1"}))) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoints, "WAIT_SECONDS", 30.0)
        began = time.monotonic()
        assert endpoints.endpoint(stub.url).ask(Question("m", [{}, {"content": "Legal moves: 1"}], 9))
        assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    "trouble",
    [Reply(status=429, headers={"Retry-After": "3600"}), Reply("x", seconds=9)],
)
def test_a_permanent_failure_voids_the_matches_of_the_backend(trouble: Reply, tmp_path: Path) -> None:
    """No agent loses, matches of other agents are played, and the next run plays the void ones. The wait is one second."""
    with serving(lambda _: trouble) as stub:
        cup = spec(stub.url, rounds=5)
        cup["agents"].append("greedy")
        results = arena.run(cup, store=tmp_path / "cup.db")
        voids = [record for record in results.records if record.termination == "void"]
        assert len(stub.requests) <= 2 * 8  # the number of concurrent matches is 8
        assert {"llm" in record.labels for record in voids} == {True}
        assert (len(voids), len(results.records)) == (20, 30)
        assert all(record.seat is None for record in voids)
        stub.answers = first
        assert {record.termination for record in arena.run(cup, store=tmp_path / "cup.db").records} == {"normal"}


def test_an_unknown_model_voids_its_matches_at_once() -> None:
    with serving(lambda _: Reply("model m does not exist", status=404)) as stub:
        results = arena.run(spec(stub.url, rounds=50))
        assert len(results.void) == 100
        message = results.void[0].message or ""
        assert "status 404: model m does not exist" in message
        assert message.count("BackendGone") <= 1
        assert len(stub.requests) <= 8  # one request of each concurrent match


def test_a_failing_backend_is_retried_only_during_the_wait() -> None:
    """Only concurrent matches ask the backend, and later matches fail without a request."""
    with serving(lambda _: Reply(status=503)) as stub:
        began = time.monotonic()
        results = arena.run(spec(stub.url, rounds=50))
        took = time.monotonic() - began
    assert len(results.void) == 100
    assert took > 0.5  # the wait is 1 s; pauses start at 0.01 s and double
    assert len(stub.requests) <= 8 * 8
    assert {"BackendGone" in (record.message or "") for record in results.void} == {False}


def test_a_refused_request_voids_only_its_match() -> None:
    """Some questions are too long for the model. Other questions are answered, and the run continues without a long wait."""
    refusing = lambda request: Reply("too long", status=400) if "Moves so far" in str(request) else first(request)  # noqa: E731
    with serving(refusing) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoints, "WAIT_SECONDS", 60.0)
        cup = spec(stub.url, rounds=1)
        cup["agents"][0]["history"] = "own"
        cup["agents"].append({**cup["agents"][0], "history": "none", "label": "forgetful"})
        results = arena.run(cup, concurrency=1)
    played = {record.labels: record.termination for record in results.records}
    assert {ending for labels, ending in played.items() if "llm" in labels} == {"void"}
    assert {ending for labels, ending in played.items() if "llm" not in labels} == {"normal"}


def test_the_limit_of_tokens_is_renamed_on_request() -> None:
    """OpenAI's reasoning models require `max_completion_tokens`."""

    def answers(request: dict[str, Any]) -> Reply:
        if "max_tokens" in request:
            return Reply("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", status=400)
        return first(request)

    with serving(answers) as stub:
        assert arena.run(spec(stub.url), concurrency=1).void == []
        assert sum("max_tokens" in request for request in stub.requests) == 1


def test_missing_and_refused_keys_are_reported_before_the_first_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is missing for a remote address, or the server refuses it."""
    with pytest.raises(
        arena.ArenaError, match=r"llm: https://models\.invalid/v1 needs a key, .*: set the environment variable OPENAI_API_KEY"
    ):
        arena.run(spec("https://models.invalid/v1"))
    with serving(first) as stub:
        stub.models = 401
        monkeypatch.setenv("MY_API_KEY", "wrong")
        keyed = {"agents": [{"agent": "llm", "url": stub.url, "model": "m", "key_env": "MY_API_KEY"}, "random"]}
        with pytest.raises(arena.ArenaError, match="does not accept the key in MY_API_KEY: status 401"):
            arena.run(spec(stub.url, **keyed))
        with pytest.raises(
            arena.ArenaError, match=r"does not accept a request without a key: status 401.*; set one with key_env: NAME"
        ):
            arena.run(spec(stub.url))
        assert stub.requests == []


@pytest.mark.parametrize("listens", [True, False])
def test_entries_of_a_server_that_never_answers_are_left_out(listens: bool, tmp_path: Path) -> None:
    """The server of two entries accepts connections without an answer, or refuses them. Their matches are void, and all
    other matches are played.
    """
    with socket.socket() as free, serving(first) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoints, "FIRST_ANSWER_SECONDS", 0.5)
        free.bind(("127.0.0.1", 0))
        if listens:
            free.listen()
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        cup = spec(url, rounds=2)
        cup["agents"] += [{**cup["agents"][0], "label": "second"}, {**cup["agents"][0], "url": stub.url, "label": "other"}]
        results = arena.run(cup, store=tmp_path / "cup.db")
        silent = {"llm", "second"}
        assert {record.termination for record in results.records if silent & set(record.labels)} == {"void"}
        assert {record.termination for record in results.records if not silent & set(record.labels)} == {"normal"}
        assert all("has not answered within 0.5 s before the first match" in (record.message or "") for record in results.void)
        remarks = " ".join(Leaderboard.of_results(results)[0].remarks)
        assert "20 matches are void and not scored, because the server of an agent did not answer" in remarks
        assert "the game and arena are not at fault" in remarks
        here = arena.run({**cup, "agents": cup["agents"][:2]})
        assert len(here.void) == 4
        assert "are not at fault" in " ".join(Leaderboard.of_results(here)[0].remarks)


def test_the_command_reports_a_missing_backend_and_shows_finished_stores(arena: Arena, tmp_path: Path) -> None:
    """A run without answers exits with 1 after a shortened wait. A complete store is shown and replayed without the
    backend.
    """
    with serving(first) as stub:
        (tmp_path / "s.yaml").write_text(
            "game: tic-tac-toe\nrounds: 1\n"
            f"agents: [random, {{agent: llm, url: '{stub.url}', model: m, price: {{in: 1, out: 0}}}}]\n"
        )
        done = arena("run", "s.yaml", "--store", "s.db", "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert all(word in done.stdout for word in ("Tokens/game", "Cost/game", "s/answer"))
        assert "Tokens in" not in done.stdout  # the key `columns` of a spec shows further columns
        asked = len(stub.requests)
    again = arena("run", "s.yaml", "--store", "s.db", "--quiet")
    assert (again.returncode, again.stdout) == (0, done.stdout)
    hurried = (
        "from arena_bridges.llm import endpoint; endpoint.FIRST_ANSWER_SECONDS = 0.1; import arena.cli as cli; cli.run_process()"
    )
    anew = subprocess.run(
        [sys.executable, "-c", hurried, "run", "s.yaml", "--no-store"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert anew.returncode == 1
    assert "does not answer yet ([Errno 111] Connection refused); if it does not answer within 0.1 s" in anew.stderr
    assert "check that the server runs and that the url is correct" in anew.stderr
    assert "the game and arena are not at fault" in anew.stdout
    assert load_spec(tmp_path / "s.yaml").boards
    with Store.open(tmp_path / "s.db") as store:
        (identity, *_) = [record.id for record, _ in store.records()]
    replayed = arena("replay", "s.db", identity)
    assert replayed.returncode == 0
    assert "so the agents did not replay it" in replayed.stdout
    assert len(stub.requests) == asked
