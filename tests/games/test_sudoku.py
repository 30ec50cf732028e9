"""Test Sudoku against published counts and a published puzzle, and against solvers without bit operations."""

import pathlib
import random
from collections.abc import Iterator
from itertools import product
from typing import Any, Literal, get_type_hints

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import TypeAdapter, ValidationError

from arena import Agent, Answer, Path, Search, SpecError, play
from arena.api.spec import load_spec
from arena.testing import check_game, check_heuristic
from arena.traits import Traits
from arena_games.sudoku import Sudoku, candidates, empty_cells
from arena_games.sudoku_grid import count_solutions, geometry

Cell = Literal["first", "most-constrained"]
ORDERS: tuple[Cell, ...] = ("first", "most-constrained")

# The example of the Wikipedia article "Sudoku", by Tim Stellmach, with the solution shown there.
PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
SOLUTION = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"


def peers(cell: int, box: int) -> set[int]:
    """Return the other cells in the same row, column or box."""
    n = box * box
    row, column = divmod(cell, n)
    same = {(row, k) for k in range(n)} | {(k, column) for k in range(n)}
    same |= {(row // box * box + i, column // box * box + j) for i in range(box) for j in range(box)}
    return {r * n + c for r, c in same} - {cell}


def all_solutions(cells: list[int], box: int) -> Iterator[list[int]]:
    """Yield all solutions of a grid by recursion over lists and sets, filling the cell with the fewest candidates first."""
    n = box * box
    options = {
        cell: set(range(1, n + 1)) - {cells[peer] for peer in peers(cell, box)} for cell in range(n * n) if cells[cell] == 0
    }
    if not options:
        yield list(cells)
        return
    cell = min(options, key=lambda one: len(options[one]))
    for digit in sorted(options[cell]):
        cells[cell] = digit
        yield from all_solutions(cells, box)
        cells[cell] = 0


def find_goals(puzzle: Sudoku, state: int) -> Iterator[int]:
    """Yield all goals that can be reached by actions, depth first."""
    unseen = [state]
    while unseen:
        state = unseen.pop()
        if puzzle.is_goal(state):
            yield state
        unseen += [puzzle.result(state, action) for action in reversed(puzzle.actions(state))]


@pytest.mark.parametrize("cell", ORDERS)
def test_there_are_288_small_grids(cell: Cell) -> None:
    """288 is the known number of 4x4 grids. Each is found once, for either order of cells."""
    puzzle = Sudoku(box=2, cell=cell)
    found = list(find_goals(puzzle, puzzle.parse_state("." * 16)))
    assert len(found) == len(set(found)) == 288
    assert count_solutions(geometry(2), geometry(2).blank, most=1000) == 288


@pytest.mark.parametrize("cell", ORDERS)
def test_a_published_puzzle_has_only_its_published_solution(cell: Cell) -> None:
    """The puzzle has 30 givens and 51 empty cells."""
    puzzle = Sudoku(cell=cell)
    state = puzzle.parse_state(PUZZLE)
    assert [puzzle.format_state(goal) for goal in find_goals(puzzle, state)] == [SOLUTION]
    assert puzzle.solutions(state) == 1
    assert empty_cells(puzzle, state) == 51


grids = st.lists(st.integers(0, 4), min_size=16, max_size=16)


@settings(max_examples=60, deadline=None)
@given(grids)
def test_solutions_and_conflicts_of_small_grids_agree_with_a_naive_search(cells: list[int]) -> None:
    """A grid is refused if two peers are equal. Otherwise it has as many solutions as the naive search finds."""
    puzzle = Sudoku(box=2)
    text = "".join(map(str, cells))
    if any(cells[a] == cells[b] != 0 for a in range(16) for b in peers(a, 2)):
        with pytest.raises(ValueError, match="both hold"):
            puzzle.parse_state(text)
        return
    state = puzzle.parse_state(text)
    expected = {"".join(map(str, cells)) for cells in all_solutions(cells, 2)}
    assert puzzle.solutions(state) == min(2, len(expected))
    for cell in ORDERS:
        ordered = Sudoku(box=2, cell=cell)
        assert {ordered.format_state(goal) for goal in find_goals(ordered, state)} == expected


@pytest.mark.parametrize(("box", "givens", "puzzles"), [(2, 0, 20), (3, 30, 2), (3, 0, 1)])
def test_random_puzzles_have_one_solution_and_the_requested_givens(box: int, givens: int, puzzles: int) -> None:
    """A naive search counts the solutions. If no number of givens is requested, no given can be removed."""
    puzzle = Sudoku(box=box, givens=givens)
    seen = set()
    for seed in range(puzzles):
        state = puzzle.initial(random.Random(seed))
        cells = list(puzzle.list_digits(state))
        assert len(list(all_solutions(cells, box))) == 1
        if givens:
            assert sum(map(bool, cells)) == givens
        else:
            for cell, digit in enumerate(cells):
                if digit:
                    spared = puzzle.parse_state("".join(map(str, [*cells[:cell], 0, *cells[cell + 1 :]])))
                    assert puzzle.solutions(spared) == 2
        seen.add(state)
    assert len(seen) == puzzles


@pytest.mark.parametrize("box", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.proof)])
def test_random_puzzles_of_any_size_are_solvable(box: int) -> None:
    """Depth-first search finds a grid in which every row, column and box holds every digit."""
    puzzle = Sudoku(box=box)
    n = box * box
    state = puzzle.initial(random.Random(box))
    given_cells = puzzle.list_digits(state)
    cells = puzzle.list_digits(next(find_goals(puzzle, state)))
    assert all(old in (0, new) for old, new in zip(given_cells, cells, strict=True))
    assert all(cells[cell] != cells[peer] for cell in range(n * n) for peer in peers(cell, box))
    assert set(cells) == set(range(1, n + 1))
    assert puzzle.parse_state(puzzle.format_state(state)) == state


