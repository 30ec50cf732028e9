"""N queens against published counts, an explicit solution, and twins that look at every pair."""

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
"""For n = 1..9: OEIS A000170."""


def attacks(rows: Any) -> list[tuple[int, int]]:
    """The twin: every pair of columns whose queens share a row or a diagonal."""
    return [(a, b) for a, b in combinations(range(len(rows)), 2) if abs(rows[a] - rows[b]) in (0, b - a)]


def staircase(n: int) -> list[int]:
    """A solution for even n that is not 2 more than a multiple of 6: E. Pauls, Das Maximalproblem der Damen, 1874."""
    return [*range(2, n + 1, 2), *range(1, n, 2)]


@pytest.mark.parametrize(("n", "count"), list(enumerate(SOLUTIONS, 1)))
def test_the_numbers_of_solutions_are_the_published_ones(n: int, count: int) -> None:
    """All placements column by column, with safe rows and, on small boards, with all rows."""
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
def test_goals_safe_rows_and_conflicts_agree_with_a_look_at_every_pair(rows: list[int], data: st.DataObject) -> None:
    """On complete states and on prefixes of them."""
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
def test_the_board_says_what_counting_all_pairs_says(rows: list[int], moves: list[tuple[int, int]], seed: int) -> None:
    """After moves, swaps and proposals of any kind: the cost, every delta, and which queens are under attack."""
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


def test_moves_are_those_of_neighbors_in_the_same_order() -> None:
    """n (n - 1) of them, by column, then row; the moves of one column are its part."""
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


def test_proposals_move_queens_under_attack_and_find_their_way() -> None:
    """Taking what does not make it worse solves 100 queens, by moves of queens that somebody attacks."""
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


def test_steepest_ascent_solves_one_board_of_eight_queens_in_seven() -> None:
    """14 % (text 4; Russell and Norvig, section 4.1), from uniform starts, within four standard errors."""
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


def test_random_states_put_every_queen_on_any_row_alike() -> None:
    """Chi-square over the 64 squares of 8 queens; 56 degrees of freedom stay below 95 but once in a thousand."""
    puzzle, rng, draws = NQueens(), random.Random(8), 4000
    counts = [[0] * 9 for _ in range(8)]
    for _ in range(draws):
        for column, row in enumerate(puzzle.random_state(rng)):
            counts[column][row] += 1
    expected = draws / 8
    assert sum((count - expected) ** 2 / expected for column in counts for count in column[1:]) < 95


def test_crossover_takes_after_both_and_mutation_changes_one_queen() -> None:
    """Every cut happens, no child is a parent when all columns differ, and every queen may be moved to every other row."""
    puzzle, rng = NQueens(n=6), random.Random(2)
    a, b = puzzle.parse_state("1 1 1 1 1 1"), puzzle.parse_state("2 2 2 2 2 2")
    children = {puzzle.format_state(puzzle.crossover(a, b, rng)) for _ in range(300)}
    assert children == {" ".join("1" * cut + "2" * (6 - cut)) for cut in range(1, 6)}
    mutants = {puzzle.mutate(a, rng) for _ in range(1500)}
    assert mutants == set(puzzle.neighbors(a))


def test_one_queen_is_a_solution_and_has_nowhere_to_go() -> None:
    """The smallest board works in every view."""
    puzzle, rng = NQueens(n=1), random.Random(1)
    state = puzzle.random_state(rng)
    assert puzzle.is_goal(state)
    assert puzzle.crossover(state, state, rng) == puzzle.mutate(state, rng) == state
    assert list(puzzle.neighbors(state)) == puzzle.local(state).moves() == []
    board = puzzle.local(state)
    assert board.delta(board.propose(rng)) == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, pytest.param(256, marks=pytest.mark.proof)])
def test_the_game_and_its_heuristic_keep_their_contracts(n: int) -> None:
    """Also without any solution, and where states are tuples."""
    if n < 256:
        check_game(NQueens(n=n), matches=5)
        check_heuristic(conflicts, NQueens(n=n), matches=5)
        check_heuristic(forward_checking, NQueens(n=n), matches=2)
    check_game(NQueens(n=n, actions="all"), matches=1)
    assert set(Traits.of(NQueens(n=n))) == {"single-player", "solution-only", "local", "genetic"}


def test_notation_is_rows_from_one_by_column() -> None:
    """The text of a state, of the empty board, and of actions; a complete state without a goal has none."""
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
def test_a_text_that_is_no_position_is_refused_with_the_reason(text: str, reason: str) -> None:
    """The column is named."""
    with pytest.raises(ValueError, match=reason):
        NQueens(n=4).parse_state(text)


