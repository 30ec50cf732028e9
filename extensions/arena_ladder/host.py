"""The process of a ladder: the contest, the checks of submissions, and the pages."""

import asyncio
import logging
import os
import socket
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import IO

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.requests import ClientDisconnect

from arena import ArenaError, __version__
from arena.api.cli import say
from arena.api.errors import StoreError, StoreFull, describe
from arena.api.match import canonical
from arena.api.run import check_isolations
from arena.api.store import Store
from arena_cluster.players import ClusterPlayers
from arena_isolation.agent_start import prove_once
from arena_isolation.child import ChildProcess
from arena_ladder.api import LadderApi, Refused
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import ContestRunner
from arena_ladder.examination import Examiner
from arena_ladder.ledger import Ledger
from arena_ladder.pages import PAGES, LadderPages
from arena_ladder.spec import LadderSpec
from arena_ladder.submission_check import MAX_CHECKS
from arena_web import error_answers
from arena_web.error_answers import ErrorAnswers, faults_of
from arena_web.errors import Refusal
from arena_web.guard import Guard, RateLimits, Site
from arena_web.plugin_process import Busy, ProcessEnded, ProcessFailed
from arena_web.server import QuietServer, end_on_signals, url_of


class LadderApp:
    """The endpoints and their shared state."""

    def __init__(self, host: "LadderHost") -> None:
        self.limits = RateLimits()
        self.stopping = asyncio.Event()
        self._api = LadderApi(host, self.limits, self.stopping)
        self._pages = LadderPages(host, self.stopping)

    def app(self) -> FastAPI:
        """Return the application, without its guard."""
        app = FastAPI(
            title="A ladder of arena",
            version=__version__,
            docs_url=None,  # documentation pages would load scripts from other sites
            redoc_url=None,
            responses={"4XX": {"model": Refused, "description": "Refused."}},
            exception_handlers=ANSWERS.handlers,
            lifespan=self._lifespan,
        )
        self._api.add_to(app)
        self._pages.add_to(app)
        return app

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        self._pages.processes.prepare()
        yield
        self.stopping.set()
        await self._pages.processes.close()


def refusal_of(error: Exception) -> Refusal:
    """Return the refusal that answers an error. Errors of arena itself are also reported on stderr."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        return Refusal(422, "; ".join(faults_of(error)), "see /openapi.json")
    if isinstance(error, ClientDisconnect):
        return Refusal(499, "nobody waits for this any more", "ask again")
    if isinstance(error, StoreFull):
        return Refusal(507, "the disk of the ladder is full", "tell its host; nothing was taken")
    if isinstance(error, Busy):
        return Refusal(429, str(error), "try again in a moment")
    if isinstance(error, (ProcessFailed, ProcessEnded)):
        return Refusal(503, str(error), "load the page again")
    if isinstance(error, StoreError) and isinstance(error.__cause__, sqlite3.Error):
        message = "the store of the ladder cannot be used right now; nothing was kept"
        return Refusal(503, message, "try again in a minute, or tell the host of the ladder")
    if isinstance(error, StoreError):
        return Refusal(404, "there is no such thing here", "see the list of matches")
    found = error_answers.refusal_of(error)
    if found.status == 500:
        say(f"error: {describe(error)}")
        return Refusal(500, "an error of arena itself", "tell the host of the ladder; its own output says more")
    if found.status == 405:
        return Refusal(405, "there is nothing at this address", "see /openapi.json")
    if isinstance(error, HTTPException) and found.status == 400:  # raised by FastAPI for a body that it cannot read
        return Refusal(422, str(found), "see /openapi.json")
    hints = {408: "send it again", 413: "hand in less"}
    return Refusal(found.status, str(found), hints.get(found.status, "see /openapi.json"))


ANSWERS = ErrorAnswers(PAGES, refusal_of, hints=True)


MULTIPART_BYTES = 64 << 10
"""Maximum size of a request, not counting the submitted file."""


class LadderHost:
    """A ladder with an open store: its parts and the working threads."""

    def __init__(self, ladder: LadderSpec, store: Store, ledger: Ledger, workers: int | ClusterPlayers) -> None:
        self.ladder, self.store, self.ledger = ladder, store, ledger
        self.folder = CodeFolder(ledger, ladder.submissions.size_kb << 10)
        self.runner = ContestRunner(ladder, store, ledger, self.folder, workers)
        self.trouble: BaseException | None = None
        """The error that ended the contest."""
        self.examiner = Examiner(ladder, ledger, self.folder)
        self._threads = [
            threading.Thread(target=self._contest, name="contest"),
            *[threading.Thread(target=self.examiner.run, name="examiner") for _ in range(MAX_CHECKS)],
        ]

    @property
    def broken(self) -> bool:
        """Whether an error has ended the contest."""
        return self.trouble is not None

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads. The next process continues their work."""
        self.runner.stop()
        self.examiner.stopping.set()
        for thread in self._threads:
            thread.join()

    def _contest(self) -> None:
        try:
            self.runner.play()
            if self.runner.contest.state == "over":
                say(f"seed: {self.store.last().seed}")
        except BaseException as error:  # reported when the process ends
            self.trouble = error
            self.runner.contest.state = error.args[0] if isinstance(error, ArenaError) and error.args else describe(error)


@contextmanager
def open_ladder(ladder: LadderSpec, place: Path, workers: int | ClusterPlayers) -> Iterator[LadderHost]:
    """Open the store of a ladder, and create it if necessary.

    Raises StoreError if it belongs to another ladder, and SandboxError if there is no sandbox.
    """
    check_isolations(ladder.spec)
    if ladder.spec.document.values["isolation"] == "sandbox":
        prove_once()  # submissions need it, even if the house agents do not
    with Store.open(place, write=True) as store:
        ledger = Ledger(place)
        try:
            _bind(ladder, store, ledger)
            known = {name for name, _ in ledger.authors()}
            for name in ladder.authors or ():
                if name not in known:
                    ledger.expect(name)  # without a token: `arena ladder admin SPEC tokens` makes it
            yield LadderHost(ladder, store, ledger, workers)
        finally:
            ledger.close()


def _bind(ladder: LadderSpec, store: Store, ledger: Ledger) -> None:
    """Tie the store to this ladder. Raises StoreError if the store belongs to something else."""
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


async def serve(host: LadderHost, listening: socket.socket, name: str, public: str | None, out: IO[str]) -> None:
    """Serve the pages and play until Ctrl-C or SIGTERM. The address is the first line on `out`.

    `name` is the interface, `public` the address of a reverse proxy. Raises ArenaError if the contest cannot go on.
    """
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # it logs every unreadable form
    os.environ[ChildProcess.QUIET_VARIABLE] = str(host.folder.logs)  # output of strangers' agents is not a message of the host
    application = LadderApp(host)
    port = listening.getsockname()[1]
    guard = Guard(
        application.app(),
        Site(name, port, public),
        ANSWERS,
        limits=application.limits,
        max_body_bytes=(host.ladder.submissions.size_kb << 10) + MULTIPART_BYTES,
        only_json=False,
    )
    running = QuietServer(guard)
    with end_on_signals(running, application.stopping):
        print(public or url_of(name, port), file=out, flush=True)
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
    """Stop the server if the contest cannot go on."""
    while not host.broken:  # noqa: ASYNC110 - the contest is another thread
        await asyncio.sleep(0.5)
    running.should_exit = True
