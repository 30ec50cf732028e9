"""The kit passes sound games, and finds every promise that a game can break, one planted bug for each."""

import io
import random
import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import numpy as np
import pytest

from arena import CHANCE, Disguise, Game, load_plugins
from arena.plugins.registry import Registry
from arena.testing import check_game
from arena_check.finding import Violation
from arena_check.game_checks import game_verdicts
from arena_check.trial_board import TrialBoard, percent
from tests.extensions.check.conftest import Corridor

Finding = Callable[[Callable[[], object]], dict[str, str]]


# Sound games, as a newcomer would write them


class Nim(Game):
    """Take one to three from a heap; the player that takes the last one wins."""

    name = "nim"

    def initial(self, rng: random.Random) -> Any:
        return (rng.randint(5, 9), 0)

    def to_move(self, state: Any) -> int:
        seat: int = state[1]
        return seat

    def actions(self, state: Any) -> Any:
        return [number for number in (1, 2, 3) if number <= state[0]]

    def result(self, state: Any, action: Any) -> Any:
        return (state[0] - action, 1 - state[1])

    def returns(self, state: Any) -> Any:
        return (1.0, -1.0) if state[1] == 1 else (-1.0, 1.0)


class TellingNim(Nim):
    """Nim that tells its threats."""

    name = "telling-nim"

    def threats(self, state: Any, seat: int) -> Any:
        return [state[0]] if 1 <= state[0] <= 3 else []


@dataclass(unsafe_hash=True)
class Pile:
    """A state that can be changed, but is not."""

    heap: int
    seat: int
    marked: bool = False


class PileNim(Nim):
    """Nim with objects for states and a notation of its own."""

    name = "pile-nim"

    def initial(self, rng: random.Random) -> Any:
        return Pile(rng.randint(5, 9), 0)

    def to_move(self, state: Any) -> int:
        seat: int = state.seat
        return seat

    def actions(self, state: Any) -> Any:
        return range(1, min(3, state.heap) + 1)

    def result(self, state: Any, action: Any) -> Any:
        return Pile(state.heap - action, 1 - state.seat, state.marked)

    def returns(self, state: Any) -> Any:
        return (1, -1) if state.seat == 1 else (-1, 1)

    def format_state(self, state: Any) -> str:
        return f"{state.heap} {state.seat}{' marked' * state.marked}"

    def parse_state(self, text: str) -> Any:
        heap, seat, *marked = text.split()
        return Pile(int(heap), int(seat), bool(marked))


class PlainPile(PileNim):
    """Its states are dataclasses of this module, so the default notation works."""

    name = "plain-pile"
    format_state = Game.format_state
    parse_state = Game.parse_state


class Heap:
    """A state of an ordinary class, whose text is not a literal."""

    def __init__(self, heap: int, seat: int) -> None:
        self.heap, self.seat, self.marked = heap, seat, False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heap) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.heap, self.seat))


class WordlessPile(PlainPile):
    """The same game, with states that have no notation."""

    name = "wordless-pile"

    def initial(self, rng: random.Random) -> Any:
        return Heap(rng.randint(5, 9), 0)

    def result(self, state: Any, action: Any) -> Any:
        return Heap(state.heap - action, 1 - state.seat)


class Auction(Game):
    """Three seats bid once each, the last one twice; everybody keeps half of a bid, so it is not zero-sum."""

    name = "auction"
    players = 3
    zero_sum = False
    seats = (0, 1, 2, 2)

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return self.seats[min(len(state), 3)]

    def actions(self, state: Any) -> Any:
        return () if len(state) == 4 else ("low", "high")

    def result(self, state: Any, action: Any) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Any:
        return [0.5 if bid == "high" else 0.0 for bid in state[:3]]


class View:
    """A position in a corridor, from which steps and jumps are possible."""

    def __init__(self, length: int, place: int) -> None:
        self.length = length
        self.place = place
        self.cost: float = length - 1 - place

    def propose(self, rng: random.Random) -> int:
        return min(max(self.place + rng.choice((-1, 1)), 0), self.length - 1)

    def delta(self, move: int) -> float:
        return self.place - move

    def apply(self, move: int) -> None:
        self.cost += self.place - move
        self.place = move

    def state(self) -> int:
        return self.place


class OpenCorridor(Corridor):
    """A corridor where only the final place counts, with every view for local search."""

    name = "open-corridor"
    path_matters = False

    def random_state(self, rng: random.Random) -> Any:
        return rng.randrange(self.length)

    def neighbors(self, state: Any) -> Any:
        return [self.result(state, action) for action in self.actions(state)]

    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        return rng.choice((a, b))

    def mutate(self, state: Any, rng: random.Random) -> Any:
        return rng.choice(self.neighbors(state))

    def local(self, state: Any) -> Any:
        return View(self.length, state)


class OneWay(Corridor):
    """A corridor with a dead end at the left, from where nothing leads back, and with costs."""

    name = "one-way"

    def actions(self, state: Any) -> Any:
        return ["left", "right"] if 0 < state < self.length - 1 else []

    def step_cost(self, state: Any, action: Any, successor: Any) -> float:
        return 0 if action == "left" else 0.25


class Refusing(OpenCorridor):
    """A puzzle that refuses every answer. A walk of few actions seldom meets a goal."""

    def is_answer(self, position: Any, state: Any) -> bool:
        return False


