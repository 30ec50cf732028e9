"""The kit passes games with chance and hidden cards, and finds one planted slip for each of their promises."""

import random
from collections.abc import Sequence
from typing import Any

import pytest

from arena import Game
from arena.testing import check_game, game_verdicts
from arena_check.information_checks import all_seeing, observations_of
from arena_games.kuhn_poker import KuhnPoker
from arena_games.leduc_poker import LeducPoker
from arena_games.liars_dice import LiarsDice
from arena_games.pig import Pig


@pytest.mark.parametrize(
    ("game", "more"),
    [
        (Pig(target=20), {"chance"}),
        (KuhnPoker(), {"chance", "observations", "secrets", "legal actions", "recall", "action space"}),
        (LeducPoker(), {"chance", "observations", "secrets", "legal actions", "recall", "action space"}),
        (LiarsDice(), {"chance", "observations", "secrets", "legal actions", "recall", "action space"}),
    ],
)
def test_correct_games_with_chance_and_hidden_information_pass_the_checks(game: Game, more: set[str]) -> None:
    """All checks that apply to the game are made."""
    made = set(check_game(game, matches=8))
    assert more <= made
    assert not ({"observations", "secrets", "recall"} - more) & made


class TellsACard(KuhnPoker):
    def observation(self, state: Any, seat: int) -> Any:
        return state if seat == 0 else super().observation(state, seat)


class HidesNothing(KuhnPoker):
    resample: Any = None  # no longer a method: what is hidden must show in the outcomes of chance

    def observation(self, state: Any, seat: int) -> Any:
        return state


class DealsFirst(Game):
    """Each seat gets one of so many cards that no two matches begin in the same way. A seat calls or folds."""

    name = "deals-first"

    def initial(self, rng: random.Random) -> Any:
        return (rng.random(), rng.random(), "")

    def to_move(self, state: Any) -> int:
        return len(state[2])

    def actions(self, state: Any) -> Sequence[str]:
        return ("c", "f") if len(state[2]) < 2 and "f" not in state[2] else ()

    def result(self, state: Any, action: str) -> Any:
        return (*state[:2], state[2] + action)

    def returns(self, state: Any) -> Sequence[float]:
        first = state[2].index("f") == 1 if "f" in state[2] else state[0] > state[1]
        return (1.0, -1.0) if first else (-1.0, 1.0)

    def observation(self, state: Any, seat: int) -> Any:
        return state


class Forgets(KuhnPoker):
    def observation(self, state: Any, seat: int) -> Any:
        cards, bets = super().observation(state, seat)
        return (cards, bets[2:] if len(bets) == 2 and len(cards) == 2 else bets)

    def to_move(self, state: Any) -> int:
        return 0 if state[1] == "" and "?" in state[0] else super().to_move(state)

    def is_terminal(self, state: Any) -> bool:
        return super().is_terminal(state) and "?" not in state[0]


class ActionsTell(KuhnPoker):
    def actions(self, state: Any) -> Any:
        legal = super().actions(state)
        return legal if len(state[0]) < 2 or state[0] != "KQ" or not legal else legal[:1]


class AddsUpToLess(Pig):
    def chance_outcomes(self, state: Any) -> Any:
        return [(face, 0.16) for face, _ in super().chance_outcomes(state)]


class LeavesOneOut(Pig):
    def chance_outcomes(self, state: Any) -> Any:
        return [(face, 0.2) for face, _ in super().chance_outcomes(state)[1:]]


class Impossible(Pig):
    def chance_outcomes(self, state: Any) -> Any:
        first, second, *others = super().chance_outcomes(state)
        return [(first[0], 0.0), (second[0], 2 / 6), *others]


class Unhashable(KuhnPoker):
    def observation(self, state: Any, seat: int) -> Any:
        return list(super().observation(state, seat))


class BadSpace(KuhnPoker):
    def action_space(self) -> Any:
        return ["pass"]


class BadResample(KuhnPoker):
    def resample(self, observation: Any, seat: int, rng: random.Random) -> Any:
        return ("JQ", observation[1])


class OutOfRange(Pig):
    max_return = 0.5


@pytest.mark.parametrize(
    ("game", "check", "what"),
    [
        (HidesNothing(), "secrets", "an observation hides nothing"),
        (DealsFirst(), "secrets", "an observation hides nothing"),
        (Forgets(), "recall", "leaves out something that this seat has seen or done"),
        (ActionsTell(), "observations", "the legal actions depend on something that the observation hides"),
        (ActionsTell(), "legal actions", "have different actions"),
        (AddsUpToLess(target=20), "chance", "add up to 0.96"),
        (LeavesOneOut(target=20), "chance", "expected equal lists"),
        (Impossible(target=20), "chance", "the probability 0"),
        (Unhashable(), "observations", "observations must be hashable"),
        (BadSpace(), "action space", "action_space must contain every legal action"),
        (BadResample(), "secrets", "observes something different"),
        (OutOfRange(target=20), "returns", "returns must be in range"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Game) else value,
)
def test_each_broken_promise_about_chance_or_hidden_information_is_found(game: Game, check: str, what: str) -> None:
    """The check of this promise finds it, with its message."""
    found = {verdict.check: str(verdict.violation) for verdict in game_verdicts(game, matches=20) if not verdict.kept}
    assert what in found.get(check, f"not found among {sorted(found)}")


def test_a_seat_that_sees_everything_is_reported() -> None:
    """This is not a fault, because some games hide information from one seat only."""
    assert all_seeing(TellsACard()) == [0]
    assert all_seeing(KuhnPoker()) == []
    assert all_seeing(LiarsDice()) == []


def test_the_output_shows_the_observation_of_each_seat() -> None:
    """The output contains one text per seat for one state, without the opponent's card. Games without hidden information have no
    such texts.
    """
    first, second = observations_of(KuhnPoker(), seed=1)
    assert first.startswith("a: ")
    assert "a: ?" in second
    assert "b: ?" in first
    assert observations_of(Pig()) == []
