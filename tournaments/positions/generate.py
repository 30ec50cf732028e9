"""Makes the positions that specs use: 100 hard sudokus, minimal and with one solution each.

Of 600 minimal puzzles drawn from fixed seeds it keeps those that take depth-first search on the most constrained cell the most
nodes. `python tournaments/positions/generate.py` writes sudoku-hard.txt beside itself.
"""

import random
from pathlib import Path

from arena import play
from arena_games.sudoku import Sudoku

DRAWN, KEPT = 600, 100


def main() -> None:
    """Draw, rate and write."""
    puzzle = Sudoku(givens=0)
    drawn = [puzzle.format_state(puzzle.initial(random.Random(f"sudoku/{number}"))) for number in range(DRAWN)]
    hardest = sorted(drawn, key=nodes, reverse=True)[:KEPT]
    head = "# 100 minimal sudokus with one solution each, the hardest first; made by generate.py"
    Path(__file__).with_name("sudoku-hard.txt").write_text("\n".join([head, *hardest]) + "\n", "utf-8")


def nodes(text: str) -> int:
    """What depth-first search needs for a puzzle."""
    return play("sudoku", {"agent": "dfs", "visited": False}, position=text).decisions[0].nodes


if __name__ == "__main__":
    main()
