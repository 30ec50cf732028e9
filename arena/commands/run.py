"""The command run: play a tournament, here or on a cluster, into a store or not, and print its leaderboards."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from arena.commands.leaderboard import format_option
from arena.commands.options import RunSeed, plugin_option, workers_for
from arena.console.notices import say, say_notes
from arena.console.output import results_alone, room
from arena.console.progress import PercentLine, Progress
from arena.errors import ArenaError, ClusterLost, Interrupted
from arena.match.record import Record
from arena.results.leaderboard import Leaderboard, leaderboards
from arena.results.tables import render
from arena.schedule.fingerprint import trusted
from arena.schedule.runner import check_sandbox
from arena.secret import Seed
from arena.spec import Spec, limit_warnings, load_spec
from arena.store import Run, Store, put_aside
from arena.store.run import run_of
from arena.tournament.code_check import checked
from arena.tournament.compiled_boards import running_plain
from arena.tournament.concurrent_matches import CONCURRENCY, waiting_seats
from arena.tournament.fresh_matches import clear_for
from arena.tournament.kept_openings import with_kept_openings
from arena.tournament.queue import MatchQueue, Shard
from arena.tournament.results import PlayedMatch, Results
from arena.tournament.run import play_all, record_all
from arena.tournament.secret_run import with_secret
from arena.tracking import listening

if TYPE_CHECKING:
    from arena.cluster import Coordinator

ALONE = 0.5
"""Seconds that a run plays in its own process before it starts workers: a small run needs none."""
TOLD = 3
"""The most void matches that are listed one by one."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of the command."""

    spec: str
    workers: int | None = None
    seed: Seed | None = None
    style: str = "simple"
    quiet: bool = False
    plugins: tuple[str, ...] = ()
    store: str | None = None
    no_store: bool = False
    fresh: bool = False
    fresh_for: tuple[str, ...] = ()
    accept: bool = False
    shard: Shard | None = None
    cluster: str | None = None
    plain: bool = False
    concurrency: int = CONCURRENCY

    @property
    def path(self) -> Path | None:
        """The store of the run: as asked for, or `results/STEM.db`, for a shard `results/STEM.1-of-3.db`."""
        if self.no_store:
            return None
        if self.store is not None:
            return Path(self.store)
        part = f".{self.shard.number}-of-{self.shard.of}" if self.shard else ""
        return Path("results") / f"{Path(self.spec).stem}{part}.db"

    def note(self, text: str) -> None:
        """Say something that `--quiet` leaves out."""
        if not self.quiet:
            say(f"note: {text}")

    def again(self) -> str:
        """The command that resumes an interrupted run."""
        words = ["arena", "run", self.spec]
        words += [] if self.workers is None else ["--workers", str(self.workers)]
        words += [] if self.cluster is None else ["--cluster", self.cluster]
        words += [] if self.seed is None else ["--seed", str(self.seed)]
        words += [] if self.style == "simple" else ["--format", self.style]
        words += ["--quiet"] if self.quiet else []
        words += ["--plain"] if self.plain else []
        words += [] if self.concurrency == CONCURRENCY else ["--concurrency", str(self.concurrency)]
        words += [word for plugin in self.plugins for word in ("--plugin", plugin)]
        words += [] if self.store is None else ["--store", self.store]
        words += [] if self.shard is None else ["--shard", f"{self.shard.number}/{self.shard.of}"]
        return shlex.join(words)


def shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Shard | None:
    """A part of a tournament from `2/5`; BadParameter for anything else."""
    if value is None:
        return None
    number, slash, of = value.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise click.BadParameter(f"expected I/N with I from 1 to N, as in 2/5, got {value!r}")
    return Shard(int(number), int(of))


@click.command()
@click.argument("spec")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes that play; default: one a core.")
@click.option("--seed", type=RunSeed(), help="Replaces the seed of the spec: a number, or the digits of a secret one.")
@format_option
@click.option("--quiet", is_flag=True, help="No progress and no notes on stderr.")
@click.option("--store", metavar="PATH", help="Where the matches are kept; default: results/SPEC.db.")
@click.option("--no-store", is_flag=True, help="Keep the matches in memory alone.")
@click.option("--fresh", is_flag=True, help="Start anew; the matches so far are kept aside.")
@click.option(
    "--fresh-for",
    multiple=True,
    metavar="AGENT",
    help="Play the matches of AGENT anew, and keep those of all others; may be repeated.",
)
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Go on though a plugin has changed.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=CONCURRENCY,
    show_default=True,
    help="Matches at the same time in one process, where agents wait for something outside.",
)
@click.option("--plain", is_flag=True, help="Use no compiled code; the records are the same.")
@click.option("--shard", metavar="I/N", callback=shard, help="Play part I of N, as one of N machines; see `arena merge`.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, local:N."
)
@plugin_option
def run(**asked: Any) -> int:
    """Play the tournament SPEC, or what is left of it, and print its leaderboards."""
    options = RunOptions(**asked)
    if options.cluster is not None and options.workers is not None:
        raise click.UsageError(
            "--workers does not go with --cluster; the workers of a cluster are started there, those of local:N by N"
        )
    if options.no_store and (options.store is not None or options.fresh or options.fresh_for):
        raise click.UsageError("--no-store does not go with --store, --fresh or --fresh-for")
    if options.fresh and options.fresh_for:
        raise click.UsageError("--fresh plays everything anew; leave out --fresh-for")
    with results_alone() as out, running_plain(wanted=options.plain):
        with listening(PercentLine(sys.stderr, quiet=options.quiet)):
            asked_for = load_spec(options.spec, plugins=options.plugins, seed=options.seed)
            kept = None if options.fresh else options.path
            spec = with_secret(asked_for, kept, shared=options.shard is not None)
        if not options.fresh:
            spec = with_kept_openings(spec, options.path)
        if options.shard is not None:
            _check_shared(spec)
        say_notes(spec, quiet=options.quiet)
        if spec.secret:
            say(f"commitment: {spec.commitment}")
        for warning in () if options.quiet else limit_warnings(spec):
            say(f"warning: {warning}")
        planned = run_of(spec)
        with _cluster(options, spec, planned) as cluster, _opened(options, spec, planned) as store:
            played = _play(options, spec, planned, store, cluster)
            if store is not None:
                store.flush()
        results = Results(spec, played, store=options.path)
        if spec.secret and results.seed is not None:
            say(f"seed: {results.seed}")
        return _show(results, leaderboards(results), options.style, out)


