"""Fixtures of several attacks: how agents are stopped, one core for all, and the list of a server."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena import search_engines
from arena.search_engines import SearchEngine
from arena_isolation import agent_start, own_compiler
from arena_isolation.agent_process import AgentProcess
from arena_isolation.control_group import new_group


def lying_compiler(files: str) -> str:
    """Return code of an entry that hands over `files`, an expression for a dict of files in base64, as its machine code.

    Each answer in a match says that the code is not compiled yet, so that arena asks for it.
    """
    return f"""
import base64, json, sys
import __main__
if any("compile_host" in word for word in sys.orig_argv):
    import arena_isolation.agent_host as host
    host.HostedSeat.compile = lambda self, private: {{"type": "compiled", "files": {files}}}
elif hasattr(__main__, "_decide"):
    decide = __main__._decide
    def claim(seat, request):
        answer = decide(seat, request)
        return {{**(json.loads(answer) if isinstance(answer, bytes) else answer), "compiled": False, "settled": False}}
    __main__._decide = claim
"""


def stop_agents_by(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let arena stop agents by a control "group", or by "signals" as on a machine without groups."""
    if way == "signals":
        monkeypatch.setattr(agent_start, "new_group", lambda *_: None)
    elif (group := new_group()) is None:
        pytest.skip("a control group cannot be created here")
    else:
        group.remove()


@pytest.fixture
def one_core() -> Iterator[int]:
    """Let everything that this process starts run on one core, and return its number."""
    before = os.sched_getaffinity(0)
    core = max(before)
    os.sched_setaffinity(0, {core})
    yield core
    os.sched_setaffinity(0, before)


def list_served(folder: Path, end: int) -> tuple[dict[str, Any], int]:
    """Serve a folder of stores. Return the state of each store by its key, and the exit code of the server after a signal."""
    command = [sys.executable, "-m", "arena", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline().strip().rstrip("/").rpartition(":")[2])
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
            connection.request("GET", "/api/tournaments")
            listed = json.loads(connection.getresponse().read())["tournaments"]
        server.send_signal(end)
        return {one["key"]: one["state"] for one in listed}, server.wait(60)


class EagerEngine(SearchEngine):
    """Wants each search compiled that has run uncompiled, so that the tests need no numba."""

    def can_load(self) -> bool:
        return True

    def compiles_own(self, seconds: float) -> bool:
        return seconds > 0


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    search_engines.search_engines()  # the installed ones are loaded only once
    monkeypatch.setattr(search_engines, "_engines", {"eager": EagerEngine("eager", lambda *_: None)})


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[AgentProcess]:
    """The compilers that were started."""
    found: list[AgentProcess] = []

    def start(*words: Any) -> AgentProcess:
        found.append(AgentProcess(*words))
        return found[-1]

    monkeypatch.setattr(own_compiler, "AgentProcess", start)
    return found


@pytest.fixture
def deep_recursion() -> Iterator[None]:
    """Let the counter call itself a few times for each character."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)
