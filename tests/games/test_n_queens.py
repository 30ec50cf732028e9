"""Test N queens against published counts, an explicit solution, and a check of every pair of queens."""

import random
from itertools import combinations, permutations, product
from math import sqrt
from time import process_time
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import TypeAdapter, ValidationError

from arena import play, run
from arena.counting import Meter, counting_view
from arena.spec import load_spec
from arena.testing import check_game, check_heuristic
from arena.traits import Traits
from arena_agents.local_search import MinConflicts
from arena_games.n_queens import LOST, NQueens, conflicts, forward_checking

pytestmark = pytest.mark.filterwarnings("ignore:. queens have no solution")

SOLUTIONS = [1, 0, 0, 2, 10, 4, 40, 92, 352]
"""The numbers of solutions for n = 1..9 (OEIS A000170)."""


def attacks(rows: Any) -> list[tuple[int, int]]:
    """Return every pair of columns with queens that attack each other."""
    return [(a, b) for a, b in combinations(range(len(rows)), 2) if abs(rows[a] - rows[b]) in (0, b - a)]


def staircase(n: int) -> list[int]:
    """Return a solution for even n if n mod 6 is not 2 (E. Pauls, Das Maximalproblem der Damen, 1874)."""
    return [*range(2, n + 1, 2), *range(1, n, 2)]


@pytest.mark.parametrize(("n", "count"), list(enumerate(SOLUTIONS, 1)))
def test_the_number_of_solutions_agrees_with_oeis(n: int, count: int) -> None:
    """All placements are enumerated column by column, on safe rows and, on small boards, on all rows."""
    for actions in ("safe", "all") if n <= 6 else ("safe",):
        puzzle = NQueens(n=n, actions=actions)
        unseen, goals = [puzzle.initial(random.Random(0))], set()
        while unseen:
            state = unseen.pop()
            if puzzle.is_goal(state):
                goals.add(state)
            unseen += [puzzle.result(state, action) for action in puzzle.actions(state)]
        assert len(goals) == count
        assert all(sorted(goal) == list(range(1, n + 1)) and not attacks(goal) for goal in goals)


boards = st.integers(1, 12).flatmap(lambda n: st.lists(st.integers(1, n), min_size=n, max_size=n))


@settings(max_examples=100, deadline=None)
@given(boards, st.data())
def test_goals_safe_rows_and_conflicts_agree_with_a_check_of_every_pair(rows: list[int], data: st.DataObject) -> None:
    """The states are complete boards and prefixes of them."""
    puzzle = NQueens(n=len(rows))
    placed = data.draw(st.integers(0, len(rows)))
    for part in (rows, rows[:placed]):
        state = puzzle.parse_state(" ".join(map(str, part)) or "-")
        assert conflicts(puzzle, state) == len(attacks(part))
        assert puzzle.is_goal(state) == (len(part) == len(rows) and not attacks(part))
        new = len(attacks(part))
        room = range(1, len(rows) + 1) if len(part) < len(rows) else ()
        assert list(puzzle.actions(state)) == [row for row in room if len(attacks([*part, row])) == new]


@settings(max_examples=60, deadline=None)
@given(boards, st.lists(st.tuples(st.integers(0, 11), st.integers(-12, 12)), max_size=12), st.integers())
def test_the_local_view_agrees_with_a_count_of_all_pairs(rows: list[int], moves: list[tuple[int, int]], seed: int) -> None:
    """The cost, every delta and the attacked queens are compared after moves, swaps and proposals."""
    n = len(rows)
    puzzle, rng = NQueens(n=n), random.Random(seed)
    board = puzzle.local(puzzle.parse_state(" ".join(map(str, rows))))
    now = list(rows)
    for column, target in [*moves, *[(-1, 0)] * 6]:
        move = board.propose(rng) if column < 0 else (column % n, target % n + 1 if target >= 0 else -1 - (-target % n))
        after = list(now)
        if move[1] > 0:
            after[move[0]] = move[1]
        else:
            other = -1 - move[1]
            after[move[0]], after[other] = now[other], now[move[0]]
        assert board.delta(move) == len(attacks(after)) - len(attacks(now))
        board.apply(move)
        now = after
        assert list(board.state()) == now
        assert board.cost == len(attacks(now))
    attacked: set[int | None] = {column for pair in attacks(now) for column in pair}
    assert {board.conflicted(rng) for _ in range(300)} == (attacked or {None})


