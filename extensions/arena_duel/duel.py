"""The command `duel`: two versions of an agent play until a sequential test decides which one is better. The games of all duels
are kept.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import click

from arena import ArenaError
from arena.api.cli import Number, Terminal, format_option, is_given, load, plugin_option, results_alone, say, workers_for
from arena.api.errors import escape_line
from arena.api.results import TextTable, figures
from arena.api.spec import PluginPlace
from arena_duel.best_duel import (
    BETTER,
    DEFAULT_GAMES,
    LEVEL,
    UNDECIDED,
    WORSE,
    keep_result,
    list_variants,
    past_contests,
    place_of,
    read_variants,
)
from arena_duel.decision_limits import describe_drawn, describe_plies, describe_sizes
from arena_duel.duel_history import PastDuel, contest_table, history_table, past_duels
from arena_duel.duel_match import DuelTerms, load_terms, play_duel, store_of
from arena_duel.duel_setup import agent_of, choose_plies, describe_file, game_of, past_version
from arena_duel.version_folder import KeptVersion, SeveralFolders, VersionFolder, contests_of, current_version, folder_of
from arena_pairings.sprt import MAX_ELO
from arena_setup.options import limits_option, seed_option
from arena_setup.words import values_of

EXIT_CODES = {BETTER: 0, LEVEL: 3, WORSE: 4, UNDECIDED: 5}
"""The exit codes of `--exit-code`, by the verdict on the first variant."""

WORSE_BELOW = 0.025
"""A version counts as worse if the test does not find it better, and the probability that this version is stronger is below this
value.
"""


@dataclass(frozen=True, slots=True)
class DuelOptions:
    """Options of the command."""

    files: tuple[str, ...]
    against: str | None
    agent: str | None
    game: str | None
    given: tuple[str, ...]
    elo: tuple[float, float]
    margin: float
    limits: str | None
    plies: int | None
    pairs: int | None
    games: int | None
    seed: int
    workers: int | None
    folder: str | None
    history: bool
    style: str
    exit_code: bool
    quiet: bool
    plugins: tuple[str, ...]
    remembered: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the game in the last duel, which are used if the same game is played again."""

    @property
    def history_command(self) -> str:
        """Return the command that lists all duels of the first file."""
        given = [("--agent", self.agent), ("--folder", self.folder)]
        words = [word for name, value in given if value is not None for word in (name, value)]
        return shlex.join(["arena", "duel", self.files[0], *words, "--history"])

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the game."""
        return {**self.remembered, **values_of(self.given, what="--set")}

    @property
    def max_pairs(self) -> int | None:
        """Return the largest number of pairs of games that `--pairs` and `--games` allow; None without either."""
        return self.pairs if self.games is None else min(self.games // 2, self.pairs or self.games)

    @property
    def limits_given(self) -> dict[str, Any]:
        """Return the limits on a decision. By default there are none, because under a budget that an agent does not know, its
        moves could be random.
        """
        return {} if self.limits is None or self.limits.strip() == "none" else values_of([self.limits], what="--limits")


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--against",
    metavar="OLD.py|git:REV|vN",
    help="The version or file to play against; default: the last version that has played, or git:HEAD if there is none.",
)
@click.option("--agent", metavar="NAME", help="The name of the agent, if FILE has several.")
@click.option("--game", metavar="NAME", help="The game; default: a game of FILE, or the first game that the agent can play.")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter of the game, such as rows=4, or compare values of an option of the agent, such as depth=2,3,4; may be "
    "repeated.",
)
@click.option(
    "--elo",
    nargs=2,
    type=Number(-MAX_ELO["normalized"], MAX_ELO["normalized"]),
    metavar="ELO0 ELO1",
    default=(0.0, 10.0),
    show_default=True,
    help="The two hypotheses of the test, in normalised Elo.",
)
@click.option(
    "--margin",
    type=Number(0, 400, min_open=True),
    default=5.0,
    show_default=True,
    metavar="ELO",
    help="With several files or values: stop when no other variant can be better than the winner by more than this many Elo.",
)
@limits_option("Limits for each decision, such as nodes=1000,depth=4; may be repeated; default: none.")
@click.option(
    "--openings",
    "plies",
    type=click.IntRange(0, 1000),
    help="Number of random moves before each game; default: 0 if the start positions of the game vary, otherwise a quarter of a "
    "random game, at least 1 and at most 4.",
)
@click.option(
    "--pairs", type=click.IntRange(1, 10**6), help="With two versions: maximum number of pairs of games; default 100,000."
)
@click.option(
    "--games",
    type=click.IntRange(2, 2 * 10**6),
    metavar="N",
    help="Maximum number of games; with several variants, the default is 100,000.",
)
@seed_option("Seed of the openings and all other random numbers.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Number of worker processes; default: one per core.")
@click.option("--folder", metavar="FOLDER", help="Folder for versions and games; default: duel-AGENT next to FILE.")
@click.option("--history", is_flag=True, help="List all duels so far, without playing.")
@format_option
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 0 if FILE is better or new, 3 if it is not better, 4 if it is probably worse, 5 if the test is undecided.",
)
@click.option("--quiet", is_flag=True, help="Do not print the curve or notes on stderr.")
@plugin_option
def duel(**asked: Any) -> int:
    """Test whether the agent of FILE is better than its last version: the two play until a sequential test decides.

    With several files, or with several values of an option, find the best of all of them.
    """
    options = DuelOptions(**asked)
    files = [Path(one).absolute() for one in options.files]
    with results_alone() as out:
        if options.history:
            return _list_history(options, files, out)
        for name, file in zip(options.files, files, strict=True):
            if not file.is_file():
                raise ArenaError(f"no such file: {name}; expected the Python file of an agent")
        single, several = read_variants(options.given)
        if len(files) == 1 and not several:
            if is_given("margin"):
                raise ArenaError("--margin needs several files, or several values of an option; for two versions, use --elo")
            return _duel(options, files[0], out)
        for name in ("against", "elo", "pairs"):
            if is_given(name):
                raise ArenaError(f"--{name} needs one file without variants; for several variants, use --margin and --games")
        return _find_best(replace(options, given=tuple(single)), files, several, out)


def _list_history(options: DuelOptions, files: Sequence[Path], out: IO[str]) -> int:
    if len(files) > 1:
        raise ArenaError(f"--history: expected one file, got {len(files)}; contests are listed under their first file")
    if options.style == "csv":
        raise ArenaError("--format: --history can be a table or json, not csv")
    folder = folder_of(files[0], options.agent, options.folder)
    duels, contests = past_duels(folder), past_contests(contests_of(folder, files[0]))
    if options.style == "json":
        every = sorted(
            [*(one.as_dict() for one in duels), *(one.as_dict() for one in contests)], key=lambda one: str(one["started"])
        )
        print(json.dumps(every, indent=2, allow_nan=False), file=out)
        return 0
    parts = [history_table(duels, options.style)] if duels else []
    if contests:
        parts.append(contest_table(contests, options.style))
    print("\n\n".join(parts) or f"there are no duels in {folder.path} yet", file=out)
    return 0


def _find_best(options: DuelOptions, files: Sequence[Path], several: Mapping[str, Sequence[Any]], out: IO[str]) -> int:
    options = _recall(options, files[0])
    versions = [current_version(file) for file in files]
    described = [describe_file(version, file, options.plugins) for version, file in zip(versions, files, strict=True)]
    agents = [agent_of(one, file, options.agent) for one, file in zip(described, files, strict=True)]
    folder = folder_of(files[0], agents[0], options.folder)
    contests = contests_of(folder, files[0])
    kept = [contests_of(folder, file).keep(version, file.name) for version, file in zip(versions, files, strict=True)]
    variants = list_variants(options.files, agents, kept, several)
    brought = (str(kept[0].file),) if described[0].games else ()
    asked = [PluginPlace(plugin).absolute for plugin in options.plugins]
    plugins = (*asked, *brought)
    registry = load(plugins)
    game, others = game_of(registry, described[0], agents[0], options.game, options.parameters)
    plies = choose_plies(registry, game) if options.plies is None else options.plies
    games = options.games or DEFAULT_GAMES
    keys = {
        "name": f"best of {', '.join(one.label for one in variants)}",
        "game": dict(game),
        "format": {"name": "best-of", "margin": options.margin, "games": games},
        "agents": [one.entry() for one in variants],
        "seed": options.seed,
        "rounds": max(1, games // 2),
        **({"limits": options.limits_given} if options.limits_given else {}),
        **({"openings": {"plies": plies}} if plies else {}),
    }
    shown = {"limits": "--limits", "game": "--game", "format": "--margin", "openings": "--openings", "rounds": "--games"}
    spec = load_terms(keys, plugins, {**shown, "agents": "--set"} if several else shown)
    place = place_of(contests, spec)
    folder.remember(game, asked)
    if not options.quiet:
        more = f"; --game can also be {', '.join(others)}" if others else ""
        say(f"{', '.join(one.label for one in variants)} at {game['name']}{more}")
    play_duel(spec, place, workers_for(options.workers, spec.size), quiet=options.quiet)
    found = keep_result(spec, variants, place, options.limits_given)
    if options.style == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False), file=out)
    else:
        print(TextTable.fold("\n".join(found.report(options.history_command)), Terminal(out).room), file=out)
    return EXIT_CODES[found.verdict] if options.exit_code else 0


def _duel(options: DuelOptions, file: Path, out: IO[str]) -> int:
    options = _recall(options, file)
    now = current_version(file)
    if not options.quiet:
        say(f"loading {options.files[0]}")
    description = describe_file(now, file, options.plugins)
    agent = agent_of(description, file, options.agent)
    folder = folder_of(file, agent, options.folder)
    past = past_version(folder, file, now.code, options.against, allow_new=options.exit_code)
    new, old = folder.keep(now, file.name), past.version
    brought = (str(new.file),) if description.games else ()
    asked = [PluginPlace(plugin).absolute for plugin in options.plugins]
    plugins = (*asked, *brought)
    if old is None or old.code == now.code:
        if options.game is not None:  # the next duel uses the same game by default
            game, _ = game_of(load(plugins), description, agent, options.game, options.parameters)
            folder.remember(game, asked)
        _report_nothing(options, new, past.why or f"{options.files[0]} has the same code as {new.told}", out)
        return 0
    if not options.quiet:
        say(f"{new.told} is kept")
    registry = load(plugins)
    game, others = game_of(registry, description, agent, options.game, options.parameters)
    plies = choose_plies(registry, game) if options.plies is None else options.plies
    terms = DuelTerms(agent, game, options.elo, options.limits_given, plies, options.seed, options.max_pairs, plugins)
    spec = terms.spec(new, old)
    place = store_of(folder, spec, new, old)
    folder.remember(game, asked)
    before = next((one for one in past_duels(folder) if Path(one.store) == place), None)
    if options.against is None and before is not None and before.ended is not None:
        _report_nothing(options, new, f"this is the same code as {new.told}, which has already played", out)
        return _judge(before) if options.exit_code else 0
    if not options.quiet:
        more = f"; --game can also be {', '.join(others)}" if others else ""
        say(f"{agent}: {new.told} against {old.told} at {game['name']}{more}")
    played = play_duel(spec, place, workers_for(options.workers, spec.size), quiet=options.quiet)
    found = _find_duel(folder, place)
    if options.style == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False), file=out)
    else:
        told = _report(found, agent, played, describe_sizes(spec.boards[0].game, place), options.history_command)
        print(TextTable.fold("\n".join(told), Terminal(out).room), file=out)
    return _judge(found) if options.exit_code else 0


def _find_duel(folder: VersionFolder, place: Path) -> PastDuel:
    return next(one for one in past_duels(folder) if Path(one.store) == place)


def _judge(duel: PastDuel) -> int:
    """Return the exit code for a duel between two versions."""
    if duel.state is None or duel.state.verdict is None:
        return EXIT_CODES[UNDECIDED]
    if duel.state.verdict == "H1":
        return EXIT_CODES[BETTER]
    return EXIT_CODES[WORSE if duel.state.better < 0 or duel.state.lead.superiority < WORSE_BELOW else LEVEL]


def _recall(options: DuelOptions, file: Path) -> DuelOptions:
    """If the command line names no game, use the game and the plugins of the last duel of this agent, and say so on stderr."""
    named = tuple(
        [one for one in options.plugins if PluginPlace(one).real != PluginPlace(str(file)).real]
    )  # FILE is loaded anyway
    options = replace(options, plugins=named)
    game: dict[str, Any] = {}
    plugins: tuple[str, ...] = ()
    with suppress(SeveralFolders):
        game, plugins = folder_of(file, options.agent, options.folder).recall()
    told = []
    if game and options.game is None:
        name, parameters = game.pop("name"), game
        options = replace(options, game=name, remembered=parameters)
        told.append(f"the game {name}")
    if plugins and not named:
        options = replace(options, plugins=plugins)
        told.append(f"the plugins {', '.join(plugins)}")
    if told and not options.quiet:
        say(f"as in the last duel: {escape_line(figures.listing(told))}; use --game and --plugin to change this")
    return options


def _report_nothing(options: DuelOptions, current: KeptVersion, reason: str, out: IO[str]) -> None:
    """Report that there is nothing to play, and suggest a next step."""
    if options.style == "json":
        print(json.dumps(None), file=out)
        say(reason)
        return
    print(
        f"{current.told} is kept in {current.file.parent}.\nNothing was played: {reason}. "
        "Change the agent and run the command again, or choose another version with --against.",
        file=out,
    )


def _report(found: PastDuel, agent: str, played: int, remarks: Sequence[str], history: str) -> Sequence[str]:
    """Return the verdict as a sentence, the remarks about the test, the figures behind it, the path of the store, and the command
    that lists all duels.
    """
    state = found.state
    new, old = f"{agent} {found.new.name}", f"{agent} {found.old.name}"
    if state is None:
        return [f"Undecided: no pair of games of {new} against {old} is complete.", f"Kept in {found.store}."]
    if state.verdict is not None:
        sentence = f"{state.explain(state.verdict, new, old)}."
    elif found.ended is None:
        sentence = "Undecided: the duel is not finished."
    elif found.games < found.most:
        sentence = "Undecided, because new games only repeat earlier ones; set more plies with --openings."
    else:
        sentence = f"Undecided after {figures.amount(found.most, 'game')}, the maximum set by --pairs or --games."
    lead = state.lead
    elo = "no Elo" if lead.elo is None else f"{figures.elo(lead.elo)} Elo{figures.elo_interval(lead.elo_low, lead.elo_high)}"
    elo += "" if state.adjusted is None else ", adjusted for luck,"
    lost, drawn, won = sum(state.counts[:2]), state.counts[2], sum(state.counts[3:])
    pairs = f"{figures.amount(sum(state.counts), 'pair')} of games: {won} won, {drawn} level, {lost} lost"
    failed = [f"{label} lost {figures.amount(number, 'game')} through its own fault." for label, number in found.failures.items()]
    by_chance = describe_drawn(found.limits, found.drawn)
    again = [] if played else ["All games of this duel had been played before; there were no matches left to play."]
    test = state.test
    ratio = (
        f"The test decides between differences of {test.elo0:+g} and {test.elo1:+g} {test.unit}. Its log-likelihood ratio is "
        f"{state.llr:+.2f}; it accepts {test.elo1:+g} at {test.upper:.2f} or more, and {test.elo0:+g} at {test.lower:.2f} or less"
    )
    return [
        sentence,
        *remarks,
        f"{new} against {old}: {elo} in {pairs}; {describe_plies(found.plies)} (--openings).",
        f"{ratio}.",
        *([state.repeats] if state.repeats else []),
        *([by_chance] if by_chance else []),
        *failed,
        *again,
        f"Kept in {found.store}; use `{history}` to list all duels.",
    ]
