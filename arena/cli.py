"""The command line. Everything it prints on stdout is a result; the rest goes to stderr."""

import os
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import click

from arena import __version__
from arena.errors import ArenaError, ClusterLost, Interrupted, StoreConflict, StoreFull
from arena.limits import LARGEST
from arena.processes.interrupts import user_interrupts

Command = Callable[..., Any]
SEED = click.IntRange(0, 2**63 - 1)
MOST_COUNTED = 10**12
"""Beyond it, figures would say what rounding makes of them."""
TRACEBACK = "ARENA_TRACEBACK"


def plugin_option(command: Command) -> Command:
    """Add `--plugin` to a command."""
    return click.option("--plugin", "plugins", multiple=True, metavar="FILE|MODULE", help="Load a plugin; may be repeated.")(
        command
    )


def known_format(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    """Return a format of tabulate, json or csv; they are looked up only when the option is used."""
    from arena.errors import suggestion
    from arena.results.tables import FORMATS

    if value not in FORMATS:
        raise click.BadParameter(f"unknown format {value!r}; {suggestion(value, FORMATS)}")
    return value


def want_tracebacks(_context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Ask for whole tracebacks, here and in the processes that are started."""
    if wanted:
        os.environ[TRACEBACK] = "1"


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="arena")
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Play agents against each other and against puzzles, and rank them."""
    if context.invoked_subcommand is not None:
        return None
    if not (_terminal(sys.stdin) and _terminal(sys.stdout)):
        raise click.exceptions.NoArgsIsHelpError(context)
    from arena.commands.terminal.menu import menu

    return menu(lambda words: int(cli.main(words, standalone_mode=False) or 0))


def _terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    """Return a part of a tournament from `2/5`."""
    if value is None:
        return None
    from arena.tournament.queue import Shard

    number, slash, of = value.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.BadParameter(f"expected I/N with I from 1 to N, as in 2/5, got {value!r}")
    return Shard(int(number), int(of))


def format_option(command: Command) -> Command:
    """Add `--format` to a command that prints leaderboards."""
    return click.option(
        "--format",
        "style",
        metavar="FMT",
        callback=known_format,
        default="simple",
        show_default=True,
        help="Of tabulate, or json, csv.",
    )(command)


@cli.command()
@click.argument("spec")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes that play; default: one a core.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Replaces the seed of the spec.")
@format_option
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.option("--store", metavar="PATH", help="Where the matches are kept; default: results/SPEC.db.")
@click.option("--no-store", is_flag=True, help="Keep the matches in memory alone.")
@click.option("--fresh", is_flag=True, help="Start anew; the matches so far are kept aside.")
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Go on though a plugin has changed.")
@click.option("--shard", metavar="I/N", callback=shard, help="Play part I of N, as one of N machines; see `arena merge`.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, local:N."
)
@plugin_option
def run(store: str | None, no_store: bool, fresh: bool, **asked: Any) -> int:
    """Play the tournament SPEC, or what is left of it, and print its leaderboards."""
    from arena.commands import run as running

    if asked["cluster"] is not None and asked["workers"] is not None:
        raise click.UsageError(
            "--workers does not go with --cluster; the workers of a cluster are started there, those of local:N by N"
        )

    if no_store and (store is not None or fresh):
        raise click.UsageError("--no-store does not go with --store or --fresh")
    return running.run(running.RunOptions(store=store, no_store=no_store, fresh=fresh, **asked))


@cli.command()
@click.argument("store")
@format_option
def leaderboard(store: str, style: str) -> int:
    """Print the leaderboards of STORE, also while it is being filled."""
    from arena.commands import storing

    return storing.leaderboard(store, style=style)


@cli.command()
@click.argument("store")
@click.argument("id")
def replay(store: str, id: str) -> int:  # noqa: A002 - the word that the manual uses
    """Show match ID of STORE position by position, and check that it is what was recorded."""
    from arena.commands import replay as replaying

    return replaying.replay(store, id)


@cli.command()
@click.argument("store")
@click.option("--format", "style", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
def export(store: str, style: str) -> int:
    """Print every record of STORE, one a line."""
    from arena.commands import storing

    return storing.export(store, style=style)


@cli.command()
@click.argument("store")
@click.argument("agents", nargs=-1, metavar="AGENT AGENT...")
@format_option
def compare(store: str, agents: tuple[str, ...], style: str) -> int:
    """Say how entries of STORE compare, two by two, with error bars: those that are named, or all."""
    from arena.commands import compare as comparing

    return comparing.compare(store, agents, style=style)


def counted(context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[int, ...]:
    """Return how many games, or pairs of games, came out in each way; an option that is none is told to be none."""
    for value in values:
        if value.startswith("-") and not value[1:2].isdecimal():
            options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
            raise click.NoSuchOption(value, possibilities=get_close_matches(value, options), ctx=context)
        if not (value.isascii() and value.isdecimal() and len(value) < 20 and int(value) <= MOST_COUNTED):
            raise click.BadParameter(f"expected whole numbers from 0 to {MOST_COUNTED:,}, got {value!r}")
    return tuple(map(int, values))


@cli.command(context_settings={"ignore_unknown_options": True})  # -1 is none, but a count that is wrong
@click.argument("counts", nargs=-1, required=True, callback=counted, metavar="WINS DRAWS LOSSES")
@click.option("--pentanomial", is_flag=True, help="Five counts instead: of pairs of games with 0, 1/2, 1, 1 1/2 and 2 points.")
@click.option("--sprt", nargs=2, type=float, metavar="ELO0 ELO1", help="With pairs: what a test of these two makes of them.")
@click.option("--format", "style", type=click.Choice(["simple", "json"]), default="simple", show_default=True)
def stats(counts: tuple[int, ...], pentanomial: bool, sprt: tuple[float, float] | None, style: str) -> int:
    """Say what a result is worth: Elo with its interval, and the likelihood of superiority."""
    from arena.commands import compare as comparing

    expected = 5 if pentanomial else 3
    if len(counts) != expected:
        raise click.UsageError(
            f"expected {expected} counts{'' if pentanomial else ', or five after --pentanomial'}, got {len(counts)}"
        )
    if pentanomial:
        return comparing.of_pairs(counts, sprt=sprt, style=style)
    if sprt is not None:
        raise click.UsageError("--sprt takes pairs of games: give five counts after --pentanomial")
    return comparing.of_games(counts[0], counts[1], counts[2], style=style)


@cli.command()
@click.argument("store")
@click.option("-o", "--output", "out", metavar="FILE|DIR", required=True, help="The page, or the folder for the plots.")
@click.option("--format", "style", type=click.Choice(["html", "png", "svg", "pdf"]), default="html", show_default=True)
@click.option("--matches", type=click.IntRange(0, 10**6), default=2000, show_default=True, help="How many the page carries.")
def report(store: str, out: str, style: str, matches: int) -> int:
    """Write what STORE holds as one page to look at, or each of its plots as a file."""
    from arena.commands import report as command

    return command.report(store, out, style=style, matches=matches)


@cli.command()
@click.argument("out")
@click.argument("stores", nargs=-1, required=True, metavar="IN...")
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Merge though a plugin was not the same one everywhere.")
def merge(out: str, stores: tuple[str, ...], *, accept: bool) -> int:
    """Write OUT with the matches of all stores IN."""
    from arena.commands import storing

    return storing.merge_stores(out, stores, accept=accept)


@cli.command()
@click.argument("specs", nargs=-1, required=True, metavar="SPEC...")
@plugin_option
def validate(specs: tuple[str, ...], plugins: tuple[str, ...]) -> int:
    """Check specs without playing: every fault with file, line and column."""
    from arena.commands import validate as validating

    return validating.validate(specs, plugins=plugins)


@cli.command("list")
@click.argument("kind", type=click.Choice(["games", "agents", "heuristics", "formats"]))
@plugin_option
def list_(kind: str, plugins: tuple[str, ...]) -> int:
    """List what the plugins brought."""
    from arena.commands import catalogue

    return catalogue.list_kind(kind, plugins=plugins)


@cli.command()
@click.argument("name")
@plugin_option
def show(name: str, plugins: tuple[str, ...]) -> int:
    """Show what is known of a game, an agent, a heuristic or a format."""
    from arena.commands import catalogue

    return catalogue.show(name, plugins=plugins)


@cli.command()
@plugin_option
def matrix(plugins: tuple[str, ...]) -> int:
    """Show which agent can play which game, or which trait is missing."""
    from arena.commands import catalogue

    return catalogue.matrix(plugins=plugins)


@cli.command("plugins")
@plugin_option
def plugins_(plugins: tuple[str, ...]) -> int:
    """Show every plugin, what it brought, and what is wrong with it."""
    from arena.commands import catalogue

    return catalogue.list_plugins(plugins=plugins)


@cli.command()
def schema() -> int:
    """Print the JSON Schema of a spec."""
    from arena.commands import validate as validating

    return validating.schema()


@cli.command()
@click.argument("target", metavar="NAME|FILE")
@click.option("--seed", type=SEED, default=0, show_default=True, help="For the random play.")
@click.option("--matches", type=click.IntRange(1, 10**6), default=20, show_default=True, help="How many to play.")
@click.option(
    "--patience",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    default=10.0,
    show_default=True,
    help="How long one call may take.",
)
@click.option("--watch", is_flag=True, help="Check again whenever the file is saved; Ctrl-C ends it.")
@plugin_option
def check(target: str, seed: int, matches: int, patience: float, watch: bool, plugins: tuple[str, ...]) -> int:
    """Hold a game, an agent or a heuristic, or all that a plugin file brings, to what it declares."""
    from arena.commands import check as checking

    how = checking.CheckOptions(seed, matches, patience)
    if watch:
        return checking.check_on_save(target, how, plugins=plugins)
    return checking.check(target, how, plugins=plugins)


@cli.command()
@click.argument("kind", type=click.Choice(["agent", "game", "puzzle", "heuristic"]))
@click.argument("name")
@click.option("--game", metavar="GAME", help="The game that an agent tries first, or that a heuristic is for.")
@click.option("--package", is_flag=True, help="A folder with tests that pip can install, instead of a file.")
@plugin_option
def new(kind: str, name: str, game: str | None, package: bool, plugins: tuple[str, ...]) -> int:
    """Write the first file of an agent, a game, a puzzle or a heuristic. It runs at once."""
    from arena.commands import new as beginning

    return beginning.new(kind, name, game=game, package=package, plugins=plugins)


@cli.command("try")
@click.argument("file", metavar="FILE|PROGRAM")
@click.option(
    "--game", "games", multiple=True, metavar="NAME", help="What agents play, instead of all they can; may be repeated."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="For everything random.")
@plugin_option
def try_(file: str, games: tuple[str, ...], seed: int, plugins: tuple[str, ...]) -> int:
    """Check a plugin file, let what it brings play for a few seconds, and say where it stands.

    An agent in another language is a PROGRAM: a file that can be started, or a command with its arguments in quotes.
    """
    from arena.commands.try_ import try_file

    return try_file(file, seed=seed, plugins=plugins, games=games)


@cli.command()
@click.argument("what", metavar="[STORE|SPEC]", required=False)
@click.option("--host", metavar="H", default="127.0.0.1", show_default=True, help="The interface; others need a token.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 picks one.")
@plugin_option
def serve(what: str | None, host: str, port: int, plugins: tuple[str, ...]) -> int:
    """Show tournaments, matches, games and puzzles in the browser: a STORE, or a SPEC that is then played."""
    from arena.commands import serve as serving

    return serving.serve(serving.ServeOptions(what, host, port, plugins))


def match_options(command: Command) -> Command:
    """Add what `play` and `solve` share: the board, the heuristic, the budget."""
    for option in reversed(
        (
            click.option(
                "--set", "given", multiple=True, metavar="KEY=VALUE", help="A parameter of the game, as rows=4; may be repeated."
            ),
            click.option("--seed", type=SEED, default=0, show_default=True, help="For the position and everything else random."),
            click.option("--position", metavar="TEXT", help="Start from there, in the game's notation."),
            click.option("--heuristic", metavar="NAME", help="For every agent that has none of its own."),
            click.option("--limits", metavar="KEY=VALUE", help="Of a decision, as nodes=1000,depth=4; none lifts them."),
            click.option("--nodes", type=click.IntRange(1, LARGEST), help="The same as --limits nodes=N."),
            click.option("--seconds", type=click.FloatRange(0, 10**7, min_open=True), help="The same as --limits seconds=S."),
            click.option("--delay", type=click.FloatRange(0, 3600), metavar="S", help="Seconds between two positions."),
            plugin_option,
        )
    ):
        command = option(command)
    return command


@cli.command()
@click.argument("game")
@click.argument("agents", nargs=-1, metavar="[AGENT]...")
@match_options
def play(game: str, agents: tuple[str, ...], **asked: Any) -> int:
    """Play GAME yourself, or watch agents play it.

    An AGENT is `human`, or an agent with its options, as in lookahead:depth=2. Without any you play the first seat; empty seats
    are filled.
    """
    from arena.commands import play as playing
    from arena.commands.terminal.words import call_of

    return playing.play(playing.PlayCall(game, agents, **call_of(asked)))


@cli.command()
@click.argument("puzzle")
@click.option("--agent", required=True, metavar="AGENT", help="Who solves it, as a-star or a-star:weight=2.")
@click.option("--shuffle", type=click.IntRange(0), metavar="N", help="The same as --set shuffle=N.")
@click.option("--animate", is_flag=True, help="Show the solution in motion.")
@click.option("--moves", is_flag=True, help="Print the actions alone.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
@match_options
def solve(puzzle: str, agent: str, **asked: Any) -> int:
    """Have an agent solve a position of PUZZLE, and say how, at what price, or why not; 1 where it is not solved."""
    from arena.commands import solve as solving
    from arena.commands.terminal.words import call_of

    return solving.solve(solving.SolveCall(puzzle, agent, **call_of(asked)))


for _command in (cli, *cli.commands.values()):
    _command.params.append(
        click.Option(
            ["--traceback"],
            is_flag=True,
            expose_value=False,
            callback=want_tracebacks,
            help="Show whole tracebacks of errors; so does ARENA_TRACEBACK=1.",
        )
    )


def main() -> None:
    """Run the command line and end the process with its exit code."""
    code = _guarded()
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if threading.active_count() > 1 and "arena.commands.check" in sys.modules:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """End the process at once where a thread of the plugin that was checked would keep it for as long as it likes."""
    from arena.processes.threads import lingering

    if any(not thread.daemon for thread in lingering()):
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(code)


def _guarded() -> int:
    try:
        with user_interrupts(at_once=True):  # also while a spec or a plugin is loading
            return cli.main(standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return 2
    except click.ClickException as error:
        error.show()
        return 2
    except (StoreFull, StoreConflict, ClusterLost) as error:
        click.echo(str(error), err=True)
        return 1
    except ArenaError as error:
        if os.environ.get(TRACEBACK, "") not in ("", "0"):
            click.echo("".join(traceback.format_exception(error)).rstrip("\n"), err=True)
        else:
            click.echo(str(error), err=True)
        return 2
    except (Interrupted, KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        click.echo(f"cannot go on: {error}", err=True)
        return 1
    except Exception:
        click.echo(f"arena {__version__}: an error of its own; please report it with what follows", err=True)
        traceback.print_exc()
        return 1
