"""Rewrites the body of one method, so that it needs no objects. Attributes become fields of a named tuple, and calls of methods
become calls of functions.
"""

import ast
import inspect
from math import isfinite
from typing import TYPE_CHECKING, Any

from arena.compiled import NotCompilable
from arena_compiled.sequence_rewriter import AGGREGATES, SequenceRewriter
from arena_compiled.statements import FILLERS, call
from arena_compiled.table_rewriter import TableView, mark_table, table_of

if TYPE_CHECKING:
    from arena_compiled.specialiser import Specialiser

BUILTINS = frozenset(
    {"abs", "all", "any", "bool", "divmod", "float", "int", "len", "list", "max", "min", "range", "round", "sum", "tuple"}
)
BITS = {"bit_count": "bit_count", "bit_length": "bit_length"}
BITS_ADVICE = "represent it as the bits of an integer"
LOOP_ADVICE = "write it as a loop"
ADVICE = {
    "dict": BITS_ADVICE,
    "enumerate": "use it only in a `for` loop",
    "frozenset": BITS_ADVICE,
    "map": LOOP_ADVICE,
    "print": "leave it out",
    "set": BITS_ADVICE,
    "sorted": "compare and order the numbers one by one",
    "str": "states and actions are numbers",
    "zip": "use it only in a `for` loop",
}
"""Replacements for builtins that compiled rules do not support."""
OWN_CALLS = frozenset({"_int64", "_put"})
"""Functions that the rewriter itself inserts."""


