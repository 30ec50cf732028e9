"""The command duel: is the agent better than it was? Two versions of it play until a test decides; the history is kept."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from arena import ArenaError
from arena.api.cli import format_option, load, plugin_option, results_alone, room, say, seed_option, values_of, workers_for
from arena.api.results import elo_interval, figures, folded, hypotheses, sprt_verdict
from arena.api.spec import make_absolute
from arena_duel.duel_history import PastDuel, history_table, past_duels
from arena_duel.duel_match import DuelTerms, play_duel, store_of
from arena_duel.duel_setup import agent_of, describe_file, game_of, past_version
from arena_duel.version_folder import KeptVersion, VersionFolder, current_version, folder_of

DEFAULT_NODES = 1000
"""Nodes of a decision where nobody gives a limit: a search without one may never end."""


@dataclass(frozen=True, slots=True)
class DuelOptions:
    """The options of the command."""

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
            return _show_history(options, folder_of(file, options.agent, options.folder), out)
        if not file.is_file():
            raise ArenaError(f"no such file: {options.file}; expected the Python file of an agent")
        return _duel(options, file, out)


def _show_history(options: DuelOptions, folder: VersionFolder, out: IO[str]) -> int:
    duels = past_duels(folder)
    if options.style == "json":
        print(json.dumps([one.as_dict() for one in duels], indent=2, allow_nan=False), file=out)
    elif options.style == "csv":
        raise ArenaError("--format: a history is a table or json, not csv")
    else:
        print(history_table(duels, options.style) if duels else f"no duel in {folder.path} yet", file=out)
    return 0


def _duel(options: DuelOptions, file: Path, out: IO[str]) -> int:
    now = current_version(file)
    description = describe_file(now, file, options.plugins)
    agent = agent_of(description, file, options.agent)
    folder = folder_of(file, agent, options.folder)
    past = past_version(folder, file, now.code, options.against)
    if past.version is None or past.version.code == now.code:
        return _report_nothing(options, folder.keep(now, file.name), past.why, out)
    new, old = folder.keep(now, file.name), past.version
    brought = (str(new.file),) if description.games else ()
    plugins = (*map(make_absolute, options.plugins), *brought)
    game, others = game_of(load(plugins), description, agent, options.game, values_of(options.given, what="--set"))
    terms = DuelTerms(agent, game, options.elo, options.limits_given, options.plies, options.seed, options.pairs, plugins)
    spec = terms.spec(new, old)
    place = store_of(folder, spec, new, old)
    if past.why and place.exists():  # under other terms the same code may meet again
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


def _report_nothing(options: DuelOptions, current: KeptVersion, why: str, out: IO[str]) -> int:
    """Say that there is nothing to play, and what to do."""
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
    """The verdict in a sentence, the figures behind it, and where all is kept."""
    state = found.state
    new, old = f"{agent} {found.new.name}", f"{agent} {found.old.name}"
    if state is None:
        return [f"Undecided: no pair of {new} against {old} is whole.", f"Kept in {found.store}."]
    if state.verdict is not None:
        sentence = f"{sprt_verdict(state.test, state.verdict, new, old)}."
    elif found.ended is None:
        sentence = "Undecided: it is not finished."
    elif found.games < found.most:
        sentence = "Undecided: new games only repeat others, try more --openings."
    else:
        sentence = "Undecided: --pairs was reached."
    worth = state.worth
    elo = "no Elo" if worth.elo is None else f"{figures.elo(worth.elo)} Elo{elo_interval(worth)}"
    lost, drawn, won = sum(state.counts[:2]), state.counts[2], sum(state.counts[3:])
    pairs = f"{sum(state.counts):,} pairs of games (won {won}, level {drawn}, lost {lost})"
    failed = [f"{label} lost {number} games by a fault of its own." for label, number in found.failures.items()]
    again = [] if played else ["It was played before; nothing was left to play."]
    ratio = f"LLR {state.llr:+.2f} of {state.test.lower:.2f} to {state.test.upper:.2f} ({hypotheses(state.test)})"
    return [
        sentence,
        f"{elo} from {pairs}; {ratio}.",
        *failed,
        *again,
        f"Kept in {found.store}; `arena duel --history` lists all.",
    ]
