"""Agents that are programs of their own, in any language; they speak the protocol of docs/protocol.md."""

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

from arena.agent import Agent
from arena.errors import ArenaError
from arena.game import Action, Game, State
from arena.outcome import Answer, Path
from arena.search import Search


class ExternalAgent(Agent):
    """A program that a spec names. Whether it chooses or solves, it says itself when it is started."""

    name = "command"
    copes = frozenset({"chance", "hidden-information"})  # of the latter, it says itself whether it does

    def __init__(self, **options: Any) -> None:
        """Take any options: only the program knows them."""

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Raise TypeError: a program is asked through its own process alone."""
        raise TypeError("a command plays in a process of its own")

    def solve(self, game: Game, state: State, search: Search) -> Path | Answer | None:
        """Raise TypeError, as `choose` does."""
        raise TypeError("a command plays in a process of its own")


def found(program: str, folder: FilePath) -> bool:
    """Tell whether a program can be started from `folder`: a path from there, or a name on PATH."""
    return shutil.which(str(folder / program) if "/" in program else program) is not None


def command_of(word: str) -> list[str] | None:
    """The command that a word of the command line stands for: a file that is not Python, or a program with its arguments.

    None for anything else, such as the name of an agent; whether the command can be started is not checked.
    """
    try:
        words = shlex.split(word)
    except ValueError:
        return None
    if len(words) > 1:
        return words if shutil.which(words[0]) else None
    if not words or words[0].endswith(".py"):
        return None
    if "/" in words[0]:
        return words
    return [f"./{words[0]}"] if "." in words[0] and FilePath(words[0]).is_file() else None


def need_startable(word: str, command: Sequence[str], example: str) -> None:
    """Raise ArenaError if the command of a word cannot be started here; `example` shows how to put an interpreter before it."""
    if not found(command[0], FilePath.cwd()):
        if not FilePath(command[0]).exists():
            raise ArenaError(f"{word}: no such file; write it as in {example}")
        raise ArenaError(
            f"{word}: is no Python file and cannot be started; chmod +x it, or put its interpreter before it, as in {example}"
        )


def called(command: Sequence[str]) -> str:
    """What to call a command that has no label: the stem of its last word, `my_agent` for `node my_agent.js`."""
    return FilePath(command[-1]).stem or command[-1]
