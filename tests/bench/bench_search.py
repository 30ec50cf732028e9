"""Compares the searches, which use the counting view, with hand-written twins and with other libraries (peers).

A twin is a function that knows its puzzle and does nothing but the search: it has no rules, no counting and no limits. If a
twin and an agent visit the same states, the ratio of their times shows the costs of a general search.

The figures are ratios within one run, or are compared with fixed bounds. Peers that are not installed are skipped. simpleai and
OpenSpiel come with the extra `bench`. aima3 requires a networkx of 2016 and all of Jupyter, although its searches use neither of
them. To compare with aima3, run `pip install --no-deps aima3`.
"""

import ctypes
import random
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from arena import Agent, Answer, Game, Limits, Puzzle
from arena.counting import Meter, counting_view
from arena.heuristics import Evaluation, bind
from arena.identity import Stream
from arena.search import Search, SharedStart
from arena_agents.best_first import AStar
from arena_agents.depth_first import DepthFirst, IdaStar
from arena_agents.local_search import HillClimb, MinConflicts
from arena_agents.mcts import MCTS
from arena_games.connect_four import ConnectFour
from arena_games.n_queens import NQueens, conflicts
from arena_games.sliding_tiles import Manhattan, SlidingTiles
from arena_games.sudoku import Sudoku
from tests.bench.twin import library

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

HARD = Path(__file__).parents[2] / "tournaments" / "positions" / "sudoku-hard.txt"
FIFTEEN = (1, 3, 5, 6, 9)
"""Seeds of positions that are 100 random moves from the goal and take 10,000 to 330,000 nodes each."""
CLIMBS = 500
SIDEWAYS = 100
REPAIRS = 20
PEERED = 8
STEPS = 1000
SIMULATIONS = 500
EXPLORATION = 1.414


def decision(game: Game, state: Any, purpose: str, evaluation: Evaluation | None = None) -> tuple[Game, Search]:
    """Return the counting view of a game and the search object for one decision, as the referee makes them."""
    meter, stream = Meter(), Stream(purpose)
    view = counting_view(game, meter)
    return view, Search(view, evaluation, Limits(), meter, stream, SharedStart(game, Stream(f"{purpose} start")))


def solve(game: Game, agent: Agent, state: Any, purpose: str, evaluation: Evaluation | None = None) -> tuple[Any, int]:
    """Return the solution that an agent finds from a state, and the number of nodes."""
    view, search = decision(game, state, purpose, evaluation)
    found = agent.solve(view, state, search)
    return found, search.nodes


def slides(width: int) -> list[list[tuple[int, int]]]:
    """Return, for every cell, the neighbours from which a tile can slide there, each with the direction of the blank."""
    places = [divmod(cell, width) for cell in range(width * width)]
    return [
        [
            (r * width + c, direction)
            for direction, (r, c) in enumerate([(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)])
            if 0 <= r < width and 0 <= c < width
        ]
        for row, column in places
    ]


