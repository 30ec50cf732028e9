"""The feedback for authors: a planted mistake is found, with its cost and a better move, within the time that is given."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import load_plugins
from arena.api.store import Store
from arena_review.feedback import LatestReviewer
from arena_review.kept import place_of
from arena_web.api import CostlyDecision, Feedback

ERRING = '''
"""Plays tic-tac-toe perfectly, but badly while there are more than three free squares."""

from arena import Agent, hookimpl


class Erring(Agent):
    name = "erring"
    known = {}

    def choose(self, game, state, search):
        def value(state):
            if game.is_terminal(state):
                return game.returns(state)[0]
            text = game.format_state(state)
            if text not in self.known:
                values = [value(game.result(state, action)) for action in game.actions(state)]
                self.known[text] = max(values) if game.to_move(state) == 0 else min(values)
            return self.known[text]

        sign = 1 if game.to_move(state) == 0 else -1
        if len(game.actions(state)) > 3:
            sign = -sign
        return search.best(game.actions(state), key=lambda action: sign * value(game.result(state, action)))


@hookimpl
def arena_agents():
    return [Erring]
'''


GAME = arena.load_plugins().game("tic-tac-toe")()


@cache
def value(text: str) -> float:
    """The value of a position to the first seat, by all lines of play."""
    state = GAME.parse_state(text)
    if GAME.is_terminal(state):
        return float(GAME.returns(state)[0])
    values = [value(after(text, GAME.format_action(state, action))) for action in GAME.actions(state)]
    return max(values) if GAME.to_move(state) == 0 else min(values)


def after(position: str, action: str) -> str:
    state = GAME.parse_state(position)
    return GAME.format_state(GAME.result(state, GAME.parse_action(state, action)))


def check_costly(found: Sequence[CostlyDecision]) -> None:
    """Each action loses as much as all lines of play say, the better one loses nothing, and only first decisions lose."""
    assert found
    for one in found:
        position = one["position"]
        assert position.count(".") > 3
        assert one["best"] is not None
        assert value(after(position, one["best"])) == value(position)
        assert one["lost"] == one["times"] * abs(value(position) - value(after(position, one["action"]))) > 0
        assert one["grade"] == "decisive mistake"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight rounds of the erring agent against another one, each after four random moves."""
    folder = tmp_path_factory.mktemp("feedback")
    (folder / "erring.py").write_text(ERRING)
    place = folder / "cup.db"
    spec = {
        "game": "tic-tac-toe",
        "agents": ["erring", "greedy"],
        "plugins": [str(folder / "erring.py")],
        "rounds": 4,
        "seed": 1,
    }
    arena.run({**spec, "openings": {"plies": 4}}, store=place)
    return place


def read(store: Path) -> list[Any]:
    with Store.open(store) as opened:
        return [record for record, _ in opened.records(boards=True)]


def test_only_mistakes_are_listed_with_their_losses(store: Path) -> None:
    """In each position, the sum of the losses agrees with a search of all lines of play."""
    registry = load_plugins()
    (part,) = registry.parts[Feedback.kind].values()
    reviewer = part.open(store, registry, ())
    records = read(store)
    expected: dict[str, float] = defaultdict(float)
    for record in records:
        position = record.position
        for action in record.actions:
            state = GAME.parse_state(position)
            if record.labels[GAME.to_move(state)] == "erring":
                expected[position] += abs(value(position) - value(after(position, action)))
            position = after(position, action)
    found = reviewer.find_costly("erring", [record.id for record in records], 100, 60.0)
    assert {one["position"]: one["lost"] for one in found["costly"]} == {key: lost for key, lost in expected.items() if lost}
    check_costly(found["costly"])
    losses = [one["lost"] for one in found["costly"]]
    assert losses == sorted(losses, key=lambda lost: -(lost or 0))
    assert (found["judged"], found["complete"]) == (found["decisions"], True)
    for one in found["costly"]:
        (record,) = [record for record in records if record.id == one["match"]]
        assert record.actions[one["number"]] == one["action"]
    assert not place_of(store).exists()


def test_a_review_stops_at_its_time_limit_and_continues_later(store: Path) -> None:
    """Each call judges at least one more decision, even without any time. The last decisions of matches are judged first."""
    reviewer = LatestReviewer(store, load_plugins(), ())
    keys = [record.id for record in read(store)]
    first = reviewer.find_costly("erring", keys, 3, 0.0)
    assert (first["judged"], first["complete"]) == (1, False)
    judged = 1
    while not (found := reviewer.find_costly("erring", keys, 3, 0.0))["complete"]:
        assert judged < found["judged"] < first["decisions"]
        judged = found["judged"]
    assert len(found["costly"]) == 3
    assert found["judged"] == first["decisions"]
