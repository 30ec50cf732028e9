"""The pages and what they ask for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
import yaml
from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, StreamingResponse
from sse_starlette import EventSourceResponse

from arena.api.cli import say
from arena.api.results import render, stored
from arena.api.store import Store
from arena.results.export import lines
from arena_web.assets import Assets
from arena_web.command_process import COMPARISON_POLICY, Comparisons
from arena_web.entry_page import entry_page
from arena_web.error_answers import ErrorAnswers
from arena_web.errors import BadRequest
from arena_web.form import ActionForm, AgentForm, PositionForm, SpecForm, tournament_of
from arena_web.live import Listeners
from arena_web.match_filter import MatchFilter, MatchPage
from arena_web.matches import around, matches
from arena_web.pages import PAGES, page
from arena_web.panels import WantedPanels
from arena_web.plugin_process import PluginProcesses
from arena_web.store_folder import stores_in
from arena_web.tournaments import ServedTournament, Tournaments

SECONDS = {"inventory": 30.0, "position": 10.0, "apply": 10.0, "spec": 20.0, "view": 30.0}
"""For a request to a plugin, by its kind."""
THINKING_SECONDS = 10.0
"""For a move or a solution if the page sets no limit."""
MARGIN_SECONDS = 3.0
"""On top of those that the page has set, to make the board and the agent."""
Endpoint = Callable[..., Awaitable[Response]]
ANSWERS = ErrorAnswers(PAGES)


LINES_PER_PART = 200
"""Lines that are sent at a time."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file: its media type, and how its parts come from a store. StoreError is raised before the first part."""

    media: str
    open: Callable[[Path], Iterator[str]]


def _export(style: str, path: Path) -> Iterator[str]:
    """The matches one by one; memory does not grow with the store."""
    store = Store.open(path)

    def parts() -> Iterator[str]:
        with store:  # one question reads one moment; a snapshot would hold its lock from thread to thread
            found = lines(store, style)
            while some := "".join([f"{line}\n" for line in islice(found, LINES_PER_PART)]):
                yield some

    return parts()


def _leaderboards(path: Path) -> Iterator[str]:
    with Store.open(path) as store:
        run = store.last()
    return iter([render(run, stored(path), "json"), "\n"])


def _spec(path: Path) -> Iterator[str]:
    """The spec of the last run as it was read, with the seed that was used, unless that is secret still."""
    with Store.open(path) as store:
        run = store.last()
    values = {**run.spec["values"], "seed": "secret" if run.seed is None else run.seed}
    return iter([yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=100)])


DOWNLOADS = {
    "matches.csv": Download("text/csv", partial(_export, "tidy")),
    "matches.jsonl": Download("application/x-ndjson", partial(_export, "jsonl")),
    "leaderboards.json": Download("application/json", _leaderboards),
    "spec.yaml": Download("application/yaml", _spec),
}
"""By the names of the files."""


