"""Regret of language models: a review judges their moves, and the gap of a disguise in lost value is a comparison."""

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.api.results import figures
from arena.api.store import Store
from arena.cli import cli
from arena_games.tic_tac_toe import TicTacToe
from arena_review.panels import review_board
from tests.bridges.llm.stub import Reply, legal, move, serving

pytestmark = pytest.mark.process


def knows_the_name(request: dict[str, Any]) -> Reply:
    """A model that takes the centre if it knows the game by its name, and the last move that is listed; or it writes prose."""
    if "x.o" in request["messages"][1]["content"] and len(request["messages"]) == 2:
        return Reply("I take the centre")
    moves = legal(request)
    return move("5" if "tic-tac-toe" in request["messages"][0]["content"] and "5" in moves else moves[-1])


def solve(game: TicTacToe, state: Any) -> float:
    """The value of a state for x, by search of the whole tree."""
    if game.is_terminal(state):
        return game.returns(state)[0]
    values = [solve(game, game.result(state, action)) for action in game.actions(state)]
    return min(values) if game.to_move(state) else max(values)


def test_the_regret_of_a_language_model_has_an_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Mean losses agree with a search of the whole tree. Answers in prose are counted separately and have no regret."""
    monkeypatch.chdir(tmp_path)
    with serving(knows_the_name) as stub:
        model = {"agent": "llm", "url": stub.url, "model": "m", "disguise": {"sweep": [False, True]}}
        cup = {"game": "tic-tac-toe", "seed": 2, "rounds": 12, "openings": {"plies": 2}, "agents": [model, "random"]}
        results = arena.run(cup, store="cup.db")
    cli(["review", "cup.db"], standalone_mode=False)
    terminal = capfd.readouterr().out
    game = TicTacToe()
    values: dict[Any, float] = {}
    losses: dict[str, list[float]] = {}
    for record in results.records:
        state = game.parse_state(record.position)
        for text in record.actions:
            seat, after = game.to_move(state), game.result(state, int(text))
            for one in (state, after):
                values.setdefault(one, solve(game, one))
            if len(game.actions(state)) > 1:
                lost = (values[state] - values[after]) * (1 if seat == 0 else -1)
                losses.setdefault(record.labels[seat], []).append(lost)
            state = after
    with Store.open("cup.db") as store:
        rows = {row["Agent"]: row for row in review_board(store, 0) or ()}
    plain, disguised = "llm(disguise=false)", "llm(disguise=true)"
    for label in (plain, disguised, "random"):
        assert rows[label]["Loss per decision"] == pytest.approx(sum(losses[label]) / len(losses[label]))
        low, high = map(float, rows[label]["95 %"].split(" to "))
        assert low <= rows[label]["Loss per decision"] <= high
    assert sum(one.spent["unreadable"] for record in results.records for one in record.decisions if one.spent) > 0
    cli(["compare", "cup.db", disguised, plain, "--by", "loss", "--format", "json"], standalone_mode=False)
    (pair,) = json.loads(capfd.readouterr().out)[0]["pairs"]
    matches = {label: sum(label in record.labels for record in results.records) for label in (plain, disguised)}
    gap = sum(losses[disguised]) / matches[disguised] - sum(losses[plain]) / matches[plain]
    assert pair["difference"] == pytest.approx(gap)
    assert pair["low"] < gap < pair["high"]
    assert rows[disguised]["Gap per match"] == pytest.approx(gap)
    low, high = map(float, rows[disguised]["95 % (gap)"].split(" to "))
    assert (low, high) == pytest.approx((pair["low"], pair["high"]), rel=0.01)
    assert rows[plain]["Gap per match"] is None
    assert "95 % (gap)" in terminal
    (line,) = [line for line in terminal.splitlines() if line.startswith(f"{disguised}  ")]
    assert f"  {figures.figure(gap)}  {rows[disguised]['95 % (gap)']}  " in line
