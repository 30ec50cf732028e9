"""The command `run`: play a tournament, on this machine or on a cluster, with or without a store, and print its leaderboards."""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

import click

from arena.commands.leaderboard import explain_option, format_option
from arena.commands.options import RunSeed, plugin_option, workers_for
from arena.commands.specs import find_owner
from arena.console.notices import say, say_notes
from arena.console.output import Terminal, results_alone
from arena.console.progress import PercentLine, Progress
from arena.errors import ArenaError, Interrupted, PlayersLost, SpecError, StoreError
from arena.match.match import SeatUse
from arena.notation import read_digits
from arena.plugins.sources import load_plugins
from arena.results import figures
from arena.results.leaderboard import Leaderboard
from arena.results.tables import render
from arena.schedule.fingerprint import Fingerprint
from arena.schedule.runner import Turns
from arena.search_engines import running, search_engines
from arena.secret import Seed
from arena.spec import Document, Spec, limit_warnings, load_spec
from arena.store import Run, Store
from arena.tournament.queue import MatchQueue, Shard
from arena.tournament.results import PlayedMatch, Results
from arena.tournament.run import CONCURRENCY, Monitor, RunSettings, find_waiting_seats, play_tournament, resume_secret

SECONDS_BEFORE_WORKERS = 0.5
"""Seconds for which a run plays in its own process before it starts workers, because a small run needs none."""
MAX_VOID_LISTED = 3
"""The largest number of void matches that are listed one by one."""


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
    added: tuple[str, ...] = ()
    """The words on the command line that set options of plugins."""
    plain: bool = False
    compiled: bool = False
    explain: bool = False
    concurrency: int = CONCURRENCY

    @property
    def path(self) -> Path | None:
        """The store of the run: the path that the user gave, or else `results/STEM.db` (`results/STEM.1-of-3.db` for a shard)."""
        if self.no_store:
            return None
        if self.store is not None:
            return Path(self.store)
        part = f".{self.shard.number}-of-{self.shard.of}" if self.shard else ""
        return Path("results") / f"{Path(self.spec).stem}{part}.db"

    def note(self, text: str) -> None:
        """Print a line unless `--quiet` is given."""
        if not self.quiet:
            say(f"note: {text}")

    def again(self, *, begun: bool) -> str:
        """Return the command that resumes an interrupted run, with options that have no effect until the run has `begun`."""
        words = ["arena", "run", self.spec]
        words += [] if self.workers is None else ["--workers", str(self.workers)]
        words += self.added
        words += [] if self.seed is None else ["--seed", str(self.seed)]
        words += [] if self.style == "simple" else ["--format", self.style]
        words += [f"--{name}" for name in ("quiet", "plain", "compiled", "explain") if getattr(self, name)]
        words += [] if self.concurrency == CONCURRENCY else ["--concurrency", str(self.concurrency)]
        words += [word for plugin in self.plugins for word in ("--plugin", plugin)]
        words += [] if self.store is None else ["--store", self.store]
        words += [] if self.shard is None else ["--shard", f"{self.shard.number}/{self.shard.of}"]
        if not begun:
            words += ["--fresh"] if self.fresh else [word for agent in self.fresh_for for word in ("--fresh-for", agent)]
            words += ["--accept-changed-plugins"] if self.accept else []
        return shlex.join(words)


