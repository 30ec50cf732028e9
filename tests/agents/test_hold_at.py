"""Hold at 20 wins against itself as often as published."""

import pytest

from arena.traits import Abilities
from arena_agents.simple import HoldAt
from arena_games.pig import Pig
from arena_games.tic_tac_toe import TicTacToe

PUBLISHED = 0.534698
"""The share of matches to 100 that whoever begins wins, where both hold at 20 or with enough."""


def turn(game: Pig, agent: HoldAt, own: int, other: int) -> dict[int, float]:
    """The probabilities of what a turn brings, 0 for a 1 that was rolled, by asking the agent after every roll."""
    ends: dict[int, float] = {}
    waiting = {0: 1.0}
    while waiting:
        gathered = min(waiting)  # no way leads back to it, so each sum of points is looked at once
        share = waiting.pop(gathered)
        state = (0, False, gathered, own, other)
        if agent.policy(game, state) == (0.0, 1.0):
            ends[gathered] = ends.get(gathered, 0.0) + share
            continue
        for face, probability in game.chance_outcomes(game.result(state, "roll")):
            if face == 1:
                ends[0] = ends.get(0, 0.0) + share * probability
            else:
                waiting[gathered + face] = waiting.get(gathered + face, 0.0) + share * probability
    return ends


def test_hold_at_20_against_itself_wins_as_often_as_published() -> None:
    """By exact expectation: what a turn brings depends on the own score alone, and two states may lead to each other."""
    game, agent = Pig(), HoldAt()
    turns = [turn(game, agent, own, 0) for own in range(100)]
    wins: dict[tuple[int, int], float] = {}  # of who is to move; none where the other has 100
    for total in range(198, -1, -1):
        for own in range(max(0, total - 99), min(99, total) + 1):
            other = total - own
            first, second = [
                sum(
                    share * (1.0 if mine + more >= 100 else 1 - wins[theirs, mine + more])
                    for more, share in turns[mine].items()
                    if more
                )
                for mine, theirs in ((own, other), (other, own))
            ]
            missed, theirs_missed = turns[own].get(0, 0.0), turns[other].get(0, 0.0)
            wins[own, other] = (first + missed * (1 - second - theirs_missed)) / (1 - missed * theirs_missed)
    assert wins[0, 0] == pytest.approx(PUBLISHED, abs=1e-6)


def test_it_holds_with_enough_to_win_and_plays_nothing_but_pig() -> None:
    game = Pig(target=50)
    states = [(0, False, 10, 40, 0), (0, False, 9, 40, 0), (1, False, 14, 0, 30), (1, False, 15, 0, 30)]
    asked = [HoldAt(at=15).choose(game, state, None) for state in states]  # type: ignore[arg-type]
    assert asked == ["hold", "roll", "roll", "hold"]
    assert Abilities(HoldAt).find_refusal(game) is None
    assert Abilities(HoldAt).find_refusal(TicTacToe()) == "hold-at cannot play tic-tac-toe: it plays only pig"
