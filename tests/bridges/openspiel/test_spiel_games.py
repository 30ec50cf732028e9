"""Test games of open_spiel in arena with the conformance checks and against open_spiel itself."""

import pickle
import random
from typing import Any

import pytest

from arena import CHANCE, Simultaneous, play, run
from arena.simultaneous import OpenTurn
from arena.testing import check_game
from arena.traits import Traits
from arena_bridges.openspiel.game import OpenSpiel
from arena_bridges.openspiel.state import Observation, State

CHEAP = {
    "tic_tac_toe": {"two-player", "zero-sum"},
    "hex(board_size=3)": {"two-player", "zero-sum"},
    "catch": {"single-player", "chance"},
    "kuhn_poker": {"two-player", "zero-sum", "chance", "hidden-information", "resample"},
    "kuhn_poker(players=3)": {"multi-player", "zero-sum", "chance", "hidden-information", "resample"},
    "pig(winscore=20)": {"two-player", "zero-sum", "chance"},
    "phantom_ttt": {"two-player", "zero-sum", "hidden-information"},
    "matrix_rps": {"two-player", "zero-sum", "hidden-information", "simultaneous", "resample"},
    "matching_pennies_3p": {"multi-player", "hidden-information", "simultaneous", "resample"},
    "goofspiel(num_cards=3,imp_info=True)": {
        "two-player",
        "zero-sum",
        "chance",
        "hidden-information",
        "simultaneous",
        "resample",
    },
    "blotto(players=3,coins=3)": {"multi-player", "zero-sum", "hidden-information", "simultaneous", "resample"},
    "tiny_hanabi": {"two-player", "chance", "hidden-information", "resample"},
    "goofspiel(players=3,num_cards=2)": {"multi-player", "zero-sum", "chance", "hidden-information", "simultaneous", "resample"},
    "pathfinding(grid=A.a\n...\n,horizon=5)": {"single-player", "chance"},
    "phantom_ttt_ir": {"two-player", "zero-sum", "hidden-information", "imperfect-recall"},
}
"""Games with fast checks, each with its traits."""


@pytest.mark.parametrize("text", CHEAP)
def test_games_pass_the_conformance_checks_and_have_the_expected_traits(text: str) -> None:
    game = OpenSpiel(game=text)
    assert set(Traits.of(game)) == CHEAP[text]
    assert {"states", "notation", "returns", "pickling", "purity"} <= set(check_game(game, matches=3))


@pytest.mark.parametrize(
    "text", ["tic_tac_toe", "leduc_poker", "goofspiel(num_cards=4,imp_info=True)", "pig(winscore=20)", "chess"]
)
def test_play_agrees_with_open_spiel(spiel: Any, text: str) -> None:
    """Equal actions give equal seats, legal actions, texts and returns, step by step."""
    game, rng = OpenSpiel(game=text), random.Random(text)
    theirs, state = spiel.load_game(text).new_initial_state(), OpenSpiel(game=text).initial(rng)
    chosen: list[int] = []
    while not theirs.is_terminal():
        assert not game.is_terminal(state)
        seat = game.to_move(state)
        together = theirs.is_simultaneous_node()
        assert seat == (len(chosen) if together else theirs.current_player())
        assert list(game.actions(state)) == theirs.legal_actions(seat)
        action = rng.choice(game.actions(state))
        assert game.format_action(state, action) == theirs.action_to_string(seat, action)
        chosen.append(action)
        if not together:
            theirs.apply_action(chosen.pop())
        elif len(chosen) == game.players:
            theirs.apply_actions(chosen)
            chosen = []
        state = game.result(state, action)
    assert game.is_terminal(state)
    assert list(game.returns(state)) == theirs.returns()
    assert list(state.history) == theirs.history()
    assert game.render(state) == str(theirs)


def test_states_are_equal_if_their_histories_are_equal() -> None:
    """Two paths to one board give different states. Copies through pickle or text are equal."""
    game = OpenSpiel(game="tic_tac_toe")
    one, two = [game.parse_state(text) for text in ("4 0 8", "8 0 4")]
    assert str(one.spiel) == str(two.spiel)
    assert one != two
    copy = pickle.loads(pickle.dumps(one))
    assert (copy, hash(copy), game.format_state(copy)) == (one, hash(one), "4 0 8")
    assert game.actions(copy) == [1, 2, 3, 5, 6, 7]
    assert isinstance(copy, State)
    assert (copy.text, copy.history) == ("tic_tac_toe", (4, 0, 8))


def test_a_state_does_not_change_when_play_continues() -> None:
    game = OpenSpiel(game="hex(board_size=3)")
    state = game.initial(random.Random(0))
    before = game.render(state)
    successors = [game.result(state, action) for action in game.actions(state)]
    assert len({game.render(successor) for successor in successors}) == 9
    assert (game.render(state), game.format_state(state), len(game.actions(state))) == (before, "-", 9)


def test_simultaneous_games_in_python_are_supported() -> None:
    """In these games, open_spiel gives legal actions only for a named seat."""
    game = OpenSpiel(game="python_iterated_prisoners_dilemma")
    assert isinstance(game, Simultaneous)
    assert game.movers(game.initial(random.Random(0))) == (0, 1)