def parse_shard(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Shard | None:
    """Parse a shard of a tournament, such as `2/5`. Raises BadParameter for anything else."""
    if value is None:
        return None
    number, of = [read_digits(part) for part in value.partition("/")[::2]]
    if number is None or of is None or not 1 <= number <= of:
        raise click.BadParameter(f"expected I/N with I from 1 to N, as in 2/5, got {value!r}")
    return Shard(number, of)


class RunCommand(click.Command):
    """The command `run`, with the options that plugins add. Plugins are loaded only for `--help` and unknown options."""

    _own: list[click.Parameter] | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the call."""
        known = {text for parameter in self.params for text in (*parameter.opts, *parameter.secondary_opts)}
        if any(word == "-h" or (word.startswith("--") and word.partition("=")[0] not in known) for word in args):
            self._own = own = self._own or self.params
            self.params = [*own]
            load_plugins().manager.hook.arena_add_options(command=self)
            self.params = own + self._leave_out(own, self.params[len(own) :])
        return super().parse_args(ctx, args)

    @staticmethod
    def _leave_out(own: Sequence[click.Parameter], added: Sequence[click.Parameter]) -> list[click.Parameter]:
        """Return the added options. Options with a name that is taken are left out, with a warning for each of them."""
        taken = {text for one in own for text in (*one.opts, *one.secondary_opts, str(one.name))}
        kept = []
        for one in added:
            names = {*one.opts, *one.secondary_opts, str(one.name)}
            if names & taken:
                say(f"warning: {one.opts[0]} of a plugin is ignored, because arena run already has this option")
            else:
                kept.append(one)
                taken |= names
        return kept


def list_added(command: click.Command, asked: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that set the options of plugins to the values in `asked`, which are not their defaults."""
    for one in command.params:
        value = asked.get(str(one.name))
        if one.name not in RunOptions.__dataclass_fields__ and isinstance(one, click.Option) and value not in (None, False, ()):
            for each in value if one.multiple else [value]:
                yield from [one.opts[0]] if one.is_flag else [one.opts[0], str(each)]


@click.command(cls=RunCommand)
@click.argument("spec")
@click.option("--workers", type=click.IntRange(1, 1024), help="Number of worker processes; default: one per core.")
@click.option("--seed", type=RunSeed(), help="Override the seed of the spec: a number, or the digits of a secret seed.")
@format_option
@explain_option
@click.option("--quiet", is_flag=True, help="Do not print progress or notes on stderr.")
@click.option("--store", metavar="PATH", help="File that stores the matches; default: results/SPEC.db.")
@click.option("--no-store", is_flag=True, help="Keep the matches in a temporary store, which is deleted at the end.")
@click.option("--fresh", is_flag=True, help="Play all matches again; the old store is renamed and kept.")
@click.option(
    "--fresh-for", multiple=True, metavar="AGENT", help="Play the matches of AGENT again and keep all others; may be repeated."
)
@click.option("--accept-changed-plugins", "accept", is_flag=True, help="Continue even if a plugin has changed.")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 256),
    default=CONCURRENCY,
    show_default=True,
    help="Number of matches that one process plays at once, if agents wait for other programs, such as a server.",
)
@click.option("--plain", is_flag=True, help="Do not use compiled code; the records stay the same.")
@click.option("--compiled", is_flag=True, help="Before the first match, compile every search that can be compiled.")
@click.option(
    "--shard",
    metavar="I/N",
    callback=parse_shard,
    help="Split the run among N machines and play only part I on this one; see `arena merge`.",
)
@plugin_option
def run(**asked: Any) -> int:
    """Play the tournament SPEC, or the rest of it, and print its leaderboards."""
    own = {key: value for key, value in asked.items() if key in RunOptions.__dataclass_fields__}
    options = RunOptions(**own, added=tuple(list_added(click.get_current_context().command, asked)))
    if options.no_store and (options.store is not None or options.fresh or options.fresh_for):
        raise click.UsageError("--no-store cannot be used with --store, --fresh or --fresh-for")
    if options.fresh and options.fresh_for:
        raise click.UsageError("--fresh already plays all matches again; leave out --fresh-for")
    if options.plain and options.compiled:
        raise click.UsageError("--plain cannot be used with --compiled")
    feeds: list[MatchQueue] = []
    try:
        return _run(options, asked, feeds)
    except (PlayersLost, Interrupted, KeyboardInterrupt):
        if options.path is not None:
            say(f"\n{_describe_rest(options, options.path, feeds)}")
        raise


