"""Draws the map of the code, `figures/map.svg`, from the imports of the packages: `make figures`.

A box is a package, or stands for the modules of the root that plugin authors use. It is drawn above all boxes that it imports.
Thin lines are imports; an import that follows from others has no line. The two thick paths are given in `WAYS`, and each of their
steps must be an import.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from make_figures import INK, ONE, SOFT, TWO, Drawing

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "arena"
EXTENSIONS = TOP / "extensions"
API = "game agent search heuristic ..."
ABOVE = ("__init__", "__main__", "testing")
"""Modules of the root that only re-export names of the packages."""
WAYS = (
    (
        "a spec becomes a leaderboard",
        ONE,
        ("commands", "tournament", "schedule", "spec", "plugins"),
        ("commands", "results", "store"),
    ),
    ("a state becomes an action", TWO, ("tournament", "schedule", "match", API), ()),
)
WIDTH, HEIGHT, GAP, LEVEL, TOP = 880, 34, 12, 66, 24


def imports() -> dict[str, set[str]]:
    """Return for every box the boxes that it imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in [*sorted(PACKAGE.rglob("*.py")), *sorted(EXTENSIONS.rglob("*.py"))]:
        inside = file.is_relative_to(PACKAGE)
        here = _box(file.relative_to(PACKAGE).with_suffix("").parts) if inside else file.relative_to(EXTENSIONS).parts[0]
        if here is None:
            continue
        found[here] |= set()
        for node in _imports(ast.parse(file.read_text())):
            for name in _names(node):
                top, *parts = name.split(".")
                there = _box(parts) if top == "arena" else top if top.startswith("arena_") and not inside else None
                if there not in (None, here):
                    found[here].add(str(there))
    return dict(found)


def _imports(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree, except those that only type checkers read."""
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING"):
            yield child
            yield from _imports(child)


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("arena.", "arena_")):
        return [str(node.module)]
    if isinstance(node, ast.ImportFrom) and node.module == "arena":
        return [f"arena.{alias.name}" for alias in node.names]
    return []


def _box(parts: "tuple[str, ...] | list[str]") -> str | None:
    if not parts or parts[0] in ABOVE:
        return None
    if (PACKAGE / parts[0]).is_dir() or parts[0] == "cli":
        return parts[0]
    return API if (PACKAGE / f"{parts[0]}.py").exists() else None


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return the level of every box: 0 for a box that imports nothing. Raises RecursionError if the imports have a cycle."""
    known: dict[str, int] = {}

    def level(box: str) -> int:
        if box not in known:
            known[box] = 1 + max(map(level, graph[box]), default=-1)
        return known[box]

    for box in graph:
        level(box)
    return known


def reduced(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Return the imports that do not follow from other imports."""

    def below(box: str) -> set[str]:
        return graph[box].union(*map(below, graph[box])) if graph[box] else set()

    return {
        (box, other)
        for box, others in graph.items()
        for other in others
        if not any(other in below(one) for one in others - {other})
    }


def draw(graph: dict[str, set[str]]) -> Drawing:
    """Return the picture."""
    level = levels(graph)
    rows = [sorted(box for box in graph if level[box] == number) for number in range(max(level.values()), -1, -1)]
    wide = {box: 20 + 9 * len(box) for box in graph}
    widths = [sum(wide[box] for box in row) + GAP * 4 * (len(row) - 1) for row in rows]
    total = max(WIDTH, *[width + GAP * 4 for width in widths])
    picture = Drawing(total, TOP + LEVEL * len(rows) + 40, "The packages of arena and their imports")
    place: dict[str, tuple[float, float]] = {}
    for number, (row, width) in enumerate(zip(rows, widths, strict=True)):
        x = (total - width) / 2
        for box in row:
            place[box] = (x + wide[box] / 2, TOP + LEVEL * number)
            x += wide[box] + GAP * 4

    def join(box: str, other: str, color: str, width: float) -> None:
        (x, y), (to, bottom) = place[box], place[other]
        picture.line([(x, y + HEIGHT), (to, bottom)], color, width)

    for box, other in sorted(reduced(graph)):
        join(box, other, SOFT, 1)
    for number, (words, color, *ways) in enumerate(WAYS):
        for way in ways:
            for box, other in pairwise(way):
                if other not in graph[box]:
                    raise ValueError(f"{words}: {box} does not import {other}")
                join(box, other, color, 3)
        picture.text(24 + 300 * number, TOP + LEVEL * len(rows) + 20, words, color)
    for box, (x, y) in place.items():
        picture.lines.append(
            f'<rect x="{x - wide[box] / 2:.1f}" y="{y:.1f}" width="{wide[box]}" height="{HEIGHT}" rx="6" fill="#ffffff"/>'
        )
        picture.box(round(x - wide[box] / 2, 1), y, wide[box], HEIGHT, [box], INK)
    return picture


if __name__ == "__main__":
    draw(imports()).save("map.svg")
