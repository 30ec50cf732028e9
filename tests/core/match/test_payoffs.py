"""Returns of any range: checks, scales, faults, limits, and corrections for luck."""

import random
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import islice, product
from math import inf, nan
from statistics import fmean, pvariance
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from arena import CHANCE, Agent, Game, Limits, Search, play
from arena.counting import Meter, counting_view
from arena.errors import GameError
from arena.identity import Stream
from arena.match.record import Record
from arena.match.replay import Step
from arena.returns import Returns
from arena.search import SharedStart
from arena_games.tic_tac_toe import TicTacToe
from arena_records.contradictions import find_contradiction
from arena_records.rules import compare_with_rules
from arena_solution.luck import adjusted_returns
from tests.core.match.chancy import Noter, Race, TwoCards, lead


class Scores(Game):
    """Three seats name amounts in turns for three rounds, and get them. The game is not zero-sum."""

    name = "scores"
    players = 3
    zero_sum = False
    min_return = -5.0
    max_return = 30.0
    default_moves = 9

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return len(state) % 3

    def actions(self, state: Any) -> Any:
        return range(10) if len(state) < 9 else []

    def result(self, state: Any, action: Any) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Any:
        return [sum(state[seat::3]) for seat in range(3)]

    def standing(self, state: Any) -> Any:
        return self.returns(state)


class Wild(Agent):
    """Names 4, and from its third decision on an illegal action."""

    name = "wild"
    copes = frozenset({"chance", "hidden-information"})

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return 4 if len(state) < 6 else "none"


def against_the_rules(game: Game, record: Record) -> list[str]:
    """Return the contradictions in a record: those within it, and those with the rules."""
    *_, last = found = list(Step.follow(game, record))
    return [*compare_with_rules(game, record, found[0], last, record.moves), *filter(None, [find_contradiction(record, game)])]


def test_a_fault_costs_only_its_seat_in_a_game_that_is_not_zero_sum() -> None:
    """The returns of the two completed rounds are kept."""
    record = play(Scores(), [Wild(), Wild(), Wild()])
    assert (record.termination, record.seat, record.returns) == ("illegal-action", 0, (-5, 8, 8))
    assert against_the_rules(Scores(), record) == []
    assert against_the_rules(Scores(), record._replace(returns=(-5.0, 9.0, 8.0))) != []
    assert against_the_rules(Scores(), record._replace(returns=(0.0, 8.0, 8.0))) != []


def test_a_match_at_the_move_limit_has_the_returns_of_its_standing() -> None:
    record = play(Scores(), [Wild(), Wild(), Wild()], limits={"moves": 4})
    assert (record.termination, record.returns) == ("move-limit", (8, 4, 4))
    assert against_the_rules(Scores(), record) == []
    assert against_the_rules(Scores(), record._replace(returns=(8.0, 4.0, 5.0))) != []


def test_a_game_may_have_its_own_move_limit() -> None:
    class Short(Scores):
        default_moves = 2

    class Odd(Scores):
        default_moves = "many"  # type: ignore[assignment]

    first = [Noter(), Noter(), Noter()]
    assert play(Scores(), first).termination == "normal"
    assert play(Short(), first).moves == play(Short(), first, limits={"depth": 3}).moves == 2
    assert play(Short(), first, limits={"moves": 3}).moves == play(Short(), first, limits=Limits(moves=3)).moves == 3
    assert play(Odd(), first).moves == 9


@pytest.mark.parametrize(
    ("returns", "told"),
    [
        ((31, 0, 0), r"expected values in \[-5, 30\]"),
        ((-5.5, 0, 0), r"expected values in \[-5, 30\]"),
        ((0, 0), "expected a finite number for each seat"),
        ((float("nan"), 0, 0), "expected a finite number for each seat"),
    ],
)
def test_returns_out_of_range_make_a_match_void(returns: Any, told: str) -> None:
    class Lying(Scores):
        def returns(self, state: Any) -> Any:
            return returns

    record = play(Lying(), [Noter(), Noter(), Noter()])
    assert record.termination == "void"
    assert re.search(told, record.message or "")


