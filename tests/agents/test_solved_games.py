"""Test CFR+ and external-sampling MCCFR: figures of open_spiel, games of known value, and games that they refuse."""

import random
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from arena import Agent, ArenaError, Game
from arena.errors import GameTooLarge
from arena_agents.solved_game import MCCFR, CFRPlus, SolvedGame
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_games.othello import Othello
from arena_games.pig import Pig
from arena_games.tic_tac_toe import TicTacToe
from arena_solution.best_response import NashGap, nash_gap
from arena_solution.sequence_form import sequence_form


class Matching(Game):
    """Both seats choose a coin without seeing the other choice. Seat 0 wins the stake of the coin if the choices are equal."""

    name = "matching"
    max_return = 9.0
    min_return = -9.0

    def __init__(self, *, stakes: Sequence[float] = (1.0, 1.0)) -> None:
        self.stakes = stakes

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return len(state)

    def actions(self, state: Any) -> Sequence[int]:
        return range(len(self.stakes)) if len(state) < 2 else ()

    def result(self, state: Any, action: int) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Sequence[float]:
        won = self.stakes[state[0]] if state[0] == state[1] else -1.0
        return (won, -won)

    def observation(self, state: Any, seat: int) -> Any:
        return tuple([action if seat == mover else None for mover, action in enumerate(state)])


class Forgetful(Matching):
    """The same game, declared as a game of imperfect recall."""

    perfect_recall = False


def measure_gap(agent: SolvedGame, game: Game) -> NashGap:
    return nash_gap(sequence_form(game), lambda _, observation: agent.policy(game, observation))


