"""Test the cache of answers: which questions are shared by all stores or by equal matches, and which are never cached."""

import stat
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.leaderboard import Leaderboard
from arena_bridges.llm.answers import open_cache
from tests.bridges.llm.stub import first, serving


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache of the test."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def spec(url: str, **own: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m", "price": {"in": 1, "out": 1}, "cache": True, **own}
    return {"game": "tic-tac-toe", "seed": 3, "rounds": 2, "agents": [model, "random"]}


def sums(results: Any) -> dict[str, float]:
    spent = [one.spent for record in results.records for one in record.decisions if one.spent]
    return {name: sum(one.get(name, 0) for one in spent) for name in ("requests", "from_cache", "money", "tokens_in")}


@pytest.mark.parametrize("temperature", [0, 0.7, None])
def test_equal_matches_are_answered_from_the_cache(temperature: float | None, tmp_path: Path, folder: Path) -> None:
    """A second store gets the same records. Cached answers cost nothing, and their tokens count as before."""
    with serving(first) as stub:
        one = arena.run(spec(stub.url, temperature=temperature), store=tmp_path / "one.db")
        asked = len(stub.requests)
        other = arena.run(spec(stub.url, temperature=temperature), store=tmp_path / "other.db")
        assert len(stub.requests) == asked > 0
    assert {record.id: record.actions for record in other.records} == {record.id: record.actions for record in one.records}
    before, after = sums(one), sums(other)
    assert before["requests"] - before["from_cache"] == asked
    assert after == {**before, "from_cache": before["requests"], "money": 0}
    (board,) = Leaderboard.of_results(other)
    sentence = (
        f"{asked:,} requests, {100 * asked:,} tokens in, {10 * asked:,} tokens out; {asked:,} of the answers are from the cache"
    )
    if temperature != 0:  # at 0, some answers of the first run come from the cache, too
        assert f"All language models of this run, excluding void matches: {sentence}." in board.remarks
    assert stat.S_IMODE((folder / "answers.db").stat().st_mode) == 0o600


def test_different_questions_and_matches_are_not_answered_from_the_cache() -> None:
    """At temperature 0, all matches share the answer to a question. Above 0, only equal matches do. A different model or
    option gives a different question.
    """
    with serving(first) as stub:
        asked = []
        for own, seed in (
            ({}, 3),
            ({"model": "n"}, 3),
            ({"tokens": 99}, 3),
            ({"headers": {"X-A": "1"}}, 3),
            ({"temperature": 0.7}, 3),
            ({"temperature": 0.7}, 4),
        ):
            stub.requests.clear()
            arena.run({**spec(stub.url, **own), "seed": seed})
            asked.append(len(stub.requests))
        assert all(asked)
        firsts = {request["messages"][1]["content"] for request in stub.requests}
        assert len(firsts) < len(stub.requests)  # equal questions within the run were all sent
        stub.requests.clear()
        arena.run(spec(stub.url))
        assert stub.requests == []


def test_the_cache_is_off_by_default_and_does_not_change_match_ids(folder: Path) -> None:
    with serving(first) as stub:
        plain = arena.run(spec(stub.url, cache=False))
        assert not folder.exists() or not (folder / "answers.db").exists()
        cached = arena.run(spec(stub.url))
    assert [record.id for record in plain.records] == [record.id for record in cached.records]
    assert open_cache().get("no such key") is None


def test_matches_from_the_cache_count_with_cost_0_in_the_mean_cost_of_a_game() -> None:
    """Half of the matches come from the cache of a shorter run. The cost of a game is the mean over all matches."""
    with serving(first) as stub:
        arena.run({**spec(stub.url, temperature=0.7), "rounds": 1})
        results = arena.run(spec(stub.url, temperature=0.7))
    spent = [sum((one.spent or {}).get("money", 0) for one in record.decisions) for record in results.records]
    assert [value > 0 for value in spent] == [False, False, True, True]
    (board,) = Leaderboard.of_results(results)
    row = next(row for row in board.rows if row["agent"] == "llm")
    assert row["cost_per_game"] == pytest.approx(sum(spent) / 4)
