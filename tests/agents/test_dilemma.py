"""The prisoner's dilemma and its classics against the Axelrod library, noise against its arithmetic."""

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
"""The points of each strategy against each, in 200 turns, as the library has them, with the lines that made them."""
Strategy = Callable[[str, str], str]
"""What is done after what a player and the other have done."""
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


def chosen(name: str, game: PrisonersDilemma, seen: Any) -> str:
    """What a strategy does at an observation; the agents are asked as agents, and draw no random number."""
    if name in CLASSICS:
        choice: str = CLASSICS[name].choose(game, seen, None)  # type: ignore[arg-type]
        return choice
    seat = game.to_move(seen)
    return RETALIATORS[name](game.history(seen, seat), game.history(seen, 1 - seat))


def test_all_payoffs_are_those_of_the_axelrod_library() -> None:
    """132 of them: both of twelve strategies, each against every other."""
    game, names = PrisonersDilemma(), AXELROD["strategies"]
    assert set(names) == {*CLASSICS, *RETALIATORS}
    pairs = list(combinations(names, 2))
    assert 2 * len(pairs) == 132
    for pair in pairs:
        state = game.initial(random.Random())
        while not game.is_terminal(state):
            seat = game.to_move(state)
            state = game.result(state, chosen(pair[seat], game, game.observation(state, seat)))
        for seat in (0, 1):
            assert round(game.returns(state)[seat] * 200, 9) == AXELROD["totals"][pair[seat]][names.index(pair[1 - seat])], pair


def test_a_match_of_the_referee_says_the_same() -> None:
    """Grim against tit for tat that is suspicious of nothing, and against one that always defects."""
    names = AXELROD["strategies"]
    for other in ("TitForTat", "Defector"):
        record = play(PrisonersDilemma(), [Grim(), CLASSICS[other]])
        assert record.returns is not None
        assert round(record.returns[0] * 200, 9) == AXELROD["totals"]["Grudger"][names.index(other)]


def test_a_long_match_is_not_cut_short_by_the_usual_limit_of_moves() -> None:
    """A thousand decisions are 500 turns; tit for tat loses the first of all that follow."""
    record = play(PrisonersDilemma(turns=600), [TitForTat(), Always(action="D")])
    assert (record.termination, len(record.decisions)) == ("normal", 1200)
    assert record.returns == pytest.approx((599 / 600, 604 / 600))


def test_generosity_forgives_a_third_of_defections() -> None:
    """And nothing but defections; the stream of the seat is what it is drawn from."""
    game, rng = PrisonersDilemma(), random.Random(6)
    agent = GenerousTitForTat()
    search: Any = type("Asked", (), {"rng": rng})()
    state = game.parse_state("CC CD")
    done = Counter(agent.choose(game, state, search) for _ in range(3000))
    assert abs(done["C"] - 1000) < 4 * (3000 * 2 / 9) ** 0.5  # four standard deviations
    assert agent.policy(game, state) == pytest.approx((1 / 3, 2 / 3))
    assert agent.policy(game, game.parse_state("CD CC")) == (1.0, 0.0)
    assert GenerousTitForTat(generosity=0).policy(game, state) == (0, 1)


def test_the_classics_play_nothing_else() -> None:
    for agent in (*CLASSICS.values(), GenerousTitForTat()):
        assert Abilities(type(agent)).find_refusal(PrisonersDilemma(noise=0.1)) is None
    with pytest.raises(Refused, match="tit-for-tat cannot play tic-tac-toe: it plays only prisoners-dilemma"):
        play(TicTacToe(), [TitForTat(), "random"])


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_noise_turns_choices_as_often_as_it_says(noise: float) -> None:
    """The mean of a turn in which both mean to cooperate: 3 where no choice or 5 where only the own one is turned, 1 for both."""
    game = PrisonersDilemma(turns=1, noise=noise)
    expected = 3 * (1 - noise) ** 2 + 5 * noise * (1 - noise) + noise**2
    assert value(game, lambda _, __: {"C": 1.0}, "") == pytest.approx(expected)
    assert Traits.of(game) >= {"chance", "hidden-information", "simultaneous"}
    assert ("imperfect-recall" in Traits.of(game)) == (noise > 0)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_every_state_keeps_its_promises(noise: float) -> None:
    game, rng = PrisonersDilemma(turns=2, noise=noise), random.Random(2)
    for state in states_of(game):
        check_state(game, state)
        if not game.is_terminal(state):
            check_resample(game, state, rng)


def test_what_is_meant_is_not_seen_while_noise_may_turn_it() -> None:
    """Whatever the other has chosen, a seat sees the same until both choices are done; dice are named after the seat."""
    game = PrisonersDilemma(noise=0.2)
    for seat, alike in ((0, ("CDcc", "CDcd")), (1, ("CDcd", "CDdd")), (1, ("CDCd", "CDDd"))):
        first, second = [game.observation(state, seat) for state in alike]
        assert first == second
        assert game.to_move(first) == CHANCE
        assert game.history(first, 0) + game.history(first, 1) == "CD"
    assert [game.chance_stream("CDcd"), game.chance_stream("CDCd")] == [0, 1]
    assert [game.result("CDcd", "flipped"), game.result("CDDd", "kept")] == ["CDDd", "CDDD"]


def test_defection_is_the_best_answer_in_one_turn() -> None:
    """Against cooperation it brings 5 in the place of 3, against defection 1 in the place of 0."""
    game = PrisonersDilemma(turns=1)
    assert exploitability(game, lambda _, __: {"C": 1.0}) == 5
    assert exploitability(game, lambda _, __: {"D": 1.0}) == 1


def test_random_matches_end_after_all_turns_with_means_in_range() -> None:
    game = PrisonersDilemma(turns=30, noise=0.1, payoffs=(4, 2, -1, 7))
    for seed in range(5):
        *_, (state, _) = random_match(game, seed)
        assert len(state) == 60
        pairs = Counter(state[place : place + 2] for place in range(0, 60, 2))
        total = 4 * pairs["CC"] + 2 * pairs["DD"] - pairs["CD"] + 7 * pairs["DC"]
        assert game.returns(state)[0] == pytest.approx(total / 30)
    assert (game.min_return, game.max_return) == (-1, 7)
    assert game.render(game.parse_state("CD CC")) == "turn 3 of 30\nCC   1.50\nDC   5.50"


def test_payoffs_that_are_no_dilemma_are_refused() -> None:
    with pytest.raises(ValueError, match="payoffs: expected fourth > first"):
        PrisonersDilemma(payoffs=(3, 1, 0, 2))


@pytest.mark.parametrize("text", ["", "C", "CX", "CC C", "CC CC CC", "cd", "CC ?d", "CC-CC"])
def test_a_text_that_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected up to 2 turns of C and D, as in CC CD, or -"):
        PrisonersDilemma(turns=2).parse_state(text)
