"""The command `ladder`: host an arena that never closes, and administer it."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena import ArenaError
from arena.api.cli import install_command, plugin_option, results_alone, say, workers_for
from arena_isolation.child import ChildProcess
from arena_web.serve import NEEDED, bind_socket

if TYPE_CHECKING:
    from arena_cluster.players import ClusterPlayers

MISSING = f"arena ladder needs the extra web, with python-multipart; install it with: {install_command('web')}"
ANYWHERE = ("--store", "--plugin")
"""Options of `admin` that may stand before SPEC, behind it, or behind the action."""
store_option = click.option("--store", type=click.Path(path_type=Path), metavar="S", help="The file; default results/SPEC.db.")


class _Spec(click.Argument):
    """An argument of a group that does not stand between the group and its subcommand."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return []


class _SpecOrAdmin(click.Group):
    """A command of a SPEC that hands over to its only subcommand if the first word is `admin`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        options, words = _split_options(args)
        if words[:1] == ["admin"]:
            return admin.make_context(f"{info_name} admin", options + words[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.fail(f"unexpected word {args[0]!r} after the spec; what an admin does is: arena ladder admin SPEC ACTION ...")


class _Admin(click.Group):
    """A command whose options may stand anywhere, even behind the word of a subcommand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        options, words = _split_options(args)
        return super().parse_args(ctx, options + words)


