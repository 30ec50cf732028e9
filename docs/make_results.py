"""Writes docs/results.md: plays the specs in tournaments/seeds and sets their figures beside those of the five texts.

Run it with `make results`. Nothing in the page is typed in but what the texts say and the sentences around the tables.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import thread_time
from typing import Any, NamedTuple

from arena import run
from arena.console.progress import Progress
from arena.results import figures
from arena.results.layout import table
from arena.results.leaderboard import Leaderboard, leaderboards
from arena.spec import load_spec
from arena.tournament.results import Results
from arena_agents.depth_first import IdaStar
from arena_games.pattern_db import PatternDB
from arena_games.sliding_tiles import SlidingTiles

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the twins in C are among the benches
SEEDS = ROOT / "tournaments" / "seeds"
PAGE = ROOT / "docs" / "results.md"

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], str]]


class Section(NamedTuple):
    """One spec, what is said about it, and the figures of the text, by (board title, agent)."""

    spec: str
    title: str
    before: str
    columns: Sequence[Column]
    texts: Mapping[tuple[str, str], str] = {}


def share(row: Row) -> str:
    """Solved share with its interval."""
    return f"{100 * row['solved']:.1f} % ({100 * row['solved_low']:.1f} to {100 * row['solved_high']:.1f})"


def figure(key: str) -> Callable[[Row], str]:
    """A mean of a row, as tables show it."""
    return lambda row: figures.figure(row[key])


SOLVED: Column = ("Solved (95 %)", share)
MOVES: Column = ("Mean moves", figure("mean_moves"))
FAILED: Column = ("Moves if unsolved", figure("mean_moves_failed"))
NODES: Column = ("Nodes", figure("nodes_per_attempt"))
SECONDS: Column = ("Seconds", figure("seconds_per_attempt"))

SECTIONS = [
    Section(
        "tile-game",
        "The tile game",
        "Text 1 shuffled the 8-puzzle by 20, 50 and 100 random slides, 100 boards each, and allowed 1000 moves. Its figures: share solved, "
        "mean moves. The exact chances are 9.7, 74.8 and 88.2 % at 20 slides, 2.3, 29.9 and 50.4 % at 50, 0.5, 7.5 and 21.7 % at 100. "
        "A* solves every board.",
        [SOLVED, MOVES, NODES, SECONDS],
        {
            ("sliding-tiles (shuffle=20)", "random"): "3 %, 338.7",
            ("sliding-tiles (shuffle=20)", "greedy"): "65 %, 7.0",
            ("sliding-tiles (shuffle=20)", "lookahead"): "83 %, 22.3",
            ("sliding-tiles (shuffle=50)", "random"): "3 %, 19.3",
            ("sliding-tiles (shuffle=50)", "greedy"): "36 %, 9.1",
            ("sliding-tiles (shuffle=50)", "lookahead"): "55 %, 63.7",
            ("sliding-tiles (shuffle=100)", "random"): "1 %, 36",
            ("sliding-tiles (shuffle=100)", "greedy"): "4 %, 10",
            ("sliding-tiles (shuffle=100)", "lookahead"): "23 %, 184.3",
        },
    ),
    Section(
        "eight-puzzle",
        "The 8-puzzle",
        "Text 2 says that A* finds a solution in less time than brute force, and gives no figures. On the same 100 positions all of these are "
        "optimal; how many states they generate is another matter.",
        [SOLVED, MOVES, NODES, SECONDS],
    ),
    Section(
        "fifteen-puzzle",
        "The 15-puzzle",
        "A reader of text 2 found A* extremely slow on the 15-puzzle and wanted any solution, quickly. IDA* with pattern databases finds shortest "
        "ones; a weight above 1 on the heuristic of A* gives up optimality for speed, within that factor. 100 positions, drawn uniformly from all "
        "that can be solved.",
        [SOLVED, MOVES, NODES, SECONDS],
    ),
    Section(
        "eight-queens",
        "Hill climbing on 8 queens",
        "Text 4's variants: only uphill; up to 100 sideways moves with the first of the best successors; the same with a random one; and with "
        "restarts. Its figures: share solved, mean steps to solve, mean steps to fail. It leaves the last move out of its counts.",
        [SOLVED, MOVES, FAILED, NODES, SECONDS],
        {
            ("n-queens", "strict"): "14.0 %, 3.05, 2.98",
            ("n-queens", "sideways, first"): "31.4 %, 4.31, 100",
            ("n-queens", "sideways, random"): "94.3 %, 17.8, 62.6",
            ("n-queens", "with restarts"): "100 %, 22.4, -",
        },
    ),
    Section(
        "queens-by-size",
        "Hill climbing by the size of the board",
        "Text 4 with random sideways moves, 1000 boards each.",
        [SOLVED, MOVES, FAILED, NODES, SECONDS],
        {
            ("n-queens (n=8)", "sideways, random"): "93.6 %, 18.5, 74.2",
            ("n-queens (n=10)", "sideways, random"): "89.2 %, 29.3, 93.8",
            ("n-queens (n=15)", "sideways, random"): "96.8 %, 29.2, 86.2",
        },
    ),
    Section(
        "queens-large",
        "Many queens",
        "Text 4 gave up on one board of 100 by 100.",
        [SOLVED, MOVES, NODES, SECONDS],
    ),
    Section(
        "sudoku",
        "Sudoku",
        "Text 5 searches depth first and fills the first empty cell. The 100 puzzles are minimal and have one solution each; the budget is a million nodes.",
        [SOLVED, NODES, SECONDS],
    ),
]


def main() -> None:
    """Play everything and write the page."""
    parts = [_HEAD]
    for section in SECTIONS:
        parts.append(_solved(section, _played(section.spec)))
        if section.spec == "fifteen-puzzle":
            parts.append(_korf())
            parts.append(_type_a(_played("type-a")))
    PAGE.write_text("\n".join(parts), "utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)


_HEAD = """# Results

