"""Rewrites statements before names are rewritten. `yield` becomes code that fills a buffer, and `return` converts its result to
one type.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena_compiled.places import LineKeeper

FILLERS = frozenset({"actions", "threats"})
"""Methods that write their results into a buffer. The rewritten function returns the number of results."""
BUFFER = ("_buffer", "_base", "_room")
"""Additional parameters of a filler, which is a function that writes into a buffer: the buffer, the first index, and the
capacity.
"""


def call(function: str, *arguments: ast.expr) -> ast.Call:
    """Return an expression that calls a function by its name."""
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def loop(generators: Sequence[ast.comprehension], body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the loops of a comprehension as statements, with `body` inside."""
    for generator in reversed(generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter, body, [])]
    return body


@dataclass(frozen=True, slots=True)
class Fill:
    """The use of actions: they are written into a buffer one by one or, if `counting`, only counted."""

    counting: bool

    def add(self, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that write one action."""
        if self.counting:
            return ast.parse("_count = _count + 1").body
        written = ast.parse("_put(_buffer, _base + _count, None)").body[0]
        written.value.args[2] = value  # type: ignore[attr-defined]
        return [
            ast.If(ast.parse("_count < _room", mode="eval").body, [written], []),
            *ast.parse("_count = _count + 1").body,
        ]

    def end(self) -> ast.stmt:
        """Return the statement that ends the function."""
        return ast.parse("def f():\n    return _count").body[0].body[0]  # type: ignore[attr-defined,no-any-return]


def fill_buffer(body: list[ast.stmt], fill: Fill) -> list[ast.stmt]:
    """Return the body of a function that writes the values that `body` yields or returns into the buffer, and returns their
    number.
    """
    yields = any(isinstance(node, (ast.Yield, ast.YieldFrom)) for statement in body for node in ast.walk(statement))
    rewriter = _Filler(fill, yields)
    found = ast.parse("_count = 0").body
    for statement in body:
        found += rewriter.statements(statement)
    return [*found, fill.end()]


class _Filler(LineKeeper, ast.NodeTransformer):
    def __init__(self, fill: Fill, yields: bool) -> None:
        self._fill = fill
        self._yields = yields

    def statements(self, statement: ast.stmt) -> list[ast.stmt]:
        made = self.visit(statement)
        return made if isinstance(made, list) else [made]

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        if isinstance(node.value, ast.Yield) and node.value.value is not None:
            return self._fill.add(node.value.value)
        if isinstance(node.value, ast.YieldFrom):
            return self._all(node.value.value)
        return [node]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        if self._yields or node.value is None:
            return [self._fill.end()]
        return [*self._all(node.value), self._fill.end()]

    def _all(self, value: ast.expr) -> list[ast.stmt]:
        """Return the statements that write every item of a sequence."""
        if isinstance(value, ast.IfExp):
            return [ast.If(value.test, self._all(value.body) or [ast.Pass()], self._all(value.orelse) or [ast.Pass()])]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("tuple", "list"):
            return [made for item in value.args for made in self._all(item)]
        if isinstance(value, (ast.Tuple, ast.List)):
            items = [self._all(item.value) if isinstance(item, ast.Starred) else self._fill.add(item) for item in value.elts]
            return [made for statements in items for made in statements]
        if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
            return loop(value.generators, self._fill.add(value.elt))
        name = ast.Name("_item", ast.Store())
        return [ast.For(name, value, self._fill.add(ast.Name("_item", ast.Load())), [])]


def split_returns(body: list[ast.stmt], convert: Callable[[ast.expr], ast.expr] | None) -> list[ast.stmt]:
    """Return a body in which every return is a separate statement, and the numbers of returned tuples are converted."""
    rewriter = _Returner(convert)
    found: list[ast.stmt] = []
    for statement in body:
        made = rewriter.visit(statement)
        found += made if isinstance(made, list) else [made]
    return found


class _Returner(LineKeeper, ast.NodeTransformer):
    def __init__(self, convert: Callable[[ast.expr], ast.expr] | None) -> None:
        self._convert = convert

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        return [node] if node.value is None else self._of(node.value)

    def _of(self, value: ast.expr) -> list[ast.stmt]:
        if isinstance(value, ast.IfExp):
            return [ast.If(value.test, self._of(value.body), self._of(value.orelse))]
        if isinstance(value, ast.Tuple) and self._convert is not None:
            items = [item if isinstance(item, ast.Starred) else self._convert(item) for item in value.elts]
            value = ast.Tuple(items, ast.Load())
        return [ast.Return(value)]
