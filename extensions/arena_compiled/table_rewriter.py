"""Rewrites access to tables of numbers, which are flat: entries, rows, lengths, and loops over them."""

import ast
from typing import TYPE_CHECKING, Any

from arena.compiled import NotCompilable
from arena_compiled.fields import NumberField
from arena_compiled.places import LineKeeper, where
from arena_compiled.statements import call

if TYPE_CHECKING:
    from arena_compiled.specialiser import Specialiser

_TABLE = "_arena_table"


class TableView:
    """The table, or some rows of it, that an expression represents."""

    def __init__(self, field: NumberField, level: int, row: ast.expr | None = None) -> None:
        self.field = field
        self.level = level
        self.row = row
        """Index of the row in a table with rows of different lengths."""


def mark_table(node: ast.expr, table: TableView) -> None:
    """Note the table that an expression represents."""
    setattr(node, _TABLE, table)


def table_of(node: ast.expr) -> TableView | None:
    """Return the table that an expression represents; None for a number."""
    found: TableView | None = getattr(node, _TABLE, None)
    return found


class TableRewriter(LineKeeper, ast.NodeTransformer):
    """Rewrites the statements of one function that use tables."""

    def __init__(self, owner: "Specialiser", function: Any, changed: str | None, local: set[str]) -> None:
        self._owner = owner
        self._local = local
        """Local names of numbers, tuples and tables."""
        self._function = function
        self._changed = changed
        """The state that the function may change."""
        self._tables: dict[str, TableView] = {}
        """The tables by local name."""
        self._fresh = 0

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Return statements rewritten."""
        found: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [] if made is None else [made]
        return found

    def fault(self, node: ast.AST, text: str) -> NotCompilable:
        """Return the error for a node."""
        return NotCompilable(f"{where(self._function, node)}: {text}")

    def _length(self, node: ast.AST, table: TableView) -> ast.expr:
        field = table.field
        if table.row is not None:
            return ast.BinOp(self._start(table, 1), ast.Sub(), self._start(table, 0))
        if field.starts is not None and table.level:
            raise self.fault(node, "its length differs from row to row")
        return self._owner.number(f"{field.name}__length{table.level or ''}", field.shape[table.level])

    def _start(self, table: TableView, further: int) -> ast.expr:
        row = table.row if not further else ast.BinOp(table.row, ast.Add(), ast.Constant(1))  # type: ignore[arg-type]
        return call("at", self._owner.read(table.field.starts), row)  # type: ignore[arg-type]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite an entry of a tuple or a table, or rows of a table."""
        if isinstance(node.ctx, ast.Store):
            raise self.fault(node, "a table cannot be changed here")
        value = self.visit(node.value)
        if isinstance(node.slice, ast.Slice):
            if table_of(value) is not None:
                raise self.fault(node, "tables cannot be sliced")
            return ast.Subscript(value, node.slice, ast.Load())
        index = self.visit(node.slice)
        table = table_of(value)
        if table is None:
            constant = isinstance(index, ast.Constant)
            return ast.Subscript(value, index, ast.Load()) if constant else call("at", value, index)
        field = table.field
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
        """Return a changeable table, or the words of a state, and an index."""
        if isinstance(node.value, ast.Name) and node.value.id == self._changed:
            return ast.Name(node.value.id, ast.Load()), self.visit(node.slice)
        table, index = self.visit(node.value), self.visit(node.slice)
        known = table_of(table)
        flat = isinstance(table, ast.Name) if known is None else len(known.field.shape) == 1 and known.field.written
        if not (self._owner.changes and flat):
            raise self.fault(node, "a table cannot be changed here")
        return table, index

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Rewrite a change of a number or of an array entry."""
        if not isinstance(node.target, ast.Subscript):
            return ast.AugAssign(self.visit(node.target), node.op, self.visit(node.value))
        if any(isinstance(inner, ast.Call) for inner in ast.walk(node.target)):
            raise self.fault(node, "expected an index without a call")
        table, index = self._place(node.target)
        return ast.Expr(call("_put", table, index, ast.BinOp(call("at", table, index), node.op, self.visit(node.value))))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """Rewrite an assignment: a name now represents a table, or an array entry is written."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return ast.Expr(call("_put", *self._place(node.targets[0]), self.visit(node.value)))
        value = self.visit(node.value)
        table = table_of(value)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for name, one in zip(target.elts, map(table_of, value.elts), strict=False):
                    if isinstance(name, ast.Name):
                        self._name(name.id, one)
            elif table is not None:
                if not isinstance(target, ast.Name):
                    raise self.fault(node, "expected one name for a table")
                self._name(target.id, table)
            elif isinstance(target, ast.Name):
                self._name(target.id, None)
        return ast.Assign([self.visit(target) for target in node.targets], value)

    def _name(self, name: str, table: TableView | None) -> None:
        """Note the meaning of a name from now on."""
        if table is None:
            self._tables.pop(name, None)
        else:
            self._tables[name] = table

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        """Rewrite an assignment without its type hint."""
        return None if node.value is None else self.visit_Assign(ast.Assign([node.target], node.value))

    def _counted_items(self, node: ast.For) -> ast.For | None:
        """Return a loop over a local tuple, or over `enumerate` of a tuple or a table, as one over its indices; else None."""
        source, numbered = node.iter, False
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "enumerate":
            if len(source.args) != 1 or not (isinstance(node.target, ast.Tuple) and len(node.target.elts) == 2):
                raise self.fault(node, "expected a loop such as `for place, number in enumerate(...)`")
            source, numbered = source.args[0], True
        if not numbered and not (isinstance(source, ast.Name) and source.id in self._local and source.id not in self._tables):
            return None
        self._fresh += 1
        index, item = f"_place{self._fresh}", node.target
        self._local.add(index)
        first: list[ast.stmt] = []
        if numbered and isinstance(node.target, ast.Tuple):
            number, item = node.target.elts
            first.append(ast.Assign([number], ast.Name(index, ast.Load())))
        first.append(ast.Assign([item], ast.Subscript(source, ast.Name(index, ast.Load()), ast.Load())))
        places = call("range", call("len", source))
        made = ast.For(ast.Name(index, ast.Store()), places, [*first, *node.body], node.orelse)
        return ast.fix_missing_locations(ast.copy_location(made, node))

    def visit_For(self, node: ast.For) -> ast.stmt:
        """Rewrite a loop over a table as one over its indices."""
        if node.orelse:
            raise self.fault(node, "expected a loop without else")
        counted = self._counted_items(node)
        if counted is not None:
            return self.visit_For(counted)
        source = self.visit(node.iter)
        table: TableView | None = table_of(source)
        if table is None:
            ranged = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
            if not (ranged or isinstance(source, ast.Tuple)):
                raise self.fault(node, "expected a loop over a range, a tuple, a table, or numbers one by one")
            return ast.For(self.visit(node.target), source, self.body(node.body), [])
        if table.row is None and table.level != len(table.field.shape) - 1:
            raise self.fault(node, "expected a loop over numbers, this one is over rows")
        self._fresh += 1
        index = f"_index{self._fresh}"
        place: ast.expr = ast.Name(index, ast.Load())
        rows = table.row is not None
        limits = [self._start(table, 0), self._start(table, 1)] if rows else [self._length(node, table)]
        first = ast.Assign([self.visit(node.target)], call("at", source, place))
        return ast.For(ast.Name(index, ast.Store()), call("range", *limits), [first, *self.body(node.body)], [])
