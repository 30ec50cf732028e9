"""The referee: faults of agents, games and puzzles, limits, and the arguments of `play`."""

import gc
import json
import os
import random
import re
import signal
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from math import inf, nan
from pathlib import Path as FilePath
from typing import Any

import pytest

from arena import Answer, Game, OutOfBudget, Path, Puzzle, Refused, Search, SpecError, UnknownName, play, run
from arena.errors import Interrupted
from arena.match.record import Record
from arena_games.sliding_tiles import SlidingTiles
from arena_games.tic_tac_toe import TicTacToe
from tests.conftest import VirtualClock
from tests.players import PLAYERS, First, Scripted, Solver


def raises(error: type[BaseException], *arguments: Any) -> Any:
    def does(game: Game, state: Any, search: Search) -> Any:
        raise error(*arguments)

    return does


class Liar:
    """Claims to equal everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Bomb:
    """Blows up when it is compared or shown."""

    def __eq__(self, other: object) -> bool:
        raise SystemExit(3)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("no")


def lost_by_first(record: Record, reason: str) -> None:
    assert record.termination == reason
    assert record.seat == 0
    assert record.returns == (-1, 1)
    assert record.message


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (None, "illegal-action"),
        (0, "illegal-action"),
        (10, "illegal-action"),
        ("5", "illegal-action"),
        ([1], "illegal-action"),
        (Bomb(), "exception"),
    ],
)
def test_an_illegal_action_loses(choice: Any, reason: str) -> None:
    record = play(TicTacToe(), [Scripted(does=lambda *_: choice), First()])
    lost_by_first(record, reason)
    if reason == "illegal-action":
        assert "expected" in (record.message or "")
    assert record.actions == ()


def test_an_action_that_equals_a_legal_one_is_replaced_by_it() -> None:
    """The object claims to equal everything, and must not enter a state."""
    record = play(TicTacToe(), [Scripted(does=lambda *_: Liar()), First()])
    assert record.termination == "normal"
    assert record.actions[:3] == ("1", "2", "3")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        *((error, "exception") for error in (ValueError, SystemExit, KeyboardInterrupt, GeneratorExit, RecursionError)),
        (OutOfBudget, "exception"),  # an agent cannot claim that its budget is gone when it has none
        (MemoryError, "memory"),
    ],
)
def test_an_agent_that_raises_an_exception_loses(error: type[BaseException], reason: str) -> None:
    """The record has the exception type, the message, the line in this file, and a traceback without frames of the referee."""
    record = play(TicTacToe(), [Scripted(does=raises(error, "oops")), First()])
    lost_by_first(record, reason)
    assert error.__name__ in (record.message or "")
    assert "test_referee.py:" in (record.message or "")
    assert "Traceback" in (record.traceback or "")
    assert "referee.py" not in (record.traceback or "").replace("test_referee.py", "")


def test_a_fault_counts_against_the_seat_that_committed_it() -> None:
    record = play(TicTacToe(), [First(), Scripted(does=raises(ValueError))])
    assert (record.seat, record.returns, record.actions) == (1, (1, -1), ("1",))


def endless(game: Game, state: Any, search: Search) -> Any:
    while True:
        game.result(state, game.actions(state)[0])


def test_an_exhausted_budget_without_a_report_gives_a_random_action() -> None:
    """The action is drawn from the stream of the seat and counted as a fallback."""
    record = play(TicTacToe(), [Scripted(does=endless), First()], limits={"nodes": 10}, seed=1)
    assert record.termination == "normal"
    assert [decision.fallback for decision in record.decisions] == [decision.seat == 0 for decision in record.decisions]
    assert record.fallbacks == sum(decision.seat == 0 for decision in record.decisions)
    assert all(decision.nodes == 10 for decision in record.decisions if decision.seat == 0)
    again = play(TicTacToe(), [Scripted(does=endless), First()], limits={"nodes": 10}, seed=1)
    assert again.actions == record.actions
    assert (
        len({play(TicTacToe(), [Scripted(does=endless), First()], limits={"nodes": 10}, seed=s).actions[0] for s in range(30)})
        > 4
    )


def test_the_last_reported_action_is_played_when_the_budget_runs_out() -> None:
    def reports(action: int) -> Any:
        def does(game: Game, state: Any, search: Search) -> Any:
            if game.to_move(state) == 0 and action in (*game.actions(state), 99):
                search.report(1)
                search.report(action)
            return endless(game, state, search)

        return does

    record = play(TicTacToe(), [Scripted(does=reports(7)), First()], limits={"nodes": 10})
    assert record.actions[0] == "7"
    lost_by_first(play(TicTacToe(), [Scripted(does=reports(99)), First()], limits={"nodes": 10}), "illegal-action")


def test_a_time_budget_ends_a_search(long_margin: None) -> None:
    record = play(TicTacToe(), [Scripted(does=endless), First()], limits={"seconds": 0.02})
    assert record.termination == "normal"
    assert record.fallbacks > 0


def test_an_agent_that_thinks_beyond_its_limit_loses(clock: VirtualClock) -> None:
    """An answer counts up to 0.1 s after the limit."""

    def thinks(seconds: float) -> Any:
        def does(game: Game, state: Any, search: Search) -> Any:
            clock.sleep(seconds)
            return game.actions(state)[0]

        return does

    late = play(TicTacToe(), [Scripted(does=thinks(0.1201)), First()], limits={"seconds": 0.02})
    lost_by_first(late, "timeout")
    in_time = play(TicTacToe(), [Scripted(does=thinks(0.1199)), First()], limits={"seconds": 0.02})
    assert in_time.termination == "normal"
    assert in_time.decisions[0].seconds == pytest.approx(0.1199, abs=1e-6)


def test_a_game_at_the_move_limit_is_a_draw() -> None:
    record = play(TicTacToe(), [First(), First()], limits={"moves": 3})
    assert (record.termination, record.seat, record.returns, record.moves) == ("move-limit", None, (0, 0), 3)


def test_a_win_with_the_last_allowed_move_counts() -> None:
    record = play(TicTacToe(), [First(), First()], limits={"moves": 7})
    assert (record.termination, record.returns) == ("normal", (1, -1))


# Broken games


def spoiled(method: str, value: Any) -> Game:
    def spoiled(*_: Any) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    kind = type("Spoiled", (TicTacToe,), {"name": "spoiled", method: spoiled})
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
def test_an_error_in_the_game_makes_the_match_void(method: str, value: Any) -> None:
    agents: list[Any] = [Scripted(does=lambda *_: 1)] * 2 if method == "actions" else [First(), First()]
    record = play(spoiled(method, value), agents)
    assert record.termination == "void"
    assert record.seat is None


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit("no words")


class Hidden:
    def __repr__(self) -> str:
        raise SystemExit("no words")


@pytest.mark.parametrize("does", [raises(Unspeakable), lambda *_: Hidden()])
def test_an_agent_loses_even_if_its_exception_cannot_be_printed(does: Any) -> None:
    record = play(TicTacToe(), [Scripted(does=does), First()])
    assert (record.seat, record.returns) == (0, (-1, 1))


def test_a_negative_count_of_nodes_is_a_fault() -> None:
    record = play(
        TicTacToe(), [Scripted(does=lambda _game, _state, search: search.count(-(10**9))), First()], limits={"nodes": 10}
    )
    assert (record.termination, record.seat) == ("exception", 0)
    assert record.decisions[0].nodes == 0


# Puzzles


class Corridor(Puzzle):
    """Walk from 0 to 3; -1 and below is a dead end."""

    name = "corridor"

    def initial(self, rng: random.Random) -> int:
        return 0

    def actions(self, state: int) -> Sequence[int]:
        return [] if state < 0 else [1, -1]

    def result(self, state: int, action: int) -> int:
        return state + action

    def is_goal(self, state: int) -> bool:
        return state == 3

    def step_cost(self, state: int, action: int, successor: int) -> float:
        return 2.5


@pytest.mark.parametrize(
    ("found", "solved", "reason"),
    [
        (Path([1, 1, 1]), True, "normal"),
        (Path([1, -1, 1, 1, 1]), True, "normal"),
        (Path([1, 1]), False, "illegal-action"),
        (Path([1, 1, 5]), False, "illegal-action"),
        (Path([-1, 1, 1, 1, 1]), False, "illegal-action"),
        (Path([]), False, "illegal-action"),
        (None, False, "gave-up"),
        (Answer(3), False, "illegal-action"),
        ([1, 1, 1], False, "illegal-action"),
    ],
)
def test_a_path_must_be_legal_and_end_at_a_goal(found: Any, solved: bool, reason: str) -> None:
    record = play(Corridor(), Solver(found=found))
    assert (record.solved, record.termination) == (solved, reason)
    assert record.returns == ((1.0,) if solved else (0.0,))
    if solved:
        assert record.moves == len(found.actions)
        assert record.cost == 2.5 * len(found.actions)
        assert record.actions == tuple(map(str, found.actions))


def test_a_path_longer_than_the_move_limit_is_not_a_solution() -> None:
    record = play(Corridor(), Solver(found=Path([1, 1, 1])), limits={"moves": 2})
    assert (record.termination, record.solved, record.seat) == ("move-limit", False, None)


def test_a_walk_ends_at_a_goal_at_a_dead_end_or_at_the_move_limit() -> None:
    walk = play(Corridor(), First())
    assert (walk.termination, walk.solved, walk.moves, walk.cost) == ("normal", True, 3, 7.5)
    stuck = play(Corridor(), Scripted(does=lambda *_: -1))
    assert (stuck.termination, stuck.solved, stuck.seat, stuck.moves) == ("stuck", False, None, 1)
    limit = play(Corridor(), First(), limits={"moves": 2})
    assert (limit.termination, limit.solved, limit.moves) == ("move-limit", False, 2)


def test_a_puzzle_that_starts_solved_asks_the_agent_for_no_decision() -> None:
    for agent in (Scripted(does=raises(ValueError)), Solver(found=raises(ValueError))):
        record = play(SlidingTiles(), agent, position="1 2 3 / 4 5 6 / 7 8 .")
        assert (record.solved, record.moves, record.cost, record.decisions) == (True, 0, 0, ())


def test_a_solver_out_of_budget_returns_its_last_report() -> None:
    def searches(report: bool) -> Any:
        def does(game: Game, state: Any, search: Search) -> Any:
            if report:
                search.report(Path([1, 1, 1]))
            return endless(game, state, search)

        return does

    exhausted = play(Corridor(), Solver(found=searches(False)), limits={"nodes": 9})
    assert (exhausted.termination, exhausted.seat, exhausted.fallbacks) == ("out-of-budget", 0, 0)
    assert [decision.fallback for decision in exhausted.decisions] == [False], "no action is drawn for a solver"
    assert play(Corridor(), Solver(found=searches(True)), limits={"nodes": 9}).solved


class Numbers(Puzzle):
    """Find 7; only the answer counts."""

    name = "numbers"
    path_matters = False

    def initial(self, rng: random.Random) -> int:
        return 0

    def actions(self, state: int) -> Sequence[int]:
        return range(1, 10) if state == 0 else []

    def result(self, state: int, action: int) -> int:
        return action

    def is_goal(self, state: int) -> bool:
        return state % 10 == 7

    def format_state(self, state: int) -> str:
        return "9" * 70_000 if state == 17 else str(state)


@pytest.mark.parametrize(
    ("found", "solved", "reason"),
    [
        (Answer(7, steps=12), True, "normal"),
        (Answer(6), False, "normal"),
        (Path([7]), True, "normal"),
        (Answer("seven"), False, "illegal-action"),
        (Answer(None), False, "illegal-action"),
    ],
)
def test_an_answer_must_be_a_goal_state(found: Any, solved: bool, reason: str) -> None:
    record = play(Numbers(), Solver(found=found))
    assert (record.solved, record.termination) == (solved, reason)
    if isinstance(found, Answer) and reason == "normal":
        assert (record.answer, record.moves, record.cost) == (str(found.state), found.steps, None)


def test_a_long_answer_is_recorded_as_a_hash() -> None:
    record = play(Numbers(), Solver(found=Answer(17)))
    assert record.solved
    assert record.answer is not None
    assert len(record.answer) < 60


# The framework and the user


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
def test_a_solution_of_the_wrong_type_is_an_illegal_action(found: Any) -> None:
    record = play(Words(), Solver(found=found))
    assert (record.termination, record.seat, record.solved) == ("illegal-action", 0, False)


def test_an_answer_with_invalid_unicode_can_be_recorded() -> None:
    """The answer contains half of a surrogate pair."""
    record = play(Words(), Solver(found=Answer("x\ud800")))
    assert record.solved
    assert record.answer == "x\\ud800"


class Dear(Corridor):
    name = "dear"

    def step_cost(self, state: int, action: int, successor: int) -> float:
        return inf


def test_a_step_with_an_infinite_or_undefined_cost_is_refused() -> None:
    refused = play(Dear(), "a-star", limits={"nodes": 50})
    assert refused.termination == "exception"
    assert "step_cost returned inf" in (refused.message or "")
    assert play(Dear(), Scripted(does=lambda *_: 1)).solved in (True, False)


@pytest.mark.parametrize("does", ["count", "depth", "steps"])
def test_a_count_too_large_for_a_record_is_a_fault(does: str) -> None:
    def found(_game: Game, _state: Any, search: Search) -> Answer:
        if does == "count":
            search.count(10**30)
        if does == "depth":
            search.report(None, depth=10**5000)
        return Answer(search.start(), steps=10**30)

    record = play({"name": "n-queens", "n": 4}, [Solver(found=found)])
    assert record.termination == ("illegal-action" if does == "steps" else "exception")
    assert json.dumps(record.as_dict())


@pytest.mark.process
def test_an_interrupt_is_not_a_fault_of_the_agent() -> None:
    def thinks(game: Game, state: Any, search: Search) -> Any:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                time.sleep(0.005)
        except BaseException:
            pass
        return game.actions(state)[0]

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted):
        play(TicTacToe(), [Scripted(does=thinks), First()])
    assert signal.getsignal(signal.SIGINT) is before


# From Python


def test_play_accepts_names_mappings_instances_positions_and_heuristics() -> None:
    record = play("tic-tac-toe", ["greedy", {"agent": "lookahead", "depth": 1}], position="xo./.../...", heuristics="open-lanes")
    assert record.position == "xo./.../..."
    assert record.labels == ("greedy", "lookahead")
    tiles = play({"name": "sliding-tiles", "rows": 2, "columns": 2}, "lookahead", heuristics=["misplaced"], limits={"moves": 50})
    assert tiles.game == "sliding-tiles"


def test_every_estimate_is_0_if_play_is_called_without_a_heuristic() -> None:
    """The position is one move from the goal, so the Manhattan distance is 1. Without a heuristic, every estimate is 0."""
    seen: list[float] = []

    class Asks(First):
        def choose(self, game: Game, state: Any, search: Search) -> Any:
            seen.append(search.evaluate(state))
            return super().choose(game, state, search)

    for heuristic in (None, "none", {"name": "none"}):
        play("sliding-tiles", Asks(), position="1 2 3 / 4 5 6 / 7 . 8", heuristics=[heuristic], limits={"moves": 1})
    assert [bool(value) for value in seen] == [True, False, False]


def test_play_loads_plugins(tmp_path: FilePath) -> None:
    """The record has the parameters of the game, and a short `repr`."""
    game = {"name": "othello", "size": 4}
    record = play(game, ["last", "greedy"], plugins=[PLAYERS])
    assert record.parameters == {"size": 4}
    returns = ", ".join([f"{value:.0f}" for value in record.returns])
    told = f"of othello(size=4): last - greedy, returns {returns}, normal, {record.moves} moves>"
    assert repr(record) == f"<Record {record.id[:10]} {told}"
    spec = {"game": game, "rounds": 1, "agents": ["random", "greedy"]}
    for results in (run(spec), run(spec, store=tmp_path / "othello.db")):
        assert [one.parameters for one in results.records] == [{"size": 4}] * 2


def test_play_explains_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="2 seats, got 1"):
        play(TicTacToe(), ["random"])
    with pytest.raises(Refused, match="minimax cannot play sliding-tiles: needs two-player, zero-sum"):
        play("sliding-tiles", "minimax")
    with pytest.raises(Refused, match="solver cannot play tic-tac-toe: needs single-player"):
        play(TicTacToe(), [Solver(), First()])
    with pytest.raises(UnknownName, match="manhattan"):
        play("tic-tac-toe", ["greedy", "greedy"], heuristics="manhattan")
    with pytest.raises(ValueError, match="3 rows of 3"):
        play("tic-tac-toe", ["random", "random"], position="x")
    with pytest.raises(ValueError, match="limits: unknown 'node'"):
        play("tic-tac-toe", ["random", "random"], limits={"node": 3})


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"game": {"name": "othello", "size": 5}}, "game.size"),
        ({"game": {"name": "othello", "size": "large"}}, "game.size"),
        ({"game": {"name": "othello", "sise": 4}}, "game.sise"),
        ({"agents": ["random", {"agent": "alpha-beta", "depth": 0, "table": "much"}]}, "agents[1].depth"),
        ({"agents": [{"agent": "alpha-beta", "dept": 3}, "random"]}, "agents[0].dept"),
    ],
)
def test_play_refuses_parameters_as_a_spec_does(changed: dict[str, Any], where: str) -> None:
    asked = {"game": "tic-tac-toe", "agents": ["random", {"agent": "random", "label": "other"}], **changed}
    with pytest.raises(SpecError) as spec:
        run(asked)
    agents = [agent if changed.get("agents") else "random" for agent in asked["agents"]]
    with pytest.raises(ValueError, match=re.escape(where)) as played:
        play(asked["game"], agents)
    assert str(played.value).split("\n") == [f"{fault.where}: {fault.message}" for fault in spec.value.faults]


def test_play_refuses_parameters_of_a_heuristic() -> None:
    with pytest.raises(ValueError, match=r"heuristics\[0\].greed: unknown key; no keys are expected here"):
        play("tic-tac-toe", ["greedy", "greedy"], heuristics=[{"name": "open-lanes", "greed": 1}, None])


def test_a_seed_determines_a_record() -> None:
    """The global random generator has no influence."""
    random.seed(1)
    one = play("tic-tac-toe", ["random", "greedy"], seed=3)
    random.seed(2)
    assert play("tic-tac-toe", ["random", "greedy"], seed=3).timeless() == one.timeless()
    assert len({play("tic-tac-toe", ["random", "greedy"], seed=seed).actions for seed in range(20)}) > 10


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Disable garbage collection."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_objects_of_a_match_are_freed_at_its_end() -> None:
    """Reference counting alone frees them, without the garbage collector."""
    met: list[weakref.ref[Any]] = []

    class Watched(First):
        def choose(self, game: Game, state: Any, search: Search) -> Any:
            met.extend([weakref.ref(game), weakref.ref(search.rng)])
            return search.rng.choice(game.actions(state))

    assert play(TicTacToe(), [Watched(), Watched()]).termination == "normal"
    assert met
    assert not [one for one in met if one() is not None]
