"""Makes the positions that specs use: `generate.py [FILE...]` writes those files beside itself, or all.

* `sudoku-hard.txt`: of 600 minimal puzzles with one solution each, drawn from fixed seeds, the 100 that take depth-first search
  on the most constrained cell the most nodes.
* `connect-four-openings.txt`, `othello-openings.txt`: of all positions after 4 and after 6 plies, one of those that are views of
  each other in a mirror or turned; where nobody has a threat and whoever moves has a choice; which alpha-beta at 6 and at 4 plies
  with the game's default heuristic finds balanced: a value from -0.05 to 0.05. Fifty of them, in an order drawn from a fixed
  seed.
"""

import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from arena import Game, State, play
from arena_games.connect_four import ConnectFour
from arena_games.othello import Othello
from arena_games.sudoku import Sudoku

DRAWN, KEPT = 600, 100
OPENINGS = 50
MARGIN = 0.05
"""The largest value, to either side, of a position that counts as balanced."""


class OpeningRules(NamedTuple):
    """How the openings of a game are chosen."""

    game: Game
    plies: int
    depth: int
    """Plies of the search that says whether a position is balanced."""
    symmetries: Callable[[list[str]], Iterator[list[str]]]
    """The rows of a board seen from all sides, as they are among them."""


def mirrored(rows: list[str]) -> Iterator[list[str]]:
    """The two views of a board whose rows are not alike: as it is, and in a mirror."""
    yield rows
    yield [row[::-1] for row in rows]


def turned(rows: list[str]) -> Iterator[list[str]]:
    """The eight views of a square board."""
    for _ in range(4):
        rows = ["".join(column) for column in zip(*rows[::-1], strict=True)]
        yield from mirrored(rows)


RULES = {
    "connect-four-openings.txt": OpeningRules(ConnectFour(), 4, 6, mirrored),
    "othello-openings.txt": OpeningRules(Othello(), 6, 4, turned),
}


def main(names: list[str]) -> None:
    """Write the files of these names, or all."""
    makers = {"sudoku-hard.txt": sudokus, **{name: partial(openings, rules) for name, rules in RULES.items()}}
    for name in names or makers:
        head, positions = makers[name]()
        Path(__file__).with_name(name).write_text("\n".join([f"# {head}; made by generate.py", *positions]) + "\n", "utf-8")


def sudokus() -> tuple[str, list[str]]:
    """Draw, rate and keep the hardest puzzles; return a line about them, and them."""
    puzzle = Sudoku(givens=0)
    drawn = [puzzle.format_state(puzzle.initial(random.Random(f"sudoku/{number}"))) for number in range(DRAWN)]
    return f"{KEPT} minimal sudokus with one solution each, the hardest first", sorted(drawn, key=nodes, reverse=True)[:KEPT]


def nodes(text: str) -> int:
    """What depth-first search needs for a puzzle."""
    return play("sudoku", {"agent": "dfs", "visited": False}, position=text).decisions[0].nodes


def openings(rules: OpeningRules) -> tuple[str, list[str]]:
    """Collect, shuffle and keep the first balanced positions of a game; return a line about them, and them."""
    found = sorted(candidates(rules))
    random.Random(f"{rules.game.name}/openings").shuffle(found)
    kept = []
    for text in found:
        if abs(value(rules, text)) <= MARGIN:
            kept.append(text)
        if len(kept) == OPENINGS:
            break
    return f"{len(kept)} balanced positions of {rules.game.name} after {rules.plies} plies, no two of them alike", kept


def candidates(rules: OpeningRules) -> set[str]:
    """The quiet positions after so many plies; of those that are views of one another, the first in the alphabet."""
    game, states = rules.game, {rules.game.initial(random.Random(0))}
    for _ in range(rules.plies):
        states = {game.result(state, action) for state in states for action in game.actions(state)}
    texts = {game.format_state(state) for state in states if is_quiet(game, state)}
    return {text for text in texts if text == min(texts & views(rules, text))}


def is_quiet(game: Game, state: State) -> bool:
    """Tell whether play goes on, nobody has a threat, and whoever moves has a choice."""
    return not game.is_terminal(state) and game.is_quiet(state) and len(game.actions(state)) > 1


def views(rules: OpeningRules, text: str) -> set[str]:
    """The texts of a position as it is seen from all sides."""
    board, space, mover = text.partition(" ")
    return {"/".join(view) + space + mover for view in rules.symmetries(board.split("/"))}


def value(rules: OpeningRules, text: str) -> float:
    """What a position is worth to whoever moves, by a search of limited depth."""
    searcher = {"agent": "alpha-beta", "depth": rules.depth, "table": True}
    found = play(rules.game, [searcher, searcher], position=text, limits={"moves": 1}).decisions[0].value
    assert found is not None
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
