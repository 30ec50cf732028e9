"""Combines rules, an estimate and a kernel into the text of one module.

A kernel is the inner loop of a search. It is written in ordinary Python that uses only numbers, in a file that is never imported.
Two things are replaced here: calls of methods of `rules` and `estimate`, and constants in capitals. The text of the module does
not depend on the size of a board, because numbers and tables are passed at run time.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from arena_compiled.cache import OWN_PACKAGES, key_of
from arena_compiled.fields import NumberField
from arena_compiled.places import walk_statements
from arena_compiled.specialiser import Specialiser
from arena_compiled.statements import FILLERS

KERNELS = Path(__file__).parent / "kernels"
TYPES = {"Words": "words", "Reals": "reals", "Octets": "octets"}
"""The type hints that parameters of a kernel may have, each with the kind of table for which it stands."""
_HELPERS = """
def {root}_load({root}, _table, _row):
    return ({loads},)

def {root}_store({root}, _table, _row, _state):
    {stores}

def {root}_read({root}, _table, _place):
    return ({reads},)

def {root}_write({root}, _table, _place, _state):
    {writes}

def {root}_same({root}, _one, _other):
    return {same}

def {root}_hash({root}, _state):
    {hash}
"""


@dataclass(frozen=True, slots=True)
class Module:
    """The text of a module, and the parameters of its entry function."""

    text: str
    fields: tuple[NumberField, ...]
    """The numbers and tables of the rules and of the estimate, in the order of the first parameters of the entry function."""
    memory: tuple[tuple[str, str], ...]
    """The arrays of the kernel with their kinds, in the order of the parameters that follow."""
    own: bool
    """Whether arena has written all of its code."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of all parameters."""
        return (*[field.kind for field in self.fields], *[kind for _, kind in self.memory])

    @property
    def key(self) -> str:
        """Return the key of the module in the cache."""
        return key_of(self.text, self.kinds, own=self.own)


def assemble(kernel: str, rules: Specialiser, estimate: Specialiser, constants: Mapping[str, Any]) -> Module:
    """Return the module for a kernel. Raises NotCompilable if the rules or the estimate cannot be compiled."""
    tree = _tree_of(kernel)
    if any(one.arg == "twister" for one in _run(tree).args.args):
        tree.body[:0] = ast.parse(_source("twister")).body
    roots = {"rules": rules, "estimate": estimate}
    used = _Kernel(roots, constants)
    functions = [used.visit(node) for node in tree.body if isinstance(node, ast.FunctionDef)]
    assignments = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign)]
    memory = [(one.arg, TYPES[ast.unparse(one.annotation)]) for one in _run(tree).args.args[2:] if one.annotation is not None]
    lines = [f"# {kernel}"]
    for root, one in roots.items():
        names = [field.name for field in one.fields.values()] or ["nothing"]
        lines.append(f"{root}_type = namedtuple('{root}_type', {names!r})")
    lines += assignments
    for one in roots.values():
        lines += ["", *[_unparse(function) for function in one.listed]]
    lines += [_unparse(function) for function in functions]
    fields = (*rules.fields.values(), *estimate.fields.values())
    parameters, made = [], []
    for root, one in roots.items():
        given = [f"{root}_{name}" for name in one.fields]
        parameters += given
        made.append(f"{root}_type({', '.join(given) or '0'})")
    arrays = [name for name, _ in memory]
    lines.append(f"def entry({', '.join([*parameters, *arrays])}):\n    return run({', '.join([*made, *arrays])})")
    authors = {(function.__module__ or "").partition(".")[0] for one in roots.values() for function in one.origins.values()}
    return Module("\n".join(lines) + "\n", fields, tuple(memory), authors <= OWN_PACKAGES)


def add_helpers(one: Specialiser, words: int) -> None:
    """Add the functions that keep tuples of `words` numbers in arrays."""
    loads = ", ".join([f"at(_table, _row * {words} + {word})" for word in range(words)])
    reads = ", ".join([f"at(_table, _place + {word})" for word in range(words)])
    writes = "\n    ".join([f"_put(_table, _place + {word}, _state[{word}])" for word in range(words)])
    stores = "\n    ".join([f"_put(_table, _row * {words} + {word}, _state[{word}])" for word in range(words)])
    same = " and ".join([f"_one[{word}] == _other[{word}]" for word in range(words)])
    factors = [(-7046029254386353131 * (2 * word + 1) + 2 * word) % (1 << 63) | 1 for word in range(words)]
    mixed = " + ".join([f"_state[{word}] * {factor}" for word, factor in enumerate(factors)])
    mixing = f"return (({mixed}) >> 32) & 2147483647"
    add_functions(
        one,
        _HELPERS.format(root=one.root, loads=loads, stores=stores, reads=reads, writes=writes, same=same, hash=mixing),
    )


