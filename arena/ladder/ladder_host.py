"""One process that is a ladder: the contest, the checks of what is handed in, and the pages."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import uvicorn

from arena.console.notices import say
from arena.errors import ArenaError, StoreError, describe
from arena.identity import canonical
from arena.isolation.agent_start import proven
from arena.ladder.cluster_players import ClusterPlayers
from arena.ladder.code_folder import CodeFolder
from arena.ladder.contest import ContestRunner
from arena.ladder.examination import Examiner
from arena.ladder.gate import Gate
from arena.ladder.ladder_app import LadderApp
from arena.ladder.ladder_spec import LadderSpec
from arena.ladder.ledger import Ledger
from arena.ladder.submission_check import MOST_CHECKS
from arena.processes.stderr import QUIET
from arena.schedule.runner import check_sandbox
from arena.store import Store
from arena.web.connections import BoundedConnection
from arena.web.server import GRACE, QuietServer, address_of, ended_by_signals


class LadderHost:
    """A ladder whose store is open: its parts, and the threads that work."""

    def __init__(self, ladder: LadderSpec, store: Store, ledger: Ledger, workers: int | ClusterPlayers) -> None:
        self.ladder, self.store, self.ledger = ladder, store, ledger
        self.folder = CodeFolder(ledger, ladder.submissions.size_kb << 10)
        self.runner = ContestRunner(ladder, store, ledger, self.folder, workers)
        self.trouble: BaseException | None = None
        """What has ended the contest."""
        self.examiner = Examiner(ladder, ledger, self.folder)
        self._threads = [
            threading.Thread(target=self._contest, name="contest"),
            *[threading.Thread(target=self.examiner.run, name="examiner") for _ in range(MOST_CHECKS)],
        ]

    @property
    def broken(self) -> bool:
        """Whether the contest has ended by an error."""
        return self.trouble is not None

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads: what they were at is taken up by the next process."""
        self.runner.stop()
        self.examiner.stopping.set()
        for thread in self._threads:
            thread.join()

    def _contest(self) -> None:
        try:
            self.runner.play()
        except BaseException as error:  # told where the process ends
            self.trouble = error
            self.runner.contest.state = error.args[0] if isinstance(error, ArenaError) and error.args else describe(error)


@contextmanager
def opened(ladder: LadderSpec, place: Path, workers: int | ClusterPlayers) -> Iterator[LadderHost]:
    """Open the store of a ladder, made where there is none; StoreError where it is another's, SandboxError without a sandbox."""
    check_sandbox(ladder.spec)
    if ladder.spec.document.values["isolation"] == "sandbox":
        proven()  # for what is handed in, however the house agents play
    with Store.open(place, write=True) as store:
        ledger = Ledger(place)
        try:
            _bind(ladder, store, ledger)
            _register_authors(ladder, ledger)
            yield LadderHost(ladder, store, ledger, workers)
        finally:
            ledger.close()


def _bind(ladder: LadderSpec, store: Store, ledger: Ledger) -> None:
    """Tie the store to what is played; StoreError where something else is played in it."""
    games = canonical([[board.name, board.parameters] for board in ladder.spec.boards])
    before = ledger.setting("games")
    if before == games:
        ledger.requeue()
    elif before is not None:
        found = f"expected one of {games}, found one of {before}"
        raise StoreError(f"{store.path} is the store of another ladder: {found}; name another one with --store")
    elif store.runs():
        raise StoreError(f"{store.path} holds a tournament, and no ladder; name another store with --store")
    else:
        ledger.set("games", games)


def _register_authors(ladder: LadderSpec, ledger: Ledger) -> None:
    """Have every author of the file in the ledger; who has no token yet gets none, `arena ladder admin SPEC tokens` makes it."""
    known = {name for name, _ in ledger.authors()}
    for name in ladder.authors or ():
        if name not in known:
            ledger.expect(name)


async def serve(host: LadderHost, listening: socket.socket, name: str, public: str | None, out: IO[str]) -> None:
    """Serve the pages and play until Ctrl-C or SIGTERM; the address is the first line on `out`.

    `name` is the interface, `public` the address of a proxy before it. ArenaError if the contest cannot go on.
    """
    logging.getLogger("python_multipart").setLevel(
        logging.CRITICAL
    )  # it tells stderr of every form of a stranger that it cannot read
    os.environ[QUIET] = str(host.folder.logs)  # what strangers' agents print is no message of the host's
    application = LadderApp(host)
    port = listening.getsockname()[1]
    largest = host.ladder.submissions.size_kb << 10
    config = uvicorn.Config(
        Gate(application.app(), name, port, public, application.limits, largest),
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=GRACE,
        server_header=False,
        ws="none",
        proxy_headers=False,  # the gate itself knows whom to believe
        http=BoundedConnection,
    )
    running = QuietServer(config)
    shown = f"[{address_of(name)}]" if ":" in address_of(name) else address_of(name)
    with ended_by_signals(running, application.stopping):
        print(public or f"http://{shown}:{port}/", file=out, flush=True)
        host.start()
        watching = asyncio.create_task(_watch(host, running))
        try:
            await running.serve(sockets=[listening])
        finally:
            watching.cancel()
            await asyncio.to_thread(host.stop)
    if host.trouble is not None:
        raise host.trouble


async def _watch(host: LadderHost, running: uvicorn.Server) -> None:
    """End the server where the contest cannot go on; tell a revealed seed."""
    told = False
    while not host.broken:
        await asyncio.sleep(0.5)
        if host.runner.contest.state == "over" and not told:
            told = True
            say(f"seed: {host.store.last().seed}")
    running.should_exit = True
