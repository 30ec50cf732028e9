"""Changed defaults of options, which do not change an id, are refused."""

import shlex
from pathlib import Path
from shutil import copytree

import pytest

from arena import run
from tests.conftest import Arena

PLUGINS = {
    "pile": """
from arena import Game, hookimpl

class Pile(Game):
    '''Take one or two; who takes the last one wins.'''
    name = "pile"
    default_heuristic = "parity"
    def __init__(self, *, size: int = 7, OPTIONS):
        self.size = size
    def initial(self, rng):
        return (self.size, 0)
    def to_move(self, state):
        return state[1]
    def actions(self, state):
        return [number for number in (1, 2) if number <= state[0]]
    def result(self, state, action):
        return (state[0] - action, 1 - state[1])
    def returns(self, state):
        return (1.0, -1.0) if state[1] == 1 else (-1.0, 1.0)

@hookimpl
def arena_games():
    return [Pile]
""",
    "taker": """
from arena import Agent, hookimpl

class Taker(Agent):
    '''Takes the first or the last, or what the heuristic prefers.'''
    name = "taker"
    wants_heuristic = True
    def __init__(self, *, place: int = 0, OPTIONS):
        self.place = place
    def choose(self, game, state, search):
        search.evaluate(state)
        return game.actions(state)[self.place]

@hookimpl
def arena_agents():
    return [Taker]
""",
    "parity": """
from arena import heuristic, hookimpl

@heuristic("parity", game="pile")
class Parity:
    '''A third of the pile.'''
    def __init__(self, game, *, share: float = 3, OPTIONS):
        self.share = share
    def __call__(self, state, player=0):
        return 0.5 if state[0] % self.share else -0.5

@hookimpl
def arena_heuristics():
    return [Parity]
""",
}
SPEC = """
game: {name: pile GAME}
rounds: 1
agents: [{agent: taker ENTRY ALL}, {agent: random ALL}, {agent: random, label: other ALL}]
plugins: [pile.py, taker.py, parity.py]
"""
MATCHES = 3 * 2


AT_FIRST = ("", "", "")


def write(folder: Path, change: tuple[str, str, str] = AT_FIRST, new: str = "", **spoken: str) -> None:
    """Write the spec with the values in `spoken`, and the plugins with one more option `new`.

    The `change` is the name of a plugin, a text in it, and another text that stands for it.
    """
    plugin, old, changed = change
    for name, code in PLUGINS.items():
        text = code.replace(old, changed) if name == plugin else code
        (folder / f"{name}.py").write_text(text.replace(", OPTIONS", new))
    spec = SPEC
    for place in ("GAME", "ENTRY", "ALL"):
        spec = spec.replace(f" {place}", spoken.get(place, ""))
    (folder / "cup.yaml").write_text(spec)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the spec was played with the defaults of the beginning."""
    folder = tmp_path_factory.mktemp("first")
    write(folder)
    run(folder / "cup.yaml", store=folder / "results" / "cup.db")
    return folder


@pytest.fixture
def played(first: Path, tmp_path: Path) -> Path:
    """A copy of the folder."""
    return copytree(first, tmp_path, dirs_exist_ok=True)


CHANGES = [
    ("pile", "size: int = 7", "size: int = 8", "size of the game pile was 7 and is 8", {"GAME": ", size: 7"}),
    ("taker", "place: int = 0", "place: int = -1", "place of the agent taker was 0 and is -1", {"ENTRY": ", place: 0"}),
    (
        "parity", "share: float = 3", "share: float = 4", "share of the heuristic parity was 3.0 and is 4.0",
        {"ALL": ", heuristic: {name: parity, share: 3}"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("plugin", "old", "new", "told", "spoken"), CHANGES, ids=[change[0] for change in CHANGES])
def test_a_changed_default_stops_a_run(
    played: Path, invoke: Arena, plugin: str, old: str, new: str, told: str, spoken: dict[str, str]
) -> None:
    """Every entry gets the heuristic of its game, even if it does not use one."""
    affected = ["taker"] if plugin == "taker" else ["taker", "random", "other"]
    write(played, (plugin, old, new))
    fresh = [word for label in affected for word in ("--fresh-for", label)]
    refused = invoke("run", "cup.yaml")
    assert refused.returncode == 2
    assert f"{told}; use {' '.join(fresh)} to play" in refused.stderr
    write(played, (plugin, old, new), **spoken)
    assert invoke("run", "cup.yaml", "--accept-changed-plugins").returncode == 0
    write(played, (plugin, old, new))
    assert invoke("run", "cup.yaml", "--accept-changed-plugins").returncode == 2


def test_the_shell_can_read_the_labels_in_the_advice(tmp_path: Path, invoke: Arena) -> None:
    """shlex splits words like a shell."""
    label = ', label: "it\'s mine"'
    before = tmp_path / "before"
    before.mkdir()
    write(before, ENTRY=label)
    run(before / "cup.yaml", store=tmp_path / "results" / "cup.db")
    write(tmp_path, ("taker", "place: int = 0", "place: int = -1"), ENTRY=label)
    advice = invoke("run", "cup.yaml").stderr.partition("; use ")[2].partition(" to play")[0]
    assert shlex.split(advice) == ["--fresh-for", "it's mine"]


def test_a_run_with_a_changed_default_continues_if_its_matches_are_new(played: Path, invoke: Arena) -> None:
    write(played, ("taker", "place: int = 0", "place: int = -1"))
    assert invoke("run", "cup.yaml", "--fresh-for", "taker", "--workers", "1").returncode == 0
    assert "there were no matches left to play" in invoke("run", "cup.yaml").stderr


def test_new_options_with_defaults_do_not_change_matches(played: Path, invoke: Arena) -> None:
    write(played, new=", more: str = 'none'", GAME=", more: none, size: 7", ENTRY=", more: none, place: 0")
    again = invoke("run", "cup.yaml", "--accept-changed-plugins")
    assert again.returncode == 0, again.stderr
    assert f"all {MATCHES} matches were in results/cup.db; there were no matches left to play" in again.stderr


def test_stores_with_other_defaults_are_not_merged(played: Path, invoke: Arena) -> None:
    write(played, ("taker", "place: int = 0", "place: int = -1"))
    assert invoke("run", "cup.yaml", "--store", "two.db", "--workers", "1").returncode == 0
    refused = invoke("merge", "both.db", "results/cup.db", "two.db", "--accept-changed-plugins")
    assert refused.returncode == 1
    assert "place of the agent taker was 0 and is -1" in refused.stderr
