"""A small tournament with every case that a report must handle, its store, and its report."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from arena import run
from tests.conftest import Arena, invoke_in

PLUGIN = '''
from arena import Agent, Game, hookimpl


class TakeAway(Game):
    """Seven counters; the player who takes the last of them wins. It has no drawn board."""

    name = "take-away"

    def initial(self, rng):
        return (7, 0)

    def to_move(self, state):
        return state[1]

    def actions(self, state):
        return [n for n in (1, 2) if n <= state[0]]

    def result(self, state, action):
        return (state[0] - action, 1 - state[1])

    def returns(self, state):
        return (-1.0, 1.0) if state[1] == 0 else (1.0, -1.0)

    def render(self, state):
        return "counters: " + "*" * state[0]


class Stumbles(Agent):
    """An agent that plays the first action, and raises an exception near the end."""

    name = "stumbles"

    def choose(self, game, state, search):
        actions = game.actions(state)
        if len(actions) in (3, 4):
            raise RuntimeError("<img src=x onerror=alert(1)>")
        return actions[0]


@hookimpl
def arena_games():
    return [TakeAway]


@hookimpl
def arena_agents():
    return [Stumbles]
'''

SMALL = {"game": "tic-tac-toe", "rounds": 2, "agents": ["random", "greedy"]}
SPEC = """
name: Report & <b>test</b>
games:
  - tic-tac-toe
  - take-away
  - {name: sliding-tiles, shuffle: 12}
  - n-queens
rounds: 8
seed: 11
limits: {nodes: 3000, moves: 40}
plugins: [plugin.py]
agents:
  - {agent: random, label: "<script>alert(1)</script>"}
  - {agent: greedy, label: '_ id="x" #01a0f1 $囲$'}
  - {agent: lookahead, depth: 1}
  - stumbles
  - a-star
  - {agent: hill-climb, label: "</script><!-- climb"}
"""


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory, missing: Callable[[str, str], None]) -> Path:
    """Return a folder with the plugin, the spec, the store `cup.db`, and the store `small.db`, which has four matches on one
    board.
    """
    if find_spec("matplotlib") is None:
        missing("report", "plots need matplotlib: pip install '.[report]'")
    folder = tmp_path_factory.mktemp("report")
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "cup.yaml").write_text(SPEC)
    run(folder / "cup.yaml", store=folder / "cup.db")
    run(SMALL, store=folder / "small.db")
    return folder


@pytest.fixture
def invoke(played: Path) -> Arena:
    """Return a function that runs the command line in this process, in the folder of the stores."""
    return invoke_in(played)


@pytest.fixture(scope="session")
def html(played: Path) -> Path:
    """Return the report on `cup.db`."""
    done = invoke_in(played)("report", "cup.db", "-o", "cup.html", "--plugin", "plugin.py")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return played / "cup.html"


@pytest.fixture(scope="session")
def leaderboards(played: Path) -> dict[str, Any]:
    """Return the output of `arena leaderboard --format json` for `cup.db`."""
    document: dict[str, Any] = json.loads(invoke_in(played)("leaderboard", "cup.db", "--format", "json").stdout)
    return document


class Page(HTMLParser):
    """The parts of a page as a browser reads them: tables, scripts by their ids, all text, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: dict[str, str] = {}
        self.packs: list[str] = []
        self.text: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self._table = self._script = ""
        self._pack = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self.ids += [value for name, value in attrs if name == "id" and value]
        if found.get("class") == "scroll":
            self._table = found["aria-label"] or ""
            self.tables[self._table] = []
        elif tag == "tr" and self._table:
            self.tables[self._table].append([])
        elif tag in {"td", "th"} and self._table:
            self.tables[self._table][-1].append("")
        elif tag == "script":
            self._script, self._pack = found.get("id") or "?", found.get("class") == "pack"

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._table = ""
        elif tag == "script":
            self._script, self._pack = "", False

    def handle_data(self, data: str) -> None:
        if self._pack:
            self.packs.append(data)
        elif self._script:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif self._table and self.tables[self._table] and self.tables[self._table][-1]:
            self.tables[self._table][-1][-1] += data
        else:
            self.text.append(data)


@pytest.fixture(scope="session")
def page(html: Path) -> Page:
    return Page(html.read_text(encoding="utf-8"))
