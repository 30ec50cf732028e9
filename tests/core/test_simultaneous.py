"""Games in which several seats act at once."""

import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from arena import CHANCE, Game, Simultaneous
from arena.counting import Meter, counting_view
from arena.game import gives
from arena.testing import check_game
from arena.traits import Traits

Auction = tuple[tuple[int | None, ...], str]
"""The coins that each seat has left, None where they are hidden, and what has been sold, as `0: a, 2: b`."""


def own(method: Callable[..., Any]) -> Callable[..., Any]:
    """Hold the first argument of a method to be a state of its author."""

    def checked(self: Game, state: Any, *rest: Any) -> Any:
        assert isinstance(state, tuple), state
        return method(self, state, *rest)

    return checked


class SealedBids(Simultaneous):
    """Two lots are sold by sealed bids of three seats, and the last seat is away for the second; chance breaks ties."""

    name = "sealed-bids"
    players = 3
    zero_sum = False

    def begin(self, rng: random.Random) -> Auction:
        return ((2, 2, 1), "")

    @own
    def movers(self, state: Auction) -> Sequence[int]:
        _, sold = state
        if sold.endswith("?"):
            return (CHANCE,)
        return {0: (0, 1, 2), 1: (0, 1)}.get(sold.count(":"), ())

    @own
    def legal(self, state: Auction, seat: int) -> Sequence[str]:
        coins = state[0][seat]
        return [f"{bid} of {coins}" for bid in range((coins or 0) + 1)]

    @own
    def joint(self, state: Auction, actions: Sequence[str]) -> Auction:
        coins, sold = state
        if sold.endswith("?"):
            return (coins, f"{sold[:-1]}{actions[0]}:, ")
        bids = {seat: int(action.split()[0]) for seat, action in zip(self.movers(state), actions, strict=True)}
        best = [seat for seat, bid in bids.items() if bid == max(bids.values())]
        left = tuple([(mine or 0) - (bids.get(seat, 0) if seat == best[0] else 0) for seat, mine in enumerate(coins)])
        return (left, f"{sold}?" if len(best) > 1 else f"{sold}{best[0]}:, ")

    @own
    def payoffs(self, state: Auction) -> Sequence[float]:
        return [state[1].count(f"{seat}:") / 2 for seat in range(3)]

    @own
    def seen(self, state: Auction, seat: int) -> Auction:
        coins, sold = state
        return (tuple([mine if mine is not None and owner == seat else None for owner, mine in enumerate(coins)]), sold)

    @own
    def chance_outcomes(self, state: Auction) -> Sequence[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]

    @own
    def resample(self, observation: Auction, seat: int, rng: random.Random) -> Auction:
        coins, sold = observation
        return (tuple([rng.randrange(3) if mine is None else mine for mine in coins]), sold)

    @own
    def standing(self, state: Auction) -> Sequence[float]:
        return [0.0, 0.0, 0.0]

    @own
    def render(self, state: Auction) -> str:
        return f"sold: {state[1]}"

    @own
    def format_state(self, state: Auction) -> str:
        return f"{','.join(map(str, state[0]))};{state[1]}"

    def parse_state(self, text: str) -> Auction:
        coins, _, sold = text.partition(";")
        return (tuple([None if each == "None" else int(each) for each in coins.split(",")]), sold)


class Pennies(Simultaneous):
    """Matching pennies has the notation, the chance and the observations that every game has."""

    name = "pennies"

    def begin(self, rng: random.Random) -> str:
        return ""

    def movers(self, state: str) -> Sequence[int]:
        return () if state else (0, 1)

    def legal(self, state: str, seat: int) -> Sequence[str]:
        return "HT"

    def joint(self, state: str, actions: Sequence[str]) -> str:
        return "".join(actions)

    def payoffs(self, state: str) -> Sequence[float]:
        return (1.0, -1.0) if state[0] == state[1] else (-1.0, 1.0)


def below(game: Game, state: Any) -> Iterator[Any]:
    """Every state that can be reached, once for each way."""
    yield state
    for action in game.actions(state):
        yield from below(game, game.result(state, action))


BIDS = SealedBids()
STATES = list(dict.fromkeys(below(BIDS, BIDS.begin(random.Random()))))


def test_turns_reach_the_same_states_as_simultaneous_choices() -> None:
    met = 0
    for state in filter(lambda state: isinstance(state, tuple) and BIDS.movers(state), STATES):
        movers = BIDS.movers(state)
        options = [[0, 1]] if movers == (CHANCE,) else [BIDS.legal(state, seat) for seat in movers]
        for actions in product(*options):
            place = state
            for seat, action in zip(movers, actions, strict=True):
                assert (BIDS.to_move(place), BIDS.is_terminal(place)) == (seat, False)
                assert action in BIDS.actions(place)
                place = BIDS.result(place, action)
            assert place == BIDS.joint(state, actions)
            met += 1
    assert met > 3 * 3 * 2


def test_a_terminal_state_has_no_mover_and_returns_for_all_seats() -> None:
    ends = [state for state in STATES if BIDS.is_terminal(state)]
    assert ends
    for state in ends:
        assert (BIDS.actions(state), BIDS.to_move(state)) == ((), 0)
        assert sum(BIDS.returns(state)) == 1.0  # two lots, half a point each


