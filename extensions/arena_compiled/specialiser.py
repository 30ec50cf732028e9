"""Rewrites plain methods over integers into functions without objects.

A method `self.name(...)` of the rules becomes a function `rules_name(rules, ...)`, in which `rules` is a named tuple of the
numbers and tables that any method reads. Called functions (other methods, functions of the same module) are included.
"""

import ast
import inspect
import textwrap
from array import array
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from arena.api.search import WATCHED
from arena.compiled import NotCompilable
from arena_compiled.fields import NumberField, field_of
from arena_compiled.places import lines_of, mark, place_of, where
from arena_compiled.rewriter import Rewriter
from arena_compiled.statements import BUFFER, FILLERS, Fill, call, fill_buffer, split_returns

NUMBERS: dict[str, Callable[[ast.expr], ast.expr]] = {
    "result": lambda node: call("_int64", node),
    "first": lambda node: call("_int64", node),
    "after": lambda node: call("_int64", node),
    "returns": lambda node: call("float", node),
}
"""For each method, a function that converts the numbers of a returned tuple to one type."""
_PENDING = ast.FunctionDef("", ast.arguments([], [], None, [], [], None, []), [], [], None)


class Specialiser:
    """The functions of one object and their callees, with the fields that they read."""

    def __init__(self, root: str, made: Any, numbers: Mapping[str, int] | None = None) -> None:
        self.root = root
        """Name of the object: `rules`, or `estimate`."""
        self.made = made
        self.numbers = numbers or {}
        """Numbers that belong to the object beside its attributes."""
        self.words = 1
        """Number of values that an estimate carries along."""
        self.scratch: tuple[str, ...] = ()
        """Attributes that are arrays which methods may change."""
        self.changes = False
        """Whether methods write into the arrays of the object."""
        self.fields: dict[str, NumberField] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.origins: dict[str, Any] = {}
        """The author's original functions, as far as they are known."""
        self._order: list[str] = []

    @property
    def listed(self) -> list[ast.FunctionDef]:
        """The functions, each after its callees."""
        return [self.functions[name] for name in self._order]

    def method(self, name: str, path: tuple[str, ...] = (), *, counting: bool = False) -> str:
        """Return the function name for a method of the object at a path. `counting` only counts the results of a filler."""
        owner = reduce(getattr, path, self.made)
        given = inspect.getattr_static(type(owner), name, None)
        static = isinstance(given, staticmethod)
        function = given.__func__ if static else given
        if name == "result":
            function = WATCHED.get(type(owner), function)
        if not inspect.isfunction(function):
            raise NotCompilable(f"{type(owner).__name__}.{name} is not a plain method")
        called = "_".join([self.root, *path, name] + (["count"] if counting else []))
        return self._function(called, function, path, static=static, role=name, counting=counting)

    def function(self, called: str, function: Any, role: str) -> str:
        """Return the function name for a plain function whose first parameter is the object."""
        return self._function(called, function, (), static=False, role=role, counting=False)

    def plain_function(self, called: str, function: Any) -> str:
        """Return the function name for a function that methods call by its name."""
        return self._function(f"{self.root}_{called}", function, (), static=True, role="", counting=False)

    def add(self, function: ast.FunctionDef) -> None:
        """Add a function unchanged."""
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
        """Return the fields that a value makes."""
        if len(path) == 1 and path[0] in self.scratch:
            if not isinstance(value, array) or value.typecode != "q":
                raise NotCompilable(f"{name}: expected an array of whole numbers of 64 bits for scratch")
            return (NumberField(name, "words", value, (len(value),), written=True),)
        return field_of(name, value)

    def attribute(self, name: str) -> ast.expr:
        """Return the expression for a number of the object that a kernel reads."""
        if name in self.numbers:
            return self.number(name, self.numbers[name])
        return self.read(self.field((name,), getattr(self.made, name)).name)

    def number(self, name: str, value: int) -> ast.expr:
        """Return the expression for a number that belongs to the object, such as the length of a table."""
        self.fields.setdefault(name, NumberField(name, "int", value))
        return self.read(name)

    def read(self, name: str) -> ast.expr:
        """Return the expression of a field."""
        return ast.Attribute(ast.Name(self.root, ast.Load()), name, ast.Load())

    def places(self, text: str) -> dict[int, str]:
        """Return the author's file and line for the lines of a module's text, as far as they come from here."""
        found = lines_of(text, {name: self.functions[name] for name in self.origins})
        return {line: place_of(self.origins[name], of) for line, (name, of) in found.items()}

    def place(self, name: str) -> str | None:
        """Return file and line of a function's original; None if unknown."""
        return where(self.origins[name]) if name in self.origins else None

    def _function(self, called: str, function: Any, path: tuple[str, ...], *, static: bool, role: str, counting: bool) -> str:
        if called in self.functions:
            return called
        self.functions[called] = _PENDING  # ends the recursion for a function that calls itself
        self.origins[called] = function
        tree = _tree_of(function)
        mark(tree)
        arguments = [argument.arg for argument in tree.args.args]
        if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
            raise NotCompilable(f"{where(function, tree)}: expected parameters by position alone")
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
