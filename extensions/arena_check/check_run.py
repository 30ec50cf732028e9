"""The checks of the contents of a plugin: a line for every promise (a property that is checked), with the details that help to
fix a broken one.
"""

import re
import shlex
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from inspect import getsourcefile, isclass, isfunction
from math import inf
from typing import IO, Any

from arena import Agent, ArenaError, Game, Puzzle, Registry
from arena.api.cli import say, tracebacks_wanted
from arena.api.errors import Interrupted, call_foreign, escape_controls, is_authors
from arena.api.games import Abilities, bind, count_given, make_default, name_of, settings
from arena.api.processes import user_interrupts
from arena.api.results import figures
from arena.api.spec import Parameters, PluginPlace, source_line
from arena.clock import monotonic
from arena_catalog.board_files import load_board_module
from arena_catalog.catalogue import choose_games, explain_no_game
from arena_check.agent_checks import MOVES, agent_setups
from arena_check.check_process import CheckProgress
from arena_check.compiled_checks import compiled_verdicts
from arena_check.encoding_checks import encoding_verdicts
from arena_check.finding import Violation
from arena_check.game_checks import game_verdicts
from arena_check.heuristic_checks import heuristic_verdicts
from arena_check.information_checks import all_seeing, observations_of
from arena_check.patience import CALL_SECONDS
from arena_check.report_lines import as_json_line
from arena_check.second_process import MAX_PLAYS, SecondProcess
from arena_check.trial import Trial, walk
from arena_check.verdicts import UNREACHED, Verdict
from arena_setup.words import options_of

GAME_MATCHES_PER_AGENT_MATCH = 5
"""A game is checked with this many times as many matches as an agent, because the matches of an agent take longer, and an agent
plays several games.
"""
PLAYS_PER_MATCH = 5
"""A match of the check of an agent consists of about this many plays: two with its own actions, two with one node, and one in all
seats. The second process repeats single plays.
"""
LONG_SECONDS = 60.0
"""If the checks of an agent will take longer, a note says so."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of the command that concern the checks."""

    seed: int = 0
    matches: int = 20
    patience: float = CALL_SECONDS
    """Timeout of one call in seconds."""

    @property
    def words(self) -> list[str]:
        """Return the options as words of a command line."""
        words = ["--seed", str(self.seed), "--matches", str(self.matches)]
        words += [] if self.patience == CALL_SECONDS else ["--patience", f"{self.patience:g}"]
        return words

    def command(self, target: str, games: Sequence[str], plugins: Sequence[str], given: Sequence[str] = ()) -> list[str]:
        """Return the words of the command after `arena`. `given` are the values of `--set`."""
        named = [word for option, words in (("--game", games), ("--set", given)) for each in words for word in (option, each)]
        return ["check", target, *self.words, *named, *[word for plugin in plugins for word in ("--plugin", plugin)]]


def _check_hints(constructor: Callable[..., Any], skip: int) -> Iterator[tuple[bool, str]]:
    """Yield a line for each parameter that a spec can set and whose type hint cannot be read. Arena sets the first `skip`."""
    known = Parameters(constructor)
    for name in list(known.known)[skip:]:
        fault = call_foreign(lambda name=name: known.adapter(name), lambda error: error)  # type: ignore[misc]
        if isinstance(fault, BaseException):
            method = constructor.__init__ if isclass(constructor) else constructor
            what = f"{name}{'' if method is constructor else ' of __init__'} ({source_line(method)})"
            advice = ""
            if isinstance(fault, NameError):
                advice = "; arena reads type hints at run time, so import the name outside `if TYPE_CHECKING`"
            yield False, f"  FAILED  type hint of {what}: {type(fault).__name__}: {fault}{advice}"


def _raise_refusal(error: Exception) -> None:
    """Raise the reason why a game cannot be created here, such as a missing library. Required parameters do not count as a
    reason.
    """
    if isinstance(error, ArenaError):
        raise error


