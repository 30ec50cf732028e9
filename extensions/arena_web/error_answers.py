"""Answers to failed requests: an HTML page if a browser asks for one, otherwise JSON."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from arena import ArenaError
from arena.api.errors import StoreError
from arena.api.spec import explain_faults, format_path
from arena_web.errors import BadRequest, Refusal
from arena_web.pages import Navigation, fault_page
from arena_web.plugin_process import Busy, ProcessEnded, ProcessFailed

_STATUSES: Sequence[tuple[type[Exception], int]] = (
    (Busy, 429),
    (ProcessFailed, 503),
    (StoreError, 404),
    (ArenaError, 400),
)
"""The HTTP status for each type of error; the first matching type decides."""
_OWN_WORDS = {
    "Not Found": "this address does not exist",
    "There was an error parsing the body": "expected JSON",
    "JSON decode error": "expected JSON",
}
"""Messages of Starlette and FastAPI, each with the text that is shown in its place."""


def refusal_of(error: Exception) -> Refusal:
    """Return the refusal with which the server answers an error."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        return BadRequest(*faults_of(error))
    if isinstance(error, HTTPException):
        return Refusal(error.status_code, _OWN_WORDS.get(error.detail, error.detail))
    if isinstance(error, (ProcessEnded, ClientDisconnect)):
        return Refusal(499, "the request was cancelled")
    for kind, status in _STATUSES:
        if isinstance(error, kind):
            return Refusal(status, str(error))
    return Refusal(500, "an internal error of arena; the output of the server shows the details")


def faults_of(error: RequestValidationError) -> list[str]:
    """Return all faults in the body of a request, each with its place."""
    details = error.errors()
    if details[0]["msg"] in _OWN_WORDS:
        return [_OWN_WORDS[details[0]["msg"]]]
    inside = [{**detail, "loc": detail["loc"][1:]} for detail in details]  # the first part is always "body"
    return [
        f"{format_path(where) if where else 'the request'}: {message}" for where, message in explain_faults(inside, error.body)
    ]


class AsciiJson(JSONResponse):
    """JSON in pure ASCII, because an agent may write half of a surrogate pair, which cannot be encoded in UTF-8."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class ErrorAnswers:
    """The answers that one server gives to failed requests."""

    pages: Navigation
    refusal_of: Callable[[Exception], Refusal] = refusal_of
    hints: bool = False
    """True if the hint gets its own JSON key; otherwise it is appended to the message."""

    @property
    def handlers(self) -> dict[Any, Any]:
        """Return the exception handlers. If an error fits only the handler of `Exception`, Starlette also logs a traceback."""
        kinds = (HTTPException, RequestValidationError, ArenaError, TimeoutError, ProcessEnded, ClientDisconnect, Exception)
        return dict.fromkeys(kinds, self.answer)

    async def answer(self, request: Request, error: Exception) -> Response:
        """Answer a failed request."""
        refusal = self.refusal_of(error)
        if "text/html" in request.headers.get("accept", ""):
            title = "Not found" if refusal.status == 404 else "The request failed"
            return HTMLResponse(fault_page(title, _with_hint(refusal), self.pages), refusal.status, _headers(refusal, error))
        return self.json(refusal, error)

    def json(self, refusal: Refusal, error: Exception | None = None) -> Response:
        """Return a refusal as JSON."""
        told: dict[str, Any] = {"error": str(refusal) if self.hints else _with_hint(refusal)}
        if self.hints:
            told["hint"] = refusal.hint
        elif refusal.faults:
            told["faults"] = list(refusal.faults)
        return AsciiJson(told, refusal.status, _headers(refusal, error))


def _with_hint(refusal: Refusal) -> str:
    return f"{refusal}; {refusal.hint}" if refusal.hint else str(refusal)


def _headers(refusal: Refusal, error: Exception | None) -> dict[str, str]:
    if refusal.status == 401:
        return {"www-authenticate": "Bearer"}
    seconds = 1.0 if isinstance(error, Busy) else refusal.retry_after
    return {} if seconds is None else {"retry-after": str(max(1, ceil(seconds)))}
