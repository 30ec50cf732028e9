"""Checks what a plugin file brings and lets it play, a few seconds in all."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from arena.commands.catalogue import Key
from arena.commands.check import CheckOptions, CheckRun, brought
from arena.commands.trying.agent_trial import try_agent
from arena.commands.trying.game_trial import try_game
from arena.commands.trying.heuristic_trial import try_heuristic
from arena.commands.trying.program_trial import try_program
from arena.commands.trying.trial_board import TrialBoard
from arena.console.notices import load, say
from arena.console.output import results_alone
from arena.errors import ArenaError, Interrupted, PluginError, describe
from arena.plugins.sources import is_file
from arena.processes.threads import deaths
from arena.spec.external import command_of
from arena.testing.patience import PATIENCE, CallTooLong, Patience

MATCHES = 5
"""Matches of the check that comes first."""
SECONDS = 6.0
"""Time for all that a file brings, beside the checks."""
ORDER = ("game", "heuristic", "agent")
"""What of a file is tried first: what comes later needs it."""
TRIES: dict[str, Callable[[TrialBoard, Key, Any], None]] = {"game": try_game, "heuristic": try_heuristic, "agent": try_agent}


def try_file(file: str, *, seed: int, plugins: Sequence[str], games: Sequence[str] = ()) -> int:
    """Check all that a file brings, and let it play against and on what is built in; 1 where a check fails.

    Agents play what they can, or the `games`. A file that is not Python, or a command, is a program in another language: it plays
    the `games`. Budgets of agents are counted in nodes, so a match is the same at every try; how many are played depends on the
    clock.
    """
    with results_alone() as out, deaths(last=True):
        program = command_of(file)
        if program is not None:
            try_program(TrialBoard(load(plugins), file, tuple(plugins), seed, out, monotonic() + SECONDS, tuple(games)), program)
            return 0
        if not is_file(file):
            raise PluginError(file, "expected a Python file or a program; `arena show` and `arena check` take names")
        loaded = (*plugins, file)
        registry = load(loaded)
        found = sorted(brought(registry, file), key=_order)
        if games and not any(key[0] == "agent" for key, _ in found):
            raise ArenaError(f"--game says what agents play, and {file} brings none")
        check = CheckRun(registry, file, CheckOptions(seed, MATCHES), tuple(plugins), out, brief=True, alone=len(found) == 1)
        if [key for key, value in found if not check.passes(key, value)]:  # all of them are checked
            return 1
        found = [(key, value) for key, value in found if key[0] in TRIES]
        try:
            with Patience(PATIENCE):
                for key, value in found:
                    until = monotonic() + SECONDS / len(found)
                    TRIES[key[0]](TrialBoard(registry, file, loaded, seed, out, until, tuple(games)), key, value)
        except Interrupted as interrupt:
            say(f"while trying {' '.join(key)}: {describe(interrupt)}")
            raise
        except CallTooLong as late:
            raise ArenaError(f"{late} ({late.place})") from late
    return 0


def _order(item: tuple[Key, object]) -> tuple[int, Key]:
    kind = item[0][0]
    return (ORDER.index(kind) if kind in ORDER else len(ORDER), item[0])
