"""`arena serve`: binds, says where, and serves until it is told to stop."""

import asyncio
import socket
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from arena.console.output import results_alone
from arena.errors import ArenaError
from arena.spec import load_spec

SQLITE = b"SQLite format 3\0"
"""How a store begins."""
MISSING = "arena serve needs starlette and uvicorn; install them with: pip install 'gamearena[web]'"


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What `arena serve` was asked for."""

    what: str | None = None
    host: str = "127.0.0.1"
    port: int = 8765
    plugins: tuple[str, ...] = ()


def serve(options: ServeOptions) -> int:
    """Serve pages until Ctrl-C or SIGTERM; 0 then. ArenaError where the address cannot be had, or there is no such file."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise ArenaError(MISSING)
    with results_alone() as out:
        store, spec = _named(options)
        listening = _bound(options.host, options.port)
        with listening:
            from arena.web.server import host

            asyncio.run(host(listening, options.host, options.plugins, store, spec, out))
    return 0


def _named(options: ServeOptions) -> tuple[Path | None, Path | None]:
    """The store to show, and the spec to play into it."""
    if options.what is None:
        return None, None
    path = Path(options.what)
    if not path.is_file():
        raise ArenaError(f"{path}: no such file; expected a store that `arena run` has made, or a spec")
    with path.open("rb") as file:
        if file.read(len(SQLITE)) == SQLITE:
            return path, None
    load_spec(path, plugins=options.plugins)  # its faults are told before anything starts
    return Path("results") / f"{path.stem}.db", path


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens; ArenaError says why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ArenaError(f"--host {host}: {error.strerror or error}; name an address of this machine") from error
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
