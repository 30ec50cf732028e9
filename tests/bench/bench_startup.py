"""How long the command line takes to answer, as a whole process."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.bench.conftest import Bench


def test_help_takes_less_than_a_third_of_a_second(bench: "Bench") -> None:
    """`arena --help` takes at most 0.3 s from start to exit, compiled files being there."""
    found = sorted(Path(sysconfig.get_path("scripts")).glob("arena*"))
    if not found:
        pytest.skip("the command arena is not installed beside this Python")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def process(*command: str) -> None:
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

    timings = bench.in_turns(lambda: process(str(found[0]), "--help"), lambda: process(sys.executable, "-c", "pass"), rounds=15)
    bare = f"{median(timings.theirs):.3f} s"
    bench.at_most(0.3, "arena --help", median(timings.ours), " s", bare_Python=bare, ratio=f"{timings.ratio:.1f}x")
