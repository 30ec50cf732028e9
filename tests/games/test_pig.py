"""Test Pig against published values, by value iteration and exact expectation, and against open_spiel."""

import random
from collections import defaultdict
from itertools import product
from math import inf
from typing import Any

import pytest

from arena_games.pig import Pig, Race
from tests.games.game_tree import check_state, play_beside, random_match

# The probability that the first player wins under optimal play.
BEST = {10: 0.709424, 20: 0.615559, 25: 0.588109}


def make_state(own: int, other: int, gathered: int = 0) -> Any:
    """Return a state in which seat 0 is to move."""
    return (0, False, gathered, own, other)


def roll_outcomes(game: Pig, state: Any) -> list[tuple[float, Any]]:
    """Return the states after `roll` with their probabilities."""
    rolling = game.result(state, "roll")
    return [(probability, game.result(rolling, face)) for face, probability in game.chance_outcomes(rolling)]


def swap_seats(state: Any) -> Any:
    """Return the same state with the seats exchanged."""
    seat, rolling, gathered, first, second = state
    return (1 - seat, rolling, gathered, second, first)


@pytest.mark.parametrize("target", [10, *[pytest.param(target, marks=pytest.mark.proof) for target in (20, 25)]])
def test_optimal_play_wins_as_often_as_published(target: int) -> None:
    """Value iteration solves one pair of scores after the other, from the fewest points to go."""
    game, wins = Pig(target=target), defaultdict[Any, float](lambda: 0.5)

    def after(state: Any) -> float:
        """Return the probability that seat 0 wins. The other seat sees the same game with the seats exchanged."""
        if game.is_terminal(state):
            return float(game.returns(state)[0] > 0)
        return 1 - wins[swap_seats(state)] if state[0] else wins[state]

    for own, other in sorted(product(range(target), repeat=2), key=sum, reverse=True):
        change = inf
        while change > 1e-10:
            change = 0.0
            for scores in {(own, other), (other, own)}:
                for gathered in range(target - scores[0] + game.sides, -1, -1):
                    state = make_state(*scores, gathered)
                    roll = (
                        sum(probability * after(one) for probability, one in roll_outcomes(game, state))
                        if sum(state[2:4]) < target
                        else 0
                    )
                    best = max(after(game.result(state, "hold")), roll)
                    change, wins[state] = max(change, abs(best - wins[state])), best
    assert wins[make_state(0, 0)] == pytest.approx(BEST[target], abs=1e-6)


@pytest.mark.parametrize("parameters", [{}, {"target": 20}, {"target": 30, "sides": 4}, {"target": 1, "sides": 2}])
def test_random_matches_satisfy_the_interface_of_games_and_agree_with_open_spiel(
    parameters: dict[str, int], pyspiel: Any
) -> None:
    """In open_spiel, a seat with enough points can only hold, so matches are limited to this action there."""
    game = Pig(**parameters)
    spiel = pyspiel.load_game("pig", {"winscore": game.target, "diceoutcomes": game.sides, "horizon": 100_000})
    numbers = {"roll": 0, "hold": 1} | {face: face - 1 for face in range(1, game.sides + 1)}

    def among(state: Any) -> list[Any]:
        seat, rolling, gathered, *scores = state
        return ["hold"] if not rolling and gathered + scores[seat] >= game.target else list(game.actions(state))

    for seed in range(20):
        play_beside(game, spiel, lambda _, action: [numbers[action]], seed, among)
        for state, _ in random_match(game, seed):
            check_state(game, state)


def test_each_seat_has_its_own_chance_stream() -> None:
    game = Pig()
    state = game.result(game.initial(random.Random(0)), "roll")
    assert game.chance_stream(state) == 0
    assert game.chance_stream(swap_seats(state)) == 1


def test_a_seat_wins_only_when_it_holds() -> None:
    """A seat with enough points may still roll and lose them."""
    game = Pig(target=10)
    state = game.parse_state("4:9 +8 a")
    assert list(game.actions(state)) == ["roll", "hold"]
    assert game.format_state(game.result(game.result(state, "roll"), 1)) == "4:9 +0 b"
    won = game.result(state, "hold")
    assert game.format_state(won) == "12:9 +0 b"
    assert (list(game.actions(won)), list(game.returns(won))) == ([], [1, -1])
    assert game.render(game.parse_state("4:9 +8 a?")) == "a   4 of 10   8 gathered, rolling\nb   9 of 10"


def test_race_is_bounded_zero_sum_and_monotonic() -> None:
    """Race rises with the points of a seat. At equal scores, the seat to move is ahead."""
    game = Pig()
    race = Race(game)
    for own, other, gathered in product(range(0, 100, 9), range(0, 100, 9), range(0, 30, 7)):
        state = make_state(own, other, gathered)
        assert -0.99 <= race(state, 0) <= 0.99
        assert race(state, 1) == -race(state, 0) == -race(swap_seats(state), 1)
        assert race(make_state(own + 1, other, gathered), 0) >= race(state, 0) >= race(make_state(own, other + 1, gathered), 0)
        assert race(make_state(own, other, gathered + 1), 0) >= race(state, 0)
    assert race(make_state(50, 50), 0) > 0


def test_race_is_close_to_the_value_of_optimal_play_to_25() -> None:
    """Optimal play wins 0.588109 of the matches from the start, which is a value of 0.176."""
    assert Race(Pig(target=25))(make_state(0, 0), 0) == pytest.approx(2 * BEST[25] - 1, abs=0.05)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected two scores"),
        ("1:2 +3", "expected two scores"),
        ("1:2:3 +3 a", "expected two scores"),
        ("1:x +3 a", "expected two scores"),
        ("1:2 +3 c", "expected two scores"),
        ("1:-2 +3 a", "numbers of at least 0"),
        ("1:2 +3 a!", "optionally followed by ?"),
    ],
)
def test_invalid_state_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Pig().parse_state(text)
