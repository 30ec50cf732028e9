"""Holds compiled rules to the game before they are used: uncompiled, on a few states, with every number held to 64 bits."""

import ast
from collections import namedtuple
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from arena.compiled.edition import GENERATES, Edition
from arena.compiled.fields import LARGEST, SMALLEST, NotCompilable
from arena.compiled.module import Module
from arena.compiled.specialiser import Specialiser
from arena.errors import Interrupted, describe
from arena.game import Game, Puzzle, State
from arena.heuristic import Evaluation
from arena.unmetered import seen

SECONDS = 0.05
"""How long the comparison may take."""
TRIED = 4
"""Successors of a state that are tried."""


class Overflow(ArithmeticError):
    """A number does not fit into 64 bits, or an index or a shift is not possible there."""


def _checked(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def operation(*numbers: Any) -> Any:
        found = plain(*numbers)
        if type(found) is not int:
            return found
        if not SMALLEST <= found <= LARGEST:
            raise Overflow(f"{found} does not fit into 64 bits")
        return Held(found)

    return operation


def _shifted(name: str) -> Callable[..., Any]:
    checked = _checked(name)

    def operation(one: int, other: int) -> Any:
        by = one if "__r" in name and name != "__rshift__" else other
        if not 0 <= by < 64:
            raise Overflow(f"a shift by {by} bits")
        return checked(one, other)

    return operation


class Held(int):
    """A whole number that raises where 64 bits would not hold what comes of it."""


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(Held, f"__{_name}__", _checked(f"__{_name}__"))
    setattr(Held, f"__r{_name}__", _checked(f"__r{_name}__"))
for _name in ("neg", "abs", "invert"):
    setattr(Held, f"__{_name}__", _checked(f"__{_name}__"))
for _name in ("__lshift__", "__rshift__", "__rlshift__", "__rrshift__"):
    setattr(Held, _name, _shifted(_name))


def _held(value: Any) -> Any:
    return Held(value) if isinstance(value, int) else value


def at(table: Sequence[Any], index: int) -> Any:
    """An entry of a table; Overflow below 0 and beyond the end."""
    if not 0 <= index < len(table):
        raise Overflow(f"the index {int(index)} of a table of {len(table)}")
    return _held(table[index])


def put(table: Any, index: int, value: Any) -> None:
    """Write an entry of a table; Overflow below 0 and beyond the end."""
    if not 0 <= index < len(table):
        raise Overflow(f"the index {int(index)} of a table of {len(table)}")
    table[index] = value


class _Offset(Sequence[Any]):
    def __init__(self, table: Sequence[Any], first: int) -> None:
        self._table = table
        self._first = first

    def __len__(self) -> int:
        return len(self._table) - self._first

    def __getitem__(self, index: Any) -> Any:
        return self._table[self._first + index]


class _Constants(ast.NodeTransformer):
    """Makes every whole number that is written in the code one that is held to 64 bits."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is not int:
            return node
        return ast.Call(ast.Name("_held", ast.Load()), [node], [])


def space_of(module: Module, rules: Specialiser, estimate: Specialiser) -> dict[str, Any]:
    """Return the functions of a module as plain Python, with `rules` and `estimate` bound to their numbers."""
    space: dict[str, Any] = {
        "__name__": "arena_trial", "namedtuple": namedtuple, "at": at, "_put": put, "offset": _Offset, "_held": Held,
        "_int64": lambda value: Held(int(value)),
        "bit_count": lambda number: Held(number.bit_count()), "bit_length": lambda number: Held(number.bit_length()),
    }  # fmt: skip
    tree = _Constants().visit(ast.parse(module.text))
    exec(compile(ast.fix_missing_locations(tree), "<rules>", "exec"), space)  # noqa: S102 - it is what has just been written from the author's own code
    for root, fields in (("rules", rules), ("estimate", estimate)):
        space[root] = space[f"{root}_type"](*[_held(field.value) for field in fields.fields.values()] or [0])
    return space


def tried(module: Module, edition: Edition, rules: Specialiser, estimate: Specialiser, evaluation: Evaluation | None) -> None:
    """Compare a module with the game on some states; NotCompilable says where they differ."""
    space = space_of(module, rules, estimate)
    trial = _Trial(edition, space, evaluation)
    until = perf_counter() + SECONDS
    for state in reversed(edition.samples):  # the ends of playouts among the first
        if perf_counter() > until:
            return
        try:
            trial.state(state)
        except (Interrupted, NotCompilable):
            raise
        except Exception as error:
            raise NotCompilable(f"in {_text(edition.game, state)}: {describe(error)}") from error


def _text(game: Game, state: State) -> str:
    return game.format_state(state)[:100]


class _Trial:
    def __init__(self, edition: Edition, space: dict[str, Any], evaluation: Evaluation | None) -> None:
        self._edition = edition
        self._game = edition.game
        self._space = space
        self._evaluation = evaluation

    def _has(self, name: str) -> bool:
        return name in self._space

    def _rules(self, name: str, *arguments: Any) -> Any:
        return self._space[f"rules_{name}"](self._space["rules"], *arguments)

    def _estimate(self, name: str, *arguments: Any) -> Any:
        return self._space[f"estimate_{name}"](self._space["estimate"], *arguments)

    def _same(self, state: State, what: str, found: Any, expected: Any) -> None:
        if found != expected:
            raise NotCompilable(
                f"{what} in {_text(self._game, state)}: the compiled rules give {found}, the game gives {expected}"
            )

    def _encoded(self, state: State) -> Any:
        """The words of a state, in a list where they are changed in place."""
        words = self._edition.encode(state)
        if type(words) is not tuple or len(words) != self._edition.words:
            raise NotCompilable(f"encode gave {words!r}; expected a tuple of {self._edition.words} numbers")
        for word in words:
            if not SMALLEST <= word <= LARGEST:
                raise Overflow(f"{word} does not fit into 64 bits")
        held = map(Held, words)
        return list(held) if self._edition.in_place else tuple(held)

    def _filled(self, name: str, *arguments: Any) -> list[int]:
        room = self._edition.width
        buffer = [0] * room
        count = self._rules(name, *arguments, buffer, 0, room)
        if count > room:
            raise NotCompilable(f"{name} gave {count}, more than the width of {room}")
        return [int(number) for number in buffer[:count]]

    def state(self, state: State) -> None:
        game, words = self._game, self._encoded(state)
        over = bool(game.is_terminal(state))
        if self._has("rules_is_terminal"):
            self._same(state, "is_terminal", bool(self._rules("is_terminal", words)), over)
        if self._has("rules_is_goal") and isinstance(game, Puzzle):
            self._same(state, "is_goal", bool(self._rules("is_goal", words)), bool(game.is_goal(state)))
        if over and self._has("rules_returns"):
            self._same(state, "returns", list(self._rules("returns", words)), [float(value) for value in game.returns(state)])
        if over and not isinstance(game, Puzzle):
            return
        if self._has("rules_to_move"):
            self._same(state, "to_move", int(self._rules("to_move", words)), game.to_move(state))
        self._threats(state, words)
        legal = list(game.actions(state))
        numbers = self._filled("actions", words)
        self._same(state, "actions", [self._edition.action(state, number) for number in numbers], legal)
        if self._has("estimate_evaluate"):
            for seat in range(game.players):
                self._same(state, "the heuristic", self._estimate("evaluate", words, seat), self._expected(state, seat))
        carried = self._carried(state, words)
        for number, action in list(zip(numbers, legal, strict=True))[:TRIED]:
            self._step(state, words, carried, number, action)

    def _threats(self, state: State, words: tuple[Any, ...]) -> None:
        if self._has("rules_threats"):
            for seat in range(self._game.players):
                found = {self._edition.action(state, number) for number in self._filled("threats", words, seat)}
                self._same(state, "threats", found, set(self._game.threats(state, seat)))

    def _carried(self, state: State, words: tuple[Any, ...]) -> Any:
        if not self._has("estimate_first"):
            return None
        carried = tuple(map(Held, self._estimate("first", words)))
        self._cost(state, carried, words)
        return carried

    def _cost(self, state: State, carried: Any, words: tuple[Any, ...]) -> None:
        self._same(state, "the heuristic", self._estimate("of", carried, words), self._expected(state))

    def _expected(self, state: State, *seat: int) -> float:
        if self._evaluation is None:
            return 0.0
        before = seen.states
        value = float(self._evaluation(state, *seat))
        if seen.states != before:
            seen.states = before
            raise NotCompilable(f"the heuristic {GENERATES}")
        return value

    def _after(self, words: Any, number: int) -> Any:
        """The words of the state after an action."""
        if not self._edition.in_place:
            return self._rules("result", words, Held(number))
        changed = list(words)
        self._rules("apply", changed, Held(number))
        return changed

    def _step(self, state: State, words: tuple[Any, ...], carried: Any, number: int, action: Any) -> None:
        successor = self._game.result(state, action)
        found = self._after(words, number)
        expected = self._encoded(successor)
        self._same(state, f"result of {action}", tuple(map(int, found)), tuple(map(int, expected)))
        if carried is not None:
            after = tuple(map(Held, self._estimate("after", carried, words, Held(number), expected)))
            self._cost(successor, after, expected)
        if self._has("rules_step_cost"):
            cost = self._game.step_cost(state, action, successor) if isinstance(self._game, Puzzle) else 0
            self._same(state, "step_cost", float(self._rules("step_cost", words, Held(number), expected)), float(cost))
        if self._has("rules_reverse"):
            back = self._rules("result", expected, Held(self._rules("reverse", words, Held(number))))
            self._same(state, f"reverse of {action}", tuple(map(int, back)), tuple(map(int, words)))
