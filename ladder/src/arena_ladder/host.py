"""The process of a ladder: the contest, the checks of submissions, and the pages."""

import asyncio
import logging
import os
import socket
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from math import inf
from pathlib import Path
from typing import IO

import uvicorn
from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from arena import ArenaError, __version__
from arena.api.cli import say
from arena.api.errors import StoreError, StoreFull, describe
from arena.api.run import MatchRunner
from arena.api.store import Store
from arena_cluster.players import ClusterPlayers
from arena_isolation.agent_start import prove_once
from arena_isolation.child import ChildProcess
from arena_ladder.api import LadderApi, Refused
from arena_ladder.code_folder import CodeFolder
from arena_ladder.contest import ContestRunner, drop_folders
from arena_ladder.examination import Examiner
from arena_ladder.host_api import HostApi
from arena_ladder.ledger import Ledger, bind_store, find_deadline, make_private
from arena_ladder.pages import STATIC, LadderPages, navigation_of
from arena_ladder.public_standings import PublicStandings
from arena_ladder.spec import LadderSpec, find_sharing, list_limits
from arena_ladder.submission_check import MAX_CHECKS
from arena_ladder.turns import Turns
from arena_web import error_answers
from arena_web.assets import Assets
from arena_web.error_answers import AsciiJson, ErrorAnswers, faults_of
from arena_web.errors import Refusal
from arena_web.guard import Guard, Rate, RateLimits, RequestLimits, Site
from arena_web.pages import page
from arena_web.plugin_process import Busy, ProcessEnded, ProcessFailed
from arena_web.server import QuietServer, end_on_signals, url_of


class LadderApp:
    """The application: its endpoints and the state that they share."""

    def __init__(self, host: "LadderHost") -> None:
        self._host, self._root = host, host.root
        self.answers = ErrorAnswers(navigation_of(host.root), refusal_of, hints=True)
        self.limits = RateLimits()
        self.stopping = asyncio.Event()
        self._api = LadderApi(host, self.limits, self.stopping)
        self._host_api = HostApi(host, self.limits)
        self._pages = LadderPages(host, self.stopping)

    def guard(self, site: Site) -> Guard:
        """Return the application wrapped in its guard, which checks every request first."""
        ledger, rates = self._host.ledger, self._host.ladder.requests
        rate = Rate("requests", rates.burst, rates.per_second)
        return Guard(
            self.app(),
            site,
            self.answers,
            limits=self.limits,
            max_body_bytes=(self._host.ladder.submissions.size_kb << 10) + MULTIPART_BYTES,
            only_json=False,
            requests=RequestLimits(rate, rate, rates.open),
            client_of=lambda token: ledger.find_author(token) or ("admin" if ledger.is_host(token) else None),
        )

    def app(self) -> FastAPI:
        """Return the application, not yet wrapped in its guard."""
        app = FastAPI(
            servers=[{"url": self._root or "/"}],
            title="An arena ladder",
            version=__version__,
            docs_url=None,  # documentation pages would load scripts from other sites
            redoc_url=None,
            responses={"4XX": {"model": Refused, "description": "Refused."}},
            exception_handlers=self.answers.handlers,
            lifespan=self.lifespan,
        )
        self._api.add_to(app)
        self._host_api.add_to(app)
        self._pages.add_to(app)
        return app

    @asynccontextmanager
    async def lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        """Start the processes that show matches, and end them with the server."""
        self._pages.processes.prepare()
        yield
        self.stopping.set()
        await self._pages.processes.close()