def test_the_first_cell_takes_each_digit_that_no_peer_holds() -> None:
    """In the published puzzle, this is r1c3 with 1, 2 and 4."""
    puzzle = Sudoku(cell="first")
    state = puzzle.parse_state(PUZZLE)
    assert [puzzle.format_action(state, action) for action in puzzle.actions(state)] == ["r1c3=1", "r1c3=2", "r1c3=4"]
    after = puzzle.result(state, puzzle.parse_action(state, "r1c3=4"))
    assert puzzle.format_state(after) == PUZZLE[:2] + "4" + PUZZLE[3:]


def test_the_most_constrained_cell_has_the_fewest_digits() -> None:
    """A cell with one digit comes first, then a digit with one place, then the fewest digits. A dead end has no actions."""
    puzzle = Sudoku(box=2)

    def actions(*rows: str) -> list[str]:
        state = puzzle.parse_state("".join(rows))
        return [puzzle.format_action(state, action) for action in puzzle.actions(state)]

    assert actions("12..", "3...", "....", "....") == ["r2c2=4"]
    assert actions("1...", "..1.", "....", "...2") == ["r4c2=1"]  # every cell has at least two digits left
    assert actions("12..", "....", "....", "....") == ["r1c3=3", "r1c3=4"]
    assert actions("....", "....", "....", "....") == ["r1c1=1", "r1c1=2", "r1c1=3", "r1c1=4"]
    assert actions("123.", "....", "....", "...4") == []
    usual = Sudoku()
    state = usual.parse_state("." * 72 + "123456...")  # row 9 has three digits left, other rows have more
    assert [usual.format_action(state, action) for action in usual.actions(state)] == ["r9c7=7", "r9c7=8", "r9c7=9"]


def test_a_digit_without_a_place_is_a_dead_end() -> None:
    """Each empty cell of row 2 has 3 and 4 left. Digit 1 has no place there because of the 1s in rows 1 and 3."""
    text = "..1..2..1......."
    assert Sudoku(box=2).actions(Sudoku(box=2).parse_state(text)) == ()
    assert Sudoku(box=2).solutions(Sudoku(box=2).parse_state(text)) == 0
    assert len(Sudoku(box=2, cell="first").actions(Sudoku(box=2).parse_state(text))) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PUZZLE[:-1], "expected 81 characters, one per cell, got 80"),
        (PUZZLE + ".", "got 82"),
        ("", "got 0"),
        (PUZZLE[:20] + "x" + PUZZLE[21:], "expected 1 to 9, or . for an empty cell, got 'X' at r3c3"),
        (".5....5.." + "." * 72, "r1c2 and r1c7 both hold 5"),
        (".5......." + "." * 63 + ".5.......", "r1c2 and r9c2 both hold 5"),
        ("5........" + "..5......" + "." * 63, "r1c1 and r2c3 both hold 5"),
        ("5" * 81, "r1c1 and r1c2 both hold 5"),
    ],
)
def test_invalid_position_text_is_refused_with_a_reason(text: str, reason: str) -> None:
    """The reason names the length, the letter, or the conflicting cells."""
    with pytest.raises(ValueError, match=reason):
        Sudoku().parse_state(text)


