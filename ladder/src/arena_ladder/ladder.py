"""The command `ladder`, which hosts a ladder (a tournament that never ends) and administers it."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from arena import ArenaError
from arena.api.cli import Number, plugin_option, results_alone, say, workers_for
from arena.api.errors import escape_controls
from arena.api.results import TextTable, figures
from arena.api.search import wants_plain
from arena_isolation.child import ChildProcess
from arena_web.serve import bind_socket

if TYPE_CHECKING:
    from arena_cluster.players import ClusterPlayers
    from arena_ladder.ledger import Ledger
    from arena_ladder.spec import LadderSpec
    from arena_ladder.submissions import Submission

ANYWHERE = ("--store", "--plugin")
"""The options of `admin`. They may come before SPEC, after it, or after the action."""
UNCLEAR_TIMES = (
    "marks compare seconds only between attempts that ran the same way, but a cache decides how searches with compiled code run; "
    "start the ladder with ARENA_PLAIN=1, or write effort: nodes"
)
store_option = click.option(
    "--store", type=click.Path(path_type=Path), metavar="S", help="The store file; default: results/SPEC.db."
)


class _Spec(click.Argument):
    """The argument SPEC. It is left out of the usage line, because `subcommand_metavar` shows it already."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return []


class _SpecOrAdmin(click.Group):
    """A command with the argument SPEC. If the first word is `admin` or `plan`, the command of this name runs instead."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        options, words = _split_options(args)
        if words[:1] == ["admin"]:
            return admin.make_context(f"{info_name} admin", options + words[1:], parent, **extra)
        if words[:1] == ["plan"]:
            return plan.make_context(f"{info_name} plan", args[args.index("plan") + 1 :], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.fail(f"unexpected word {args[0]!r} after the spec; to administer a ladder, use: arena ladder admin SPEC ACTION ...")


class _Admin(click.Group):
    """A command whose options may come anywhere, even after the name of a subcommand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options, words = _split_options(args)
        return super().parse_args(ctx, options + words)


