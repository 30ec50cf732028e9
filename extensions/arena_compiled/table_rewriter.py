"""Rewrites code that reads entries, rows or lengths of tables of numbers, or loops over tables. This is needed because tables are
stored flat.
"""

import ast
from typing import TYPE_CHECKING, Any

from arena.compiled import NotCompilable
from arena_compiled.fields import NumberField
from arena_compiled.places import LineKeeper, where
from arena_compiled.statements import call

if TYPE_CHECKING:
    from arena_compiled.specialiser import Specialiser

_TABLE = "_arena_table"
PLACED = frozenset({"enumerate", "list", "reversed", "tuple", "zip"})
"""Builtins; a loop over their results is rewritten as a loop over indices."""


class TableView:
    """The table that an expression stands for, or some rows of it."""

    def __init__(self, field: NumberField, level: int, row: ast.expr | None = None) -> None:
        self.field = field
        self.level = level
        self.row = row
        """The index of the row, if the rows of the table have different lengths."""


def mark_table(node: ast.expr, table: TableView) -> None:
    """Store the table that an expression stands for."""
    setattr(node, _TABLE, table)


def table_of(node: ast.expr) -> TableView | None:
    """Return the table that an expression stands for; None for a number."""
    found: TableView | None = getattr(node, _TABLE, None)
    return found