def gains(width: int) -> list[list[list[int]]]:
    """Return the changes of the Manhattan distance, by tile, old cell and new cell. The goal has the blank last."""
    cells = range(width * width)

    def away(tile: int, cell: int) -> int:
        home = tile - 1
        return abs(home // width - cell // width) + abs(home % width - cell % width) if tile else 0

    return [[[away(tile, target) - away(tile, cell) for target in cells] for cell in cells] for tile in cells]


def manhattan(state: Sequence[int], width: int) -> int:
    """Return the Manhattan distance of a state to the goal that has the blank last."""
    places = [(divmod(tile - 1, width), divmod(cell, width)) for cell, tile in enumerate(state) if tile]
    return sum(abs(home[0] - place[0]) + abs(home[1] - place[1]) for home, place in places)


EIGHT_SLIDES, EIGHT_GAINS = slides(3), gains(3)
FIFTEEN_SLIDES, FIFTEEN_GAINS = slides(4), gains(4)


def inlined_a_star(start: tuple[int, ...], goal: tuple[int, ...]) -> int:
    """Return the length of a shortest solution of an 8-puzzle, found by A* with tuples, a heap and a dict."""
    beside, change = EIGHT_SLIDES, EIGHT_GAINS
    estimate = manhattan(start, 3)
    best = {start: 0}
    heap = [(estimate, 0, start, estimate)]
    while heap:
        _, minus_g, state, h = heappop(heap)
        g = -minus_g
        if best[state] < g:
            continue
        if state == goal:
            return g
        cost = g + 1
        blank = state.index(0)
        for cell, _ in beside[blank]:
            tiles = list(state)
            tile = tiles[blank] = state[cell]
            tiles[cell] = 0
            successor = tuple(tiles)
            if cost < best.get(successor, 1000):
                best[successor] = cost
                estimate = h + change[tile][cell][blank]
                heappush(heap, (cost + estimate, -cost, successor, estimate))
    raise AssertionError("every position given has a solution")


def inlined_ida_star(start: Sequence[int]) -> tuple[int, int]:
    """Return the length of a shortest solution of a 15-puzzle, and the number of nodes. IDA* finds it on a single list, with
    incremental distances.
    """
    tiles, blank = list(start), start.index(0)
    bound = manhattan(start, 4)
    nodes = 0
    beside, change = FIFTEEN_SLIDES, FIFTEEN_GAINS

    def within(blank: int, back: int, h: int, left: int) -> int:
        nonlocal nodes
        least = 1000
        for cell, direction in beside[blank]:
            if direction == back:
                continue
            nodes += 1
            tile = tiles[cell]
            estimate = h + change[tile][cell][blank]
            over = estimate + 1 - left
            if over <= 0:
                if not estimate:
                    return 0
                tiles[blank], tiles[cell] = tile, 0
                over = within(cell, 3 - direction, estimate, left - 1)
                tiles[cell], tiles[blank] = tile, 0
                if not over:
                    return 0
            if over < least:  # noqa: PLR1730 - a call of min takes longer
                least = over
        return least

    while over := within(blank, -1, manhattan(start, 4), bound):
        bound += over
    return bound, nodes


def inlined_climb(start: Sequence[int], rng: random.Random) -> int:
    """Return the number of attacking pairs at which a climb on 8 queens ends.

    It is a steepest ascent with up to 100 consecutive sideways moves; among equal moves, it draws one.
    """
    n = len(start)
    rows = [row - 1 for row in start]
    level, rising, falling = [0] * n, [0] * (2 * n), [0] * (2 * n)
    cost, left = 0, SIDEWAYS
    for column, row in enumerate(rows):
        cost += level[row] + rising[row + column] + falling[row - column]
        level[row] += 1
        rising[row + column] += 1
        falling[row - column] += 1
    while cost:
        lowest = n * n
        best: list[tuple[int, int]] = []
        for column, row in enumerate(rows):
            here = level[row] + rising[row + column] + falling[row - column] - 3
            for target in range(n):
                if target == row:
                    continue
                change = level[target] + rising[target + column] + falling[target - column] - here
                if change < lowest:
                    lowest, best = change, [(column, target)]
                elif change == lowest:
                    best.append((column, target))
        if lowest > 0 or (lowest == 0 and not left):
            break
        left = SIDEWAYS if lowest < 0 else left - 1
        column, target = rng.choice(best)
        row, rows[column] = rows[column], target
        for at, by in ((row, -1), (target, 1)):
            level[at] += by
            rising[at + column] += by
            falling[at - column] += by
        cost += lowest
    return cost


def inlined_repair(n: int, rng: random.Random) -> list[int]:
    """Return the rows (from 0) of n queens without attacks. Swaps in a permutation reduce the attacks (Sosic and Gu)."""
    draw = rng.random
    while True:
        rows = list(range(n))
        rng.shuffle(rows)
        rising, falling = [0] * (2 * n), [0] * (2 * n)
        for column, row in enumerate(rows):
            rising[row + column] += 1
            falling[row - column] += 1
        for _ in range(100):
            attacked = 0
            for column in range(n):
                row = rows[column]
                attacks = (rising[row + column] > 1) + (falling[row - column] > 1)
                if not attacks:
                    continue
                attacked += 1
                for _ in range(200):
                    other = int(draw() * n)
                    target = rows[other]
                    before = attacks + (rising[target + other] > 1) + (falling[target - other] > 1)
                    after = (rising[target + column] > 0) + (falling[target - column] > 0)
                    after += (rising[row + other] > 0) + (falling[row - other] > 0)
                    if after < before and other != column:
                        for at, on, by in ((column, row, -1), (other, target, -1), (column, target, 1), (other, row, 1)):
                            rising[on + at] += by
                            falling[on - at] += by
                        rows[column], rows[other] = target, row
                        break
            if not attacked:
                return rows


def inlined_sudoku(text: str) -> str:
    """Return the solution of a sudoku. A depth-first search uses bit masks and fills the cell with the fewest candidates first.

    Unlike the game, it does not look for digits with a single place left. So it visits more grids, but each takes less time.
    """
    every = 0x1FF
    rows, columns, boxes = [every] * 9, [every] * 9, [every] * 9
    units = [(cell // 9, cell % 9, cell // 27 * 3 + cell % 9 // 3) for cell in range(81)]
    marks = list(text)
    empty = []
    for cell, mark in enumerate(text):
        row, column, box = units[cell]
        if mark == ".":
            empty.append(cell)
        else:
            bit = 1 << int(mark) - 1
            rows[row] ^= bit
            columns[column] ^= bit
            boxes[box] ^= bit

    def fill() -> bool:
        fewest, place, choice = 10, -1, 0
        for index, cell in enumerate(empty):
            row, column, box = units[cell]
            free = rows[row] & columns[column] & boxes[box]
            candidates = free.bit_count()
            if candidates < fewest:
                fewest, place, choice = candidates, index, free
                if candidates < 2:
                    break
        if place < 0:
            return True
        if not choice:
            return False
        cell = empty[place]
        empty[place] = empty[-1]
        empty.pop()
        row, column, box = units[cell]
        while choice:
            bit = choice & -choice
            choice ^= bit
            rows[row] ^= bit
            columns[column] ^= bit
            boxes[box] ^= bit
            marks[cell] = str(bit.bit_length())
            if fill():
                return True
            rows[row] ^= bit
            columns[column] ^= bit
            boxes[box] ^= bit
        empty.append(cell)
        empty[place], empty[-1] = empty[-1], empty[place]
        return False

    assert fill()
    return "".join(marks)


def test_a_star_on_the_8_puzzle(bench: "Bench") -> None:
    """A* with Manhattan distance takes at most 10 ms per random 8-puzzle (the mean of 50). Its solutions are as short as the
    twin's.
    """
    game, agent = SlidingTiles(), AStar()
    evaluation = bind(Manhattan, game)
    positions = [game.initial(random.Random(number)) for number in range(50)]
    goal = tuple(game.goal)

    def ours() -> list[int]:
        return [len(solve(game, agent, state, "a-star", evaluation)[0].actions) for state in positions]

    def theirs() -> list[int]:
        return [inlined_a_star(tuple(state), goal) for state in positions]

    assert ours() == theirs()
    timings = bench.in_turns(ours, theirs, rounds=5)
    mean, twin = [seconds / len(positions) * 1e3 for seconds in timings.best]
    bench.at_most(5, "8-puzzle, a-star / in-lined A*", timings.ratio, "x")
    bench.at_most(10, "8-puzzle, a-star, each", mean, " ms", twin=f"{twin:.2f} ms")


def test_ida_star_on_the_15_puzzle(bench: "Bench") -> None:
    """IDA* with Manhattan distance generates at least 0.8 million nodes per second on the 15-puzzle."""
    game, agent = SlidingTiles(rows=4, columns=4, shuffle=100), IdaStar()
    evaluation = bind(Manhattan, game)
    positions = [game.initial(random.Random(number)) for number in FIFTEEN]

    def ours() -> list[tuple[Any, int]]:
        return [solve(game, agent, state, "ida-star", evaluation) for state in positions]

    def theirs() -> list[tuple[int, int]]:
        return [inlined_ida_star(state) for state in positions]

    found, expected = ours(), theirs()
    assert [len(path.actions) for path, _ in found] == [length for length, _ in expected]
    nodes, twin_nodes = [sum(used for _, used in one) for one in (found, expected)]
    timings = bench.in_turns(ours, theirs, rounds=10)
    rate, twin_rate = [total / seconds / 1e6 for total, seconds in zip((nodes, twin_nodes), timings.best, strict=True)]
    details = {"nodes": str(nodes), "twin": f"{twin_rate:.2f} million/s", "its_nodes": str(twin_nodes)}
    bench.at_most(8, "15-puzzle, ida-star / in-lined IDA*", timings.ratio, "x")
    bench.at_least(0.8, "15-puzzle, ida-star, nodes", rate, " million/s", **details)


def test_climbs_on_8_queens(bench: "Bench") -> None:
    """A climb with random sideways moves on 8 queens takes at most 6 ms, so that 10,000 take a minute."""
    game, agent = NQueens(n=8), HillClimb(sideways=SIDEWAYS, choice="random")
    empty = game.initial(random.Random(0))

    def ours() -> int:
        answers = [solve(game, agent, empty, f"climb {number}")[0] for number in range(CLIMBS)]
        return sum(game.is_goal(answer.state) for answer in answers)

    def theirs() -> int:
        generators = [random.Random(number) for number in range(CLIMBS)]
        return sum(inlined_climb(game.random_state(rng), rng) == 0 for rng in generators)

    shares = [100 * solved() / CLIMBS for solved in (ours, theirs)]
    assert min(shares) > 85
    timings = bench.in_turns(ours, theirs, rounds=3)
    climb, twin = [seconds / CLIMBS * 1e3 for seconds in timings.best]
    details = {"twin": f"{twin:.2f} ms", "solved": f"{shares[0]:.1f} %", "by_the_twin": f"{shares[1]:.1f} %"}
    bench.at_most(5, "8 queens, hill-climb / in-lined climb", timings.ratio, "x")
    bench.at_most(6, "8 queens, hill-climb, each", climb, " ms", **details)


def test_min_conflicts_on_1000_queens(bench: "Bench") -> None:
    """Min-conflicts solves 1,000 queens within 15 ms (the mean of 20). The aim is 10 ms."""
    game, agent = NQueens(n=1000), MinConflicts()
    empty = game.initial(random.Random(0))

    def ours() -> list[Answer]:
        return [solve(game, agent, empty, f"repair {number}")[0] for number in range(REPAIRS)]

    def theirs() -> list[list[int]]:
        return [inlined_repair(game.n, random.Random(number)) for number in range(REPAIRS)]

    assert all(game.is_goal(answer.state) for answer in ours())
    assert all(game.is_goal(tuple([row + 1 for row in rows])) for rows in theirs())
    timings = bench.in_turns(ours, theirs, rounds=7)
    mean, twin = [seconds / REPAIRS * 1e3 for seconds in timings.best]
    details = {"twin": f"{twin:.2f} ms", "ratio": f"{timings.ratio:.2f}x"}
    bench.at_most(15, "1,000 queens, min-conflicts, each (aim: 10 ms)", mean, " ms", **details)


def test_min_conflicts_on_many_queens(bench: "Bench", tmp_path: Path) -> None:
    """For a million queens, it finds the same solution as C with as many nodes, in at most 40 times the time."""
    solver, n = library("queens", tmp_path), 1_000_000
    solver.solve.restype = ctypes.c_long
    game, found = NQueens(n=n, start="greedy"), (ctypes.c_int * n)()

    def theirs() -> int:
        start, search = [(ctypes.c_uint32 * 625)(*Stream(name).getstate()[1]) for name in ("many start", "many")]
        nodes: int = solver.solve(n, start, search, found)
        return nodes

    answer, nodes = solve(game, MinConflicts(), (), "many")
    assert game.is_goal(answer.state)
    assert nodes == theirs()
    assert answer.state == tuple(found)
    timings = bench.in_turns(lambda: solve(game, MinConflicts(), (), "many"), theirs, rounds=2)
    bench.at_most(40, "1,000,000 queens, min-conflicts / C", timings.ratio, "x", each=f"{timings.best[0]:.1f} s")


def test_depth_first_on_hard_sudokus(bench: "Bench") -> None:
    """Depth-first search with the most constrained cell takes at most 20 ms for a hard sudoku (the mean of 100)."""
    game, agent = Sudoku(), DepthFirst(visited=False)
    texts = [line.strip() for line in HARD.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    positions = [game.parse_state(text) for text in texts]

    def ours() -> list[tuple[Any, int]]:
        return [solve(game, agent, state, "dfs") for state in positions]

    def theirs() -> list[str]:
        return [inlined_sudoku(text) for text in texts]

    found = ours()
    assert len(found) == 100
    ends = [replayed(game, state, path.actions) for state, (path, _) in zip(positions, found, strict=True)]
    assert [game.format_state(end) for end in ends] == theirs()
    timings = bench.in_turns(ours, theirs, rounds=3)
    mean, twin = [seconds / len(texts) * 1e3 for seconds in timings.best]
    nodes = sum(used for _, used in found) / len(texts)
    bench.at_most(1, "sudoku, dfs / in-lined bit masks", timings.ratio, "x")
    bench.at_most(20, "sudoku, dfs, each", mean, " ms", twin=f"{twin:.2f} ms", nodes=f"{nodes:.0f}")


def replayed(game: Puzzle, state: Any, actions: Sequence[Any]) -> Any:
    """Return the state to which actions lead."""
    for action in actions:
        state = game.result(state, action)
    return state


class Peered:
    """A puzzle in the form that simpleai and aima3 need. Rules and estimate are the same, so only the searches differ."""

    def __init__(self, puzzle: Puzzle, start: Any, estimate: Evaluation) -> None:
        self.actions, self.result = puzzle.actions, puzzle.result
        self.is_goal = self.goal_test = puzzle.is_goal
        self.initial_state = self.initial = start
        self.heuristic = estimate

    def cost(self, state: Any, action: Any, successor: Any) -> float:
        """Return the cost of a step, for simpleai."""
        return 1

    def path_cost(self, cost: float, state: Any, action: Any, successor: Any) -> float:
        """Return the cost of a path, for aima3."""
        return cost + 1

    def h(self, node: Any) -> float:
        """Return the estimate for aima3, which passes a node."""
        return self.heuristic(node.state)


class Climbed:
    """8 queens in the form that simpleai's hill climbing needs: an action is the state to which it leads."""

    def __init__(self, queens: NQueens, start: Any) -> None:
        self.actions, self.initial_state = queens.neighbors, start
        self.value = lambda state: -conflicts(queens, state)

    def result(self, state: Any, action: Any) -> Any:
        """Return the action itself, because it is the new state."""
        return action

    def cost(self, state: Any, action: Any, successor: Any) -> float:
        """Return a cost, which only simpleai needs."""
        return 1


@pytest.mark.parametrize("name", ["simpleai.search", "aima3.search"])
def test_a_star_is_faster_than_its_peers(name: str, bench: "Bench") -> None:
    """A* on 8-puzzles takes at most a tenth of the time of simpleai or aima3, with the same rules and the same estimate."""
    peer = pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)
    game, agent = SlidingTiles(), AStar()
    evaluation = bind(Manhattan, game)
    positions = [game.initial(random.Random(number)) for number in range(PEERED)]

    def ours() -> list[int]:
        return [len(solve(game, agent, state, "a-star", evaluation)[0].actions) for state in positions]

    def theirs() -> list[int]:
        problems = [Peered(game, state, evaluation) for state in positions]
        if name == "simpleai.search":
            return [len(peer.astar(problem, graph_search=True).path()) - 1 for problem in problems]
        return [len(peer.astar_search(problem).solution()) for problem in problems]

    expected = ours()
    assert all(found >= shortest for found, shortest in zip(theirs(), expected, strict=True))
    timings = bench.in_turns(ours, theirs, rounds=3)
    mean, peers = [f"{seconds / len(positions) * 1e3:.2f} ms" for seconds in timings.best]
    bench.at_least(10, f"8-puzzle, a-star against {name}", 1 / timings.ratio, "x", each=mean, peer=peers)


def test_climbs_are_faster_than_simpleai(bench: "Bench") -> None:
    """Both climb on 8 queens without sideways moves, from the same boards."""
    peer = pytest.importorskip("simpleai.search", reason="simpleai is not installed", exc_type=ImportError)
    game, agent = NQueens(n=8), HillClimb()
    starts = [game.random_state(random.Random(number)) for number in range(CLIMBS)]
    empty = game.initial(random.Random(0))

    def ours() -> int:
        return sum(game.is_goal(solve(game, agent, empty, f"climb {number}")[0].state) for number in range(CLIMBS))

    def theirs() -> int:
        return sum(game.is_goal(peer.hill_climbing(Climbed(game, start)).state) for start in starts)

    shares = [100 * solved() / CLIMBS for solved in (ours, theirs)]
    assert all(8 < share < 20 for share in shares)
    timings = bench.in_turns(ours, theirs, rounds=3)
    mean, peers = [f"{seconds / CLIMBS * 1e3:.2f} ms" for seconds in timings.best]
    bench.at_least(1, "8 queens, hill-climb against simpleai", 1 / timings.ratio, "x", each=mean, peer=peers)


@pytest.mark.parametrize(("n", "repairs", "least"), [(8, 200, 0.5), (200, 10, 5)])
def test_min_conflicts_against_aima(n: int, repairs: int, least: float, bench: "Bench") -> None:
    """Compare min-conflicts with aima3's class for queens. It is as fast for 8 queens, where the setup takes most of the time,
    and faster for 200.
    """
    peer = pytest.importorskip("aima3.csp", reason="aima3 is not installed", exc_type=ImportError)
    game, agent = NQueens(n=n), MinConflicts()
    empty = game.initial(random.Random(0))

    def ours() -> list[bool]:
        return [game.is_goal(solve(game, agent, empty, f"repair {number}")[0].state) for number in range(repairs)]

    def theirs() -> None:
        for _ in range(repairs):
            while peer.min_conflicts(peer.NQueensCSP(n), STEPS) is None:
                pass  # sometimes the search is stuck, and gives up only after 100,000 steps by default

    assert all(ours())
    timings = bench.in_turns(ours, theirs, rounds=3)
    mean, peers = [f"{seconds / repairs * 1e3:.3f} ms" for seconds in timings.best]
    bench.at_least(least, f"{n} queens, min-conflicts against AIMA", 1 / timings.ratio, "x", each=mean, peer=peers)


def test_mcts_is_as_fast_as_open_spiel(bench: "Bench") -> None:
    """On connect four, MCTS makes as many simulations per second as OpenSpiel's MCTS in Python, whose states are in C++."""
    peer = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed", exc_type=ImportError)
    numpy = pytest.importorskip("numpy", reason="OpenSpiel's mcts needs numpy", exc_type=ImportError)
    mcts = pytest.importorskip("open_spiel.python.algorithms.mcts", reason="OpenSpiel lacks it", exc_type=ImportError)
    game, agent = ConnectFour(), MCTS(exploration=EXPLORATION, rollouts=SIMULATIONS)
    empty = game.initial(random.Random(0))
    board = peer.load_game("connect_four")
    numbers, theirs_numbers = count(), count()

    def ours() -> None:
        view, search = decision(game, empty, f"mcts {next(numbers)}")
        agent.choose(view, empty, search)

    def theirs() -> int:
        rng = numpy.random.RandomState(next(theirs_numbers))
        bot = mcts.MCTSBot(board, EXPLORATION, SIMULATIONS, mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
        made: int = bot.mcts_search(board.new_initial_state()).explore_count
        return made

    assert theirs() == SIMULATIONS
    timings = bench.in_turns(ours, theirs, rounds=10)
    rate, peers = [f"{SIMULATIONS / seconds:,.0f}/s" for seconds in timings.best]
    bench.at_least(1, "connect four, mcts / OpenSpiel mcts, simulations", 1 / timings.ratio, "x", mcts=rate, peer=peers)
