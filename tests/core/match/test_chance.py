"""Chance outcomes, and the observations of each seat."""

import random
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import CHANCE, Game, Limits, play, uniform
from arena.match.replay import Differs, Step
from arena_records.contradictions import find_contradiction
from arena_records.rules import compare_with_rules
from tests.core.match.chancy import Noter, Race, TwoCards

PLUGIN = str(Path(__file__).with_name("chancy.py"))


def test_chance_outcomes_are_recorded_as_actions_but_not_counted_as_moves() -> None:
    record = play(TwoCards(), [Noter(), Noter()], seed=3)
    cards, played = record.actions[:2], record.actions[2:]
    assert len(set(cards)) == 2 <= len(played) == record.moves == len(record.decisions)
    assert set(cards) < set("JQK")
    assert set(played) <= {"pass", "bet"}
    assert [decision.seat for decision in record.decisions] == [number % 2 for number in range(len(played))]
    assert record.returns in [(-2, 2), (-1, 1), (1, -1), (2, -2)]


def test_every_deal_is_equally_likely() -> None:
    """Chi-squared with 5 degrees of freedom is below 20.5 in 99.9 % of cases."""
    deals = Counter("".join(play(TwoCards(), [Noter(), Noter()], seed=seed).actions[:2]) for seed in range(600))
    assert len(deals) == 6
    assert sum((count - 100) ** 2 / 100 for count in deals.values()) < 20.5


def drawn(key: str, repetition: int, name: str) -> random.Random:
    """The stream of a name as `docs/reference` has it: 64 bits of a hash seed Python's generator."""
    text = f"{key}/chance/{repetition}/{name}"
    return random.Random(int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big"))


def test_outcomes_are_drawn_by_cumulative_probabilities() -> None:
    """Each seat has its own stream, as described in docs/reference."""
    results = arena.run({"game": "race", "agents": ["random", "noter"], "rounds": 5, "plugins": [PLUGIN]})
    positions = results.spec.boards[0].positions
    for one in results.played:
        streams = [drawn(positions.key(one.pairing.round), 0, str(seat)) for seat in (0, 1)]
        thrown = [
            (decision.seat, one.record.actions[place + 1])
            for place, decision in zip(
                [place for place, text in enumerate(one.record.actions) if text in ("throw", "wait")],
                one.record.decisions,
                strict=True,
            )
            if one.record.actions[place] == "throw"
        ]
        assert thrown == [(seat, str(1 + int(6 * streams[seat].random()))) for seat, _ in thrown]


def test_all_pairings_of_a_round_have_the_same_deal() -> None:
    """Other rounds, and other repetitions of a position, have other deals."""
    agents = ["random", "noter", {"agent": "random", "label": "other"}]
    spec: dict[str, Any] = {"game": "two-cards", "agents": agents, "rounds": 30, "plugins": [PLUGIN]}
    dealt: dict[int, set[tuple[str, ...]]] = {}
    for one in arena.run(spec).played:
        dealt.setdefault(one.pairing.round, set()).add(one.record.actions[:2])
    assert [len(deals) for deals in dealt.values()] == [1] * 30
    assert len({next(iter(deals)) for deals in dealt.values()}) == 6
    del spec["rounds"]
    repeated = arena.run({**spec, "positions": ["('', '')"] * 30})
    assert len({one.record.actions[:2] for one in repeated.played}) == 6


def test_an_agent_gets_only_its_observation() -> None:
    Noter.given.clear()
    for seed in range(50):
        play(TwoCards(), [Noter(), Noter()], seed=seed)
    assert len(Noter.given) >= 100
    for seat, (cards, _) in Noter.given:
        assert cards[seat] in "JQK"
        assert cards[1 - seat] == "?"


class Broken(TwoCards):
    """Two cards with a wrong first deal."""

    def __init__(self, outcomes: Any) -> None:
        self.outcomes = outcomes

    def chance_outcomes(self, state: Any) -> Any:
        return self.outcomes if not state[0] else super().chance_outcomes(state)

    def actions(self, state: Any) -> Any:
        return list("JQK") if not state[0] else super().actions(state)


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ([("J", 0.5), ("Q", 0.25), ("K", 0.25 + 1e-8)], "add up to 1.00000001"),
        ([("J", 0.5), ("Q", 0.5), ("K", 0.0)], "'K' the probability 0; expected more than 0"),
        ([("J", 0.75), ("Q", 0.5), ("K", -0.25)], "the probability -0.25"),
        ([("J", float("nan")), ("Q", 0.5), ("K", 0.5)], "the probability nan"),
        (uniform("JQ"), "returned the outcomes ['J', 'Q'], but actions returned ['J', 'Q', 'K']"),
        (uniform("JQQ"), "the outcomes"),
        (["J", "Q", "K"], "expected pairs"),
        (None, "expected pairs"),
    ],
)
def test_invalid_chance_outcomes_make_a_match_void(outcomes: Any, told: str) -> None:
    record = play(Broken(outcomes), [Noter(), Noter()])
    assert record.termination == "void"
    assert told in (record.message or "")