class TableRewriter(LineKeeper, ast.NodeTransformer):
    """Rewrites the statements of one function that use tables."""

    def __init__(self, owner: "Specialiser", function: Any, changed: str | None, local: set[str]) -> None:
        self._owner = owner
        self._local = local
        """The local names of numbers, tuples and tables."""
        self._function = function
        self._changed = changed
        """The name of the state that the function may change."""
        self._tables: dict[str, TableView] = {}
        """The tables by their local names."""
        self._fresh = 0

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return the rewritten statements."""
        found: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [] if made is None else [made]
        return found

    def fault(self, node: ast.AST, text: str) -> NotCompilable:
        """Return the error about a node."""
        return NotCompilable(f"{where(self._function, node)}: {text}")

    def _length(self, node: ast.AST, table: TableView) -> ast.expr:
        field = table.field
        if table.row is not None:
            return ast.BinOp(self._start(table, 1), ast.Sub(), self._start(table, 0))
        if field.starts is not None and table.level:
            raise self.fault(node, "the rows of this table have different lengths")
        return self._owner.number(f"{field.name}__length{table.level or ''}", field.shape[table.level])

    def _start(self, table: TableView, further: int) -> ast.expr:
        row = table.row if not further else ast.BinOp(table.row, ast.Add(), ast.Constant(1))  # type: ignore[arg-type]
        return call("at", self._owner.read(table.field.starts), row)  # type: ignore[arg-type]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite access to an entry of a tuple or a table, or to rows of a table."""
        if isinstance(node.ctx, ast.Store):
            raise self.fault(node, "a table cannot be changed here")
        value = self.visit(node.value)
        if isinstance(node.slice, ast.Slice):
            if table_of(value) is not None:
                raise self.fault(node, "tables cannot be sliced")
            return ast.Subscript(value, node.slice, ast.Load())
        table = table_of(value)
        if table is None:
            index = self.visit(node.slice)
            constant = isinstance(index, ast.Constant) or (
                isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant)
            )
            return ast.Subscript(value, index, ast.Load()) if constant else call("at", value, index)
        field = table.field
        index = self.visit(node.slice)
        if isinstance(index, ast.UnaryOp):
            index = self.count_from_start(index, self._length(node, table))
        if field.starts is not None:
            if table.row is not None:
                return call("at", value, ast.BinOp(self._start(table, 0), ast.Add(), index))
            rows: ast.expr = value
            mark_table(rows, TableView(field, 1, index))
            return rows
        if table.level == len(field.shape) - 1:
            return call("at", value, index)
        stride = 1
        for length in field.shape[table.level + 1 :]:
            stride *= length
        factor = self._owner.number(f"{field.name}__stride{table.level or ''}", stride)
        made = call("offset", value, ast.BinOp(index, ast.Mult(), factor))
        mark_table(made, TableView(field, table.level + 1))
        return made

    def _place(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr]:
        """Return a table that may be changed (or the words of a state) and an index into it."""
        if isinstance(node.value, ast.Name) and node.value.id == self._changed:
            return ast.Name(node.value.id, ast.Load()), self.visit(node.slice)
        table, index = self.visit(node.value), self.visit(node.slice)
        known = table_of(table)
        flat = isinstance(table, ast.Name) if known is None else len(known.field.shape) == 1 and known.field.written
        if not (self._owner.changes and flat):
            raise self.fault(node, "a table cannot be changed here")
        return table, index

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Rewrite a statement that changes a number or an entry of an array."""
        if not isinstance(node.target, ast.Subscript):
            return ast.AugAssign(self.visit(node.target), node.op, self.visit(node.value))
        if any(isinstance(inner, ast.Call) for inner in ast.walk(node.target)):
            raise self.fault(node, "expected an index without a call")
        table, index = self._place(node.target)
        return ast.Expr(call("_put", table, index, ast.BinOp(call("at", table, index), node.op, self.visit(node.value))))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """Rewrite an assignment. It either gives a name to a table, or writes an entry of an array."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return ast.Expr(call("_put", *self._place(node.targets[0]), self.visit(node.value)))
        value = self.visit(node.value)
        table = table_of(value)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for name, one in zip(target.elts, map(table_of, value.elts), strict=False):
                    if isinstance(name, ast.Name):
                        self.note_table(name.id, one)
            elif table is not None:
                if not isinstance(target, ast.Name):
                    raise self.fault(
                        node, "a row of a table cannot be unpacked: take each number by its index, as in `table[row][0]`"
                    )
                self.note_table(target.id, table)
            elif isinstance(target, ast.Name):
                self.note_table(target.id, None)
        return ast.Assign([self.visit(target) for target in node.targets], value)

    def note_table(self, name: str, table: TableView | None) -> None:
        """Store the table for which a name stands from now on."""
        if table is None:
            self._tables.pop(name, None)
        else:
            self._tables[name] = table

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        """Rewrite an assignment without its type hint."""
        return None if node.value is None else self.visit_Assign(ast.Assign([node.target], node.value))

    def _counted_items(self, node: ast.For) -> ast.For | None:
        """Return a loop over a local tuple, or over `enumerate`, `zip` or `reversed`, as a loop over indices; None for other
        loops.
        """
        source = node.iter
        named = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id in PLACED
        if not named and not (isinstance(source, ast.Name) and source.id in self._local and source.id not in self._tables):
            return None
        self._fresh += 1
        index = f"_place{self._fresh}"
        self._local.add(index)
        first = self.entry_of(node.target, source, ast.Name(index, ast.Load()))
        made = ast.For(ast.Name(index, ast.Store()), call("range", self._count_of(source)), [*first, *node.body], node.orelse)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def _count_of(self, source: ast.expr) -> ast.expr:
        """Return an expression for the number of entries over which a loop runs."""
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id in PLACED:
            counts = [self._count_of(one) for one in source.args]
            return counts[0] if len(counts) == 1 else call("min", *counts)
        return call("len", source)

    def entry_of(self, target: ast.expr, source: ast.expr, place: ast.expr) -> list[ast.stmt]:
        """Return statements that assign the entry at an index of a sequence."""
        raise NotImplementedError

    def count_from_start(self, index: ast.expr, length: ast.expr) -> ast.expr:
        """Return an index. A negative constant is replaced by an index that is counted from the start."""
        back = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub) and isinstance(index.operand, ast.Constant)
        return ast.BinOp(length, ast.Sub(), index.operand) if back else index  # type: ignore[attr-defined]

    def visit_For(self, node: ast.For) -> ast.stmt | list[ast.stmt]:
        """Rewrite a loop over a table as a loop over its indices."""
        if node.orelse:
            raise self.fault(node, "expected a loop without else")
        counted = self._counted_items(node)
        if counted is not None:
            return self.visit_For(counted)
        source = self.visit(node.iter)
        table: TableView | None = table_of(source)
        if table is None:
            ranged = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
            if isinstance(source, (ast.Subscript, ast.BinOp)):  # a part of a tuple, or a concatenation, gets a name first
                self._fresh += 1
                name = f"_sequence{self._fresh}"
                self._local.add(name)
                named = ast.For(node.target, ast.Name(name, ast.Load()), node.body, [])
                looped = self.visit_For(ast.copy_location(named, node))
                return [ast.Assign([ast.Name(name, ast.Store())], source), *(looped if isinstance(looped, list) else [looped])]
            if not (ranged or isinstance(source, ast.Tuple)):
                raise self.fault(node, "expected a loop over a range, a tuple or a table")
            return ast.For(self.visit(node.target), source, self.body(node.body), [])
        if table.row is None and table.level != len(table.field.shape) - 1:
            raise self.fault(node, "a loop cannot take rows of a table: write `for row in range(len(table))`")
        self._fresh += 1
        index = f"_index{self._fresh}"
        place: ast.expr = ast.Name(index, ast.Load())
        rows = table.row is not None
        limits = [self._start(table, 0), self._start(table, 1)] if rows else [self._length(node, table)]
        first = ast.Assign([self.visit(node.target)], call("at", source, place))
        return ast.For(ast.Name(index, ast.Store()), call("range", *limits), [first, *self.body(node.body)], [])