class Rewriter(SequenceRewriter, ast.NodeTransformer):
    """Rewrites the body of one function."""

    def __init__(
        self, owner: "Specialiser", function: Any, own: str | None, path: tuple[str, ...], local: set[str], changed: str | None
    ) -> None:
        super().__init__(owner, function, changed, local)
        self._own = own
        self._path = path

    def inner(self, local: set[str]) -> "Rewriter":
        """Return a rewriter for a part of the same function that has its own local names."""
        return Rewriter(self._owner, self._function, self._own, self._path, local | OWN_CALLS, None)

    def _value(self, node: ast.AST, path: tuple[str, ...]) -> Any:
        found = self._owner.made
        for part in path:
            try:
                found = getattr(found, part)
            except AttributeError:
                raise self.fault(node, f"the object has no attribute {'.'.join(path)}") from None
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
        """Return an expression that reads an attribute of the object."""
        path = self._chain(node)
        if path is None:
            raise self.fault(
                node, f"the compiler does not know the attributes of {ast.unparse(node.value)}: give functions numbers and tuples"
            )
        return self._read(node, path, self._value(node, path))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return an expression for a local name, or for a number or a table of the module."""
        if isinstance(node.ctx, ast.Store) or node.id in self._local:
            made = ast.Name(node.id, node.ctx)
            if node.id in self._tables:
                mark_table(made, self._tables[node.id])
            return made
        if node.id == self._own:
            raise self.fault(node, "the object itself cannot be used as a number")
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
        raise self.fault(node, f"the compiler does not support {node.id}{advice}")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Return an expression for a call of a method of the object, of a function, or of a bit count."""
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.fault(node, "expected only positional arguments")
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._method(node, function)
        if not isinstance(function, ast.Name):
            raise self.fault(node, f"the compiler cannot call {ast.unparse(function)}")
        if function.id in OWN_CALLS:
            return call(function.id, *map(self.visit, node.args))
        if function.id in BUILTINS and function.id not in self._function.__globals__:
            return self._builtin(node, function.id)
        value = self._global(function)
        if not inspect.isfunction(value):
            raise self.fault(node, f"{function.id} is not a plain function")
        called = self._owner.plain_function(function.id, value, [self.find_length(argument) for argument in node.args])
        return call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def _method(self, node: ast.Call, function: ast.Attribute) -> ast.expr:
        path = self._chain(function.value)
        if function.attr == "copy" and not node.args and isinstance(function.value, ast.Name) and path is None:
            copied: ast.expr = self.visit(function.value)
            return copied
        if function.attr in BITS and not node.args:
            return call(BITS[function.attr], self.visit(function.value))
        if path is None:
            raise self.fault(node, f"the compiler cannot call {ast.unparse(function)}")
        if function.attr in FILLERS:
            raise self.fault(node, f"the results of {function.attr} can only be counted here, with `not`, `len` or `bool`")
        self._value(node, path)
        called = self._owner.method(function.attr, path, lengths=[self.find_length(argument) for argument in node.args])
        return call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def _builtin(self, node: ast.Call, name: str) -> ast.expr:
        if name in ("len", "bool") and len(node.args) == 1:
            counted = self._count_filled(node.args[0])
            if counted is not None:
                return counted
        if name in AGGREGATES:
            found = self.aggregate(node, name)
            if found is not None:
                return found
        if name in ("list", "tuple"):
            return self._copy(node)
        arguments = [self.visit(argument) for argument in node.args]
        if name == "len":
            table = table_of(arguments[0])
            return call("len", *arguments) if table is None else self._length(node, table)
        if name == "int":
            return call("_int64", *arguments)
        return call(name, *arguments)

    def _copy(self, node: ast.Call) -> ast.expr:
        """Return an expression for the tuple that replaces `list(...)` or `tuple(...)`."""
        if len(node.args) != 1:
            raise self.fault(node, "expected one sequence")
        source = node.args[0]
        if isinstance(source, (ast.ListComp, ast.GeneratorExp)):
            return self.build(source)
        length = self.find_length(source)
        made: ast.expr = self.visit(source)
        if table_of(made) is None and not isinstance(made, ast.Call):
            return made
        if length is None:
            raise self.fault(node, "the compiler must know the length of this value before play")
        each = ast.comprehension(ast.Name("_each", ast.Store()), source, [], 0)
        return self.build(ast.copy_location(ast.GeneratorExp(ast.Name("_each", ast.Load()), [each]), node))

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        """Return an expression for the tuple that replaces a comprehension."""
        return self.build(node)

    def visit_List(self, node: ast.List) -> ast.expr:
        """Return a tuple expression in place of a list."""
        made: ast.expr = self.visit(ast.copy_location(ast.Tuple(node.elts, node.ctx), node))
        return made

    def _count_filled(self, node: ast.expr) -> ast.expr | None:
        """Return an expression for the number of values that a filler (a method that writes its results into a buffer) would
        write; None if `node` does not ask for this number.
        """
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLERS):
            return None
        path = self._chain(node.func.value)
        if path is None:
            return None
        called = self._owner.method(node.func.attr, path, counting=True)
        return call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Rewrite `not self.actions(state)`, which only needs the number of actions."""
        counted = self._count_filled(node.operand) if isinstance(node.op, ast.Not) else None
        return ast.UnaryOp(node.op, self.visit(node.operand) if counted is None else counted)

    def generic_visit(self, node: ast.AST) -> Any:
        """Refuse syntax for which there is no equivalent with numbers."""
        advice = _REFUSED.get(type(node))
        if advice is not None:
            raise self.fault(node, f"{type(node).__name__} cannot be compiled{advice and f': {advice}'}")
        return super().generic_visit(node)


_REFUSED: dict[type[ast.AST], str] = {
    ast.Assert: "leave it out",
    ast.Await: "",
    ast.ClassDef: "define it at module level",
    ast.Delete: "",
    ast.Dict: BITS_ADVICE,
    ast.DictComp: BITS_ADVICE,
    ast.FunctionDef: "define it at module level",
    ast.GeneratorExp: LOOP_ADVICE,
    ast.Global: "read the number without it",
    ast.Import: "import it at the top of the module",
    ast.ImportFrom: "import it at the top of the module",
    ast.JoinedStr: "states and actions are numbers",
    ast.Lambda: "define a function at module level",
    ast.Match: "use if and elif",
    ast.NamedExpr: "put the assignment on its own line",
    ast.Nonlocal: "",
    ast.Raise: "remove the check, because actions are always legal here",
    ast.Set: BITS_ADVICE,
    ast.SetComp: BITS_ADVICE,
    ast.Try: "test the condition with if",
    ast.With: "",
    ast.Yield: "only actions and threats may yield",
    ast.YieldFrom: "only actions and threats may yield",
}
"""Syntax that has no equivalent with numbers, and what to use instead."""