class Accepting(OpenCorridor):
    """A puzzle that accepts every answer."""

    def is_answer(self, position: Any, state: Any) -> bool:
        return True


class Rooms(OpenCorridor):
    """A puzzle whose answers must be goals."""

    def is_answer(self, position: Any, state: Any) -> bool:
        return bool(self.is_goal(state))


CHECKED = {"play", "positions", "states", "actions", "purity", "notation", "threats", "pickling", "randomness"}
CHECKED_TOO: dict[type[Game], set[str]] = {
    Corridor: {"returns", "goals", "costs"},
    OneWay: {"returns", "goals", "costs"},
    OpenCorridor: {"returns", "goals", "costs", "local search"},
}
"""Not every random walk through a puzzle meets an end, so returns are checked where one does."""


@pytest.mark.parametrize("game", [Nim, TellingNim, PileNim, PlainPile, Auction, Corridor, OpenCorridor, OneWay])
def test_a_correct_game_passes_the_checks(game: type[Game]) -> None:
    """Games as newcomers write them pass from several seeds. Puzzles have more checks."""
    for seed in range(2):
        passed = set(check_game(game, seed=seed))
        assert passed - CHECKED == CHECKED_TOO.get(game, {"returns", "termination"})
        assert passed >= CHECKED


def test_is_answer_must_agree_with_is_goal() -> None:
    """The message shows the state and a shortest sequence of actions that leads to it."""
    with pytest.raises(Violation) as caught:
        check_game(Refusing, matches=1)
    finding, length = caught.value.finding, Refusing().length
    assert (finding.check, finding.what) == ("goals", "is_answer must accept a goal that is reached")
    assert (finding.expected, finding.got) == (f"True for the goal {length - 1}", "False")
    assert set(finding.actions) == {"right"}
    with pytest.raises(Violation, match="is_answer must reject a state that is not a goal") as caught:
        check_game(Accepting, matches=1)
    assert (caught.value.finding.expected, caught.value.finding.actions) == (f"False for {caught.value.finding.position}", ())
    assert "goals" in check_game(Rooms, matches=1)


def test_a_state_without_a_literal_needs_a_notation() -> None:
    """The message suggests a fix, and does not describe how Python parses literals."""
    with pytest.raises(Violation) as caught:
        check_game(WordlessPile)
    assert caught.value.finding.check == "notation"
    assert caught.value.finding.what == "the game has no notation for its states"
    assert caught.value.finding.expected == (
        "a tuple or another Python literal as a state, or a game that defines `format_state` and `parse_state`"
    )


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tic-tac-toe", {}),
        ("tic-tac-toe", {"rows": 4, "columns": 4, "in_a_row": 4}),
        ("tic-tac-toe", {"rows": 5, "columns": 4, "in_a_row": 3}),
        ("tic-tac-toe", {"rows": 1, "columns": 3, "in_a_row": 1}),
        ("sliding-tiles", {"rows": 2, "columns": 2}),
        ("sliding-tiles", {"rows": 2, "columns": 3}),
        ("sliding-tiles", {"rows": 3, "columns": 3}),
        ("sliding-tiles", {"rows": 4, "columns": 4}),
        ("sliding-tiles", {"goal": "blank-first"}),
        ("sliding-tiles", {"shuffle": 20}),
    ],
    ids=str,
)
def test_built_in_games_pass_with_several_parameters(name: str, parameters: dict[str, Any], registry: Registry) -> None:
    assert set(check_game(registry.game(name)(**parameters), matches=2)) >= CHECKED


OWN_TESTS = {
    "breakthrough", "checkers", "connect-four", "dots-and-boxes", "gomoku", "hanoi", "hex", "kalah", "nim", "othello", "pancake",
    "rubik-2x2", "sokoban", "sudoku", "top-spin",
}  # fmt: skip
"""The games that tests in tests/games check with several parameters."""


def test_check_game_accepts_all_remaining_installed_games_by_name(registry: Registry) -> None:
    """The games in OWN_TESTS are left out. A game can be given by name, as a class or as an object."""
    found = {name: check_game(name, matches=1) for name in registry.games if name not in OWN_TESTS}
    assert set(registry.games) > OWN_TESTS
    for name in ("tic-tac-toe", "n-queens", "pig"):
        game = registry.games[name]
        assert found[name] == check_game(game, matches=1) == check_game(game(), matches=1)


# Planted bugs. Each class breaks one promise of the sound game that it is derived from.


class TakesInPlace(PileNim):
    def result(self, state: Any, action: Any) -> Any:
        state.heap -= action
        state.seat = 1 - state.seat
        return state


class MarksTheState(PileNim):
    """Changes the state the first time only: a second call finds it as it left it."""

    def result(self, state: Any, action: Any) -> Any:
        state.marked = True
        return super().result(state, action)


class MarksWhileShowing(PileNim):
    def render(self, state: Any) -> str:
        state.marked = True
        return super().render(state)


class MarksWhileThreatening(PileNim):
    def threats(self, state: Any, seat: int) -> Any:
        state.marked = state.heap <= 3
        return [state.heap] if 1 <= state.heap <= 3 else []

    def is_quiet(self, state: Any) -> bool:
        return not 1 <= state.heap <= 3


class ChangesItsMind(Nim):
    calls = 0

    def result(self, state: Any, action: Any) -> Any:
        self.calls += 1
        return (state[0] - action, self.calls % 2)


