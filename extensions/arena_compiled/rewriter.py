"""Rewrites the body of one method: names, attributes and calls become fields of a named tuple, functions, and numbers."""

import ast
import inspect
from math import isfinite
from typing import TYPE_CHECKING, Any

from arena.compiled import NotCompilable
from arena_compiled.statements import FILLERS, call
from arena_compiled.table_rewriter import TableRewriter, TableView, mark_table, table_of

if TYPE_CHECKING:
    from arena_compiled.specialiser import Specialiser

BUILTINS = frozenset({"abs", "bool", "divmod", "float", "int", "len", "max", "min", "range", "round"})
BITS = {"bit_count": "bit_count", "bit_length": "bit_length"}
BITS_ADVICE = "keep such a set as the bits of a whole number"
LOOP_ADVICE = "write it as a loop"
ADVICE = {
    "all": "return False at the first that fails",
    "any": "return True at the first that holds",
    "dict": BITS_ADVICE,
    "enumerate": "loop over it in a `for`",
    "frozenset": BITS_ADVICE,
    "list": "write a tuple out, or keep a table in an attribute",
    "map": LOOP_ADVICE,
    "print": "leave it out",
    "set": BITS_ADVICE,
    "sorted": "compare the numbers, and put them into order one by one",
    "str": "states and actions are numbers",
    "sum": "add up in a loop",
    "tuple": "write its numbers out",
    "zip": "loop over an index",
}
"""Replacements for builtins that compiled rules do not support."""
OWN_CALLS = frozenset({"_int64", "_put"})
"""Functions that the rewriting itself inserts."""