def test_puzzles_with_no_or_several_solutions_are_accepted() -> None:
    """Only conflicts are refused. In the first puzzle, r1c9 has no digit left."""
    puzzle = Sudoku()
    assert puzzle.solutions(puzzle.parse_state("12345678.........9" + "." * 63)) == 0
    assert puzzle.solutions(puzzle.parse_state("." * 81)) == 2


def test_zeros_are_blanks_and_letters_are_digits_of_larger_grids() -> None:
    """Zero and dot are the same. A is 10 in either case, and G is the last digit with boxes of 4x4."""
    assert Sudoku().parse_state(PUZZLE.replace(".", "0")) == Sudoku().parse_state(f" {PUZZLE}\n")
    large = Sudoku(box=4)
    state = large.parse_state("aG1" + "." * 253)
    assert large.format_state(state) == "AG1" + "." * 253
    assert list(large.list_digits(state))[:4] == [10, 16, 1, 0]
    with pytest.raises(ValueError, match="expected 1 to G"):
        large.parse_state("H" + "." * 255)
    assert Sudoku(box=2).render(Sudoku(box=2).parse_state("12..............")).splitlines()[:3] == [
        "1 2 | . .",
        ". . | . .",
        "----+----",
    ]


def test_invalid_parameters_are_refused() -> None:
    """The parameters have more givens than cells, no box, a box that is too large, or an unknown order of cells."""
    with pytest.raises(ValueError, match="givens: expected at most 16"):
        Sudoku(box=2, givens=17)
    hints: dict[str, Any] = get_type_hints(Sudoku.__init__, include_extras=True)
    for name, value in (("box", 0), ("box", 6), ("givens", -1), ("cell", "last")):
        with pytest.raises(ValidationError):
            TypeAdapter(hints[name]).validate_python(value)


def test_only_a_full_grid_without_conflicts_is_a_goal() -> None:
    """Invalid integers are not goals: two exchanged digits, or cells with two digits and others with none."""
    puzzle = Sudoku()
    goal = puzzle.parse_state(SOLUTION)
    assert puzzle.is_goal(goal)
    assert not any(puzzle.is_goal(goal ^ 1 << bit) for bit in range(810))
    assert not any(map(puzzle.is_goal, (0, -1, -goal, puzzle.grid.digit_planes)))
    swapped = goal
    for cell, shift in product((SOLUTION.index("1"), SOLUTION.index("2")), puzzle.grid.shifts[:2]):
        swapped ^= 1 << cell + shift  # r1c8 and r1c9 exchange their digits
    assert not puzzle.is_goal(swapped)
    ones, twos = [goal >> shift & puzzle.grid.plane for shift in puzzle.grid.shifts[:2]]
    assert not puzzle.is_goal(goal ^ (ones ^ twos) << puzzle.grid.shifts[1])


@pytest.mark.parametrize("cell", ORDERS)
def test_the_conformance_checks_pass_for_the_game_and_its_heuristics(cell: Cell) -> None:
    """The heuristic must be consistent."""
    for box in (1, 2, 3):
        check_game(Sudoku(box=box, cell=cell), matches=1)
        assert {"range", "consistent"} <= set(check_heuristic(empty_cells, Sudoku(box=box, cell=cell), matches=1))
    assert set(Traits.of(Sudoku())) == {"single-player", "solution-only", "constraint"}


class Filler(Agent):
    """An agent that returns the path to the first goal, found depth first."""

    name = "filler"

    def solve(self, game: Any, state: Any, search: Search) -> Path:
        unseen: list[tuple[Any, tuple[Any, ...]]] = [(state, ())]
        while True:
            state, done = unseen.pop()
            if game.is_goal(state):
                return Path(done)
            unseen += [(game.result(state, action), (*done, action)) for action in game.actions(state)]


def test_a_path_is_replayed_from_the_position() -> None:
    """The referee accepts the path as a solution, with one move for each empty cell."""
    record = play(Sudoku(), [Filler()], position=PUZZLE)
    assert (record.solved, record.termination, record.moves) == (True, "normal", 51)