def test_moves_have_the_order_of_neighbors() -> None:
    """There are n (n - 1) moves, by column and then by row. `moves(column)` returns the moves of one column."""
    puzzle = NQueens(n=5)
    state = puzzle.parse_state("1 1 4 5 2")
    after = []
    for move in puzzle.local(state).moves():
        board = puzzle.local(state)
        board.apply(move)
        after.append(board.state())
    assert after == list(puzzle.neighbors(state))
    assert len(set(after)) == 5 * 4
    assert puzzle.local(state).moves(3) == [(3, row) for row in (1, 2, 3, 4)]


def test_proposals_move_attacked_queens_and_solve_the_board() -> None:
    """Accepting each proposal that does not raise the cost solves 100 queens."""
    puzzle, rng = NQueens(n=100), random.Random(4)
    board = puzzle.local(puzzle.random_state(rng))
    steps = 0
    while board.cost and steps < 20_000:
        move = board.propose(rng)
        if steps % 50 == 0:
            assert move[0] in {column for pair in attacks(board.state()) for column in pair}
        if board.delta(move) <= 0:
            board.apply(move)
        steps += 1
    assert puzzle.is_goal(board.state())
    assert board.conflicted(rng) is None
    assert board.delta(board.propose(rng)) >= 0


def test_steepest_ascent_solves_one_in_seven_boards_of_eight_queens() -> None:
    """Russell and Norvig (section 4.1) give 14 %. The share from uniform starts is within four standard errors."""
    puzzle, rng, climbs = NQueens(), random.Random(14), 1500
    solved = 0
    for _ in range(climbs):
        board = puzzle.local(puzzle.random_state(rng))
        while True:
            best = min(board.moves(), key=board.delta)
            if board.delta(best) >= 0:
                break
            board.apply(best)
        solved += board.cost == 0
    assert abs(solved / climbs - 0.14) <= 4 * sqrt(0.14 * 0.86 / climbs)


def test_random_states_are_uniform() -> None:
    """Chi-square over the 64 squares of 8 queens has 56 degrees of freedom and exceeds 95 once in a thousand."""
    puzzle, rng, draws = NQueens(), random.Random(8), 4000
    counts = [[0] * 9 for _ in range(8)]
    for _ in range(draws):
        for column, row in enumerate(puzzle.random_state(rng)):
            counts[column][row] += 1
    expected = draws / 8
    assert sum((count - expected) ** 2 / expected for column in counts for count in column[1:]) < 95


def test_crossover_mixes_both_parents_and_mutation_moves_one_queen() -> None:
    """Every cut occurs, and no child equals a parent if all columns differ. Mutation reaches every neighbor."""
    puzzle, rng = NQueens(n=6), random.Random(2)
    a, b = puzzle.parse_state("1 1 1 1 1 1"), puzzle.parse_state("2 2 2 2 2 2")
    children = {puzzle.format_state(puzzle.crossover(a, b, rng)) for _ in range(300)}
    assert children == {" ".join("1" * cut + "2" * (6 - cut)) for cut in range(1, 6)}
    mutants = {puzzle.mutate(a, rng) for _ in range(1500)}
    assert mutants == set(puzzle.neighbors(a))


def test_one_queen_is_a_solution_without_moves() -> None:
    """All methods work on the smallest board."""
    puzzle, rng = NQueens(n=1), random.Random(1)
    state = puzzle.random_state(rng)
    assert puzzle.is_goal(state)
    assert puzzle.crossover(state, state, rng) == puzzle.mutate(state, rng) == state
    assert list(puzzle.neighbors(state)) == puzzle.local(state).moves() == []
    board = puzzle.local(state)
    assert board.delta(board.propose(rng)) == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, pytest.param(256, marks=pytest.mark.proof)])
def test_the_conformance_checks_pass_for_the_game_and_its_heuristics(n: int) -> None:
    """Some boards have no solution, and some have tuples as states."""
    if n < 256:
        check_game(NQueens(n=n), matches=5)
        check_heuristic(conflicts, NQueens(n=n), matches=5)
        check_heuristic(forward_checking, NQueens(n=n), matches=2)
    check_game(NQueens(n=n, actions="all"), matches=1)
    assert set(Traits.of(NQueens(n=n))) == {"single-player", "solution-only", "local", "genetic"}


