"""Rewrites plain methods over whole numbers into functions that know nothing of objects.

A method `self.name(...)` of the rules becomes a function `rules_name(rules, ...)`, where `rules` is a named tuple of the numbers
and tables that any method reads. What is called from there - other methods, functions of the same module - comes along.
"""

import ast
import inspect
import textwrap
from array import array
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from arena.compiled.fields import NotCompilable, NumberField, field_of
from arena.compiled.places import LineKeeper, lines_of, mark
from arena.compiled.statements import Fill, filled, returning
from arena.unmetered import WATCHED

FILLERS = frozenset({"actions", "moves", "threats"})
"""Methods whose result is written into a buffer; the function returns how many there are."""
NUMBERS: dict[str, Callable[[ast.expr], ast.expr]] = {
    "result": lambda node: _call("_int64", node),
    "first": lambda node: _call("_int64", node),
    "after": lambda node: _call("_int64", node),
    "returns": lambda node: _call("float", node),
}
"""What makes the numbers of a returned tuple all of one type, by the method."""
BUILTINS = frozenset({"abs", "bool", "divmod", "float", "int", "len", "max", "min", "range", "round"})
BITS = {"bit_count": "bit_count", "bit_length": "bit_length"}
OWN_CALLS = frozenset({"_int64", "_put"})
RANDOM = {
    ("random", 0): "rng_random",
    ("getrandbits", 1): "rng_bits",
    ("randrange", 1): "rng_below",
    ("randrange", 2): "rng_between",
}
"""Python's generator in compiled code, by the method of `rng` and its number of arguments: `kernels/twister.kernel`."""
"""Functions that rewriting itself brings in."""
BUFFER = ("_buffer", "_base", "_room")
"""The parameters that a filler has more: where to write, from where on, and for how many there is room."""


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


_PENDING = ast.FunctionDef("", ast.arguments([], [], None, [], [], None, []), [], [], None)


class Specialiser:
    """The functions of one object and of what they call, with the fields that they read."""

    def __init__(self, root: str, made: Any, numbers: Mapping[str, int] | None = None) -> None:
        self.root = root
        """The name of the object: `rules`, or `estimate`."""
        self.made = made
        self.numbers = numbers or {}
        """Numbers that belong to the object beside its attributes."""
        self.words = 1
        """How many numbers an estimate carries along."""
        self.scratch: tuple[str, ...] = ()
        """Attributes that are arrays which methods may change."""
        self.changes = False
        """Whether methods write into the arrays of the object."""
        self.fields: dict[str, NumberField] = {}
        self.functions: dict[str, ast.FunctionDef] = {}
        self.origins: dict[str, Any] = {}
        """The author's functions that they were made of, as far as these are known."""
        self._order: list[str] = []

    @property
    def listed(self) -> list[ast.FunctionDef]:
        """The functions, each after those that it calls."""
        return [self.functions[name] for name in self._order]

    def method(self, name: str, path: tuple[str, ...] = (), *, counting: bool = False) -> str:
        """Return the name of the function of a method of the object at a path; `counting` for how many a filler would write."""
        owner = self._at(path)
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
        """Return the name of the function of a plain function whose first parameter is the object."""
        return self._function(called, function, (), static=False, role=role, counting=False)

    def add(self, function: ast.FunctionDef) -> None:
        """Add a function as it stands."""
        self.functions[function.name] = function
        self._order.append(function.name)

    def field(self, path: tuple[str, ...], value: Any) -> NumberField:
        """Return the field that holds a value, which is read at a path."""
        name = "__".join(part.strip("_") or "x" for part in path)
        while name in self.fields and self.fields[name].value is not value and not _equal(self.fields[name], value):
            name += "_"
        if name not in self.fields:
            for field in self.found(name, path, value):
                self.fields[field.name] = field
        return self.fields[name]

    def found(self, name: str, path: tuple[str, ...], value: Any) -> tuple[NumberField, ...]:
        """Return the fields that a value makes."""
        if len(path) == 1 and path[0] in self.scratch:
            if not isinstance(value, array) or value.typecode != "q":
                raise NotCompilable(f"{name}: expected an array of whole numbers of 64 bits for scratch")
            return (NumberField(name, "words", value, (len(value),), written=True),)
        return field_of(name, value)

    def attribute(self, name: str) -> ast.expr:
        """Return the expression of a number that a kernel reads of the object."""
        if name in self.numbers:
            return self.number(name, self.numbers[name])
        return self.read(self.field((name,), getattr(self.made, name)).name)

    def number(self, name: str, value: int) -> ast.expr:
        """Return the expression of a number that belongs to the object, such as the length of a table."""
        self.fields.setdefault(name, NumberField(name, "int", value))
        return self.read(name)

    def read(self, name: str) -> ast.expr:
        """Return the expression of a field."""
        return ast.Attribute(ast.Name(self.root, ast.Load()), name, ast.Load())

    def places(self, text: str) -> dict[int, str]:
        """Return the author's file and line for the lines of the text of a module, as far as they come from here."""
        found = lines_of(text, {name: self.functions[name] for name in self.origins})
        return {line: _place(self.origins[name], of) for line, (name, of) in found.items()}

    def place(self, name: str) -> str | None:
        """Return file and line of the function that one was made of; None where nobody knows."""
        return where(self.origins[name]) if name in self.origins else None

    def _at(self, path: tuple[str, ...]) -> Any:
        found = self.made
        for part in path:
            found = getattr(found, part)
        return found

    def _function(self, called: str, function: Any, path: tuple[str, ...], *, static: bool, role: str, counting: bool) -> str:
        if called in self.functions:
            return called
        self.functions[called] = _PENDING  # a function that calls itself ends here
        self.origins[called] = function
        tree = _tree_of(function)
        mark(tree)
        arguments = [argument.arg for argument in tree.args.args]
        if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
            raise NotCompilable(f"{where(function, tree)}: expected parameters by position alone")
        own = None if static or not arguments else arguments.pop(0)
        body = tree.body[1:] if ast.get_docstring(tree) is not None else tree.body
        fill = Fill(counting=counting) if role in FILLERS else None
        body = filled(body, fill) if fill is not None else returning(body, NUMBERS.get(role))
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


