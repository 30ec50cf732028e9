"""Compares the rules for compiled searches with the game before they are compiled. They run as plain Python on some states, with
checks for 64-bit overflow.
"""

import ast
from collections import namedtuple
from collections.abc import Callable, Sequence
from math import log, nextafter, sqrt
from operator import getitem
from typing import Any

from arena import CHANCE, Game, Puzzle, State
from arena.api.errors import Interrupted, describe
from arena.api.games import Evaluation
from arena.clock import perf_counter
from arena.compiled import NotCompilable
from arena_compiled.edition import Edition
from arena_compiled.fields import LARGEST, SMALLEST
from arena_compiled.module import Module
from arena_compiled.places import where
from arena_compiled.specialiser import Specialiser

FILE = "<arena rules>"
HEURISTIC = ("evaluate", "plain", "value")
"""The methods of an estimate that return its value."""
REHEARSAL_SECONDS = 0.05
"""Time limit of the comparison in seconds."""
MAX_STEPS = 4
"""The maximum number of steps from a state that are compared."""


class Overflow(ArithmeticError):
    """A number does not fit into 64 bits, or an index or a shift is out of range."""


def _check_result(name: str) -> Callable[..., Any]:
    plain = getattr(int, name)

    def operation(*numbers: Any) -> Any:
        found = plain(*numbers)
        if type(found) is not int:
            return found
        if not SMALLEST <= found <= LARGEST:
            raise Overflow(f"{found} does not fit into 64 bits")
        return Held(found)

    return operation


def _check_shift(name: str) -> Callable[..., Any]:
    checked = _check_result(name)

    def operation(one: int, other: int) -> Any:
        by = one if "__r" in name and name != "__rshift__" else other
        if not 0 <= by < 64:
            raise Overflow(f"a shift by {by} bits")
        return checked(one, other)

    return operation


class Held(int):
    """An integer that raises Overflow in operations if the result does not fit into 64 bits."""


