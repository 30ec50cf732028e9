"""Agents that break a rule, each in its own way. They are loaded as a plugin, and each agent runs in its own process."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

from arena import Agent, hookimpl


class Hostile(Agent):
    """Misbehaves when it is asked."""

    name = "hostile"

    def choose(self, game: Any, state: Any, search: Any) -> Any:
        self.attack()
        return game.actions(state)[0]

    def attack(self) -> None:
        """Break the rule."""


class LoopInC(Hostile):
    """Computes in C for hours without giving the interpreter lock away."""

    name = "loop-in-c"

    def attack(self) -> None:
        re.match(r"(a+)+$", "a" * 64 + "b")


class LoopInPython(Hostile):
    """Never ends."""

    name = "loop-in-python"

    def attack(self) -> None:
        while True:
            pass


class Sleeps(Hostile):
    """Sleeps."""

    name = "sleeps"

    def attack(self) -> None:
        time.sleep(1000)


class Swallows(Hostile):
    """Continues to search whatever is raised."""

    name = "swallows"

    def choose(self, game: Any, state: Any, search: Any) -> Any:
        while True:
            try:
                game.result(state, game.actions(state)[0])
            except BaseException:
                continue


class ForkBomb(Hostile):
    """Forks until it is stopped, 400 times at the most."""

    name = "fork-bomb"

    def attack(self) -> None:
        for _ in range(400):
            if os.fork() == 0:
                time.sleep(600)
                os._exit(0)
        time.sleep(600)


class LeavesHome(Hostile):
    """Starts a child that leaves its session and its parent."""

    name = "leaves-home"

    def attack(self) -> None:
        program = "import os,time\nif os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)\ntime.sleep(600)"
        subprocess.run([sys.executable, "-c", program], check=True, stdin=subprocess.DEVNULL)
        time.sleep(1000)


class ClosesOutput(Hostile):
    """Closes every file that it has."""

    name = "closes-output"

    def attack(self) -> None:
        os.closerange(0, 256)
        time.sleep(1000)


class Garbage(Hostile):
    """Writes nonsense to every file that it has."""

    name = "garbage"

    def attack(self) -> None:
        for number in range(3, 64):
            try:
                os.write(number, b"\xff\x00 nonsense\n")
            except OSError:
                continue
        time.sleep(1000)


class Flood(Hostile):
    """Writes an endless line."""

    name = "flood"

    def attack(self) -> None:
        while True:
            for number in range(3, 12):
                try:
                    os.write(number, b"x" * 65536)
                except OSError:
                    continue


class Memory(Hostile):
    """Takes 10 GB."""

    name = "memory"

    def attack(self) -> None:
        held = [bytearray(10**7) for _ in range(1000)]
        time.sleep(len(held))


class MemoryOfChildren(Hostile):
    """Has its children take memory, each less than the limit."""

    name = "memory-of-children"

    def attack(self) -> None:
        for _ in range(8):
            if os.fork() == 0:
                held = b"x" * (100 << 20)
                time.sleep(600 + len(held) * 0)
                os._exit(0)
        time.sleep(600)


class Exits(Hostile):
    """Ends its process."""

    name = "exits"

    def attack(self) -> None:
        os._exit(3)


class Segfault(Hostile):
    """Reads where there is nothing."""

    name = "segfault"

    def attack(self) -> None:
        ctypes.string_at(0)


class Stops(Hostile):
    """Stops itself, as Ctrl-Z would."""

    name = "stops"

    def attack(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class KillsGroup(Hostile):
    """Kills its process group."""

    name = "kills-group"

    def attack(self) -> None:
        os.killpg(0, signal.SIGKILL)


class Raises(Hostile):
    """Raises."""

    name = "raises"

    def attack(self) -> None:
        raise SystemExit("enough")


class BadConstructor(Hostile):
    """Ends its process in the constructor, but only in the process of an agent."""

    name = "bad-constructor"

    def __init__(self) -> None:
        if "ARENA_AGENT_PROCESS" in os.environ:  # not while the spec is loaded
            os._exit(4)


KINDS = [
    LoopInC,
    LoopInPython,
    Sleeps,
    Swallows,
    ForkBomb,
    LeavesHome,
    ClosesOutput,
    Garbage,
    Flood,
    Memory,
    MemoryOfChildren,
    Exits,
    Segfault,
    Stops,
    KillsGroup,
    Raises,
    BadConstructor,
]


@hookimpl
def arena_agents() -> list[type[Agent]]:
    """Return all hostile agents."""
    return [*KINDS]
