"""Test Sokoban against a naive implementation with single steps of the man, and the matching against scipy."""

import random
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

import arena
from arena.heuristics import bind
from arena.plugins.registry import Registry
from arena.testing import check_game, check_heuristic
from arena_games.sokoban import LEVELS, Sokoban
from arena_games.sokoban_heuristics import DeadlockSquares, Matching, NearestGoal
from arena_games.sokoban_level import LOST

STEPS = {"l": (0, -1), "u": (-1, 0), "r": (0, 1), "d": (1, 0)}
Cell = tuple[int, int]
Level = tuple[dict[Cell, str], frozenset[Cell], Cell]
"""The marks of a level, its boxes and its man."""


def read(rows: list[str]) -> Level:
    marks = {(row, column): mark for row, line in enumerate(rows) for column, mark in enumerate(line)}
    (man,) = [cell for cell, mark in marks.items() if mark in "@+"]
    return marks, frozenset(cell for cell, mark in marks.items() if mark in "$*"), man


def read_levels() -> list[tuple[list[str], int]]:
    """Return the levels of the file with the numbers of pushes in their comments."""
    blocks = [block.splitlines() for block in LEVELS.read_text().split("\n\n")[1:]]
    return [(rows, int(head.split()[-2])) for head, *rows in blocks]


def step(level: Level, boxes: frozenset[Cell], man: Cell, letter: str) -> tuple[frozenset[Cell], Cell, bool] | None:
    """Return the boxes and the man after a step, and whether it was a push; or None if something is in the way."""
    down, right = STEPS[letter]
    to, beyond = (man[0] + down, man[1] + right), (man[0] + 2 * down, man[1] + 2 * right)
    if level[0][to] == "#" or (to in boxes and (level[0][beyond] == "#" or beyond in boxes)):
        return None
    return (boxes - {to} | {beyond}, to, True) if to in boxes else (boxes, to, False)


def count_pushes(level: Level) -> dict[tuple[frozenset[Cell], Cell], int]:
    """Return the fewest pushes to each arrangement of boxes and man, by a search over single steps in which only pushes cost."""
    start = (level[1], level[2])
    counts, waiting = {start: 0}, deque([start])
    while waiting:
        boxes, man = waiting.popleft()
        for letter in STEPS:
            after = step(level, boxes, man, letter)
            if after is not None:
                key, count = after[:2], counts[boxes, man] + after[2]
                if count < counts.get(key, LOST):
                    counts[key] = count
                    (waiting.append if after[2] else waiting.appendleft)(key)
    return counts


def write_xsb(level: Level, boxes: frozenset[Cell], man: Cell) -> str:
    """Return a state in XSB notation."""
    marks = {cell: "." if mark in ".*+" else "#" if mark == "#" else "-" for cell, mark in level[0].items()}
    for cell in boxes:
        marks[cell] = "*" if marks[cell] == "." else "$"
    marks[man] = "+" if marks[man] == "." else "@"
    width = 1 + max(column for _, column in marks)
    signs = "".join(marks.values())
    return "|".join([signs[row : row + width] for row in range(0, len(signs), width)])


@pytest.mark.parametrize("number", [1, *[pytest.param(number, marks=pytest.mark.proof) for number in (2, 3)]])
def test_a_star_finds_the_fewest_pushes(number: int) -> None:
    """The naive implementation counts the fewest pushes, and replays the solution of each heuristic to the goal."""
    rows, pushes = read_levels()[number - 1]
    level = read([row.replace(" ", "-").ljust(8, "#") for row in rows])
    goals = frozenset(cell for cell, mark in level[0].items() if mark in ".*+")
    assert min(count for (boxes, _), count in count_pushes(level).items() if boxes == goals) == pushes
    for name in ("matching", "nearest-goal", "deadlock-squares"):
        record = arena.play({"name": "sokoban", "level": number}, "a-star", heuristics=name)
        boxes, man = level[1:]
        for letter in (text := "".join(record.actions)):
            after = step(level, boxes, man, letter.lower())
            assert after is not None
            assert after[2] == letter.isupper()
            boxes, man = after[:2]
        assert boxes == goals
        assert (sum(map(str.isupper, text)), record.cost) == (pushes, pushes)