def _split_options(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate the options that may stand anywhere, with their values, from all other words. Both keep their order."""
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
    subcommand_metavar="SPEC | admin SPEC ACTION ...",
)
@click.argument("spec", cls=_Spec, type=click.Path(path_type=Path))
@click.option("--host", metavar="H", default="127.0.0.1", show_default=True, help="The interface.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 picks one.")
@click.option(
    "--public", metavar="URL", help="The address by which a proxy before it is reached, such as https://arena.example.org."
)
@store_option
@click.option("--workers", type=click.IntRange(1, 1024), metavar="N", help="Processes that play; default one a core.")
@click.option(
    "--cluster", metavar="ADDRESS", help="Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, local:N."
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
    """Host an arena that never closes: agents are handed in, checked, rated, for as long as it runs.

    It plays until Ctrl-C or SIGTERM and goes on where it was when it is started again. The first line on stdout is its address.
    """
    if cluster is not None and workers is not None:
        raise click.UsageError(
            "--workers does not go with --cluster; the workers of a cluster are started there, those of local:N by N"
        )
    if any(find_spec(name) is None for name in (*NEEDED, "python_multipart")):
        raise ArenaError(MISSING)
    from arena_ladder.host import open_ladder, serve
    from arena_ladder.spec import load_ladder
    from arena_web.guard import public_address

    public = public_address(public) if public is not None else None
    with results_alone() as out:
        read = load_ladder(spec, plugins=plugins)
        with (
            _players(workers, cluster) as players,
            open_ladder(read, store or read.store, players) as parts,
            bind_socket(host, port) as listening,
        ):
            asyncio.run(serve(parts, listening, host, public, out))
    return 0


@contextmanager
def _players(workers: int | None, cluster: str | None) -> Iterator["int | ClusterPlayers"]:
    """Provide the players: a number of processes, or a cluster's nodes. Raises ClusterError if there is no such cluster."""
    if cluster is None:
        yield workers_for(workers, 1 << 20)
        return
    from arena_cluster.players import ClusterPlayers

    # The nodes of local:N inherit it: output of strangers' agents is not a message of the host.
    os.environ[ChildProcess.QUIET_VARIABLE] = "1"
    with ClusterPlayers(cluster, lambda text: say(f"note: {text}")) as players:
        yield players


@ladder.group(cls=_Admin, subcommand_metavar="ACTION ...")
@click.argument("spec", type=click.Path(path_type=Path))
@store_option
@plugin_option
@click.pass_context
def admin(context: click.Context, spec: Path, store: Path | None, plugins: tuple[str, ...]) -> None:
    """Do what only the host of the ladder of SPEC may do, also while it runs.

    The options may stand at the end, too: arena ladder admin SPEC audit --store S.
    """
    from arena_ladder.ledger import Ledger
    from arena_ladder.spec import load_ladder

    read = load_ladder(spec, plugins=plugins)
    place = store or read.store
    if not place.is_file():
        raise ArenaError(f"no store {place}; `arena ladder {spec}` makes it")
    ledger = Ledger(place)
    context.call_on_close(ledger.close)
    context.obj = (read, ledger)


@admin.command()
@click.argument("authors", nargs=-1)
@click.pass_obj
def tokens(obj: Any, authors: tuple[str, ...]) -> int:
    """Print a new token of each of AUTHORS, which makes their old ones useless; without AUTHORS list all authors."""
    read, ledger = obj
    from arena_ladder.spec import AUTHOR, is_author

    if not authors:
        for name, banned in ledger.authors():
            click.echo(f"{name} (banned)" if banned else name)
    for author in authors:
        if not is_author(author):
            raise ArenaError(f"{author!r} is no name of an author; expected {AUTHOR}")
        if read.authors is not None and author not in read.authors:
            raise ArenaError(f"{author} is not in {read.submissions.authors}; add a line, and start the ladder again")
    for author in authors:
        click.echo(f"{author} {ledger.register(author, 'admin')}")
    return 0


@admin.command()
@click.argument("author")
@click.pass_obj
def ban(obj: Any, author: str) -> int:
    """Take AUTHOR's agents out of play, and take no more from him."""
    obj[1].ban(author, "admin")
    click.echo(f"{author} is banned: no agent of this author plays any more")
    return 0


@admin.command()
@click.pass_obj
def pause(obj: Any) -> int:
    """Play nothing until `resume`; pages stay, and what is handed in is checked."""
    obj[1].set("paused", "yes", "admin")
    click.echo("paused: no match begins until `resume`")
    return 0


@admin.command()
@click.pass_obj
def resume(obj: Any) -> int:
    """Go on after `pause`."""
    obj[1].set("paused", "no", "admin")
    click.echo("resumed: matches begin again")
    return 0


@admin.command()
@click.argument("agent", metavar="AUTHOR/AGENT@N|ID")
@click.pass_obj
def withdraw(obj: Any, agent: str) -> int:
    """Take one submission out of play."""
    ledger = obj[1]
    found = [one for one in ledger.submissions() if agent in (one.id, one.label)]
    if not found:
        raise ArenaError(f"no submission {agent} here; expected its id, or a name such as ada/mine@3")
    ledger.withdraw(found[0].id, "admin", "withdrawn by the host of the ladder")
    click.echo(f"{found[0].label} is withdrawn")
    return 0


@admin.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.pass_obj
def backup(obj: Any, file: Path) -> int:
    """Write all of the ladder to FILE, also while it runs: matches, submissions, authors."""
    obj[1].backup(file)
    click.echo(f"{file} has all matches, submissions and authors")
    return 0


@admin.command()
@click.pass_obj
def reveal(obj: Any) -> int:
    """End the ladder for ever and reveal its seed: a ladder that runs does it, else the next start."""
    obj[1].set("over", "yes", "admin")
    click.echo("the ladder ends, and its seed is revealed: at once if it runs, else when it is started")
    return 0


@admin.command()
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="Lines.")
@click.pass_obj
def audit(obj: Any, most: int) -> int:
    """Print what authors, admins and the ladder did, the latest first."""
    from datetime import UTC, datetime

    from arena.api.errors import escape_line

    for line in obj[1].audit(most):
        when = datetime.fromtimestamp(line.time, UTC).isoformat(timespec="seconds")
        click.echo(escape_line(f"{when} {line.who} {line.what} {line.detail}".rstrip()))  # authors write a part of it
    return 0
