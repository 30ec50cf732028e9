"""Answers to requests that cannot be done: a page where a browser asks for one, else JSON."""

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from arena.errors import ArenaError, StoreError
from arena.web.form import BadRequest
from arena.web.guard import BodyTooLong
from arena.web.pages import fault_page
from arena.web.plugin_process import Busy, ProcessEnded, ProcessFailed
from arena.web.tournaments import Underway


def _error(request: Request, status: int, message: str, faults: Sequence[str] = (), **headers: str) -> Response:
    """An error, as a page if a browser asks for one, else as JSON."""
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(fault_page("Not found" if status == 404 else "That did not work", message), status, headers or None)
    return JSONResponse({"error": message, **({"faults": list(faults)} if faults else {})}, status, headers or None)


async def failed(request: Request, error: Exception) -> Response:
    """The answer to a request that cannot be done; what is nobody's fault but arena's own is told on stderr."""
    if isinstance(error, HTTPException):
        nowhere = error.status_code == 404 and error.detail == "Not Found"  # Starlette's own
        return _error(request, error.status_code, "there is nothing at this address" if nowhere else error.detail)
    if isinstance(error, BadRequest):
        return _error(request, 400, str(error), error.faults)
    if isinstance(error, Busy):
        return _error(request, 429, str(error), **{"retry-after": "1"})
    for kind, status, message in _ERRORS:
        if isinstance(error, kind):
            return _error(request, status, message or str(error))
    return _error(request, 500, "an error of arena itself; its own output says more")


_ERRORS: Sequence[tuple[type[Exception], int, str | None]] = (
    (Underway, 409, None),
    (ProcessFailed, 503, None),
    (StoreError, 404, None),
    (ArenaError, 400, None),
    (BodyTooLong, 413, "the body is too long"),
    (TimeoutError, 408, "the body did not come in time"),
    (ProcessEnded, 499, "nobody waits for this any more"),
)
"""Status and message of an error, by the first type that fits; None is its own message."""