for _name in ("add", "sub", "mul", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(Held, f"__{_name}__", _check_result(f"__{_name}__"))
    setattr(Held, f"__r{_name}__", _check_result(f"__r{_name}__"))
for _name in ("neg", "abs", "invert"):
    setattr(Held, f"__{_name}__", _check_result(f"__{_name}__"))
for _name in ("__lshift__", "__rshift__", "__rlshift__", "__rrshift__"):
    setattr(Held, _name, _check_shift(_name))


def _hold(value: Any) -> Any:
    return Held(value) if isinstance(value, int) else value


def at(table: Sequence[Any], index: int) -> Any:
    """Return an entry of a table. Raises Overflow for an index below 0 or beyond the end."""
    if not 0 <= index < len(table):
        raise Overflow(f"the index {int(index)} is outside a table of {len(table)} entries")
    return _hold(table[index])


def put(table: Any, index: int, value: Any) -> None:
    """Write an entry of a table. Raises Overflow for an index below 0 or beyond the end."""
    if not 0 <= index < len(table):
        raise Overflow(f"the index {int(index)} is outside a table of {len(table)} entries")
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
    """Replaces every integer constant in the code by an integer that checks for overflow."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is not int:
            return node
        place = {"lineno": node.lineno, "col_offset": node.col_offset}
        return ast.Call(ast.Name("_held", ast.Load(), **place), [node], [], **place)


def space_of(module: Module, rules: Specialiser, estimate: Specialiser, *, held: bool = True) -> dict[str, Any]:
    """Return the functions of a module as ordinary Python functions, in which `rules` and `estimate` are bound to their numbers.

    With `held`, numbers are checked against 64 bits, and indices against the lengths of their tables. Then the functions of the
    kernel are left out.
    """
    number: Callable[[Any], Any] = Held if held else int
    space: dict[str, Any] = {
        "__name__": "arena_trial", "namedtuple": namedtuple, "at": at if held else getitem, "_put": put, "offset": _Offset,
        "_held": Held, "_int64": lambda value: number(int(value)), "log": log, "sqrt": sqrt,
        "bit_count": lambda bits: number(bits.bit_count()), "bit_length": lambda bits: number(bits.bit_length()),
    }  # fmt: skip
    tree = ast.parse(module.text)
    if held:
        kept = ("rules_", "estimate_")
        tree.body = [one for one in tree.body if not isinstance(one, ast.FunctionDef) or one.name.startswith(kept)]
        tree = _Constants().visit(tree)
    exec(compile(tree, FILE, "exec"), space)  # noqa: S102 - the text comes from the author's own code
    for root, fields in (("rules", rules), ("estimate", estimate)):
        values = [_hold(field.value) if held else field.value for field in fields.fields.values()]
        space[root] = space[f"{root}_type"](*values or [0])
    return space


def rehearse(module: Module, edition: Edition, rules: Specialiser, estimate: Specialiser, evaluation: Evaluation | None) -> None:
    """Compare a module with the game in some states. Raises Fault for the first difference."""
    rehearsal = Rehearsal(module, edition, rules, estimate, evaluation)
    until = perf_counter() + REHEARSAL_SECONDS
    for state in reversed(edition.samples):  # in reverse order, so that the ends of playouts are compared early
        if perf_counter() > until:
            return
        rehearsal.state(state)


def _text(game: Game, state: State) -> str:
    return game.format_state(state)[:100]


class Fault(NotCompilable):
    """A fault in compiled rules at a state."""

    def __init__(self, state: str, what: str, expected: object, got: object, place: str | None, *, held: bool = False) -> None:
        told = f"{what} in {state}: the compiled rules give {got}, the game gives {expected}" if expected is not None else got
        super().__init__(f"{place}: {told}" if place else told)
        self.what, self.expected, self.got, self.place = what, expected, got, place
        self.held = held
        """True if a number, an index or a shift is out of range for 64 bits."""


class Rehearsal:
    """Compares compiled rules with the game state by state, before the rules are compiled.

    With `held`, every intermediate number is checked against 64 bits.
    """

    def __init__(
        self,
        module: Module,
        edition: Edition,
        rules: Specialiser,
        estimate: Specialiser,
        evaluation: Evaluation | None,
        *,
        held: bool = True,
    ) -> None:
        self._edition = edition
        self._game = edition.game
        self._space = space_of(module, rules, estimate, held=held)
        self._evaluation = evaluation
        self._text = module.text
        self._roots = rules, estimate
        self._number = Held if held else int

    def state(self, state: State) -> None:
        """Compare the rules and the estimate with the game for a state and its first steps. Raises Fault if they differ."""
        try:
            self._compare(state)
        except (Interrupted, NotCompilable):
            raise
        except Exception as error:
            line, trace = None, error.__traceback__  # a line in the rewritten code, from which the author's line is found
            while trace is not None:
                if trace.tb_frame.f_code.co_filename == FILE:
                    line = trace.tb_lineno
                trace = trace.tb_next
            places = {number: place for root in self._roots for number, place in root.places(self._text).items()}
            text, place = _text(self._game, state), None if line is None else places.get(line)
            told = f"in {text}: {describe(error) if place is None else error}"
            raise Fault(text, "", None, told, place, held=isinstance(error, Overflow)) from error

    def _place_of_method(self, what: str) -> str | None:
        """Return the file and line of the method that is compared."""
        name = what.split(maxsplit=1)[0]
        if name == "the":
            return next((place for one in HEURISTIC if (place := self._estimate_place(one))), None)
        return self._roots[0].place(f"rules_{name}")

    def _estimate_place(self, name: str) -> str | None:
        return self._roots[1].place(f"estimate_{name}")

    def _has(self, name: str) -> bool:
        return name in self._space

    def _rules(self, name: str, *arguments: Any) -> Any:
        return self._space[f"rules_{name}"](self._space["rules"], *arguments)

    def _estimate(self, name: str, *arguments: Any) -> Any:
        return self._space[f"estimate_{name}"](self._space["estimate"], *arguments)

    def _same(self, state: State, what: str, found: Any, expected: Any, place: str | None = None) -> None:
        if found != expected:
            raise Fault(_text(self._game, state), what, expected, found, place or self._place_of_method(what))

    def _encode(self, state: State) -> Any:
        """Return the words of a state, as a list if actions change them in place."""
        words = self._edition.encode(state)
        if type(words) is not tuple or len(words) != self._edition.words:
            told = f"encode gave {words!r}; expected a tuple of {self._edition.words} numbers"
            function = getattr(self._edition.encode, "__func__", None)
            raise Fault("", "encode", None, told, None if function is None else where(function))
        for word in words:
            if not SMALLEST <= word <= LARGEST:
                raise Overflow(f"{word} does not fit into 64 bits")
        numbers = map(self._number, words)
        return list(numbers) if self._edition.in_place else tuple(numbers)

    def _fill(self, name: str, *arguments: Any) -> list[int]:
        room = self._edition.width
        buffer = [0] * room
        count = self._rules(name, *arguments, buffer, 0, room)
        if count > room:
            told = f"{name} gave {count}, more than the width of {room}"
            raise Fault("", name, None, told, self._place_of_method(name))
        return [int(number) for number in buffer[:count]]

    def _compare(self, state: State) -> None:
        game, words = self._game, self._encode(state)
        if self._compare_end(state, words) and not isinstance(game, Puzzle):
            return
        if self._has("rules_to_move"):
            self._same(state, "to_move", int(self._rules("to_move", words)), game.to_move(state))
        if self._has("rules_chance") and game.to_move(state) == CHANCE:
            self._outcomes(state, words)
            return
        if self._has("rules_threats"):
            for seat in range(game.players):
                found = {self._edition.action(state, number) for number in self._fill("threats", words, seat)}
                self._same(state, "threats", found, set(game.threats(state, seat)))
        legal = list(game.actions(state))
        numbers = self._fill("actions", words)
        self._same(state, "actions", [self._edition.action(state, number) for number in numbers], legal)
        if self._has("estimate_evaluate"):
            for seat in range(game.players):
                self._same(state, "the heuristic", self._estimate("evaluate", words, seat), self._game_value(state, seat))
        carried = None
        if self._has("estimate_first"):
            carried = tuple(map(self._number, self._estimate("first", words)))
            self._cost(state, carried, words, "first")
        for number, action in list(zip(numbers, legal, strict=True))[:MAX_STEPS]:
            self._step(state, words, carried, number, action)

    def _compare_end(self, state: State, words: Any) -> bool:
        """Compare whether the play is over in a state and, if so, the returns. Return True if the play is over."""
        game = self._game
        over = bool(game.is_terminal(state))
        if self._has("rules_is_terminal"):
            self._same(state, "is_terminal", bool(self._rules("is_terminal", words)), over)
        if self._has("rules_is_goal") and isinstance(game, Puzzle):
            self._same(state, "is_goal", bool(self._rules("is_goal", words)), bool(game.is_goal(state)))
        if over and self._has("rules_returns"):
            self._same(state, "returns", list(self._rules("returns", words)), [float(value) for value in game.returns(state)])
        return over

    def _outcomes(self, state: State, words: tuple[Any, ...]) -> None:
        """Compare the outcomes of chance for the smallest and the largest random number, and some steps."""
        below, reached, tried_ones = 0.0, 0.0, 0
        outcomes = self._game.chance_outcomes(state)
        for action, probability in outcomes:
            reached += probability
            last = 1.0 if action == outcomes[-1][0] else reached
            for number in {below, max(below, nextafter(min(1.0, last), 0.0))}:
                outcome = int(self._rules("chance", words, number))
                self._same(state, f"chance with {number}", self._edition.action(state, outcome), action)
            if tried_ones < MAX_STEPS:
                self._step(state, words, None, outcome, action)
                tried_ones += 1
            below = reached

    def _cost(self, state: State, carried: Any, words: tuple[Any, ...], by: str) -> None:
        expected = self._game_value(state)
        self._same(state, "the heuristic", self._estimate("of", carried, words), expected, self._estimate_place(by))

    def _game_value(self, state: State, *seat: int) -> float:
        return 0.0 if self._evaluation is None else float(self._evaluation(state, *seat))

    def _step(self, state: State, words: tuple[Any, ...], carried: Any, number: int, action: Any) -> None:
        successor = self._game.result(state, action)
        if self._edition.in_place:
            found = list(words)
            self._rules("apply", found, self._number(number))
        else:
            found = self._rules("result", words, self._number(number))
        expected = self._encode(successor)
        self._same(state, f"result of {action}", tuple(map(int, found)), tuple(map(int, expected)))
        if carried is not None:
            after = tuple(map(self._number, self._estimate("after", carried, words, self._number(number), expected)))
            self._cost(successor, after, expected, "after")
        if self._has("rules_step_cost"):
            cost = self._game.step_cost(state, action, successor) if isinstance(self._game, Puzzle) else 0
            self._same(state, "step_cost", float(self._rules("step_cost", words, self._number(number), expected)), float(cost))
        if self._has("rules_reverse"):
            back = self._rules("result", expected, self._number(self._rules("reverse", words, self._number(number))))
            self._same(state, f"reverse of {action}", tuple(map(int, back)), tuple(map(int, words)))