class Strolls(Game):
    """Two seats walk in turns until one stops. There is a standing only at the end."""

    name = "strolls"
    zero_sum = False

    def __init__(self, *, low: float = -100.0, high: float = 0.0) -> None:
        self.min_return, self.max_return = low, high

    def initial(self, rng: random.Random) -> Any:
        return (0, False)

    def to_move(self, state: Any) -> int:
        return int(state[0] % 2)

    def actions(self, state: Any) -> Any:
        return [] if state[1] else ["walk", "stop"]

    def result(self, state: Any, action: Any) -> Any:
        return (state[0] + 1, action == "stop")

    def returns(self, state: Any) -> Any:
        return (self.max_return, self.max_return)


@pytest.mark.parametrize(
    ("low", "high", "zero_sum", "stopped", "other"),
    [
        (-100.0, 0.0, False, -100, 0),  # the fewest strokes are best: 0 would be worth more than any way to the hole
        (-50.0, -10.0, False, -50, -10),
        (10.0, 50.0, False, 10, 10),
        (0.0, 5.0, False, 0, 0),
        (-5.0, 30.0, False, 0, 0),
        (0.0, inf, False, 0, 0),
        (-2.0, 2.0, True, 0, 2),
    ],
)
def test_an_agent_cannot_increase_its_return_by_not_finishing_a_match(
    low: float, high: float, zero_sum: bool, stopped: float, other: float
) -> None:
    """Seat 0 never stops walking. `other` is the return of seat 1 if seat 0 commits a fault."""

    class Walker(Agent):
        name = "walker"

        def choose(self, game: Game, state: Any, search: Search) -> Any:
            return "walk" if state[0] < 4 else "none"

    game = Strolls(low=low, high=high)
    game.zero_sum = zero_sum
    record = play(game, [Walker(), Walker()], limits={"moves": 4})
    assert (record.termination, record.returns) == ("move-limit", (stopped, stopped))
    assert against_the_rules(game, record) == []
    assert len(against_the_rules(game, record._replace(returns=(stopped + 1, stopped + 1)))) == 2
    fault = play(game, [Walker(), Walker()], limits={"moves": 6})
    assert (fault.termination, fault.returns) == ("illegal-action", (low, other))
    assert against_the_rules(game, fault) == []


@pytest.mark.parametrize("value", [inf, 31.0, "much"])
def test_an_invalid_standing_makes_a_match_void(value: Any) -> None:
    class Lying(Scores):
        def standing(self, state: Any) -> Any:
            return (0.0, value, 0.0)

    record = play(Lying(), [Noter(), Noter(), Noter()], limits={"moves": 2})
    assert (record.termination, record.returns) == ("void", (0, 0, 0))
    assert "standing returned" in (record.message or "")


def search_of(game: Game) -> Search:
    """Return the arguments of a decision, without a heuristic."""
    meter = Meter()
    return Search(counting_view(game, meter), None, Limits(), meter, Stream("seat"), SharedStart(game, Stream("start")))


def test_evaluations_map_returns_to_a_scale_from_minus_1_to_1() -> None:
    search = search_of(Scores())
    assert [search.evaluate((9,) * 9, 0), search.evaluate((0,) * 9, 0)] == pytest.approx([29 / 35, -25 / 35])
    won = TicTacToe().parse_state("xxx/oo./...")
    assert [search_of(TicTacToe()).evaluate(won, seat) for seat in (0, 1)] == [1, -1]
    assert search_of(TwoCards()).evaluate(("KQ", "bb"), 1) == -1


@given(st.floats(-1, 1), st.floats(-100, 100), st.floats(0.01, 100))
def test_scaled_returns_can_be_scaled_back(value: float, low: float, span: float) -> None:
    """Returns without bounds are not scaled."""

    class Some(TwoCards):
        zero_sum = False
        min_return, max_return = low, low + span

    class Even(TwoCards):
        min_return, max_return = low, low + span

    class Open(TwoCards):
        min_return, max_return = low, float("inf")

    assert low - 1e-9 <= Returns(Some()).unscale(value) <= low + span + 1e-9
    assert Returns(Some()).scale(Returns(Some()).unscale(value)) == pytest.approx(value, abs=1e-9)
    even, size = Returns(Even()), max(abs(low), abs(low + span))
    assert abs(even.unscale(value)) <= size * (1 + 1e-9)
    assert even.scale(even.unscale(value)) == pytest.approx(value, abs=1e-9)
    assert even.unscale(-value) == -even.unscale(value)
    assert Returns(Open()).unscale(value) == Returns(Open()).scale(value) == value


