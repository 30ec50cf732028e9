"""The hash of a class covers its file and the imports within its package."""

import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from arena.schedule.fingerprint import Fingerprint
from arena.spec import Spec, load_spec

HOOKS = """
from arena import hookimpl
from {name}.agents import First
from {name}.unused import Other
@hookimpl
def arena_agents(): return [First, Other]
"""
AGENT = """
from arena import Agent
{first}
class {kind}(Agent):
    "Plays."
    name = "{label}"
    def choose(self, game, state, search): return game.actions(state)[0]
"""
FILES = ["__init__.py", "hooks.py", "agents.py", "part.py", "deep/__init__.py", "deep/part.py", "unused.py"]
IMPORTS = {
    "pass": [],
    "from {name}.part import X": ["part.py"],
    "from {name} import part": ["part.py"],
    "from {name} import part as other": ["part.py"],
    "import {name}.part as other": ["part.py"],
    "from . import part": ["part.py"],
    "from .part import *": ["part.py"],
    "from .deep import part": ["deep/part.py", "part.py"],
    "from {name}.deep.part import X": ["deep/part.py", "part.py"],
    "from .deep import DEPTH": ["deep/__init__.py"],
    "import {name}.part": ["__init__.py", "part.py"],
    "from {name} import SIZE": ["__init__.py"],
    "from . import SIZE": ["__init__.py"],
    "from .nothing import here": [],
    "from ...... import far": [],
    "import importlib.resources, json, numpy, nowhere_to_be_found": [],
    "from importlib import metadata": [],
    "from importlib import import_module": FILES,
    "x = __import__": FILES,
}
"""Imports in the file of an agent, which no test runs, and the other files of its package that then count."""
_numbers = count()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Write a package of two agents, of which `first` has something to import, and return its folder."""
    name = f"pebbles_{next(_numbers)}"
    folder = tmp_path / name

    def write(first: str) -> Path:
        texts = {
            "__init__.py": "SIZE = 1\n",
            "hooks.py": HOOKS.format(name=name),
            "agents.py": AGENT.format(first=f"if False: {first.format(name=name)}", kind="First", label="first"),
            "part.py": "X = 1\n",
            "deep/__init__.py": "DEPTH = 1\n",
            "deep/part.py": "from ..part import X\n",
            "unused.py": AGENT.format(first="", kind="Other", label="other"),
        }
        for file, text in texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        return folder

    monkeypatch.syspath_prepend(tmp_path)
    yield write
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def load(folder: Path, *agents: str) -> Spec:
    values = {"game": "tic-tac-toe", "agents": [*agents, "random"], "plugins": [f"{folder.name}.hooks"]}
    return load_spec(values)


def edit(place: Path, more: str) -> None:
    place.write_text(place.read_text() + more)
    os.utime(place, ns=(0, next(_numbers) + 1))  # as of another moment, however quick the test is


def hashes(spec: Spec) -> dict[str, str]:
    return {key: found for one in Fingerprint.take_all(spec).values() for key, found in one.hashes.items()}


@pytest.mark.parametrize("first", IMPORTS)
def test_imported_modules_change_the_hash_of_a_class(package: Callable[[str], Path], first: str) -> None:
    """Edits of unrelated modules and of comments do not change it."""
    folder = package(first)
    spec = load(folder, "first")
    before = hashes(spec)["agent first"]
    for file in FILES:
        edit(folder / file, "# a comment\n'and a text'\n")
    assert hashes(spec)["agent first"] == before
    for file in FILES:
        edit(folder / file, "more = 2\n")
        after = hashes(spec)["agent first"]
        assert (after != before) == (file in ["agents.py", *IMPORTS[first]]), file
        before = after


def test_a_class_has_its_own_hash(package: Callable[[str], Path]) -> None:
    folder = package("from .part import X")
    alone, both = load(folder, "first"), load(folder, "first", "other")
    assert hashes(alone).items() < hashes(both).items()
    edit(folder / "unused.py", "more = 2\n")
    assert hashes(alone).items() < hashes(both).items()


def test_imported_files_outside_a_package_change_its_hash(package: Callable[[str], Path], tmp_path: Path) -> None:
    folder = package("import helper, kit.one")
    (tmp_path / "helper.py").write_text(f"from {folder.name}.part import X\n")
    (tmp_path / "kit").mkdir()
    for name in ("__init__.py", "one.py", "two.py"):
        (tmp_path / "kit" / name).write_text("")
    spec = load(folder, "first")
    for place in (tmp_path / "helper.py", tmp_path / "kit" / "two.py", folder / "part.py"):
        before = hashes(spec)
        edit(place, "more = 2\n")
        assert hashes(spec)["agent first"] != before["agent first"]
        assert hashes(spec)["agent random"] == before["agent random"]


def test_every_class_of_a_spec_has_a_hash_under_its_source() -> None:
    spec = load_spec({"game": "sliding-tiles", "agents": ["a-star"], "rounds": 1})
    found = {name: list(one.hashes) for name, one in Fingerprint.take_all(spec).items()}
    assert found == {
        "fairarena:builtin-agents": ["agent a-star"],
        "fairarena:builtin-games": ["game sliding-tiles", "heuristic sliding-tiles manhattan"],
    }


def test_the_hash_of_a_program_includes_its_imports(tmp_path: Path) -> None:
    texts = {"bot.py": "import beside\n", "beside.py": "", "unrelated.py": "", "table.txt": "1\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "s.yaml").write_text(
        f"game: tic-tac-toe\nagents: [random, {{agent: {{command: [{sys.executable}, bot.py, table.txt]}}, label: bot}}]\n"
    )
    spec = load_spec(tmp_path / "s.yaml")
    edits = [
        ("bot.py", "# 1\n", False),
        ("beside.py", "x = 1\n", True),
        ("unrelated.py", "x = 1\n", False),
        ("table.txt", "#", True),
    ]
    for name, more, counts in edits:
        before = hashes(spec)["program"]
        edit(tmp_path / name, more)
        assert (hashes(spec)["program"] != before) == counts, name
