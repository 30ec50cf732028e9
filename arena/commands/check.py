"""The command check: a line for every promise of a game, an agent or a heuristic, and all that its author needs to mend it."""

import shlex
import sys
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from inspect import isclass
from pathlib import Path
from typing import IO, Any

import click

from arena.agent import Agent
from arena.commands.check_program import check_program
from arena.commands.file_watch import watch
from arena.commands.options import plugin_option, seed_option
from arena.commands.store_check import check_store
from arena.configured import initializer, parameters_of
from arena.console.notices import load, say, tracebacks_wanted
from arena.console.output import results_alone
from arena.errors import ArenaError, Interrupted, PluginError
from arena.game import Game
from arena.plugins.contract import HOOKS, source_line
from arena.plugins.registry import Key, Registry
from arena.plugins.sources import is_file
from arena.processes.threads import deaths
from arena.spec.document import is_database
from arena.spec.external import command_of
from arena.spec.parameters import adapters
from arena.testing import Finding, Verdict, Violation, agent_verdicts, game_verdicts, heuristic_verdicts
from arena.testing.culprits import method_at_fault, where_of
from arena.testing.patience import PATIENCE
from arena.traits import listed
from arena.views import board_module

SHARE = 5
"""An agent plays one match for so many of a game: its matches take longer, and it plays several games."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of the command that the checks depend on."""

    seed: int = 0
    matches: int = 20
    patience: float = PATIENCE
    """Seconds that one call may take."""

    @property
    def words(self) -> list[str]:
        """The options as words of a command line."""
        words = ["--seed", str(self.seed), "--matches", str(self.matches)]
        return words if self.patience == PATIENCE else [*words, "--patience", f"{self.patience:g}"]


@click.command()
@click.argument("target", metavar="NAME|FILE|PROGRAM|STORE")
@seed_option("For the random play.")
@click.option("--matches", type=click.IntRange(1, 10**6), default=20, show_default=True, help="How many to play.")
@click.option(
    "--patience",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    default=PATIENCE,
    show_default=True,
    help="How long one call may take.",
)
@click.option("--replay", type=click.FloatRange(0, 1), default=0.0, metavar="SHARE", help="Of a store: play a share of it again.")
@click.option("--watch", "watched", is_flag=True, help="Check again whenever the file is saved; Ctrl-C ends it.")
@plugin_option
def check(target: str, watched: bool, replay: float, plugins: tuple[str, ...], **asked: Any) -> int:
    """Hold a game, an agent or a heuristic, or all that a plugin file brings, to what it declares.

    An agent in another language (a file that can be started, or a command in quotes) is held to the protocol, a store to its hashes.
    """
    if is_database(target):
        with results_alone() as out:
            return check_store(target, replay, plugins, out)
    how = CheckOptions(**asked)
    return _check_on_save(target, how, plugins) if watched else _check(target, how, plugins)


