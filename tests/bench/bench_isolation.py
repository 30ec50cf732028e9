"""The costs of isolation, as ratios: a ply in a process and a bare pipe, the start of a sandbox and of bubblewrap alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from arena.match.match import Program
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_isolation.agent_process import AgentProcess
from arena_isolation.agent_start import prove_once

if TYPE_CHECKING:
    from tests.bench.conftest import Bench

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(b'{"type":"action","action":"5","nodes":0,"evaluations":0,"drew":true}\\n')
    sys.stdout.buffer.flush()
"""
REQUEST = json.dumps({"type": "choose", "played": ["5", "7"]}).encode() + b"\n"


def test_a_ply_in_a_process_against_a_bare_pipe(bench: "Bench") -> None:
    """Compare a decision of `random` in arena's host, with all checks, with a program that answers a line with a line."""
    entries = [{"agent": "random", "label": label, "isolation": "process"} for label in ("one", "two")]
    spec = load_spec({"game": "connect-four", "agents": entries, "rounds": 10})
    matches = Schedule(spec).take(20)
    runner = MatchRunner(spec)
    plies = sum(len(runner.play(one).actions) for one in matches)
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as twin:
        assert twin.stdin is not None
        assert twin.stdout is not None
        write, read = twin.stdin.fileno(), twin.stdout.fileno()

        def bare() -> None:
            for _ in range(plies):
                os.write(write, REQUEST)
                os.read(read, 1 << 16)

        try:
            timings = bench.in_turns(lambda: [runner.play(one) for one in matches], bare, rounds=15)
        finally:
            runner.close()
            twin.stdin.close()
    ply, pipe = [f"{seconds / plies * 1e6:.0f} us" for seconds in timings.best]
    bench.at_most(20, "ply in a process / line through a pipe", timings.ratio, "x", ply=ply, pipe=pipe)


def test_a_sandbox_starts_as_bubblewrap_does(bench: "Bench") -> None:
    """Compare the time until an agent's host says hello with bubblewrap that runs Python with the same imports, without arena."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    prove_once()
    program = Program("random", {}, None, (), str(Path.cwd()))
    code = "import arena_isolation.agent_host"
    plain = [
        "bwrap",
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        sys.executable,
        "-P",
        "-c",
        code,
    ]
    timings = bench.in_turns(
        lambda: AgentProcess(program, None, "sandbox").end(),
        lambda: subprocess.run(plain, check=True),
        rounds=9,
    )
    ours, theirs = [f"{seconds * 1e3:.0f} ms" for seconds in timings.best]
    bench.at_most(1.5, "start of a sandbox / of bubblewrap", timings.ratio, "x", sandbox=ours, bubblewrap=theirs)
