"""States that no node limit sees: what can be seen of them is told, apart from nodes, in the record and on the board."""

import copy
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

import arena
from arena.counting import Meter, counting_view
from arena.match.record import Decision
from arena.results.leaderboard import Leaderboard
from arena.store import Store
from arena.unmetered import seen, unwatched_copy, watch
from arena_games.n_queens import NQueens
from arena_games.tic_tac_toe import TicTacToe

POSITION = "xo./.x./..o"
PLUGIN = """
from arena import Agent, heuristic, hookimpl

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
        result = ways.get(self.way)
        if result is None:
            return search.best(game.actions(state)[:1], lambda action: search.evaluate(state, game.to_move(state)))
        known = {}
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

@heuristic("looks-ahead", game="tic-tac-toe")
def looks_ahead(game, state, player=0):
    return sum(0.0 * len(game.actions(game.result(state, action))) for action in game.actions(state))

@hookimpl
def arena_agents(): return [Cheat]

@hookimpl
def arena_heuristics(): return [looks_ahead]
"""


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "mine.py").write_text(PLUGIN)
    plugins = [str(tmp_path / "mine.py")]
    return {"game": "tic-tac-toe", "positions": [POSITION], "plugins": plugins, "limits": {"nodes": 1}, "seed": 6}


def decisions(record: Any, label: str) -> list[Decision]:
    return [one for one in record.decisions if record.labels[one.seat] == label]


def after(actions: Sequence[str]) -> Any:
    game = TicTacToe()
    state = game.parse_state(POSITION)
    for text in actions:
        state = game.result(state, game.parse_action(state, text))
    return state


def generated(state: Any) -> int:
    """How many states a search to the end generates that looks at no position twice: the edges of the graph of the game."""
    game, seen, waiting = TicTacToe(), {state}, [state]
    edges = 0
    while waiting:
        place = waiting.pop()
        if not game.is_terminal(place):
            successors = [game.result(place, action) for action in game.actions(place)]
            edges += len(successors)
            waiting += set(successors) - seen
            seen.update(successors)
    return edges


SEEN = [("class", "process"), ("own", "process"), ("text", "process"), ("text", "none"), ("class", "sandbox")]


@pytest.mark.parametrize(("way", "isolation"), SEEN)
@pytest.mark.promise(hole="counts", isolation="any", holds=False)
def test_perfect_play_without_nodes_is_seen(way: str, isolation: str, spec: dict[str, Any], tmp_path: Path) -> None:
    """It does not lose, for no node; every state of its search is unmetered, and the board names it and not its honest rival."""
    entry = {"agent": "cheat", "way": way, "isolation": isolation}
    store = tmp_path / "cup.db"
    results = arena.run({**spec, "agents": [entry, "random"]}, store=store)
    for record in results.records:
        seat = record.labels.index("cheat")
        assert record.returns[seat] >= 0
        used = decisions(record, "cheat")
        assert [one.nodes for one in used] == [0] * len(used)
        assert used[0].unmetered == generated(after(record.actions[:seat]))
        assert [one.unmetered for one in decisions(record, "random")] == [0] * len(decisions(record, "random"))
        assert record.as_dict()["decisions"][seat]["unmetered"] == used[0].unmetered
        assert all("unmetered" not in one for one in record.timeless()["decisions"])
    (board,) = Leaderboard.load(store)
    whole = sum(one.unmetered for record in results.records for one in decisions(record, "cheat"))
    assert board.as_dict()["unmetered"] == {"cheat": whole} == Leaderboard.of_results(results)[0].as_dict()["unmetered"]
    assert [line for line in board.remarks if f"at least cheat {whole:,}." in line]
    with Store.open(store) as opened:
        assert [kept for kept, _ in opened.records(boards=True)] == [one._replace(parameters=None) for one in results.records]


@pytest.mark.parametrize("isolation", ["none", "process"])
@pytest.mark.promise(hole="counts", isolation=("none", "process"), holds=False)
def test_a_heuristic_that_generates_states_is_seen(isolation: str, spec: dict[str, Any]) -> None:
    """One state for each legal action and each evaluation; the honest one of arena generates none."""
    entries = [
        {"agent": "cheat", "way": "asks", "label": name, "heuristic": name, "isolation": isolation}
        for name in ("looks-ahead", "open-lanes")
    ]
    for record in arena.run({**spec, "agents": entries}).records:
        left = [5 - ply for ply in range(len(record.decisions))]
        for cells, one in zip(left, record.decisions, strict=True):
            label = record.labels[one.seat]
            assert (one.evaluations, one.unmetered) == (1, cells if label == "looks-ahead" else 0)


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_honest_agents_have_none(isolation: str) -> None:
    """Every way to generate a state through the view, also those in which the game calls its own `result`."""
    agents = ["mcts", {"agent": "alpha-beta", "limits": {"depth": 3}}]
    games = arena.run({"game": "connect-four", "rounds": 1, "agents": agents, "limits": {"nodes": 60}, "isolation": isolation})
    climbers = ["hill-climb", "genetic"]
    limits = {"nodes": 500}
    puzzles = arena.run({"game": "n-queens", "rounds": 1, "agents": climbers, "limits": limits, "isolation": isolation})
    for record in [*games.records, *puzzles.records]:
        assert {one.unmetered for one in record.decisions} <= {0}
        assert sum(one.nodes for one in record.decisions) > 0


def test_what_the_view_counts_is_not_seen_twice() -> None:
    """Beside the hands of the agent: a copy of the view counts as the view does."""
    meter, game = Meter(), TicTacToe()
    view = counting_view(game, meter)
    state, before = view.initial(random.Random(1)), seen.states
    copy.copy(view).result(state, 1)
    view.result(state, 1)
    assert (meter.nodes, seen.states - before) == (2, 0)
    view.parse_state("xo./.x./..o")
    assert (meter.nodes, seen.states - before) == (2, 1)


class Ladder(NQueens):
    """A puzzle whose neighbours come from its own `result`, as those of an author may."""

    def result(self, state: Any, action: Any) -> Any:
        return super().result(state, action)

    def neighbors(self, state: Any) -> list[Any]:
        return [self.result(state, action) for action in self.actions(state)]


def test_a_class_that_is_watched_is_seen_by_hand_alone() -> None:
    """What its methods generate of themselves counts as nodes where it is counted, and is not seen; a subclass is not watched."""
    meter, game = Meter(), Ladder(n=4)
    watch(Ladder)
    view, state = counting_view(unwatched_copy(game), meter), game.initial(random.Random(1))
    before = seen.states
    found = cast(Ladder, view).neighbors(state)
    assert (meter.nodes, seen.states - before) == (len(found), 0)
    assert type(view).result(view, state, game.actions(state)[0]) in found
    assert (meter.nodes, seen.states - before) == (len(found), 1)
    NQueens.result(game, state, game.actions(state)[0])
    assert seen.states - before == 1
