"""Limits that the user has not named replace no action of an agent by a random one."""

from typing import Any

import pytest

from arena import Action, Agent, Game, Limits, Search, State, play
from arena.match.match import seat_identity

PATIENT = Limits(nodes=100, patient=True)


class Planner(Agent):
    """Looks four plies ahead and reports nothing; in the first position of connect four, that is 7 + 7^2 + 7^3 + 7^4 states."""

    name = "planner"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        def count(here: State, plies: int) -> int:
            if not plies or game.is_terminal(here):
                return 1
            return sum(count(game.result(here, action), plies - 1) for action in game.actions(here))

        return max(game.actions(state), key=lambda action: count(game.result(state, action), 3))


class Counter(Agent):
    """Generates states until it is stopped. It reports an action before the limit, or when the limit ends its decision."""

    def __init__(self, *, late: bool) -> None:
        self.late = late

    name = "counter"

    def choose(self, game: Game, state: State, search: Search) -> Action:
        first = game.actions(state)[0]
        if not self.late:
            search.report(first)
        try:
            while True:
                game.result(state, first)
        finally:
            search.report(first)


def test_an_agent_without_reports_ignores_default_limits() -> None:
    """If the user sets the limit, the moves of this agent are random."""
    free = play("connect-four", [Planner(), "random"], limits={"moves": 3})
    patient = play("connect-four", [Planner(), "random"], limits=Limits(nodes=100, moves=3, patient=True))
    named = play("connect-four", [Planner(), "random"], limits={"nodes": 100, "moves": 3})
    assert [free.fallbacks, patient.fallbacks, named.fallbacks] == [0, 0, 2]
    assert free.decisions[0].nodes == patient.decisions[0].nodes == 7 + 7**2 + 7**3 + 7**4
    assert patient.actions[0] == free.actions[0]
    assert named.decisions[0].nodes == 100


@pytest.mark.parametrize("late", [False, True])
def test_an_agent_that_reports_moves_stops_at_the_limit(late: bool) -> None:
    record = play("connect-four", [Counter(late=late), Counter(late=late)], limits=PATIENT)
    assert record.fallbacks == 0
    assert {decision.nodes for decision in record.decisions} == {100}
    assert set(record.actions[:6]) == {"1"}, "the first column until it is full"


def test_a_decision_that_fails_without_limits_is_a_fault() -> None:
    class Failing(Agent):
        name = "failing"

        def choose(self, game: Game, state: State, search: Search) -> Any:
            for _ in range(200):
                game.result(state, game.actions(state)[0])
            raise LookupError("after 200 states")

    record = play("tic-tac-toe", [Failing(), "random"], limits=PATIENT)
    assert (record.termination, record.seat) == ("exception", 0)
    assert "after 200 states" in str(record.message)


def test_the_word_patient_is_part_of_an_identity_only_if_limits_are_patient() -> None:
    texts = [seat_identity("a", {}, None, limits, None) for limits in (Limits(nodes=100), PATIENT)]
    assert "patient" not in texts[0]
    assert '"patient":true' in texts[1]
