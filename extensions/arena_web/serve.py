"""The command `serve`: shows pages in a browser until Ctrl-C or SIGTERM."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import click

from arena import ArenaError
from arena.api.cli import install_command, plugin_option, results_alone, say
from arena.api.processes import PythonProcess
from arena.api.spec import Document
from arena.clock import monotonic

READER_SECONDS = 0.3
"""Seconds that threads which read stores get when the server ends."""
NEEDED = ("fastapi", "sse_starlette", "uvicorn", "jinja2")


@click.command()
@click.argument("what", metavar="[STORE|FOLDER|SPEC]", required=False)
@click.option(
    "--host",
    metavar="H",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. Requests need a token unless this is the default address.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port to listen on; 0 selects any free port."
)
@plugin_option
def serve(what: str | None, host: str, port: int, plugins: tuple[str, ...]) -> int:
    """Show tournaments, games and puzzles in the browser: a STORE, the stores of a FOLDER, or a SPEC to play."""
    if any(find_spec(name) is None for name in NEEDED):
        raise ArenaError(f"arena serve needs the libraries of the extra web; install them with: {install_command('web')}")
    with results_alone() as out:
        shown = {} if what is None else _find(Path(what), plugins)
        with bind_socket(host, port) as listening:
            from arena_web.server import host as hosted  # needs an extra, and takes long, so faults of the call come first

            asyncio.run(hosted(listening, host, plugins, out, **shown))
    _leave_readers()
    return 0


def _leave_readers() -> None:
    """End the process at once if threads still compute boards: nobody waits for these any more, and they only read.

    Python itself would wait for them, and the content of a store decides how long a board takes.
    """
    readers = [one for one in threading.enumerate() if one is not threading.current_thread() and not one.daemon]
    end = monotonic() + READER_SECONDS
    for reader in readers:
        reader.join(max(0.0, end - monotonic()))
    if any(reader.is_alive() for reader in readers):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _find(path: Path, plugins: tuple[str, ...]) -> dict[str, Path]:
    """Return the arguments for the server: either a `folder`, or a `store` and, if the path is a spec, also the `spec`.

    Raises ArenaError with the faults of a spec before the server starts.
    """
    if path.is_dir():
        return {"folder": path}
    if not path.is_file():
        raise ArenaError(f"{path}: no such file; expected a store made by `arena run`, a folder of stores, or a spec")
    if Document.is_database(path):
        return {"store": path}
    _check_spec(path, plugins)
    return {"store": Path("results") / f"{path.stem}.db", "spec": path}


def _check_spec(path: Path, plugins: tuple[str, ...]) -> None:
    """Validate a spec with `arena validate` in another process, because the server itself does not load the plugins of a spec;
    raises ArenaError with its faults.
    """
    words = [word for plugin in plugins for word in ("--plugin", plugin)]
    command = [sys.executable, "-P", "-m", "arena", "validate", *words, "--", str(path)]
    done = subprocess.run(command, env=PythonProcess.environment(), capture_output=True, text=True, check=False)  # noqa: S603 - arena itself
    said = done.stderr.rstrip("\n")
    if done.returncode < 0:
        raise ArenaError(f"{path}: the process that was reading it was ended by {PythonProcess.signal_name(-done.returncode)}")
    if done.returncode:
        raise ArenaError(said)
    if said:
        say(said)


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises ArenaError if the address is not available."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ArenaError(f"--host {host}: {error.strerror or error}; use an address of this machine") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ArenaError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another with --port, or 0 for any"
        ) from error
    return listening