def _check(target: str, how: CheckOptions, plugins: tuple[str, ...]) -> int:
    """Check what a plugin file brings, or everything of a name; 1 if a check fails."""
    command = command_of(target)
    if command is not None:
        less = {**asdict(how), "matches": max(1, how.matches // SHARE)}
        again = shlex.join(["arena", "check", target, *how.words, *[word for plugin in plugins for word in ("--plugin", plugin)]])
        return check_program(target, command, plugins, again=again, **less)
    with results_alone() as out, deaths(last=True):
        registry = load([*plugins, target] if is_file(target) else plugins)
        found = brought(registry, target) if is_file(target) else registry.named(target)
        run = CheckRun(registry, target, how, plugins, out, alone=len(found) == 1)
        failed = sum([not run.passes(key, value) for key, value in found])
    return 1 if failed else 0


def _check_on_save(target: str, how: CheckOptions, plugins: tuple[str, ...]) -> int:
    """Check, and again whenever a Python file in a folder of `target` or of a plugin is saved; 0 at Ctrl-C."""
    files = [plugin for plugin in (target, *plugins) if is_file(plugin)]
    if not files:
        raise ArenaError(f"--watch {target}: expected a file that can be saved, got a name")
    for file in files:
        if not Path(file).is_file():
            raise PluginError(file, "no such file or module")
    words = [word for plugin in plugins for word in ("--plugin", plugin)]
    command = [sys.executable, "-m", "arena", "check", target, *how.words, *words]
    return watch(command, [Path(file).resolve().parent for file in files], say)


def brought(registry: Registry, file: str) -> list[tuple[Key, Any]]:
    """All that a plugin file brings; PluginError if that is nothing."""
    found = [(key, value) for key, value in registry.items() if registry.sources[key].name == file]
    if not found:
        raise PluginError(file, f"brings nothing; expected one of the hooks {', '.join(HOOKS)}, decorated with @hookimpl")
    return found


def _hints(value: Any) -> Iterator[tuple[bool, str]]:
    """A line if the hints of a constructor cannot be read: the options of specs are checked by them."""
    constructor: Any = value
    if isclass(value):
        try:
            adapters(constructor)
        except Exception as error:
            where = source_line(initializer(constructor))
            yield False, f"  FAILED  hints of __init__ ({where}): {type(error).__name__}: {error}"


@dataclass(frozen=True, slots=True)
class CheckRun:
    """The checks of one target."""

    registry: Registry
    target: str
    how: CheckOptions
    plugins: tuple[str, ...]
    out: IO[str]
    brief: bool = False
    """True if only broken promises get a line."""
    alone: bool = True
    """True if the target is one thing, so that its name can be left out of a command."""

    def passes(self, key: Key, value: Any) -> bool:
        """Check one thing and print a line for every promise; True if all are kept."""
        try:
            lines = list(self._lines(key, value))
        except Violation as violation:  # the object cannot be made
            lines = [(False, self._failed(Verdict("making", "it can be made", violation), key, value))]
        except ArenaError as error:
            lines = [(False, f"  FAILED  {error}")]
        except Interrupted as interrupt:
            say("\n".join([f"while checking {' '.join(key)}", *getattr(interrupt, "__notes__", ())]))
            raise
        fine = all(kept for kept, _ in lines)
        told = [line for kept, line in lines if not (kept and self.brief)]
        headline = "ok" if fine else f"FAILED ({source_line(value) or 'unknown file'})"
        print(f"{' '.join(key)}: {headline}", *told, sep="\n", file=self.out, flush=True)
        return fine

    def _lines(self, key: Key, value: Any) -> Iterator[tuple[bool, str]]:
        yield from _hints(value)
        how = asdict(self.how)
        if key[0] == "game":
            yield from self._told(game_verdicts(value, **how), key, value)
            yield from self._default_heuristic(key[1], value)
            fault = board_module(value).note
            if fault is not None:
                yield True, f"  note    {fault}"
        elif key[0] == "heuristic":
            yield from self._told(heuristic_verdicts(value, self.registry.game(key[1]), **how), key, value)
        elif key[0] == "agent":
            yield from self._agent(key, value)
        else:
            yield True, "  ok      it loads"

    def _default_heuristic(self, name: str, game: type[Game]) -> Iterator[tuple[bool, str]]:
        default = game.default_heuristic
        if default is not None and (name, default) not in self.registry.heuristics:
            known = " or ".join(map(repr, [*self.registry.heuristics_of(name), None]))
            yield False, f"  FAILED  default_heuristic: expected {known}, got {default!r}, which no plugin brings"

    def _agent(self, key: Key, agent: type[Agent]) -> Iterator[tuple[bool, str]]:
        fitting = list(self.registry.games_for(agent).values())
        if not fitting:
            raise ArenaError(f"no game fits: it needs {listed(agent.needs)}; `arena list games` tells the traits of all")
        needed = [name for name, parameter in parameters_of(agent).items() if parameter.default is parameter.empty]
        if needed:
            made_so = f"check_agent({agent.__name__}({', '.join([f'{name}=...' for name in needed])}))"
            raise ArenaError(f"{', '.join(needed)}: no default; give one, or check it in a test by arena.testing.{made_so}")
        how = {**asdict(self.how), "matches": max(1, self.how.matches // SHARE)}
        told: set[str] = set()
        for number, board in enumerate(fitting, 1):
            verdicts = [each for _, found in agent_verdicts(agent, board, registry=self.registry, **how) for each in found]
            kept = [each.check for each in verdicts if each.kept and each.reached and each.check != "the game"]
            if kept:
                yield True, f"  ok      {board.name}: {', '.join(kept)}"
            for verdict in verdicts:
                if not verdict.kept:
                    yield False, self._failed(verdict, key, agent, f"{board.name}, ", brief=verdict.check in told)
                    told.add(verdict.check)
            if any(verdict.ended for verdict in verdicts) and number < len(fitting):
                yield True, f"  -       {', '.join([left.name for left in fitting[number:]])}: not checked after that"
                return

    def _told(self, verdicts: Iterator[Verdict], key: Key, value: Any) -> Iterator[tuple[bool, str]]:
        for verdict in verdicts:
            if not verdict.kept:
                yield False, self._failed(verdict, key, value)
            elif verdict.check != "the game":
                yield True, f"  {'ok' if verdict.reached else '-':<6}  {verdict.check}: {verdict.promise}"

    def _failed(self, verdict: Verdict, key: Key, value: Any, where: str = "", *, brief: bool = False) -> str:
        violation = verdict.violation
        assert violation is not None
        finding = violation.finding
        what = f"{finding.what} raises" if finding.expected == "no exception" else finding.what
        what = "raises" if what == f"{verdict.check} raises" else what
        headline = f"  FAILED  {where}{verdict.check}: {what}"
        if brief:
            return f"{headline}, got: {finding.got}"
        told = [headline, *map(str.strip, str(finding).splitlines()[1:-1])]
        method = None if where_of(finding.got) else method_at_fault(value, verdict.check, finding.what)
        told += [f"written at: {method}"] if method else []
        told.append(f"see it again: {self._again(finding, key)}")
        if tracebacks_wanted():
            told += [line for note in self._traceback(violation) for line in note.splitlines()]
        return "\n          ".join(told)

    def _again(self, finding: Finding, key: Key) -> str:
        """The command that shows a finding again."""
        share = SHARE if key[0] == "agent" else 1
        matches = 1 if finding.matches == 1 else max(self.how.matches, finding.matches * share)
        how = replace(self.how, seed=finding.seed, matches=matches)
        plugins = list(self.plugins) if self.alone else [*self.plugins, *([self.target] if is_file(self.target) else [])]
        words = [word for plugin in plugins for word in ("--plugin", plugin)]
        return shlex.join(["arena", "check", self.target if self.alone else key[-1], *how.words, *words])

    def _traceback(self, violation: Violation) -> list[str]:
        notes = [note for note in getattr(violation, "__notes__", ()) if note]
        return notes or (traceback.format_exception(violation.__cause__) if violation.__cause__ is not None else [])
