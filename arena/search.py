"""The object that an agent gets for one decision: random numbers, evaluations, limits, and methods to report results."""

import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from math import inf, isfinite, isinf
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, cast

from arena.configured import name_of
from arena.counting import Meter
from arena.errors import GameError, abbreviate, blame, cut
from arena.game import Game, Puzzle, State
from arena.heuristics import Evaluation, HeuristicInfo
from arena.identity import Stream
from arena.limits import Limits, normalize_depth, normalize_value, read_number
from arena.returns import Returns
from arena.waiting import waiting

Item = TypeVar("Item")


class Comparable(Protocol):
    """A value that `Search.best` can compare."""

    def __gt__(self, other: Any, /) -> bool: ...


class SharedStart:
    """The complete state from which all local searches in a round start. It is drawn once, from the position's random stream."""

    __slots__ = ("_game", "_rng", "_state")

    def __init__(self, game: Game, rng: random.Random | None) -> None:
        """`rng` may be None if the game is not a puzzle, because only puzzles need it."""
        self._game = game
        self._rng = rng
        self._state: list[State] = []

    def state(self) -> State:
        """The state. Every call returns the same object."""
        if not self._state:
            if self._rng is None or not isinstance(self._game, Puzzle):
                raise TypeError(f"search.start() is for puzzles with random_state; {name_of(self._game)} is a game")
            self._state.append(self._game.random_state(self._rng))
        return self._state[0]

    @property
    def is_random(self) -> bool:
        """Whether the state has been drawn, and the game used random numbers for it."""
        return bool(self._state) and not isinstance(self._rng, Stream)


FindLoop = Callable[["Search", str, dict[str, Any]], Any]
"""A function that returns the loop of a search engine for a name and options; None if the agent must run its own loop."""


class Report(NamedTuple):
    """The last report of an agent in a decision."""

    best: Any = None
    value: float | None = None
    depth: int | None = None
    line: tuple[Any, ...] = ()
    exact: bool | None = None


NOTHING = Report()
LARGEST = sys.float_info.max
"""The largest finite float. Whole numbers may be larger, but searches compute with floats."""
LARGEST_ESTIMATE = 0.99
"""The largest value of a heuristic on the scale from -1 to 1. Larger values are returns, which prove a win. The kernels
have the same number.
"""


@cache
def _is_puzzle(kind: type[Game]) -> bool:
    """Return whether a class is a puzzle. It is cached, because checking an abstract class is slow and every decision does it."""
    return issubclass(kind, Puzzle)


