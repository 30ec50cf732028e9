"""The pages of a ladder and their endpoints: live standings, agents, matches, and the submission page."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from fastapi import Depends, FastAPI, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sse_starlette import EventSourceResponse

from arena_check.new import starter
from arena_web.assets import Assets
from arena_web.entry_page import entry_page
from arena_web.error_answers import AsciiJson
from arena_web.errors import Refusal
from arena_web.live import Listeners
from arena_web.match_filter import MatchFilter, MatchPage
from arena_web.matches import around, matches
from arena_web.pages import Navigation, page
from arena_web.panels import WantedPanels
from arena_web.plugin_process import PluginProcesses

if TYPE_CHECKING:
    from arena_ladder.host import LadderHost

PAGES: Navigation = (("Standings", "/"), ("Matches", "/t/ladder/matches"), ("Hand in", "/hand-in"), ("Yours", "/yours"))
KEY = "ladder"
STANDINGS_POLL_SECONDS = 1.0
"""Seconds between two polls of the standings by an event stream."""
VIEW_SECONDS = 30.0


class LadderPages:
    """All pages. Most are public; an author's own data require the author's token."""

    def __init__(self, host: "LadderHost", stopping: asyncio.Event) -> None:
        self._host, self._stopping = host, stopping
        self._store = host.store.path
        self.processes = PluginProcesses(host.ladder.spec.plugins)
        self._assets = Assets(FilePath(__file__).parent / "static")
        self._listeners = Listeners()
        self._told: tuple[int, str] = (-1, "")

    def add_to(self, app: FastAPI) -> None:
        """Add every address that is not part of the documented API."""
        pages = {
            "/": self._page("Standings", "standings.js", "/"),
            "/hand-in": self._page("Hand in", "hand_in.js", "/hand-in"),
            "/yours": self._page("Yours", "yours.js", "/yours"),
            "/t/ladder/matches": self._page("Matches", "matches.js", "/t/ladder/matches"),
            "/t/ladder/entry": self._page("Agent", "ladder_agent.js", ""),
            "/t/ladder/match/{id}": self._page("Match", "match.js", "/t/ladder/matches"),
            "/t/ladder": self.home,
            "/starter.py": self.starter,
            "/api/live": self.live,
            "/api/t/ladder/matches": self.matches,
            "/api/t/ladder/match/{id}": self.match,
            "/api/t/ladder/match/{id}/around": self.around,
            "/api/t/ladder/entry": self.entry,
            "/api/t/ladder/panels": self.panels,
        }
        self._assets.add_to(app)
        for path, endpoint in pages.items():
            app.add_api_route(path, endpoint, response_model=None, include_in_schema=False)
        listening = [Depends(self._listeners)]
        app.add_api_route("/api/events", self.events, dependencies=listening, response_model=None, include_in_schema=False)

    def _page(self, title: str, module: str, path: str) -> Any:
        async def endpoint(request: Request) -> Response:
            named = f"{title} of {self._host.ladder.spec.name}"
            return HTMLResponse(page(named, module, path, PAGES, key=KEY, **request.path_params))

        return endpoint

    async def home(self) -> Response:
        """Lead to the standings."""
        return RedirectResponse("/", 302)

    async def starter(self) -> Response:
        """Serve a single-file agent that plays on this ladder without changes."""
        text = await anyio.to_thread.run_sync(starter, self._host.ladder.spec.boards[0].name, self._host.ladder.spec.registry)
        headers = {"content-disposition": 'attachment; filename="my_agent.py"'}
        return Response(text, media_type="text/x-python", headers=headers)

    # Live standings

    async def live(self) -> Response:
        """The standings now, with the latest course of each rating."""
        return Response(self._text(), media_type="application/json")

    async def events(self, request: Request) -> Response:
        """The standings now and after every change, as a stream of events."""
        return EventSourceResponse(self._stream(request.state.displaced))

    async def _stream(self, displaced: asyncio.Event) -> AsyncIterator[dict[str, str]]:
        seen = -1
        while not self._stopping.is_set() and not displaced.is_set():
            version = self._host.runner.contest.version
            if version != seen:
                seen = version
                yield {"event": "standings", "data": self._text()}
            await asyncio.sleep(STANDINGS_POLL_SECONDS)

    def _text(self) -> str:
        """Return the standings as JSON, one text shared by all listeners."""
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

    async def matches(self, wanted: Annotated[MatchPage, Query()]) -> Response:
        """A page of all matches."""
        return AsciiJson(await anyio.to_thread.run_sync(matches, self._store, wanted, wanted.page or 0))

    async def around(self, match: Annotated[str, Path(alias="id")], wanted: Annotated[MatchFilter, Query()]) -> Response:
        """The matches before and after one, and its twins with other seats."""
        return AsciiJson(await anyio.to_thread.run_sync(around, self._store, match, wanted))

    async def match(self, request: Request, match: Annotated[str, Path(alias="id")]) -> Response:
        """One match, position by position; what an agent said when it failed is for its author alone."""
        reply = await self._ask(request, {"do": "view", "id": match})
        self._assets.put_module(reply["view"]["game"], "board")
        return AsciiJson({"view": {**reply["view"], "message": None, "differences": []}, "play_on": None})

    async def panels(self, request: Request, wanted: Annotated[WantedPanels, Query()]) -> Response:
        """The panels of a match that everybody may see."""
        reply = await self._ask(request, {"do": "panels", "public": True, **wanted.model_dump()})
        for panel in reply["panels"]:
            self._assets.put_module(panel, "script")
        return AsciiJson(reply)

    async def _ask(self, request: Request, asked: dict[str, Any]) -> dict[str, Any]:
        reply = await self.processes.ask({**asked, "store": str(self._store)}, VIEW_SECONDS, request)
        if "error" in reply:
            raise Refusal(404, str(reply["error"]), "see the list of matches")
        return reply

    async def entry(self, name: str = "") -> Response:
        """The opponents of an agent, its results, and the course of its rating."""
        games = await anyio.to_thread.run_sync(lambda: entry_page(self._store, name))
        course = await anyio.to_thread.run_sync(self._host.ledger.course, name)
        return AsciiJson({**games, "course": [point._asdict() for point in course]})
