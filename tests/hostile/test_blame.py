"""A child of an agent kills all processes that it finds in the opponent's turn, and wins no match by it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
import yaml

from arena_isolation.agent_start import namespaces_work
from tests.conftest import Missing, arena_in
from tests.players import PLAYERS

ASSASSIN = '''
import os, time
from arena import Agent, hookimpl

MINE = b"ARENA_AGENT_PROCESS=" + os.environ.get("ARENA_AGENT_PROCESS", "").encode()

def victims(token, targets):
    """All processes of this run, except the agent's own."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            variables = open(f"/proc/{name}/environ", "rb").read().split(b"\\0")
            words = open(f"/proc/{name}/cmdline").read()
        except OSError:
            continue
        if b"RUN_OF_TEST=" + token.encode() in variables and MINE not in variables and targets in words:
            yield int(name)

class Assassin(Agent):
    name = "assassin"

    def __init__(self, *, token: str, targets: str = ""):
        self.token, self.targets = token, targets

    def choose(self, game, state, search):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            time.sleep(0.1)  # now it is the opponent's turn
            for _ in range(60):
                for pid in victims(self.token, self.targets):
                    os.kill(pid, 9)
                time.sleep(0.05)
            os._exit(0)
        os.wait()
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Assassin]
'''
WITHOUT = ("unshare", "--map-root-user", "sh", "-c", 'echo 0 > /proc/sys/user/max_pid_namespaces && exec "$@"', "sh")
"""The words that run a command in a user namespace, in which no PID namespace can be made."""


@pytest.fixture(scope="module")
def namespaces(missing: Missing) -> None:
    """Skip a test that needs namespaces if none can be made."""
    if not namespaces_work() or subprocess.run([*WITHOUT, "true"], check=False).returncode:
        missing("sandbox", "no namespaces can be made here")


NOBODY = ("normal", None, (0.0, 0.0))
"""The end of a match in a row of three cells, which three marks in turn cannot win: no agent is at fault."""


def ends(folder: Path, killer: dict[str, Any], rival: str, *prefix: str, code: int = 0) -> set[Any]:
    """Play an agent against a sleeping one in a run with a worker, which has the token as a variable. Return the ends."""
    (folder / "assassin.py").write_text(ASSASSIN)
    token = token_hex(8)
    if killer["agent"] == "assassin":
        killer["token"] = token
    values = {
        "game": {"name": "tic-tac-toe", "rows": 1, "columns": 3, "in_a_row": 3},
        "rounds": 1,
        "agents": [killer, {"agent": "sleeper", "seconds": 0.3, "isolation": rival}],
        "plugins": ["assassin.py", str(PLAYERS)],
        "pondering": True,  # else the child stands still in the turn of the opponent
    }
    (folder / "cup.yaml").write_text(yaml.safe_dump(values))
    command = [*prefix, sys.executable, "-m", "arena", "run", "cup.yaml", "--store", "s.db", "--workers", "1"]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "RUN_OF_TEST": token}, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == code, done.stderr
    assert ("a PID namespace cannot be created here" in done.stderr) is bool(prefix), done.stderr
    exported = arena_in(folder)("export", "s.db").stdout.splitlines()
    assert len(exported) == 2
    found = [json.loads(line) for line in exported]
    return {(record["termination"], record["seat"], tuple(record["returns"])) for record in found}


@pytest.mark.promise(hole="blame", isolation=("process", "sandbox"))
@pytest.mark.parametrize(("agent", "isolation"), [("assassin", "process"), ("assassin", "sandbox"), ("first", "process")])
def test_an_agent_that_kills_processes_cannot_find_processes_of_others(
    agent: str, isolation: str, namespaces: None, tmp_path: Path
) -> None:
    """The matches end as with an agent that only plays."""
    plugin = "assassin.py" if agent == "assassin" else str(PLAYERS)
    killer = {"agent": agent, "plugin": plugin, "isolation": isolation}
    assert ends(tmp_path, killer, "process") == {NOBODY}


@pytest.mark.parametrize("rival", ["process", "none"])
def test_matches_are_void_if_the_agent_can_kill_the_worker(rival: str, namespaces: None, tmp_path: Path) -> None:
    """They are void after a second attempt."""
    killer = {"agent": "assassin", "plugin": "assassin.py", "isolation": "process", "targets": "arena.workers.worker"}
    assert ends(tmp_path, killer, rival, *WITHOUT, code=1) == {("void", None, (0.0, 0.0))}


def test_an_honest_agent_is_not_affected_if_namespaces_are_missing(namespaces: None, tmp_path: Path) -> None:
    assert ends(tmp_path, {"agent": "first", "isolation": "process"}, "process", *WITHOUT) == {NOBODY}
