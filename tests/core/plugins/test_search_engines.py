"""A search engine of a plugin file: its loop runs, and if it cannot continue, the agent decides once more."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import arena_in

pytestmark = pytest.mark.process

ENGINE = """
from arena import Agent, hookimpl
from arena.counting import GoPlain
from arena.search_engines import SearchEngine


class Drawing(Agent):
    name = "drawing"

    def choose(self, game, state, search):
        legal = game.actions(state)
        loop = search.compiled("last-of", legal=len(legal))
        return search.rng.choice(legal) if loop is None else loop(search, legal)


class Served:
    ran = True
    failure = None
    settled = True

    def __init__(self, search):
        self.search, self.before = search, search.rng.getstate()

    def finish(self):
        pass

    def undo(self, reason):
        self.search.rng.setstate(self.before)
        engine.tired = reason


class Engine:
    tired = None

    def find_loop(self, search, loop, options):
        if loop != "last-of" or self.tired is not None:
            return None
        search.served = Served(search)
        return self.pick if options["legal"] == 9 else self.give_up

    def pick(self, search, legal):
        return legal[-1]

    def give_up(self, search, legal):
        search.rng.random()
        raise GoPlain("tired")


engine = Engine()


class Own(SearchEngine):
    def prepare(self, spec, note):
        note(f"own gets ready for {spec.boards[0].name}")

    def sum_up(self, uses):
        for use in uses:
            yield f"{use.seat.label} on {use.game.name}: {use.first_compiled} of {use.matches}"

    def describe(self, game, evaluation=None):
        return f"by hand in {game.name}"

    def loop_of(self, agent, game=None):
        return "last-of" if agent.name == "drawing" else None


@hookimpl
def arena_agents():
    return [Drawing]


@hookimpl
def arena_search_engines():
    return [Own("own", engine.find_loop)]
"""
PLAYED = """
import arena
from arena.plugins.sources import load_plugins
from arena_games.tic_tac_toe import TicTacToe
registry = load_plugins([{file!r}])
drawing = registry.agent("drawing")
record = arena.play(TicTacToe(), [drawing(), drawing()], seed=4)
plain = arena.play(TicTacToe(), [drawing(), drawing()], seed=4)
print(record.timing["compiled"], "compiled" in plain.timing, record.actions[0], record.actions[0] == plain.actions[0])
print(registry.plugins[-1].source.name == {file!r}, registry.plugins[-1].names)
"""


def test_a_search_engine_of_a_plugin_runs(tmp_path: Path) -> None:
    """Its first loop takes the last of nine squares. The second loop returns nothing and draws no random numbers, so the
    agent decides without it.
    """
    file = tmp_path / "engine.py"
    file.write_text(ENGINE)
    code = PLAYED.format(file=str(file))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    timing, names = done.stdout.splitlines()
    assert timing == "[1, 0] False 9 False"
    assert names == "True ('agent drawing', 'search-engine own')"


def test_commands_show_the_texts_of_a_search_engine(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text(ENGINE)
    (tmp_path / "spec.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [drawing, random]\nplugins: [engine.py]\n")

    arena = arena_in(tmp_path)
    assert "  own: by hand in tic-tac-toe\n" in arena("show", "tic-tac-toe", "--plugin", "engine.py").stdout
    assert "  own: by the engine last-of, " in arena("show", "drawing", "--plugin", "engine.py").stdout
    said = arena("run", "spec.yaml", "--no-store", "--workers", "1").stderr
    assert "note: own gets ready for tic-tac-toe\n" in said
    assert "note: drawing on tic-tac-toe: 0 of 2\n" in said