def test_an_answer_must_keep_the_givens() -> None:
    """A full grid without conflicts does not solve another puzzle."""
    puzzle = Sudoku(box=2)

    class Filler(Agent):
        """An agent that returns the same grid for every puzzle."""

        name = "filler"

        def __init__(self, *, grid: str) -> None:
            self.grid = grid

        def solve(self, game: Any, state: Any, search: Any) -> Answer:
            return Answer(game.parse_state(self.grid))

    for grid, solved in (("1234341221434321", True), ("2134342112434312", False)):
        record = play(puzzle, Filler(grid=grid), position="1...............")
        assert puzzle.is_goal(puzzle.parse_state(grid))
        assert record.solved is solved
        assert record.termination == "normal"


@pytest.mark.parametrize("box", [1, 2, 3])
def test_candidates_agree_with_a_check_of_all_cells(box: int) -> None:
    """The candidates are compared at each step of random fillings."""
    puzzle, rng, size = Sudoku(box=box), random.Random(box), box * box
    for _ in range(3):
        state = puzzle.initial(rng)
        while True:
            digits = puzzle.list_digits(state)
            expected = 0
            for cell in [cell for cell, digit in enumerate(digits) if not digit]:
                row, column = divmod(cell, size)
                peers = {
                    digits[size * r + c]
                    for r in range(size)
                    for c in range(size)
                    if r == row or c == column or (r // box == row // box and c // box == column // box)
                }
                expected += len(set(range(1, size + 1)) - peers)
            assert candidates(puzzle, state) == expected
            if not (actions := puzzle.actions(state)):
                break
            state = puzzle.result(state, rng.choice(actions))


ROWS = [PUZZLE[at : at + 9] for at in range(0, 81, 9)]


def test_a_drawn_grid_can_be_read(tmp_path: pathlib.Path) -> None:
    for box in (2, 3, 4):
        game = Sudoku(box=box)
        state = game.initial(random.Random(box))
        assert game.parse_state(game.render(state)) == state


@pytest.mark.parametrize("blank", list(".0-_*"))
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.txt", "# easy\n  # indented\n{one}\n{one}\n"),
        ("p.txt", "{rows}\n\n{rows}\n"),
        ("p.txt", "  # rows\n{spaced}\n{spaced}"),
        ("p.csv", "puzzle,solution\n{one},x\n{one},y\n"),
        ("p.txt", "id,puzzle\n1,{one}\n2,{one}\n"),
        ("p.csv", "puzzle\n{one}\n{one}\n"),
        ("p.csv", "id;puzzle;rating\n1;{one};1,5\n2;{one};2,5\n"),
        ("p.tsv", "id\tpuzzle\n1\t{one}\n2\t{one}\n"),
        ("p.txt", "{boxes}\n\n{boxes}\n"),
    ],
)
def test_puzzle_files_may_have_any_of_the_usual_formats(tmp_path: pathlib.Path, name: str, text: str, blank: str) -> None:
    """The formats are one line, nine lines, spaces between cells, lines between boxes, and a column of a CSV file with a header,
    whose cells may be separated by semicolons or tabs.
    """
    one = PUZZLE.replace(".", blank)
    rows = [one[at : at + 9] for at in range(0, 81, 9)]
    bands = ["\n".join([f"{row[:3]} | {row[3:6]} | {row[6:]}" for row in rows[at : at + 3]]) for at in (0, 3, 6)]
    shown = {"rows": "\n".join(rows), "spaced": "\n".join(map(" ".join, rows)), "boxes": "\n----+-----+----\n".join(bands)}
    (tmp_path / name).write_text(text.format(one=one, **shown))
    (tmp_path / "cup.yaml").write_text(f"game: sudoku\nagents: [dfs]\npositions: {name}\n")
    assert load_spec(tmp_path / "cup.yaml").boards[0].positions.texts == (PUZZLE, PUZZLE)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("p.txt", f"{PUZZLE[:-1]}\n{PUZZLE}\n", "p.txt:1:.* got 80; the file was read with one position per line"),
        ("p.csv", f"puzzle\n{PUZZLE}\n{PUZZLE}1\n", "p.csv:3:.* got 82; the file was read as CSV with a header .* 'puzzle'"),
        ("p.csv", f"puzzle;id\n{PUZZLE}1;1\n", "p.csv:2:.* got 82; the file was read as CSV with a header .* 'puzzle'"),
        ("p.txt", "\n".join([*ROWS, *ROWS[:8]]), "p.txt:10:.* got 72; the file was read with one position per 9"),
    ],
)
def test_an_invalid_line_is_reported_with_the_format_of_the_file(
    tmp_path: pathlib.Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "cup.yaml").write_text(f"game: sudoku\nagents: [dfs]\npositions: {name}\n")
    with pytest.raises(SpecError, match=words):
        load_spec(tmp_path / "cup.yaml")
