"""Rewrites ordinary methods that compute with integers into functions that need no objects.

A method `self.name(...)` of the rules becomes a function `rules_name(rules, ...)`. The parameter `rules` is a named tuple of all
numbers and tables that the methods read. Functions that a method calls (other methods, functions of the same module) are
rewritten, too.
"""

import ast
import inspect
import textwrap
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from arena.compiled import NotCompilable
from arena_compiled.fields import NumberField, field_of
from arena_compiled.places import lines_of, mark, place_of, where
from arena_compiled.rewriter import Rewriter
from arena_compiled.sequence_rewriter import SequenceRewriter
from arena_compiled.statements import BUFFER, FILLERS, Fill, call, fill_buffer, split_returns

NUMBERS: dict[str, Callable[[ast.expr], ast.expr]] = {
    "result": lambda node: call("_int64", node),
    "first": lambda node: call("_int64", node),
    "after": lambda node: call("_int64", node),
    "returns": lambda node: call("float", node),
}
"""For each method, the function that converts the numbers in a returned tuple to one type."""
STATE_FIRST = frozenset({"actions", "is_goal", "is_terminal", "result", "returns", "step_cost", "threats", "to_move"})
"""Methods whose first parameter is a state, which has a known length."""
Lengths = Sequence[int | None]
_PENDING = ast.FunctionDef("", ast.arguments([], [], None, [], [], None, []), [], [], None)


