"""The application of a ladder: its API, its pages, and what is said where something cannot be done."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response

from arena.console.notices import say
from arena.errors import ArenaError, StoreError, StoreFull, describe
from arena.ladder.gate import refused
from arena.ladder.ladder_api import LadderApi
from arena.ladder.ladder_pages import PAGES, LadderPages
from arena.ladder.ledger import Refusal
from arena.ladder.rate_limits import RateLimits
from arena.web.guard import BodyTooLong
from arena.web.pages import fault_page
from arena.web.plugin_process import Busy, ProcessEnded, ProcessFailed

if TYPE_CHECKING:
    from arena.ladder.ladder_host import LadderHost


class LadderApp:
    """The endpoints and what they share."""

    def __init__(self, host: "LadderHost") -> None:
        self.limits = RateLimits()
        self.stopping = asyncio.Event()
        self._api = LadderApi(host, self.limits, self.stopping)
        self._pages = LadderPages(host, self.stopping)

    def app(self) -> Starlette:
        """The application, without its gate."""
        kinds = (Refusal, HTTPException, ArenaError, BodyTooLong, TimeoutError, ClientDisconnect, Exception)
        handlers: dict[Any, Any] = dict.fromkeys(kinds, failed)
        routes = [*self._api.routes(), *self._pages.routes()]
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        yield
        self.stopping.set()
        await self._pages.processes.close()


async def failed(request: Request, error: Exception) -> Response:
    """The answer to a request that cannot be done; what is nobody's fault but arena's own is told on stderr."""
    refusal = refusal_of(error)
    if "text/html" in request.headers.get("accept", ""):
        title = "Not found" if refusal.status == 404 else "That did not work"
        return HTMLResponse(fault_page(title, f"{refusal}; {refusal.hint}", PAGES), refusal.status)
    return refused(refusal)


def refusal_of(error: Exception) -> Refusal:
    """What an error is to who asked; one of arena's own is told on stderr, too."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, HTTPException):
        nowhere = error.status_code in (404, 405)
        return Refusal(error.status_code, "there is nothing at this address" if nowhere else error.detail, "see /openapi.json")
    if isinstance(error, BodyTooLong):
        return Refusal(413, "the body is too long", "hand in less")
    if isinstance(error, TimeoutError):
        return Refusal(408, "the body did not come in time", "send it again")
    if isinstance(error, ClientDisconnect):
        return Refusal(499, "nobody waits for this any more", "ask again")
    if isinstance(error, StoreFull):
        return Refusal(507, "the disk of the ladder is full", "tell its host; nothing was taken")
    if isinstance(error, Busy):
        return Refusal(429, str(error), "try again in a moment")
    if isinstance(error, (ProcessFailed, ProcessEnded)):
        return Refusal(503, str(error), "load the page again")
    if isinstance(error, StoreError) and isinstance(error.__cause__, sqlite3.Error):
        told = "the store of the ladder cannot be used right now; nothing was kept"
        return Refusal(503, told, "try again in a minute, or tell the host of the ladder")
    if isinstance(error, StoreError):
        return Refusal(404, "there is no such thing here", "see the list of matches")
    if isinstance(error, ArenaError):
        return Refusal(400, str(error), "see /openapi.json")
    say(f"error: {describe(error)}")
    return Refusal(500, "an error of arena itself", "tell the host of the ladder; its own output says more")
