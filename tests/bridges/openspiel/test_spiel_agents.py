"""Test open_spiel's agents: equal play from equal seeds, and policies with the exploitability that open_spiel reports."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from arena import ArenaError, play
from arena.errors import GameTooLarge
from arena.traits import Abilities
from arena_bridges.openspiel.agents import OpenSpielCFR, OpenSpielMCTS
from arena_bridges.openspiel.game import OpenSpiel
from arena_solution.best_response import nash_gap
from arena_solution.sequence_form import sequence_form

HEX = OpenSpiel(game="hex(board_size=4)")


def test_tree_search_is_reproducible_with_the_same_seed() -> None:
    """A different seed gives a different match."""
    agents = [OpenSpielMCTS(simulations=50), OpenSpielMCTS(simulations=50)]
    one, again, other = [play(HEX, agents, seed=seed) for seed in (1, 1, 2)]
    assert one.actions == again.actions
    assert one.actions != other.actions
    assert {decision.nodes for decision in one.decisions} <= set(range(51))


def test_tree_search_takes_an_immediate_win_and_beats_random_play(decide: Callable[..., Any]) -> None:
    game = OpenSpiel(game="tic_tac_toe")
    chosen = decide(OpenSpielMCTS(), game, game.parse_state("0 3 1 4"))
    assert (chosen.action, chosen.value) == (2, 1.0)
    won = [play(HEX, [OpenSpielMCTS(simulations=200), "random"], seed=seed).returns[0] for seed in range(5)]
    assert won == [1.0] * 5


@pytest.mark.parametrize(("limits", "nodes"), [({"nodes": 30}, 30), ({}, 1000)])
def test_tree_search_keeps_to_the_budget(decide: Callable[..., Any], limits: dict[str, Any], nodes: int) -> None:
    """A simulation counts as one node. The default is 1,000."""
    assert decide(OpenSpielMCTS(solve=False), HEX, HEX.initial(random.Random(0)), limits=limits).nodes == nodes


def test_tree_search_uses_its_time(long_margin: None) -> None:
    """A simulation takes some ten microseconds, so a longer time allows more than 1,000."""

    def count_nodes(seconds: float) -> int:
        record = play(HEX, [OpenSpielMCTS(solve=False), "random"], limits={"seconds": seconds})
        assert record.termination == "normal"
        return max(decision.nodes for decision in record.decisions if decision.seat == 0)

    assert any(count_nodes(0.1 * 4**times) > 1000 for times in range(5))


def test_agents_are_refused_on_games_that_they_cannot_play() -> None:
    assert (
        Abilities(OpenSpielMCTS).find_refusal(OpenSpiel(game="kuhn_poker"))
        == "openspiel-mcts cannot play openspiel: openspiel has hidden-information"
    )
    assert "needs hidden-information" in str(Abilities(OpenSpielCFR).find_refusal(HEX))
    assert Abilities(OpenSpielMCTS).find_refusal(OpenSpiel(game="pig")) is None


@pytest.mark.parametrize(
    ("text", "simultaneous"),
    [("kuhn_poker", False), ("leduc_poker", False), ("matrix_brps", True), ("goofspiel(num_cards=3,imp_info=True)", True)],
)
def test_the_exploitability_of_the_policy_agrees_with_open_spiel(spiel: Any, text: str, simultaneous: bool) -> None:
    """The exact best response over the states of arena is compared with open_spiel's over its own states."""
    iterations = 20
    theirs = spiel.load_game(text)
    theirs = spiel.convert_to_turn_based(theirs) if simultaneous else theirs
    solver = spiel.CFRPlusSolver(theirs)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    expected = spiel.nash_conv(theirs, solver.average_policy()) / 2
    game, agent = OpenSpiel(game=text), OpenSpielCFR(iterations=iterations)
    gap = nash_gap(sequence_form(game), lambda seat, observation: agent.policy(game, observation))
    assert gap.exploitability == pytest.approx(expected, abs=1e-9)
    assert expected > 0


def test_exploit_finds_the_value_of_kuhn_poker(invoke: Callable[..., Any]) -> None:
    """The value is 1/18 for the second seat (H. Kuhn, 1950). Commas in brackets belong to the parameters of the game."""
    done = invoke(
        "exploit", "openspiel", "openspiel-cfr:iterations=1000", "--set", "game=kuhn_poker(players=2)", "--format", "json"
    )
    found = json.loads(done.stdout)
    assert (found["exact"], done.stderr) == (True, "")
    assert found["value"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-3)
    assert found["exploitability"] < 1e-3
    done = invoke("exploit", "openspiel", "random", "--set", "game=goofspiel(num_cards=3,imp_info=True)", "--format", "json")
    assert json.loads(done.stdout)["exact"] is True


def test_tree_search_refuses_games_in_python() -> None:
    """The search in C++ would end the process on these games."""
    record = play(OpenSpiel(game="python_tic_tac_toe"), ["openspiel-mcts", "random"])
    assert (record.termination, record.seat) == ("exception", 0)
    assert "openspiel-mcts cannot play python_tic_tac_toe: the search in C++ crashes" in str(record.message)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("goofspiel(imp_info=True)", GameTooLarge, "openspiel-cfr solves games with at most 1,000,000"),
        ("phantom_ttt_ir", ArenaError, "imperfect recall|do not contain everything"),
    ],
)
def test_unsolvable_games_are_refused(text: str, error: type[ArenaError], message: str) -> None:
    game = OpenSpiel(game=text)
    with pytest.raises(error, match=message):
        OpenSpielCFR().policy(game, game.observation(game.initial(random.Random(0)), 0))