Every comparison in the five texts that fairarena grew out of, played by the specs in `tournaments/seeds`, with the texts' figures beside.
The intervals are 95 % (Wilson). `make results` makes this page; times are of the machine that made it.
"""


def _played(name: str) -> Results:
    spec = load_spec(SEEDS / f"{name}.yaml")
    with Progress(spec.boards, sum(board.size for board in spec.boards), sys.stderr) as progress:
        return run(spec, workers=os.cpu_count() or 1, observe=progress.note)


def _solved(section: Section, results: Results) -> str:
    rows = [
        [
            board.title,
            row["agent"],
            *[show(row) for _, show in section.columns],
            section.texts.get((board.title, row["agent"]), "-"),
        ]
        for board in leaderboards(results)
        for row in board.rows
    ]
    headings = ["Board", "Agent", *[title for title, _ in section.columns], "The text"]
    if not section.texts:
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    return f"\n## {section.title}\n\n{section.before}\n\n{table(headings, rows, 'pipe')}\n"


def _korf() -> str:
    """Whole decisions, each with the time of a twin in C that takes the same tables right after: seconds of the processor."""
    from tests.bench.bench_compiled import decided, lines
    from tests.bench.twin import PatternTwin

    game = SlidingTiles(rows=4, columns=4, goal="blank-first")
    rows, totals = [], [0.0] * 4
    with tempfile.TemporaryDirectory() as folder:
        twin = PatternTwin(game, "6-6-3", Path(folder))
        evaluation = PatternDB(game, partition="6-6-3")
        os.environ["ARENA_COMPILE"] = "always"
        decided(IdaStar(), game, game.parse_state(lines("korf-1985.txt")[0]), evaluation)  # compiles
        del os.environ["ARENA_COMPILE"]
        for number, position in enumerate(map(game.parse_state, lines("korf-1985.txt")), 1):
            began = thread_time()
            found, nodes = decided(IdaStar(), game, position, evaluation)
            between = thread_time()
            length, _ = twin.solve(position)
            seconds = between - began, thread_time() - between
            assert length == len(found.actions), (number, length, found)
            totals = [total + one for total, one in zip(totals, (length, nodes, *seconds), strict=True)]
            rows.append([number, length, f"{nodes:,}", *[f"{1e3 * one:.1f}" for one in seconds]])
    slides, generated, ours, theirs = [total / len(rows) for total in totals]
    words = (
        "The hundred positions (`tournaments/positions/korf-1985.txt`) of R. Korf's paper of 1985, solved by IDA* with the pattern databases 6-6-3 and their mirror image, compiled; and the "
        f"time that a twin in C takes with the same tables (`tests/bench/twins`), both in milliseconds of the processor. On average {slides:.2f} slides, as is known, {generated:,.0f} nodes, "
        f"{1e3 * ours:.1f} ms, and {1e3 * theirs:.1f} ms in C: {ours / theirs:.2f} times."
    )
    return f"\n## Korf's hundred\n\n{words}\n\n{table(['Position', 'Slides', 'Nodes', 'ms', 'ms in C'], rows, 'pipe')}\n"


def _type_a(results: Results) -> str:
    board: Leaderboard = leaderboards(results)[0]
    rows = [
        [row["agent"], f"{row['wins']}/{row['draws']}/{row['losses']}", figure("nodes_per_move")(row), figure("ms_per_move")(row)]
        for row in board.rows
    ]
    words = (
        "Text 3 gives no figures. All four play alike on tic-tac-toe, where every game between them is drawn; Type A looks at fewer positions than "
        "minimax, and Type A Plus at fewer than a fifth of those."
    )
    return f"\n## Type A and Type A Plus\n\n{words}\n\n{table(['Agent', 'W/D/L', 'Nodes a move', 'ms a move'], rows, 'pipe')}\n"


if __name__ == "__main__":
    main()