class RemembersTheLast(Nim):
    last = None

    def result(self, state: Any, action: Any) -> Any:
        again, self.last = action == self.last, action
        return (max(0, state[0] - action - again), 1 - state[1])


class RemembersTheStart(Nim):
    bonus = 0

    def initial(self, rng: random.Random) -> Any:
        self.bonus = rng.randrange(2)
        return super().initial(rng)

    def result(self, state: Any, action: Any) -> Any:
        return (max(0, state[0] - action - self.bonus), 1 - state[1])


class CachesByTheHeap(Nim):
    """Keeps results under a key without the seat; so the first answer stays, right or wrong."""

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}

    def result(self, state: Any, action: Any) -> Any:
        return self.known.setdefault((state[0], action), super().result(state, action))


class KeepsTheTurn(Nim):
    turn = 0

    def initial(self, rng: random.Random) -> Any:
        self.turn = 0
        return super().initial(rng)

    def to_move(self, state: Any) -> int:
        return self.turn

    def result(self, state: Any, action: Any) -> Any:
        self.turn = 1 - self.turn
        return super().result(state, action)


class OrdersByHistory(Nim):
    last = None

    def actions(self, state: Any) -> Any:
        return sorted(super().actions(state), key=lambda action: action != self.last)

    def result(self, state: Any, action: Any) -> Any:
        self.last = action
        return super().result(state, action)


class FlipsTheOrder(Nim):
    step = 1

    def actions(self, state: Any) -> Any:
        self.step = -self.step
        return super().actions(state)[:: self.step]


class TellsTheCode(Nim):
    rules_text = "Two seats take one to three from a heap. States are tuples of the heap and the seat; the last one wins."


class SaysTooLittle(Nim):
    rules_text = "Nim."


class ForgetsTheProperty(Nim):
    def rules_text(self) -> str:  # type: ignore[override]
        return SaysTooLittle.rules_text * 20


STORY = "Two players turn down one lamp by one, two or three steps. The player who moved last wins. Its name is {}."


class TellsLess(Nim):
    """The lamp has a brightness, and no number."""

    def disguise(self, rng: random.Random) -> Disguise:
        return Disguise({}, {"1": "a", "2": "b", "3": "c", "": "lamp"}, f"{STORY} a b c".format(rng.random()), lambda _: {"": ""})


class MixesUpItsMoves(Nim):
    def disguise(self, rng: random.Random) -> Disguise:
        same = dict.fromkeys("123", "turn")
        return Disguise({}, {**same, "": "lamp"}, STORY.format(rng.random()), lambda seen: {"": [str(seen[0])]})


class TellsItsName(Nim):
    def disguise(self, rng: random.Random) -> Disguise:
        return Disguise({}, {"": "lamp"}, STORY.format(f"{self.name} {rng.random()}"), lambda seen: {"": [str(seen[0])]})


class DisguisesOneWay(Nim):
    def disguise(self, rng: random.Random) -> Disguise:
        return Disguise({}, {"": "lamp"}, STORY.format("lamp"), lambda seen: {"": [str(seen[0])]})


class InventsWords(Nim):
    def disguise(self, rng: random.Random) -> Disguise:
        return Disguise({}, {"": "candle"}, STORY.format(rng.random()), lambda seen: {"": [str(seen[0])]})


class OffersTwice(Nim):
    def actions(self, state: Any) -> Any:
        return super().actions(state) * 2


class OffersNone(Nim):
    def actions(self, state: Any) -> Any:
        return None

    def is_terminal(self, state: Any) -> bool:
        return bool(state[0] == 0)


class OffersAGenerator(Nim):
    def actions(self, state: Any) -> Any:
        return iter(super().actions(state))


class OffersLists(Nim):
    def actions(self, state: Any) -> Any:
        return [[action] for action in super().actions(state)]


class Opaque:
    """A thing without a value."""


class OffersOpaque(Nim):
    things: ClassVar[list[Opaque]] = [Opaque()]

    def actions(self, state: Any) -> Any:
        return self.things if state[0] else []


class OffersUnpicklable(Nim):
    things: ClassVar[list[Any]] = [lambda: None]

    def actions(self, state: Any) -> Any:
        return self.things if state[0] else []


class OneTextForTwo(Nim):
    def format_action(self, state: Any, action: Any) -> str:
        return "odd" if action % 2 else "even"


class PadsTheAction(Nim):
    def format_action(self, state: Any, action: Any) -> str:
        return f"{action} "


class NumbersForTexts(Nim):
    def format_action(self, state: Any, action: Any) -> Any:
        return [action]


class ReadsAnotherAction(Nim):
    def parse_action(self, state: Any, text: str) -> Any:
        return text


class RefusesItsActions(Nim):
    def parse_action(self, state: Any, text: str) -> Any:
        raise ValueError(f"expected a word, got {text!r}")


class LosesTheSeat(Nim):
    def parse_state(self, text: str) -> Any:
        return (super().parse_state(text)[0], 0)


class RefusesItsStates(Nim):
    def parse_state(self, text: str) -> Any:
        raise ValueError(f"expected a board, got {text!r}")


class TwoLines(Nim):
    def format_state(self, state: Any) -> str:
        return f"{state[0]}\n{state[1]}"

    def parse_state(self, text: str) -> Any:
        heap, seat = text.split("\n")
        return (int(heap), int(seat))


class DrawsNothing(Nim):
    def render(self, state: Any) -> Any:
        return None