def _equal(field: NumberField, value: Any) -> bool:
    try:
        return field_of(field.name, value)[0] == field
    except NotCompilable:
        return False


def where(function: Any, node: ast.AST | None = None) -> str:
    """Return file and line of a node of a function."""
    return _place(function, getattr(node, "lineno", 1))


def _place(function: Any, line: int) -> str:
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + line - 1}"


def _tree_of(function: Any) -> ast.FunctionDef:
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError) as error:
        raise NotCompilable(f"{getattr(function, '__qualname__', function)}: its source cannot be read") from error
    if not isinstance(tree, ast.FunctionDef):
        raise NotCompilable(f"{where(function)}: expected a function")
    return tree


class TableView:
    """A table, or some rows of it: what an expression stands for."""

    def __init__(self, field: NumberField, level: int, row: ast.expr | None = None) -> None:
        self.field = field
        self.level = level
        self.row = row
        """Of a table with rows of several lengths: which row."""


def _mark(node: ast.expr, table: TableView) -> None:
    """Note what table an expression stands for."""
    setattr(node, _TABLE, table)


def _table_of(node: ast.expr) -> TableView | None:
    """Return the table that an expression stands for; None for a number."""
    found: TableView | None = getattr(node, _TABLE, None)
    return found


_TABLE = "_arena_table"


