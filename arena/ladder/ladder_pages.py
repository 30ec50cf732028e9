"""The pages of a ladder, and what they alone ask for: the standings as they move, agents, matches, and where to hand in."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.ladder.ledger import Refusal
from arena.scaffold import starter
from arena.web.board_addresses import BoardAddresses
from arena.web.entry_page import entry_page
from arena.web.match_filter import MatchFilter, whole_number
from arena.web.matches import around, matches
from arena.web.pages import KINDS, Navigation, files, page
from arena.web.plugin_process import PluginProcesses

if TYPE_CHECKING:
    from arena.ladder.ladder_host import LadderHost

PAGES: Navigation = (("Standings", "/"), ("Matches", "/t/ladder/matches"), ("Hand in", "/hand-in"), ("Yours", "/yours"))
KEY = "ladder"
LOOK = 1.0
"""Seconds between two looks at the standings by those who listen."""
PING = 15.0
MOST_LISTENERS = 200
VIEW_SECONDS = 30.0


class LadderPages:
    """Every page, with what is told on it: what everybody may see, and of an author's own what he asks for with his token."""

    def __init__(self, host: "LadderHost", stopping: asyncio.Event) -> None:
        self._host, self._stopping = host, stopping
        self._store = host.store.path
        self.processes = PluginProcesses(host.ladder.spec.plugins)
        self._files = files(Path(__file__).parent / "static")
        self._boards = BoardAddresses()
        self._listeners = 0
        self._told: tuple[int, str] = (-1, "")

    def routes(self) -> list[Route]:
        """Every address, without those of the API."""
        shown = {
            "/": ("Standings", "standings.js", "/"),
            "/hand-in": ("Hand in", "hand_in.js", "/hand-in"),
            "/yours": ("Yours", "yours.js", "/yours"),
            "/t/ladder/matches": ("Matches", "matches.js", "/t/ladder/matches"),
            "/t/ladder/entry": ("Agent", "ladder_agent.js", ""),
            "/t/ladder/match/{id}": ("Match", "match.js", "/t/ladder/matches"),
        }
        routes = [Route(path, self._page(*told)) for path, told in shown.items()]
        get = {
            "/t/ladder": self.home,
            "/starter.py": self.starter,
            "/static/{name:path}": self.file,
            "/boards/{name}": self.board_module,
            "/api/live": self.live,
            "/api/events": self.events,
            "/api/t/ladder/matches": self.matches,
            "/api/t/ladder/match/{id}": self.match,
            "/api/t/ladder/match/{id}/around": self.around,
            "/api/t/ladder/entry": self.entry,
        }
        return routes + [Route(path, endpoint) for path, endpoint in get.items()]

    def _page(self, title: str, module: str, path: str) -> Any:
        async def endpoint(request: Request) -> Response:
            given = {"id": request.path_params["id"]} if "id" in request.path_params else {}
            named = f"{title} of {self._host.ladder.spec.name}"
            return HTMLResponse(page(named, module, path, PAGES, key=KEY, **given))

        return endpoint

    async def home(self, request: Request) -> Response:
        """Lead to the standings."""
        return RedirectResponse("/", 302)

    async def starter(self, request: Request) -> Response:
        """An agent of one file that plays here as it stands."""
        text = await anyio.to_thread.run_sync(starter, self._host.ladder.spec.boards[0].name, self._host.ladder.spec.registry)
        headers = {"content-disposition": 'attachment; filename="my_agent.py"'}
        return Response(text, media_type="text/x-python", headers=headers)

    async def file(self, request: Request) -> Response:
        """A module, the style sheet, the icon: from a fixed table, so that no path leads out of it."""
        found = self._files.get(request.path_params["name"])
        if found is None:
            raise Refusal(404, "no such file", "load the page again")
        return Response(found[0], media_type=found[1], headers={"cache-control": "no-cache"})

    async def board_module(self, request: Request) -> Response:
        """The module of a board that a view has told of: from a table, and never from the disk."""
        found = self._boards.get(request.path_params["name"])
        if found is None:
            raise Refusal(404, "no such board", "load the page again")
        return Response(found, media_type=KINDS[".js"], headers={"cache-control": "no-cache"})

    # The standings as they move

    async def live(self, request: Request) -> Response:
        """The standings now, with the latest course of each rating."""
        return Response(self._text(), media_type="application/json")

    async def events(self, request: Request) -> Response:
        """The standings now and after every change, as a stream of events."""
        if self._listeners >= MOST_LISTENERS:
            raise Refusal(429, f"{MOST_LISTENERS} pages are listening already", "load the page again later")
        headers = {"x-accel-buffering": "no"}  # nginx would keep the events until a buffer is full
        return StreamingResponse(self._stream(), media_type="text/event-stream", headers=headers)

    async def _stream(self) -> AsyncIterator[str]:
        self._listeners += 1
        seen, silent = -1, 0.0
        try:
            while not self._stopping.is_set():
                version = self._host.runner.contest.version
                if version != seen:
                    seen, silent = version, 0.0
                    yield f"event: standings\ndata: {self._text()}\n\n"
                elif silent >= PING:
                    silent = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(LOOK)
                silent += LOOK
        finally:
            self._listeners -= 1

    def _text(self) -> str:
        """The standings as JSON, one text for all who listen."""
        contest = self._host.runner.contest
        version = contest.version
        if self._told[0] != version:
            boards = [
                {"title": board.title, "rows": [{**row, "trend": contest.trend(board.title, row["agent"])} for row in board.rows]}
                for board in contest.standings
            ]
            told = {"boards": boards, "state": contest.state, "matches": contest.matches, "interval": self._host.ladder.interval}
            self._told = (version, json.dumps({**told, "anchor": self._host.ladder.anchor, "name": self._host.ladder.spec.name}))
        return self._told[1]

    # Matches and agents

    async def matches(self, request: Request) -> Response:
        """A page of all matches."""
        number = whole_number(request.query_params.get("page")) or 0
        return JSONResponse(await anyio.to_thread.run_sync(matches, self._store, MatchFilter.of(request.query_params), number))

    async def around(self, request: Request) -> Response:
        """The matches before and after one, and its twins with other seats."""
        key = request.path_params["id"]
        return JSONResponse(await anyio.to_thread.run_sync(around, self._store, key, MatchFilter.of(request.query_params)))

    async def match(self, request: Request) -> Response:
        """One match, position by position; what an agent said when it failed is for its author alone."""

        async def gone() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass

        asked = {"do": "view", "id": request.path_params["id"], "store": str(self._store)}
        reply = await self.processes.ask(asked, VIEW_SECONDS, gone)
        if "view" not in reply:
            raise Refusal(404, str(reply.get("error", "no such match")), "see the list of matches")
        self._boards.put(reply["view"]["game"])
        return JSONResponse({"view": {**reply["view"], "message": None, "differences": []}, "play_on": None})

    async def entry(self, request: Request) -> Response:
        """Whom an agent met, with which results, and the course of its rating."""
        label = request.query_params.get("name", "")
        told = await anyio.to_thread.run_sync(lambda: entry_page(self._store, label, curves=False))
        course = await anyio.to_thread.run_sync(self._host.ledger.course, label)
        return JSONResponse({**told, "course": [point._asdict() for point in course]})
