"""Test ISMCTS and PIMC on games with hidden information, and MCTS on games with chance."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from arena import CHANCE, Game, Registry, SpecError, run
from arena.traits import Abilities
from arena_agents.hidden_information import ISMCTS, PIMC
from arena_agents.mcts import MCTS
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.pig import Pig
from arena_games.tic_tac_toe import TicTacToe
from arena_games.twenty_forty_eight import TwentyFortyEight
from tests.agents.test_chance_search import Chances, decide, expected_returns

__all__ = ["decide"]  # a fixture

Decide = Callable[..., Any]
BOTH = pytest.mark.parametrize("kind", [ISMCTS, PIMC], ids=lambda kind: kind.name)


@BOTH
@pytest.mark.parametrize(
    ("seen", "action", "chips"),
    [(("?J", "b"), "pass", -1), (("?K", "b"), "bet", 2), (("J?", "pb"), "pass", -1), (("K?", "pb"), "bet", 2)],
)
def test_the_jack_folds_and_the_king_calls_in_kuhn_poker(kind: Any, seen: Any, action: str, chips: int, decide: Decide) -> None:
    """The value of a decision is its certain gain in chips, scaled to -1 to 1."""
    decided = decide(kind(rollouts=300), KuhnPoker(), seen)
    assert decided.action == action
    assert decided.value == pytest.approx(chips / 2, abs=1e-5)


class Guess(Game):
    """Chance hides a coin. Seat 0 takes a sure 0.4, or guesses: a right guess is worth 1 and a wrong guess -1."""

    name = "guess"

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return 0 if state else CHANCE

    def actions(self, state: Any) -> Sequence[str]:
        if not state:
            return "ht"
        if len(state) == 1:
            return ("sure", "guess")
        return "ht" if state[1:] == ("guess",) else ()

    def chance_outcomes(self, state: Any) -> Sequence[tuple[str, float]]:
        return [("h", 0.5), ("t", 0.5)]

    def result(self, state: Any, action: str) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Sequence[float]:
        won = 0.4 if state[1] == "sure" else 1.0 if state[0] == state[2] else -1.0
        return (won, -won)

    def observation(self, state: Any, seat: int) -> Any:
        return ("?", *state[1:]) if state else state

    def resample(self, observation: Any, seat: int, rng: random.Random) -> Any:
        return (rng.choice("ht"), *observation[1:])


def test_pimc_prefers_a_guess_and_ismcts_the_certain_return(decide: Decide) -> None:
    """PIMC suffers from strategy fusion (Frank and Basin, 1998): the guess wins in every sampled state, although it is worth
    0.
    """
    for seed in range(5):
        assert decide(PIMC(), Guess(), ("?",), seed=f"{seed}").action == "guess"
        decided = decide(ISMCTS(), Guess(), ("?",), seed=f"{seed}")
        assert (decided.action, decided.value) == ("sure", pytest.approx(0.4))
        assert decide(ISMCTS(), Guess(), ("?", "guess"), seed=f"{seed}").value == pytest.approx(0, abs=0.2)


class Seen(TicTacToe):
    """Tic-tac-toe with a `resample` method that returns the observation, because the game hides nothing."""

    name = "seen"

    def resample(self, observation: Any, seat: int, rng: random.Random) -> Any:
        return observation


@BOTH
def test_wins_are_taken_and_threats_are_blocked_if_nothing_is_hidden(
    kind: Any, decide: Decide, open_positions: list[Any]
) -> None:
    """The positions of tic-tac-toe have one winning action, or one action that blocks the opponent."""
    game = Seen()
    for state in open_positions[::97]:
        seat = game.to_move(state)
        own, other = game.threats(state, seat), game.threats(state, 1 - seat)
        if len(own) == 1 or (not own and len(other) == 1):
            decided = decide(kind(rollouts=500), game, state)
            assert decided.action in (own or other) or (own and decided.value > 0.99), "a later win counts as much"


@BOTH
def test_equal_random_streams_give_equal_decisions(kind: Any, decide: Decide) -> None:
    """The position is Leduc poker after a call and a raise."""
    game = LeducPoker()
    state = game.initial(random.Random(0))
    for action in ("J1", "Q2", "call", "raise"):
        state = game.result(state, action)
    seen = game.observation(state, 0)
    first = decide(kind(rollouts=200), game, seen)
    assert decide(kind(rollouts=200), game, seen) == first
    assert first.action in game.actions(seen)


@BOTH
@pytest.mark.parametrize("nodes", [1, 50])
def test_a_node_budget_ends_the_search(kind: Any, nodes: int, decide: Decide) -> None:
    with pytest.raises(BaseException, match="nodes") as raised:
        decide(kind(), KuhnPoker(), ("Q?", ""), limits={"nodes": nodes})
    assert type(raised.value).__name__ == "OutOfBudget"


@BOTH
def test_games_without_resample_are_refused(kind: Any) -> None:
    """MCTS, in contrast, refuses games with hidden information."""
    assert (
        Abilities(kind).find_refusal(TicTacToe())
        == f"{kind.name} cannot play tic-tac-toe: needs resample; tic-tac-toe is two-player, zero-sum"
    )
    assert Abilities(kind).find_refusal(KuhnPoker()) is None
    assert Abilities(MCTS).find_refusal(KuhnPoker()) == "mcts cannot play kuhn-poker: kuhn-poker has hidden-information"
    assert Abilities(MCTS).find_refusal(Pig()) is None


@pytest.mark.parametrize("options", [{"agent": "ismcts", "rollouts": 0}, {"agent": "pimc", "worlds": 0}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="expected at least 1"):
        run({"game": "tic-tac-toe", "agents": ["random", options]})


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_mcts_proves_the_value_of_a_tree_with_chance(seats: int, decide: Decide) -> None:
    """The search ends by itself when the tree is proven. The value is the expectation over the whole tree."""
    for seed in range(2):
        game = Chances(seed=seed, seats=seats)
        decided = decide(MCTS(rollouts=10**6), game, ())
        best = [expected_returns(game, game.result((), action), 99, 1)[0] for action in game.actions(())]
        assert decided.value == pytest.approx(max(best), abs=1e-9)
        assert best[decided.action] == pytest.approx(max(best), abs=1e-9)


def test_mcts_approximates_the_value_of_a_game_of_unlimited_length(decide: Decide) -> None:
    """In Pig to 10 at 9:9, the player to roll wins with p = 5/6 + (1 - p) / 6, so p = 6/7."""
    game = Pig(target=10)
    decided = decide(MCTS(rollouts=3000), game, game.parse_state("9:9 +0 a"))
    assert (decided.action, decided.value) == ("roll", pytest.approx(2 * 6 / 7 - 1, abs=0.05))


def test_mcts_samples_chance_outcomes_with_their_probabilities(decide: Decide) -> None:
    """A lottery won once in ten times is worth -0.8, which is less than a certain loss of 0.5."""

    class Lottery(Guess):
        name = "lottery"

        def initial(self, rng: random.Random) -> Any:
            return ("start",)

        def to_move(self, state: Any) -> int:
            return CHANCE if state == ("start", "ticket") else 0

        def actions(self, state: Any) -> Sequence[str]:
            return ("ticket", "none") if state == ("start",) else ("win", "lose") if state[-1] == "ticket" else ()

        def chance_outcomes(self, state: Any) -> Sequence[tuple[str, float]]:
            return [("win", 0.1), ("lose", 0.9)]

        def returns(self, state: Any) -> Sequence[float]:
            won = {"win": 1.0, "lose": -1.0, "none": -0.5}[state[-1]]
            return (won, -won)

    decided = decide(MCTS(rollouts=400), Lottery(), ("start",))
    assert (decided.action, decided.value) == ("none", pytest.approx(-0.5, abs=1e-5))


def test_mcts_plays_a_game_without_an_upper_bound_of_returns(decide: Decide) -> None:
    """The values of 2048 are scores. The tree scales them, so that exploration still tries each action."""
    game = TwentyFortyEight(rows=2, columns=2)
    state = game.initial(random.Random(0))
    while game.to_move(state) == CHANCE:
        state = game.result(state, game.actions(state)[0])
    decided = decide(MCTS(rollouts=300), game, state)
    assert decided.action in game.actions(state)
    assert 0 <= decided.value < 1000


def test_games_with_hidden_cards_have_two_default_opponents(registry: Registry) -> None:
    """`arena try` and `arena check` need another opponent besides `random`."""
    for name in ("kuhn-poker", "leduc-poker", "hearts", "goofspiel"):
        assert {"random", "ismcts"} <= set(registry.list_references(registry.games[name]()))
