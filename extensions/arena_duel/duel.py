"""The command `duel`: two versions of an agent play until a sequential test decides which is better. The history is kept."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import click

from arena import ArenaError
from arena.api.cli import format_option, load, plugin_option, results_alone, room, say, seed_option, workers_for
from arena.api.errors import escape_line
from arena.api.results import figures, folded
from arena.api.spec import make_absolute, resolve_place
from arena_duel.duel_history import PastDuel, history_table, past_duels
from arena_duel.duel_match import DuelTerms, play_duel, store_of
from arena_duel.duel_setup import agent_of, describe_file, game_of, past_version
from arena_duel.version_folder import KeptVersion, SeveralFolders, current_version, folder_of
from arena_setup.words import values_of

DEFAULT_NODES = 1000
"""Default node limit per decision. A search without a limit may never end."""


@dataclass(frozen=True, slots=True)
class DuelOptions:
    """Options of the command."""

    file: str
    against: str | None
    agent: str | None
    game: str | None
    given: tuple[str, ...]
    elo: tuple[float, float]
    limits: str | None
    plies: int
    pairs: int | None
    seed: int
    workers: int | None
    folder: str | None
    history: bool
    style: str
    quiet: bool
    plugins: tuple[str, ...]
    remembered: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the last duel's game, used if the same game is played again."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the game."""
        return {**self.remembered, **values_of(self.given, what="--set")}

    @property
    def limits_given(self) -> dict[str, Any]:
        """The limits of a decision."""
        if self.limits is None:
            return {"nodes": DEFAULT_NODES}
        return {} if self.limits.strip() == "none" else values_of([self.limits], what="--limits")


@click.command()
@click.argument("file")
@click.option("--against", metavar="OLD.py|git:REV|vN", help="Default: the last version that has played, else git:HEAD.")
@click.option("--agent", metavar="NAME", help="Which agent of FILE, if it brings several.")
@click.option("--game", metavar="NAME", help="Default: a game of FILE, or the first that the agent can play.")
@click.option("--set", "given", multiple=True, metavar="KEY=VALUE", help="A parameter of the game, as rows=4; may be repeated.")
@click.option("--elo", nargs=2, type=float, default=(0.0, 10.0), show_default=True, help="The two hypotheses of the test.")
@click.option(
    "--limits", metavar="KEY=VALUE", help=f"Of a decision, as nodes=1000,depth=4; default nodes={DEFAULT_NODES}; none lifts it."
)
@click.option(
    "--openings", "plies", type=click.IntRange(0, 1000), default=4, show_default=True, help="Random plies before the game."
)
@click.option("--pairs", type=click.IntRange(1, 10**6), help="The most pairs of games; default 100,000.")
@seed_option("For the openings and everything else random.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes that play; default: one a core.")
@click.option("--folder", metavar="FOLDER", help="Where versions and games are kept; default: duel-AGENT beside FILE.")
@click.option("--history", is_flag=True, help="Play nothing; list every duel so far.")
@format_option
@click.option("--quiet", is_flag=True, help="No curve and no notes on stderr.")
@plugin_option
def duel(**asked: Any) -> int:
    """Say whether the agent of FILE is better than it was: its versions play until a sequential test decides."""
    options = DuelOptions(**asked)
    file = Path(options.file).absolute()
    with results_alone() as out:
        if options.history:
            folder = folder_of(file, options.agent, options.folder)
            duels = past_duels(folder)
            if options.style == "csv":
                raise ArenaError("--format: a history is a table or json, not csv")
            if options.style == "json":
                print(json.dumps([one.as_dict() for one in duels], indent=2, allow_nan=False), file=out)
            else:
                print(history_table(duels, options.style) if duels else f"no duel in {folder.path} yet", file=out)
            return 0
        if not file.is_file():
            raise ArenaError(f"no such file: {options.file}; expected the Python file of an agent")
        return _duel(options, file, out)