@dataclass(frozen=True, slots=True)
class CheckRun:
    """The checks of one target."""

    registry: Registry
    target: str
    how: CheckOptions
    plugins: tuple[str, ...]
    out: IO[str]
    progress: CheckProgress
    second: SecondProcess
    games: Sequence[Game] = ()
    """The games on which agents are checked; if empty, all games that they can play."""
    brief: bool = False
    """True if only broken promises are printed."""
    alone: bool = True
    """True if the target contains a single object. Then a command need not name the object."""

    seconds: float = inf
    """The time for the checks of one agent. If it is up, the agent makes one decision in each of the remaining plays."""
    as_json: bool = False
    """True if each object is reported as a line of JSON."""
    given: tuple[str, ...] = ()
    """The values of the option `--set`."""
    set_games: Mapping[str, Game] = field(default_factory=dict)
    """The games with the parameters in `given`, by name. All other games have their default parameters."""

    def passes(self, key: tuple[str, ...], value: Any) -> bool:
        """Check one object and print a line for every promise. Return True if it keeps all of them."""
        self.progress.begin(key, source_line(value), method_at_fault(value, "plays", "") if key[0] == "agent" else None)
        try:
            lines = list(self._lines(key, value))
        except Violation as violation:  # the object cannot be created
            lines = [(False, self._describe_fault(Verdict("making", "it can be created", violation), key, value))]
        except ArenaError as error:
            lines = [(False, f"  FAILED  {error}")]
        except Interrupted as interrupt:
            say("\n".join([f"while checking {' '.join(key)}", *getattr(interrupt, "__notes__", ())]))
            raise
        fine = all(kept for kept, _ in lines)
        self.progress.finish(passed=fine)
        if self.as_json:
            told = [escape_controls(line) for _, line in lines]
            print(as_json_line(" ".join(key), source_line(value), told), file=self.out, flush=True)
            return fine
        told = [line for kept, line in lines if not (kept and self.brief)]
        skipped = fine and all(line.startswith("  - ") for _, line in lines)
        headline = "not checked" if skipped else "ok" if fine else f"FAILED ({source_line(value) or 'unknown file'})"
        print(f"{' '.join(key)}: {headline}", *map(escape_controls, told), sep="\n", file=self.out, flush=True)
        return fine

    def sum_up(self, checked: Sequence[tuple[str, ...]]) -> None:
        """Print how many of several objects failed, and which, also in earlier processes."""
        failed = self.progress.failed
        if self.as_json or len(checked) == 1 or not failed:
            return
        alike = len({key[0] for key in checked}) == 1
        what = f"{checked[0][0] if alike else 'part'}s"
        print(
            f"{len(failed)} of {len(checked)} {what} failed: {', '.join([' '.join(key[alike:]) for key in failed])}",
            file=self.out,
        )

    def _lines(self, key: tuple[str, ...], value: Any) -> Iterator[tuple[bool, str]]:
        how = asdict(self.how)
        if isclass(value) or key[0] == "heuristic":  # options in a spec are validated by the type hints of the constructor
            yield from _check_hints(value, count_given(value) if key[0] == "heuristic" else int(key[0] == "encoding"))
        if key[0] == "game":
            yield from self._check_game(key, value)
        elif key[0] == "heuristic":
            found = list(heuristic_verdicts(value, self._game(key[1]), **how))
            yield from self._describe(found, key, value)
            if all(each.kept for each in found):
                yield from self._check_compiled(key, value, value)
        elif key[0] == "encoding":
            yield from self._describe(encoding_verdicts(value, self._game(key[1]), **how), key, value)
        elif key[0] == "agent":
            yield from self._check_agent(key, value)
        else:
            yield True, "  ok      it loads"
        if key[0] in ("heuristic", "encoding") and key[1] in self.set_games:
            yield from self._describe_parameters(self.set_games[key[1]])

    def _game(self, name: str) -> Game | type[Game]:
        """Return a game with the parameters that the user has set; without any, its class."""
        return self.set_games.get(name) or self.registry.game(name)

    def _make_game(self, name: str) -> Game | None:
        """Return a game with the parameters that the user has set; without any, with its defaults, or None if it has none."""
        return self.set_games.get(name) or make_default(self.registry.game(name))

    def _describe_parameters(self, game: Game) -> Iterator[tuple[bool, str]]:
        if (values := settings(game)) and not self.brief:
            others = "" if game.name in self.set_games else "; --set KEY=VALUE sets other parameters"
            yield True, f"  note    {game.name} was created with {options_of(Parameters.make_plain(values))}{others}"

    def _check_game(self, key: tuple[str, ...], game: type[Game]) -> Iterator[tuple[bool, str]]:
        """Check a game. If the game keeps all promises and can be created without parameters, a second process plays
        it as well.
        """
        if key[1] not in self.set_games:
            make_default(game, _raise_refusal)
        found = list(game_verdicts(self._game(key[1]), **asdict(self.how)))
        made = self._make_game(key[1]) if all(each.kept for each in found) else None
        other = None if made is None else self.second.verdict(key, made, "actions", self.how.seed, self.how.matches)
        found = [other if other is not None and each.check == "actions" else each for each in found]
        yield from self._describe(found, key, game)
        default = game.default_heuristic
        if default is not None and (key[1], default) not in self.registry.heuristics:
            known = figures.listing([*map(repr, [*self.registry.heuristics_of(key[1]), None])], "or")
            yield False, f"  FAILED  default_heuristic: expected {known}, got {default!r}, which no plugin defines"
        if all(each.kept for each in found):  # compiled rules are compared with the rules of the game
            yield from self._check_compiled(key, game, None)
        shown_game = self._make_game(key[1])
        if shown_game is not None:
            yield from self._describe_parameters(shown_game)
        # The observations of one state are printed, because only the author knows which facts must stay hidden.
        for seat, shown in enumerate([] if shown_game is None else observations_of(shown_game, self.how.seed)):
            seen = [f"            {line}" for line in shown.splitlines() if line.strip()]
            yield True, "\n".join([f"  look    seat {seat} sees one state as:", *seen])
        for seat in [] if shown_game is None else all_seeing(shown_game, self.how.seed):
            note = f"seat {seat} seems to see everything: no two of the visited states have the same observation"
            yield True, f"  note    {note}"
        fault = load_board_module(game).note
        if fault is not None:
            yield True, f"  note    {fault}"

    def _check_compiled(self, key: tuple[str, ...], value: Any, heuristic: Any) -> Iterator[tuple[bool, str]]:
        """Check the rules and estimates of compiled searches, if the game and the heuristic can be created."""
        made = call_foreign(lambda: self._make_game(key[1]), lambda _: None)
        evaluation = call_foreign(lambda: bind(heuristic, made), lambda _: None) if heuristic is not None and made else None
        if made is None or (evaluation is None and heuristic is not None):
            return
        self.progress.at(f"compiling {' '.join(key)}", made.name, [])
        sources = self.registry.sources
        ours = sorted(self.registry.agents.items(), key=lambda one: (not sources["agent", one[0]].own, one[0]))
        found = compiled_verdicts(made, evaluation, dict(ours), compiling=not self.brief, **asdict(self.how))
        yield from self._describe(found, key, value)

    def _check_agent(self, key: tuple[str, ...], agent: type[Agent]) -> Iterator[tuple[bool, str]]:
        chosen, left_out = choose_games(self.registry, agent)
        boards = self.games or [self.set_games.get(name, game) for name, game in chosen.items()]
        refusals = [Abilities(agent).find_refusal(game) for game in boards]
        fitting = [game for game, refusal in zip(boards, refusals, strict=True) if refusal is None]
        skipped = [f"  -       not checked: {refusal}" for refusal in refusals if refusal is not None]
        if self.games and not fitting:  # other agents of the file can play them
            yield from [(True, line) for line in skipped]
            return
        if not fitting:
            raise ArenaError(explain_no_game(self.registry, agent))
        needed = [name for name, parameter in Parameters(agent).known.items() if parameter.default is parameter.empty]
        if needed:
            made_so = f"check_agent({agent.__name__}({', '.join([f'{name}=...' for name in needed])}))"
            raise ArenaError(
                f"{', '.join(needed)}: these options have no default; add one to each, "
                f"or check the agent in a test with arena.testing.{made_so}"
            )
        began, noted = monotonic(), False
        matches = max(1, self.how.matches // GAME_MATCHES_PER_AGENT_MATCH)

        def foresee(number: int, seconds: float) -> None:
            """Say how long the checks will take, given the seconds that the first match of one of the games has taken."""
            nonlocal noted
            left = [_count_decisions(agent, game) for game in fitting[number - 1 :]]
            per_game = matches + min(matches, MAX_PLAYS) / PLAYS_PER_MATCH
            total = monotonic() - began - seconds + seconds * per_game * sum(left) / left[0]
            if noted or total < LONG_SECONDS or self.seconds < inf:
                return
            noted = True
            shorter = f"--matches {GAME_MATCHES_PER_AGENT_MATCH} takes about {total / matches:.0f} s"
            words = f"is slow, so the checks will take about {total:.0f} s"
            say(f"note: {' '.join(key)} {words}; {shorter}, and --game NAME checks one game")

        told: set[str] = set()
        lines: list[tuple[bool, str]] = [(True, line) for line in skipped]
        for number, board in enumerate(fitting, 1):
            self.progress.at(
                f"checking {' '.join(key)} on {board.name} ({number} of {len(fitting)})", board.name, [t for _, t in lines]
            )
            verdicts = list(self._verdicts_on(key, agent, board, len(fitting), partial(foresee, number)))
            kept = [each.check for each in verdicts if each.kept and each.reached and each.check != "the game"]
            if kept:
                lines.append((True, f"  ok      {board.name}: {', '.join(kept)}"))
            lines += self._describe_parameters(board) if board.name in self.set_games else []
            for verdict in verdicts:
                if not verdict.kept:
                    brief = verdict.check in told
                    lines.append((False, self._describe_fault(verdict, key, agent, f"{board.name}, ", brief=brief)))
                    told.add(verdict.check)
                elif verdict.check == "optimal" and not verdict.reached:
                    lines.append((True, f"  -       {board.name}: optimal: not checked: no small position was solved"))
            if any(verdict.ended for verdict in verdicts) and number < len(fitting):
                lines.append(
                    (True, f"  -       {', '.join([left.name for left in fitting[number:]])}: not checked after this failure")
                )
                break
        else:
            if left_out and not self.games:
                lines.append((True, f"  -       {', '.join(left_out)}: not checked; --game NAME checks one of these"))
        yield from lines

    def _verdicts_on(
        self, key: tuple[str, ...], agent: type[Agent], board: Game, games: int, foresee: Callable[[float], None]
    ) -> Iterator[Verdict]:
        """Yield the verdicts on an agent in one of several games. If the agent repeats its actions in this process, and does not
        use the global random generator, which would explain a difference, the second process plays too, unless the time is up.
        """
        matches = max(1, self.how.matches // GAME_MATCHES_PER_AGENT_MATCH)
        for setup in agent_setups(agent, board, self.registry):
            timed = setup._replace(seconds=self.seconds / games, foresee=foresee)
            began = monotonic()
            with user_interrupts():
                found = list(timed.suite(self.how.seed, matches, self.how.patience).verdicts())
            kept = {each.check for each in found if each.kept and each.reached}
            other = None
            if {"plays", "repeats", "randomness"} <= kept and monotonic() - began < timed.seconds:
                other = self.second.verdict(key, board, "repeats", self.how.seed, matches)
            yield from [other if other is not None and each.check == "repeats" else each for each in found]

    def _describe(self, verdicts: Iterable[Verdict], key: tuple[str, ...], value: Any) -> Iterator[tuple[bool, str]]:
        failed, unreached = 0, []
        for verdict in verdicts:
            if not verdict.kept:
                failed += 1
                yield False, self._describe_fault(verdict, key, value)
            elif verdict.promise == UNREACHED:
                unreached.append(verdict.check)
            elif verdict.check != "the game":
                yield True, f"  {'ok' if verdict.reached else '-':<6}  {verdict.check}: {verdict.promise}"
                if verdict.note is not None:
                    yield True, f"  note    {verdict.note}"
        if unreached:
            after = f"not checked after {'this failure' if failed == 1 else 'these failures'}" if failed else UNREACHED
            yield True, f"  -       {', '.join(unreached)}: {after}"

    def _describe_fault(self, verdict: Verdict, key: tuple[str, ...], value: Any, where: str = "", *, brief: bool = False) -> str:
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
        share = GAME_MATCHES_PER_AGENT_MATCH if key[0] == "agent" else 1
        matches = 1 if finding.matches == 1 else max(self.how.matches, finding.matches * share)
        how = replace(self.how, seed=finding.seed, matches=matches)
        plugins = (
            list(self.plugins) if self.alone else [*self.plugins, *([self.target] if PluginPlace(self.target).is_file else [])]
        )
        games = [game.name for game in self.games] if key[0] == "agent" else []
        given = self.given if self.set_games else ()
        words = how.command(self.target if self.alone else key[-1], games, plugins, given)
        told.append(f"see it again: {shlex.join(['arena', *words])}")
        if tracebacks_wanted():
            notes = [note for note in getattr(violation, "__notes__", ()) if note]
            if not notes and violation.__cause__ is not None:
                notes = traceback.format_exception(violation.__cause__)
            told += [line for note in notes for line in note.splitlines()]
        return "\n          ".join(told)


def _count_decisions(agent: type[Agent], game: Game) -> int:
    """Return a number that grows like the decisions for which a check asks the agent in a match of this game: the number of
    actions in a random match, or 1 for a solver, which decides once.
    """
    if isinstance(game, Puzzle) and agent.solve is not Agent.solve:
        return 1
    moves = call_foreign(lambda: sum(1 for _ in walk(game, Trial(name_of(game), 0, 0), MOVES)), lambda _: MOVES)
    return max(1, moves)


USUAL_METHODS = {
    "positions": "initial",
    "states": "initial",
    "notation": "parse_state",
    "termination": "is_terminal",
    "goals": "is_goal",
    "costs": "step_cost",
    "pickling": "__init__",
    "plays": "choose",
    "one node": "choose",
    "repeats": "choose",
    "purity": "choose",
    "threads": "choose",
}
"""For each check, the method that is reported as the possible cause if a finding names no method that the author has written."""


MAX_PLACE_CHARACTERS = 1000
"""The most characters at the end of a description in which a file and line are looked for."""


def where_of(got: str) -> str | None:
    """Return the file and line at the end of the description of an exception; None if the description has none."""
    found = re.search(r"[^\s(]+:\d+(?=\)|$)", got[-MAX_PLACE_CHARACTERS:])  # for a long text, the search would take minutes
    return found.group() if found else None


def method_at_fault(value: Any, check: str, what: str) -> str | None:
    """Return the method that a finding is about, such as `returns (nim.py:25)`; None if the author has not written such a method.

    `value` is a class or a function, `check` the name of the check, `what` the text of the finding.
    """
    if not isclass(value):
        return None
    words = [*re.findall(r"\w+", what), USUAL_METHODS.get(check, ""), "choose", "solve", "__call__"]
    for word in words:
        method = getattr(value, word, None)
        if isfunction(method) and is_authors(getsourcefile(method) or "<string>"):
            return f"{word} ({source_line(method)})"
    return None
