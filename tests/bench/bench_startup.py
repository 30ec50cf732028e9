"""How long a process of the command line takes."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

import pytest

import arena

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

SPEC = """
game: tic-tac-toe
agents: [{{agent: random, label: one}}, {{agent: random, label: two}}]
rounds: {rounds}
"""
LOOP = """
import random
import sys
from arena_games.tic_tac_toe import TicTacToe

game, rng = TicTacToe(), random.Random(1)
for _ in range(int(sys.argv[1])):
    state = (0, 0)
    while not game.is_terminal(state):
        state = game.result(state, rng.choice(game.actions(state)))
"""


def _processor_seconds(*command: str, folder: Path | None = None) -> float:
    """Run a command to its end, and return the processor seconds of its processes."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return used.ru_utime + used.ru_stime


def _arena() -> str:
    found = sorted(Path(sysconfig.get_path("scripts")).glob("arena*"))
    if not found:
        pytest.skip("the command arena is not installed beside this Python")
    return str(found[0])


def _over_python(folder: Path, *command: str, rounds: int = 11) -> tuple[float, float]:
    """Return the processor seconds of a command minus those of `python -c pass`, and those of `python -c pass` alone.

    Both are medians of several rounds, in which the two take turns.
    """
    found = [
        (_processor_seconds(*command, folder=folder), _processor_seconds(sys.executable, "-c", "pass")) for _ in range(rounds)
    ]
    return median([ours - bare for ours, bare in found]), median([bare for _, bare in found])


def test_help_takes_a_tenth_of_a_second(bench: "Bench", tmp_path: Path) -> None:
    """`arena --help` takes at most 0.10 s more processor time than bare Python, if the compiled files exist."""
    seconds, bare = _over_python(tmp_path, _arena(), "--help")
    bench.at_most(0.10, "arena --help, over python -c pass", seconds, " s", bare_Python=f"{bare:.3f} s")


def test_a_run_of_two_matches_takes_two_fifths_of_a_second(bench: "Bench", tmp_path: Path) -> None:
    """`arena run` of two matches takes at most 0.40 s more processor time than bare Python."""
    (tmp_path / "two.yaml").write_text(SPEC.format(rounds=1))
    seconds, bare = _over_python(tmp_path, _arena(), "run", "two.yaml", "--no-store", "--workers", "1")
    bench.at_most(0.40, "arena run of two matches, over python -c pass", seconds, " s", bare_Python=f"{bare:.3f} s")


def test_two_more_matches_in_a_process_take_milliseconds(bench: "Bench") -> None:
    """`arena.run` of two matches takes at most 15 ms of processor time in a process that has called it before."""
    agents = [{"agent": "random", "label": label} for label in ("one", "two")]
    seconds = []
    for _ in range(31):
        began = process_time()
        arena.run({"game": "tic-tac-toe", "agents": agents, "rounds": 1})
        seconds.append(process_time() - began)
    bench.at_most(15, "arena.run of two matches, warm", 1000 * median(seconds[1:]), " ms", first=f"{seconds[0]:.1f} s")


@pytest.mark.parametrize(("where", "bound"), [("--no-store", 18), ("with a store", 22)])
def test_a_random_match_of_a_whole_run_against_a_bare_loop(bench: "Bench", tmp_path: Path, where: str, bound: float) -> None:
    """Compare the processor time of 20,000 random matches in `arena run`, without its start, with a loop that only draws and
    applies actions.
    """
    (tmp_path / "few.yaml").write_text(SPEC.format(rounds=100))
    (tmp_path / "many.yaml").write_text(SPEC.format(rounds=10_100))
    (tmp_path / "loop.py").write_text(LOOP)
    ratios = []

    def kept(store: str) -> list[str]:
        return ["--no-store"] if where == "--no-store" else ["--store", store]

    for number in range(3):
        few, many = [
            _processor_seconds(_arena(), "run", f"{size}.yaml", "--workers", "1", *kept(f"{size}{number}.db"), folder=tmp_path)
            for size in ("few", "many")
        ]
        loop = [_processor_seconds(sys.executable, "loop.py", str(size), folder=tmp_path) for size in (200, 20_200)]
        ratios.append((many - few) / (loop[1] - loop[0]))
    bench.at_most(bound, f"random match of arena run {where} / bare loop (aim: 12, 16)", median(ratios), "x")
