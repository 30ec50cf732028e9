"""Test that hold-at-20 wins against itself as often as published."""

import pytest

from arena.traits import Abilities
from arena_agents.simple import HoldAt
from arena_games.pig import Pig
from arena_games.tic_tac_toe import TicTacToe

PUBLISHED = 0.534698
"""The share of matches to 100 that the first player wins if both hold at 20 or as soon as they have enough to win."""


def turn_outcomes(game: Pig, agent: HoldAt, own: int, other: int) -> dict[int, float]:
    """Return the probability of each score of a turn, 0 if a 1 is rolled. The agent is asked after every roll."""
    ends: dict[int, float] = {}
    waiting = {0: 1.0}
    while waiting:
        gathered = min(waiting)  # turn totals only grow, so each total is visited once
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
    """The expectation is exact. Two scores of 0 return to the same state, so each pair of equations is solved together."""
    game, agent = Pig(), HoldAt()
    turns = [turn_outcomes(game, agent, own, 0) for own in range(100)]
    wins: dict[tuple[int, int], float] = {}  # for the player to move, by both scores
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


def test_hold_at_holds_with_enough_to_win_and_plays_only_pig() -> None:
    game = Pig(target=50)
    states = [(0, False, 10, 40, 0), (0, False, 9, 40, 0), (1, False, 14, 0, 30), (1, False, 15, 0, 30)]
    asked = [HoldAt(at=15).choose(game, state, None) for state in states]  # type: ignore[arg-type]
    assert asked == ["hold", "roll", "roll", "hold"]
    assert Abilities(HoldAt).find_refusal(game) is None
    assert Abilities(HoldAt).find_refusal(TicTacToe()) == "hold-at cannot play tic-tac-toe: it plays only pig"