def _split_options(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options that may come anywhere, with their values, and all other words, both in their original order."""
    options: list[str] = []
    words: list[str] = []
    left = iter(args)
    for word in left:
        if word == "--":
            words += [word, *left]
        elif word.partition("=")[0] in ANYWHERE:
            value = [] if "=" in word else [*islice(left, 1)]
            if "=" not in word and not value:
                raise click.BadOptionUsage(word, f"Option '{word}' requires an argument.")
            options += [word, *value]
        else:
            words.append(word)
    return options, words


@click.group(
    cls=_SpecOrAdmin,
    context_settings={"allow_interspersed_args": True},
    invoke_without_command=True,
    no_args_is_help=True,
    subcommand_metavar="SPEC | plan SPEC | admin SPEC ACTION ...",
)
@click.argument("spec", cls=_Spec, type=click.Path(path_type=Path))
@click.option("--host", metavar="H", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port to listen on; 0 selects any free port."
)
@click.option(
    "--public", metavar="URL", help="The public address of a proxy in front of the ladder, such as https://arena.example.org."
)
@store_option
@click.option("--workers", type=click.IntRange(1, 1024), metavar="N", help="Number of worker processes; default: one per core.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file or local:N."
)
@plugin_option
def ladder(
    spec: Path,
    host: str,
    port: int,
    public: str | None,
    store: Path | None,
    workers: int | None,
    cluster: str | None,
    plugins: tuple[str, ...],
) -> int:
    """Host a ladder, a tournament that never ends: authors submit agents, and the ladder checks and rates them.

    SPEC may be a folder of specs, each of which is then hosted below its name, such as /connect-four/.

    It plays until Ctrl-C or SIGTERM. If it is started again, it continues. The first line on stdout is its address.
    """
    if cluster is not None and workers is not None:
        raise click.UsageError(
            "--workers cannot be used with --cluster: the cluster sets its own number of workers (N for --cluster local:N)"
        )
    from arena_ladder.host import make_turns, open_ladder, serve
    from arena_ladder.spec import list_assignments, load_ladder
    from arena_web.guard import public_address

    public = public_address(public) if public is not None else None
    if spec.is_dir() and (store is not None or cluster is not None):
        raise click.UsageError(
            "--store and --cluster need one spec, not a folder; the ladders of a folder are played on this machine, "
            "into results/NAME.db"
        )
    with results_alone() as out, ExitStack() as opened:
        if spec.is_dir():
            specs = {f"/{file.stem}": load_ladder(file, plugins=plugins) for file in list_assignments(spec)}
        else:
            specs = {"": load_ladder(spec, plugins=plugins)}
        make_turns([*specs.values()])  # this refuses specs that cannot be hosted together, before their stores are made
        may_compile = find_spec("numba") is not None and not wants_plain()
        for read in specs.values():
            if may_compile and read.solvers and read.solvers.effort == "seconds":
                say(f"note: {read.spec.name}: {UNCLEAR_TIMES}")
        players = opened.enter_context(_players(workers, cluster))
        if isinstance(players, int):
            players = max(1, players // len(specs))
        hosts = [opened.enter_context(open_ladder(read, store or read.store, players, root)) for root, read in specs.items()]
        asyncio.run(serve(hosts, opened.enter_context(bind_socket(host, port)), host, public, out))
    return 0


@contextmanager
def _players(workers: int | None, cluster: str | None) -> Iterator["int | ClusterPlayers"]:
    """Provide the players, either a number of processes or the nodes of a cluster. Raises ClusterError if the cluster does not
    exist.
    """
    if cluster is None:
        yield workers_for(workers, 1 << 20)
        return
    from arena_cluster.players import ClusterPlayers

    # The nodes of local:N inherit this variable, so that the host does not see the output of strangers' agents.
    os.environ[ChildProcess.QUIET_VARIABLE] = "1"
    with ClusterPlayers(cluster, lambda text: say(f"note: {text}")) as players:
        yield players


@ladder.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--authors", type=click.IntRange(1, 100_000), metavar="N", help="The size of the class; default: the size in the spec."
)
@click.option(
    "--cores", type=click.IntRange(1), metavar="N", help="Number of cores; default: the number of cores of this machine."
)
@click.option(
    "--deviation",
    type=Number(1, 1000),
    default=150.0,
    show_default=True,
    help="The standard deviation of the authors' strengths, in Elo.",
)
@click.option(
    "--seconds",
    type=Number(0, min_open=True),
    metavar="S",
    help="Seconds per game; measured by default.",
)
@plugin_option
def plan(
    spec: Path, authors: int | None, cores: int | None, deviation: float, seconds: float | None, plugins: tuple[str, ...]
) -> int:
    """Estimate before the term how many cores and days the ladder of SPEC needs, and how to save time.

    The agents of the spec play each other once, or attempt some positions, to measure how long a game or an attempt takes.
    """
    from arena_ladder.mark_plan import Speed, describe_limit, list_options, measure_speed
    from arena_ladder.spec import load_ladder

    read = load_ladder(spec, plugins=plugins)
    size = authors or (None if read.marks is None else read.marks.size) or len(read.authors or ())
    if not size:
        raise ArenaError("the size of the class is unknown, because anyone can register; add --authors N")
    with results_alone() as out:
        speed = measure_speed(read.spec) if seconds is None else Speed(seconds, 0.0)
        limit = describe_limit(read.spec, speed) if seconds is None else None
        match = "a game" if read.solvers is None else "an attempt"
        print(
            f"{figures.amount(size, 'author')}; {match} takes {speed.seconds:.3g} s{'' if limit is None else f', {limit}'}",
            file=out,
        )
        for option in list_options(read, size, speed, deviation):
            print(option.describe(cores or workers_for(None, 1 << 20)), file=out)
    return 0


class Administered:
    """The ladder that an admin command administers. Its spec and its store are opened only when needed, so `--help` works without
    them.
    """

    def __init__(self, context: click.Context, spec: Path, store: Path | None, plugins: tuple[str, ...]) -> None:
        self._context, self._spec, self._store, self._plugins = context, spec, store, plugins

    @cached_property
    def read(self) -> "LadderSpec":
        """Return the spec."""
        from arena_ladder.spec import load_ladder

        return load_ladder(self._spec, plugins=self._plugins)

    @property
    def place(self) -> Path:
        """Return the path of the store."""
        return self._store or self.read.store

    @cached_property
    def ledger(self) -> "Ledger":
        """Return the tables of the ladder. Raises ArenaError if the store does not exist."""
        from arena_ladder.ledger import Ledger

        if not self.place.is_file():
            raise ArenaError(f"the store {self.place} does not exist; start `arena ladder {quote(str(self._spec))}` to create it")
        found = Ledger(self.place)
        self._context.call_on_close(found.close)
        return found

    @cached_property
    def authors(self) -> "Ledger":
        """Return the tables of the ladder, with those that share its authors, so that a change holds in all of them."""
        from arena_ladder.spec import find_sharing

        self.ledger.share_authors(find_sharing(self.read))
        return self.ledger

    def create(self) -> None:
        """Create the store if the ladder has not begun."""
        from arena_ladder.ledger import create_store

        if not self.place.exists():
            create_store(self.read, self.place)


def _print(text: str, *, nl: bool = True) -> None:
    """Print a text to stdout. Authors may have written a part of it, so control characters are escaped."""
    click.echo(escape_controls(text), nl=nl)


@ladder.group(cls=_Admin, subcommand_metavar="ACTION ...")
@click.argument("spec", type=click.Path(path_type=Path))
@store_option
@plugin_option
@click.pass_context
def admin(context: click.Context, spec: Path, store: Path | None, plugins: tuple[str, ...]) -> None:
    """Administer the ladder of SPEC, also while it runs.

    You can also write the options at the end: arena ladder admin SPEC audit --store S.
    """
    context.obj = Administered(context, spec, store, plugins)


@admin.command()
@click.argument("authors", nargs=-1)
@click.option(
    "--all",
    "everyone",
    is_flag=True,
    help="Create a token for each author without one, and print all tokens as CSV for a mail merge.",
)
@click.pass_obj
def tokens(obj: Administered, authors: tuple[str, ...], everyone: bool) -> int:
    """Print a new token for each of AUTHORS; their old tokens and links become invalid. Without AUTHORS, list all authors.

    It also works before the ladder begins: it creates the store. Ladders in the folder of SPEC with the same roster share tokens.
    """
    from arena_ladder.spec import AUTHOR, is_author

    read = obj.read
    if authors or everyone:
        obj.create()
    ledger = obj.ledger
    if everyone:
        if authors:
            raise click.UsageError("--all cannot be used with AUTHORS")
        ledger.enrol(read.people or (), pseudonyms=read.submissions.names == "pseudonyms")
        _print(TextTable.csv_line(["id", "name", "e-mail", "team", "token"]))
        missing = set(obj.authors.without_token())
        for person, _ in ledger.people():
            if person.id in missing:
                token = ledger.register(person.id, "admin")
                _print(TextTable.csv_line([person.id, person.name, person.email, person.team, token]))
        return 0
    if not authors:
        for name, banned in ledger.authors():
            _print(f"{name} (banned)" if banned else name)
    for author in authors:
        if read.authors is None and not is_author(author):
            raise ArenaError(f"{author!r} is not a valid author name; expected {AUTHOR}")
        if read.authors is not None and author not in read.authors:
            raise ArenaError(f"{author} is not in {read.submissions.authors}; add a line for this author, and restart the ladder")
    for author in authors:
        _print(f"{author} {obj.authors.register(author, 'admin')}")
    return 0


@admin.command()
@click.argument("authors", nargs=-1)
@click.option("--all", "everyone", is_flag=True, help="Print a link for every author without a token.")
@click.option("--to", "address", metavar="URL", required=True, help="The address of the ladder, as students reach it.")
@click.pass_obj
def links(obj: Administered, authors: tuple[str, ...], everyone: bool, address: str) -> int:
    """Print a link for each of AUTHORS as CSV, for a mail merge. The link shows a token once; older links become invalid.

    A link is safer than a token in a mail, because a link that was used shows nothing to a later reader of the mail.
    """
    if bool(authors) == everyone:
        raise click.UsageError("expected AUTHORS or --all")
    if not address.startswith(("http://", "https://")):
        raise ArenaError(f"--to {address}: expected an address such as https://arena.example.org")
    read = obj.read
    obj.create()
    obj.ledger.enrol(read.people or (), pseudonyms=read.submissions.names == "pseudonyms")
    ledger = obj.authors
    people = {person.id: person for person, _ in ledger.people()}
    for author in authors:
        if author not in people:
            raise ArenaError(f"unknown author {author!r}; `arena ladder admin SPEC tokens` lists them")
    _print(TextTable.csv_line(["id", "name", "e-mail", "team", "link"]))
    for name in ledger.without_token() if everyone else authors:
        one = people[name]
        link = f"{address.rstrip('/')}/claim#{ledger.make_link(name, 'admin')}"
        _print(TextTable.csv_line([one.id, one.name, one.email, one.team, link]))
    return 0


@admin.command()
@click.argument("author")
@click.pass_obj
def ban(obj: Administered, author: str) -> int:
    """Take AUTHOR's agents out of play, and refuse further submissions of AUTHOR."""
    obj.authors.ban(author, "admin")
    _print(f"{author} is banned: the agents of this author no longer play")
    return 0


@admin.command()
@click.option("--author", metavar="A", help="List only submissions of this author or team, given by id or by the name in tables.")
@click.option("--status", metavar="S", help="List only submissions with this status, such as refused or suspended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the findings of the checks.")
@click.option("--zip", "archive", type=click.Path(path_type=Path), metavar="FILE", help="Also write all their code and logs.")
@click.pass_obj
def submissions(obj: Administered, author: str | None, status: str | None, as_json: bool, archive: Path | None) -> int:
    """List all submissions with time, status and reason, and other authors with an identical file.

    Identical files of members of one team are not reported.
    """
    import json

    from arena.api.errors import escape_line
    from arena_ladder.code_folder import CodeFolder
    from arena_ladder.hand_ins import list_hand_ins, write_archive
    from arena_ladder.submissions import STATUSES

    if status is not None and status not in STATUSES:
        raise ArenaError(f"unknown status {status!r}; expected one of {', '.join(STATUSES)}")
    found = [one for one in list_hand_ins(obj.ledger) if status in (None, one.submission.status) and one.is_by(author)]
    if archive is not None:
        write_archive(found, obj.ledger, CodeFolder(obj.ledger, obj.read.submissions.size_kb << 10), archive)
    if as_json:
        _print(json.dumps([one.as_values() for one in found], indent=2))
    else:
        for one in found:
            _print(escape_line(one.describe()))
    return 0


@admin.command("host-token")
@click.pass_obj
def host_token(obj: Administered) -> int:
    """Print a new token for the page /host, which shows all submissions to the host. The old token becomes invalid."""
    obj.create()
    _print(obj.authors.make_host_token())
    return 0


@admin.command()
@click.argument("agent", metavar="AUTHOR/AGENT@N|ID")
@click.pass_obj
def recheck(obj: Administered, agent: str) -> int:
    """Check one submission again, such as a refused or suspended one. If it passes, it plays."""
    one = obj.ledger.check_again(_find_submission(obj.ledger, agent).id, "admin")
    _print(f"{one.id} of {one.author} is waiting for its check")
    return 0


@admin.command()
@click.argument("author")
@click.argument("text")
@click.pass_obj
def message(obj: Administered, author: str, text: str) -> int:
    """Send TEXT to AUTHOR or to a team. They read it on the page Yours."""
    _print(f"sent to {obj.ledger.send(author, text, 'admin')}")
    return 0


@admin.command()
@click.pass_obj
def feedback(obj: Administered) -> int:
    """Review the matches since the last review now, not at the time in the spec. Authors read the result on the page Yours."""
    from arena_ladder.feedback import NOW

    if obj.read.feedback is None:
        raise ArenaError("this ladder gives no feedback; add `feedback: {at: 02:00+01:00}` to its spec, and start it again")
    obj.ledger.set(NOW, "yes", "admin")
    _print("the review begins when the matches in progress have ended or, if the ladder is not running, at its next start")
    return 0


@admin.command()
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="The number of pairs to print.")
@click.option("--json", "as_json", is_flag=True, help="Print all pairs as JSON.")
@click.pass_obj
def similar(obj: Administered, most: int, as_json: bool) -> int:
    """Compare the code and the moves of all pairs of authors, the most similar ones first. This is evidence, not proof."""
    import json
    from dataclasses import asdict

    from arena_ladder.code_folder import CodeFolder
    from arena_ladder.similarity import compare_authors, describe_pairs

    found = compare_authors(obj.read, obj.ledger, CodeFolder(obj.ledger, obj.read.submissions.size_kb << 10))
    _print(json.dumps([asdict(pair) for pair in found], indent=2) if as_json else describe_pairs(found, most))
    return 0


