"""Test the prisoner's dilemma and its classic strategies against the Axelrod library, and noise against arithmetic."""

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from arena import CHANCE, Agent, Refused, play
from arena.traits import Abilities, Traits
from arena_agents.dilemma import Alternate, Always, GenerousTitForTat, Grim, TitForTat, WinStayLoseShift
from arena_games.prisoners_dilemma import PrisonersDilemma
from arena_games.tic_tac_toe import TicTacToe
from tests.games.game_tree import check_resample, check_state, exploitability, random_match, states_of, value

AXELROD = json.loads((Path(__file__).parent / "axelrod_4_14.json").read_text("utf-8"))
"""The points of each strategy against each other one in 200 turns, from the Axelrod library. The file has the code, too."""
Strategy = Callable[[str, str], str]
"""A function from the own history and the opponent's history to an action."""
RETALIATORS: dict[str, Strategy] = {
    "TitFor2Tats": lambda own, other: "D" if other[-2:] == "DD" else "C",
    "SuspiciousTitForTat": lambda own, other: other[-1:] or "D",
    "TwoTitsForTat": lambda own, other: "D" if "D" in other[-2:] else "C",
    "GoByMajority": lambda own, other: "D" if other.count("D") > other.count("C") else "C",
    "Bully": lambda own, other: "C" if other[-1:] == "D" else "D",
    "CyclerCCD": lambda own, other: "CCD"[len(own) % 3],
}
CLASSICS: dict[str, Agent] = {
    "Cooperator": Always(action="C"),
    "Defector": Always(action="D"),
    "TitForTat": TitForTat(),
    "Grudger": Grim(),
    "WinStayLoseShift": WinStayLoseShift(),
    "Alternator": Alternate(),
}


def choose(name: str, game: PrisonersDilemma, seen: Any) -> str:
    """Return the action of a strategy for an observation. None of the strategies draws a random number."""
    if name in CLASSICS:
        choice: str = CLASSICS[name].choose(game, seen, None)  # type: ignore[arg-type]
        return choice
    seat = game.to_move(seen)
    return RETALIATORS[name](game.history(seen, seat), game.history(seen, 1 - seat))


def test_payoffs_agree_with_the_axelrod_library() -> None:
    """Twelve strategies play each other, which gives 132 payoffs."""
    game, names = PrisonersDilemma(), AXELROD["strategies"]
    assert set(names) == {*CLASSICS, *RETALIATORS}
    pairs = list(combinations(names, 2))
    assert 2 * len(pairs) == 132
    for pair in pairs:
        state = game.initial(random.Random())
        while not game.is_terminal(state):
            seat = game.to_move(state)
            state = game.result(state, choose(pair[seat], game, game.observation(state, seat)))
        for seat in (0, 1):
            assert round(game.returns(state)[seat] * 200, 9) == AXELROD["totals"][pair[seat]][names.index(pair[1 - seat])], pair


def test_a_match_agrees_with_the_axelrod_library() -> None:
    """Grim plays against tit-for-tat and against a player that always defects."""
    names = AXELROD["strategies"]
    for other in ("TitForTat", "Defector"):
        record = play(PrisonersDilemma(), [Grim(), CLASSICS[other]])
        assert record.returns is not None
        assert round(record.returns[0] * 200, 9) == AXELROD["totals"]["Grudger"][names.index(other)]


def test_the_default_move_limit_does_not_end_a_long_match() -> None:
    """600 turns are 1,200 decisions, above the usual limit of 1,000 moves. Tit-for-tat loses only the first turn."""
    record = play(PrisonersDilemma(turns=600), [TitForTat(), Always(action="D")])
    assert (record.termination, len(record.decisions)) == ("normal", 1200)
    assert record.returns == pytest.approx((599 / 600, 604 / 600))


def test_generous_tit_for_tat_forgives_a_third_of_defections() -> None:
    game, rng = PrisonersDilemma(), random.Random(6)
    agent = GenerousTitForTat()
    search: Any = type("Asked", (), {"rng": rng})()
    state = game.parse_state("CC CD")
    done = Counter(agent.choose(game, state, search) for _ in range(3000))
    assert abs(done["C"] - 1000) < 4 * (3000 * 2 / 9) ** 0.5  # four standard deviations
    assert agent.policy(game, state) == pytest.approx((1 / 3, 2 / 3))
    assert agent.policy(game, game.parse_state("CD CC")) == (1.0, 0.0)
    assert GenerousTitForTat(generosity=0).policy(game, state) == (0, 1)