def _check_shared(spec: Spec) -> None:
    for board in spec.boards:
        if board.format.follows_results:
            raise ArenaError(f"{board.format.name} cannot be shared among machines: who meets whom depends on the results so far")


@contextmanager
def _opened(options: RunOptions, spec: Spec, planned: Run) -> Iterator[Store | None]:
    path = options.path
    if path is None:
        yield None
        return
    if options.fresh:
        aside = put_aside(path)
        if aside is not None:
            options.note(f"the matches so far are kept in {aside}")
    with Store.open(path, write=True) as store:
        if options.fresh_for:
            cleared = clear_for(store, spec, planned, options.fresh_for, accept=options.accept)
            if cleared is not None:
                options.note(cleared)
        store.begin(checked(store, spec, planned, options.note, accept=options.accept))
        yield store


@contextmanager
def _cluster(options: RunOptions, spec: Spec, planned: Run) -> Iterator[Callable[[MatchQueue], "Coordinator"] | None]:
    """Makes the coordinator of a queue on the cluster that was asked for; None if there is none."""
    if options.cluster is None:
        yield None
        return
    from arena.cluster import Coordinator, address_of, dask_engine, packed

    address = address_of(options.cluster)
    check_sandbox(spec)  # some matches are played here again
    parcel = packed(spec, planned.plugins)
    if address.warning is not None:
        options.note(address.warning)
    total = spec.size if spec.exact else None
    with dask_engine(address) as engine:
        yield lambda feed: Coordinator(spec, parcel, engine, feed.take, options.note, total=total)


def _play(
    options: RunOptions, spec: Spec, planned: Run, store: Store | None, cluster: Callable[[MatchQueue], "Coordinator"] | None
) -> list[PlayedMatch]:
    played: list[PlayedMatch] = []
    with Progress(spec.boards, spec.size, sys.stderr, quiet=options.quiet) as progress:
        feed = MatchQueue(spec, store, options.shard, progress.found)

        def note(one: PlayedMatch) -> None:
            if store is None:
                played.append(one)
            progress.note(one)
            for board, word in feed.status.items():
                progress.say(board, word)
            progress.expect(feed.expected)

        progress.expect(feed.expected)

        try:
            if cluster is None:
                _play_here(options, spec, planned, feed, progress, note)
            else:
                coordinator = cluster(feed)
                progress.ask(coordinator.staff)
                record_all(feed, coordinator.play(), note)
                if feed.postponed:
                    record_all(feed, cluster(feed).play(), note)
        except (ClusterLost, Interrupted):
            if store is not None:
                store.flush()
                say(f"\n{feed.held + feed.played:,} matches are in {store.path}; go on with\n  {options.again()}")
            raise
    if store is not None:
        if not feed.others:
            store.end(feed.rankings())
        if feed.held:
            options.note(_what_was_there(feed, store))
    return sorted(played, key=lambda one: one.number)


def _play_here(
    options: RunOptions, spec: Spec, planned: Run, feed: MatchQueue, progress: Progress, observe: Callable[[PlayedMatch], None]
) -> None:
    """Play in processes of this machine."""
    safe = trusted(spec)
    if safe and options.workers is not None and waiting_seats(spec):
        options.note(f"agents wait for something outside: one process plays {options.concurrency} matches at a time")
    play_all(
        spec,
        feed,
        workers_for(options.workers, spec.size),
        observe,
        code=planned.plugins,
        alone=ALONE if safe else None,
        guarded=not safe,
        watch=progress.watch,
        note=options.note,
        concurrency=options.concurrency,
    )


def _what_was_there(feed: MatchQueue, store: Store) -> str:
    if feed.played:
        return f"{feed.held:,} matches were in {store.path}, {feed.played:,} have been added"
    return f"all {feed.held:,} matches were in {store.path}; nothing was left to play"


def _show(results: Results, boards: Sequence[Leaderboard], style: str, out: IO[str]) -> int:
    print(render(results, boards, style, room(out)), file=out)
    void = sum(board.void for board in boards)
    if void:
        for number, record in zip(range(TOLD), _void(results), strict=False):
            say(f"void match {record.id} of {' and '.join(record.labels)}: {record.message}")
            if number == TOLD - 1 and void > TOLD:
                say(f"and {void - TOLD:,} more")
    return 1 if void else 0


def _void(results: Results) -> Iterator[Record]:
    if results.store is None:
        yield from results.void
        return
    with Store.open(results.store) as store:
        yield from store.void()