def _describe_rest(options: RunOptions, path: Path, feeds: Sequence[MatchQueue]) -> str:
    """Return how many matches a store has after an interrupt, and the command to use next: the one that resumes the run, or the
    one that shows its leaderboards if it has nothing left to play.
    """
    again = options.again(begun=bool(feeds))
    if not path.exists():
        return f"no match has been played; start again with\n  {again}"
    try:
        with Store.open(path) as store:
            count, run = len(store), store.last() if feeds else None
    except StoreError:  # the run was interrupted while it made or opened the file
        return f"all finished matches are in {path}; continue with\n  {again}"
    if run is not None and (run.ended is not None or (feeds[-1].is_over() and not run.hidden)):  # the end reveals a secret seed
        shown = shlex.join(["arena", "leaderboard", str(path)])
        return f"all matches are played and in {path}; to see the leaderboards, use\n  {shown}"
    stored = f"{figures.amount(count, 'match')} {'is' if count == 1 else 'are'} in" if count else "no match is finished yet in"
    return f"{stored} {path}; continue with\n  {again}"


def _run(options: RunOptions, asked: Mapping[str, Any], feeds: list[MatchQueue]) -> int:
    """Play the tournament. The queue of its matches is added to `feeds` once the store is ready."""
    with results_alone() as out, running(plain=options.plain, compiled=options.compiled):
        with PercentLine(sys.stderr, quiet=options.quiet):
            document = Document.read(options.spec)
            try:
                asked_for = load_spec(document, plugins=options.plugins, seed=options.seed)
            except SpecError as error:
                owner = find_owner(document)
                if owner is None:
                    raise
                start = f"arena {owner.name} {shlex.quote(options.spec)}"
                raise ArenaError(
                    f"{options.spec} is not a tournament spec, but a spec for `arena {owner.name}`: {start}"
                ) from error
            kept = None if options.fresh else options.path
            spec = resume_secret(asked_for, kept, shared=options.shard is not None)
        for board in spec.boards if options.shard is not None else ():
            if board.format.follows_results:
                name = board.format.name
                raise ArenaError(f"the format {name} cannot be used with --shard: its pairings depend on earlier results")
        say_notes(spec, quiet=options.quiet)
        if spec.secret:
            say(f"commitment: {spec.commitment}")
        for warning in () if options.quiet else limit_warnings(spec):
            say(f"warning: {warning}")
        shown = ShownRun(options, spec, feeds, out)
        safe = Fingerprint.is_trusted(spec)
        settings = RunSettings(
            workers=workers_for(options.workers, spec.size),
            concurrency=options.concurrency,
            alone=SECONDS_BEFORE_WORKERS if safe else None,
            guarded=not safe,
            shard=options.shard,
            fresh=options.fresh,
            fresh_for=options.fresh_for,
            accept=options.accept,
            options=asked,
        )
        results = play_tournament(spec, options.path, settings, shown)
        shown.sum_up()
        if spec.secret and results.seed is not None:
            say(f"seed: {results.seed}")
        return _show(results, options, out)


