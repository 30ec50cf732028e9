"""A program in another language, which speaks the protocol: it plays like any agent, in a process of its own."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from arena.commands.trying.agent_trial import boards_of, games_asked
from arena.commands.trying.trial_board import TrialBoard
from arena.errors import ArenaError
from arena.spec.external import called, found
from arena.testing.patience import PATIENCE

MANUAL = "docs/how-to/other-languages.md"


def told(command: Sequence[str]) -> str:
    """What else can be done with a program, and where it says how to write one."""
    return f"in a spec it is {{agent: {{command: [{', '.join(command)}]}}}}; {MANUAL} has the protocol and whole programs"


def try_program(attempt: TrialBoard, command: Sequence[str]) -> None:
    """Print a leaderboard for every game that was asked for, and where the program stands; ArenaError says what is amiss."""
    if not found(command[0], Path.cwd()):
        if not Path(command[0]).exists():
            raise ArenaError(f"{attempt.file}: no such file; {told(command)}")
        raise ArenaError(
            f"{attempt.file}: is no Python file and cannot be started; chmod +x it, or put its interpreter before it, as in "
            f"arena try 'node {attempt.file}' --game tic-tac-toe; {told(command)}"
        )
    if not attempt.only:
        example = f"arena try {quote(attempt.file)} --game tic-tac-toe"
        raise ArenaError(f"{attempt.file}: a program; say what it plays, as in {example}; {told(command)}")
    label = called(command)
    entry: dict[str, Any] = {"agent": {"command": list(command)}, "label": label, "limits": {"seconds": PATIENCE}}
    boards_of(attempt, label, entry, games_asked(attempt.registry, attempt.only))
    attempt.say(f"\nnext: a tournament of your own; {told(command)}")
