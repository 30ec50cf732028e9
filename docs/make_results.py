"""Writes docs/explanation/results.md: plays the specs in tournaments/seeds and compares their figures with those in five texts.

Run it with `make results`. The figures from the texts and the sentences around the tables are written by hand below.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from time import thread_time
from typing import Any, NamedTuple

from arena import run
from arena.console.progress import Progress
from arena.results import figures
from arena.results.layout import TextTable
from arena.results.leaderboard import Leaderboard
from arena.spec import load_spec
from arena.tournament.results import Results
from arena_agents.depth_first import IdaStar
from arena_games.pattern_db import PatternDB
from arena_games.sliding_tiles import SlidingTiles

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the comparison programs in C are in tests/bench
SEEDS = ROOT / "tournaments" / "seeds"
PAGE = ROOT / "docs" / "explanation" / "results.md"

Row = Mapping[str, Any]
Column = tuple[str, Callable[[Row], str]]


class Section(NamedTuple):
    """A section of the page: a spec, the words about it, and the figures from the text by (board title, agent)."""

    spec: str
    title: str
    before: str
    columns: Sequence[Column]
    texts: Mapping[tuple[str, str], str] = {}


def share(row: Row) -> str:
    """Return the solved share with its interval."""
    return f"{100 * row['solved']:.1f} % ({100 * row['solved_low']:.1f} to {100 * row['solved_high']:.1f})"


def figure(key: str) -> Callable[[Row], str]:
    """Return a function that formats a mean of a row as in tables."""
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
        "Text 1 shuffled the 8-puzzle by 20, 50 and 100 random slides, with 100 boards each, and allowed 1000 moves. The "
        "last column quotes two results from this text: the share of solved boards, and the mean number of moves. The exact "
        "probabilities that random, greedy and lookahead solve a board are 9.7, 74.8 and 88.2 % after 20 slides, 2.3, 29.9 "
        "and 50.4 % after 50 slides, and 0.5, 7.5 and 21.7 % after 100 slides. A* solves every board.",
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
        "Text 2 says that A* finds a solution in less time than brute force, but gives no figures. Here all agents solve "
        "the same 100 positions. All of them find shortest solutions, but they generate very different numbers of states "
        "(the column Nodes).",
        [SOLVED, MOVES, NODES, SECONDS],
    ),
    Section(
        "fifteen-puzzle",
        "The 15-puzzle",
        "A reader of text 2 found A* extremely slow on the 15-puzzle, and asked for a quick solution of any length. IDA* "
        "with pattern databases finds shortest solutions. If A* multiplies its heuristic by a weight above 1, it is "
        "faster, but its solutions may be longer, by this factor at most. The 100 positions are drawn uniformly from all "
        "positions that can be solved.",
        [SOLVED, MOVES, NODES, SECONDS],
    ),
    Section(
        "eight-queens",
        "Hill climbing on 8 queens",
        "Text 4 compares four variants of hill climbing. The first one makes only moves that improve the board (strict). "
        "The second and the third also make up to 100 sideways moves, which leave the board equally good. If several "
        "successors are equally good, the second variant takes the first of them, and the third variant takes a random "
        "one. The fourth variant also restarts. The last column quotes the share of solved boards, the mean steps of "
        "solved attempts, and the mean steps of failed attempts. Text 4 does not count the last move.",
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
        "Text 4 made these measurements with random sideways moves, on 1000 boards of each size.",
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
        "Text 4 tried one board of 100 by 100 and gave up.",
        [SOLVED, MOVES, NODES, SECONDS],
    ),
    Section(
        "sudoku",
        "Sudoku",
        "Text 5 searches depth first and fills the first empty cell. Each of the 100 puzzles has one solution, and no "
        "given number can be left out. Each search may generate a million nodes.",
        [SOLVED, NODES, SECONDS],
    ),
]


def main() -> None:
    """Play all specs and write the page."""
    parts = [_HEAD]
    for section in SECTIONS:
        parts.append(_solved(section, _played(section.spec)))
        if section.spec == "fifteen-puzzle":
            parts.append(_korf())
            parts.append(_type_a(_played("type-a")))
    PAGE.write_text("\n".join(parts), "utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)


_HEAD = """# Results

On this page you can look up how well the algorithms from five texts do when arena repeats their comparisons.

fairarena grew out of these five texts. The specs (tournament files) in `tournaments/seeds` repeat every comparison in
them. If a text gives figures, the last column of a table quotes them. Percentages have 95 % intervals (Wilson).
`make results` writes this page, and the times are from the machine that ran it.
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
        for board in Leaderboard.of_results(results)
        for row in board.rows
    ]
    headings = ["Board", "Agent", *[title for title, _ in section.columns], "The text"]
    if not section.texts:
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    return f"\n## {section.title}\n\n{fill(section.before, 120)}\n\n{TextTable(headings, rows).text('pipe')}\n"


def _korf() -> str:
    """Return the section on Korf's positions: the processor time of each decision, and of a C program that solves the position
    next.
    """
    from tests.bench.bench_compiled import decided, lines
    from tests.bench.twin import PatternTwin

    game = SlidingTiles(rows=4, columns=4, goal="blank-first")
    rows, totals = [], [0.0] * 4
    with tempfile.TemporaryDirectory() as folder:
        twin = PatternTwin(game, "6-6-3", Path(folder))
        evaluation = PatternDB(game, partition="6-6-3")
        os.environ["ARENA_COMPILE"] = "always"
        decided(IdaStar(), game, game.parse_state(lines("korf-1985.txt")[0]), evaluation)  # compiles the search
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
        "R. Korf published these hundred positions in 1985 (`tournaments/positions/korf-1985.txt`). Here compiled IDA* solves them with the "
        "pattern databases 6-6-3 and their mirror image. A program in C does the same with the same tables (`tests/bench/twins`). The table shows "
        f"both times in milliseconds of processor time. On average, a solution has {slides:.2f} slides, which agrees with published results, and takes "
        f"{generated:,.0f} nodes. Arena needs {1e3 * ours:.1f} ms and the program in C {1e3 * theirs:.1f} ms, so arena takes "
        f"{ours / theirs:.2f} times as long."
    )
    return f"\n## Korf's hundred\n\n{fill(words, 120)}\n\n{TextTable(['Position', 'Slides', 'Nodes', 'ms', 'ms in C'], rows).text('pipe')}\n"


def _type_a(results: Results) -> str:
    board: Leaderboard = Leaderboard.of_results(results)[0]
    rows = [
        [row["agent"], f"{row['wins']}/{row['draws']}/{row['losses']}", figure("nodes_per_move")(row), figure("ms_per_move")(row)]
        for row in board.rows
    ]
    words = (
        "Text 3 gives no figures. At tic-tac-toe all four agents play equally well: every game between them is a draw. Type A looks at fewer "
        "positions than minimax. Type A Plus looks at fewer than a fifth of the positions that Type A looks at."
    )
    return f"\n## Type A and Type A Plus\n\n{fill(words, 120)}\n\n{TextTable(['Agent', 'W/D/L', 'Nodes per move', 'ms per move'], rows).text('pipe')}\n"


if __name__ == "__main__":
    main()