def test_choices_of_others_are_hidden_until_all_have_chosen() -> None:
    groups: dict[Any, set[Any]] = {}
    for state in STATES:
        if not isinstance(state, tuple):
            for seat in range(3):
                groups.setdefault((seat, len(state.chosen), BIDS.observation(state, seat)), set()).add(state)
    for (seat, count, seen), alike in groups.items():
        mine = {state.chosen[seat : seat + 1] for state in alike}
        assert len(mine) == 1
        assert seen.chosen[seat : seat + 1] == next(iter(mine))
        assert all(action is None for other, action in enumerate(seen.chosen) if other != seat), seen
        if seat == count:  # the seat to move knows the turn and its legal actions
            assert BIDS.to_move(seen) == seat
            assert all(BIDS.actions(seen) == BIDS.actions(state) for state in alike)
    assert max(map(len, groups.values())) > 5


def test_states_survive_a_round_trip_through_text() -> None:
    everything = set(STATES) | {BIDS.observation(state, seat) for state in STATES for seat in range(3)}
    texts = {BIDS.format_state(state): state for state in everything}
    assert len(texts) == len(everything)
    assert all(BIDS.parse_state(text) == state and "\n" not in text for text, state in texts.items())
    second = BIDS.result(((2, 2, 1), ""), "1 of 2")
    assert BIDS.format_state(second) == 'chosen ["1 of 2"]: 2,2,1;'
    assert BIDS.format_state(BIDS.observation(second, 1)) == "chosen [null]: None,2,None;"
    pennies = Pennies()
    turn = pennies.result("", "T")
    assert pennies.parse_state(pennies.format_state(turn)) == turn


@pytest.mark.parametrize(
    "text",
    [
        'chosen ["1 of 2": 2,2,1;',
        "chosen []: 2,2,1;",
        "chosen [1]: 2,2,1;",
        'chosen ["3 of 2"]: 2,2,1;',
        'chosen ["0 of 2", "0 of 2", "0 of 1"]: 2,2,1;',
        'chosen ["0 of 2"]: 2,2,1;0:, 1:, ',
    ],
)
def test_an_invalid_text_of_a_state_is_explained(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        BIDS.parse_state(text)


def test_methods_of_the_author_get_states_of_the_original_game() -> None:
    """The methods assert this."""
    for state in STATES:
        for place in (state, BIDS.observation(state, BIDS.to_move(state) % 3)):
            assert BIDS.render(place).startswith("sold: ")
            assert BIDS.chance_outcomes(place) == [(0, 0.5), (1, 0.5)]
            assert len(BIDS.standing(place)) == 3
            assert all(BIDS.parse_action(place, BIDS.format_action(place, action)) == action for action in BIDS.actions(place))
            assert BIDS.settled(place) == (place if isinstance(place, tuple) else place.state)


def test_a_sampled_state_fits_the_observation() -> None:
    rng = random.Random(5)
    drawn = set()
    for state in STATES:
        seat = BIDS.to_move(state)
        if seat != CHANCE and not BIDS.is_terminal(state):
            seen = BIDS.observation(state, seat)
            again = BIDS.resample(seen, seat, rng)
            assert BIDS.observation(again, seat) == seen
            assert None not in getattr(again, "chosen", ())
            drawn.add(getattr(again, "chosen", ()))
    assert len(drawn) > 3


def test_an_observation_cannot_be_played_on() -> None:
    seen = BIDS.observation(BIDS.result(((2, 2, 1), "0:, "), "0 of 2"), 1)
    with pytest.raises(ValueError, match="hides the choices of the others"):
        BIDS.result(seen, "0 of 2")


def test_added_methods_do_not_count_as_methods_of_the_author() -> None:
    assert set(Traits.of(Pennies())) == {"two-player", "zero-sum", "hidden-information", "simultaneous"}
    assert set(Traits.of(BIDS)) == {"multi-player", "hidden-information", "simultaneous", "chance", "resample"}
    assert [name for name in ("chance_outcomes", "chance_stream", "resample", "standing") if gives(Pennies, name)] == []
    assert not gives(type("Odd", (Pennies,), {"chance_outcomes": lambda self: []}), "chance_outcomes")


class StaticNotation(Pennies):
    """A static method, and a method that calls the method of its base class."""

    @staticmethod
    def format_action(state: str, action: str) -> str:
        assert isinstance(state, str)
        return action.lower()

    def format_state(self, state: str) -> str:
        assert isinstance(state, str)
        return "pennies " + super().format_state(state)

    def parse_state(self, text: str) -> Any:
        return super().parse_state(text.removeprefix("pennies "))


@pytest.mark.parametrize("kind", [StaticNotation, type("Derived", (StaticNotation,), {})])
def test_static_methods_and_derived_classes_are_adapted_once(kind: type[Simultaneous]) -> None:
    game = kind()
    turn = game.result("", "H")
    assert game.format_state(turn) == "chosen [\"h\"]: pennies ''"
    assert game.parse_state(game.format_state(turn)) == turn


def test_turns_are_compared_by_value() -> None:
    turn = Pennies().result("", "H")
    assert pickle.loads(pickle.dumps(turn)) == turn
    assert len({turn, Pennies().result("", "H"), Pennies().result("", "T")}) == 2
    assert turn != ("", ("H",))


def test_a_counting_view_counts_every_choice() -> None:
    meter = Meter()
    view = counting_view(BIDS, meter)
    state = view.initial(random.Random())
    for action in ("0 of 2", "0 of 2", "1 of 1"):
        state = view.result(state, action)
    assert meter.nodes == 3


def test_the_conformance_checks_pass() -> None:
    assert "notation" in check_game(Pennies(), matches=4)
