"""The part of `arena check` that checks programs in other languages. It tests whether they follow the agent protocol in the games
that they can play.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from shlex import quote
from typing import IO

from arena import ArenaError, Game
from arena.api.cli import load, results_alone
from arena.api.errors import escape_controls
from arena.api.games import make_default
from arena.api.match import Program
from arena.api.processes import user_interrupts
from arena_check.program_checks import greeting_verdicts, program_of, program_seat, program_verdicts
from arena_check.report_lines import as_json_line
from arena_check.verdicts import Verdict
from arena_isolation.command import need_startable

KNOWN_BY = ("ready", "plays")
"""The names of the checks that show whether a program can play a game."""


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """The checks of a program. Results are printed as the checks finish."""

    target: str
    program: Program
    again: str
    """The command that reproduces a fault."""
    seed: int
    matches: int
    patience: float
    out: IO[str] | None
    """The stream for the lines of the report; None if they are only collected."""
    said: list[str] = field(default_factory=list)
    """All lines of the report so far."""

    def passes(self, games: Sequence[Game], *, named: bool) -> bool:
        """Check the program on games, and print a line for every promise (a property that is checked). Return True if it keeps
        all of them.

        If the user has not `named` the games, a game is left out if the program cannot play a match of it. If no game is left,
        the fault in the longest match is shown.
        """
        self._say(f"program {self.target}")
        kept = [self._print_verdict(verdict) for verdict in greeting_verdicts(self.program, patience=self.patience)]
        if len(kept) == 1:  # not even the first message was correct
            return False
        unknown = []
        for game in games:
            first = [] if named else takewhile(lambda verdict: verdict.check in KNOWN_BY, self._verdicts(game, 1))
            fault = next((verdict.violation for verdict in first if not verdict.kept), None)
            if fault is not None:
                unknown.append((game, fault))
                self._say(f"  -       {game.name}: not played: {fault.finding.got}")
                continue
            verdicts = list(self._verdicts(game, self.matches))
            if fine := [verdict.check for verdict in verdicts if verdict.kept and verdict.reached]:
                self._say(f"  ok      {game.name}: {', '.join(fine)}")
            kept += [self._print_verdict(verdict, game) for verdict in verdicts if not verdict.kept]
        if unknown and len(unknown) == len(games):
            game, fault = max(unknown, key=lambda one: len(one[1].finding.actions))
            kept.append(self._print_verdict(Verdict("plays", "it plays a game that is installed", fault), game))
        return all(kept)

    def _verdicts(self, game: Game, matches: int) -> Iterator[Verdict]:
        return program_verdicts(program_seat(self.program), game, seed=self.seed, matches=matches, patience=self.patience)

    def _print_verdict(self, verdict: Verdict, game: Game | None = None) -> bool:
        """Print a line for a promise, or several for a broken one. Return True if it is kept."""
        if verdict.violation is None:
            self._say(f"  ok      {verdict.check}: {verdict.promise}")
            return True
        finding = verdict.violation.finding
        where = f"{game.name}, " if game is not None else ""
        lines = [f"  FAILED  {where}{verdict.check}: {finding.what}"]
        if game is None:
            lines += [f"expected: {finding.expected}", f"got: {finding.got}"]
        else:
            lines += [*map(str.strip, str(finding).splitlines()[1:-1]), f"see it again: {self.again}"]
        self._say("\n          ".join(lines))
        return False

    def _say(self, line: str) -> None:
        self.said.append(escape_controls(line))
        if self.out is not None:
            print(self.said[-1], file=self.out, flush=True)


def check_program(
    target: str,
    command: Sequence[str],
    plugins: Sequence[str],
    games: Sequence[str] = (),
    *,
    again: str,
    seed: int,
    matches: int,
    patience: float,
    as_json: bool = False,
) -> int:
    """Check a program on the named `games`, or on all installed games that it plays, and return the exit code.

    `target` is the text from which the user's `command` was parsed. `again` is the command that reproduces a fault. `plugins`,
    `seed`, `matches` and `patience` are the options of `arena check`. Raises ArenaError if the program cannot be started, or if a
    named game cannot be created.
    """
    manual = "`arena docs other-languages` describes the protocol"
    need_startable(target, command, f"arena check {quote(f'node {target}')}; {manual}")
    with results_alone() as out, user_interrupts():
        registry = load(tuple(plugins))
        boards = {name: make_default(registry.game(name)) for name in games or sorted(registry.games)}
        needing = [name for name in games if boards[name] is None]
        if needing:
            raise ArenaError(f"--game {needing[0]}: it cannot be created without parameters")
        run = ProgramRun(target, program_of(command), again, seed, matches, patience, None if as_json else out)
        passed = run.passes([game for game in boards.values() if game is not None], named=bool(games))
        if as_json:
            subject, *lines = run.said
            print(as_json_line(subject, target, lines), file=out)
        return 0 if passed else 1
