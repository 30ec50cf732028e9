"""open_spiel's agents: the same play from the same seed, and policies as near an equilibrium as open_spiel says."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from arena import ArenaError, play
from arena.errors import GameTooLarge
from arena.traits import Abilities
from arena_bridges.openspiel import OpenSpiel, OpenSpielCFR, OpenSpielMCTS
from arena_solution.best_response import nash_gap
from arena_solution.sequence_form import sequence_form

HEX = OpenSpiel(game="hex(board_size=4)")


def test_tree_search_plays_the_same_from_the_same_seed() -> None:
    """And other than from another: its random numbers are the seat's."""
    agents = [OpenSpielMCTS(simulations=50), OpenSpielMCTS(simulations=50)]
    one, again, other = [play(HEX, agents, seed=seed) for seed in (1, 1, 2)]
    assert one.actions == again.actions
    assert one.actions != other.actions
    assert {decision.nodes for decision in one.decisions} <= set(range(51))


def test_tree_search_takes_what_wins_at_once_and_wins_against_chance(decide: Callable[..., Any]) -> None:
    game = OpenSpiel(game="tic_tac_toe")
    chosen = decide(OpenSpielMCTS(), game, game.parse_state("0 3 1 4"))
    assert (chosen.action, chosen.value) == (2, 1.0)
    won = [play(HEX, [OpenSpielMCTS(simulations=200), "random"], seed=seed).returns[0] for seed in range(5)]
    assert won == [1.0] * 5


@pytest.mark.parametrize(("limits", "nodes"), [({"nodes": 30}, 30), ({}, 1000)])
def test_tree_search_keeps_to_the_budget(decide: Callable[..., Any], limits: dict[str, Any], nodes: int) -> None:
    """A simulation is a node; without a limit there are a thousand."""
    assert decide(OpenSpielMCTS(solve=False), HEX, HEX.initial(random.Random(0)), limits=limits).nodes == nodes


def test_tree_search_takes_as_many_simulations_as_fit_into_its_time(long_margin: None) -> None:
    """More than a thousand, if there is time: one takes some ten microseconds."""

    def count_nodes(seconds: float) -> int:
        record = play(HEX, [OpenSpielMCTS(solve=False), "random"], limits={"seconds": seconds})
        assert record.termination == "normal"
        return max(decision.nodes for decision in record.decisions if decision.seat == 0)

    assert any(count_nodes(0.1 * 4**times) > 1000 for times in range(5))


def test_agents_are_refused_where_they_cannot_play() -> None:
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
def test_the_policy_is_as_far_from_an_equilibrium_as_open_spiel_says(spiel: Any, text: str, simultaneous: bool) -> None:
    """Our exact best response to it, over our states, against open_spiel's over its own."""
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


def test_exploit_says_that_kuhn_poker_is_worth_a_18th_to_the_second_seat(arena: Callable[..., Any]) -> None:
    """H. Kuhn, 1950; with parameters in brackets the commas belong to the game."""
    done = arena(
        "exploit", "openspiel", "openspiel-cfr:iterations=1000", "--set", "game=kuhn_poker(players=2)", "--format", "json"
    )
    found = json.loads(done.stdout)
    assert (found["exact"], done.stderr) == (True, "")
    assert found["value"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-3)
    assert found["exploitability"] < 1e-3
    done = arena("exploit", "openspiel", "random", "--set", "game=goofspiel(num_cards=3,imp_info=True)", "--format", "json")
    assert json.loads(done.stdout)["exact"] is True


def test_tree_search_refuses_the_games_on_which_it_would_crash() -> None:
    """open_spiel's own games in Python: it ends the process there."""
    record = play(OpenSpiel(game="python_tic_tac_toe"), ["openspiel-mcts", "random"])
    assert (record.termination, record.seat) == ("exception", 0)
    assert "openspiel-mcts cannot play python_tic_tac_toe: open_spiel's search in C++ crashes" in str(record.message)


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("goofspiel(imp_info=True)", GameTooLarge, "openspiel-cfr takes at most 1,000,000"),
        ("phantom_ttt_ir", ArenaError, "imperfect recall|leave out part"),
    ],
)
def test_what_cannot_be_solved_is_refused(text: str, error: type[ArenaError], told: str) -> None:
    game = OpenSpiel(game=text)
    with pytest.raises(error, match=told):
        OpenSpielCFR().policy(game, game.observation(game.initial(random.Random(0)), 0))