def refusal_of(error: Exception) -> Refusal:
    """Return the refusal that the server sends for an error. Errors in arena itself are also written to stderr."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        return Refusal(422, "; ".join(faults_of(error)), "see /openapi.json")
    if isinstance(error, ClientDisconnect):
        return Refusal(499, "the request was cancelled", "ask again")
    if isinstance(error, StoreFull):
        return Refusal(507, "the disk of the ladder is full", "nothing was stored; contact the host of the ladder")
    if isinstance(error, Busy):
        return Refusal(429, str(error), "try again in a moment")
    if isinstance(error, (ProcessFailed, ProcessEnded)):
        return Refusal(503, str(error), "reload the page")
    if isinstance(error, StoreError) and isinstance(error.__cause__, sqlite3.Error):
        message = "the store of the ladder cannot be used right now; nothing was stored"
        return Refusal(503, message, "try again in a minute, or contact the host of the ladder")
    if isinstance(error, StoreError):
        return Refusal(404, "not found here", "see the list of matches")
    found = error_answers.refusal_of(error)
    if found.status == 500:
        say(f"error: {describe(error)}")
        return Refusal(500, "an internal error of arena", "contact the host of the ladder; its output shows the details")
    if found.status == 405:
        return Refusal(405, "this address does not exist", "see /openapi.json")
    if isinstance(error, HTTPException) and found.status == 400:  # FastAPI raises this for a body that it cannot read
        return Refusal(422, str(found), "see /openapi.json")
    hints = {408: "send it again", 413: "submit a smaller file"}
    return Refusal(found.status, str(found), hints.get(found.status, "see /openapi.json"))


MULTIPART_BYTES = 64 << 10
"""The maximum size of a request, not counting the submitted file."""


class LadderHost:
    """The parts and the threads of a ladder whose store is open. The paths of its pages begin with `root`."""

    def __init__(self, ladder: LadderSpec, store: Store, ledger: Ledger, workers: int | ClusterPlayers, root: str = "") -> None:
        self.ladder, self.store, self.ledger, self.root = ladder, store, ledger, root
        self.folder = CodeFolder(ledger, ladder.submissions.size_kb << 10)
        turns = make_turns([ladder])
        self.runner = ContestRunner(ladder, store, ledger, self.folder, workers, turns)
        self.public = PublicStandings(self.runner.contest, lambda: self.hides)
        self.trouble: BaseException | None = None
        """The error that ended the contest."""
        beside = workers if isinstance(workers, int) else inf  # the matches of a cluster are played elsewhere
        self.examiner = Examiner(ladder, ledger, self.folder, self.runner.wake, turns, beside)
        self._threads = [
            threading.Thread(target=self._contest, name="contest"),
            *[threading.Thread(target=self.examiner.run, name="examiner") for _ in range(MAX_CHECKS)],
        ]

    @property
    def hides(self) -> bool:
        """True while positions are hidden: on a ladder for a puzzle, until it is final."""
        return self.ladder.solvers is not None and not self.runner.contest.ended

    @property
    def public_state(self) -> str:
        """The state that everybody may read: the published one, or the error that ended the contest."""
        return self.runner.contest.state if self.broken else self.public.read().state

    @property
    def broken(self) -> bool:
        """True if an error has ended the contest."""
        return self.trouble is not None

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads. When the ladder is started again, their work continues."""
        self.runner.stop()
        self.examiner.stopping.set()
        for thread in self._threads:
            thread.join()

    def _contest(self) -> None:
        try:
            self.runner.play()
            if self.runner.contest.state == "over":
                say(f"seed: {self.store.last().seed}")
        except BaseException as error:  # it is reported when the process ends
            self.trouble = error
            text = str(error.args[0]) if isinstance(error, ArenaError) and error.args else describe(error)
            self.runner.contest.state = drop_folders(text)


@contextmanager
def open_ladder(ladder: LadderSpec, place: Path, workers: int | ClusterPlayers, root: str = "") -> Iterator[LadderHost]:
    """Open the store of a ladder. It is created if necessary.

    Raises StoreError if the store belongs to another ladder, and SandboxError if no sandbox works here.
    """
    MatchRunner.check_isolations(ladder.spec)
    if ladder.spec.document.values["isolation"] == "sandbox":
        prove_once()  # submissions need the sandbox, even if the house agents do not
    make_private(place)
    with Store.open(place, write=True) as store:
        ledger = Ledger(place)
        try:
            bind_store(ladder, store, ledger)
            yield LadderHost(ladder, store, ledger, workers, root)
        finally:
            ledger.close()


async def serve(hosts: Sequence[LadderHost], listening: socket.socket, name: str, public: str | None, out: IO[str]) -> None:
    """Serve the pages and play until Ctrl-C or SIGTERM. The address is printed as the first line on `out`.

    `name` is the address of the network interface, and `public` is the address of a reverse proxy. Several ladders share one
    address, and ladders with the same roster share their authors. Raises ArenaError if the contest of a ladder cannot
    continue.
    """
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # otherwise it logs every form that it cannot read
    logs = os.pathsep.join([str(host.folder.logs) for host in hosts])
    os.environ[ChildProcess.QUIET_VARIABLE] = logs  # the host must not see the output of strangers' agents
    share_authors(hosts)
    share_turns(hosts)
    applications = {host.root: LadderApp(host) for host in hosts}
    port = listening.getsockname()[1]
    site = Site(name, port, public)
    guards = {root: application.guard(site) for root, application in applications.items()}
    stopping = asyncio.Event()
    if "" in guards:
        running, stopping = QuietServer(guards[""]), applications[""].stopping
    else:
        running = QuietServer(Assignments(hosts, applications, guards, stopping).guard(site))
    with end_on_signals(running, stopping):
        print(public or url_of(name, port), file=out, flush=True)
        for host in hosts:
            host.start()
        watching = asyncio.create_task(_watch(hosts, running))
        try:
            await running.serve(sockets=[listening])
        finally:
            watching.cancel()
            await asyncio.gather(*[asyncio.to_thread(host.stop) for host in hosts])
    for host in hosts:
        if host.trouble is not None:
            raise host.trouble