class NeverEnds(Nim):
    def result(self, state: Any, action: Any) -> Any:
        return (state[0], 1 - state[1])


class Limited(NeverEnds):
    default_moves = 30


class NobodyCanAct(Nim):
    def is_terminal(self, state: Any) -> bool:
        return False


class ThirdSeat(Nim):
    def to_move(self, state: Any) -> int:
        return super().to_move(state) + 1


class Jackpot(Nim):
    def returns(self, state: Any) -> Any:
        return [100 * value for value in super().returns(state)]


class NotANumber(Nim):
    def returns(self, state: Any) -> Any:
        return (float("nan"), float("nan"))


class Bottomless(Nim):
    min_return = float("-inf")


class Boundless(Nim):
    max_return = float("inf")

    def returns(self, state: Any) -> Any:
        return [value * float("inf") for value in super().returns(state)]


class OneForBoth(Nim):
    def returns(self, state: Any) -> Any:
        return (1.0,)


class ReturnsNothing(Nim):
    def returns(self, state: Any) -> Any:
        return None


class BothWin(Nim):
    def returns(self, state: Any) -> Any:
        return (1.0, 1.0)


class BothLose(Nim):
    def returns(self, state: Any) -> Any:
        return (-1.0, -0.5)


class ListForState(Nim):
    def initial(self, rng: random.Random) -> Any:
        return list(super().initial(rng))


class OpaqueState(Nim):
    def initial(self, rng: random.Random) -> Any:
        return Opaque()


class UnpicklableState(Nim):
    def initial(self, rng: random.Random) -> Any:
        return (*super().initial(rng), OffersUnpicklable.things[0])


class KeepsALambda(Nim):
    def __init__(self) -> None:
        self.rule = lambda heap: heap > 0


class KeepsALambdaLater(Nim):
    def initial(self, rng: random.Random) -> Any:
        self.__dict__["rule"] = lambda heap: heap > 0
        return super().initial(rng)


class ForgetsItsParameter(Nim):
    def __init__(self, *, most: int = 2) -> None:
        self.most = most

    def __reduce__(self) -> Any:
        return type(self), (), {"most": 3}

    def actions(self, state: Any) -> Any:
        return range(1, min(self.most, state[0]) + 1)


class RollsGlobally(Nim):
    def render(self, state: Any) -> str:
        return super().render(state) + " " * int(random.random())


class RollsWhenMade(Nim):
    def __init__(self) -> None:
        self.table = random.getrandbits(64)


class SeedsGlobally(Nim):
    def initial(self, rng: random.Random) -> Any:
        random.seed(12345)
        return super().initial(rng)


class DrawsOnItsOwn(Nim):
    def initial(self, rng: random.Random) -> Any:
        return (random.Random().randint(5, 1_000_000_000), 0)


class StartsInTurn(Nim):
    first = 0

    def initial(self, rng: random.Random) -> Any:
        self.first = 1 - self.first
        return (super().initial(rng)[0], self.first)


class CannotBeMade(Nim):
    def __init__(self, *, most: int) -> None:
        self.most = most


class RaisesWhenDrawn(Nim):
    def render(self, state: Any) -> str:
        raise IndexError("no line")


class RaisesNearTheEnd(Nim):
    def result(self, state: Any, action: Any) -> Any:
        if state[0] - action == 1:
            raise IndexError("one is left")
        return super().result(state, action)


class Exits(Nim):
    def returns(self, state: Any) -> Any:
        raise SystemExit(0)


class MissesAThreat(TellingNim):
    def threats(self, state: Any, seat: int) -> Any:
        return [state[0]] if 1 <= state[0] <= 2 else []


class TellsTooMany(TellingNim):
    def threats(self, state: Any, seat: int) -> Any:
        return [*super().threats(state, seat), 1] if state[0] > 1 else super().threats(state, seat)


class TellsIllegal(TellingNim):
    def threats(self, state: Any, seat: int) -> Any:
        return [state[0]]


class TellsNothing(TellingNim):
    def threats(self, state: Any, seat: int) -> Any:
        return None

    def is_quiet(self, state: Any) -> bool:
        return True


class RaisesWhereItWins(TellingNim):
    """Raises at an end that only the check of threats is sure to look at."""

    def returns(self, state: Any) -> Any:
        raise KeyboardInterrupt


class OneForBothWhereItWins(TellingNim):
    def returns(self, state: Any) -> Any:
        return (1.0,)


class RaisesInALineNotPlayed(TellingNim):
    def result(self, state: Any, action: Any) -> Any:
        if action == state[0]:
            raise SystemExit(1)
        return super().result(state, action)


class HalfQuiet(Nim):
    def is_quiet(self, state: Any) -> Any:
        return 1


