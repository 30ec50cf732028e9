"""Test rock-paper-scissors: results, values of policies, and observations."""

import random
from typing import Any

import pytest

from arena.traits import Traits
from arena_games.rock_paper_scissors import RockPaperScissors
from tests.games.game_tree import check_resample, check_state, exploitability, states_of, uniformly, value

BEATS = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}


def always_rock(_: Any, __: Any) -> dict[str, float]:
    return {"rock": 1.0}


def test_each_action_beats_exactly_one_other() -> None:
    game = RockPaperScissors()
    for state in states_of(game):
        check_state(game, state)
        if game.is_terminal(state):
            (played,) = state
            assert game.returns(state)[0] == (played in BEATS) - (played[::-1] in BEATS)
        else:
            check_resample(game, state, random.Random(1))
    assert set(Traits.of(game)) == {"two-player", "zero-sum", "hidden-information", "resample", "simultaneous"}


@pytest.mark.parametrize("rounds", [1, 2])
def test_uniform_play_has_value_0_and_no_exploitability(rounds: int) -> None:
    """A player that always chooses rock can be beaten in every round."""
    game = RockPaperScissors(rounds=rounds)
    assert value(game, uniformly, ()) == pytest.approx(0)
    assert exploitability(game, uniformly) == pytest.approx(0)
    assert exploitability(game, always_rock) == pytest.approx(1)


def test_an_observation_shows_the_previous_rounds() -> None:
    game = RockPaperScissors(rounds=3)
    state = game.result(game.parse_state("rock-paper paper-paper"), "rock")
    assert game.format_state(game.observation(state, 1)) == "chosen [null]: rock-paper paper-paper"
    assert game.render(game.observation(state, 1)) == "rock - paper\npaper - paper\n2 of 3 rounds played"
    assert game.returns(game.result(state, "paper")) == pytest.approx((-2 / 3, 2 / 3))


@pytest.mark.parametrize("text", ["", "rock", "rock-lizard", "rock-rock rock-rock rock-rock", "- rock-rock"])
def test_invalid_state_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected up to 2 rounds such as rock-paper, or -"):
        RockPaperScissors(rounds=2).parse_state(text)
