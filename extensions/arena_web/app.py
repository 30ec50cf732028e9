"""The web application: its pages, and the requests that these pages send."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
import yaml
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.types import Send

from arena.api.cli import say
from arena.api.errors import StoreError, escape_line
from arena.api.results import Leaderboard
from arena.api.store import Store
from arena_records.lines import lines
from arena_web.assets import Assets
from arena_web.command_process import COMPARISON_POLICY, Comparisons
from arena_web.entry_page import entry_page
from arena_web.error_answers import AsciiJson, ErrorAnswers
from arena_web.errors import BadRequest
from arena_web.form import ActionForm, AgentForm, PositionForm
from arena_web.live import Listeners, send_events
from arena_web.match_filter import MatchFilter, MatchPage
from arena_web.matches import around, matches
from arena_web.pages import PAGES, WAY_BACK, page
from arena_web.panels import WantedPanels
from arena_web.plugin_process import PluginProcesses
from arena_web.store_folder import stores_in
from arena_web.tournaments import ServedTournament, Tournaments

SECONDS = {"inventory": 30.0, "position": 10.0, "apply": 10.0, "view": 30.0}
"""Timeouts in seconds for requests that plugins answer, by kind of request."""
THINKING_SECONDS = 10.0
"""The default time for a move or a solution."""
MARGIN_SECONDS = 3.0
"""Additional seconds for building the board and the agent."""
Endpoint = Callable[..., Awaitable[Response]]
ANSWERS = ErrorAnswers(PAGES)


LINES_PER_PART = 200
"""The number of lines that are sent at a time."""


DOWNLOADS = {
    "matches.csv": "text/csv",
    "matches.jsonl": "application/x-ndjson",
    "leaderboards.json": "application/json",
    "spec.yaml": "application/yaml",
}
"""Media types of the files that can be downloaded, by their names."""


def open_download(name: str, path: Path) -> Iterator[str]:
    """Return the parts of a file that is made from a store. A StoreError is raised before the first part is sent."""
    store = Store.open(path)
    if name in ("matches.csv", "matches.jsonl"):

        def export() -> Iterator[str]:  # in parts, so that memory use does not grow with the store
            with store:  # no snapshot, because it would hold its lock across threads
                found = lines(store, "tidy" if name == "matches.csv" else "jsonl")
                while some := "".join([f"{line}\n" for line in islice(found, LINES_PER_PART)]):
                    yield some

        parts = export()
        return chain([next(parts, "")], parts)
    with store:
        run = store.last()
    if name == "leaderboards.json":
        return iter([Leaderboard.render(run, Leaderboard.load(path), "json"), "\n"])
    # This is the original spec, with the seed of the run unless the seed is still secret.
    values = {**run.spec["values"], "seed": "secret" if run.seed is None else run.seed}
    return iter([yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)])


class Download(StreamingResponse):
    """A file that is sent in parts. If the store turns out to be damaged after the first part, the download breaks off with one
    line in the log, and its reader notices that it is incomplete.
    """

    async def stream_response(self, send: Send) -> None:
        """Send the parts, or as many as can be read."""
        try:
            await super().stream_response(send)
        except StoreError as error:
            logging.getLogger("uvicorn.error").error("A download broke off: %s", escape_line(str(error)))


class Server:
    """The endpoints and their shared state: tournaments, plugin processes, and the event that ends the server."""

    def __init__(self, tournaments: Tournaments, processes: PluginProcesses) -> None:
        self.tournaments = tournaments
        self.processes = processes
        self.stopping = asyncio.Event()
        self._assets = Assets()
        self._listeners = Listeners()
        self._inventory: dict[str, Any] | None = None
        self._comparisons = Comparisons()

    def app(self) -> FastAPI:
        """Return the application, not yet wrapped in its guard."""

        @asynccontextmanager
        async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
            self.processes.prepare()
            # The page of this tournament is opened first, and the modules that it needs take long to import.
            shown = next(iter(self.tournaments.listed.values()), None)
            warm = None if shown is None else asyncio.create_task(shown.watcher.now())
            yield
            if warm is not None:
                warm.cancel()
            self.stopping.set()
            await self.processes.close()
            await self.tournaments.close()

        app = FastAPI(openapi_url=None, exception_handlers=ANSWERS.handlers, lifespan=lifespan)
        get: dict[str, Endpoint] = {
            "/": self.home,
            "/play": _shell("Play", "play.js", "/play"),
            "/puzzles": _shell("Puzzles", "puzzles.js", "/puzzles"),
            "/t/{key}": self._page_of("Leaderboard", "leaderboard.js", comparisons="yes" if find_spec("arena_compare") else "no"),
            "/t/{key}/matches": self._page_of("Matches", "matches.js"),
            "/t/{key}/compare": self.comparison,
            "/t/{key}/match/{match}": self.match_page,
            "/t/{key}/entry": self._page_of("Agent", "entry.js"),
            "/t/{key}/download/{name}": self.download,
            "/api/inventory": self.inventory,
            "/api/tournaments": self.overview,
            "/api/t/{key}": self.state,
            "/api/t/{key}/matches": self.matches,
            "/api/t/{key}/match/{match}": self.match,
            "/api/t/{key}/match/{match}/around": self.around,
            "/api/t/{key}/entry": self.entry,
            "/api/t/{key}/entry/facts": self.entry_facts,
            "/api/t/{key}/panels": self.panels,
        }
        post: dict[str, Endpoint] = {
            "/api/position": self.position,
            "/api/apply": self.apply,
            "/api/move": self.move,
            "/api/solve": self.solve,
            "/api/t/{key}/stop": self.stop,
        }
        app.add_api_route("/api/t/{key}/events", self.events, dependencies=[Depends(self._listeners)], response_model=None)
        self._assets.add_to(app)
        for path, endpoint in get.items():
            app.add_api_route(path, endpoint, response_model=None)
        for path, endpoint in post.items():
            app.add_api_route(path, endpoint, methods=["POST"], response_model=None)
        return app

    # Pages

    async def home(self) -> Response:
        """Return the page with the list of tournaments, or a start page if there are none. If there is a single tournament and no
        folder is listed, redirect to this tournament.
        """
        if len(self.tournaments.listed) == 1 and self.tournaments.listing is None:
            return RedirectResponse(f"/t/{next(iter(self.tournaments.listed))}", 302)
        return HTMLResponse(page("Tournaments", "home.js", "/"))

    def _page_of(self, title: str, module: str, **data: str) -> Endpoint:
        """Return the endpoint of a page about a tournament; `data` is passed to its module."""

        async def endpoint(key: str) -> Response:
            return HTMLResponse(page(title, module, "/", PAGES, key=self._tournament(key).key, **data))

        return endpoint

    async def match_page(self, key: str, match: str) -> Response:
        """Return the page of one match of a tournament; raises StoreError if its store has no such match."""
        tournament = self._tournament(key)

        def check() -> None:
            with Store.open(tournament.store) as store:
                store.record(match)

        await anyio.to_thread.run_sync(check)
        return HTMLResponse(page("Match", "match.js", "/", key=key, id=match))

    async def comparison(self, request: Request, key: str, agent: Annotated[list[str] | None, Query()] = None) -> Response:
        """Return the page that compares the named agents with each other. Without names, the page compares all agents.

        Generating this page takes some seconds; meanwhile a browser gets a waiting page.
        """
        store, headers = self._tournament(key).store.absolute(), {"vary": "accept"}
        content = await self._comparisons.find(store, agent or [])
        if content is None and "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(page("Comparison", "compare.js", "/", key=key), headers=headers)
        if content is None:
            content = await self._comparisons.page(store, agent or [])
        targets = [("All entries", f"/t/{key}/compare")] if agent else []
        links = [f'<a class="button" href="{to}">{text}</a>' for text, to in [*targets, ("Leaderboard", f"/t/{key}")]]
        headers["content-security-policy"] = COMPARISON_POLICY
        return HTMLResponse(
            content.replace(WAY_BACK.encode(), f'<div class="row">{"".join(links)}</div>'.encode()), headers=headers
        )

    # Tournaments

    def _tournament(self, key: str) -> ServedTournament:
        found = self.tournaments.listed.get(key)
        if found is None:
            raise HTTPException(404, "no such tournament")
        return found

    async def overview(self) -> Response:
        """Return every tournament with its state. If a folder is listed, the tournaments are all the stores that are in
        it now.
        """
        folder = self.tournaments.listing
        if folder is not None:
            self.tournaments.show_folder(await anyio.to_thread.run_sync(stores_in, folder))
        listed = [
            {"key": key, "place": self.tournaments.place_of(tournament), **await tournament.watcher.brief()}
            for key, tournament in list(self.tournaments.listed.items())
        ]
        return AsciiJson({"tournaments": listed, "folder": None if folder is None else folder.resolve().name})

    async def state(self, key: str) -> Response:
        """Return the current state of a tournament."""
        return AsciiJson(await self._tournament(key).watcher.now())

    async def events(self, request: Request, key: str) -> Response:
        """Return the state of a tournament, now and after every change, as a stream of events."""
        return send_events(self._tournament(key).watcher.stream(self.stopping, request.state.displaced))

    async def matches(self, key: str, wanted: Annotated[MatchPage, Query()]) -> Response:
        """Return a page of the list of matches of a tournament."""
        return AsciiJson(await anyio.to_thread.run_sync(matches, self._tournament(key).store, wanted, wanted.page or 0))

    async def match(self, request: Request, key: str, match: str) -> Response:
        """Return one match, position by position."""
        return await self._ask_of_store(request, key, {"do": "view", "id": match})

    async def around(self, key: str, match: str, wanted: Annotated[MatchFilter, Query()]) -> Response:
        """Return the previous and the next match under the filter in the address, and the games that the same entries played in
        the same round in other seats.
        """
        return AsciiJson(await anyio.to_thread.run_sync(around, self._tournament(key).store, match, wanted))

    async def entry(self, key: str, name: str = "") -> Response:
        """Return the games of one entry."""
        return AsciiJson(await anyio.to_thread.run_sync(entry_page, self._tournament(key).store, name))

    async def entry_facts(self, request: Request, key: str, name: str = "") -> Response:
        """Return the options, limits and source of one entry. This needs the plugin that defines the entry."""
        return await self._ask_of_store(request, key, {"do": "entry", "label": name})

    async def panels(self, request: Request, key: str, wanted: Annotated[WantedPanels, Query()]) -> Response:
        """Return the panels that plugins add for a match, an entry or a board."""
        return await self._ask_of_store(request, key, {"do": "panels", **wanted.model_dump()})

    async def download(self, key: str, name: str) -> Response:
        """Return the matches, the leaderboards or the spec of a tournament as a download."""
        tournament = self._tournament(key)
        if name not in DOWNLOADS:
            raise HTTPException(404, f"expected one of {', '.join(DOWNLOADS)}")
        parts = await anyio.to_thread.run_sync(open_download, name, tournament.store)
        headers = {"content-disposition": f'attachment; filename="{tournament.key}-{name}"'}
        return Download(parts, media_type=DOWNLOADS[name], headers=headers)

    async def _ask_of_store(self, request: Request, key: str, asked: dict[str, Any]) -> Response:
        """Ask a plugin process about a store. The path of the store comes from the server and never from a page."""
        tournament = self._tournament(key)
        named = {"store": str(tournament.store.absolute()), "spec": None if tournament.spec is None else str(tournament.spec)}
        return AsciiJson(await self._ask(request, {**asked, **named}, SECONDS["view"]))

    async def stop(self, key: str) -> Response:
        """Stop a tournament that was started here; its matches are kept."""
        tournament = self._tournament(key)
        if not tournament.running:
            raise BadRequest("the tournament was not started here, or it has ended")
        await tournament.stop()
        return AsciiJson({"stopped": True})

    # Plugins

    @property
    def _specs(self) -> list[str]:
        """The paths of the served specs. They come from the command line and never from a page."""
        return [str(one.spec) for one in self.tournaments.listed.values() if one.spec is not None]

    async def inventory(self, request: Request) -> Response:
        """Return the inventory: the games, agents and formats that a page offers."""
        if self._inventory is None:
            self._inventory = await self._ask(request, {"do": "inventory", "specs": self._specs}, SECONDS["inventory"])
            for note in self._inventory["notes"]:
                say(f"note: {note}")
        return AsciiJson(self._inventory)

    async def position(self, request: Request, asked: PositionForm) -> Response:
        """Return a position of a game."""
        return AsciiJson(await self._ask(request, {**asked.model_dump(), "do": "position"}, SECONDS["position"]))

    async def apply(self, request: Request, asked: ActionForm) -> Response:
        """Return the position after an action."""
        return AsciiJson(await self._ask(request, {**asked.model_dump(), "do": "apply"}, SECONDS["apply"]))

    async def move(self, request: Request, asked: AgentForm) -> Response:
        """Return the move that an agent chooses."""
        return await self._ask_agent(request, "move", asked)

    async def solve(self, request: Request, asked: AgentForm) -> Response:
        """Return the solution that an agent finds."""
        return await self._ask_agent(request, "solve", asked)

    async def _ask_agent(self, request: Request, what: str, asked: AgentForm) -> Response:
        given = asked.limits
        if given.seconds is None:
            asked.limits = given.model_copy(update={"seconds": THINKING_SECONDS, "patient": given.patient or given.nodes is None})
        patience = THINKING_SECONDS if asked.limits.patient else asked.limits.seconds
        told = {**asked.model_dump(), "do": what, "specs": self._specs}
        reply = await self._ask(request, told, (patience or 0.0) + MARGIN_SECONDS)
        if reply.get("fallbacks") and given.seconds is None and reply["frame"]["nodes"] < (given.nodes or 0):
            raise BadRequest(f"the agent reported no move within {THINKING_SECONDS:g} s; set the seconds per decision")
        return AsciiJson(reply)

    async def _ask(self, request: Request, asked: dict[str, Any], seconds: float) -> dict[str, Any]:
        reply = await self.processes.ask(asked, seconds, request)
        if reply.get("needs_keys"):
            reply = await self.processes.ask({**asked, "keys": True}, seconds, request, keys=True)
        if "error" in reply:
            raise BadRequest(*reply.get("faults", [reply["error"]]))
        told = reply.get("view", reply)
        if "game" in told:
            self._assets.put_module(told["game"], "board")
        for panel in reply.get("panels", ()):
            self._assets.put_module(panel, "script")
        return reply


def _shell(title: str, module: str, path: str) -> Endpoint:
    async def endpoint() -> Response:
        return HTMLResponse(page(title, module, path))

    return endpoint