def _duel(options: DuelOptions, file: Path, out: IO[str]) -> int:
    options = _recall(options, file)
    now = current_version(file)
    description = describe_file(now, file, options.plugins)
    agent = agent_of(description, file, options.agent)
    folder = folder_of(file, agent, options.folder)
    past = past_version(folder, file, now.code, options.against)
    new, old = folder.keep(now, file.name), past.version
    brought = (str(new.file),) if description.games else ()
    plugins = (*map(make_absolute, options.plugins), *brought)
    if old is None or old.code == now.code:
        if options.game is not None:  # the next duel takes it
            game, _ = game_of(load(plugins), description, agent, options.game, options.parameters)
            folder.remember(game, map(make_absolute, options.plugins))
        return _report_nothing(options, new, past.why, out)
    game, others = game_of(load(plugins), description, agent, options.game, options.parameters)
    terms = DuelTerms(agent, game, options.elo, options.limits_given, options.plies, options.seed, options.pairs, plugins)
    spec = terms.spec(new, old)
    place = store_of(folder, spec, new, old)
    folder.remember(game, map(make_absolute, options.plugins))
    if past.why and place.exists():  # under other terms the same code may play again
        return _report_nothing(options, new, past.why, out)
    if not options.quiet:
        more = f"; --game takes {', '.join(others)} too" if others else ""
        say(f"{agent}: {new.told} against {old.told} at {game['name']}{more}")
    played = play_duel(spec, place, workers_for(options.workers, spec.size), quiet=options.quiet)
    found = next(one for one in past_duels(folder) if Path(one.store) == place)
    if options.style == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False), file=out)
    else:
        print(folded("\n".join(_report(found, agent, played)), room(out)), file=out)
    return 0


def _recall(options: DuelOptions, file: Path) -> DuelOptions:
    """Take the game and the plugins from the last duel of this agent if the call gives none, and say so in a line on stderr."""
    named = tuple([one for one in options.plugins if resolve_place(one) != resolve_place(str(file))])  # FILE is always loaded
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
        say(f"as in the last duel: {escape_line(' and '.join(told))}; --game and --plugin name others")
    return options


def _report_nothing(options: DuelOptions, current: KeptVersion, why: str, out: IO[str]) -> int:
    """Report that there is nothing to play, and suggest a next step."""
    reason = why or f"the same code: {options.file} is {current.told}"
    if options.style == "json":
        print(json.dumps(None), file=out)
        say(reason)
        return 0
    kept = f"{current.told} is kept in {current.file.parent}"
    print(
        f"{reason}. Nothing was played; {kept}: change the agent and run this again, or name another version by --against.",
        file=out,
    )
    return 0


def _report(found: PastDuel, agent: str, played: int) -> Sequence[str]:
    """Return the verdict as a sentence, the figures behind it and the place of the store."""
    state = found.state
    new, old = f"{agent} {found.new.name}", f"{agent} {found.old.name}"
    if state is None:
        return [f"Undecided: no pair of {new} against {old} is whole.", f"Kept in {found.store}."]
    if state.verdict is not None:
        sentence = f"{state.test.explain(state.verdict, new, old)}."
    elif found.ended is None:
        sentence = "Undecided: it is not finished."
    elif found.games < found.most:
        sentence = "Undecided: new games only repeat others, try more --openings."
    else:
        sentence = "Undecided: --pairs was reached."
    worth = state.worth
    elo = "no Elo" if worth.elo is None else f"{figures.elo(worth.elo)} Elo{figures.elo_interval(worth.elo_low, worth.elo_high)}"
    lost, drawn, won = sum(state.counts[:2]), state.counts[2], sum(state.counts[3:])
    pairs = f"{sum(state.counts):,} pairs of games (won {won}, level {drawn}, lost {lost})"
    failed = [f"{label} lost {number} games by a fault of its own." for label, number in found.failures.items()]
    again = [] if played else ["It was played before; nothing was left to play."]
    ratio = f"LLR {state.llr:+.2f} of {state.test.lower:.2f} to {state.test.upper:.2f} ({state.test.describe()})"
    return [
        sentence,
        f"{elo} from {pairs}; {ratio}.",
        *failed,
        *again,
        f"Kept in {found.store}; `arena duel --history` lists all.",
    ]
