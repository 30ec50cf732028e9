"""Rewrites expressions that iterate over sequences: sums, tests of membership, and states that are built from comprehensions.

A loop inside an expression becomes a separate function, which gets the local names that it reads.
"""

import ast
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from arena_compiled.places import mark
from arena_compiled.statements import call, loop
from arena_compiled.table_rewriter import TableRewriter, table_of

if TYPE_CHECKING:
    from arena_compiled.specialiser import Specialiser

AGGREGATES = {
    "all": ("", "if not _item:\n    return False", "return True"),
    "any": ("", "if _item:\n    return True", "return False"),
    "len": ("_found = 0", "_found = _found + 1", "return _found"),
    "max": ("_found = 0\n_some = False", "_next = _item\nif not _some or _next > _found:\n    _found = _next\n    _some = True",
            "return _found"),
    "min": ("_found = 0\n_some = False", "_next = _item\nif not _some or _next < _found:\n    _found = _next\n    _some = True",
            "return _found"),
    "sum": ("_found = 0", "_found = _found + _item", "return _found"),
}  # fmt: skip
"""For each builtin that iterates over a sequence, the statements before, in and after the loop that replaces it. `_item` is the
current entry.
"""
MAX_LENGTH = 256
"""The maximum length of a tuple that is built from a comprehension."""


class _Entry(ast.NodeTransformer):
    """Replaces the name `_item` by an expression."""

    def __init__(self, value: ast.expr) -> None:
        self._value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._value if node.id == "_item" else node