def test_no_queens_at_all_and_a_board_with_empty_columns_are_refused() -> None:
    """n from 1 up, by the hint that specs are checked with and by the game itself; local search wants complete states."""
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
def test_a_made_up_answer_is_no_goal(n: int) -> None:
    """Rows beyond the board, fractions of a row and too few queens."""
    puzzle = NQueens(n=n)
    goal: list[Any] = [*staircase(n)]
    assert puzzle.is_goal(tuple(goal))
    assert not puzzle.is_goal(tuple(row + 1 for row in goal))
    assert not puzzle.is_goal(tuple(row - 1 for row in goal))
    assert not puzzle.is_goal(tuple(row + 0.25 * (1 < row < n) for row in goal))
    assert not puzzle.is_goal(tuple(goal[:-1]))


def test_every_delta_is_a_node_and_nothing_else_of_the_board() -> None:
    """Through the view that agents receive."""
    meter = Meter()
    board = counting_view(NQueens(), meter).local(NQueens().random_state(random.Random(1)))  # type: ignore[attr-defined]
    moves = [*board.moves(), board.propose(random.Random(1)), (board.conflicted(random.Random(1)), 1)]
    assert meter.nodes == 0
    for move in moves:
        board.delta(move)
    assert meter.nodes == len(moves) == 58


def test_a_million_queens_are_told_apart() -> None:
    """The explicit solution is a goal, and spoilt it is not."""
    n = 1_000_000
    puzzle, rng = NQueens(n=n), random.Random(6)
    goal = tuple(staircase(n))
    assert puzzle.is_goal(goal)
    assert conflicts(puzzle, goal) == 0
    assert not puzzle.is_goal((*goal[:-1], goal[0]))
    state = puzzle.random_state(rng)
    assert puzzle.local(state).cost == conflicts(puzzle, state)


@pytest.mark.load
def test_a_step_on_a_million_queens_is_as_quick_as_on_a_thousand() -> None:
    """The time of a step does not grow with the board."""
    rng = random.Random(6)
    large, small = [NQueens(n=n).local(NQueens(n=n).random_state(rng)) for n in (1_000_000, 1_000)]
    spent = []
    for board in (small, large):
        board.apply(board.propose(rng))  # the first move sets up what the others need
        began = process_time()
        for _ in range(1000):
            move = board.propose(rng)
            if board.delta(move) <= 0:
                board.apply(move)
        spent.append(process_time() - began)
    # Memory that is not in the cache makes it some 5 times; a copy of the board at each step would make it 1,000 times.
    assert spent[1] < 50 * spent[0]


@pytest.mark.parametrize("n", [2, 3])
def test_a_board_without_a_solution_is_searched_with_a_warning(n: int) -> None:
    """The spec is sound, says so in a note, and every attempt counts as unsolved."""
    spec = load_spec({"game": {"name": "n-queens", "n": n}, "rounds": 2, "agents": ["dfs", "hill-climb"]})
    assert spec.notes == (f"game: {n} queens have no solution; the search runs anyway",)
    results = run(spec)
    assert [record.solved for record in results.records] == [False] * 4
    assert {record.termination for record in results.records} == {"gave-up", "normal"}


def test_an_answer_keeps_the_queens_of_a_position_that_has_some() -> None:
    """The 92 solutions of 8 queens by the row of the first queen: 4, 8, 16, 18 and back; a full board fixes nothing."""
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
def test_greedy_rows_are_all_different_and_few_attack_each_other(n: int) -> None:
    """In a random order of n rows some 2n/3 pairs attack each other on a diagonal: of 700 rows some 467."""
    state = NQueens(n=n, start="greedy").random_state(random.Random(3))
    assert sorted(state) == list(range(1, n + 1))
    assert n != 700 or len(attacks(state)) < 60


@pytest.mark.parametrize("start", ["random", "greedy"])
def test_three_thousand_queens_are_repaired(start: Any) -> None:
    record = play(NQueens(n=3_000, start=start), MinConflicts(), seed=4)
    assert record.solved
    rows = [int(row) for row in str(record.answer).split()]
    assert len({*rows}) == len({row + n for n, row in enumerate(rows)}) == len({row - n for n, row in enumerate(rows)}) == 3_000


@pytest.mark.parametrize("n", [4, 5])
def test_forward_checking_never_calls_a_board_lost_that_has_a_solution(n: int) -> None:
    """On all boards with queens in the first columns, against a twin that lists all solutions and marks attacked squares."""
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
