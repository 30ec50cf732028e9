"""Test local searches: success rates on 8 queens against the textbook, climbs against naive ones, and laws of chance."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from math import exp, sqrt
from operator import ne
from typing import Any, ClassVar, NamedTuple

import pytest
from scipy.stats import binomtest  # type: ignore[import-untyped]

import arena
from arena import Agent, Answer, Limits, Puzzle, Refused, play
from arena.counting import Meter, counting_view
from arena.errors import OutOfBudget
from arena.identity import Stream
from arena.plugins.registry import Registry
from arena.search import Search, SharedStart
from arena.testing import check_agent
from arena_agents.local_search import Annealing, HillClimb, MinConflicts
from arena_agents.population_search import Beam, Genetic
from arena_games.n_queens import NQueens

LOCAL: list[Callable[..., Agent]] = [HillClimb, MinConflicts, Annealing, Beam, Genetic]
SIGMAS = 4.0
"""Tolerance in standard errors. A correct share differs by more once in 16,000 samples; the seeds are fixed."""


def attacks(rows: Sequence[int]) -> int:
    """Return the number of pairs of queens that share a row or a diagonal."""
    return sum(rows[a] == rows[b] or abs(rows[a] - rows[b]) == b - a for a, b in combinations(range(len(rows)), 2))


class Board:
    """A local view of queens that counts all pairs anew for every value."""

    def __init__(self, rows: Sequence[int]) -> None:
        self._rows = tuple(rows)

    @property
    def cost(self) -> float:
        return attacks(self._rows)

    def moves(self) -> list[tuple[int, int]]:
        n = len(self._rows)
        return [(column, row) for column in range(n) for row in range(n) if row != self._rows[column]]

    def propose(self, rng: random.Random) -> tuple[int, int]:
        return rng.choice(self.moves())

    def after(self, move: tuple[int, int]) -> tuple[int, ...]:
        return (*self._rows[: move[0]], move[1], *self._rows[move[0] + 1 :])

    def delta(self, move: tuple[int, int]) -> float:
        return attacks(self.after(move)) - self.cost

    def apply(self, move: tuple[int, int]) -> None:
        self._rows = self.after(move)

    def state(self) -> tuple[int, ...]:
        return self._rows


class Unlisted:
    """The same view without a list of its moves."""

    def __init__(self, rows: Sequence[int]) -> None:
        board = Board(rows)
        self._board = board
        self.propose, self.delta, self.apply, self.state = board.propose, board.delta, board.apply, board.state

    @property
    def cost(self) -> float:
        return self._board.cost


class Queens(Puzzle):
    """Queens with only the rules. Subclasses add the methods that local searches use."""

    name = "queens"
    path_matters: ClassVar[bool] = False

    def __init__(self, *, n: int = 5) -> None:
        self.n = n

    def initial(self, rng: random.Random) -> Any:
        return (0,) * self.n

    def actions(self, state: Any) -> Sequence[Any]:
        return ()

    def result(self, state: Any, action: Any) -> Any:
        raise NotImplementedError

    def is_goal(self, state: Any) -> bool:
        return len(state) == self.n and attacks(state) == 0


class Drawn(Queens):
    def random_state(self, rng: random.Random) -> Any:
        return tuple(rng.randrange(self.n) for _ in range(self.n))


class Viewed(Drawn):
    def local(self, state: Any) -> Any:
        return Board(state)


class Neighboring(Drawn):
    def neighbors(self, state: Any) -> Any:
        board = Board(state)
        return [board.after(move) for move in board.moves()]


class Sampling(Drawn):
    def local(self, state: Any) -> Any:
        return Unlisted(state)


class Mixed(Neighboring, Sampling):
    """Queens with a view that cannot list its moves, and with neighbors."""


class Fixed(Queens):
    """Queens with a view and without a random state."""

    def local(self, state: Any) -> Any:
        return Board(state)


class Breeding(Neighboring):
    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        cut = rng.randrange(1, self.n)
        return a[:cut] + b[cut:]

    def mutate(self, state: Any, rng: random.Random) -> Any:
        board = Board(state)
        return board.after(board.propose(rng))


class Solved(NamedTuple):
    answer: Answer
    goal: bool
    start: Any
    nodes: int
    reports: list[tuple[Answer, float]]


def solve(agent: Agent, puzzle: Puzzle, seed: int = 0, *, limits: Mapping[str, Any] | None = None, blind: bool = False) -> Solved:
    """Let a solver solve once, as the referee does. If the budget runs out, the answer is the last report."""
    meter, bounds = Meter(), Limits(**(limits or {}))
    meter.begin(bounds.nodes, bounds.seconds)
    view = counting_view(puzzle, meter)
    evaluation = None if blind else lambda state, player=0: attacks(state)
    start = SharedStart(puzzle, Stream(f"start/{seed}"))
    search = Search(view, evaluation, bounds, meter, Stream(f"seat/{seed}"), start)
    reports: list[tuple[Answer, float]] = []
    report = search.report

    def watched(best: Any, **facts: Any) -> None:
        reports.append((best, facts["value"]))
        report(best, **facts)

    search.report = watched  # type: ignore[method-assign]
    try:
        answer: Any = agent.solve(view, puzzle.initial(random.Random(seed)), search)
    except OutOfBudget:
        answer = search.best_action
    drawn = isinstance(puzzle, (Drawn, NQueens))
    return Solved(answer, puzzle.is_goal(answer.state), start.state() if drawn else None, meter.nodes, reports)


def measure(agent: Agent, puzzle: Puzzle, climbs: int) -> tuple[float, float, float]:
    """Return the solved share, and the mean number of moves of successes and of failures."""
    steps: dict[bool, list[int]] = {True: [], False: []}
    for seed in range(climbs):
        solved = solve(agent, puzzle, seed)
        steps[solved.goal].append(solved.answer.steps or 0)
    means = {goal: sum(taken) / max(1, len(taken)) for goal, taken in steps.items()}
    return len(steps[True]) / climbs, means[True], means[False]


def error(share: float, climbs: int) -> float:
    return sqrt(share * (1 - share) / climbs)


# Hill climbing


def test_strict_climbing_solves_14_percent_of_8_queens() -> None:
    """Russell and Norvig, section 4.1.1: 14 % are solved, in 4 moves on average, and the others fail after 3 moves."""
    share, solving, failing = measure(HillClimb(), NQueens(), 1000)
    assert abs(share - 0.14) <= SIGMAS * error(0.14, 1000)
    assert solving == pytest.approx(4, abs=0.3)
    assert failing == pytest.approx(3, abs=0.3)


@pytest.mark.parametrize("tries", [100, pytest.param(10_000, marks=pytest.mark.proof)])
def test_sideways_moves_to_the_first_best_successor_solve_a_third(
    tries: int, record_property: Callable[[str, object], None]
) -> None:
    """A naive implementation solves 33 to 35 %. A failing climb oscillates until its 100 sideways moves are used up."""
    share, _, failing = measure(HillClimb(sideways=100, choice="first"), NQueens(), tries)
    record_property("solved", f"{share:.1%} of {tries:,}")
    assert 0.33 - SIGMAS * error(0.33, tries) <= share <= 0.35 + SIGMAS * error(0.35, tries)
    assert (100 if tries > 1000 else 97) <= failing <= 103


@pytest.mark.parametrize("tries", [300, pytest.param(20_000, marks=pytest.mark.proof)])
def test_sideways_moves_at_random_solve_94_percent(tries: int, record_property: Callable[[str, object], None]) -> None:
    """Russell and Norvig, section 4.1.1: 94 % are solved, in about 21 moves, and the others fail after 64 moves."""
    share, solving, failing = measure(HillClimb(sideways=100), NQueens(), tries)
    record_property("solved", f"{share:.1%} of {tries:,}, after {solving:.1f} moves; the others fail after {failing:.1f}")
    assert abs(share - 0.94) <= SIGMAS * error(0.94, tries)
    assert solving == pytest.approx(20, abs=3)
    assert failing == pytest.approx(64, abs=12 if tries > 1000 else 25)


@pytest.mark.parametrize("agent", [HillClimb(restarts=200), HillClimb(sideways=100, restarts=20)], ids=["strict", "sideways"])
def test_restarts_solve_all_boards(agent: Agent) -> None:
    """Strict climbing needs about 7 climbs: 6 failures of 3 moves and a success of 4 (Russell and Norvig, section 4.1.1)."""
    share, solving, _ = measure(agent, NQueens(), 100)
    assert share == 1
    assert solving == pytest.approx(22, abs=5)


def climb_naively(rows: tuple[int, ...], allowed: int) -> tuple[tuple[int, ...], int]:
    """Climb to the first best successor, with at most `allowed` sideways moves in a row. Return the last state and the moves."""
    steps = sideways = 0
    while attacks(rows) > 0:
        board = Board(rows)
        best = min((board.after(move) for move in board.moves()), key=attacks)
        if attacks(best) > attacks(rows):
            break
        sideways = sideways + 1 if attacks(best) == attacks(rows) else 0
        if sideways > allowed:
            break
        rows = best
        steps += 1
    return rows, steps


@pytest.mark.parametrize("kind", [Viewed, Neighboring, Mixed])
@pytest.mark.parametrize("sideways", [0, 1, 4])
def test_climbs_agree_with_a_naive_implementation(kind: type[Queens], sideways: int) -> None:
    """Ties go to the first best successor. From 30 starts, the last state and the number of moves are the same, for views and for
    neighbors.
    """
    puzzle = kind(n=6)
    for seed in range(30):
        solved = solve(HillClimb(sideways=sideways, choice="first"), puzzle, seed)
        assert (solved.answer.state, solved.answer.steps) == climb_naively(solved.start, sideways)


def test_strict_climbing_solves_5_queens_with_the_exact_probability() -> None:
    """The exact probability is computed over all 3,125 starts, with ties broken uniformly."""
    chances: dict[tuple[int, ...], float] = {}

    def chance(rows: tuple[int, ...]) -> float:
        if rows not in chances:
            here = attacks(rows)
            board = Board(rows)
            after = [board.after(move) for move in board.moves()]
            lowest = min(map(attacks, after))
            best = [other for other in after if attacks(other) == lowest]
            climbs = here > 0 and lowest < here
            chances[rows] = sum(map(chance, best)) / len(best) if climbs else float(here == 0)
        return chances[rows]

    exact = sum(map(chance, product(range(5), repeat=5))) / 5**5
    share, _, _ = measure(HillClimb(), NQueens(n=5), 1000)
    assert 0.1 < exact < 0.9
    assert abs(share - exact) <= SIGMAS * error(exact, 1000)


@pytest.mark.parametrize("ascent", ["first-choice", "stochastic"])
def test_first_choice_and_stochastic_climbing_solve_5_queens_with_the_exact_probability(ascent: Any) -> None:
    """Both variants take each better successor with the same probability (Russell and Norvig, section 4.1.1)."""
    chances: dict[tuple[int, ...], float] = {}

    def chance(rows: tuple[int, ...]) -> float:
        if rows not in chances:
            board = Board(rows)
            better = [after for move in board.moves() if attacks(after := board.after(move)) < attacks(rows)]
            chances[rows] = sum(map(chance, better)) / len(better) if better else float(attacks(rows) == 0)
        return chances[rows]

    exact = sum(map(chance, product(range(5), repeat=5))) / 5**5
    share, _, _ = measure(HillClimb(ascent=ascent), NQueens(n=5), 1000)
    assert 0.1 < exact < 0.9
    assert abs(share - exact) <= SIGMAS * error(exact, 1000)


def test_first_choice_generates_fewer_successors_in_each_move() -> None:
    """Stochastic climbing evaluates all 56 successors before each move. First-choice climbing stops at the first better one."""
    for seed in range(10):
        stochastic, first = [solve(HillClimb(ascent=ascent), NQueens(), seed) for ascent in ("stochastic", "first-choice")]
        assert stochastic.nodes == 56 * ((stochastic.answer.steps or 0) + (not stochastic.goal))
        assert first.nodes < 56 * ((first.answer.steps or 0) + (not first.goal))


def test_nodes_count_the_evaluated_successors() -> None:
    """A failing climb of k moves evaluates all 56 successors k + 1 times, and a successful climb k times."""
    for seed in range(30):
        solved = solve(HillClimb(), NQueens(), seed)
        assert solved.nodes == 56 * ((solved.answer.steps or 0) + (not solved.goal))


def test_moves_are_sampled_if_a_view_cannot_list_them() -> None:
    """Each step evaluates a hundred proposals. All boards of 5 queens are still solved."""
    found = [solve(HillClimb(sideways=20, restarts=5), Sampling(), seed) for seed in range(20)]
    assert all(solved.goal for solved in found)
    assert all(solved.nodes % 100 in range(6) for solved in found)  # each restart draws a state


# Other local searches


@pytest.mark.parametrize(
    ("agent", "n", "boards"),
    [
        (MinConflicts(), 8, 30),
        (MinConflicts(), 100, 5),
        (Annealing(), 8, 20),
        (Annealing(), 100, 2),
        (Beam(), 8, 15),
        (Beam(), 16, 1),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_the_defaults_solve_queens(agent: Agent, n: int, boards: int) -> None:
    assert all(solve(agent, NQueens(n=n), seed).goal for seed in range(boards))


@pytest.mark.parametrize("kind", [Viewed, Neighboring, Sampling, Mixed, Fixed])
@pytest.mark.parametrize(
    "agent", [HillClimb(sideways=10, restarts=20), MinConflicts(patience=200), Annealing(), Beam(width=3)], ids=lambda a: a.name
)
def test_any_of_the_optional_methods_of_a_puzzle_is_enough(agent: Agent, kind: type[Queens]) -> None:
    """The puzzles have a view with or without a list of moves, neighbors and a heuristic, or no random state."""
    assert all(solve(agent, kind(), seed).goal for seed in range(5))


def test_min_conflicts_solves_a_hundred_thousand_queens() -> None:
    """The number of nodes grows linearly with the board: fewer than five for each queen."""
    record = play(NQueens(n=100_000), ["min-conflicts"])
    assert record.solved
    assert record.decisions[0].nodes < 5 * 100_000


class Slope(Puzzle):
    """A puzzle without a goal, in which every move raises the cost by 1."""

    name = "slope"
    path_matters: ClassVar[bool] = False

    def initial(self, rng: random.Random) -> Any:
        return 1

    def actions(self, state: Any) -> Sequence[Any]:
        return ()

    def result(self, state: Any, action: Any) -> Any:
        raise NotImplementedError

    def is_goal(self, state: Any) -> bool:
        return False

    def local(self, state: Any) -> Any:
        return Climb(state)


class Climb:
    def __init__(self, cost: int) -> None:
        self.cost = cost

    def propose(self, rng: random.Random) -> str:
        return "up"

    def delta(self, move: str) -> int:
        return 1

    def apply(self, move: str) -> None:
        self.cost += 1

    def state(self) -> int:
        return self.cost


@pytest.mark.parametrize(("start", "end"), [(1.0, 1.0), (0.4, 0.4), (3.0, 0.2)])
def test_annealing_accepts_worse_moves_by_the_metropolis_rule(start: float, end: float) -> None:
    """Over a geometric schedule, the expected number of accepted moves is the sum of e^(-1/T). The answer is the best state."""
    steps = 4000
    chances = [exp(-1 / (start * (end / start) ** (k / (steps - 1)))) for k in range(steps)]
    solved = solve(Annealing(start=start, end=end, steps=steps), Slope(), 1, blind=True)
    expected, spread = sum(chances), sqrt(sum(p * (1 - p) for p in chances))
    assert abs((solved.answer.steps or 0) - expected) <= SIGMAS * spread
    assert solved.nodes == steps
    assert solved.answer.state == 1


def test_annealing_refuses_a_schedule_with_a_rising_temperature() -> None:
    with pytest.raises(ValueError, match="end: expected at most 1, the value of start, got 2"):
        Annealing(start=1.0, end=2.0)


def test_a_wider_beam_solves_more_boards() -> None:
    """A beam of width 1 without sideways moves is a strict climb, which solves 14 % of 8 queens."""
    one, _, _ = measure(Beam(width=1, sideways=0), NQueens(), 500)
    ten, _, _ = measure(Beam(width=10, sideways=0), NQueens(), 60)
    assert abs(one - 0.14) <= SIGMAS * error(0.14, 500)
    assert ten > 2 * one


def test_a_beam_never_revisits_a_state() -> None:
    """3 queens have no solution and 27 states, so even a beam with unlimited sideways moves ends."""
    solved = solve(Beam(width=2, sideways=10**9), Viewed(n=3))
    assert not solved.goal
    assert (solved.answer.steps or 0) <= 27
    assert attacks(solved.answer.state) == min(attacks(rows) for rows in product(range(3), repeat=3))


def test_the_genetic_algorithm_solves_8_queens() -> None:
    """The default options solve at least 7 of 8 boards."""
    assert sum(solve(Genetic(), NQueens(), seed).goal for seed in range(8)) >= 7


@pytest.mark.parametrize(("mutation", "each"), [(0.0, 1), (1.0, 2)])
def test_the_nodes_of_a_generation_are_crossovers_and_mutations(mutation: float, each: int) -> None:
    """3 queens have no solution. Nodes are 9 random states besides the start, and 10 crossovers and mutations a generation."""
    solved = solve(Genetic(population=10, mutation=mutation, generations=7), Breeding(n=3))
    assert solved.answer.steps == 7
    assert solved.nodes == 9 + 7 * 10 * each


class Stock(Puzzle):
    """A puzzle that records the parents of each crossover. A state is (cost, number), with costs from 1 to 4."""

    name = "stock"
    path_matters: ClassVar[bool] = False

    def __init__(self) -> None:
        self.parents: list[tuple[int, int]] = []

    def initial(self, rng: random.Random) -> Any:
        return (1, 0)

    def actions(self, state: Any) -> Sequence[Any]:
        return ()

    def result(self, state: Any, action: Any) -> Any:
        raise NotImplementedError

    def is_goal(self, state: Any) -> bool:
        return False

    def local(self, state: Any) -> Any:
        return Climb(state[0])

    def random_state(self, rng: random.Random) -> Any:
        return (rng.randint(1, 4), rng.getrandbits(60))

    def crossover(self, a: Any, b: Any, rng: random.Random) -> Any:
        self.parents += [a, b]
        return a

    def mutate(self, state: Any, rng: random.Random) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(("selection", "chances"), [
    ("roulette", [3 / 6, 2 / 6, 1 / 6, 0]),
    ("tournament", [1 - (3 / 4) ** 3, (3 / 4) ** 3 - (2 / 4) ** 3, (2 / 4) ** 3 - (1 / 4) ** 3, (1 / 4) ** 3]),
])  # fmt: skip
def test_parents_are_selected_with_the_documented_probabilities(selection: Any, chances: list[float]) -> None:
    """Costs 1 to 4 are equally frequent. Roulette weighs a state by the distance to the highest cost; a tournament compares
    three.
    """
    stock = Stock()
    solve(Genetic(population=6000, mutation=0.0, generations=1, selection=selection), stock, blind=True)
    counted = Counter(cost for cost, _ in stock.parents)
    assert len(stock.parents) == 12_000
    for cost, chance in enumerate(chances, 1):
        assert abs(counted[cost] / 12_000 - chance) <= 0.03


# All local searches


@pytest.mark.parametrize("agent", LOCAL)
def test_searches_start_from_the_board_of_the_round(agent: Callable[..., Agent]) -> None:
    """With a budget of one node, an answer is at most one move away from the start, and never worse."""
    for seed in range(5):
        solved = solve(agent(), NQueens(), seed, limits={"nodes": 1})
        moved = sum(map(ne, solved.answer.state, solved.start))
        assert solved.nodes == 1
        assert solved.answer.steps in (0, 1)
        assert moved <= 2 * solved.answer.steps  # a move may swap two rows
        assert attacks(solved.answer.state) <= attacks(solved.start)


def test_attempts_from_random_starts_are_independent_observations() -> None:
    """First-choice climbing draws no random numbers but its start. So its attempts at one position are independent, and their
    share has the ordinary interval (Wilson's).
    """
    climb = {"agent": "hill-climb", "choice": "first"}
    results = arena.run({"game": {"name": "n-queens", "n": 4}, "rounds": 300, "agents": [climb]})
    assert all(record.drew == (True,) for record in results.records)
    row = results.leaderboard().iloc[0]
    solved = sum(bool(record.solved) for record in results.records)
    assert 50 < solved < 250
    interval = binomtest(solved, 300).proportion_ci(method="wilson")
    assert (row["solved_low"], row["solved_high"]) == pytest.approx((interval.low, interval.high))


def test_each_repetition_of_a_listed_position_has_its_own_start() -> None:
    """All entries have the same starts, also in their own processes."""
    climb = {"agent": "hill-climb", "choice": "first"}
    entries = [{**climb, "label": label} for label in "ab"]
    results = arena.run({"game": {"name": "n-queens", "n": 8}, "positions": ["-"] * 30, "agents": entries})
    found: dict[str, list[int | None]] = {"a": [], "b": []}
    for record in results.records:
        found[record.labels[0]].append(record.decisions[0].nodes)
    assert found["a"] == found["b"]
    assert len(set(found["a"])) > 3


@pytest.mark.parametrize("agent", LOCAL)
def test_an_exhausted_node_budget_ends_with_the_best_state_so_far(agent: Callable[..., Agent], registry: Registry) -> None:
    """On 30 queens, each search keeps to its 3,000 nodes, and its answer is better than the start."""
    puzzle = NQueens(n=30)
    for seed in range(3):
        solved = solve(agent(), puzzle, seed, limits={"nodes": 3000})
        ending = attacks(solved.answer.state)
        assert solved.nodes <= 3000
        assert ending < attacks(solved.start)
        assert solved.reports[-1] == (solved.answer, -ending)
    record = play(puzzle, [registry.agents[agent.name]()], limits={"nodes": 500})  # type: ignore[attr-defined]
    assert record.termination == "normal"
    assert record.decisions[0].nodes <= 500
    assert record.answer is not None


@pytest.mark.parametrize("agent", LOCAL)
def test_reports_never_get_worse(agent: Callable[..., Agent]) -> None:
    """Each report gives the true value and is at least as good as the report before. The last report is the answer."""
    for seed in range(5):
        solved = solve(agent(), NQueens(), seed)
        values = [value for _, value in solved.reports]
        assert values == sorted(values)
        assert all(-attacks(answer.state) == value for answer, value in solved.reports)
        assert solved.reports[-1][0] == solved.answer


@pytest.mark.filterwarnings("ignore:. queens have no solution")
@pytest.mark.parametrize("agent", LOCAL)
@pytest.mark.parametrize("n", [2, 3])
def test_searches_end_on_queens_without_a_solution(agent: Callable[..., Agent], n: int) -> None:
    """On 2 and 3 queens, the best state has one attacking pair."""
    record = play(NQueens(n=n), [agent()])
    assert (record.termination, record.solved) == ("normal", False)
    assert record.answer is not None
    assert attacks([int(row) for row in record.answer.split()]) == 1


@pytest.mark.parametrize("agent", LOCAL)
def test_one_queen_is_solved_without_a_move(agent: Callable[..., Agent]) -> None:
    record = play(NQueens(n=1), [agent()])
    assert (record.solved, record.moves) == (True, 0)


@pytest.mark.parametrize("agent", LOCAL)
def test_local_searches_pass_the_agent_check(agent: type[Agent]) -> None:
    """The check covers equal seeds, a budget of one node, and the global random generator."""
    assert check_agent(agent, NQueens(), matches=2)


@pytest.mark.parametrize("agent", LOCAL)
def test_puzzles_that_ask_for_a_path_are_refused(agent: Any) -> None:
    """A local search finds a state and no path, so its answer would not count."""
    with pytest.raises(Refused, match=f"{agent.name} cannot play sliding-tiles: needs solution-only"):
        play("sliding-tiles", [agent.name])
