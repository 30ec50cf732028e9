"""The application of a ladder: its API, its pages, and what is said where something cannot be done."""

import asyncio
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from arena.console.notices import say
from arena.errors import ArenaError, StoreFull, describe
from arena.ladder.gate import refused
from arena.ladder.ladder_api import LadderApi
from arena.ladder.ledger import Refusal
from arena.ladder.rate_limits import RateLimits
from arena.web.guard import BodyTooLong

if TYPE_CHECKING:
    from arena.ladder.ladder_host import LadderHost


class LadderApp:
    """The endpoints and what they share."""

    def __init__(self, host: "LadderHost") -> None:
        self.limits = RateLimits()
        self.stopping = asyncio.Event()
        self._api = LadderApi(host, self.limits)

    def app(self) -> Starlette:
        """The application, without its gate."""
        kinds = (Refusal, HTTPException, ArenaError, BodyTooLong, TimeoutError, ClientDisconnect, Exception)
        handlers: dict[Any, Any] = dict.fromkeys(kinds, failed)
        return Starlette(routes=self._api.routes(), exception_handlers=handlers)


async def failed(request: Request, error: Exception) -> Response:
    """The answer to a request that cannot be done; what is nobody's fault but arena's own is told on stderr."""
    return refused(_refusal(error))


def _refusal(error: Exception) -> Refusal:
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
    if isinstance(error, ArenaError):
        return Refusal(400, str(error), "see /openapi.json")
    say(f"error: {describe(error)}")
    return Refusal(500, "an error of arena itself", "tell the host of the ladder; its own output says more")
