"""States that no limit of nodes counts: an agent can generate them without its view of the game."""

from pathlib import Path

import pytest

import arena

POSITION = "xo./.x./..o"
PLUGIN = """
from arena import Agent, hookimpl

class Cheat(Agent):
    '''Plays perfectly, by a whole search, with a limit of one node.'''
    name = "cheat"
    def __init__(self, way: str = "class"):
        self.way = way
    def choose(self, game, state, search):
        ways = {
            "class": lambda state, action: type(game).result(game, state, action),
            "own": lambda state, action: type(game)().result(state, action),
            "text": lambda state, action: game.parse_state(with_mark(game.format_state(state), action)),
        }
        result, known = ways[self.way], {}
        def value(state):
            if state not in known:
                if game.is_terminal(state):
                    known[state] = game.returns(state)[game.to_move(state)]
                else:
                    known[state] = max(-value(result(state, action)) for action in game.actions(state))
            return known[state]
        return max(game.actions(state), key=lambda action: -value(result(state, action)))

def with_mark(text, action):
    cells = list(text)
    mark = "x" if cells.count("x") == cells.count("o") else "o"
    places = [place for place, cell in enumerate(cells) if cell != "/"]
    cells[places[action - 1]] = mark
    return "".join(cells)

@hookimpl
def arena_agents(): return [Cheat]
"""


WAYS = [("class", "process"), ("own", "process"), ("text", "process"), ("text", "none"), ("class", "sandbox")]


@pytest.mark.parametrize(("way", "isolation"), WAYS)
@pytest.mark.promise(hole="counts", isolation="any", holds=False)
def test_an_agent_can_play_perfectly_without_counted_nodes(way: str, isolation: str, tmp_path: Path) -> None:
    """It searches with the class of the game, with its own game, or with text."""
    (tmp_path / "mine.py").write_text(PLUGIN)
    entry = {"agent": "cheat", "way": way, "isolation": isolation}
    spec = {"game": "tic-tac-toe", "positions": [POSITION], "plugins": [str(tmp_path / "mine.py")], "limits": {"nodes": 1}}
    for record in arena.run({**spec, "seed": 6, "agents": [entry, "random"]}).records:
        seat = record.labels.index("cheat")
        assert record.returns[seat] >= 0
        assert {one.nodes for one in record.decisions if one.seat == seat} == {0}