GAMES: list[tuple[type[Game], str]] = [
    (TakesInPlace, "result changes the state it is given"),
    (MarksTheState, "result changes the state it is given"),
    (MarksWhileShowing, "a method that should only read the state changes it"),
    (MarksWhileThreatening, "result or threats changes the state it is given"),
    (ChangesItsMind, "result returns a different value the second time"),
    (RemembersTheLast, "result returns a different value the second time"),
    (RemembersTheStart, "result of . returns a different value after other matches were played"),
    (CachesByTheHeap, "result of . returns a different value before other matches were played"),
    (KeepsTheTurn, "to_move returns a different value after other matches were played"),
    (OrdersByHistory, "actions returns a different value after other matches were played"),
    (FlipsTheOrder, "actions come in a different order the second time"),
    *((game, "rules_text must describe the game to a reader") for game in (TellsTheCode, SaysTooLittle)),
    (TellsLess, "a disguise must have one text for each observation"),
    (MixesUpItsMoves, "a disguise must have different texts for the moves of a state"),
    (TellsItsName, "a disguise must not name the game"),
    (DisguisesOneWay, "the disguise must depend only on the generator"),
    (InventsWords, "rules_text of a disguise must contain all words of its positions and moves"),
    (OffersTwice, "actions lists an action twice"),
    (OffersNone, "actions must return a sequence"),
    (OffersAGenerator, "actions must return a sequence"),
    (OffersLists, r"actions must be hashable: hash\(\[1\]\)"),
    (OffersOpaque, "actions must compare by value"),
    (OffersUnpicklable, "pickling the actions"),
    (OneTextForTwo, "format_action returns the same text for two actions"),
    (PadsTheAction, "format_action must return one line of text"),
    (NumbersForTexts, "format_action must return one line of text"),
    (ReadsAnotherAction, "parse_action must read '1' back"),
    (RefusesItsActions, "parse_action of '1'"),
    (LosesTheSeat, "parse_state must read '.*' back"),
    (RefusesItsStates, "parse_state of '.*'"),
    (TwoLines, "format_state must return one line of text"),
    (DrawsNothing, "render must return text"),
    (NobodyCanAct, "a state that is not terminal has no actions"),
    (ThirdSeat, "to_move must return a seat"),
    (Jackpot, "returns must be in range"),
    (NotANumber, "returns must be in range"),
    (Boundless, "returns must be in range"),
    (Bottomless, "min_return must be finite"),
    (OneForBoth, "returns must give a value for every seat"),
    (ReturnsNothing, "returns must return a list"),
    (BothWin, "returns must add up to zero"),
    (BothLose, "returns must add up to zero"),
    (ListForState, "states must be hashable and comparable with =="),
    (OpaqueState, "states must compare by value"),
    (UnpicklableState, "pickling a state"),
    (KeepsALambda, "pickling the game"),
    (KeepsALambdaLater, "pickling the game"),
    (ForgetsItsParameter, "actions returns a different value after the game was pickled"),
    (RollsGlobally, "the game uses the global random generator"),
    (RollsWhenMade, "the game uses the global random generator"),
    (SeedsGlobally, "the game uses the global random generator"),
    (DrawsOnItsOwn, "initial returns two different states for the same seed"),
    (StartsInTurn, "initial returns two different states for the same seed"),
    (CannotBeMade, "making the game"),
    (RaisesWhenDrawn, "render"),
    (RaisesNearTheEnd, "result of ."),
    (Exits, "returns"),
    (MissesAThreat, "threats returns exactly the actions that win at once"),
    (TellsTooMany, "threats returns exactly the actions that win at once"),
    (TellsIllegal, "threats returns exactly the actions that win at once"),
    (TellsNothing, "threats must return a list"),
    (RaisesWhereItWins, "returns"),
    (OneForBothWhereItWins, "returns must give a value for every seat"),
    (RaisesInALineNotPlayed, "result of ."),
    (HalfQuiet, "is_quiet must return True or False"),
]


class ArrayForState(Nim):
    def initial(self, rng: random.Random) -> Any:
        return np.array(super().initial(rng))


class ArrayForLaterState(Nim):
    def result(self, state: Any, action: Any) -> Any:
        return np.array(super().result(state, action))


@dataclass(frozen=True)
class Boxed:
    heap: Any

    def __getitem__(self, place: int) -> int:
        return int(self.heap[place])


class BoxedArrayForState(Nim):
    def initial(self, rng: random.Random) -> Any:
        return Boxed(np.array(super().initial(rng)))


class HashableBox(Boxed):
    def __hash__(self) -> int:
        return 1


class HashableBoxForState(Nim):
    def initial(self, rng: random.Random) -> Any:
        return HashableBox(np.array(super().initial(rng)))


class ArraysForActions(Nim):
    def actions(self, state: Any) -> Any:
        return [np.array([action, action]) for action in super().actions(state)]

    def result(self, state: Any, action: Any) -> Any:
        return super().result(state, int(action[0]))


@pytest.mark.parametrize(
    ("game", "check", "got"),
    [
        (ArrayForState, "states", "numpy.ndarray from initial (TypeError: unhashable type: 'numpy.ndarray')"),
        (ArrayForLaterState, "states", "numpy.ndarray from result (TypeError"),
        (BoxedArrayForState, "states", "Boxed from initial (TypeError: unhashable type: 'numpy.ndarray'"),
        (HashableBoxForState, "states", "HashableBox from initial (ValueError: The truth value of an array"),
        (ArraysForActions, "actions", "TypeError: unhashable type: 'numpy.ndarray'"),
    ],
)
def test_values_that_cannot_be_compared_are_reported_as_the_only_fault(game: type[Game], check: str, got: str) -> None:
    """Truth values of arrays are ambiguous, so comparisons of the other checks raise exceptions. No method of the game does."""
    failed = [each.violation for each in game_verdicts(game(), matches=2) if each.violation is not None]
    assert [each.finding.check for each in failed] == [check]
    assert got in failed[0].finding.got
    assert "must be hashable" in failed[0].finding.what


