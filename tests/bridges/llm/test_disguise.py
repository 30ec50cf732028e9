"""Games in disguise: the model reads another story, the record keeps the plain moves, and the board shows the gap."""

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
def test_a_model_in_disguise_reads_no_plain_word_and_its_moves_are_recorded_plainly(game: Any) -> None:
    """All questions of a disguised entry, also with the moves of both sides: another story in each match, and no word of the
    plain one. The record is one of the plain game."""
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
        told = messages[1]["content"].partition("Moves so far: ")[2].partition("\n")[0]
        assert all(line.startswith("player ") for line in told.split("; ") if told)


def test_no_invented_name_is_a_word_of_a_game() -> None:
    names = draw_names(random.Random(0), 14 * 5 * 14 - 5)
    assert not {"dot", "nim", "pig", "pit", "pot"} & {*names}
    with pytest.raises(ValueError, match="needs 976 names for squares, more than 975"):
        draw_names(random.Random(0), 14 * 5 * 14 - 4)


def test_the_plain_text_of_a_move_is_no_move_in_disguise_and_the_reason_has_its_words() -> None:
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


def test_a_card_that_is_hidden_stays_hidden_in_disguise() -> None:
    with serving(first) as stub:
        arena.run(spec(stub.url, "kuhn-poker", rounds=6))
        told = [request["messages"][1]["content"] for request in stub.requests if "hidden" in str(request["messages"][0])]
    assert told
    assert all(text.count("hidden") == 1 for text in told)
    assert KuhnPoker().disguise(random.Random(1)).symbols["?"] == "hidden"


@pytest.mark.parametrize(
    ("game", "reason"),
    [
        ("pig", "disguise: pig has none"),
        ({"name": "tic-tac-toe", "rows": 40, "columns": 40}, "tic-tac-toe has none with these parameters: .*1,600 names"),
    ],
)
def test_a_game_without_a_disguise_is_a_fault_of_the_spec(game: Any, reason: str) -> None:
    with pytest.raises(arena.SpecError, match=reason):
        load_spec(spec("http://127.0.0.1:1/v1", game))


def test_a_disguise_is_another_entry_and_changes_no_other_id() -> None:
    """The ids of plain entries are as before the option existed, because defaults are no part of them."""
    (board,) = load_spec(spec("http://127.0.0.1:1/v1")).boards
    plain, disguised, _ = board.seats
    assert plain.identity != disguised.identity
    assert "disguise" not in json.dumps(plain.identity)
    assert [seat.label for seat in board.seats][:2] == ["llm(disguise=false)", "llm(disguise=true)"]


def knows_the_name(request: dict[str, Any]) -> Reply:
    """A model with a memory and no skill: it takes the centre if it knows the game by its name, and else the first move."""
    moves = legal(request)
    return move("5" if "tic-tac-toe" in request["messages"][0]["content"] and "5" in moves else moves[0])


def test_the_board_shows_the_gap_with_its_interval(tmp_path: Path) -> None:
    """The mean of the paired differences, added up here from the records; shown from the store as well."""
    with serving(knows_the_name) as stub:
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
