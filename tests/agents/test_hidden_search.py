"""Searches over possible states: what is certain in Kuhn poker, where perfect information misleads, and chance in mcts."""

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
from tests.agents.test_chance_search import Chances, decide, twin

__all__ = ["decide"]  # a fixture

Decide = Callable[..., Any]
BOTH = pytest.mark.parametrize("kind", [ISMCTS, PIMC], ids=lambda kind: kind.name)


@BOTH
@pytest.mark.parametrize(
    ("seen", "action", "chips"),
    [(("?J", "b"), "pass", -1), (("?K", "b"), "bet", 2), (("J?", "pb"), "pass", -1), (("K?", "pb"), "bet", 2)],
)
def test_what_is_certain_in_kuhn_poker_is_played(kind: Any, seen: Any, action: str, chips: int, decide: Decide) -> None:
    """The jack folds to a bet, the king calls it, at their prices on the scale from -1 to 1."""
    decided = decide(kind(rollouts=300), KuhnPoker(), seen)
    assert decided.action == action
    assert decided.value == pytest.approx(chips / 2, abs=1e-5)


class Guess(Game):
    """Chance hides a coin. Seat 0 takes a sure 0.4, or it guesses: 1 where it is right, -1 where it is not."""

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


def test_who_takes_every_state_for_known_guesses_and_who_does_not_takes_what_is_sure(decide: Decide) -> None:
    """Strategy fusion (Frank and Basin, 1998): the guess looks certain in every world, and is worth nothing."""
    for seed in range(5):
        assert decide(PIMC(), Guess(), ("?",), seed=f"{seed}").action == "guess"
        decided = decide(ISMCTS(), Guess(), ("?",), seed=f"{seed}")
        assert (decided.action, decided.value) == ("sure", pytest.approx(0.4))
        assert decide(ISMCTS(), Guess(), ("?", "guess"), seed=f"{seed}").value == pytest.approx(0, abs=0.2)


class Seen(TicTacToe):
    """Tic-tac-toe in which there is nothing to be drawn."""

    name = "seen"

    def resample(self, observation: Any, seat: int, rng: random.Random) -> Any:
        return observation


@BOTH
def test_with_nothing_hidden_a_win_is_found_and_a_threat_is_blocked(kind: Any, decide: Decide, open_positions: list[Any]) -> None:
    """In positions of tic-tac-toe with one winning action, or with one that keeps the other seat from it."""
    game = Seen()
    for state in open_positions[::97]:
        seat = game.to_move(state)
        own, other = game.threats(state, seat), game.threats(state, 1 - seat)
        if len(own) == 1 or (not own and len(other) == 1):
            decided = decide(kind(rollouts=500), game, state)
            assert decided.action in (own or other) or (own and decided.value > 0.99), "a later win counts as much"


@BOTH
def test_the_same_number_gives_the_same_decision_and_another_state_changes_nothing(kind: Any, decide: Decide) -> None:
    """Equal decisions from equal streams, in Leduc poker after a call and a raise."""
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
def test_a_budget_ends_the_search_with_something_to_play(kind: Any, nodes: int, decide: Decide) -> None:
    """The node limit is kept; where it ends, an action is reported."""
    with pytest.raises(BaseException, match="nodes") as raised:
        decide(kind(), KuhnPoker(), ("Q?", ""), limits={"nodes": nodes})
    assert type(raised.value).__name__ == "OutOfBudget"


@BOTH
def test_it_is_refused_where_nothing_can_be_drawn(kind: Any) -> None:
    """It needs `resample`; mcts is refused on what is hidden."""
    assert (
        Abilities(kind).find_refusal(TicTacToe())
        == f"{kind.name} cannot play tic-tac-toe: needs resample; tic-tac-toe is two-player, zero-sum"
    )
    assert Abilities(kind).find_refusal(KuhnPoker()) is None
    assert Abilities(MCTS).find_refusal(KuhnPoker()) == "mcts cannot play kuhn-poker: kuhn-poker has hidden-information"
    assert Abilities(MCTS).find_refusal(Pig()) is None


@pytest.mark.parametrize("options", [{"agent": "ismcts", "rollouts": 0}, {"agent": "pimc", "worlds": 0}])
def test_options_out_of_range_are_refused(options: dict[str, Any]) -> None:
    """No simulation at all, and no world."""
    with pytest.raises(SpecError, match="expected at least 1"):
        run({"game": "tic-tac-toe", "agents": ["random", options]})


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_mcts_proves_the_value_of_a_tree_with_chance(seats: int, decide: Decide) -> None:
    """With simulations without end it ends by itself, with the value of a twin that knows the whole tree, and such an action."""
    for seed in range(2):
        game = Chances(seed=seed, seats=seats)
        decided = decide(MCTS(rollouts=10**6), game, ())
        best = [twin(game, game.result((), action), 99, 1)[0] for action in game.actions(())]
        assert decided.value == pytest.approx(max(best), abs=1e-9)
        assert best[decided.action] == pytest.approx(max(best), abs=1e-9)


def test_mcts_comes_near_the_value_of_a_race_that_never_has_to_end(decide: Decide) -> None:
    """Pig to 10 at nine each: who is to roll wins with p = 5/6 + (1 - p) / 6, which is 6/7."""
    game = Pig(target=10)
    decided = decide(MCTS(rollouts=3000), game, game.parse_state("9:9 +0 a"))
    assert (decided.action, decided.value) == ("roll", pytest.approx(2 * 6 / 7 - 1, abs=0.05))


def test_mcts_draws_chance_by_its_probabilities(decide: Decide) -> None:
    """A lottery that is won once in ten times is worth -0.8, and less than a certain loss of half."""

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


def test_mcts_plays_for_a_score_without_an_upper_bound(decide: Decide) -> None:
    """2048 on two by two: values are scores, scaled within the tree, so that it still looks at every action."""
    game = TwentyFortyEight(rows=2, columns=2)
    state = game.initial(random.Random(0))
    while game.to_move(state) == CHANCE:
        state = game.result(state, game.actions(state)[0])
    decided = decide(MCTS(rollouts=300), game, state)
    assert decided.action in game.actions(state)
    assert 0 <= decided.value < 1000


def test_games_with_hidden_cards_have_rivals_for_new_agents(registry: Registry) -> None:
    """`arena try` and `arena check` need two agents for a match; `random` alone is one."""
    for name in ("kuhn-poker", "leduc-poker", "hearts", "goofspiel"):
        assert {"random", "ismcts"} <= set(registry.list_references(registry.games[name]()))
