"""Test games of arena in open_spiel, registered there or exported as files."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arena import ArenaError, Game, Puzzle, uniform
from arena.errors import GameTooLarge
from arena.plugins.registry import Registry
from arena_bridges.openspiel import register
from arena_bridges.openspiel.game import OpenSpiel
from arena_games.goofspiel import Goofspiel
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_games.rock_paper_scissors import RockPaperScissors
from arena_games.tic_tac_toe import TicTacToe
from arena_solution.best_response import nash_gap
from arena_solution.extensive_form import efg_lines
from arena_solution.sequence_form import SequenceForm, sequence_form

SMALL: dict[str, Game] = {
    "kuhn-poker": KuhnPoker(),
    "leduc-poker": LeducPoker(),
    "liars-dice": LiarsDice(sides=2),
    "rock-paper-scissors": RockPaperScissors(rounds=2),
    "goofspiel": Goofspiel(cards=3),
    "tic-tac-toe": TicTacToe(rows=2, columns=3, in_a_row=2),
}
SHORT: dict[str, dict[str, Any]] = {
    "2048": {"rows": 2, "columns": 2},
    "liars-dice": {"sides": 2},
    "pig": {"target": 20},
    "prisoners-dilemma": {"turns": 4, "noise": 0.1},
}
"""Parameters that keep random matches short."""


def uniform_gap(form: SequenceForm) -> tuple[float, list[float]]:
    gap = nash_gap(form, lambda seat, observation: [p for _, p in uniform(form.game.actions(observation))])
    return gap.exploitability * form.game.players, gap.value


def read(spiel: Any, game: Game) -> Any:
    return spiel.load_efg_game("\n".join(efg_lines(game)) + "\n")


@pytest.mark.parametrize("name", SMALL)
def test_an_exported_game_has_the_same_value_and_exploitability(spiel: Any, name: str) -> None:
    """open_spiel reads the file and finds the same seats, value and NashConv of random play as arena."""
    game = SMALL[name]
    theirs, form = read(spiel, game), sequence_form(game)
    assert len(efg_lines(game)) == form.states + 1
    assert theirs.num_players() == 2
    gap, value = uniform_gap(form)
    policy = spiel.UniformRandomPolicy(theirs)
    assert spiel.nash_conv(theirs, policy) == pytest.approx(gap, abs=1e-9)
    assert spiel.expected_returns(theirs.new_initial_state(), policy, -1, True) == pytest.approx(value, abs=1e-9)
    assert (theirs.min_utility(), theirs.utility_sum()) == (pytest.approx(-max(theirs.max_utility(), 0)), 0.0)


@pytest.mark.parametrize(("ours", "text"), [(KuhnPoker(), "kuhn_poker"), (LeducPoker(), "leduc_poker")])
def test_nash_conv_of_random_play_agrees_with_open_spiels_own_game(spiel: Any, ours: Game, text: str) -> None:
    own = spiel.load_game(text)
    expected = spiel.nash_conv(own, spiel.UniformRandomPolicy(own))
    for game in (read(spiel, ours), *[register(ours)] * (text == "kuhn_poker"), read(spiel, OpenSpiel(game=text))):
        assert spiel.nash_conv(game, spiel.UniformRandomPolicy(game)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("give", [read, lambda spiel, game: register(game)])
def test_open_spiels_solver_finds_the_value_of_kuhn_poker(spiel: Any, give: Callable[[Any, Game], Any]) -> None:
    """The value is -1/18 for the first seat (H. Kuhn, 1950). The game is given as a file and as a game in Python."""
    game = give(spiel, KuhnPoker())
    solver = spiel.CFRPlusSolver(game)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    policy = solver.tabular_average_policy()
    assert spiel.expected_returns(game.new_initial_state(), policy, -1, True)[0] == pytest.approx(-1 / 18, abs=1e-3)
    assert spiel.nash_conv(game, policy) < 5e-3


def test_exported_probabilities_are_fractions() -> None:
    """A game without hidden information has an information set for every state."""
    assert efg_lines(KuhnPoker())[1] == 'c "" 1 "" { "J" 1/3 "Q" 1/3 "K" 1/3 } 0'
    lines = efg_lines(TicTacToe(rows=1, columns=2, in_a_row=2))
    assert lines[0] == 'EFG 2 R "tic-tac-toe rows=1 columns=2 in_a_row=2" { "seat 0" "seat 1" }'
    assert [line.split()[:4] for line in lines[1:] if line.startswith("p")] == [
        ["p", '""', "1", "1"],
        ["p", '""', "2", "1"],
        ["p", '""', "2", "2"],
    ]


def test_the_error_for_a_game_that_is_too_large_to_export_gives_its_size(invoke: Callable[..., Any]) -> None:
    with pytest.raises(GameTooLarge, match="the tree of tic-tac-toe has more than 100,000 states"):
        efg_lines(TicTacToe(), most=100_000)
    done = invoke("export", "othello", "--format", "efg")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("the tree of othello has about ")
    assert done.stderr.endswith("use smaller parameters with --set\n")


def test_the_command_writes_a_game_with_its_parameters(spiel: Any, invoke: Callable[..., Any], tmp_path: Any) -> None:
    done = invoke("export", "liars-dice", "--format", "efg", "--set", "sides=2")
    (tmp_path / "dice.efg").write_text(done.stdout)
    game = spiel.load_game(f"efg_game(filename={tmp_path / 'dice.efg'})")
    gap, _ = uniform_gap(sequence_form(SMALL["liars-dice"]))
    assert spiel.nash_conv(game, spiel.UniformRandomPolicy(game)) == pytest.approx(gap)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["kuhn-pokre", "--format", "efg"], "unknown game 'kuhn-pokre'; did you mean 'kuhn-poker'?"),
        (["kuhn-poker", "--format", "efg", "--set", "cards=4"], "--set cards: unknown key"),
        (["kuhn-poker", "--format", "efg", "--sound"], "--sound works only with a store"),
        (["cup.db", "--set", "cards=4"], "--set and --plugin need --format efg"),
    ],
)
def test_conflicting_options_of_export_are_refused(invoke: Callable[..., Any], words: list[str], message: str) -> None:
    done = invoke("export", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_each_game_passes_open_spiels_simulation_test(spiel: Any, registry: Registry) -> None:
    """The random simulations check chance, observations, clones, histories, and serialization."""
    passed = set()
    for name, kind in registry.games.items():
        if name not in ("openspiel", "backgammon") and not issubclass(kind, Puzzle):  # a match of backgammon takes seconds
            game = register(name, **SHORT.get(name, {}))
            spiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
            passed.add(name)
    assert passed >= {"2048", "connect-four", "goofspiel", "hearts", "kuhn-poker", "leduc-poker", "othello", "pig", "tic-tac-toe"}


def test_names_contain_the_parameters() -> None:
    """A second registration returns the same game. Puzzles are refused."""
    one, again = register("pig", target=20), register("pig", target=20)
    assert one.get_type().short_name == again.get_type().short_name == "arena_pig_target_20"
    assert register("kuhn-poker").get_type().short_name == "arena_kuhn_poker"
    with pytest.raises(ArenaError, match="sliding-tiles is a puzzle"):
        register("sliding-tiles")


def test_information_states_depend_only_on_the_players_own_card(spiel: Any) -> None:
    """The information state does not depend on the opponent's card, and differs if the player's own card does."""
    game = register("kuhn-poker")

    def seen(*cards: int) -> str:
        state = game.new_initial_state()
        for card in cards:
            state.apply_action(card)
        assert state.observation_string(0) == state.information_state_string(0)
        return str(state.information_state_string(0))

    assert seen(0, 0) == seen(0, 1)
    assert seen(0, 0) != seen(1, 0)


def test_open_spiels_tree_search_plays_connect_four(spiel: Any) -> None:
    """The bot in Python beats a random player. The bot in C++ cannot play games in Python."""
    from open_spiel.python.algorithms import mcts

    game, rng, dice = register("connect-four"), random.Random(3), np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2.0, 20, mcts.RandomRolloutEvaluator(1, dice), random_state=dice)
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(bot.step(state) if state.current_player() == 0 else rng.choice(state.legal_actions()))
    assert state.returns() == [1.0, -1.0]