class Rewriter(TableRewriter, ast.NodeTransformer):
    """Rewrites the body of one function."""

    def __init__(
        self, owner: "Specialiser", function: Any, own: str | None, path: tuple[str, ...], local: set[str], changed: str | None
    ) -> None:
        super().__init__(owner, function, changed, local)
        self._own = own
        self._path = path

    def _chain(self, node: ast.expr) -> tuple[str, ...] | None:
        """Return the attributes that lead from the object to an expression; None if it does not start there."""
        if isinstance(node, ast.Name):
            return self._path if node.id == self._own and self._own not in self._local else None
        if isinstance(node, ast.Attribute):
            before = self._chain(node.value)
            return None if before is None else (*before, node.attr)
        return None

    def _value(self, node: ast.AST, path: tuple[str, ...]) -> Any:
        found = self._owner.made
        for part in path:
            try:
                found = getattr(found, part)
            except AttributeError:
                raise self.fault(node, f"{'.'.join(path)} is not there") from None
        return found

    def _read(self, node: ast.AST, path: tuple[str, ...], value: Any) -> ast.expr:
        try:
            field = self._owner.field(path, value)
        except NotCompilable as unfit:
            raise self.fault(node, str(unfit)) from None
        made = self._owner.read(field.name)
        if field.shape:
            mark_table(made, TableView(field, 0))
        return made

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Return the expression that reads an attribute of the object."""
        path = self._chain(node)
        if path is None:
            raise self.fault(node, f"attributes of {ast.unparse(node.value)} are not known")
        return self._read(node, path, self._value(node, path))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the expression for a local name, or for a number or a table of the module."""
        if isinstance(node.ctx, ast.Store) or node.id in self._local:
            made = ast.Name(node.id, node.ctx)
            if node.id in self._tables:
                mark_table(made, self._tables[node.id])
            return made
        if node.id == self._own:
            raise self.fault(node, "the object itself is not a number")
        value = self._global(node)
        if isinstance(value, (bool, int, float)) and isfinite(value):
            return ast.Constant(int(value) if isinstance(value, int) else float(value))
        return self._read(node, ("globals", node.id), value)

    def _global(self, node: ast.Name) -> Any:
        cells = inspect.getclosurevars(self._function).nonlocals
        for known in (cells, self._function.__globals__):
            if node.id in known:
                return known[node.id]
        advice = f": {ADVICE[node.id]}" if node.id in ADVICE else ""
        raise self.fault(node, f"{node.id} is not known{advice}")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return the expression for a method of the object, a function, or a bit count."""
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.fault(node, "expected arguments by position alone")
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._method(node, function)
        if not isinstance(function, ast.Name):
            raise self.fault(node, f"{ast.unparse(function)} cannot be called")
        if function.id in OWN_CALLS:
            return call(function.id, *map(self.visit, node.args))
        if function.id in BUILTINS and function.id not in self._function.__globals__:
            return self._builtin(node, function.id)
        value = self._global(function)
        if not inspect.isfunction(value):
            raise self.fault(node, f"{function.id} is not a plain function")
        called = self._owner.plain_function(function.id, value)
        return call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def _method(self, node: ast.Call, function: ast.Attribute) -> ast.expr:
        path = self._chain(function.value)
        if function.attr in BITS and not node.args:
            return call(BITS[function.attr], self.visit(function.value))
        if path is None:
            raise self.fault(node, f"{ast.unparse(function)} cannot be called")
        if function.attr in FILLERS:
            raise self.fault(node, f"{function.attr} can only be counted here, by `not`, `len` or `bool`")
        self._value(node, path)
        called = self._owner.method(function.attr, path)
        return call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def _builtin(self, node: ast.Call, name: str) -> ast.expr:
        if name in ("len", "bool") and len(node.args) == 1:
            counted = self._count_filled(node.args[0])
            if counted is not None:
                return counted
        arguments = [self.visit(argument) for argument in node.args]
        if name == "len":
            table = table_of(arguments[0])
            return call("len", *arguments) if table is None else self._length(node, table)
        if name == "int":
            return call("_int64", *arguments)
        return call(name, *arguments)

    def _count_filled(self, node: ast.expr) -> ast.expr | None:
        """Return the number that a filler would write; None if an expression does not ask for it."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLERS):
            return None
        path = self._chain(node.func.value)
        if path is None:
            return None
        called = self._owner.method(node.func.attr, path, counting=True)
        return call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Rewrite `not self.actions(state)`, which asks for their number."""
        counted = self._count_filled(node.operand) if isinstance(node.op, ast.Not) else None
        return ast.UnaryOp(node.op, self.visit(node.operand) if counted is None else counted)

    def generic_visit(self, node: ast.AST) -> Any:
        """Refuse syntax that has no form in numbers."""
        advice = _REFUSED.get(type(node))
        if advice is not None:
            raise self.fault(node, f"{type(node).__name__} cannot be compiled{advice and f': {advice}'}")
        return super().generic_visit(node)


_REFUSED: dict[type[ast.AST], str] = {
    ast.Assert: "leave it out",
    ast.Await: "",
    ast.ClassDef: "define it at the top of the module",
    ast.Delete: "",
    ast.Dict: BITS_ADVICE,
    ast.DictComp: BITS_ADVICE,
    ast.FunctionDef: "define it at the top of the module",
    ast.GeneratorExp: LOOP_ADVICE,
    ast.Global: "read the number without it",
    ast.Import: "import it at the top of the module",
    ast.ImportFrom: "import it at the top of the module",
    ast.JoinedStr: "states and actions are numbers",
    ast.Lambda: "define a function at the top of the module",
    ast.List: "use a tuple, or keep a table in an attribute",
    ast.ListComp: LOOP_ADVICE,
    ast.Match: "use if and elif",
    ast.NamedExpr: "assign on a line of its own",
    ast.Nonlocal: "",
    ast.Raise: "leave the check out, since actions are always legal here",
    ast.Set: BITS_ADVICE,
    ast.SetComp: BITS_ADVICE,
    ast.Starred: "write the numbers out",
    ast.Try: "test the condition with if",
    ast.With: "",
    ast.Yield: "only actions and threats may yield",
    ast.YieldFrom: "only actions and threats may yield",
}
"""Syntax that has no form in numbers, and its replacement."""
