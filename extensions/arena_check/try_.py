"""The command try: checks what a plugin file brings and lets it play, for a few seconds in all."""

import sys
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

import click

from arena import ArenaError, PluginError
from arena.api.cli import describe, load, plugin_option, results_alone, say, seed_option
from arena.api.spec import Key, is_file, source_line
from arena.commands.options import games_option
from arena.console.words import command_of
from arena.errors import Interrupted
from arena.processes.threads import collect_deaths
from arena_check.check import brought, games_asked
from arena_check.check_process import CheckProgress, SharedNote, supervise
from arena_check.check_run import CheckOptions, CheckRun
from arena_check.patience import CALL_SECONDS, CallTooLong, Patience
from arena_check.second_process import SecondProcess
from arena_check.trying.agent_trial import try_agent, try_program
from arena_check.trying.game_trial import try_game
from arena_check.trying.heuristic_trial import try_heuristic
from arena_check.trying.trial_board import TrialBoard

MATCHES = 5
"""Matches of the check that comes first."""
SECONDS = 6.0
"""Time for everything that a file brings, without the checks."""
TRIES: dict[str, Callable[[TrialBoard, Key, Any], None]] = {"game": try_game, "heuristic": try_heuristic, "agent": try_agent}
"""The kinds of things that can be tried, in the order in which they are: heuristics belong to games, agents use both."""


@click.command("try")
@click.argument("file", metavar="FILE|PROGRAM")
@games_option("What agents are checked on and play, instead of all they can; may be repeated.")
@seed_option("For everything random.")
@plugin_option
def try_(file: str, games: tuple[str, ...], seed: int, plugins: tuple[str, ...]) -> int:
    """Check a plugin file, let what it brings play for a few seconds, and say where it stands.

    An agent in another language is a PROGRAM: a file that can be started, or a command with its arguments in quotes.
    """
    note = SharedNote.inherited()
    if note is None:
        named = [word for game in games for word in ("--game", game)]
        loaded = [word for plugin in plugins for word in ("--plugin", plugin)]
        return supervise(["try", file, *named, "--seed", str(seed), *loaded], resume=False)
    progress = CheckProgress(note, sys.stderr)
    with progress.watching():
        return _try(file, games, seed, plugins, progress)


def _try(file: str, games: tuple[str, ...], seed: int, plugins: tuple[str, ...], progress: CheckProgress) -> int:
    with results_alone() as out, collect_deaths(last=True):
        program = command_of(file)
        if program is not None:
            try_program(TrialBoard(load(plugins), file, plugins, seed, out, monotonic() + SECONDS, progress, games), program)
            return 0
        if not is_file(file):
            raise PluginError(file, "expected a Python file or a program; `arena show` and `arena check` take names")
        registry = load((*plugins, file))
        found = sorted(brought(registry, file), key=_order)
        asked = games_asked(registry, games, found, file)
        with SecondProcess(registry, [*plugins, file]) as second:
            how, alone = CheckOptions(seed, MATCHES), len(found) == 1
            check = CheckRun(registry, file, how, plugins, out, progress, second, asked, brief=True, alone=alone)
            if [key for key, value in found if not check.passes(key, value)]:  # all of them are checked
                return 1
        tried = [(key, value) for key, value in found if key[0] in TRIES]
        _try_each(tried, TrialBoard(registry, file, (*plugins, file), seed, out, monotonic(), progress, games))
    return 0


def _try_each(tried: list[tuple[Key, Any]], board: TrialBoard) -> None:
    """Let each thing play for an equal share of the time.

    Budgets of agents are counted in nodes, so that a match is the same in every try; the number of matches depends on the clock.
    """
    try:
        with Patience(CALL_SECONDS):
            for key, value in tried:
                board.progress.begin(key, source_line(value), None)
                TRIES[key[0]](replace(board, until=monotonic() + SECONDS / len(tried)), key, value)
    except Interrupted as interrupt:
        say(f"while trying {' '.join(key)}: {describe(interrupt)}")
        raise
    except CallTooLong as late:
        raise ArenaError(f"{late} ({late.place})") from late


def _order(item: tuple[Key, object]) -> tuple[int, Key]:
    """Kinds in the order of TRIES, all others last."""
    kinds = list(TRIES)
    kind = item[0][0]
    return (kinds.index(kind) if kind in kinds else len(kinds), item[0])
