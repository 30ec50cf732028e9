"""Maps statements of rewritten code to the file and line where the author wrote them. The text of a module no longer contains
these places.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Any, cast

_LINE = "_arena_line"


def where(function: Any, node: ast.AST | None = None) -> str:
    """Return the file and line of a node in a function."""
    return place_of(function, getattr(node, "lineno", 1))


def place_of(function: Any, line: int) -> str:
    """Return the file and line for a line in the source of a function."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + line - 1}"


def walk_statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield a statement and all statements in its blocks. Unlike `ast.walk`, this does not visit expressions, which are many."""
    if isinstance(tree, ast.stmt):
        yield tree
        for block in ("body", "orelse"):
            for statement in getattr(tree, block, ()):
                yield from walk_statements(statement)


def mark(tree: ast.AST) -> None:
    """Store the line of every statement of an author's function in its syntax tree."""
    for node in walk_statements(tree):
        setattr(node, _LINE, node.lineno)


class LineKeeper(ast.NodeVisitor):
    """A transformer that gives new statements the line of the statement that they replace."""

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, and give its line to the nodes that replace it."""
        made = super().visit(node)
        line = getattr(node, _LINE, None)
        if line is not None:
            trees = [tree for tree in (made if isinstance(made, list) else [made]) if tree is not None]
            for statement in [one for tree in trees for one in walk_statements(tree)]:
                if not hasattr(statement, _LINE):
                    setattr(statement, _LINE, line)
        return made


def lines_of(text: str, functions: Mapping[str, ast.FunctionDef]) -> dict[int, tuple[str, int]]:
    """Return the function and the line of its source for every line in a text that contains `functions`."""
    found: dict[int, tuple[str, int]] = {}
    for made in ast.parse(text).body:
        if isinstance(made, ast.FunctionDef) and made.name in functions:
            origin = functions[made.name]
            for written, given in zip(walk_statements(made), walk_statements(origin), strict=False):
                found[written.lineno] = made.name, cast(int, getattr(given, _LINE, 1))
    return found