class ShownRun(Monitor):
    """Shows the progress of a run on stderr. The queue of its matches is added to `feeds` once the store is ready."""

    def __init__(self, options: RunOptions, spec: Spec, feeds: list[MatchQueue], out: IO[str]) -> None:
        super().__init__()
        self.watches = not options.quiet
        self._options, self._spec, self._feeds, self._out = options, spec, feeds, out
        self._progress = Progress(spec.boards, spec.size, sys.stderr, quiet=options.quiet)
        self._uses: dict[tuple[int, int], SeatUse] = {}

    def note(self, text: str) -> None:
        """Print a line unless `--quiet` is given."""
        self._options.note(text)

    def warn(self, text: str) -> None:
        """Print a warning."""
        say(f"warning: {text}")

    def found(self, *, failed: bool) -> None:
        """Count a match that the store already has."""
        self._progress.found(failed=failed)

    def watch(self, turns: Turns) -> None:
        """Take a function that returns the decisions in progress, which are named if no match ends."""
        self._progress.watch(turns)

    @contextmanager
    def follow(self, queue: MatchQueue, staff: Callable[[], str] | None) -> Iterator[None]:
        """Show the progress line inside the block."""
        self._feeds.append(queue)
        self._progress.left, self._progress.share, self._progress.staff = queue.left, queue.share, staff
        waits = staff is None and self._options.workers is not None and find_waiting_seats(self._spec)
        if waits and Fingerprint.is_trusted(self._spec):
            self.note(f"agents wait for other programs, so one process plays {self._options.concurrency} matches at a time")
        with self._progress:
            self._progress.expect(queue.expected)
            yield

    def observe(self, one: PlayedMatch) -> None:
        """Count a match."""
        queue = self._feeds[-1]
        self._progress.note(one)
        if one.record.timing:
            _add_uses(self._uses, self._spec, one)
        for board, word in queue.status.items():
            self._progress.say(board, word)
        if queue.expected:
            self._progress.expect(queue.expected)

    def break_off(self, results: Results) -> None:
        """Print how many matches were played, and their leaderboards. They are not in a file, so nothing else shows them."""
        played = self._feeds[-1].played
        count = (
            f"{played:,} of {figures.amount(self._spec.size, 'match')}" if self._spec.exact else figures.amount(played, "match")
        )
        say(f"\n{count} {'was' if played == 1 else 'were'} played; without a store, the run cannot be continued")
        if played:
            _show(results, self._options, self._out)

    def sum_up(self) -> None:
        """Print notes about the compiled searches, and about matches that were in the store."""
        for engine in search_engines():
            for line in engine.sum_up([self._uses[place] for place in sorted(self._uses)]):
                self.note(line)
        queue, path = self._feeds[-1], self._options.path
        if path is not None and (queue.held or queue.void):
            self.note(_describe_found(queue, path))


def _describe_found(feed: MatchQueue, path: Path) -> str:
    """Return how many matches were in the store before, and how many have been played."""
    added = feed.played - feed.void
    held = f"{figures.amount(feed.held, 'match')} {'was' if feed.held == 1 else 'were'} in {path}"
    if not feed.played:
        return f"{'the' if feed.held == 1 else 'all'} {held}; there were no matches left to play"
    parts = [held] if feed.held else []
    if feed.void:
        parts.append(f"{feed.void:,} void {'match has' if feed.void == 1 else 'matches have'} been played again")
    if added:
        parts.append(f"{added:,} {'has' if added == 1 else 'have'} been added")
    return ", ".join(parts)


def _add_uses(uses: dict[tuple[int, int], SeatUse], spec: Spec, one: PlayedMatch) -> None:
    timing = one.record.timing or {}
    nothing = [None] * len(one.pairing.seats)
    columns = [timing.get(key) or nothing for key in ("compiled", "plain", "plain_seconds", "plain_reason")]
    for entry, compiled, plain, seconds, reason in zip(one.pairing.seats, *columns, strict=True):
        if compiled or plain:
            board = spec.boards[one.board]
            use = uses.setdefault((one.board, entry), SeatUse(board.seats[entry], board.game))
            if compiled and use.first_compiled is None:
                use.first_compiled = use.matches
            use.matches += 1
            use.plain_seconds += seconds or 0.0
            use.failure = use.failure or reason


def _show(results: Results, options: RunOptions, out: IO[str]) -> int:
    boards = Leaderboard.of_results(results)
    if options.explain:
        boards = [board.explained() for board in boards]
    environments: Sequence[Mapping[str, str]] = ()
    if options.style == "json":
        with results.open_store() as store:
            environments = Run.list_environments(store.runs())
    print(render(results, boards, options.style, Terminal(out).room, environments), file=out)
    void = sum(board.void for board in boards)
    if void:
        with results.open_store() as store:
            for record in islice(store.void(), MAX_VOID_LISTED):
                say(f"void match {record.id} of {figures.listing(record.labels)}: {record.message}")
        if void > MAX_VOID_LISTED:
            say(f"and {void - MAX_VOID_LISTED:,} more")
    return 1 if void else 0