def test_a_game_without_chance_outcomes_makes_a_match_void() -> None:
    class Half(Game):
        name = "half"

        def initial(self, rng: random.Random) -> Any:
            return 0

        def to_move(self, state: Any) -> int:
            return CHANCE

        def actions(self, state: Any) -> Any:
            return [1]

        def result(self, state: Any, action: Any) -> Any:
            return 1

        def returns(self, state: Any) -> Any:
            return (0.0, 0.0)

    record = play(Half(), [Noter(), Noter()])
    assert record.termination == "void"
    assert "half: to_move returned CHANCE, but the game has no method chance_outcomes" in (record.message or "")


def test_an_illegal_action_costs_the_maximum_loss() -> None:
    """The maximum loss in Kuhn poker is two chips."""

    class Wild(Noter):
        name = "wild"

        def choose(self, game: Game, state: Any, search: Any) -> Any:
            return "raise"

    record = play(TwoCards(), [Noter(), Wild()])
    assert (record.termination, record.seat, record.returns) == ("illegal-action", 1, (2.0, -2.0))
    assert find_contradiction(record, TwoCards()) is None


def test_the_move_limit_counts_decisions_and_not_chance_outcomes() -> None:
    record = play(TwoCards(), [Noter(), Noter()], limits=Limits(moves=1))
    assert (record.termination, record.moves, len(record.actions), record.returns) == ("move-limit", 1, 3, (0.0, 0.0))
    assert find_contradiction(record, TwoCards()) is None
    *_, last = found = list(Step.follow(TwoCards(), record))
    assert compare_with_rules(TwoCards(), record, found[0], last, 1) == []


def test_chance_moves_after_the_last_allowed_decision() -> None:
    """The only decision throws a die, and every number reaches the target of the game."""

    class Sprint(Race):
        name = "sprint"
        target = 1

    class Thrower(Noter):
        name = "thrower"

        def choose(self, game: Game, state: Any, search: Any) -> Any:
            return "throw"

    record = play(Sprint(), [Thrower(), Thrower()], limits=Limits(moves=1))
    assert (record.termination, record.moves, record.returns) == ("normal", 1, (1.0, -1.0))
    assert record.actions == ("throw", str(int(record.actions[1])))


def test_a_replay_reports_chance_outcomes_that_differ_from_the_record() -> None:
    game, record = TwoCards(), play(TwoCards(), [Noter(), Noter()], seed=3)
    *_, last = found = list(Step.follow(game, record))
    assert [step.seat for step in found[:4]] == [None, CHANCE, CHANCE, 0]
    assert [step.decision for step in found[3:]] == list(record.decisions)
    assert compare_with_rules(game, record, found[0], last) == []
    twice = record._replace(actions=(record.actions[0], *record.actions[0:1], *record.actions[2:]))
    with pytest.raises(Differs, match="action 2"):
        list(Step.follow(game, twice))
    miscounted = record._replace(moves=len(record.actions))
    assert compare_with_rules(game, miscounted, found[0], last) != []


def test_plies_of_an_opening_count_decisions_and_not_chance_outcomes() -> None:
    spec = {"game": "race", "agents": ["random", "noter"], "rounds": 20, "openings": {"plies": 3}, "plugins": [PLUGIN]}
    results = arena.run(spec)
    points = [sum(Race().parse_state(one.record.position)[1]) for one in results.played]
    assert {one.record.termination for one in results.played} == {"normal"}
    assert 0 < max(points) < 12
    assert len(set(points)) > 3
    movers = {Race().to_move(Race().parse_state(one.record.position)) for one in results.played}
    assert movers <= {1, CHANCE}
