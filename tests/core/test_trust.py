"""What the referee and the board make of games and agents that do not play fair; each was once seen to go wrong."""

import json
import random
from collections.abc import Sequence
from math import inf, nan
from typing import Any

import pytest

from arena import Agent, Answer, Game, Path, Puzzle, Search, play, run
from arena_games.tic_tac_toe import TicTacToe


class First(Agent):
    name = "first"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        return game.actions(state)[0]


class TwoRoads(Game):
    """Seat 0 takes a road, then every action is forced: the left road loses after five more, the right one wins."""

    name = "two-roads"

    def initial(self, rng: random.Random) -> Any:
        return ""

    def to_move(self, state: str) -> int:
        return len(state) % 2

    def actions(self, state: str) -> Sequence[str]:
        return ["L", "R"] if not state else ["-"] if len(state) < 6 else []

    def result(self, state: str, action: str) -> str:
        return state + action

    def returns(self, state: str) -> Sequence[float]:
        return (1, -1) if state[0] == "R" else (-1, 1)


@pytest.mark.parametrize("agent", ["minimax", "alpha-beta", {"agent": "alpha-beta", "table": True}])
def test_deepening_sees_forced_lines_to_their_end(agent: Any) -> None:
    """Equal iterations are no proof."""
    for limits in ({}, {"nodes": 1000}):
        record = play(TwoRoads(), [agent, First()], limits=limits)
        assert (record.actions[0], record.returns) == ("R", (1, -1))


class Line(Puzzle):
    """Walk from 3 to 5 on a line from 0 to 9; there is no heuristic."""

    name = "line"

    def initial(self, rng: random.Random) -> int:
        return 3

    def actions(self, state: int) -> Sequence[int]:
        return [step for step in (-1, 1) if 0 <= state + step <= 9]

    def result(self, state: int, action: int) -> int:
        return state + action

    def is_goal(self, state: int) -> bool:
        return state == 5


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_lookahead_takes_a_visible_goal(depth: int) -> None:
    record = play(Line(), {"agent": "lookahead", "depth": depth}, position="4")
    assert record.actions == ("1",)


class Odd(TicTacToe):
    """Tic-tac-toe with one method spoiled."""

    name = "odd"


def spoiled(method: str, value: Any) -> Game:
    def spoiled(*_: Any) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    kind = type("Spoiled", (Odd,), {method: spoiled})
    game: Game = kind()
    return game


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("actions", {1, 2}),
        ("actions", ()),
        ("returns", (nan, nan)),
        ("returns", (2.0, -2.0)),
        ("returns", (inf, -inf)),
        ("returns", (1.0, 0.0)),
        ("returns", (1.0,)),
        ("format_action", 7),
        ("to_move", 2),
        ("is_terminal", LookupError("no")),
    ],
)
def test_a_broken_game_makes_the_match_void(method: str, value: Any) -> None:
    agents: list[Any] = [Fixed(choice=1), Fixed(choice=1)] if method == "actions" else [First(), First()]
    record = play(spoiled(method, value), agents)
    assert record.termination == "void"
    assert record.seat is None


class Fixed(Agent):
    """Always answers the same."""

    name = "fixed"

    def __init__(self, *, choice: Any) -> None:
        self.choice = choice

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        if isinstance(self.choice, BaseException):
            raise self.choice
        return self.choice

    def solve(self, game: Game, state: Any, search: Search) -> Any:
        return self.choice


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit("no words")


class Hidden:
    def __repr__(self) -> str:
        raise SystemExit("no words")


@pytest.mark.parametrize("choice", [Unspeakable(), Hidden()])
def test_an_agent_loses_even_if_its_fault_cannot_be_printed(choice: Any) -> None:
    record = play(TicTacToe(), [Fixed(choice=choice), First()])
    assert (record.seat, record.returns) == (0, (-1, 1))


class Words(Puzzle):
    """Say anything with an x in it."""

    name = "words"
    path_matters = False

    def initial(self, rng: random.Random) -> str:
        return "a"

    def actions(self, state: str) -> Sequence[str]:
        return ["x", "y"]

    def result(self, state: str, action: str) -> str:
        return state + action

    def is_goal(self, state: str) -> bool:
        return "x" in state

    def format_state(self, state: str) -> str:
        return state


