"""The pages and what they ask for."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from arena.console.notices import say
from arena.errors import ArenaError
from arena.store import Store
from arena.web import form
from arena.web.board_addresses import BoardAddresses
from arena.web.compare_process import POLICY as COMPARISON_POLICY
from arena.web.compare_process import Comparisons
from arena.web.downloads import DOWNLOADS
from arena.web.entry_page import entry_page
from arena.web.error_answers import failed
from arena.web.form import BadRequest
from arena.web.guard import BodyTooLong
from arena.web.match_filter import MatchFilter, whole_number
from arena.web.matches import around, matches
from arena.web.pages import KINDS, files, page
from arena.web.plugin_process import PluginProcesses, ProcessEnded
from arena.web.store_folder import stores_in
from arena.web.tournaments import ServedTournament, Tournaments

DEADLINES = {"inventory": 30.0, "position": 10.0, "apply": 10.0, "spec": 20.0, "view": 30.0}
"""Seconds for a request to a plugin, by its kind."""
THINKING = 10.0
"""Seconds for a move or a solution if the page sets no limit."""
MARGIN = 3.0
"""Seconds on top of those that the page has set, to make the board and the agent."""
MOST_STREAMS = 200
"""Event streams at a time."""
Endpoint = Callable[[Request], Awaitable[Response]]


class Server:
    """The endpoints and what they share: tournaments, plugin processes, and the event that ends it."""

    def __init__(self, tournaments: Tournaments, processes: PluginProcesses) -> None:
        self.tournaments = tournaments
        self.processes = processes
        self.stopping = asyncio.Event()
        self._files = files()
        self.streams = 0
        self._inventory: dict[str, Any] | None = None
        self._boards = BoardAddresses()
        self._comparisons = Comparisons()

    def app(self) -> Starlette:
        """The application, without its guard."""
        get = [
            ("/", self.home),
            ("/play", _shell("Play", "play.js", "/play")),
            ("/puzzles", _shell("Puzzles", "puzzles.js", "/puzzles")),
            ("/new", _shell("New tournament", "new.js", "/new")),
            ("/t/{key}", self._page_of("Leaderboard", "leaderboard.js")),
            ("/t/{key}/matches", self._page_of("Matches", "matches.js")),
            ("/t/{key}/compare", self.comparison),
            ("/t/{key}/match/{id}", self.match_page),
            ("/t/{key}/entry", self._page_of("Agent", "entry.js")),
            ("/t/{key}/download/{name}", self.download),
            ("/static/{name:path}", self.file),
            ("/boards/{name}", self.board_module),
            ("/api/inventory", self.inventory),
            ("/api/tournaments", self.overview),
            ("/api/t/{key}", self.state),
            ("/api/t/{key}/events", self.events),
            ("/api/t/{key}/matches", self.matches),
            ("/api/t/{key}/match/{id}", self.match),
            ("/api/t/{key}/match/{id}/around", self.around),
            ("/api/t/{key}/entry", self.entry),
            ("/api/t/{key}/entry/facts", self.entry_facts),
        ]
        post = [
            ("/api/position", self.plugin("position")),
            ("/api/apply", self.plugin("apply")),
            ("/api/move", self.plugin("move")),
            ("/api/solve", self.plugin("solve")),
            ("/api/spec", self.plugin("spec")),
            ("/api/save", self.save),
            ("/api/start", self.start),
            ("/api/t/{key}/stop", self.stop),
        ]
        routes = [Route(path, endpoint, methods=["GET"]) for path, endpoint in get]
        routes += [Route(path, endpoint, methods=["POST"]) for path, endpoint in post]
        handlers: dict[Any, Any] = dict.fromkeys(
            (HTTPException, ArenaError, BodyTooLong, TimeoutError, ProcessEnded, Exception), failed
        )
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        yield
        self.stopping.set()
        await self.processes.close()
        await self.tournaments.close()

    # Pages

    async def home(self, request: Request) -> Response:
        """The tournaments, or what can be done without any; a single one is redirected to, unless a folder is listed."""
        if len(self.tournaments.listed) == 1 and self.tournaments.listing is None:
            return RedirectResponse(f"/t/{next(iter(self.tournaments.listed))}", 302)
        return HTMLResponse(page("Tournaments", "home.js", "/"))

    def _page_of(self, title: str, module: str) -> Endpoint:
        """The endpoint of a page about a tournament."""

        async def endpoint(request: Request) -> Response:
            return HTMLResponse(page(title, module, "/", key=self._tournament(request).key))

        return endpoint

    async def match_page(self, request: Request) -> Response:
        """One of its matches."""
        tournament, key = self._tournament(request), request.path_params["id"]
        await anyio.to_thread.run_sync(_check_match, tournament.store, key)
        return HTMLResponse(page("Match", "match.js", "/", key=tournament.key, id=key))

    async def comparison(self, request: Request) -> Response:
        """The agents that are named, or all, compared two by two: a page of its own."""
        store, agents = self._tournament(request).store, request.query_params.getlist("agent")
        content = await self._comparisons.page(store.absolute(), agents)
        return HTMLResponse(content, headers={"content-security-policy": COMPARISON_POLICY})

    async def file(self, request: Request) -> Response:
        """A module, the style sheet, the icon: from a fixed table, so that no path leads out of it."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "no such file")
        return Response(found[0], media_type=found[1], headers={"cache-control": "no-cache"})

    async def board_module(self, request: Request) -> Response:
        """The module of a board that a desk has told of: from a table again, and never from the disk."""
        found = self._boards.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404, "no such board; load the page again")
        return Response(found, media_type=KINDS[".js"], headers={"cache-control": "no-cache"})

    # Tournaments

    def _tournament(self, request: Request) -> ServedTournament:
        found = self.tournaments.listed.get(request.path_params["key"])
        if found is None:
            raise HTTPException(404, "no such tournament")
        return found

    async def overview(self, request: Request) -> Response:
        """Every tournament and its state; where a folder is listed, of all stores that it has now."""
        folder = self.tournaments.listing
        if folder is not None:
            self.tournaments.show_folder(await anyio.to_thread.run_sync(stores_in, folder))
        listed = [
            {"key": key, "place": self.tournaments.place_of(tournament), **await tournament.watcher.brief()}
            for key, tournament in list(self.tournaments.listed.items())
        ]
        return JSONResponse({"tournaments": listed, "folder": None if folder is None else folder.resolve().name})

    async def state(self, request: Request) -> Response:
        """The state of a tournament now."""
        return JSONResponse(await self._tournament(request).watcher.now())

    async def events(self, request: Request) -> Response:
        """Its state now and after every change, as a stream of events."""
        tournament = self._tournament(request)
        if self.streams >= MOST_STREAMS:
            raise HTTPException(429, f"{MOST_STREAMS} pages are listening already")
        return _CountedStream(self, tournament.watcher.stream(self.stopping), media_type="text/event-stream")

    async def matches(self, request: Request) -> Response:
        """A page of its matches."""
        store, asked = self._tournament(request).store, request.query_params
        number = whole_number(asked.get("page")) or 0
        return JSONResponse(await anyio.to_thread.run_sync(matches, store, MatchFilter.of(asked), number))

    async def match(self, request: Request) -> Response:
        """One match, position by position."""
        return await self._ask_of_store(request, {"do": "view", "id": request.path_params["id"]})

    async def around(self, request: Request) -> Response:
        """The matches before and after one, of those that the address lets through, and its twins with other seats."""
        store, key = self._tournament(request).store, request.path_params["id"]
        return JSONResponse(await anyio.to_thread.run_sync(around, store, key, MatchFilter.of(request.query_params)))

    async def entry(self, request: Request) -> Response:
        """What the games tell of one entry."""
        store, label = self._tournament(request).store, request.query_params.get("name", "")
        return JSONResponse(await anyio.to_thread.run_sync(entry_page, store, label))

    async def entry_facts(self, request: Request) -> Response:
        """What one entry is: for this its plugin has to be there."""
        return await self._ask_of_store(request, {"do": "entry", "label": request.query_params.get("name", "")})

    async def download(self, request: Request) -> Response:
        """The matches, the leaderboards or the spec of a tournament, as a file."""
        tournament, name = self._tournament(request), request.path_params["name"]
        if name not in DOWNLOADS:
            raise HTTPException(404, f"expected one of {', '.join(DOWNLOADS)}")
        given = DOWNLOADS[name]
        parts = await anyio.to_thread.run_sync(given.open, tournament.store)
        headers = {"content-disposition": f'attachment; filename="{tournament.key}-{name}"'}
        return StreamingResponse(parts, media_type=given.media, headers=headers)

    async def _ask_of_store(self, request: Request, asked: dict[str, Any]) -> Response:
        """What a process tells of a store, whose path comes from the server and never from a page."""
        tournament = self._tournament(request)
        named = {"store": str(tournament.store.absolute()), "spec": None if tournament.spec is None else str(tournament.spec)}
        return await self._ask(request, {**asked, **named}, DEADLINES["view"])

    async def save(self, request: Request) -> Response:
        """Keep the spec that a form stands for."""
        saved, reply = await self._saved(request)
        return JSONResponse({**reply, "file": str(saved)})

    async def start(self, request: Request) -> Response:
        """Keep it, and have it played."""
        self.tournaments.check_free()
        saved, _ = await self._saved(request)
        tournament = await self.tournaments.start(saved)
        return JSONResponse({"key": tournament.key, "file": str(saved)})

    async def _saved(self, request: Request) -> tuple[Path, dict[str, Any]]:
        asked = await _body(request)
        reply = await self._asked(request, {"do": "spec", "tournament": asked.get("tournament")}, DEADLINES["spec"])
        name = form.tournament_of(asked.get("tournament")).values["name"]
        path = await anyio.to_thread.run_sync(self.tournaments.save, name, reply["yaml"])
        return path, reply

    async def stop(self, request: Request) -> Response:
        """End a tournament that was started here; what was played is kept."""
        tournament = self._tournament(request)
        if not tournament.running:
            raise BadRequest("it was not started here, or is over")
        await tournament.stop()
        return JSONResponse({"stopped": True})

    # Plugins

    async def inventory(self, request: Request) -> Response:
        """Everything that can be chosen."""
        if self._inventory is None:
            self._inventory = await self._asked(request, {"do": "inventory"}, DEADLINES["inventory"])
            for note in self._inventory["notes"]:
                say(f"note: {note}")
        return JSONResponse(self._inventory)

    def plugin(self, what: str) -> Endpoint:
        """The endpoint for one kind of request to a plugin."""

        async def endpoint(request: Request) -> Response:
            asked = await _body(request)
            limits = form.limits_of(asked.get("limits"))
            thinks = what in ("move", "solve")
            if thinks:
                limits.setdefault("seconds", THINKING)
            seconds = limits["seconds"] + MARGIN if thinks else DEADLINES[what]
            asked = {key: value for key, value in asked.items() if key in _ASKED}
            return await self._ask(request, {**asked, "limits": limits, "do": what}, seconds)

        return endpoint

    async def _ask(self, request: Request, asked: dict[str, Any], seconds: float) -> Response:
        return JSONResponse(await self._asked(request, asked, seconds))

    async def _asked(self, request: Request, asked: dict[str, Any], seconds: float) -> dict[str, Any]:
        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        reply = await self.processes.ask(asked, seconds, gone)
        if "error" in reply:
            raise BadRequest(*reply.get("faults", [reply["error"]]))
        told = reply.get("view", reply)
        if "game" in told:
            self._boards.put(told["game"])
        return reply


class _CountedStream(StreamingResponse):
    """An event stream, counted as soon as it is granted, since its events begin later."""

    def __init__(self, server: Server, events: AsyncIterator[str], media_type: str) -> None:
        super().__init__(events, media_type=media_type)
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._server.streams += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._server.streams -= 1


_ASKED = frozenset({"game", "state", "action", "actions", "agent", "limits", "seed", "tournament"})
"""The keys of a request that reach a plugin."""


def _shell(title: str, module: str, path: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return HTMLResponse(page(title, module, path))

    return endpoint


async def _body(request: Request) -> dict[str, Any]:
    try:
        return form.read(form.MAPPING, json.loads(await request.body()), "the request")
    except (ValueError, RecursionError) as error:
        raise BadRequest("expected JSON") from error


def _check_match(store: Path, key: str) -> None:
    """StoreError where a store has no such match."""
    with Store.open(store) as opened:
        opened.record(key)