def add_functions(one: Specialiser, text: str) -> None:
    """Add the functions in a text."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            one.add(node)


def _unparse(function: ast.FunctionDef) -> str:
    for statement in walk_statements(function):
        if not hasattr(statement, "lineno"):
            statement.lineno = 1  # `unparse` reads it
    return ast.unparse(function) + "\n"


def _tree_of(kernel: str) -> ast.Module:
    """Return the statements of a kernel. If the kernel imports another one, the statements of that kernel come first."""
    tree = ast.parse(_source(kernel))
    shared = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    named = {(node.module, one.name) for node in shared for one in node.names}
    found = [
        node
        for file in dict.fromkeys(node.module for node in shared)
        for node in ast.parse(_source(file)).body
        if isinstance(node, ast.FunctionDef) and (file, node.name) in named
    ]
    return ast.Module([*found, *tree.body], [])


@cache
def _source(kernel: str | None) -> str:
    return (KERNELS / f"{kernel}.kernel").read_text(encoding="utf-8")


def _run(tree: ast.Module) -> ast.FunctionDef:
    return next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "run")


class _Kernel(ast.NodeTransformer):
    """Fills the rules, the estimate and constants into a kernel."""

    def __init__(self, roots: Mapping[str, Specialiser], constants: Mapping[str, Any]) -> None:
        self._roots = roots
        self._constants = constants

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        arguments = ast.arguments([], [ast.arg(one.arg) for one in node.args.args], None, [], [], None, [])
        return ast.FunctionDef(node.name, arguments, self._body(body), [], None)

    def _body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in statements:
            made = self.visit(statement)
            found += made if isinstance(made, list) else [made]
        return found or [ast.Pass()]

    def visit_If(self, node: ast.If) -> Any:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self._body(node.body if test.value else node.orelse)
        return ast.If(test, self._body(node.body), self._body(node.orelse) if node.orelse else [])

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        settled = isinstance(node.op, ast.Or)  # the value for which the expression is decided
        kept: list[ast.expr] = []
        for value in node.values:
            made = self.visit(value) if not kept or not isinstance(kept[-1], ast.Constant) else value
            if isinstance(made, ast.Constant) and bool(made.value) is settled:
                kept.append(made)
                break
            if not isinstance(made, ast.Constant):
                kept.append(made)
        if len(kept) > 1:
            return ast.BoolOp(node.op, kept)
        return kept[0] if kept else ast.Constant(not settled)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and isinstance(operand, ast.Constant):
            return ast.Constant(not operand.value)
        return ast.UnaryOp(node.op, operand)

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.Constant(self._constants[node.id]) if node.id in self._constants else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in self._roots:
            return self._roots[node.value.id].attribute(node.attr)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        arguments = [self.visit(argument) for argument in node.args]
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id in self._roots:
            one = self._roots[function.value.id]
            called = f"{one.root}_{function.attr}"
            if called not in one.functions:
                one.method(function.attr)
            if function.attr in FILLERS:
                arguments.append(one.attribute("width"))
            return ast.Call(ast.Name(called, ast.Load()), [ast.Name(one.root, ast.Load()), *arguments], [])
        return ast.Call(function, arguments, [])

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        return ast.Call(ast.Name("at", ast.Load()), [self.visit(node.value), self.visit(node.slice)], [])

    def visit_Assign(self, node: ast.Assign) -> Any:
        value, target = self.visit(node.value), node.targets[0]
        if isinstance(target, ast.Subscript):
            return self._put(target, value)
        return ast.Assign(node.targets, value)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        value, target = self.visit(node.value), node.target
        if not isinstance(target, ast.Subscript):
            return ast.AugAssign(target, node.op, value)
        now = self.visit_Subscript(target)
        return self._put(target, ast.BinOp(now, node.op, value))

    def _put(self, target: ast.Subscript, value: ast.expr) -> ast.stmt:
        arguments = [self.visit(target.value), self.visit(target.slice), value]
        return ast.Expr(ast.Call(ast.Name("_put", ast.Load()), arguments, []))