@admin.command()
@click.argument("author")
@click.pass_obj
def unban(obj: Administered, author: str) -> int:
    """Accept submissions of AUTHOR again, after `ban`. The matches so far count again; withdrawn agents stay withdrawn."""
    obj.authors.unban(author, "admin")
    _print(f"{author} is no longer banned, but must submit agents again")
    return 0


@admin.command()
@click.argument("author")
@click.pass_obj
def forget(obj: Administered, author: str) -> int:
    """Remove the name, the e-mail, the code and the logs of AUTHOR. The records of matches stay under the name in tables."""
    from arena_ladder.code_folder import CodeFolder

    folder = CodeFolder(obj.ledger, obj.read.submissions.size_kb << 10)
    gone = obj.authors.forget(author, "admin")
    for one in gone:
        folder.forget(one)
        folder.forget_log(one)
    if obj.read.submissions.names == "ids":
        click.echo(
            "note: the records still contain the id of this author, because `names: ids` puts it into every label", err=True
        )
    _print(f"{author} is forgotten: the code and the logs of {figures.amount(len(gone), 'submission')} were deleted")
    return 0


@admin.command()
@click.argument("until", metavar="TIME")
@click.pass_obj
def reopen(obj: Administered, until: str) -> int:
    """Accept submissions again until TIME, such as 2026-12-01T18:00+01:00. Versions after `closes` count as late."""
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ArenaError(f"{until!r}: expected a time with a time zone, such as 2026-12-01T18:00+01:00")
    obj.ledger.set("closes", moment.isoformat(), "admin")
    _print(f"submissions are accepted until {moment.isoformat()}")
    return 0