@pytest.mark.parametrize("text", ["4 4", "9", "x", "", "0 3 1 4 2 5", "[1]", '[0, "a"]'])
def test_invalid_state_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"may follow|expected"):
        OpenSpiel(game="tic_tac_toe").parse_state(text)


def test_a_seat_sees_only_its_own_card() -> None:
    """In Kuhn poker, the observation of a seat does not depend on the opponent's card."""
    game = OpenSpiel(game="kuhn_poker")
    queen, king = [game.parse_state(text) for text in ("0 1", "0 2")]
    assert game.observation(queen, 0) == game.observation(king, 0)
    assert game.observation(queen, 1) != game.observation(king, 1)
    seen = game.observation(king, 0)
    assert isinstance(seen, Observation)
    assert game.parse_state(game.format_state(seen)) == seen
    assert game.to_move(seen) == 0
    assert [game.format_action(seen, action) for action in game.actions(seen)] == ["Pass", "Bet"]
    assert (game.observation(king, 1).legal, game.to_move(game.initial(random.Random(0)))) == ((), CHANCE)


def test_simultaneous_seats_do_not_see_each_others_choice() -> None:
    """In rock-paper-scissors, the seats are asked in turn."""
    game = OpenSpiel(game="matrix_rps")
    first = game.initial(random.Random(0))
    turns = [game.result(first, action) for action in game.actions(first)]
    assert all(isinstance(turn, OpenTurn) and game.to_move(turn) == 1 for turn in turns)
    assert len({game.observation(turn, 1) for turn in turns}) == 1
    won = [game.returns(game.result(turn, answer)) for turn in turns for answer in game.actions(turn)]
    assert [returns[0] for returns in won] == [0, -1, 1, 1, 0, -1, -1, 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hexx", "open_spiel has no game 'hexx'; did you mean 'hex'?"),
        ("hex(bord_size=3)", "hex of open_spiel has no parameter 'bord_size'; did you mean 'board_size'?"),
        ("hex(board_size=big)", "hex of open_spiel: board_size: expected a whole number, got 'big'"),
        ("tic_tac_toe(a=1)", "tic_tac_toe of open_spiel has no parameter 'a'; it has none"),
        ("misere(game=hexx())", "open_spiel has no game 'hexx'; did you mean 'hex'?"),
        ("kuhn_poker(players=11)", "open_spiel cannot load 'kuhn_poker(players=11)': num_players_ "),
        ("go(board_size=40)", "go(board_size=40) cannot be played in arena: The current Go implementation supports board size"),
        ("hex(board_size=0)", "hex(board_size=0) cannot be played in arena: its first state has no actions"),
        ("hex(board_size=-3)", "hex(board_size=-3) cannot be played in arena: its state after 9 random actions has no actions"),
        ("hex(", "expected a name, with parameters as in hex(board_size=5), got 'hex(': "),
        ("", "expected the name of a game in open_spiel"),
        ("mfg_garnet", "mfg_garnet cannot be played in arena: it is a mean-field game, with a population instead of seats"),
        ("tarok", "tarok cannot be played in arena: it draws chance events itself"),
        ("crossword", "crossword cannot be played in arena: its actions are not numbered"),
        ("crazy_eights(players=15)", "crazy_eights(players=15) cannot be played in arena: it has 15 seats; expected 1 to 10"),
    ],
)
def test_unplayable_games_are_refused_with_a_reason(text: str, message: str, capfd: pytest.CaptureFixture[str]) -> None:
    """The messages come from arena, and output of open_spiel on stderr is suppressed."""
    with pytest.raises(ValueError, match=r"open_spiel|cannot be played|expected") as refused:
        OpenSpiel(game=text)
    assert str(refused.value).startswith(message)
    assert capfd.readouterr().err == ""


@pytest.mark.process
def test_records_do_not_depend_on_the_process_of_the_agents() -> None:
    """In Leduc poker, observations are sent to the processes as text. Searches for games with hidden information resample equal
    states from them.
    """
    searches = [{"agent": "ismcts", "rollouts": 5}, {"agent": "pimc", "rollouts": 5, "worlds": 2}]
    agents = [*searches, {"agent": "openspiel-cfr", "iterations": 3}]
    spec = {"game": {"name": "openspiel", "game": "leduc_poker"}, "agents": agents, "rounds": 1, "seed": 1}
    alone = run(spec).records
    apart = run({**spec, "isolation": "process"}).records
    assert [record.termination for record in alone] == ["normal"] * 6
    assert [(record.actions, record.returns) for record in apart] == [(record.actions, record.returns) for record in alone]


def test_a_match_stopped_at_the_move_limit_returns_no_more_than_a_complete_one() -> None:
    """Each step of cliff walking costs 1, and a complete walk has at least 9 steps (R. Sutton, A. Barto, 2018, example 6.6)."""
    records = [play(OpenSpiel(game="cliff_walking"), ["random"], seed=seed, limits={"moves": 5}) for seed in range(10)]
    stopped = [record.returns for record in records if record.termination == "move-limit"]
    assert stopped
    assert {returns for (returns,) in stopped} == {OpenSpiel(game="cliff_walking").min_return}