class Search:
    """One decision of an agent, which can draw random numbers, evaluate states, read limits, and report its best action so far.

    The game object that the agent gets counts the generated states; the agent need not do anything for this.

    >>> class Greedy(arena.Agent):
    ...     name = "my-greedy"
    ...     def choose(self, game, state, search):
    ...         value = lambda action: search.evaluate(game.result(state, action), game.to_move(state))
    ...         return search.best(game.actions(state), value)
    >>> arena.play("tic-tac-toe", [Greedy(), Greedy()], position="xx./oo./...").actions
    ('3',)
    """

    MAX_AMOUNTS: ClassVar = 32
    """The largest number of different amounts that a decision may report."""
    MAX_AMOUNT_NAME_CHARACTERS: ClassVar = 64
    """The most characters in the name of an amount."""
    MAX_EXCHANGE_CHARACTERS: ClassVar = 4 << 20
    """The most characters that a decision may add to a transcript."""
    # Defaults in the class, because to set them for every decision takes longer
    _last = NOTHING
    served: Any = None
    """An object that a search engine keeps during this decision; see `arena.search_engines.SearchEngine`."""
    spent: Mapping[str, float] | None = None
    """The amounts that this decision has reported by `spend`; None if it was not called."""
    exchanges: tuple[str, ...] = ()
    """The exchanges that this decision has reported with `transcribe`, as JSON."""

    def __init__(
        self,
        game: Game,
        evaluation: Evaluation | None,
        limits: Limits,
        meter: Meter,
        rng: random.Random,
        start: SharedStart,
        find_loop: FindLoop | None = None,
    ) -> None:
        self._game = game
        self._puzzle = cast(Puzzle, game) if _is_puzzle(type(game)) else None
        self._evaluation = evaluation
        self._meter = meter
        self.rng = rng
        """The random generator of the seat, which is seeded on first use."""
        self._start = start
        self._find_loop = find_loop
        self.limits = limits

    @property
    def nodes(self) -> int:
        """The number of states generated in this decision so far."""
        return self._meter.nodes

    @property
    def evaluations(self) -> int:
        """The number of calls of `evaluate` and `cost_to_go` in this decision so far."""
        return self._meter.evaluations

    @property
    def reported(self) -> bool:
        """Whether anything has been reported."""
        return self._last is not NOTHING

    @property
    def best_action(self) -> Any:
        """The last reported action or solution."""
        return self._last.best

    @property
    def value(self) -> float | None:
        """The reported value for the seat that decides; None if none was reported."""
        return self._last.value

    @property
    def depth(self) -> int | None:
        """The reported depth in plies; None if none was reported."""
        return self._last.depth

    @property
    def line(self) -> tuple[Any, ...]:
        """The reported line of expected actions."""
        return self._last.line

    def evaluate(self, state: State, player: int = 0) -> float:
        """Return the value of `state` for `player`; higher is better.

        In a puzzle, it is 0.0 at a goal, minus infinity at a dead end, and otherwise minus `cost_to_go`. Raises GameError if the
        heuristic returns nan, no number, or a number that is too large for a float; in a game, also if it returns infinity or,
        unless `max_return` is infinite, a number below -0.99 or above 0.99.
        """
        self._meter.evaluations += 1
        puzzle = self._puzzle
        if self._game.is_terminal(state):
            if puzzle is not None:
                return 0.0 if puzzle.is_goal(state) else -inf
            game = self._game
            value = game.returns(state)[player]
            return value if game.min_return == -1.0 and game.max_return == 1.0 else Returns(game).scale(value)
        if self._evaluation is None:
            return 0.0
        if puzzle is not None:
            return -self._estimate(state)
        value = self._evaluation(state, player)
        kind = type(value)
        if (kind is float or kind is int) and -LARGEST_ESTIMATE <= value <= LARGEST_ESTIMATE:  # false for nan
            return value
        number = self._read(value, state, "a finite number")
        if not isfinite(number):
            raise self._wrong_value(value, state, "a finite number")
        if abs(number) <= LARGEST_ESTIMATE + Returns.VALUE_TOLERANCE or isinf(Returns.find_range(self._game)[1]):
            return number
        raise self._wrong_value(value, state, f"a number from {-LARGEST_ESTIMATE} to {LARGEST_ESTIMATE}")

    def cost_to_go(self, state: State) -> float:
        """Return the estimate of the heuristic of a puzzle: the cost from `state` to a goal; 0.0 without a heuristic.

        A negative estimate counts as 0, because no cost is negative. Infinity means a dead end. Raises GameError if the heuristic
        returns nan or no number.
        """
        self._meter.evaluations += 1
        return 0.0 if self._evaluation is None else self._estimate(state)

    def _estimate(self, state: State) -> float:
        estimate: float = self._evaluation(state)  # type: ignore[misc]  # callers check that there is one
        kind = type(estimate)
        if (kind is float and estimate >= 0) or (kind is int and 0 <= estimate <= LARGEST):
            return estimate
        number = self._read(estimate, state, "a number, or infinity for a dead end")
        if number >= 0:
            return number
        if number < 0:
            return 0.0
        raise self._wrong_value(estimate, state, "a number, or infinity for a dead end")

    def _read(self, value: object, state: State, expected: str) -> float:
        """Return a value of the heuristic that is not an ordinary float or whole number, such as a numpy number, as a float."""
        try:
            return read_number(value)
        except ValueError:
            raise self._wrong_value(value, state, expected) from None

    def _wrong_value(self, value: object, state: State, expected: str) -> GameError:
        text, called = cut(self._game.format_state(state)), getattr(self._evaluation, "func", self._evaluation)
        info = HeuristicInfo.of(getattr(called, "__self__", called))
        name = f"the heuristic {info.name}" if info else "the heuristic"
        message = f"{name_of(self._game)}: {name} returned {abbreviate(value)} at {text}; expected {expected}"
        return blame(called, message)

    def best(self, items: Iterable[Item], key: Callable[[Item], Comparable]) -> Item:
        """Return one of `items` with the highest `key`. Ties are broken by `rng`, which is used only if there is a tie.

        Raises ValueError if there are no items, or if a key cannot be compared (nan).
        """
        listed: Sequence[Item] = list(items)
        values: list[Any] = list(map(key, listed))
        top = max(values)
        ties = [item for item, value in zip(listed, values, strict=True) if value == top]
        if len(ties) == 1:
            return ties[0]
        if not ties:
            raise ValueError(f"expected keys that can be compared, got {top!r}")
        return self.rng.choice(ties)

    def depths(self) -> Iterator[int]:
        """Yield 1, 2, ... for iterative deepening, and stop if a deeper search cannot change anything.

        It stops at `limits.depth`, or after `report(exact=True)`. It also stops after two iterations in a row that used equal
        numbers of nodes and evaluations and reported the same value, because then the whole tree has usually been searched. An
        agent can prevent this by `report(exact=False)`.
        """
        meter = self._meter
        before: tuple[int, int, float | None] | None = None
        depth = 1
        while self.limits.depth is None or depth <= self.limits.depth:
            nodes, evaluations = meter.nodes, meter.evaluations
            yield depth
            used = (meter.nodes - nodes, meter.evaluations - evaluations, self.value)
            exact = self._last.exact
            if exact or (used == before and exact is None):
                return
            before = used
            depth += 1

    def report(
        self,
        best: Any,
        *,
        value: float | None = None,
        depth: int | None = None,
        line: Iterable[Any] = (),
        exact: bool | None = None,
    ) -> None:
        """Report the `best` result so far: an action or, for a solver, a Path or Answer. When a budget ends, the last one counts.

        `depth` is the number of plies searched, a whole number from 0 to 10^15. `value` is any number, from the point of view of
        the seat that decides; infinite values and nan are not stored. Raises ValueError for anything else. `line` holds the
        expected actions. `exact=True` means that the value is proven: no deeper search can change it. Then 1 or 1 - n * 1e-6 is a
        win, after n plies, and the record keeps the claim. If `exact` is None, `depths` guesses.
        """
        self._last = Report(
            best,
            None if value is None else normalize_value(value),
            None if depth is None else normalize_depth(depth),
            tuple(line),
            None if exact is None else bool(exact),
        )

    def spend(self, **amounts: float) -> None:
        """Report other `amounts` that this decision has used, by name, such as `tokens=812`.

        Amounts with the same name are added up, and the record of the decision stores them. Raises ValueError for anything but
        finite numbers from 0 to 10^15, and for more than 32 names.
        """
        spent = dict(self.spent or {})
        for name, amount in amounts.items():
            sound = Limits.is_amount(amount)
            total = spent.get(name, 0) + amount if sound else Limits.MAX_COUNT
            if not sound or total > Limits.MAX_COUNT or len(name) > self.MAX_AMOUNT_NAME_CHARACTERS:
                raise ValueError(
                    f"{cut(name)}: expected an amount from 0 to {Limits.MAX_COUNT:,} in total, got {abbreviate(amount)}"
                )
            spent[name] = total
        if len(spent) > self.MAX_AMOUNTS:
            raise ValueError(f"expected at most {self.MAX_AMOUNTS} named amounts, got {len(spent)}")
        self.spent = spent

    def transcribe(self, exchange: Mapping[str, Any]) -> None:
        """Add an exchange between the agent and its backend to the transcript of the match.

        A run with a store writes transcripts to a file next to the store, under the id of the match, which agents never learn.
        Records do not depend on transcripts. `exchange` is a JSON object. Raises ValueError for anything else, and for more than
        4 million characters. If the entry uses its own `plugin`, transcripts are dropped.
        """
        try:
            text = json.dumps(dict(exchange), allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"expected a JSON object, got {abbreviate(exchange)}") from error
        if len(text) + sum(map(len, self.exchanges)) > self.MAX_EXCHANGE_CHARACTERS:
            raise ValueError(f"expected at most {self.MAX_EXCHANGE_CHARACTERS:,} characters of transcript per decision")
        self.exchanges = (*self.exchanges, text)

    def waiting(self) -> AbstractContextManager[None]:
        """Let other matches be played while this decision waits for something outside, such as an answer from a network.

        Do nothing but wait inside `with search.waiting():`, and do not use the game there. See `Agent.waits`.
        """
        return waiting()

    def start(self) -> State:
        """The complete state from which a local search starts. It is the same for every agent that plays this position.

        It does not count as a node. Raises TypeError for puzzles without `random_state`.
        """
        return self._start.state()

    def compiled(self, engine: str, **options: Any) -> Any:
        """Return the compiled loop for the search `engine`, such as `ida-star`; None if the agent must run its own loop.

        Both loops have the same results, counts, reports and random numbers. `arena_compiled.engines` describes how a loop is
        called and its `options`, such as `weight` or `depth`.
        """
        return None if self._find_loop is None else self._find_loop(self, engine, options)

    def count(self, nodes: int) -> None:
        """Count `nodes` states that were generated without the game object. Raises OutOfBudget if a limit is exceeded.

        Raises ValueError if `nodes` is not a whole number, or is negative, because counts never decrease. It also raises
        ValueError if a decision without a limit would exceed 10^15.
        """
        if not Limits.is_count(nodes):
            raise ValueError(f"expected a whole number of nodes from 0 to {Limits.MAX_COUNT:,}, got {abbreviate(nodes)}")
        self._meter.count(nodes)
