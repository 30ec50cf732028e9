"""The services of a search for one decision: evaluation, ties, iterative deepening, the common start."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from arena import Agent, Answer, Game, Limits, Puzzle, Search, heuristic, play
from arena.counting import Meter, counting_view
from arena.errors import OutOfBudget
from arena.heuristics import bind
from arena.identity import Stream
from arena.search import SharedStart
from arena_games.sliding_tiles import Manhattan, SlidingTiles
from arena_games.tic_tac_toe import OpenLanes, TicTacToe
from tests.players import First


def search_on(game: Game, evaluation: Any = None, **limits: Any) -> tuple[Game, Search]:
    bounds = Limits(**limits)
    meter = Meter()
    meter.begin(bounds.nodes, bounds.seconds)
    view = counting_view(game, meter)
    return view, Search(view, evaluation, bounds, meter, Stream("seat"), SharedStart(game, Stream("start")))


def test_evaluate_of_a_game_is_the_return_or_the_heuristic() -> None:
    game = TicTacToe()
    _, search = search_on(game, bind(OpenLanes, game))
    won = game.parse_state("xxx/oo./...")
    assert (search.evaluate(won, 0), search.evaluate(won, 1)) == (1, -1)
    assert search.evaluate(game.parse_state(".../.x./..."), 0) == pytest.approx(0.4)
    assert search_on(game)[1].evaluate(game.parse_state(".../.x./..."), 0) == 0.0
    assert search.evaluations == 3


class Trap(Puzzle):
    """From 0 to the goal 1, to the dead end 2, or to 3, which leads to 1."""

    name = "trap"

    def initial(self, rng: random.Random) -> int:
        return 0

    def actions(self, state: int) -> Sequence[int]:
        return {0: [1, 2, 3], 3: [1]}.get(state, [])

    def result(self, state: int, action: int) -> int:
        return action

    def is_goal(self, state: int) -> bool:
        return state == 1


@heuristic("steps", game="trap")
def steps(game: Game, state: int, player: int = 0) -> float:
    """The number of actions to the goal."""
    return {0: 1, 1: 0, 2: 5, 3: 1}[state]


def test_evaluate_of_a_puzzle_is_minus_the_heuristic() -> None:
    """The value is 0 at a goal and minus infinity at a dead end."""
    game = Trap()
    _, search = search_on(game, bind(steps, game))
    assert [search.evaluate(state) for state in range(4)] == [-1, 0, float("-inf"), -1]
    assert [search.cost_to_go(state) for state in range(4)] == [1, 0, 5, 1]
    _, blind = search_on(game)
    assert [blind.evaluate(state) for state in range(4)] == [0, 0, float("-inf"), 0]
    assert blind.cost_to_go(0) == 0


def test_best_breaks_ties_at_random() -> None:
    """Each of three items is chosen about 1,000 times in 3,000 calls (5 sigma). A single best item draws no random number."""
    _, search = search_on(TicTacToe())
    assert search.best([3, 9, 4], key=lambda n: n) == 9
    assert isinstance(search.rng, Stream)
    counts = dict.fromkeys("abc", 0)
    for _ in range(3000):
        counts[search.best("abcd", key=lambda item: item != "d")] += 1
    assert all(870 <= count <= 1130 for count in counts.values())


@pytest.mark.parametrize("items", [[], [float("nan")]])
def test_best_without_items_is_an_error(items: list[float]) -> None:
    _, search = search_on(TicTacToe())
    with pytest.raises(ValueError, match=r"empty|compared"):
        search.best(items, key=lambda item: item)


def deepened(search: Search, work: Callable[[int], Any]) -> Iterator[int]:
    for depth in search.depths():
        work(depth)
        yield depth


def test_deepening_stops_at_the_depth_limit() -> None:
    view, search = search_on(TicTacToe(), depth=3)
    assert list(deepened(search, lambda depth: [view.result((0, 0), 1) for _ in range(depth)])) == [1, 2, 3]


def test_deepening_stops_after_an_exact_report() -> None:
    view, search = search_on(TicTacToe())

    def work(depth: int) -> None:
        search.report(1, value=depth, exact=depth == 4)
        [view.result((0, 0), 1) for _ in range(depth)]

    assert list(deepened(search, work)) == [1, 2, 3, 4]


def test_deepening_stops_if_two_iterations_found_the_same() -> None:
    view, search = search_on(TicTacToe())
    used = {1: (1, 0, 0.1), 2: (2, 0, 0.1), 3: (2, 1, 0.1), 4: (2, 1, 0.2), 5: (2, 1, 0.2)}

    def work(depth: int) -> None:
        nodes, evaluations, value = used[depth]
        [view.result((0, 0), 1) for _ in range(nodes)]
        [search.evaluate((0, 0)) for _ in range(evaluations)]
        search.report(1, value=value)

    assert list(deepened(search, work)) == [1, 2, 3, 4, 5]


class Deepening(Agent):
    """Full-width search to each depth in turn, reporting values but never that one is exact: as an author would write it."""

    name = "deepening"

    def choose(self, game: Game, state: Any, search: Search) -> Any:
        def value(state: Any, depth: int) -> float:
            mover = game.to_move(state)
            if depth == 0 or game.is_terminal(state):
                return search.evaluate(state, mover)
            return max(-value(game.result(state, action), depth - 1) for action in game.actions(state))

        best = None
        for depth in search.depths():
            values = {action: -value(game.result(state, action), depth - 1) for action in game.actions(state)}
            best = max(values, key=lambda action: values[action])
            search.report(best, value=values[best], depth=depth)
        return best


def test_deepening_stops_at_the_value_of_perfect_play(open_positions: list[Any]) -> None:
    """The positions have at most five empty cells."""
    game = TicTacToe()
    known: dict[Any, float] = {}

    def perfect(state: Any) -> float:
        if state not in known:
            mover = game.to_move(state)
            over = game.is_terminal(state)
            known[state] = (
                game.returns(state)[mover] if over else max(-perfect(game.result(state, a)) for a in game.actions(state))
            )
        return known[state]

    for state in [state for state in open_positions if len(game.actions(state)) <= 5][::10]:
        view, search = search_on(game, bind(OpenLanes, game))
        Deepening().choose(view, state, search)
        assert search.value == perfect(state)
        assert search.depth is not None
        assert search.depth <= len(game.actions(state)) + 2


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
def test_deepening_follows_forced_lines_to_their_end(agent: Any) -> None:
    """Two equal iterations do not stop the search."""
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
def test_lookahead_moves_to_a_goal_within_its_depth(depth: int) -> None:
    record = play(Line(), {"agent": "lookahead", "depth": depth}, position="4")
    assert record.actions == ("1",)


def test_a_record_has_the_last_report() -> None:
    class Reporter(Agent):
        name = "reporter"

        def choose(self, game: Game, state: Any, search: Search) -> Any:
            for depth, action in enumerate(game.actions(state), 1):
                search.report(action, value=depth / 10, depth=depth, line=[action])
            return game.actions(state)[0]

    record = play(TicTacToe(), [Reporter(), "random"])
    assert (record.decisions[0].depth, record.decisions[0].value) == (9, 0.9)


class Guess(Puzzle):
    """Find 77 among a hundred numbers: complete states only."""

    name = "guess"
    path_matters = False

    def initial(self, rng: random.Random) -> int:
        return -1

    def actions(self, state: int) -> Sequence[int]:
        return range(100) if state < 0 else []

    def result(self, state: int, action: int) -> int:
        return action

    def is_goal(self, state: int) -> bool:
        return state == 77

    def random_state(self, rng: random.Random) -> int:
        return rng.randrange(100)

    def neighbors(self, state: int) -> list[int]:
        return [(state + 1) % 100]


class Starter(Agent):
    """Returns the common initial state as its answer, whatever it is."""

    def __init__(self, *, draws: int = 0) -> None:
        self.draws = draws

    def solve(self, game: Game, state: Any, search: Search) -> Answer:
        for _ in range(self.draws):
            search.rng.random()
        assert search.start() == search.start()
        return Answer(search.start(), steps=0)


def test_all_agents_of_a_round_start_from_the_same_complete_state() -> None:
    """It is drawn from the stream of the position, not of the seat."""
    one = play(Guess(), Starter(), seed=5)
    other = play(Guess(), Starter(draws=7), seed=5)
    assert one.id != other.id
    assert one.answer == other.answer
    assert len({play(Guess(), Starter(), seed=seed).answer for seed in range(20)}) > 10
    assert one.decisions[0].nodes == 0


def test_a_game_without_complete_states_has_no_common_start() -> None:
    for game in (TicTacToe(), SlidingTiles()):
        _, search = search_on(game, bind(Manhattan, game) if isinstance(game, SlidingTiles) else None)
        with pytest.raises(TypeError, match="random_state"):
            search.start()


def test_search_count_adds_nodes_and_applies_the_limit() -> None:
    _, search = search_on(TicTacToe(), nodes=10)
    search.count(4)
    assert search.nodes == 4
    with pytest.raises(BaseException, match="nodes"):
        search.count(7)
    assert search.nodes == 10


def test_nodes_are_limited_to_the_largest_count_of_a_record() -> None:
    game, search = search_on(TicTacToe())
    search.count(Limits.MAX_COUNT)
    for claim in (lambda: search.count(Limits.MAX_COUNT), lambda: search.count(1), lambda: game.result((0, 0), 1)):
        with pytest.raises(ValueError, match=r"^expected at most 1,000,000,000,000,000 nodes in a decision, got [12],000"):
            claim()
        assert search.nodes == Limits.MAX_COUNT
    for nodes in (10, 10**18):
        _, limited = search_on(TicTacToe(), nodes=nodes)
        limited.count(most := min(nodes, Limits.MAX_COUNT))
        with pytest.raises(OutOfBudget):
            limited.count(Limits.MAX_COUNT)
        assert limited.nodes == most


def test_a_refused_report_keeps_the_previous_one() -> None:
    _, search = search_on(TicTacToe())
    search.report(1, value=-0.0, depth=Limits.MAX_COUNT)
    for said in ({"depth": -1}, {"depth": Limits.MAX_COUNT + 1}, {"depth": 1.5}, {"value": 10**400}, {"value": "good"}):
        with pytest.raises(ValueError, match=r"^expected a (whole number of plies from 0 to|value in the range of a float)"):
            search.report(2, **said)
    with pytest.raises(AttributeError):
        search.value = 3.0  # type: ignore[misc]
    assert (search.best_action, search.value, search.depth, search.reported) == (1, 0.0, Limits.MAX_COUNT, True)
    search.report(2, value=float("-inf"))
    assert (search.best_action, search.value, search.depth) == (2, None, None)