class PaysBack(Corridor):
    def step_cost(self, state: Any, action: Any, successor: Any) -> float:
        return -1.0 if action == "left" else 1.0


class CostsNotANumber(Corridor):
    def step_cost(self, state: Any, action: Any, successor: Any) -> float:
        return float("nan")


class CostsWithoutEnd(Corridor):
    def step_cost(self, state: Any, action: Any, successor: Any) -> float:
        return float("inf")


class HalfSolved(Corridor):
    def returns(self, state: Any) -> Sequence[float]:
        return (0.5,)


class AlwaysSolved(OneWay):
    def returns(self, state: Any) -> Sequence[float]:
        return (1.0,)


class GoesOnAtTheGoal(Corridor):
    def is_terminal(self, state: Any) -> bool:
        return False


class AlmostAGoal(Corridor):
    def is_goal(self, state: Any) -> Any:
        return int(super().is_goal(state))


class DrawsStatesOnItsOwn(OpenCorridor):
    length = 1_000_000_000

    def random_state(self, rng: random.Random) -> Any:
        return super().random_state(random.Random())


class MutatesOnItsOwn(OpenCorridor):
    def mutate(self, state: Any, rng: random.Random) -> Any:
        return random.Random().randrange(1_000_000_000)


class CrossesOnItsOwn(OpenCorridor):
    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        return random.Random().randrange(1_000_000_000)


class CrossesDifferentBadly(OpenCorridor):
    """Fails only if the parents differ."""

    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        return a if a == b else [a, b]


class MutatesGlobally(OpenCorridor):
    def mutate(self, state: Any, rng: random.Random) -> Any:
        random.shuffle([])
        random.random()
        return super().mutate(state, rng)


class OnlyGenetic(Corridor):
    """Has no random_state: what it mutates is the position."""

    def mutate(self, state: Any, rng: random.Random) -> Any:
        return [state]

    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        return a


class ItsOwnNeighbor(OpenCorridor):
    def neighbors(self, state: Any) -> Any:
        return [*super().neighbors(state), state]


class NoNeighbors(OpenCorridor):
    def neighbors(self, state: Any) -> Any:
        return None


class WrongTexts(OpenCorridor):
    """Reads back what play meets, but not what mutate makes."""

    def mutate(self, state: Any, rng: random.Random) -> Any:
        return -1

    def format_state(self, state: Any) -> str:
        return str(abs(state))


class LyingView(View):
    def delta(self, move: int) -> float:
        return 0.5 * (self.place - move)


class DriftingView(View):
    """Is true to its delta, but not to the cost of its state."""

    def delta(self, move: int) -> float:
        return 0.0

    def apply(self, move: int) -> None:
        self.place = move


class HastyView(View):
    def delta(self, move: int) -> float:
        change = super().delta(move)
        self.apply(move)
        return change


class MovingView(View):
    """Moves while it looks; its cost does not show that."""

    def delta(self, move: int) -> float:
        self.place, change = move, super().delta(move)
        return change


class DisplacedView(View):
    def state(self) -> int:
        return (self.place + 1) % self.length


class CostlessView(View):
    def __init__(self, length: int, place: int) -> None:
        super().__init__(length, place)
        self.cost = float("nan")


class PoorView:
    cost = 0.0

    def __init__(self, length: int, place: int) -> None:
        self.state = place


class VaguelyChanging(View):
    def delta(self, move: int) -> Any:
        return None


class LyingDelta(OpenCorridor):
    view: ClassVar[type[Any]] = LyingView

    def local(self, state: Any) -> Any:
        return self.view(self.length, state)


class Drifting(LyingDelta):
    view = DriftingView


class Hasty(LyingDelta):
    view = HastyView


class Moving(LyingDelta):
    view = MovingView


class Displaced(LyingDelta):
    view = DisplacedView


class Costless(LyingDelta):
    view = CostlessView


class Poor(LyingDelta):
    view = PoorView


class Vague(LyingDelta):
    view = VaguelyChanging


class Places(OpenCorridor):
    """A corridor with objects for states; `mutate` changes its parent."""

    def initial(self, rng: random.Random) -> Any:
        return Pile(super().initial(rng), 0)

    def actions(self, state: Any) -> Any:
        return super().actions(state.heap)

    def result(self, state: Any, action: Any) -> Any:
        return Pile(super().result(state.heap, action), 0)

    def is_goal(self, state: Any) -> Any:
        return super().is_goal(state.heap)

    def format_state(self, state: Any) -> str:
        return str(state.heap)

    def parse_state(self, text: str) -> Any:
        return Pile(int(text), 0)

    def random_state(self, rng: random.Random) -> Any:
        return Pile(super().random_state(rng), 0)

    def local(self, state: Any) -> Any:
        return PlacesView(self.length, state.heap)

    def mutate(self, state: Any, rng: random.Random) -> Any:
        state.heap = 0
        return Pile(state.heap, 0)


class PlacesView(View):
    def state(self) -> Any:
        return Pile(self.place, 0)


