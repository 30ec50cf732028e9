"""Transcripts of language models on the pages of a store contain all requests and answers, and no secrets."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import arena as package
from arena import Registry, load_plugins
from arena.api.run import transcript_file
from arena.api.store import Store
from arena_records.transcripts import hide_secrets
from arena_web import transcripts
from arena_web.panels import collect_panels
from arena_web.transcripts import entry_transcripts, match_transcript
from tests.bridges.llm.stub import Reply, first, move, serving
from tests.conftest import Arena
from tests.extensions.web.conftest import served

LABEL = 'my "model"'
SECRET = "sk-verysecret0123456789"


def answers(request: dict[str, Any]) -> Reply:
    """Answer illegally first, and then legally with the key of the entry in the thoughts."""
    if request["messages"][-1]["content"].endswith("game."):  # this is the second request
        choice = {
            "message": {"content": first(request).content, "reasoning_content": f"my key is {SECRET}"},
            "finish_reason": "stop",
        }
        return Reply(body=json.dumps({"model": "stub-1", "choices": [choice]}))
    return move("99")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store of matches with a model."""
    place = tmp_path_factory.mktemp("transcripts") / "cup.db"
    with serving(answers) as stub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STUB_API_KEY", SECRET)
        model = {"agent": "llm", "url": stub.url, "model": "m", "label": LABEL, "key_env": "STUB_API_KEY"}
        package.run({"game": "tic-tac-toe", "rounds": 1, "agents": [model, "random", "greedy"]}, store=place)
    return place


@pytest.mark.process
def test_a_match_page_shows_every_exchange_of_its_match(played: Path, registry: Registry) -> None:
    lines = {line["match"]: line for line in map(json.loads, transcript_file(played).read_text("utf-8").splitlines())}
    with Store.open(played) as store:
        for record, _ in store.records():
            told = match_transcript(store, record.id)
            if record.id not in lines:
                assert told is None
                continue
            assert told is not None
            assert [one["outcome"] for one in told["exchanges"]] == [one["outcome"] for one in lines[record.id]["exchanges"]]
            asked, again = told["exchanges"][:2]
            assert "Two sides, x and o" in asked["asked"]
            assert asked["answer"] == '{"move": "99"}'
            assert asked["fault"].startswith("'99' is not a legal move here.")
            assert again["asked"].startswith("'99' is not a legal move here.")
            assert again["thoughts"] == "my key is [secret]"
            (panel,) = [one for one in collect_panels(registry, "match", store, record.id) if one["name"] == "transcript"]
            assert panel["error"] is None
            assert panel["data"] == told
            assert "transcript" not in [one["name"] for one in collect_panels(registry, "match", store, record.id, public=True)]


@pytest.mark.process
def test_an_agent_page_shows_some_exchanges_of_each_outcome(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MAX_PER_OUTCOME", 3)
    with Store.open(played) as store:
        told = entry_transcripts(store, LABEL)
        assert entry_transcripts(store, "random") is None
        assert told is not None
        assert [one["outcome"] for one in told["exchanges"]] == ["illegal"] * 3 + ["legal"] * 3
        sums = {
            name: sum(one.spent[name] for record, _ in store.records() for one in record.decisions if one.spent)
            for name in ("requests", "illegal")
        }
    assert told["counts"] == {"illegal": sums["illegal"], "legal": sums["requests"] - sums["illegal"]}


@pytest.mark.process
def test_a_report_contains_transcripts_on_request(played: Path) -> None:
    with Store.open(played) as store:
        assert collect_panels(load_plugins(), "report", store, None) == []
        (panel,) = collect_panels(load_plugins(["arena_web.report.transcripts"]), "report", store, None)
    assert panel["error"] is None
    assert SECRET not in json.dumps(panel)
    assert len(panel["data"]["exchanges"]) > 10


@pytest.mark.process
def test_long_transcripts_are_shortened(played: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MAX_SHOWN_CHARACTERS", 5000)
    monkeypatch.setattr("arena_records.transcripts.MAX_TEXT_CHARACTERS", 100)
    with Store.open(played) as store:
        told = entry_transcripts(store, LABEL)
    assert told is not None
    assert told["left_out"] > 0
    assert all(len(one["asked"]) < 150 for one in told["exchanges"])


@pytest.mark.parametrize("text", [SECRET, "Bearer abc.def.ghi", "key-0123456789abcdef", "AIza" + "x" * 30, "hunter22"])
def test_secrets_are_hidden(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """These are keys of known forms, and the values of variables with a secret."""
    monkeypatch.setenv("OTHER_API_KEY", "hunter22")
    assert hide_secrets(f"a {text} b") == "a [secret] b"
    assert hide_secrets("a sketch of the keyboard: sk-1") == "a sketch of the keyboard: sk-1"


@pytest.mark.process
def test_replay_shows_a_transcript_in_the_terminal(played: Path, invoke: Arena) -> None:
    """On request, it shows each answer with its outcome and without secrets, and each message once."""
    line = json.loads(transcript_file(played).read_text("utf-8").splitlines()[0])
    plain = invoke("replay", played, line["match"]).stdout
    assert "use --transcript to show the transcript" in plain
    assert not re.search(r"\b99\b", plain)
    shown = invoke("replay", played, line["match"], "--transcript").stdout
    with Store.open(played) as store:
        record, _ = store.record(line["match"])
    own = [number for number, one in enumerate(record.decisions, 1) if record.labels[one.seat] == LABEL]
    outcomes = re.findall(rf"^decision (\d+), {LABEL}, answer (\d) of 2: (\w+)$", shown, re.MULTILINE)
    expected = [(number, answer, outcome) for number in own for answer, outcome in ((1, "illegal"), (2, "legal"))]
    assert outcomes == [tuple(map(str, one)) for one in expected]
    assert shown.count("Two sides, x and o") == 1
    assert shown.count('    {"move": "99"}\n') == shown.count("    my key is [secret]\n") == len(outcomes) // 2
    assert SECRET not in shown


def test_pages_draw_transcripts(played: Path, browser: Any, visiting: Any) -> None:
    """The pages show a match and an agent. A filter by outcome and a search reduce the list."""
    pytest.importorskip("fastapi")
    with served(played.parent, "cup.db") as server:
        visit = visiting(browser, server.address, 1280)
        match = next(line["match"] for line in map(json.loads, transcript_file(played).read_text("utf-8").splitlines()))
        page = visit.go(f"/t/cup/match/{match}")
        page.wait_for_selector("section[aria-label=Transcript] li")
        every = page.locator("section[aria-label=Transcript] li").count()
        page.select_option("section[aria-label=Transcript] select", "illegal")
        found = page.locator("section[aria-label=Transcript] li").count()
        assert 2 * found == every
        page.fill("section[aria-label=Transcript] input", "nothing of the kind")
        assert page.locator("section[aria-label=Transcript] li").count() == 0
        page.fill("section[aria-label=Transcript] input", "two SIDES")
        assert page.locator("section[aria-label=Transcript] li").count() == found
        page.click("section[aria-label=Transcript] summary >> nth=0")
        assert "not a legal move" in page.inner_text("section[aria-label=Transcript] li >> nth=0")
        visit.check()
        page = visit.go(f"/t/cup/entry?name={quote(LABEL)}")
        page.wait_for_selector("section[aria-label=Transcripts] li")
        visit.check()
        visit.end()