class SequenceRewriter(TableRewriter, ast.NodeTransformer):
    """Rewrites the expressions in one function that iterate over sequences."""

    _own: str | None
    _path: tuple[str, ...]

    def __init__(self, owner: "Specialiser", function: Any, changed: str | None, local: set[str]) -> None:
        super().__init__(owner, function, changed, local)
        self._lengths: dict[str, int] = {}
        """The lengths of local tuples that are known."""
        self._boards: set[str] = set()
        """Local lists. Their entries may be replaced."""

    @property
    def origin(self) -> Any:
        """The function of the author."""
        return self._function

    def inner(self, local: set[str]) -> "SequenceRewriter":
        """Return a rewriter for a part of the same function that has its own local names."""
        raise NotImplementedError

    def know_length(self, name: str, length: int) -> None:
        """Store the length of a parameter."""
        self._lengths[name] = length

    def _lift(self, node: ast.AST, statements: list[ast.stmt], given: dict[str, ast.expr] | None = None) -> ast.expr:
        """Move these statements into a separate function and return a call of it. `given` are further arguments, which are
        already rewritten.
        """
        names = [one for statement in statements for one in ast.walk(statement) if isinstance(one, ast.Name)]
        stored = {one.id for one in names if isinstance(one.ctx, ast.Store)}
        read = {one.id for one in names if one.id in self._local} - stored - {*(given or ())}
        rows = [self._tables[name].row for name in read if name in self._tables and self._tables[name].row is not None]
        read |= {one.id for row in rows for one in ast.walk(row) if isinstance(one, ast.Name) and one.id in self._local}  # type: ignore[arg-type]
        for statement in statements:
            mark(ast.fix_missing_locations(ast.copy_location(statement, node)))
        parameters = [*sorted(read), *(given or ())]
        called = self._owner.lift(self, parameters, stored, statements)
        values = [*[self.visit(ast.Name(name, ast.Load())) for name in sorted(read)], *(given or {}).values()]
        return call(called, ast.Name(self._owner.root, ast.Load()), *values)

    def teach(self, inner: "SequenceRewriter", names: Sequence[str]) -> None:
        """Pass information on to the rewriter of a part of the function: which names are tables, and which are tuples of known
        length.
        """
        for name in names:
            inner.note_table(name, self._tables.get(name))
            if name in self._lengths:
                inner.know_length(name, self._lengths[name])

    def aggregate(self, node: ast.Call, name: str) -> ast.expr | None:
        """Return an expression for a builtin that is applied to a comprehension, or for the sum of a sequence; None if the
        builtin is used in another way.
        """
        if len(node.args) != 1:
            return None
        source = node.args[0]
        if isinstance(source, (ast.GeneratorExp, ast.ListComp)):
            generators, element = source.generators, source.elt
        elif name in ("all", "any", "sum"):
            generators, element = (
                [ast.comprehension(ast.Name("_each", ast.Store()), source, [], 0)],
                ast.Name("_each", ast.Load()),
            )
        else:
            return None
        before, each, after = [ast.parse(text).body for text in AGGREGATES[name]]
        inner = [_Entry(element).visit(statement) for statement in each]
        return self._lift(node, [*before, *loop(generators, inner), *after])

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Rewrite a test of membership as a loop."""
        if not (len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn))):
            return ast.Compare(self.visit(node.left), node.ops, [self.visit(one) for one in node.comparators])
        source = node.comparators[0]
        members = self._find_value(source)
        if isinstance(members, (set, frozenset)) and all(isinstance(one, int) for one in members):
            source = ast.Tuple([ast.Constant(int(one)) for one in sorted(members)], ast.Load())
        if isinstance(source, (ast.Set, ast.List)):
            source = ast.Tuple(source.elts, ast.Load())
        test = ast.parse("if _each == _wanted:\n    return True").body
        statements = [
            *loop([ast.comprehension(ast.Name("_each", ast.Store()), source, [], 0)], test),
            *ast.parse("return False").body,
        ]
        self._local.add("_wanted")
        found = self._lift(node, statements, {"_wanted": self.visit(node.left)})
        return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)

    def _find_number(self, node: ast.expr) -> int | None:
        """Return the value of an expression if it is a whole number that is known before play, otherwise None."""
        if isinstance(node, ast.Constant):
            return node.value if type(node.value) is int else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self._find_number(node.operand)
            return None if number is None else -number
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            one, other = self._find_number(node.left), self._find_number(node.right)
            if one is None or other is None:
                return None
            return one + other if isinstance(node.op, ast.Add) else one - other if isinstance(node.op, ast.Sub) else one * other
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
            return self.find_length(node.args[0])
        found = self._find_value(node)
        return found if type(found) is int else None

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        """Rewrite access to an entry or a part of a sequence. The compiler needs a number for each end of a part."""
        if isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load):
            ends = [self._find_end(node, end) for end in (node.slice.lower, node.slice.upper, node.slice.step)]
            node = ast.copy_location(ast.Subscript(node.value, ast.Slice(*ends), node.ctx), node)
        return super().visit_Subscript(node)

    def _find_end(self, node: ast.Subscript, end: ast.expr | None) -> ast.expr | None:
        number = None if end is None else self._find_number(end)
        if number is not None:
            return ast.Constant(number)
        if end is not None and not (isinstance(end, ast.Name) and end.id in self._local):  # a local name may be a constant
            raise self.fault(node, "the compiler must know the ends of this slice before play; write a loop over the entries")
        return end

    def _find_value(self, node: ast.expr) -> Any:
        """Return the value of an expression if it is an attribute of the object or a name in the module, otherwise None."""
        path = self._chain(node)
        if path:
            return reduce(lambda made, part: getattr(made, part, None), path, self._owner.made)
        if isinstance(node, ast.Name) and node.id not in self._local:
            return self._function.__globals__.get(node.id)
        return None

    def _chain(self, node: ast.expr) -> tuple[str, ...] | None:
        """Return the attributes that lead from the object to an expression; None if the expression does not start at
        the object.
        """
        if isinstance(node, ast.Name):
            return self._path if node.id == self._own and self._own not in self._local else None
        if isinstance(node, ast.Attribute):
            before = self._chain(node.value)
            return None if before is None else (*before, node.attr)
        return None

    def find_length(self, node: ast.expr) -> int | None:
        """Return the length of a sequence; None if the length is not known before play."""
        if isinstance(node, ast.Name) and node.id in self._local:
            return self._lengths.get(node.id)
        if isinstance(node, (ast.Tuple, ast.List)):
            lengths = [self.find_length(item.value) if isinstance(item, ast.Starred) else 1 for item in node.elts]
            return None if None in lengths else sum(length or 0 for length in lengths)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mult)):
            added = isinstance(node.op, ast.Add)
            one = self.find_length(node.left)
            other = self.find_length(node.right) if added else self._find_number(node.right)
            return None if one is None or other is None else one + other if added else one * other
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._find_length_of_slice(node.value, node.slice)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self.find_length(node.generators[0].iter) if len(node.generators) == 1 and not node.generators[0].ifs else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._find_length_of_call(node.func.id, node.args)
        value = self._find_value(node)
        return len(value) if isinstance(value, (tuple, list, bytes)) else None

    def _find_length_of_slice(self, source: ast.expr, part: ast.Slice) -> int | None:
        whole = self.find_length(source)
        ends = [None if end is None else self._find_number(end) for end in (part.lower, part.upper, part.step)]
        unknown = any(
            end is not None and known is None for end, known in zip((part.lower, part.upper, part.step), ends, strict=True)
        )
        return None if whole is None or unknown else len(range(whole)[slice(*ends)])

    def _find_length_of_call(self, name: str, arguments: Sequence[ast.expr]) -> int | None:
        if name == "range":
            numbers = [self._find_number(one) for one in arguments]
            return None if None in numbers else len(range(*[number or 0 for number in numbers]))
        if name in ("enumerate", "reversed", "tuple", "list") and len(arguments) == 1:
            return self.find_length(arguments[0])
        lengths = [self.find_length(one) for one in arguments] if name == "zip" else []
        return min([length for length in lengths if length is not None], default=None) if None not in lengths else None

    def build(self, node: ast.ListComp | ast.GeneratorExp) -> ast.Tuple:
        """Return the tuple that a comprehension of known length builds, entry by entry."""
        length = self.find_length(node)
        if length is None or not 0 < length <= MAX_LENGTH:
            raise self.fault(
                node,
                "the compiler must know the length of this comprehension before play; write a loop, or write out the entries "
                "one by one",
            )
        generator = node.generators[0]
        each = self.entry_of(generator.target, generator.iter, ast.Name("_place", ast.Load()))
        body = [*each, ast.Return(node.elt)]
        self._local.add("_place")
        made = self._lift(node, body, {"_place": ast.Constant(0)})
        assert isinstance(made, ast.Call)
        return ast.Tuple([ast.Call(made.func, [*made.args[:-1], ast.Constant(place)], []) for place in range(length)], ast.Load())

    def entry_of(self, target: ast.expr, source: ast.expr, place: ast.expr) -> list[ast.stmt]:
        """Return statements that assign the entry at an index of a sequence."""
        if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and not source.keywords:
            name, arguments = source.func.id, source.args
            if name == "range" and len(arguments) in (1, 2):
                return [ast.Assign([target], place if len(arguments) == 1 else ast.BinOp(arguments[0], ast.Add(), place))]
            paired = isinstance(target, ast.Tuple)
            if name == "enumerate" and paired and len(arguments) == 1 and len(target.elts) == 2:  # type: ignore[attr-defined]
                number, item = target.elts  # type: ignore[attr-defined]
                return [ast.Assign([number], place), *self.entry_of(item, arguments[0], place)]
            if name == "zip" and paired and len(arguments) == len(target.elts):  # type: ignore[attr-defined]
                pairs = zip(target.elts, arguments, strict=True)  # type: ignore[attr-defined]
                return [one for item, given in pairs for one in self.entry_of(item, given, place)]
            if name == "reversed" and len(arguments) == 1:
                last = ast.BinOp(call("len", arguments[0]), ast.Sub(), ast.Constant(1))
                return self.entry_of(target, arguments[0], ast.BinOp(last, ast.Sub(), place))
            if name in ("list", "tuple") and len(arguments) == 1:
                return self.entry_of(target, arguments[0], place)
        return [ast.Assign([target], ast.Subscript(source, place, ast.Load()))]

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        """Rewrite a tuple, in which another tuple of known length may be unpacked."""
        if isinstance(node.ctx, ast.Store) or not any(isinstance(item, ast.Starred) for item in node.elts):
            return ast.Tuple([self.visit(item) for item in node.elts], node.ctx)
        items: list[ast.expr] = []
        for item in node.elts:
            if not isinstance(item, ast.Starred):
                items.append(self.visit(item))
                continue
            length = self.find_length(item.value)
            if length is None:
                raise self.fault(item, "the compiler must know the length of the unpacked value before play; write each number")
            value = self.visit(item.value)
            if isinstance(value, ast.Tuple):
                items += value.elts
            elif table_of(value) is None:
                items += [ast.Subscript(value, ast.Constant(place), ast.Load()) for place in range(length)]
            else:
                items += [call("at", value, ast.Constant(place)) for place in range(length)]
        return ast.Tuple(items, ast.Load())

    def copy_of(self, node: ast.expr) -> ast.expr | None:
        """Return the sequence that an expression copies into a list or a tuple; None for any other expression."""
        if isinstance(node, ast.Call) and not node.keywords:
            if isinstance(node.func, ast.Name) and node.func.id in ("list", "tuple") and len(node.args) == 1:
                return node.args[0]
            if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
                return node.func.value if isinstance(node.func.value, ast.Name) and node.func.value.id in self._local else None
        if isinstance(node, ast.List):
            return ast.Tuple(node.elts, ast.Load())
        if isinstance(node, ast.BinOp):
            return node if isinstance(node.left, ast.List) else None
        return node if isinstance(node, ast.ListComp) else None

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Rewrite a tuple or list that is repeated, such as `[0] * 9`."""
        if isinstance(node.op, ast.Mult) and isinstance(node.left, (ast.Tuple, ast.List)):
            times = self._find_number(node.right)
            if times is None or not 0 < times * len(node.left.elts) <= MAX_LENGTH:
                raise self.fault(node, "the compiler must know the length of this tuple before play; write each number")
            return self.visit(ast.copy_location(ast.Tuple(node.left.elts * times, ast.Load()), node))  # type: ignore[no-any-return]
        return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """Store the lengths of local tuples, and rewrite statements that replace an entry of a local list."""
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Subscript) and self._is_board(target.value):
            return self._replace(target, node.value)
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            length, copied = self.find_length(node.value), self.copy_of(node.value)
            made = super().visit_Assign(node)
            self._lengths.pop(target.id, None)
            self._boards.discard(target.id)
            if length is not None and target.id not in self._tables:
                self._lengths[target.id] = length
            fixed = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "tuple"
            if copied is not None and length is not None and not fixed:
                self._boards.add(target.id)
            return made
        for name in [one.id for given in node.targets for one in ast.walk(given) if isinstance(one, ast.Name)]:
            if isinstance(target, ast.Tuple):
                self._lengths.pop(name, None)
                self._boards.discard(name)
        return super().visit_Assign(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """Rewrite statements that change an entry of a local list."""
        target = node.target
        if isinstance(target, ast.Subscript) and self._is_board(target.value):
            if any(isinstance(inner, ast.Call) for inner in ast.walk(target)):
                raise self.fault(node, "expected an index without a call")
            now = ast.Subscript(target.value, target.slice, ast.Load())
            return self._replace(target, ast.copy_location(ast.BinOp(now, node.op, node.value), node))
        return super().visit_AugAssign(node)

    def _is_board(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in self._boards

    def _replace(self, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        assert isinstance(target.value, ast.Name)
        if isinstance(target.slice, ast.Slice):
            raise self.fault(target, "expected the index of one entry, got a slice")
        name, length = target.value.id, self._lengths[target.value.id]
        place = self.count_from_start(target.slice, ast.Constant(length))
        called = self._owner.replacer(length)
        board = ast.Name(name, ast.Load())
        made = call(called, ast.Name(self._owner.root, ast.Load()), board, self.visit(place), self.visit(value))
        return ast.Assign([ast.Name(name, ast.Store())], made)