PUZZLES: list[tuple[type[Game], str]] = [
    (PaysBack, "step_cost must return a cost"),
    (CostsNotANumber, "step_cost must return a cost"),
    (CostsWithoutEnd, "step_cost must return a cost"),
    (HalfSolved, "returns of a puzzle must say whether it is solved"),
    (AlwaysSolved, "returns of a puzzle must say whether it is solved"),
    (GoesOnAtTheGoal, "a goal must be terminal"),
    (AlmostAGoal, "is_goal must return True or False"),
    (DrawsStatesOnItsOwn, "random_state returns two different states for the same seed"),
    (MutatesOnItsOwn, "mutate returns two different states for the same seed"),
    (CrossesOnItsOwn, "crossover returns two different states for the same seed"),
    (CrossesDifferentBadly, "states must be hashable and comparable with =="),
    (MutatesGlobally, "the game uses the global random generator"),
    (OnlyGenetic, "states must be hashable and comparable with =="),
    (ItsOwnNeighbor, "a state must not be its own neighbor"),
    (NoNeighbors, "neighbors must return a list"),
    (WrongTexts, "parse_state must read '1' back"),
    (LyingDelta, "apply must change the cost by the value of delta"),
    (Drifting, "a new view of the same state must have the same cost"),
    (Hasty, "delta must not change the view"),
    (Moving, "delta must not change the view"),
    (Displaced, "a new view from local must start in the state that local was given"),
    (Costless, "cost of a local view must be a number"),
    (Poor, "a local view must have cost, propose, delta, apply, state"),
    (Vague, "delta must be a number"),
    (Places, "a view for local search changes the state it is given"),
]


def played(found: dict[str, str]) -> list[str]:
    """The actions of a message."""
    actions = re.sub(r" \(\d+ actions?, shortened from .*", "", found["actions"])
    return [] if actions == "none" else actions.split(", ")


def test_returns_must_be_finite_even_without_bounds(finding: Finding) -> None:
    """The message says so, because infinity is within infinite bounds."""
    assert finding(lambda: check_game(Boundless, seed=7))["expected"] == "finite numbers in [-1, inf]"


@pytest.mark.parametrize(("game", "what"), [pytest.param(*row, id=row[0].__name__) for row in GAMES + PUZZLES])
def test_a_broken_promise_of_a_game_is_reported(game: type[Game], what: str, finding: Finding) -> None:
    """The message gives the game, the promise, the seed and the number of matches, which reproduce the fault."""
    found = finding(lambda: check_game(game, seed=7))
    assert found["subject"] == game.name
    assert re.fullmatch(what, found["what"])
    again = finding(lambda: check_game(game, seed=int(found["seed"]), matches=int(found["matches"])))
    assert re.fullmatch(what, again["what"])


class DrawsGlobally(Nim):
    def initial(self, rng: random.Random) -> Any:
        return (random.randint(5, 99), 0)


@pytest.mark.parametrize(("game", "faults"), [(StartsInTurn, ["positions"]), (DrawsGlobally, ["positions", "randomness"])])
def test_only_the_draw_is_at_fault_if_it_differs(game: type[Game], faults: list[str]) -> None:
    """`result` only computes a new tuple, so it does not change a state, whatever `initial` does."""
    assert [each.check for each in game_verdicts(game, matches=3) if not each.kept] == faults


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("game", [RemembersTheStart, CachesByTheHeap, KeepsTheTurn, OrdersByHistory, CrossesDifferentBadly])
def test_a_bug_that_depends_on_earlier_matches_is_found_from_any_seed(game: type[Game], seed: int, finding: Finding) -> None:
    """The game object keeps a value between matches. The bug is found even with a lucky seed."""
    assert int(finding(lambda: check_game(game, seed=seed))["seed"]) in range(seed, seed + 20)


def test_the_message_is_enough_to_reproduce_the_state(finding: Finding) -> None:
    """The position can be parsed, the seed draws it, and the actions lead to the state with the bug."""
    found = finding(lambda: check_game(RaisesNearTheEnd, seed=3))
    game = RaisesNearTheEnd()
    state = game.initial(random.Random(found["seed"]))
    assert game.parse_state(found["position"]) == state
    for text in played(found):
        state = game.result(state, game.parse_action(state, text))
    with pytest.raises(IndexError, match="one is left"):
        game.result(state, int(found["what"].removeprefix("result of ")))
    assert found["expected"] == "no exception"
    assert "IndexError: one is left" in found["got"]
    assert "test_games.py:" in found["got"]


def test_a_message_stays_readable_after_ten_thousand_actions(finding: Finding) -> None:
    """For an endless match, the message shows the last ten actions and the number of earlier ones, and it comes quickly."""
    found = finding(lambda: check_game(NeverEnds, matches=1))
    assert found["what"] == "the match does not end"
    assert found["actions"].startswith("9,990 others, ")
    assert len(found["actions"].split(", ")) == 11
    assert found["expected"] == "an end within 10,000 plies, or a move limit (default_moves)"


def test_a_game_that_ends_only_at_its_move_limit_fails(finding: Finding) -> None:
    """The referee ends a match at `default_moves`, so no check goes further."""
    found = finding(lambda: check_game(Limited))
    assert (found["what"], len(found["actions"].split(", "))) == ("no match ends by itself", 30)
    assert "default_moves" in found["expected"]
    assert found["got"].startswith("20 of 20 matches do not: ")
    assert "each seat gets 0; for another result, define `standing`" in found["got"]


class Paid(Limited):
    def standing(self, state: Any) -> Any:
        return (0.5, -0.5)


def test_a_game_that_ends_only_at_its_move_limit_passes_if_it_defines_a_standing() -> None:
    """For example, each round of such a game has a payoff."""
    [found] = [each for each in game_verdicts(Paid) if each.check == "termination"]
    assert found.kept
    assert str(found.note).startswith("20 of 20 matches do not: the move limit (default_moves) stops them after 30 moves")