class Specialiser:
    """The rewritten methods of one object, the functions that they call, and the fields that they read."""

    def __init__(self, root: str, made: Any, numbers: Mapping[str, int] | None = None) -> None:
        self.root = root
        """The name of the object: `rules` or `estimate`."""
        self.made = made
        self.numbers = numbers or {}
        """Numbers that belong to the object, in addition to its attributes."""
        self.words = 1
        """The number of values that an estimate keeps along with a state."""
        self.scratch: tuple[str, ...] = ()
        """Attributes that are arrays and may be changed by methods."""
        self.changes = False
        """True if methods write into the arrays of the object."""
        self.fields: dict[str, NumberField] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.origins: dict[str, Any] = {}
        """The original functions of the author that are known."""
        self._order: list[str] = []

    @property
    def listed(self) -> list[ast.FunctionDef]:
        """Return the functions, each after the functions that it calls."""
        return [self.functions[name] for name in self._order]

    def method(self, name: str, path: tuple[str, ...] = (), *, counting: bool = False, lengths: Lengths = ()) -> str:
        """Return the name of the function for a method of the object that `path` leads to. If `counting`, the function only
        counts the results of a filler (a method that writes its results into a buffer).

        `lengths` contains the lengths of the arguments that are tuples, if they are known.
        """
        owner = reduce(getattr, path, self.made)
        given = inspect.getattr_static(type(owner), name, None)
        static = isinstance(given, staticmethod)
        function = given.__func__ if static else given
        if not inspect.isfunction(function):
            raise NotCompilable(f"{type(owner).__name__}.{name} is not a plain method")
        called = "_".join([self.root, *path, name] + (["count"] if counting else []))
        if name in STATE_FIRST:
            lengths = (self.numbers.get("words"),) if not path else ()
        else:
            called += _suffix(lengths)
        return self._function(called, function, path, static=static, role=name, counting=counting, lengths=lengths)

    def function(self, called: str, function: Any, role: str) -> str:
        """Return the name of the function for a plain function whose first parameter is the object."""
        return self._function(called, function, (), static=False, role=role, counting=False)

    def plain_function(self, called: str, function: Any, lengths: Lengths) -> str:
        """Return the name of the function for a function that methods call by name."""
        name = f"{self.root}_{called}{_suffix(lengths)}"
        return self._function(name, function, (), static=True, role="", counting=False, lengths=lengths)

    def add(self, function: ast.FunctionDef) -> None:
        """Add a function without changes."""
        self.functions[function.name] = function
        self._order.append(function.name)

    def field(self, path: tuple[str, ...], value: Any) -> NumberField:
        """Return the field that holds a value read at a path."""
        name = "__".join(part.strip("_") or "x" for part in path)
        while name in self.fields and self.fields[name].value is not value and not _is_equal(self.fields[name], value):
            name += "_"
        if name not in self.fields:
            for field in self.make_fields(name, path, value):
                self.fields[field.name] = field
        return self.fields[name]

    def make_fields(self, name: str, path: tuple[str, ...], value: Any) -> tuple[NumberField, ...]:
        """Return the fields that are needed for a value."""
        if len(path) == 1 and path[0] in self.scratch:
            if not isinstance(value, array) or value.typecode != "q":
                raise NotCompilable(f"{name}: expected an array of whole numbers of 64 bits for scratch")
            return (NumberField(name, "words", value, (len(value),), written=True),)
        return field_of(name, value)

    def attribute(self, name: str) -> ast.expr:
        """Return an expression for a number of the object that a kernel reads."""
        if name in self.numbers:
            return self.number(name, self.numbers[name])
        return self.read(self.field((name,), getattr(self.made, name)).name)

    def number(self, name: str, value: int) -> ast.expr:
        """Return an expression for a number that belongs to the object, such as the length of a table."""
        self.fields.setdefault(name, NumberField(name, "int", value))
        return self.read(name)

    def read(self, name: str) -> ast.expr:
        """Return an expression that reads a field."""
        return ast.Attribute(ast.Name(self.root, ast.Load()), name, ast.Load())

    def places(self, text: str) -> dict[int, str]:
        """Return the author's file and line for each line in the text of a module that comes from this object."""
        found = lines_of(text, {name: self.functions[name] for name in self.origins})
        return {line: place_of(self.origins[name], of) for line, (name, of) in found.items()}

    def place(self, name: str) -> str | None:
        """Return the file and line where the author wrote a function; None if unknown."""
        return where(self.origins[name]) if name in self.origins else None

    def lift(self, outer: SequenceRewriter, parameters: list[str], stored: set[str], statements: list[ast.stmt]) -> str:
        """Add a function with statements from another function, which are not rewritten yet. Return its name."""
        called = f"{self.root}_part{len(self.functions)}"
        self.functions[called] = _PENDING
        self.origins[called] = outer.origin
        rewriter = outer.inner({*parameters, *stored})
        outer.teach(rewriter, parameters)
        arguments = [ast.arg(name) for name in [self.root, *parameters]]
        body = rewriter.body(statements)
        self.functions[called] = ast.FunctionDef(called, ast.arguments([], arguments, None, [], [], None, []), body, [], None)
        self._order.append(called)
        return called

    def replacer(self, length: int) -> str:
        """Return the name of the function that replaces an entry in a tuple of this length."""
        called = f"{self.root}_replaced{length}"
        if called not in self.functions:
            items = ", ".join([f"_int64(_value) if _index == {place} else _state[{place}]" for place in range(length)])
            text = f"def {called}({self.root}, _state, _index, _value):\n    return ({items},)"
            self.add(ast.parse(text).body[0])  # type: ignore[arg-type]
        return called

    def _function(
        self, called: str, function: Any, path: tuple[str, ...], *, static: bool, role: str, counting: bool, lengths: Lengths = ()
    ) -> str:
        if called in self.functions:
            return called
        self.functions[called] = _PENDING  # this stops the recursion if a function calls itself
        self.origins[called] = function
        tree = _tree_of(function)
        mark(tree)
        arguments = [argument.arg for argument in tree.args.args]
        if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
            raise NotCompilable(f"{where(function, tree)}: expected only positional parameters")
        own = None if static or not arguments else arguments.pop(0)
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        fill = Fill(counting=counting) if role in FILLERS else None
        body = fill_buffer(body, fill) if fill is not None else split_returns(body, NUMBERS.get(role))
        local = {
            node.id
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        changed = arguments[0] if role == "apply" and arguments else None
        rewriter = Rewriter(self, function, own, path, local | set(arguments) | set(BUFFER), changed)
        for name, length in zip(arguments, lengths, strict=False):
            if length is not None:
                rewriter.know_length(name, length)
        body = rewriter.body(body)
        extra = [] if fill is None or counting else list(BUFFER)
        parameters = [ast.arg(name) for name in [self.root, *arguments, *extra]]
        defaults = [] if extra else tree.args.defaults[-len(arguments) :] if arguments else []
        made = ast.FunctionDef(
            called, ast.arguments([], parameters, None, [], [], None, defaults), body or [ast.Pass()], [], None
        )
        self.functions[called] = made
        self._order.append(called)
        return called


def _suffix(lengths: Lengths) -> str:
    return "".join([f"_{'n' if length is None else length}" for length in lengths]) if any(lengths) else ""


def _is_equal(field: NumberField, value: Any) -> bool:
    try:
        return field_of(field.name, value)[0] == field
    except NotCompilable:
        return False


def _tree_of(function: Any) -> ast.FunctionDef:
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError) as error:
        raise NotCompilable(f"{getattr(function, '__qualname__', function)}: its source cannot be read") from error
    if not isinstance(tree, ast.FunctionDef):
        raise NotCompilable(f"{where(function)}: expected a function")
    return tree
