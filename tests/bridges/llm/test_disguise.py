"""Test disguised games: questions in disguise, records of the plain game, and the column of the gap."""

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena_games.disguises import draw_names
from arena_games.kuhn_poker import KuhnPoker
from tests.bridges.llm.stub import Reply, first, legal, move, serving

GAMES = ("tic-tac-toe", "connect-four", {"name": "othello", "size": 4}, {"name": "hex", "size": 3}, "nim", "kuhn-poker")


def spec(url: str, game: Any = "tic-tac-toe", **more: Any) -> dict[str, Any]:
    model = {"agent": "llm", "url": url, "model": "m"}
    return {"game": game, "seed": 4, "rounds": 2, "agents": [model, {**model, "disguise": True}, "random"], **more}


@pytest.mark.parametrize("game", GAMES)
def test_questions_are_disguised_and_records_are_plain(game: Any) -> None:
    """Each match has a different disguise, and no question contains a word of the plain game, even with the history of both
    sides. The record is one of the plain game.
    """
    with serving(first) as stub:
        cup = spec(
            stub.url,
            game,
            agents=[{"agent": "llm", "url": stub.url, "model": "m", "disguise": True, "history": "both"}, "random"],
        )
        records = arena.run(cup).records
        asked = [request["messages"] for request in stub.requests]
    assert {record.termination for record in records} == {"normal"}
    made = load_spec(cup).boards[0].game
    for record in records:
        state = made.parse_state(record.position)
        for text in record.actions:
            state = made.result(state, {made.format_action(state, one): one for one in made.actions(state)}[text])
        assert tuple(made.returns(state)) == record.returns
    stories = {messages[0]["content"] for messages in asked}
    assert 1 < len(stories) <= 4
    name = game if isinstance(game, str) else game["name"]
    for messages in asked:
        text = "\n".join(message["content"] for message in messages)
        assert name not in text.lower()
        assert not re.findall(r"\b(?:seat|x|column|disc|stick|pot|card)s?\b", text.lower())
        shown = messages[1]["content"].partition("Moves so far: ")[2].partition("\n")[0]
        assert all(line.startswith("player ") for line in shown.split("; ") if shown)


def test_invented_names_are_not_words_of_games() -> None:
    names = draw_names(random.Random(0), 14 * 5 * 14 - 5)
    assert not {"dot", "nim", "pig", "pit", "pot"} & {*names}
    with pytest.raises(ValueError, match="needs 976 names for squares, but only 975 are available"):
        draw_names(random.Random(0), 14 * 5 * 14 - 4)


def test_a_plain_move_is_illegal_in_disguise() -> None:
    def plain(request: dict[str, Any]) -> Reply:
        return move("5") if len(request["messages"]) == 2 else first(request)

    with serving(plain) as stub:
        cup = spec(stub.url)
        cup["agents"] = [cup["agents"][1], "random"]
        records = arena.run(cup).records
        refusals = [request["messages"][3]["content"] for request in stub.requests if len(request["messages"]) > 2]
        lists = [legal(request) for request in stub.requests if len(request["messages"]) > 2]
    assert {record.termination for record in records} == {"normal"}
    assert len(refusals) == sum(one.spent is not None for record in records for one in record.decisions)
    assert all(all(name in text for name in names) for text, names in zip(refusals, lists, strict=True))


def test_a_hidden_card_stays_hidden_in_disguise() -> None:
    with serving(first) as stub:
        arena.run(spec(stub.url, "kuhn-poker", rounds=6))
        shown = [request["messages"][1]["content"] for request in stub.requests if "hidden" in str(request["messages"][0])]
    assert shown
    assert all(text.count("hidden") == 1 for text in shown)
    assert KuhnPoker().disguise(random.Random(1)).symbols["?"] == "hidden"


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("pig", "disguise: pig has no disguise"),
        ({"name": "tic-tac-toe", "rows": 40, "columns": 40}, "tic-tac-toe has no disguise with these parameters: .*1,600 names"),
    ],
)
def test_a_game_without_a_disguise_is_refused(game: Any, reason: str) -> None:
    with pytest.raises(arena.SpecError, match=reason):
        load_spec(spec("http://127.0.0.1:1/v1", game))


def test_a_disguise_changes_only_the_id_of_its_entry() -> None:
    """Ids omit defaults, so plain entries keep the ids from before the option existed."""
    (board,) = load_spec(spec("http://127.0.0.1:1/v1")).boards
    plain, disguised, _ = board.seats
    assert plain.identity != disguised.identity
    assert "disguise" not in json.dumps(plain.identity)
    assert [seat.label for seat in board.seats][:2] == ["llm(disguise=false)", "llm(disguise=true)"]


def answer_from_memory(request: dict[str, Any]) -> Reply:
    """Take the centre if the question names the game, and otherwise the first move, like a model with memory but no skill."""
    moves = legal(request)
    return move("5" if "tic-tac-toe" in request["messages"][0]["content"] and "5" in moves else moves[0])


def test_the_board_shows_the_gap_and_its_interval(tmp_path: Path) -> None:
    """The expected gap is the mean of the paired differences in the records. A board from the store shows the same."""
    with serving(answer_from_memory) as stub:
        results = arena.run(spec(stub.url, rounds=4), store=tmp_path / "cup.db")
        again = arena.run(spec(stub.url, rounds=4), store=tmp_path / "cup.db")
    rows = {row["agent"]: row for row in Leaderboard.of_results(results)[0].rows}
    plain, disguised = "llm(disguise=false)", "llm(disguise=true)"
    got: dict[str, list[float]] = {plain: [], disguised: []}
    for record in results.records:
        if "random" in record.labels:
            seat = 1 - record.labels.index("random")
            got[record.labels[seat]].append(record.returns[seat])
    assert len(got[plain]) == len(got[disguised]) == 8
    assert rows[disguised]["gap"] == pytest.approx((sum(got[plain]) - sum(got[disguised])) / 8)
    assert rows[disguised]["gap_low"] <= rows[disguised]["gap"] <= rows[disguised]["gap_high"]
    assert rows[plain]["gap"] is rows["random"]["gap"] is None
    assert [row["gap"] for row in Leaderboard.of_results(again)[0].rows] == [row["gap"] for row in rows.values()]
