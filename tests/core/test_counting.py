"""The counting view: every generated state is a node, and limits are exact."""

import random
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Limits, OutOfBudget, Puzzle, Search
from arena.api.results import Leaderboard
from arena.counting import Meter, counting_view
from arena.search import SharedStart
from arena_agents.best_first import BreadthFirst
from arena_agents.depth_first import DepthFirst
from arena_games.tic_tac_toe import TicTacToe
from tests.conftest import VirtualClock


class Bits(Puzzle):
    """Set all bits of a number: a puzzle with every optional view, each of which calls the game's own `result`."""

    name = "bits"
    path_matters = False

    def __init__(self, *, width: int = 4) -> None:
        self.width = width

    def initial(self, rng: random.Random) -> int:
        return 0

    def actions(self, state: int) -> Sequence[int]:
        return [bit for bit in range(self.width) if not state >> bit & 1]

    def result(self, state: int, action: int) -> int:
        return state | 1 << action

    def is_goal(self, state: int) -> bool:
        return state == (1 << self.width) - 1

    def random_state(self, rng: random.Random) -> int:
        return rng.randrange(1 << self.width)

    def neighbors(self, state: int) -> list[int]:
        return [self.result(state, bit) for bit in range(self.width) if not state >> bit & 1]

    def crossover(self, a: int, b: int, rng: random.Random) -> int:
        return a | b

    def mutate(self, state: int, rng: random.Random) -> int:
        return state ^ 1

    def local(self, state: int) -> "View":
        return View(self, state)


class View:
    def __init__(self, game: Bits, state: int) -> None:
        self.game = game
        self._state = state

    @property
    def cost(self) -> int:
        return self.game.width - self._state.bit_count()

    def propose(self, rng: random.Random) -> int:
        return rng.randrange(self.game.width)

    def delta(self, move: int) -> int:
        return 1 if self._state >> move & 1 else -1

    def apply(self, move: int) -> None:
        self._state ^= 1 << move

    def state(self) -> int:
        return self._state


def view_of(game: Any, nodes: int | None = None, seconds: float | None = None) -> tuple[Any, Meter]:
    meter = Meter()
    meter.begin(nodes, seconds)
    return counting_view(game, meter), meter


def test_a_counting_view_is_an_instance_of_the_game_class() -> None:
    game = TicTacToe(rows=4, columns=4, in_a_row=4)
    view, meter = view_of(game)
    assert type(view) is TicTacToe
    assert (view.rows, view.in_a_row) == (4, 4)
    assert list(view.threats(view.parse_state("xxx./ooo./..../...."), 0)) == [4]
    game.result((0, 0), 1)
    assert meter.nodes == 0
    assert "result" not in vars(game)


def test_every_generated_state_is_counted_once() -> None:
    view, meter = view_of(Bits())
    rng = random.Random(1)
    calls: list[tuple[Callable[[], Any], int]] = [
        (lambda: view.result(0, 1), 1),
        (lambda: view.random_state(rng), 1),
        (lambda: view.mutate(3, rng), 1),
        (lambda: view.crossover(1, 2, rng), 1),
        (lambda: view.neighbors(1), 3),
    ]
    for call, nodes in calls:
        before = meter.nodes
        call()
        assert meter.nodes - before == nodes
    local = view.local(0)
    before = meter.nodes
    move = local.propose(rng)
    local.delta(move)
    local.apply(move)
    assert (meter.nodes - before, local.cost, local.state()) == (1, 3, 1 << move)


def test_reading_a_state_is_not_counted() -> None:
    view, meter = view_of(TicTacToe())
    state = view.initial(random.Random(1))
    view.parse_state("xo./.x./..o")
    for look in (view.actions, view.is_terminal, view.to_move, view.format_state, view.render, view.is_quiet):
        look(state)
    assert meter.nodes == 0
    copy(view).result(state, 1)
    assert meter.nodes == 1


@pytest.mark.parametrize("limit", [1, 5, 40])
def test_the_limit_is_exact(limit: int) -> None:
    view, meter = view_of(TicTacToe(), nodes=limit)
    handed_out = 0

    def search() -> None:
        nonlocal handed_out
        while True:
            view.result((0, 0), 1)
            handed_out += 1

    with pytest.raises(OutOfBudget):
        search()
    assert handed_out == limit
    with pytest.raises(OutOfBudget):
        view.result((0, 0), 1)
    assert meter.nodes == limit


