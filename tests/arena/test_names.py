"""A name means one thing: no class and no module of the packages has the name of another, but for those listed with a reason."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

TOP = Path(__file__).parents[2]
FILES = [file for folder in ("arena", "agents", "games") for file in sorted((TOP / folder).rglob("*.py"))]

MODULES = {
    "__init__": "of every package",
    "plugin": "the hooks of arena_agents and of arena_games",
    "export": "the command, and its work in results",
    "leaderboard": "the command, and its work in results",
    "matches": "the command, and the page of web",
    "replay": "the command, and its work in match",
    "run": "the command, its work in tournament, and what a store keeps of it",
    "schema": "the command, and the tables of a store",
}
"""Module names that come more than once. A command's file has the command's name."""
CLASSES = {
    "Board": "what authors give for compiled local search, and one of a spec",
    "Estimate": "what authors give for a compiled heuristic, and one of a difference",
    "Rules": "what authors give for compiled searches, and those of a spec",
}


def repeated(names: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that stand in several places, with these."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, place in names:
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_a_module_name_means_one_thing() -> None:
    """Over all three packages."""
    found = repeated((file.stem, str(file.relative_to(TOP))) for file in FILES)
    assert {name: places for name, places in found.items() if name not in MODULES} == {}
    assert set(MODULES) == set(found), "a listed name that comes once needs no reason any more"


def test_a_class_name_means_one_thing() -> None:
    """Likewise, private ones included."""
    found = repeated(
        (node.name, str(file.relative_to(TOP)))
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert {name: places for name, places in found.items() if name not in CLASSES} == {}
    assert set(CLASSES) == set(found)