@admin.command()
@click.pass_obj
def pause(obj: Administered) -> int:
    """Play no matches until `resume`. The pages stay available, and submissions are still checked."""
    obj.ledger.set("paused", "yes", "admin")
    _print("paused: no match starts until `resume`")
    return 0


@admin.command()
@click.pass_obj
def resume(obj: Administered) -> int:
    """Play matches again after `pause`."""
    obj.ledger.set("paused", "no", "admin")
    _print("resumed: new matches start again")
    return 0


@admin.command()
@click.argument("agent", metavar="AUTHOR/AGENT@N|ID")
@click.pass_obj
def withdraw(obj: Administered, agent: str) -> int:
    """Take one submission out of play."""
    found = _find_submission(obj.ledger, agent)
    obj.ledger.withdraw(found.id, "admin", "withdrawn by the host of the ladder")
    _print(f"{found.label} is withdrawn")
    return 0


def _find_submission(ledger: "Ledger", agent: str) -> "Submission":
    """Return the submission with an id or a public name. Raises ArenaError if there is none."""
    for one in ledger.submissions():
        if agent in (one.id, one.label):
            return one
    raise ArenaError(f"unknown submission {agent}; expected its id, or a name such as ada/mine@3")


@admin.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def backup(obj: Administered, file: Path) -> int:
    """Write all matches, submissions and authors of the ladder to FILE, also while it runs."""
    obj.ledger.backup(file)
    _print(f"{file} contains all matches, submissions and authors")
    return 0