@pytest.mark.parametrize(
    ("low", "high", "fault"),
    [
        (
            -inf,
            inf,
            (
                "min_return must be finite: expected a finite number, because it is the return of a seat that commits a fault, "
                "got -inf"
            ),
        ),
        (
            nan,
            1,
            (
                "min_return must be finite: expected a finite number, because it is the return of a seat that commits a fault, "
                "got nan"
            ),
        ),
        (3, 2.0, "max_return is below min_return: expected 3 or more, got 2.0"),
        (0, nan, "max_return is below min_return: expected 0 or more, got nan"),
    ],
)
def test_a_game_without_a_minimum_return_is_refused(low: float, high: float, fault: str) -> None:
    """Earlier versions silently replaced an infinite bound by -1, which made most matches void."""

    class Bare(TwoCards):
        min_return, max_return = low, high

    for refused in (lambda: Returns(Bare()), lambda: play(Bare(), ["random", "random"])):
        with pytest.raises(GameError) as caught:
            refused()
        assert str(caught.value) == f"{Bare.name}: {fault}"


@pytest.mark.parametrize("given", [Fraction(-5, 2), np.float32(-2.5), np.float64(-2.5), -2.5])
def test_bounds_may_have_any_type_of_number(given: Any) -> None:
    class Exact(TwoCards):
        min_return, max_return = given, -given

    assert Returns(Exact()).range == (-2.5, 2.5)


def test_a_bound_that_is_not_a_number_is_ignored() -> None:
    """A plugin written for an older version may use this name for something else."""

    class Older(TwoCards):
        min_return, max_return = "least", True  # type: ignore[assignment]

    assert Returns(Older()).range == (-1, 1)


class Quick(Race):
    """A race to 3, whose value is quickly known."""

    name = "race"
    target = 3


def test_corrections_for_luck_are_unbiased() -> None:
    """The mean over all plays, weighted by probability, is the same for any evaluation."""
    game = Quick()
    for evaluation in (None, partial(lead, game), lambda state, player=0: 0.3 * player - 0.1 * state[1][0]):
        plain = corrected = Fraction(0)
        for probability, actions in plays(game, game.initial(random.Random())):
            record = made(game, actions)
            plain += probability * Fraction(record.returns[0])
            corrected += probability * Fraction(adjusted_returns(game, record, evaluation)[0])  # type: ignore[index]
        assert float(corrected) == pytest.approx(float(plain), abs=1e-12)


def test_corrections_by_the_true_value_remove_all_variance_by_chance() -> None:
    game = Quick()
    values: dict[Any, float] = {}

    def value(state: Any) -> Fraction:
        if game.is_terminal(state):
            return Fraction(int(game.returns(state)[0]))
        if state not in values:
            after = [game.result(state, action) for action in (range(1, 7) if game.to_move(state) == CHANCE else ["throw"])]
            values[state] = sum(map(value, after), Fraction(0)) / len(after)  # type: ignore[assignment]
        return values[state]  # type: ignore[return-value]

    def evaluation(state: Any, player: int = 0) -> float:
        return float(value(state)) * (1 - 2 * player)

    first = float(value(game.initial(random.Random())))
    for _, actions in plays(game, game.initial(random.Random())):
        assert adjusted_returns(game, made(game, actions), evaluation) == pytest.approx((first, -first), abs=1e-12)


