"""Slow clients of many addresses take all connections of a ladder, and hold them; it still serves an honest client in time."""

import resource
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.hostile.test_slow_clients import FILES, Target, check_honest_requests
from tests.ladder.hosting import HostedLadder

pytestmark = [pytest.mark.promise(hole="server", isolation="any")]
SPEC = "game: tic-tac-toe\nagents: [random, greedy]\nseed: 5\n"


@contextmanager
def hosted(folder: Path, *, by_proxy: bool) -> Iterator[Target]:
    """Host a ladder, with a limit of FILES for its descriptors."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    public = ("--public", "https://arena.example.org") if by_proxy else ()
    with HostedLadder(folder, SPEC, "--port", str(port), *public) as own:
        resource.prlimit(own.process.pid, resource.RLIMIT_NOFILE, (FILES, FILES))
        host = "arena.example.org" if by_proxy else f"127.0.0.1:{port}"
        yield Target(port, host, "/api/authors", "/api/events", "/", by_proxy=by_proxy)


@pytest.mark.parametrize(
    ("by_proxy", "manners"),
    [(False, ["body", "answer"]), (True, ["head", "body", "stream", "answer"])],
    ids=["ladder", "proxy"],
)
def test_an_honest_client_is_served_among_slow_ones(by_proxy: bool, manners: Sequence[str], tmp_path: Path) -> None:
    """The slow clients send endless headers, send bodies byte by byte, or do not read streams and answers."""
    with hosted(tmp_path, by_proxy=by_proxy) as target:
        check_honest_requests(target, manners)
