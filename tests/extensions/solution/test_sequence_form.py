"""The sequence form has the known size and a limit, and some games are refused."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from arena import CHANCE, ArenaError, Game, GameError
from arena.errors import GameTooLarge
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.othello import Othello
from arena_games.tic_tac_toe import TicTacToe
from arena_solution.sequence_form import estimate_states, sequence_form
from tests.extensions.solution.dealt_games import Dealt


@pytest.mark.parametrize(
    ("game", "states", "sets"),
    [(KuhnPoker(), 58, [6, 6]), (LeducPoker(), 9457, [468, 468])],
    ids=lambda given: getattr(given, "name", None),
)
def test_the_tree_has_the_known_size(game: Game, states: int, sets: Sequence[int]) -> None:
    """open_spiel counts 58 and 9,457 histories, and 12 and 936 information sets."""
    form = sequence_form(game)
    assert form.states == states
    assert [len(found) for found in form.information_sets] == sets


def test_the_estimate_of_the_size_is_right_on_average() -> None:
    """Tic-tac-toe has 549,946 histories. The estimate is exact if all nodes of a depth are alike."""
    game = TicTacToe()
    assert estimate_states(game, (0, 0)) == pytest.approx(549_946, rel=0.3)
    dealt = Dealt(seed=1)
    assert estimate_states(dealt, ((), ())) == sequence_form(dealt).states


def test_the_error_for_a_large_game_gives_its_size_and_an_alternative() -> None:
    """The error comes at once for a huge game, and during the expansion for a smaller one. A game without an end is refused,
    too.
    """
    with pytest.raises(GameTooLarge, match=r"^the tree of othello has about \de\+\d\d states; .* at most 1,000,000: use mcts$"):
        sequence_form(Othello(), instead="use mcts")
    with pytest.raises(GameTooLarge, match=r"^the tree of leduc-poker has about 1e\+04 states; .* 2,000: use smaller"):
        sequence_form(LeducPoker(), most=2_000)
    assert sequence_form(LeducPoker(), most=9_457).states == 9_457
    with pytest.raises(GameTooLarge, match="the tree of going-round has too many states"):
        sequence_form(GoingRound())


class GoingRound(Game):
    """A game in which two seats move for ever."""

    name = "going-round"

    def initial(self, rng: random.Random) -> Any:
        return 0

    def to_move(self, state: Any) -> int:
        return int(state)

    def actions(self, state: Any) -> Sequence[int]:
        return (0,)

    def result(self, state: Any, action: int) -> Any:
        return 1 - state

    def returns(self, state: Any) -> Sequence[float]:
        return (0.0, 0.0)


class Forgetful(Dealt):
    """A game whose observations show a seat its card and the number of actions so far, but not the actions."""

    def observation(self, state: Any, seat: int) -> Any:
        seen = super().observation(state, seat)
        return (seen[0], len(state[1]))


class Unequal(Dealt):
    """A game in which a seat that sees nothing has two actions with one card of the other seat, and three with another card."""

    def actions(self, state: Any) -> Sequence[Any]:
        return (0, 1, 2) if state == (("x", "y"), ()) else super().actions(state)


class Unfair(Dealt):
    """A game whose cards have a total probability of 1.2."""

    def chance_outcomes(self, state: Any) -> Sequence[tuple[Any, float]]:
        return [("x", 0.6), ("y", 0.6)]


class Lost(Dealt):
    """A game in which a seat that does not exist has to move."""

    def to_move(self, state: Any) -> int:
        return CHANCE if len(state[0]) < 2 else 2


class Honest(Dealt):
    """A game that declares imperfect recall."""

    perfect_recall = False


def find_game(kind: type[Dealt]) -> Dealt:
    """Return a game in which one seat acts twice and has a choice each time."""
    return next(game for game in (kind(seed=seed) for seed in range(99)) if game.order == [0, 0, 1] and min(game.choices) == 2)


@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        (Forgetful, ArenaError, "does not show seat 0 what it has done before; such a game must set perfect_recall = False"),
        (Honest, ArenaError, "dealt has imperfect recall"),
        (Unequal, GameError, "in two states with different actions"),
        (Unfair, GameError, "probabilities that add up to 1.2"),
        (Lost, GameError, "to_move gave 2; expected CHANCE or a seat below 2"),
    ],
)
def test_a_game_without_a_sequence_form_is_refused(kind: type[Dealt], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        sequence_form(find_game(kind))