def test_the_strategies_refuse_other_games() -> None:
    for agent in (*CLASSICS.values(), GenerousTitForTat()):
        assert Abilities(type(agent)).find_refusal(PrisonersDilemma(noise=0.1)) is None
    with pytest.raises(Refused, match="tit-for-tat cannot play tic-tac-toe: it plays only prisoners-dilemma"):
        play(TicTacToe(), [TitForTat(), "random"])


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_noise_flips_actions_with_its_probability(noise: float) -> None:
    """Both players intend to cooperate. A turn pays 3 if no action is flipped, 5 if only the player's own action is, and 1 if
    both are.
    """
    game = PrisonersDilemma(turns=1, noise=noise)
    expected = 3 * (1 - noise) ** 2 + 5 * noise * (1 - noise) + noise**2
    assert value(game, lambda _, __: {"C": 1.0}, "") == pytest.approx(expected)
    assert Traits.of(game) >= {"chance", "hidden-information", "simultaneous"}
    assert ("imperfect-recall" in Traits.of(game)) == (noise > 0)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_every_state_satisfies_the_interface_of_games(noise: float) -> None:
    game, rng = PrisonersDilemma(turns=2, noise=noise), random.Random(2)
    for state in states_of(game):
        check_state(game, state)
        if not game.is_terminal(state):
            check_resample(game, state, rng)


def test_an_observation_hides_the_opponents_pending_action() -> None:
    """A seat sees the same observation for each pending action of the opponent. Each seat has a chance stream of its own."""
    game = PrisonersDilemma(noise=0.2)
    for seat, alike in ((0, ("CDcc", "CDcd")), (1, ("CDcd", "CDdd")), (1, ("CDCd", "CDDd"))):
        first, second = [game.observation(state, seat) for state in alike]
        assert first == second
        assert game.to_move(first) == CHANCE
        assert game.history(first, 0) + game.history(first, 1) == "CD"
    assert [game.chance_stream("CDcd"), game.chance_stream("CDCd")] == [0, 1]
    assert [game.result("CDcd", "flipped"), game.result("CDDd", "kept")] == ["CDDd", "CDDD"]


def test_defection_is_the_best_response_in_one_turn() -> None:
    """Against cooperation, defection gains 5 rather than 3; against defection, 1 rather than 0."""
    game = PrisonersDilemma(turns=1)
    assert exploitability(game, lambda _, __: {"C": 1.0}) == 5
    assert exploitability(game, lambda _, __: {"D": 1.0}) == 1


def test_random_matches_return_the_mean_payoff() -> None:
    game = PrisonersDilemma(turns=30, noise=0.1, payoffs=(4, 2, -1, 7))
    for seed in range(5):
        *_, (state, _) = random_match(game, seed)
        assert len(state) == 60
        pairs = Counter(state[place : place + 2] for place in range(0, 60, 2))
        total = 4 * pairs["CC"] + 2 * pairs["DD"] - pairs["CD"] + 7 * pairs["DC"]
        assert game.returns(state)[0] == pytest.approx(total / 30)
    assert (game.min_return, game.max_return) == (-1, 7)
    assert game.render(game.parse_state("CD CC")) == "turn 3 of 30\nCC   1.50\nDC   5.50"


def test_payoffs_that_do_not_form_a_dilemma_are_refused() -> None:
    with pytest.raises(ValueError, match="payoffs: expected fourth > first"):
        PrisonersDilemma(payoffs=(3, 1, 0, 2))


@pytest.mark.parametrize("text", ["", "C", "CX", "CC C", "CC CC CC", "cd", "CC ?d", "CC-CC"])
def test_invalid_state_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected up to 2 turns of C and D, as in CC CD, or -"):
        PrisonersDilemma(turns=2).parse_state(text)


@pytest.mark.parametrize(("payoffs", "turns", "moves"), [((3, 2, 1, 5), 2, 1), ((0.5, 0.2, 0, 0.7), 11, 100)])
def test_a_mean_payoff_is_never_above_the_largest_payoff(
    payoffs: tuple[float, float, float, float], turns: int, moves: int
) -> None:
    """Before the first turn there is no mean yet. The mean of eleven times 0.7, computed with floats, is more than 0.7."""
    assert sum([0.7] * 11) / 11 > 0.7
    game = PrisonersDilemma(payoffs=payoffs, turns=turns)
    record = play(game, [Always(action="D"), Always(action="C")], limits={"moves": moves})
    assert record.returns == ((1, 1) if moves == 1 else (0.7, 0)), record.message