def test_out_of_budget_passes_through_except_exception() -> None:
    view, _ = view_of(TicTacToe(), nodes=1)

    def careless() -> None:
        while True:
            with suppress(Exception):
                view.result((0, 0), 1)

    with pytest.raises(OutOfBudget):
        careless()


def test_a_time_limit_ends_a_search() -> None:
    view, meter = view_of(TicTacToe(), seconds=0.05)

    def search() -> None:
        while True:
            view.result((0, 0), 1)

    with pytest.raises(OutOfBudget, match="seconds"):
        search()
    assert meter.exhausted


def test_a_limit_of_processor_time_ignores_sleep(clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    used = [0.0]
    monkeypatch.setattr(clock, "process_time", lambda: used[0])
    meter = Meter()
    meter.begin(None, None, 0.05)
    clock.sleep(1)
    meter.count(1)
    used[0] = 0.06
    with pytest.raises(OutOfBudget, match="cpu_seconds"):
        deque(map(meter.count, repeat(1)), maxlen=0)
    assert meter.exhausted


def test_the_copy_method_of_a_game_is_used() -> None:
    class Own(TicTacToe):
        copies = 0

        def __copy__(self) -> "Own":
            type(self).copies += 1
            twin = object.__new__(Own)
            twin.__dict__.update(self.__dict__)
            return twin

    view, meter = view_of(Own())
    view.result((0, 0), 1)
    assert (Own.copies, meter.nodes) == (1, 1)
    assert copy(TicTacToe(rows=5)).rows == 5


@pytest.mark.parametrize(("agent", "expanded"), [(BreadthFirst(), 2**6 - 6), (DepthFirst(), 6)])
def test_a_state_counts_as_expanded_when_its_actions_are_requested(agent: Any, expanded: int) -> None:
    """Of the states with 6 bits, breadth-first search expands all with at most 4 bits and one with 5. Depth-first search expands
    one of each number.
    """
    view, meter = view_of(Bits(width=6))
    assert agent.solve(view, 0, Search(view, None, Limits(), meter, random.Random(1), SharedStart(view, None))) is not None
    assert meter.expanded == expanded
    view.is_terminal(3)  # asks for actions itself
    assert meter.expanded == expanded


def test_records_of_solvers_have_expanded_states() -> None:
    """A* expands the start; its three actions lead to the goal and two other states."""
    record = arena.play("sliding-tiles", "a-star", position="1 2 3 / 4 5 6 / 7 . 8")
    assert (record.decisions[0].nodes, record.decisions[0].spent) == (3, {"expanded": 1})
    assert "spent" not in record.timeless()["decisions"][0]
    stepwise = arena.play("sliding-tiles", "greedy", position="1 2 3 / 4 5 6 / 7 . 8")
    assert stepwise.decisions[0].spent is None


HOPELESS = """
from arena import Agent, heuristic, hookimpl


@heuristic("hopeless", game="sliding-tiles")
def hopeless(game, state, player=0):
    return float("inf")


class Silent(Agent):
    name = "silent"

    def solve(self, game, state, search):
        return None


@hookimpl
def arena_heuristics():
    return [hopeless]


@hookimpl
def arena_agents():
    return [Silent]
"""


def test_a_search_that_ends_at_an_infinite_estimate_has_counts_of_0(tmp_path: Path) -> None:
    """A* finds no solution without generating a state. That is not the same as an agent that reports no nodes."""
    (tmp_path / "hopeless.py").write_text(HOPELESS)
    spec = {
        "game": {"name": "sliding-tiles", "shuffle": 5},
        "rounds": 2,
        "plugins": [str(tmp_path / "hopeless.py")],
        "agents": [
            {"agent": "a-star", "heuristic": "hopeless", "label": "hopeless"},
            {"agent": "a-star", "heuristic": "manhattan", "label": "informed"},
            "silent",
        ],
    }
    (board,) = Leaderboard.of_results(arena.run(spec))
    rows = {row["agent"]: (row["nodes_per_attempt"], row["expanded_per_attempt"]) for row in board.rows}
    assert rows["hopeless"] == (0, 0)
    assert rows["silent"] == (None, None)
    assert min(rows["informed"]) > 0
    table = board.table()
    shown = {row[table.headings.index("Agent")]: row[table.headings.index("Generated")] for row in table.cells}
    assert (shown["hopeless"], shown["silent"]) == ("0", "-")
