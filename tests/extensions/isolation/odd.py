"""An agent that reports and returns odd values. The position names the oddity."""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from arena import Agent, Answer, Game, Path, Puzzle, hookimpl

Deed = Callable[[Any, Any, Any], Any]


class Odd:
    """An action that equals nothing, in its own way."""

    __hash__ = object.__hash__

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error

    def __eq__(self, other: object) -> bool:
        if self.error is not None:
            raise self.error.with_traceback(None)  # as in a new process, where no earlier raise has left its frames
        return True

    def __repr__(self) -> str:
        raise RuntimeError("nobody shall see this")


class Unlike:
    """An action that equals no other and cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("nobody shall see this")


class Claim(int):
    """A number for which each order comparison is true, so it claims to be small."""

    def __lt__(self, other: Any) -> bool:
        return True

    __le__ = __gt__ = __ge__ = __lt__


def _report(**said: Any) -> Deed:
    def choose(game: Any, state: Any, search: Any) -> Any:
        search.report(None, **said)
        return game.actions(state)[0]

    return choose


def _count(*claims: Any) -> Deed:
    def choose(game: Any, state: Any, search: Any) -> Any:
        for nodes in claims:
            search.count(nodes)
        return game.actions(state)[0]

    return choose


def _generate(game: Any, state: Any, search: Any) -> Any:
    search.count(10**15 - 1)
    actions = game.actions(state)
    [game.result(state, action) for action in actions[:2]]
    return actions[0]


def _generate_and_swallow(game: Any, state: Any, search: Any) -> Any:
    actions = game.actions(state)
    for action in actions[:3]:
        with suppress(ValueError):
            search.count(10**15)
        with suppress(ValueError):
            game.result(state, action)
    return actions[0]


def _assign(game: Any, state: Any, search: Any) -> Any:
    search.depth = -1
    return game.actions(state)[0]


def _refused_report(game: Any, state: Any, search: Any) -> Any:
    search.report(game.actions(state)[1], value=0.5, depth=1)
    with suppress(ValueError):
        search.report(game.actions(state)[2], value=0.7, depth=-2)
    return search.best_action


def _use_up(game: Any, state: Any, search: Any) -> Any:
    search.report(Odd(LookupError("not me")), value=1e301)
    while True:
        game.result(state, game.actions(state)[0])


def _raise(error: BaseException) -> Deed:
    def choose(game: Any, state: Any, search: Any) -> Any:
        raise error

    return choose


def _give(value: Any) -> Deed:
    return lambda game, state, search: value


CHOOSING: dict[str, Deed] = {
    "negative-depth": _report(depth=-1),
    "large-depth": _report(depth=10**16),
    "largest-depth": _report(depth=10**15),
    "endless-depth": _report(depth=10**5000),
    "half-a-depth": _report(depth=2.5),
    "text-as-depth": _report(depth="3"),
    "claimed-depth": _report(depth=Claim(10**20)),
    "true-as-depth": _report(depth=True),
    "large-value": _report(value=1e301),
    "largest-value": _report(value=-1.7976931348623157e308),
    "huge-value": _report(value=10**400),
    "whole-value": _report(value=10**300),
    "infinite-value": _report(value=float("inf")),
    "no-value": _report(value=float("nan")),
    "text-as-value": _report(value="0.5"),
    "line-of-nothing": _report(line=5),
    "refused-report": _refused_report,
    "assigned-depth": _assign,
    "much-counted": _count(10**15),
    "twice-counted": _count(10**15, 10**15),
    "too-much-counted": _count(10**15 + 1),
    "endlessly-counted": _count(10**5000),
    "counted-back": _count(5, -3),
    "half-counted": _count(2.5),
    "generated-beyond": _generate,
    "generated-and-swallowed": _generate_and_swallow,
    "raises-when-compared": _give(Odd(RuntimeError("compare me not"))),
    "exits-when-compared": _give(Odd(SystemExit(3))),
    "memory-when-compared": _give(Odd(MemoryError())),
    "doubts-when-compared": _give(Odd(ValueError("truth is ambiguous"))),
    "equals-everything": _give(Odd()),
    "unlike": _give(Unlike()),
    "list": _give([]),
    "nothing": _give(None),
    "used-up": _use_up,
    "long-words": _raise(RuntimeError("x" * 100_000)),
    "broken-words": _raise(RuntimeError("\ud800 is half a letter")),
    "no-words": _raise(RuntimeError(Unlike())),
}


def _path(*actions: Any) -> Deed:
    return lambda game, state, search: Path(actions)


def _answer(change: Callable[[Any], Any], steps: Any = None) -> Deed:
    return lambda game, state, search: Answer((state[0], change((1, 2))), steps)


WALKING: dict[str, Deed] = {
    "path-that-raises": _path(2, Odd(RuntimeError("compare me not"))),
    "path-out-of-memory": _path(2, Odd(MemoryError())),
    "path-that-is-wrong": _path(2, "left"),
    "path-that-is-short": _path(2),
    "path-of-anything": _path(Odd(), Odd()),
    "answer-to-a-path": _answer(list),
    "path-of-its-own": lambda game, state, search: type("Mine", (Path,), {})([2]),
}
FILLING: dict[str, Deed] = {
    "answer": _answer(tuple, 3),
    "answer-as-a-list": _answer(list),
    "answer-in-fractions": _answer(lambda numbers: [float(number) for number in numbers]),
    "answer-of-too-few": _answer(lambda numbers: numbers[:1]),
    "answer-of-nothing": lambda game, state, search: Answer(None),
    "answer-in-words": _answer(lambda numbers: "two"),
    "answer-that-cannot-be-shown": lambda game, state, search: Answer(Unlike()),
    "steps-back": _answer(tuple, -1),
    "steps-beyond": _answer(tuple, 10**16),
    "half-a-step": _answer(tuple, 2.5),
    "true-steps": _answer(tuple, True),
    "steps-that-cannot-be-shown": _answer(tuple, Unlike()),
    "nothing-in-no-steps": lambda game, state, search: Answer(None, -1),
    "number": lambda game, state, search: 5,
}


class Oddity(Game):
    """A game of two moves, which the player of the first move wins. A state is the name of an action and the number of moves."""

    name = "oddity"

    def initial(self, rng: random.Random) -> Any:
        return ("nothing", 0)

    def to_move(self, state: Any) -> int:
        return int(state[1] % 2)

    def actions(self, state: Any) -> Sequence[int]:
        return [1, 2, 3] if state[1] < 2 else []

    def result(self, state: Any, action: int) -> Any:
        return (state[0], state[1] + 1)

    def returns(self, state: Any) -> Sequence[float]:
        return (1.0, -1.0)


class Stairs(Puzzle):
    """Three steps, taken by one or two. A state is the name of a deed and the height."""

    name = "stairs"

    def initial(self, rng: random.Random) -> Any:
        return ("path", 0)

    def actions(self, state: Any) -> Sequence[int]:
        return [step for step in (1, 2) if state[1] + step <= 3]

    def result(self, state: Any, action: int) -> Any:
        return (state[0], state[1] + action)

    def is_goal(self, state: Any) -> bool:
        return bool(state[1] == 3)


class Numbers(Puzzle):
    """Find 1 and 2. A state is the name of a deed and the numbers so far, of which its notation wants to be whole."""

    name = "numbers"
    path_matters = False

    def initial(self, rng: random.Random) -> Any:
        return ("answer", ())

    def actions(self, state: Any) -> Sequence[int]:
        return [1, 2] if len(state[1]) < 2 else []

    def result(self, state: Any, action: int) -> Any:
        return (state[0], (*state[1], action))

    def is_goal(self, state: Any) -> bool:
        return list(state[1]) == [1, 2]

    def format_state(self, state: Any) -> str:
        return " ".join([state[0], *[format(number, "d") for number in state[1]]])

    def parse_state(self, text: str) -> Any:
        deed, *numbers = text.split()
        return (deed, tuple(map(int, numbers)))


class Chooser(Agent):
    """Does what the position says."""

    name = "chooser"

    def choose(self, game: Any, state: Any, search: Any) -> Any:
        return CHOOSING[state[0]](game, state, search)


class Solver(Agent):
    """Solves as the position says."""

    name = "solver"

    def solve(self, game: Any, state: Any, search: Any) -> Any:
        return {**WALKING, **FILLING}[state[0]](game, state, search)


@hookimpl
def arena_games() -> list[type[Game]]:
    return [Oddity, Stairs, Numbers]


@hookimpl
def arena_agents() -> list[type[Agent]]:
    return [Chooser, Solver]