class Offers(Game):
    """Five turns of both seats: chance offers 0 or 3 points, and the seat takes them or a point of its own."""

    name = "offers"
    turns = 5

    def initial(self, rng: random.Random) -> Any:
        return ((0, 0), 0, None)

    def to_move(self, state: Any) -> int:
        return CHANCE if state[2] is None else state[1] % 2

    def is_terminal(self, state: Any) -> bool:
        return bool(state[1] == self.turns)

    def chance_outcomes(self, state: Any) -> Any:
        return [(0, 0.5), (3, 0.5)]

    def actions(self, state: Any) -> Any:
        return [] if self.is_terminal(state) else [0, 3] if state[2] is None else ["take", "leave"]

    def result(self, state: Any, action: Any) -> Any:
        points, turn, offer = state
        if offer is None:
            return (points, turn, action)
        gained = offer if action == "take" else 1
        return (tuple(one + gained * (seat == turn % 2) for seat, one in enumerate(points)), turn + 1, None)

    def returns(self, state: Any) -> Any:
        lead = (state[0][0] - state[0][1]) / 10
        return (lead, -lead)

    def parse_state(self, text: str) -> Any:
        return self.initial(random.Random())


def worth_before_the_offer(state: Any, player: int = 0) -> float:
    """The value of the best play: 2 points a turn. It does not see the offer."""
    points, turn, _ = state
    to_come = [2 * len([one for one in range(turn, Offers.turns) if one % 2 == seat]) for seat in (0, 1)]
    return float(points[player] + to_come[player] - points[1 - player] - to_come[1 - player]) / 10


def offers_played(nodes: int) -> Iterator[tuple[Any, Record]]:
    """All plays, equally likely, with the amounts after the third turn. Each decision took the given number of nodes."""
    game = Offers()
    for choices in product(product((0, 3), ("take", "leave")), repeat=game.turns):
        state, actions, reached = game.initial(random.Random()), [], None
        for number, (offer, action) in enumerate(choices):
            state = game.result(game.result(state, offer), action)
            actions += [str(offer), action]
            reached = state if number == 2 else reached
        decisions = [SOME.decisions[0]._replace(seat=seat % 2, nodes=nodes) for seat in range(game.turns)]
        yield reached, made(game, tuple(actions))._replace(decisions=tuple(decisions))


def test_an_evaluation_that_ignores_chance_is_corrected_after_the_best_reply_to_the_outcome() -> None:
    """This applies from the fourth chance node on. The mean over all plays is unchanged."""
    game, corrected, plain = Offers(), [], []
    for reached, record in offers_played(nodes=1000):
        adjusted = adjusted_returns(game, record, worth_before_the_offer)
        assert adjusted is not None
        corrected.append(adjusted[0])
        plain.append(record.returns[0])
        if all(
            (offer == "3") == (action == "take") for offer, action in zip(record.actions[6::2], record.actions[7::2], strict=True)
        ):
            assert adjusted == pytest.approx([worth_before_the_offer(reached, seat) for seat in (0, 1)])
    assert fmean(corrected) == pytest.approx(fmean(plain), abs=1e-12)
    assert pvariance(corrected) < 0.95 * pvariance(plain)
    for _, record in islice(offers_played(nodes=999), 20):
        assert adjusted_returns(game, record, worth_before_the_offer) == record.returns


def plays(game: Game, state: Any) -> Any:
    """Every play in which all always throw: its probability and its actions."""
    if game.is_terminal(state):
        yield Fraction(1), ()
    elif game.to_move(state) == CHANCE:
        for face in range(1, 7):
            for probability, actions in plays(game, game.result(state, face)):
                yield probability / 6, (str(face), *actions)
    else:
        for probability, actions in plays(game, game.result(state, "throw")):
            yield probability, ("throw", *actions)


SOME = play(TicTacToe(), [Noter(), Noter()])


def made(game: Game, actions: tuple[str, ...]) -> Record:
    """A record of these actions."""
    state = game.initial(random.Random())
    for text in actions:
        state = game.result(state, game.parse_action(state, text))
    start = game.format_state(game.initial(random.Random()))
    return SOME._replace(position=start, actions=actions, returns=tuple(game.returns(state)), decisions=())


def test_the_message_about_a_wrong_sum_of_returns_suggests_zero_sum_false(monkeypatch: pytest.MonkeyPatch) -> None:
    class Race(TicTacToe):
        players = 3

    with pytest.raises(GameError, match=r"returned \(1.0, 0.0, 0.0\); .*write zero_sum = False in the class"):
        Returns(Race()).check([1, 0, 0])
    monkeypatch.setattr(Race, "zero_sum", False)
    assert Returns(Race()).check([1, 0, 0]) == (1, 0, 0)