def test_a_hundred_iterations_on_kuhn_poker_agree_with_open_spiel() -> None:
    """Value and exploitability come from open_spiel's CFRPlusSolver. The value is near the -1/18 of Kuhn's paper."""
    gap = measure_gap(CFRPlus(iterations=100), KuhnPoker())
    assert gap.value[0] == pytest.approx(-0.055584006549, abs=1e-12)
    assert gap.exploitability == pytest.approx(0.001194404101, abs=1e-12)
    assert gap.value[0] == pytest.approx(-1 / 18, abs=1e-4)


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_the_policy_agrees_with_open_spiel_at_every_information_set(iterations: int, missing: Any) -> None:
    """A wrong schedule of updates or averages shows most after few iterations."""
    if find_spec("pyspiel") is None:
        missing("open-spiel", "its CFRPlusSolver gives the expected values: pip install open-spiel")
    game = import_module("pyspiel").load_game("kuhn_poker")
    solver = import_module("open_spiel.python.algorithms.cfr").CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    theirs, ours = solver.average_policy(), CFRPlus(iterations=iterations)
    for card, seat, bets in [(c, len(b) % 2, b) for c in "JQK" for b in ("", "p", "b", "pb")]:
        seen = f"{card}?" if seat == 0 else f"?{card}"
        expected = theirs.policy_for_key(f"{'JQK'.index(card)}{bets}")
        assert ours.policy(KuhnPoker(), (seen, bets)) == pytest.approx(list(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("iterations", "most", "off"), [(100, 0.014, 1e-3), pytest.param(400, 0.0013, 2e-4, marks=pytest.mark.proof)]
)
def test_cfr_plus_approximates_the_value_of_leduc_poker(iterations: int, most: float, off: float) -> None:
    """The value for the first player is -0.0856. Exploitability is below 0.0013 chips after 400 iterations."""
    gap = measure_gap(CFRPlus(iterations=iterations), LeducPoker())
    assert gap.exploitability < most
    assert gap.value[0] == pytest.approx(-0.0856, abs=off)


def test_cfr_plus_approximates_the_value_of_liars_dice() -> None:
    """If each player has one die of four sides, the value for the first player is 0.0623."""
    gap = measure_gap(CFRPlus(iterations=100), LiarsDice(sides=4))
    assert gap.value[0] == pytest.approx(0.0623, abs=gap.exploitability * 2)
    assert gap.exploitability < 0.005


@pytest.mark.parametrize("agent", [CFRPlus(), MCCFR(iterations=3000)], ids=lambda agent: agent.name)
@pytest.mark.parametrize("stakes", [(1.0, 1.0), (1.0, 1.0, 1.0), (3.0, 1.0), (9.0, 4.0, 1.0)], ids=str)
def test_matching_coins_have_the_value_of_their_matrix(agent: SolvedGame, stakes: Sequence[float]) -> None:
    """At equilibrium, seat 0 shows coin k in proportion to 1 / (1 + stake k), so that all replies are worth the same."""
    weights = [1 / (1 + stake) for stake in stakes]
    gap = measure_gap(agent, Matching(stakes=stakes))
    assert gap.value[0] == pytest.approx(1 / sum(weights) - 1, abs=0.05)
    assert gap.exploitability < 0.05
    policy = agent.policy(Matching(stakes=stakes), ())
    assert policy == pytest.approx([weight / sum(weights) for weight in weights], abs=0.05)


def test_mccfr_improves_with_more_iterations() -> None:
    """For comparison, uniform play of Kuhn poker has an exploitability of 0.458."""
    assert measure_gap(MCCFR(iterations=100), KuhnPoker()).exploitability < 0.1
    assert measure_gap(MCCFR(iterations=1000), KuhnPoker()).exploitability < 0.04


def test_cfr_plus_solves_a_game_of_perfect_information() -> None:
    """Several paths lead to the same state of this endgame of tic-tac-toe."""

    class Ending(TicTacToe):
        name = "ending"

        def initial(self, rng: random.Random) -> Any:
            return self.parse_state("x.o/.x./.o.")

    gap = measure_gap(CFRPlus(iterations=60), Ending())
    assert gap.exploitability < 0.01
    assert gap.value[0] == pytest.approx(1.0, abs=0.02)  # x completes the diagonal


def test_equal_games_share_one_solution_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal instances return the same object. Instances with other iterations or parameters have their own solutions."""
    first = CFRPlus(iterations=3).policy(KuhnPoker(), ("J?", ""))
    assert CFRPlus(iterations=3).policy(KuhnPoker(), ("J?", "")) is first
    assert CFRPlus(iterations=4).policy(KuhnPoker(), ("J?", "")) is not first
    three, four = Matching(stakes=(1.0,) * 3), Matching(stakes=(1.0,) * 4)
    assert [len(CFRPlus(iterations=3).policy(game, ())) for game in (three, four)] == [3, 4]


def test_a_decision_samples_the_policy_and_counts_no_nodes(decide: Any) -> None:
    """The first decision computes the solution, and later ones reuse it."""
    agent, game = CFRPlus(iterations=11), KuhnPoker()
    decided = [decide(agent, game, ("K?", ""), seed=str(seed)) for seed in range(400)]
    assert {one.nodes for one in decided} == {0}
    share = sum(one.action == "bet" for one in decided) / 400
    assert share == pytest.approx(agent.policy(game, ("K?", ""))[1], abs=0.1)


@pytest.mark.process
def test_the_solution_is_the_same_in_every_process() -> None:
    """The solution is sampled, and the other process has another hash seed."""
    code = (
        "from arena_agents.solved_game import MCCFR; from arena_games.kuhn_poker import KuhnPoker; "
        "print(MCCFR(iterations=50).policy(KuhnPoker(), ('Q?', 'pb')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert done.stdout.strip() == str(MCCFR(iterations=50).policy(KuhnPoker(), ("Q?", "pb")))


@pytest.mark.parametrize(
    ("agent", "game", "error", "said"),
    [
        (CFRPlus(), Othello(), GameTooLarge, "othello has about .*: mcts, ismcts and pimc play it without a table"),
        (MCCFR(), Pig(target=10_000), GameTooLarge, "pig lasts more than 500 plies, the maximum for mccfr: mcts"),
        (CFRPlus(), Forgetful(), ArenaError, "cfr-plus cannot solve matching, which has imperfect recall: mcts"),
        (MCCFR(), Forgetful(), ArenaError, "mccfr cannot solve matching, which has imperfect recall"),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_unsolvable_games_are_refused_with_a_reason(agent: SolvedGame, game: Game, error: type[Exception], said: str) -> None:
    """The message gives the reason and suggests other agents."""
    with pytest.raises(error, match=said):
        agent.policy(game, game.initial(random.Random(0)))


def test_mccfr_refuses_games_with_too_many_information_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is lowered for the test."""
    monkeypatch.setattr("arena_agents.solved_game.MAX_INFORMATION_SETS", 100)
    with pytest.raises(GameTooLarge, match="leduc-poker has more than 100 information sets, the maximum for mccfr: mcts"):
        MCCFR(iterations=77).policy(LeducPoker(), LeducPoker().initial(random.Random(0)))


def test_cfr_plus_refuses_an_unreachable_position() -> None:
    """CFR+ solves the game from its start. MCCFR plays uniformly on any position that it has not visited."""
    agent: Agent = CFRPlus(iterations=3)
    with pytest.raises(
        ArenaError, match=r"cfr-plus has solved kuhn-poker from its initial state, and .* cannot be reached from there"
    ):
        agent.policy(KuhnPoker(), ("A?", ""))
    assert MCCFR(iterations=3).policy(KuhnPoker(), ("A?", "")) == [0.5, 0.5]