def test_heuristics_never_exceed_the_remaining_pushes() -> None:
    """All reachable arrangements of a small level are compared. The estimate is 10,000 exactly for unsolvable arrangements."""
    rows = ["#######", "#@    #", "# $.# #", "#  $. #", "#     #", "#######"]
    level = read([row.replace(" ", "-") for row in rows])
    goals = frozenset({(2, 3), (3, 4)})
    states = count_pushes(level)
    back: dict[Any, list[Any]] = {}
    for boxes, man in states:
        for letter in STEPS:
            after = step(level, boxes, man, letter)
            if after is not None:
                back.setdefault(after[:2], []).append(((boxes, man), after[2]))
    left = {key: 0 for key in states if key[0] == goals}
    waiting = deque(left)
    while waiting:
        key = waiting.popleft()
        for before, push in back.get(key, ()):
            if left[key] + push < left.get(before, LOST):
                left[before] = left[key] + push
                (waiting.append if push else waiting.appendleft)(before)
    puzzle = make_level(rows)
    kinds = {kind: bind(kind, puzzle) for kind in (Matching, NearestGoal, DeadlockSquares)}
    lost, seen = 0, dict[Any, int | None]()
    for boxes, man in states:
        state = puzzle.parse_state(write_xsb(level, boxes, man))
        fewest = left.get((boxes, man))
        assert seen.setdefault(state, fewest) == fewest  # states that differ only by a walk are equal
        values = [estimate(state) for estimate in kinds.values()]
        assert values[0] >= values[1] >= values[2] or min(values[:2]) == LOST
        assert fewest is None or max(values) <= fewest
        lost += values[2] == LOST
        for action in puzzle.actions(state):
            successor = puzzle.result(state, action)
            assert all(estimate(state) <= 1 + estimate(successor) for estimate in kinds.values())
    assert 0 < lost <= len(states) - len(left) < len(states)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_level(rows: list[str], **options: Any) -> Sokoban:
    Path("own.xsb").write_text("; mine\n" + "\n".join(rows) + "\nTitle: #1\n")
    return Sokoban(file="own.xsb", **options)


@pytest.mark.parametrize("number", range(1, 11))
def test_the_matching_agrees_with_scipy(number: int) -> None:
    """The built-in levels have at most 12 boxes. Pushes of a single box are counted on a level without other boxes."""
    puzzle = Sokoban(level=number)
    assert puzzle.boxes <= 12
    estimate, nearest, rng = Matching(puzzle), NearestGoal(puzzle), random.Random(number)
    goals = [cell for cell in puzzle.places if puzzle.goals >> cell & 1]
    pushes = {goal: count_box_pushes(puzzle, goal) for goal in goals}
    for _ in range(30):
        cells = sorted(rng.sample(puzzle.places, puzzle.boxes))
        costs = np.array([[pushes[goal].get(cell, LOST) for goal in goals] for cell in cells])
        state = (sum(1 << cell for cell in cells), 0)
        assert estimate(state) == min(LOST, costs[linear_sum_assignment(costs)].sum())
        assert nearest(state) == min(LOST, costs.min(axis=1).sum())


def count_box_pushes(puzzle: Sokoban, goal: int) -> dict[int, int]:
    """Return the fewest pushes of a single box to a goal from each cell, with the man on any side of it."""
    cells, found = set(puzzle.places), {goal: 0}
    for _ in cells:
        for cell in cells:
            ways = [found[cell + way] + 1 for way in puzzle.offsets if cell + way in found and cell - way in cells]
            found |= {cell: min([*ways, found.get(cell, LOST)])} if ways else {}
    return found


@pytest.mark.proof
def test_a_star_finds_the_fewest_pushes_on_all_levels() -> None:
    """The last level has a test of its own, because it takes 2.8 million nodes."""
    for number, (_, pushes) in enumerate(read_levels()[:9], 1):
        assert arena.play({"name": "sokoban", "level": number}, "a-star").cost == pushes


LAST_SOLUTION = (
    "ddddddrrrrrrUdlllllluuuuuuddddddrrrrrUdllllluuuuuuddddddrrrrUdlllluuuuuuddddddrruRldlluuuuuuddddddrrurRlldlluu"
    "uuuudddddRluuuuudddddrRlluuuuudddddrrdrrrruUddlllllluuuuuudddddrrdrruRldlllluuuuuudddddrrRllluuuuudddddrrrdrru"
    "UddllllluuuuuudddddrrrRlllluuuuudddddrrrrUdlllluuuuudddddrUluuuuddddrdrrrurUdldlllluuuuuddddrdrrruruUddldllllu"
    "uuuurrddRluullddRluuddddrUluuudddrddrrruruurUdlddldlllluuuuudddrddrrrurrUldldlllluuuuudddrddrrrdrrUdlllllluuuu"
    "uudddrddrrrdrruUlldlllluuuuudddrddrrruruuUdddldlllluuuuudddrddrrrdrUllllluuuuudddrddrrrrUldlllluuuuurrdRlullrr"
    "drdRlulullrrdrRllullrrdrrRlllulldRlurdRlludddrUluuddrRlluurrddRllluurrdRlullrrdrRllulldRlurdRllurrdRlllu"
)
"""A solution of level 10 in LURD notation, found by A*."""


