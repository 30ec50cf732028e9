"""Maps statements of rewritten code to the author's file and line, which are not in the text of a module."""

import ast
from collections.abc import Mapping
from typing import Any, cast

_LINE = "_arena_line"


def where(function: Any, node: ast.AST | None = None) -> str:
    """Return file and line of a node of a function."""
    return place_of(function, getattr(node, "lineno", 1))


def place_of(function: Any, line: int) -> str:
    """Return file and line of a line of the source of a function."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + line - 1}"


def mark(tree: ast.AST) -> None:
    """Note the line of every statement of an author's function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            setattr(node, _LINE, node.lineno)


class LineKeeper(ast.NodeVisitor):
    """Gives the statements that a transformer creates the lines of their originals."""

    def visit(self, node: ast.AST) -> Any:
        """Visit a node, and pass its line on."""
        made = super().visit(node)
        line = getattr(node, _LINE, None)
        if line is not None:
            trees = [tree for tree in (made if isinstance(made, list) else [made]) if tree is not None]
            for statement in [node for tree in trees for node in ast.walk(tree)]:
                if isinstance(statement, ast.stmt) and not hasattr(statement, _LINE):
                    setattr(statement, _LINE, line)
        return made


def lines_of(text: str, functions: Mapping[str, ast.FunctionDef]) -> dict[int, tuple[str, int]]:
    """Return the function and its source line for every line of a text that contains `functions`."""
    found: dict[int, tuple[str, int]] = {}
    for made in ast.parse(text).body:
        if isinstance(made, ast.FunctionDef) and made.name in functions:
            origin = functions[made.name]
            for written, given in zip(_statements(made), _statements(origin), strict=False):
                found[written.lineno] = made.name, cast(int, getattr(given, _LINE, 1))
    return found


def _statements(function: ast.FunctionDef) -> list[ast.stmt]:
    return [node for node in ast.walk(function) if isinstance(node, ast.stmt)]
