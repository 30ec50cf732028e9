"""Adds the option `--cluster` to `arena run`, and plays runs with this option on a cluster."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import click

from arena import hookimpl

if TYPE_CHECKING:
    from arena.api.run import Players, StartedRun


@hookimpl
def arena_add_options(command: click.Command) -> None:
    """Add the option `--cluster`."""
    text = "Play on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, a scheduler file or local:N."
    command.params.append(click.Option(["--cluster"], metavar="ADDRESS", help=text))


@hookimpl
def arena_play_matches(run: "StartedRun") -> "AbstractContextManager[Players] | None":
    """Return players on the nodes of a Dask cluster, if the run has the option `--cluster`."""
    address = run.options.get("cluster")
    if address is None:
        return None
    if run.options.get("workers") is not None:
        raise click.UsageError("--workers cannot be used with --cluster, which has its own workers")
    for option, setting in (("plain", "ARENA_PLAIN=1"), ("compiled", "ARENA_COMPILE=always")):
        if run.options.get(option):
            raise click.UsageError(f"--{option} cannot be used with --cluster: start its workers with {setting}")
    from arena_cluster.players import connect  # Dask takes long to import

    return connect(address, run)
