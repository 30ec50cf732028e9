"""Elo is plotted against cost and tokens, for models behind a real server. The Pareto front agrees with its definition."""

import random
from pathlib import Path
from typing import Any

import pytest

import arena
from arena_web.report.drawing import plots_of, whole
from arena_web.report.evidence import read
from arena_web.report.frontier import Priced, find_front
from tests.bridges.llm.stub import Reply, legal, move, serving


def test_the_pareto_front_agrees_with_its_definition() -> None:
    """An agent is in the front if all agents of the same or a higher rating cost more, by comparison of all pairs."""
    rng = random.Random(1)
    for _ in range(200):
        agents = [Priced(str(n), rng.randint(1, 6), rng.randint(-3, 3), None, None) for n in range(rng.randint(1, 8))]
        found = {one.agent for one in find_front(agents) if one.in_front}
        for one in agents:
            better = [
                o
                for o in agents
                if (o.cost <= one.cost and o.rating > one.rating) or (o.cost < one.cost and o.rating == one.rating)
            ]
            equal = [other for other in agents if (other.cost, other.rating) == (one.cost, one.rating)]
            assert sum(other.agent in found for other in equal) == (0 if better else 1)


@pytest.mark.process
def test_a_report_shows_elo_against_cost_and_tokens(tmp_path: Path) -> None:
    """The expensive model takes the centre and corners. The cheap one chooses badly, and the third is as weak and more
    expensive.
    """

    def answers(request: dict[str, Any]) -> Reply:
        moves = legal(request)
        best = [text for text in ("5", "1", "3", "7", "9") if text in moves] if request["model"] == "good" else moves[::-1]
        return move((best or moves)[0])

    with serving(answers) as stub:
        models = [
            {"agent": "llm", "url": stub.url, "model": model, "label": label, "price": {"in": price, "out": price}}
            for model, label, price in (("good", "dear", 9), ("bad", "cheap", 1), ("bad", "poor", 5))
        ]
        results = arena.run({"game": "tic-tac-toe", "rounds": 2, "agents": [*models, "random"]}, store=tmp_path / "cup.db")
    (evidence,) = read(tmp_path / "cup.db").boards
    plots = {plot.name: plot for plot in plots_of(evidence)}
    shown: dict[Any, tuple[Any, ...]] = {row[0]: row for row in plots["elo-cost"].rows}
    board = {row["agent"]: row for row in evidence.board.rows}
    spent: dict[str, list[float]] = {}
    for record in results.records:
        for seat, label in enumerate(record.labels):
            money = [one.spent for one in record.decisions if one.seat == seat and one.spent]
            spent.setdefault(label, []).append(sum(one["money"] for one in money))
            spent.setdefault(f"{label} tokens", []).append(sum(one["tokens_in"] + one["tokens_out"] for one in money))
    assert shown.keys() == {"dear", "cheap", "poor"}
    for label in shown:
        assert shown[label][1] == pytest.approx(sum(spent[label]) / len(spent[label]))
        assert shown[label][2] == board[label]["rating"]
        tokens = {row[0]: row[1] for row in plots["elo-tokens"].rows}
        assert tokens[label] == pytest.approx(sum(spent[f"{label} tokens"]) / len(spent[f"{label} tokens"]))
    places = {label: (row[1], row[2]) for label, row in shown.items()}  # cost and rating
    dominated = [
        label
        for label, (cost, rating) in places.items()
        if any(other != (cost, rating) and other[0] <= cost and other[1] >= rating for other in places.values())
    ]
    assert {label for label, row in shown.items() if row[-1] == "no"} == set(dominated)
    assert b"<svg" in whole(plots["elo-cost"], "svg")
