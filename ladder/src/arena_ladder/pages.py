"""The pages of a ladder and their endpoints: live standings, agents, matches, and the submission page."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import anyio.to_thread
from fastapi import Depends, FastAPI, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from arena.clock import monotonic
from arena_check.new import starter
from arena_ladder.contest import check_known
from arena_ladder.wheel import list_wheels, read_wheel
from arena_web.assets import Assets
from arena_web.entry_page import entry_page
from arena_web.error_answers import AsciiJson
from arena_web.errors import Refusal
from arena_web.live import PING, PING_SECONDS, RETRY, Listeners, send_events
from arena_web.match_filter import MatchFilter, MatchPage
from arena_web.matches import around, matches
from arena_web.pages import Navigation, page
from arena_web.panels import WantedPanels
from arena_web.plugin_process import PluginProcesses

if TYPE_CHECKING:
    from arena_ladder.host import LadderHost

PAGES: Navigation = (("Standings", "/"), ("Matches", "/t/ladder/matches"), ("Hand in", "/hand-in"), ("Yours", "/yours"))
STATIC = FilePath(__file__).parent / "static"
KEY = "ladder"
STANDINGS_POLL_SECONDS = 1.0
"""Seconds between two reads of the standings for an event stream."""
VIEW_SECONDS = 30.0


def navigation_of(root: str) -> Navigation:
    """Return the navigation of a ladder. Its addresses begin with `root`."""
    return [(name, root + path) for name, path in PAGES]


class LadderPages:
    """All pages. Most pages are public; pages with the data of an author require the author's token."""

    def __init__(self, host: "LadderHost", stopping: asyncio.Event) -> None:
        self._host, self._stopping = host, stopping
        self._store = host.store.path
        self.processes = PluginProcesses(host.ladder.spec.plugins)
        self._assets = Assets(STATIC, root=host.root)
        self._navigation = navigation_of(host.root)
        self._listeners = Listeners()
        self._wheel_turns = anyio.CapacityLimiter(1)
        """While a wheel is made, which takes seconds, requests for it must not use up the threads of all other requests."""
        self._told: tuple[tuple[bool, int] | None, str] = (None, "")
        self._event = b""
        """The standings as an event. It is encoded once for all listeners, because a course may have hundreds of them."""

    def add_to(self, app: FastAPI) -> None:
        """Add every address that is not part of the documented API."""
        pages = {
            "/": self._page("Standings", "standings.js", "/"),
            "/hand-in": self._page("Hand in", "hand_in.js", "/hand-in"),
            "/yours": self._page("Yours", "yours.js", "/yours"),
            "/host": self._page("Host", "host.js", "/host"),
            "/t/ladder/matches": self._page("Matches", "matches.js", "/t/ladder/matches"),
            "/t/ladder/entry": self._page("Agent", "ladder_agent.js", ""),
            "/t/ladder/match/{id}": self._page("Match", "match.js", "/t/ladder/matches"),
            "/t/ladder": self.home,
            "/claim": self._page("Your token", "claim.js", ""),
            "/starter.py": self.starter,
            "/dist/{name}": self.wheel,
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
            root = self._host.root
            return HTMLResponse(page(named, module, root + path, self._navigation, key=KEY, root=root, **request.path_params))

        return endpoint

    async def home(self) -> Response:
        """Redirect to the standings."""
        return RedirectResponse(f"{self._host.root}/", 302)

    async def starter(self) -> Response:
        """Return the file of an agent that can play on this ladder without changes."""
        text = await anyio.to_thread.run_sync(starter, self._host.ladder.spec.boards[0].name, self._host.ladder.spec.registry)
        headers = {"content-disposition": 'attachment; filename="my_agent.py"'}
        return Response(text, media_type="text/x-python", headers=headers)

    async def wheel(self, name: str) -> Response:
        """Return a wheel of the versions that run this ladder, so that authors can install the same versions."""
        wanted = list_wheels().get(name)
        content = None if wanted is None else await anyio.to_thread.run_sync(read_wheel, wanted, limiter=self._wheel_turns)
        if content is None:
            raise Refusal(404, "no such file", "see the page “Hand in” for the command that installs arena")
        return Response(content, media_type="application/zip", headers={"cache-control": "private, max-age=300"})

    # Live standings

    async def live(self) -> Response:
        """Return the current standings, with the latest history of each rating."""
        check_known(self._host.public.read().boards)
        return Response(self._text(), media_type="application/json")

    async def events(self, request: Request) -> Response:
        """Return the standings, now and after every change, as a stream of events."""
        return send_events(self._stream(request.state.displaced))

    async def _stream(self, displaced: asyncio.Event) -> AsyncGenerator[bytes, None]:
        yield RETRY  # sent at once, even if the standings are not available yet
        seen, told = None, monotonic()
        while not self._stopping.is_set() and not displaced.is_set():
            found = self._host.public.read()
            if found.version != seen and found.boards:
                seen, told = found.version, monotonic()
                self._text()
                yield self._event
            elif monotonic() - told > PING_SECONDS:
                told = monotonic()
                yield PING
            await asyncio.sleep(STANDINGS_POLL_SECONDS)

    def _text(self) -> str:
        """Return the standings as JSON. All listeners get the same text."""
        contest, found = self._host.runner.contest, self._host.public.read()
        if self._told[0] != found.version:
            boards = [
                {
                    "title": board.title,
                    "kind": board.kind,
                    "rows": [
                        {**row, "trend": [] if found.hidden else contest.trend(board.title, row["agent"])} for row in board.rows
                    ],
                }
                for board in found.boards
            ]
            ladder = self._host.ladder
            solvers = ladder.solvers
            interval = ladder.interval if ladder.rates and solvers is None else None
            told = {"boards": boards, "state": found.state, "matches": found.matches, "interval": interval}
            told |= {"positions": found.positions, "effort": None if solvers is None else solvers.effort}
            told |= {"hidden": found.hidden}
            self._told = (
                found.version,
                json.dumps({**told, "anchor": self._host.ladder.anchor, "name": self._host.ladder.spec.name}),
            )
            self._event = f"event: standings\r\ndata: {self._told[1]}\r\n\r\n".encode()  # JSON has no line ends
        return self._told[1]

    # Matches and agents

    async def matches(self, wanted: Annotated[MatchPage, Query()]) -> Response:
        """Return a page of the list of all matches."""
        self._check_shown()
        return AsciiJson(await anyio.to_thread.run_sync(matches, self._store, wanted, wanted.page or 0))

    async def around(self, match: Annotated[str, Path(alias="id")], wanted: Annotated[MatchFilter, Query()]) -> Response:
        """Return the matches before and after a match, and related matches, such as the same round with swapped seats."""
        self._check_shown()
        return AsciiJson(await anyio.to_thread.run_sync(around, self._store, match, wanted))

    async def match(self, request: Request, match: Annotated[str, Path(alias="id")]) -> Response:
        """Return one match, position by position. The output of an agent that failed is only for its author."""
        self._check_shown()
        reply = await self._ask(request, {"do": "view", "id": match})
        self._assets.put_module(reply["view"]["game"], "board")
        return AsciiJson({"view": {**reply["view"], "message": None, "differences": []}, "play_on": None})

    async def panels(self, request: Request, wanted: Annotated[WantedPanels, Query()]) -> Response:
        """Return the panels of a match that are public."""
        self._check_shown()
        begun = bool(self._host.public.read().boards)  # then this process has checked the store
        reply = await self._ask(request, {"do": "panels", "public": True, "verified": begun, **wanted.model_dump()})
        for panel in reply["panels"]:
            self._assets.put_module(panel, "script")
        return AsciiJson(reply)

    def _check_shown(self) -> None:
        """Raise Refusal 403 while positions are hidden, because an agent chooses the figures of its attempts."""
        if self._host.hides:
            raise Refusal(403, "attempts and their positions are hidden until this ladder is final", "see the standings")

    async def _ask(self, request: Request, asked: dict[str, Any]) -> dict[str, Any]:
        reply = await self.processes.ask({**asked, "store": str(self._store)}, VIEW_SECONDS, request)
        if "error" in reply:  # its text may name files of the host
            raise Refusal(404, "not found here", "see the list of matches")
        return reply

    async def entry(self, name: str = "") -> Response:
        """Return the opponents of an agent, its results, and the history of its rating."""
        self._check_shown()
        return await anyio.to_thread.run_sync(self._entry, name)

    def _entry(self, name: str) -> Response:
        course = self._host.ledger.course(name)
        return AsciiJson({**entry_page(self._store, name), "course": [point._asdict() for point in course]})