@admin.command()
@click.pass_obj
def reveal(obj: Administered) -> int:
    """End the ladder for ever and reveal its seed: at once if the ladder runs, otherwise at its next start."""
    obj.ledger.set("over", "yes", "admin")
    _print("the ladder ends and its seed is revealed: now if it is running, otherwise at its next start")
    return 0


@admin.command()
@click.option("--csv", "style", flag_value="csv", help="Print CSV, for a spreadsheet.")
@click.option("--json", "style", flag_value="json", help="Print JSON, including the decision about every mark.")
@click.option(
    "--open", "style", flag_value="open", help="Print only open marks, and estimate how many of them more hours would decide."
)
@click.option("--hours", type=Number(min=0), default=2.0, show_default=True, help="Number of hours for the estimate of --open.")
@click.option("--gradescope", type=click.Path(path_type=Path), metavar="DIR", help="Also write DIR/AUTHOR/results.json.")
@click.pass_obj
def marks(obj: Administered, style: str | None, hours: float, gradescope: Path | None) -> int:
    """Print the mark of every author, also while the ladder runs."""
    from arena_ladder import mark_sheets
    from arena_ladder.mark_book import grade

    wanted = obj.read.marks
    if wanted is None:
        raise ArenaError("this ladder gives no marks; add `marks` with the baselines to its spec")
    ledger = obj.ledger
    rows = grade(wanted, obj.place, ledger)
    if gradescope is not None:
        mark_sheets.write_gradescope(rows, gradescope)
    if style == "open":
        authors, solve = [*{row.author: row for _, row in rows}.values()], wanted.effort is not None
        speed = ledger.games_per_hour(seats=1 if solve else 2)
        _print(mark_sheets.describe_open(authors, speed, hours, solve=solve))
    else:
        shown = {"csv": mark_sheets.as_csv, "json": mark_sheets.as_json}.get(style or "", mark_sheets.as_table)(rows)
        _print(shown, nl=not shown.endswith("\n"))
    return 0


@admin.command()
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of lines.")
@click.pass_obj
def audit(obj: Administered, most: int) -> int:
    """Print the actions of authors, admins and the ladder, the latest first."""
    from datetime import UTC, datetime

    from arena.api.errors import escape_line

    for line in obj.ledger.audit(most):
        when = datetime.fromtimestamp(line.time, UTC).isoformat(timespec="seconds")
        _print(escape_line(f"{when} {line.who} {line.what} {line.detail}".rstrip()))  # authors write a part of it
    return 0