class Walk(Game):
    """Chance moves a token; a seat may stop it only at the sixth move, and only after heads at the first toss."""

    name = "walk"
    zero_sum = False
    min_return, max_return = -9.0, -1.0
    default_moves: int | None = 6

    def initial(self, rng: random.Random) -> Any:
        return ()

    def to_move(self, state: Any) -> int:
        return 0 if len(state) % 2 else CHANCE

    def actions(self, state: Any) -> Any:
        return () if state[:1] == ("heads",) and len(state) > 11 else ("go",) if len(state) % 2 else ("heads", "tails")

    def chance_outcomes(self, state: Any) -> Any:
        return [("heads", 0.5), ("tails", 0.5)]

    def result(self, state: Any, action: Any) -> Any:
        return (*state, action)

    def returns(self, state: Any) -> Any:
        return (-1.0, -2.0)


@pytest.mark.parametrize("seed", [0, 20])
def test_matches_that_reach_the_move_limit_are_counted(seed: int) -> None:
    """Half of the matches end with the sixth move, and the others never end. Chance moves do not count."""
    [found] = [each for each in game_verdicts(Walk, seed=seed) if each.check == "termination"]
    assert found.kept
    stopped, _, told = str(found.note).partition(" of 20 matches do not: ")
    assert 3 <= int(stopped) <= 17  # the probability of any other number is 0.0004
    assert told.startswith("the move limit (default_moves) stops them after 6 moves, and each seat gets -9;")

    class Short(Walk):
        default_moves = 5

    [failed] = [each for each in game_verdicts(Short, seed=seed) if each.check == "termination"]
    assert failed.violation is not None
    assert failed.violation.finding.what == "no match ends by itself"


class Boasting(Nim):
    def standing(self, state: Any) -> Any:
        return (2.0, -2.0)


def test_a_standing_must_be_within_the_range_of_returns(finding: Finding) -> None:
    found = finding(lambda: check_game(Boasting))
    assert (found["what"], found["expected"]) == ("standing must be in range", "finite numbers in [-1, 1]")


@pytest.mark.parametrize(("declared", "moves"), [("default_moves = 10", 10), ("default_moves = 5000", 5000), ("", 200)])
def test_arena_try_uses_the_move_limit_of_the_game(declared: str, moves: int, tmp_path: Path) -> None:
    """Without such a limit, a match of `arena try` ends after 200 moves."""
    file = tmp_path / "endless.py"
    file.write_text(
        f"import arena\nfrom arena_games.tic_tac_toe import TicTacToe\n\n\nclass Endless(TicTacToe):\n    name = 'endless'\n"
        f"    default_heuristic = None\n    {declared}\n\n    def result(self, state, action):\n        return state\n\n\n"
        "@arena.hookimpl\ndef arena_games():\n    return [Endless]\n"
    )
    registry = load_plugins([file])
    board = TrialBoard(registry, str(file), (str(file),), 0, io.StringIO(), inf, Mock())
    game = registry.game("endless")()
    assert board.spec(game, ["random", "greedy"]).boards[0].seats[0].limits.moves == moves


def test_a_game_object_is_checked_with_its_own_parameters() -> None:
    """One parameter breaks the game."""
    with pytest.raises(AssertionError, match="after the game was pickled"):
        check_game(ForgetsItsParameter(most=1))
    check_game(ForgetsItsParameter(most=3))


def test_a_check_with_zero_matches_is_refused() -> None:
    """With zero matches, every game would pass."""
    with pytest.raises(ValueError, match="whole number of at least 1, got 0"):
        check_game(Nim, matches=0)


@pytest.mark.parametrize("game", [Nim, RollsGlobally, SeedsGlobally, RollsWhenMade])
def test_a_check_restores_the_global_random_generator(game: type[Game]) -> None:
    """Whether the check passes or fails, the calling program gets the same random numbers afterwards."""
    random.seed(12345)
    before = random.getstate()
    with nullcontext() if game is Nim else pytest.raises(AssertionError):
        check_game(game)
    assert random.getstate() == before


class Dry(Nim):
    """Says that play continues although no action is possible."""

    def initial(self, rng: random.Random) -> Any:
        return (12, 0)

    def is_terminal(self, state: Any) -> bool:
        return False


def test_the_message_gives_the_fewest_actions_to_a_state_without_actions(finding: Finding) -> None:
    """It takes at least four actions to remove twelve stones, three at a time."""
    for seed in range(5):
        found = finding(lambda seed=seed: check_game(Dry, seed=seed))  # type: ignore[misc]
        assert found["what"] == "a state that is not terminal has no actions"
        assert len(played(found)) == 4


def test_the_message_explains_that_rules_text_must_be_a_property(finding: Finding) -> None:
    """Another message says that the text is too short."""
    found = finding(lambda: check_game(ForgetsTheProperty, seed=7))
    assert found["what"] == "rules_text must describe the game to a reader"
    assert found["got"] == "a method; write @property above it"


@pytest.mark.parametrize("halves", [1, 3, 57, 105, 155, 199])
def test_half_a_percent_of_the_matches_is_rounded_up(halves: int) -> None:
    """`halves` of 200 matches are a whole number of percent plus a half."""
    assert percent(halves / 200) == f"{(halves + 1) // 2} %"