class EvilPath(Path):
    @property
    def actions(self) -> Any:
        raise RuntimeError("gone")

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("found", [EvilPath(), Answer("x", steps="many"), Answer("x", steps=-1), Answer("x", steps=True)])  # type: ignore[arg-type]
def test_a_solution_of_another_make_is_an_illegal_action(found: Any) -> None:
    record = play(Words(), Fixed(choice=found))
    assert (record.termination, record.seat, record.solved) == ("illegal-action", 0, False)


def test_an_answer_that_is_no_unicode_can_be_recorded() -> None:
    """Half a surrogate pair."""
    record = play(Words(), Fixed(choice=Answer("x\ud800")))
    assert record.solved
    assert record.answer == "x\\ud800"


class Dear(Line):
    name = "dear"

    def step_cost(self, state: int, action: int, successor: int) -> float:
        return inf


def test_a_step_without_finite_cost_is_refused() -> None:
    refused = play(Dear(), "a-star", limits={"nodes": 50})
    assert refused.termination == "exception"
    assert "step_cost returned inf" in (refused.message or "")
    assert play(Dear(), Fixed(choice=1)).solved in (True, False)


def test_a_negative_count_of_nodes_is_a_fault() -> None:
    class Cheat(Agent):
        name = "cheat"

        def choose(self, game: Game, state: Any, search: Search) -> Any:
            search.count(-(10**9))

    record = play(TicTacToe(), [Cheat(), First()], limits={"nodes": 10})
    assert (record.termination, record.seat) == ("exception", 0)
    assert record.decisions[0].nodes == 0


PLUGIN = """
from arena import Agent, Game, hookimpl

class Sharer(Agent):
    '''Plays the action that the length of its list says, and makes the list longer.'''
    name = "sharer"

    def __init__(self, *, played: list[int] = [1]):
        self.played = played

    def choose(self, game, state, search):
        self.played.append(1)
        legal = game.actions(state)
        return legal[len(self.played) % len(legal)]

@hookimpl
def arena_agents(): return [Sharer]
"""


@pytest.fixture
def plugin(tmp_path: Any) -> str:
    (tmp_path / "sharing.py").write_text(PLUGIN)
    return str(tmp_path / "sharing.py")


@pytest.mark.parametrize("options", [{}, {"played": [1, 1]}])
def test_changed_options_are_whole_in_the_next_match(plugin: str, options: Any) -> None:
    entry = {"agent": "sharer", **options}
    spec = {"game": "tic-tac-toe", "rounds": 2, "plugins": [plugin], "agents": [entry, "random"]}
    before = {record.id: record.actions for record in run(spec).records}
    after = {record.id: record.actions for record in run({**spec, "agents": ["greedy", entry, "random"]}).records}
    assert {identity: after[identity] for identity in before} == before


def test_seconds_as_a_whole_number_are_the_same_limit() -> None:
    ids = [play("tic-tac-toe", ["random", "random"], limits={"seconds": seconds}).id for seconds in (5, 5.0)]
    assert ids[0] == ids[1]


def test_one_position_has_one_key() -> None:
    """However it is written."""
    ids = [play("tic-tac-toe", ["random", "random"], position=text).id for text in ("x../.../...", " X../.../... ")]
    assert ids[0] == ids[1]
    specs = [
        {"game": "tic-tac-toe", "positions": [text], "agents": ["random", "greedy"]} for text in ("x../.../...", "X../.../...")
    ]
    assert [record.id for record in run(specs[0]).records] == [record.id for record in run(specs[1]).records]


@pytest.mark.parametrize("does", ["count", "depth", "steps"])
def test_a_count_too_large_for_a_record_is_a_fault(does: str) -> None:
    class Boaster(Agent):
        name = "boaster"

        def solve(self, game: Any, state: Any, search: Any) -> Any:
            if does == "count":
                search.count(10**30)
            if does == "depth":
                search.report(None, depth=10**5000)
            return Answer(search.start(), steps=10**30)

    record = play({"name": "n-queens", "n": 4}, [Boaster()])
    assert record.termination == ("illegal-action" if does == "steps" else "exception")
    assert json.dumps(record.as_dict())