def test_the_last_level_needs_40_pushes() -> None:
    """The naive implementation replays a solution of 40 pushes. scipy's matching proves that none is shorter."""
    rows, pushes = read_levels()[9]
    level = read([row.replace(" ", "-") for row in rows])
    boxes, man = level[1:]
    for letter in LAST_SOLUTION:
        after = step(level, boxes, man, letter.lower())
        assert after is not None
        assert after[2] == letter.isupper()
        boxes, man = after[:2]
    assert boxes == frozenset(cell for cell, mark in level[0].items() if mark in ".*+")
    puzzle = Sokoban(level=10)
    cells = [cell for cell in puzzle.places if puzzle.start[0] >> cell & 1]
    goals = [count_box_pushes(puzzle, goal) for goal in puzzle.places if puzzle.goals >> goal & 1]
    costs = np.array([[goal.get(cell, LOST) for goal in goals] for cell in cells])
    assert sum(map(str.isupper, LAST_SOLUTION)) == pushes == costs[linear_sum_assignment(costs)].sum() == 40


def test_shuffled_states_are_solvable() -> None:
    """A shuffle pulls boxes from the goals, and a pull is a push backwards."""
    puzzle = Sokoban(level=3, shuffle=9)
    assert len({puzzle.initial(random.Random(seed)) for seed in range(30)}) > 20
    for seed in range(3):
        record = arena.play({"name": "sokoban", "level": 3, "shuffle": 9}, "a-star", seed=seed)
        assert record.cost in range(1, 10)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (["####", "#@ #", "####"], "as many boxes as goals, got 0 and 0"),
        (["#####", "#@$ #", "#  .", "#####"], "walls around the man"),
        (["######", "#@$ .#", "#$. .#", "######"], "got 2 and 3"),
        (["######", "#$   #", "# @ .#", "######"], "level 1 of own.xsb is unsolvable"),
        (["#######", "#@$.#$#", "#####.#", "#######"], "cannot reach .* in row 2"),
        (["#####", "#   #", "#####"], "one man, @ or [+], got 0"),
    ],
)
def test_invalid_levels_are_refused_with_a_reason(rows: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make_level(rows)


def test_invalid_texts_are_refused_with_a_reason() -> None:
    puzzle = make_level(["######", "#@$ .#", "######"])
    start = puzzle.parse_state("######|#@$_.#|######")
    assert start == puzzle.start
    assert puzzle.render(start) == "######\n#@$ .#\n######"
    assert [puzzle.format_action(start, action) for action in puzzle.actions(start)] == ["Rl"]
    assert puzzle.parse_action(start, "R") == puzzle.parse_action(start, "Rl")
    assert puzzle.grid(puzzle.result(start, puzzle.parse_action(start, "R")))[1] == ["#", "@", "", "$", ".", "#"]
    for text, reason in (
        ("r", "capital letter"),
        ("lR", "free cells"),
        ("L", "no box"),
        ("xR", "lowercase letters"),
        ("", "capital"),
    ):
        with pytest.raises(ValueError, match=reason):
            puzzle.parse_action(start, text)
    for text, reason in (("####|#@.#|####", "walls and goals"), ("######|#$$@.#|######", "1 boxes and one man, got 2 and 1")):
        with pytest.raises(ValueError, match=reason):
            puzzle.parse_state(text)
    with pytest.raises(ValueError, match="has 10 levels, got 11"):
        Sokoban(level=11)
    with pytest.raises(ValueError, match=r"XSB format, got 'none\.xsb'"):
        Sokoban(file="none.xsb")


@pytest.mark.parametrize("settings", [{"level": 1}, {"level": 10, "shuffle": 4}])
def test_the_conformance_checks_pass(settings: dict[str, int], registry: Registry) -> None:
    game = registry.game("sokoban")(**settings)
    check_game(game, matches=1)
    for name in ("matching", "nearest-goal", "deadlock-squares") if "shuffle" not in settings else ():
        check_heuristic(name, game, matches=1)