def share_authors(hosts: Sequence[LadderHost]) -> None:
    """Let ladders with the same roster share tokens, links and bans. A ladder that is hosted alone shares them with the stores of
    the other ladders in its folder.

    A name on a ladder that is open to everyone belongs to the first person who took it there. On another ladder, it may be the
    name of somebody else.
    """
    for host in hosts:
        people = host.ladder.people
        hosted = [one.ledger.path for one in hosts if people is not None and one.ladder.people == people]
        host.ledger.share_authors(hosted if host.root else find_sharing(host.ladder))


def make_turns(ladders: Sequence[LadderSpec]) -> Turns:
    """Return the turns of ladders that one process hosts.

    Raises ArenaError if attempts at hidden positions could wait for ever, because a match of another ladder has no time limit.
    """
    puzzles = [ladder.spec for ladder in ladders if ladder.solvers is not None]
    if not puzzles:
        return Turns(None)
    for ladder in ladders:
        if any(one.seconds is None for one in list_limits(ladder.spec)):
            raise ArenaError(
                f"{ladder.spec.name}: expected `limits: {{seconds: S}}`, because the hidden positions of {puzzles[0].name} are "
                "attempted only between the matches of other ladders, and a match without this limit may never end"
            )
    limits = [one for spec in puzzles for one in list_limits(spec)]
    attempt_seconds = max([one.seconds + one.margin for one in limits if one.seconds is not None])
    return Turns(attempt_seconds, max([one.start_seconds for one in limits]))


def share_turns(hosts: Sequence[LadderHost]) -> None:
    """Keep the attempts at hidden positions apart from the checks and matches of all ladders of this process."""
    turns = make_turns([host.ladder for host in hosts])
    for host in hosts:
        host.runner.turns = host.examiner.turns = turns


async def _watch(hosts: Sequence[LadderHost], running: uvicorn.Server) -> None:
    """Stop the server when a contest cannot continue."""
    while not any(host.broken for host in hosts):  # noqa: ASYNC110 - the contests are other threads
        await asyncio.sleep(0.5)
    running.should_exit = True


class Assignments:
    """Several ladders at one address. The first page lists them, and each ladder is served below the name of its spec."""

    def __init__(
        self,
        hosts: Sequence[LadderHost],
        applications: Mapping[str, LadderApp],
        guards: Mapping[str, Guard],
        stopping: asyncio.Event,
    ) -> None:
        self._hosts, self._applications, self._guards, self._stopping = hosts, applications, guards, stopping

    def guard(self, site: Site) -> "Assignments":
        """Wrap the list of ladders in a guard, and return this object, which serves all addresses."""
        answers = ErrorAnswers((("Assignments", "/"),), refusal_of, hints=True)
        app = FastAPI(
            openapi_url=None, docs_url=None, redoc_url=None, exception_handlers=answers.handlers, lifespan=self._lifespan
        )
        Assets(STATIC).add_to(app)
        for path, endpoint in (("/", self.home), ("/api/assignments", self.assignments), ("/health", self.health)):
            app.add_api_route(path, endpoint, response_model=None)
        rates = self._hosts[0].ladder.requests  # all ladders have the same users, so the limits of the first one will do
        rate = Rate("requests", rates.burst, rates.per_second)
        self._home = Guard(app, site, answers, limits=RateLimits(), requests=RequestLimits(rate, rate, rates.open))
        return self

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the ladder to which its path belongs."""
        name, slash, rest = scope.get("path", "")[1:].partition("/")
        guard = self._guards.get(f"/{name}") if scope["type"] == "http" else None
        if guard is None:
            await self._home(scope, receive, send)
        elif not slash:
            await RedirectResponse(f"/{name}/", 307)(scope, receive, send)
        else:
            await guard({**scope, "path": f"/{rest}"}, receive, send)

    @asynccontextmanager
    async def _lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for application in self._applications.values():
                await stack.enter_async_context(application.lifespan(app))

            async def pass_on() -> None:
                await self._stopping.wait()
                for application in self._applications.values():
                    application.stopping.set()

            passing = asyncio.create_task(pass_on())  # it ends all event streams when the server begins to stop
            yield
            passing.cancel()

    async def home(self) -> Response:
        """Return the page that lists the ladders."""
        return HTMLResponse(page("Assignments", "assignments.js", "/", (("Assignments", "/"),)))

    async def assignments(self) -> Response:
        """Return the ladders with their games, states and deadlines."""
        rows = []
        for host in self._hosts:
            last = find_deadline(host.ladder.submissions, host.ledger)
            games = [board.title for board in host.ladder.spec.boards]
            told = {"address": f"{host.root}/", "name": host.ladder.spec.name, "games": games}
            rows.append({**told, "state": host.public_state, "closes": last and last.isoformat()})
        return AsciiJson({"rows": rows})

    async def health(self) -> Response:
        """Return the states of all ladders, with the status 503 if the contest of any ladder cannot continue."""
        states = {host.root[1:]: host.public_state for host in self._hosts}
        return AsciiJson({"assignments": states, "version": __version__}, 503 if any(one.broken for one in self._hosts) else 200)