class Server:
    """The endpoints and what they share: tournaments, plugin processes, and the event that ends it."""

    def __init__(self, tournaments: Tournaments, processes: PluginProcesses) -> None:
        self.tournaments = tournaments
        self.processes = processes
        self.stopping = asyncio.Event()
        self._assets = Assets()
        self._listeners = Listeners()
        self._inventory: dict[str, Any] | None = None
        self._comparisons = Comparisons()

    def app(self) -> FastAPI:
        """Return the application, without its guard."""
        app = FastAPI(openapi_url=None, exception_handlers=ANSWERS.handlers, lifespan=self._lifespan)
        get: dict[str, Endpoint] = {
            "/": self.home,
            "/play": _shell("Play", "play.js", "/play"),
            "/puzzles": _shell("Puzzles", "puzzles.js", "/puzzles"),
            "/new": _shell("New tournament", "new.js", "/new"),
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
            "/api/spec": self.spec,
            "/api/save": self.save,
            "/api/start": self.start,
            "/api/t/{key}/stop": self.stop,
        }
        app.add_api_route("/api/t/{key}/events", self.events, dependencies=[Depends(self._listeners)], response_model=None)
        self._assets.add_to(app)
        for path, endpoint in get.items():
            app.add_api_route(path, endpoint, response_model=None)
        for path, endpoint in post.items():
            app.add_api_route(path, endpoint, methods=["POST"], response_model=None)
        return app

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        yield
        self.stopping.set()
        await self.processes.close()
        await self.tournaments.close()

    # Pages

    async def home(self) -> Response:
        """The tournaments, or what can be done without any; a single one is redirected to, unless a folder is listed."""
        if len(self.tournaments.listed) == 1 and self.tournaments.listing is None:
            return RedirectResponse(f"/t/{next(iter(self.tournaments.listed))}", 302)
        return HTMLResponse(page("Tournaments", "home.js", "/"))

    def _page_of(self, title: str, module: str, **data: str) -> Endpoint:
        """Return the endpoint of a page about a tournament; `data` is for its module."""

        async def endpoint(key: str) -> Response:
            return HTMLResponse(page(title, module, "/", PAGES, key=self._tournament(key).key, **data))

        return endpoint

    async def match_page(self, key: str, match: str) -> Response:
        """One of its matches; StoreError if its store has no such match."""
        tournament = self._tournament(key)

        def check() -> None:
            with Store.open(tournament.store) as store:
                store.record(match)

        await anyio.to_thread.run_sync(check)
        return HTMLResponse(page("Match", "match.js", "/", key=key, id=match))

    async def comparison(self, key: str, agent: Annotated[list[str] | None, Query()] = None) -> Response:
        """The agents that are named, or all, compared two by two: a page of its own."""
        content = await self._comparisons.page(self._tournament(key).store.absolute(), agent or [])
        return HTMLResponse(content, headers={"content-security-policy": COMPARISON_POLICY})

    # Tournaments

    def _tournament(self, key: str) -> ServedTournament:
        found = self.tournaments.listed.get(key)
        if found is None:
            raise HTTPException(404, "no such tournament")
        return found

    async def overview(self) -> Response:
        """Every tournament and its state; if a folder is listed, of all stores that it has now."""
        folder = self.tournaments.listing
        if folder is not None:
            self.tournaments.show_folder(await anyio.to_thread.run_sync(stores_in, folder))
        listed = [
            {"key": key, "place": self.tournaments.place_of(tournament), **await tournament.watcher.brief()}
            for key, tournament in list(self.tournaments.listed.items())
        ]
        return JSONResponse({"tournaments": listed, "folder": None if folder is None else folder.resolve().name})

    async def state(self, key: str) -> Response:
        """The state of a tournament now."""
        return JSONResponse(await self._tournament(key).watcher.now())

    async def events(self, key: str) -> Response:
        """Its state now and after every change, as a stream of events."""
        return EventSourceResponse(self._tournament(key).watcher.stream(self.stopping))

    async def matches(self, key: str, wanted: Annotated[MatchPage, Query()]) -> Response:
        """A page of its matches."""
        return JSONResponse(await anyio.to_thread.run_sync(matches, self._tournament(key).store, wanted, wanted.page or 0))

    async def match(self, request: Request, key: str, match: str) -> Response:
        """One match, position by position."""
        return await self._ask_of_store(request, key, {"do": "view", "id": match})

    async def around(self, key: str, match: str, wanted: Annotated[MatchFilter, Query()]) -> Response:
        """The matches before and after one, of those that the address lets through, and its twins with other seats."""
        return JSONResponse(await anyio.to_thread.run_sync(around, self._tournament(key).store, match, wanted))

    async def entry(self, key: str, name: str = "") -> Response:
        """The games of one entry."""
        return JSONResponse(await anyio.to_thread.run_sync(entry_page, self._tournament(key).store, name))

    async def entry_facts(self, request: Request, key: str, name: str = "") -> Response:
        """The options, limits and source of one entry: for this its plugin has to be there."""
        return await self._ask_of_store(request, key, {"do": "entry", "label": name})

    async def panels(self, request: Request, key: str, wanted: Annotated[WantedPanels, Query()]) -> Response:
        """The panels of plugins for a match, an entry or a board."""
        return await self._ask_of_store(request, key, {"do": "panels", **wanted.model_dump()})

    async def download(self, key: str, name: str) -> Response:
        """The matches, the leaderboards or the spec of a tournament, as a file."""
        tournament = self._tournament(key)
        if name not in DOWNLOADS:
            raise HTTPException(404, f"expected one of {', '.join(DOWNLOADS)}")
        given = DOWNLOADS[name]
        parts = await anyio.to_thread.run_sync(given.open, tournament.store)
        headers = {"content-disposition": f'attachment; filename="{tournament.key}-{name}"'}
        return StreamingResponse(parts, media_type=given.media, headers=headers)

    async def _ask_of_store(self, request: Request, key: str, asked: dict[str, Any]) -> Response:
        """Ask a process about a store, whose path comes from the server and never from a page."""
        tournament = self._tournament(key)
        named = {"store": str(tournament.store.absolute()), "spec": None if tournament.spec is None else str(tournament.spec)}
        return JSONResponse(await self._ask(request, {**asked, **named}, SECONDS["view"]))

    async def spec(self, request: Request, asked: SpecForm) -> Response:
        """The spec of a form."""
        return JSONResponse(await self._ask(request, {**asked.model_dump(), "do": "spec"}, SECONDS["spec"]))

    async def save(self, request: Request, asked: SpecForm) -> Response:
        """Keep the spec of a form."""
        file, reply = await self._save(request, asked)
        return JSONResponse({**reply, "file": str(file)})

    async def start(self, request: Request, asked: SpecForm) -> Response:
        """Keep it, and have it played."""
        self.tournaments.check_free()
        file, _ = await self._save(request, asked)
        tournament = await self.tournaments.start(file)
        return JSONResponse({"key": tournament.key, "file": str(file)})

    async def _save(self, request: Request, asked: SpecForm) -> tuple[Path, dict[str, Any]]:
        reply = await self._ask(request, {**asked.model_dump(), "do": "spec"}, SECONDS["spec"])
        name = tournament_of(asked.tournament).values["name"]
        return await anyio.to_thread.run_sync(self.tournaments.save, name, reply["yaml"]), reply

    async def stop(self, key: str) -> Response:
        """End a tournament that was started here; what was played is kept."""
        tournament = self._tournament(key)
        if not tournament.running:
            raise BadRequest("it was not started here, or is over")
        await tournament.stop()
        return JSONResponse({"stopped": True})

    # Plugins

    async def inventory(self, request: Request) -> Response:
        """Everything that can be chosen."""
        if self._inventory is None:
            self._inventory = await self._ask(request, {"do": "inventory"}, SECONDS["inventory"])
            for note in self._inventory["notes"]:
                say(f"note: {note}")
        return JSONResponse(self._inventory)

    async def position(self, request: Request, asked: PositionForm) -> Response:
        """A position of a game."""
        return JSONResponse(await self._ask(request, {**asked.model_dump(), "do": "position"}, SECONDS["position"]))

    async def apply(self, request: Request, asked: ActionForm) -> Response:
        """The position after an action."""
        return JSONResponse(await self._ask(request, {**asked.model_dump(), "do": "apply"}, SECONDS["apply"]))

    async def move(self, request: Request, asked: AgentForm) -> Response:
        """A move of an agent."""
        return await self._ask_agent(request, "move", asked)

    async def solve(self, request: Request, asked: AgentForm) -> Response:
        """A solution of an agent."""
        return await self._ask_agent(request, "solve", asked)

    async def _ask_agent(self, request: Request, what: str, asked: AgentForm) -> Response:
        if asked.limits.seconds is None:
            asked.limits = asked.limits.model_copy(update={"seconds": THINKING_SECONDS})
        seconds = (asked.limits.seconds or THINKING_SECONDS) + MARGIN_SECONDS
        return JSONResponse(await self._ask(request, {**asked.model_dump(), "do": what}, seconds))

    async def _ask(self, request: Request, asked: dict[str, Any], seconds: float) -> dict[str, Any]:
        reply = await self.processes.ask(asked, seconds, request)
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