class Rewriter(LineKeeper, ast.NodeTransformer):
    """Rewrites the body of one function."""

    def __init__(
        self, owner: Specialiser, function: Any, own: str | None, path: tuple[str, ...], local: set[str], changed: str | None
    ) -> None:
        self._owner = owner
        self._function = function
        self._own = own
        self._path = path
        self._local = local
        self._changed = changed
        """The state that the function may change."""
        self._tables: dict[str, TableView] = {}
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

    def _chain(self, node: ast.expr) -> tuple[str, ...] | None:
        """The attributes that lead from the object to an expression; None where it does not begin there."""
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
            _mark(made, TableView(field, 0))
        return made

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """What the object has."""
        path = self._chain(node)
        if path is None:
            raise self.fault(node, f"attributes of {ast.unparse(node.value)} are not known")
        return self._read(node, path, self._value(node, path))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A local name, or a number or a table of the module."""
        if isinstance(node.ctx, ast.Store) or node.id in self._local:
            made = ast.Name(node.id, node.ctx)
            if node.id in self._tables:
                _mark(made, self._tables[node.id])
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
        raise self.fault(node, f"{node.id} is not known")

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A method of the object, a function, or a count of bits."""
        if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
            raise self.fault(node, "expected arguments by position alone")
        function = node.func
        if isinstance(function, ast.Attribute):
            return self._method(node, function)
        if not isinstance(function, ast.Name):
            raise self.fault(node, f"{ast.unparse(function)} cannot be called")
        if function.id in OWN_CALLS:
            return _call(function.id, *map(self.visit, node.args))
        if function.id in BUILTINS and function.id not in self._function.__globals__:
            return self._builtin(node, function.id)
        value = self._global(function)
        if not inspect.isfunction(value):
            raise self.fault(node, f"{function.id} is not a plain function")
        called = self._owner._function(f"{self._owner.root}_{function.id}", value, (), static=True, role="", counting=False)  # noqa: SLF001
        return _call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def _method(self, node: ast.Call, function: ast.Attribute) -> ast.expr:
        if isinstance(function.value, ast.Name) and function.value.id == "rng" and "rng" in self._local:
            return self._drawn(node, function.attr)
        path = self._chain(function.value)
        if function.attr in BITS and not node.args:
            return _call(BITS[function.attr], self.visit(function.value))
        if path is None:
            raise self.fault(node, f"{ast.unparse(function)} cannot be called")
        if function.attr in FILLERS:
            raise self.fault(node, f"{function.attr} can only be counted here, by `not`, `len` or `bool`")
        self._value(node, path)
        called = self._owner.method(function.attr, path)
        return _call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def _drawn(self, node: ast.Call, name: str) -> ast.expr:
        """What a method of the parameter `rng`, a generator, draws."""
        rng, arguments = ast.Name("rng", ast.Load()), list(map(self.visit, node.args))
        called = RANDOM.get((name, len(arguments)))
        if called is not None:
            return _call(called, rng, *arguments)
        table = _table_of(arguments[0]) if name == "choice" and len(arguments) == 1 else None
        if table is None or table.row is not None or table.level != len(table.field.shape) - 1:
            raise self.fault(node, "expected random, getrandbits, randrange, or choice from a table, of rng")
        return _call("at", arguments[0], _call("rng_below", rng, self._length(node, table)))

    def _builtin(self, node: ast.Call, name: str) -> ast.expr:
        if name in ("len", "bool") and len(node.args) == 1:
            counted = self._counted(node.args[0])
            if counted is not None:
                return counted
        arguments = [self.visit(argument) for argument in node.args]
        if name == "len":
            table = _table_of(arguments[0])
            return _call("len", *arguments) if table is None else self._length(node, table)
        if name == "int":
            return _call("_int64", *arguments)
        return _call(name, *arguments)

    def _counted(self, node: ast.expr) -> ast.expr | None:
        """How many a filler would write, where that is what is asked for."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLERS):
            return None
        path = self._chain(node.func.value)
        if path is None:
            return None
        called = self._owner.method(node.func.attr, path, counting=True)
        return _call(called, ast.Name(self._owner.root, ast.Load()), *map(self.visit, node.args))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """`not self.actions(state)` asks for their number."""
        counted = self._counted(node.operand) if isinstance(node.op, ast.Not) else None
        return ast.UnaryOp(node.op, self.visit(node.operand) if counted is None else counted)

    def _length(self, node: ast.AST, table: TableView) -> ast.expr:
        field = table.field
        if table.row is not None:
            return ast.BinOp(self._start(table, 1), ast.Sub(), self._start(table, 0))
        if field.starts is not None and table.level:
            raise self.fault(node, "its length differs from row to row")
        return self._owner.number(f"{field.name}__length{table.level or ''}", field.shape[table.level])

    def _start(self, table: TableView, further: int) -> ast.expr:
        row = table.row if not further else ast.BinOp(table.row, ast.Add(), ast.Constant(1))  # type: ignore[arg-type]
        return _call("at", self._owner.read(table.field.starts), row)  # type: ignore[arg-type]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """An entry of a tuple or a table, or rows of a table."""
        if isinstance(node.ctx, ast.Store):
            raise self.fault(node, "a table cannot be changed here")
        value = self.visit(node.value)
        if isinstance(node.slice, ast.Slice):
            if _table_of(value) is not None:
                raise self.fault(node, "tables cannot be sliced")
            return ast.Subscript(value, node.slice, ast.Load())
        index = self.visit(node.slice)
        table = _table_of(value)
        if table is None:
            constant = isinstance(index, ast.Constant)
            return ast.Subscript(value, index, ast.Load()) if constant else _call("at", value, index)
        field = table.field
        if field.starts is not None:
            if table.row is not None:
                return _call("at", value, ast.BinOp(self._start(table, 0), ast.Add(), index))
            rows: ast.expr = value
            _mark(rows, TableView(field, 1, index))
            return rows
        if table.level == len(field.shape) - 1:
            return _call("at", value, index)
        stride = 1
        for length in field.shape[table.level + 1 :]:
            stride *= length
        factor = self._owner.number(f"{field.name}__stride{table.level or ''}", stride)
        made = _call("offset", value, ast.BinOp(index, ast.Mult(), factor))
        _mark(made, TableView(field, table.level + 1))
        return made

    def _place(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr]:
        """A table, or the words of a state, that may be changed, and an index."""
        if isinstance(node.value, ast.Name) and node.value.id == self._changed:
            return ast.Name(node.value.id, ast.Load()), self.visit(node.slice)
        table, index = self.visit(node.value), self.visit(node.slice)
        known = _table_of(table)
        flat = isinstance(table, ast.Name) if known is None else len(known.field.shape) == 1 and known.field.written
        if not (self._owner.changes and flat):
            raise self.fault(node, "a table cannot be changed here")
        return table, index

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """A number, or an entry of an array, is changed."""
        if not isinstance(node.target, ast.Subscript):
            return ast.AugAssign(self.visit(node.target), node.op, self.visit(node.value))
        if any(isinstance(inner, ast.Call) for inner in ast.walk(node.target)):
            raise self.fault(node, "expected an index without a call")
        table, index = self._place(node.target)
        return ast.Expr(_call("_put", table, index, ast.BinOp(_call("at", table, index), node.op, self.visit(node.value))))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """A name for a table stands for that table from then on; an entry of an array is written."""
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            return ast.Expr(_call("_put", *self._place(node.targets[0]), self.visit(node.value)))
        value = self.visit(node.value)
        table = _table_of(value)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for name, one in zip(target.elts, map(_table_of, value.elts), strict=False):
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
        """Note what a name stands for from now on."""
        if table is None:
            self._tables.pop(name, None)
        else:
            self._tables[name] = table

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        """The hint is left out."""
        return None if node.value is None else self.visit_Assign(ast.Assign([node.target], node.value))

    def visit_For(self, node: ast.For) -> ast.stmt:
        """A loop over a table becomes one over its indices."""
        if node.orelse:
            raise self.fault(node, "expected a loop without else")
        source = self.visit(node.iter)
        table: TableView | None = _table_of(source)
        if table is None:
            counted = isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
            if not (counted or isinstance(source, ast.Tuple)):
                raise self.fault(node, "expected a loop over a range, a table, or numbers one by one")
            return ast.For(self.visit(node.target), source, self.body(node.body), [])
        if table.row is None and table.level != len(table.field.shape) - 1:
            raise self.fault(node, "expected a loop over numbers, this one is over rows")
        self._fresh += 1
        index = f"_index{self._fresh}"
        place: ast.expr = ast.Name(index, ast.Load())
        rows = table.row is not None
        limits = [self._start(table, 0), self._start(table, 1)] if rows else [self._length(node, table)]
        first = ast.Assign([self.visit(node.target)], _call("at", source, place))
        return ast.For(ast.Name(index, ast.Store()), _call("range", *limits), [first, *self.body(node.body)], [])

    def generic_visit(self, node: ast.AST) -> Any:
        """Refuse what numbers alone cannot say."""
        if isinstance(node, _REFUSED):
            raise self.fault(node, f"{type(node).__name__} cannot be compiled")
        return super().generic_visit(node)


_REFUSED = (
    ast.Try, ast.With, ast.Raise, ast.Lambda, ast.FunctionDef, ast.ClassDef, ast.Dict, ast.Set, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Import,
    ast.ImportFrom, ast.Delete, ast.Await, ast.Starred, ast.List, ast.NamedExpr, ast.Assert, ast.Match,
)  # fmt: skip