def test_notation_lists_rows_by_column() -> None:
    """A complete state has no actions, even if it is not a goal."""
    puzzle = NQueens(n=4)
    assert puzzle.format_state(puzzle.initial(random.Random(0))) == "-"
    state = puzzle.parse_state("3 1")
    assert puzzle.format_state(state) == "3 1"
    assert [puzzle.format_action(state, action) for action in puzzle.actions(state)] == ["4"]
    goal = puzzle.result(puzzle.result(state, puzzle.parse_action(state, "4")), 2)
    assert puzzle.format_state(goal) == "3 1 4 2"
    assert puzzle.is_goal(goal)
    assert puzzle.render(goal) == ". Q . .\n. . . Q\nQ . . .\n. . Q ."
    assert list(puzzle.actions(puzzle.parse_state("1 1 1 1"))) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2 3 4 1", "at most 4 rows, one per column, got 5"),
        ("1 5", "rows from 1 to 4, got '5' in column 2"),
        ("0 1", "rows from 1 to 4, got '0' in column 1"),
        ("1 x", "got 'x' in column 2"),
        ("1 -", "got '-' in column 2"),
        ("1 ²", "in column 2"),
        ("9" * 5000, "rows from 1 to 4"),
        ("  ", "got nothing"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    """The message names the column."""
    with pytest.raises(ValueError, match=reason):
        NQueens(n=4).parse_state(text)


def test_zero_queens_and_incomplete_local_states_are_refused() -> None:
    """Both the type hint and the constructor require n >= 1. A local view requires a complete state."""
    hint = TypeAdapter(get_type_hints(NQueens.__init__, include_extras=True)["n"])
    assert hint.validate_python(1) == 1
    with pytest.raises(ValidationError):
        hint.validate_python(0)
    with pytest.raises(ValueError, match="n: expected 1 or more, got 0"):
        NQueens(n=0)
    puzzle = NQueens(n=4)
    with pytest.raises(ValueError, match="each of 4 columns, got 2"):
        puzzle.local(puzzle.parse_state("3 1"))


@pytest.mark.parametrize("n", [4, 300])
def test_an_invalid_answer_is_not_a_goal(n: int) -> None:
    """The answers have rows beyond the board, fractions of rows, or too few queens."""
    puzzle = NQueens(n=n)
    goal: list[Any] = [*staircase(n)]
    assert puzzle.is_goal(tuple(goal))
    assert not puzzle.is_goal(tuple(row + 1 for row in goal))
    assert not puzzle.is_goal(tuple(row - 1 for row in goal))
    assert not puzzle.is_goal(tuple(row + 0.25 * (1 < row < n) for row in goal))
    assert not puzzle.is_goal(tuple(goal[:-1]))


def test_only_deltas_of_the_local_view_count_as_nodes() -> None:
    """The view is the counting view that agents receive."""
    meter = Meter()
    board = counting_view(NQueens(), meter).local(NQueens().random_state(random.Random(1)))  # type: ignore[attr-defined]
    moves = [*board.moves(), board.propose(random.Random(1)), (board.conflicted(random.Random(1)), 1)]
    assert meter.nodes == 0
    for move in moves:
        board.delta(move)
    assert meter.nodes == len(moves) == 58


def test_goals_of_a_million_queens_are_recognised() -> None:
    """The explicit solution is a goal. With one queen moved, it is not."""
    n = 1_000_000
    puzzle, rng = NQueens(n=n), random.Random(6)
    goal = tuple(staircase(n))
    assert puzzle.is_goal(goal)
    assert conflicts(puzzle, goal) == 0
    assert not puzzle.is_goal((*goal[:-1], goal[0]))
    state = puzzle.random_state(rng)
    assert puzzle.local(state).cost == conflicts(puzzle, state)


@pytest.mark.load
def test_the_time_of_a_step_does_not_grow_with_the_board() -> None:
    """Steps on a million queens are compared with steps on a thousand."""
    rng = random.Random(6)
    large, small = [NQueens(n=n).local(NQueens(n=n).random_state(rng)) for n in (1_000_000, 1_000)]
    spent = []
    for board in (small, large):
        board.apply(board.propose(rng))  # the first move builds the tables of the view
        began = process_time()
        for _ in range(1000):
            move = board.propose(rng)
            if board.delta(move) <= 0:
                board.apply(move)
        spent.append(process_time() - began)
    # Cache misses make a step about 5 times slower; a copy of the board at each step would make it 1,000 times slower.
    assert spent[1] < 50 * spent[0]


@pytest.mark.parametrize("n", [2, 3])
def test_a_board_without_a_solution_is_searched_with_a_warning(n: int) -> None:
    """The spec is valid and has a note. No attempt counts as solved."""
    spec = load_spec({"game": {"name": "n-queens", "n": n}, "rounds": 2, "agents": ["dfs", "hill-climb"]})
    assert spec.notes == (f"game: {n} queens have no solution; the search will still run",)
    results = run(spec)
    assert [record.solved for record in results.records] == [False] * 4
    assert {record.termination for record in results.records} == {"gave-up", "normal"}


def test_an_answer_must_keep_the_queens_of_the_position() -> None:
    """Counted by the row of the first queen, the solutions of 8 queens are 4, 8, 16, 18, 18, 16, 8, 4. A full board fixes
    nothing.
    """
    game = NQueens()
    solutions = [rows for rows in permutations(range(1, 9)) if not attacks(rows)]
    first = [sum(game.is_answer(bytes([row]), bytes(rows)) for rows in solutions) for row in range(1, 9)]
    assert first == [4, 8, 16, 18, 18, 16, 8, 4]
    attacked = game.parse_state("1 2 3 4 5 6 7 8")
    assert all(game.is_answer(attacked, bytes(rows)) and game.is_answer(b"", rows) for rows in solutions)
    assert not game.is_answer(attacked, attacked)
    record = play(game, "min-conflicts", position="1 5", seed=1)
    assert record.answer is not None
    assert record.solved == record.answer.startswith("1 5 ")
    assert play(game, "dfs", position="1 5").solved


@pytest.mark.parametrize("n", [1, 2, 7, 40, 700, 10_000])
def test_a_greedy_start_is_a_permutation_with_few_attacks(n: int) -> None:
    """A random permutation of n rows has about 2n/3 attacking pairs, which is about 467 for 700 rows."""
    state = NQueens(n=n, start="greedy").random_state(random.Random(3))
    assert sorted(state) == list(range(1, n + 1))
    assert n != 700 or len(attacks(state)) < 60


@pytest.mark.parametrize("start", ["random", "greedy"])
def test_min_conflicts_solves_three_thousand_queens(start: Any) -> None:
    record = play(NQueens(n=3_000, start=start), MinConflicts(), seed=4)
    assert record.solved
    rows = [int(row) for row in str(record.answer).split()]
    assert len({*rows}) == len({row + n for n, row in enumerate(rows)}) == len({row - n for n, row in enumerate(rows)}) == 3_000


@pytest.mark.parametrize("n", [4, 5])
def test_forward_checking_never_rejects_a_board_with_a_solution(n: int) -> None:
    """All boards with queens in the first columns are compared with lists of all solutions and attacked squares."""
    puzzle = NQueens(n=n, actions="all")

    def attacks(column: int, row: int, other: int, row_there: int) -> bool:
        return row == row_there or abs(row - row_there) == abs(column - other)

    boards = [rows for placed in range(n + 1) for rows in product(range(1, n + 1), repeat=placed)]
    safe = {rows for rows in boards if not any(attacks(*one, *two) for one, two in combinations(enumerate(rows), 2))}
    solutions = [rows for rows in safe if len(rows) == n]
    lost = 0
    for rows in boards:
        estimate = forward_checking(puzzle, bytes(rows))
        stuck = any(
            all(any(attacks(*queen, column, row) for queen in enumerate(rows)) for row in range(1, n + 1))
            for column in range(len(rows), n)
        )
        assert estimate == (LOST if rows not in safe or stuck else n - len(rows))
        assert estimate < LOST or not any(found[: len(rows)] == rows for found in solutions)
        lost += estimate == LOST and rows in safe
    assert lost > 0
