"""Checks before every request: who may ask, how much they may send, and what a browser may do with the answer."""

import asyncio
import hmac
import socket
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 512 << 10
"""Bytes of a request's body."""
BODY_SECONDS = 20.0
"""For each part of a body."""
YEAR = 365 * 24 * 3600
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}


def _refusal(status: int, message: str) -> Response:
    """An answer that says no, and why."""
    return JSONResponse({"error": message}, status)


class Guard:
    """Lets through what comes from this machine's own pages, or with the token where there is one."""

    def __init__(self, app: ASGIApp, host: str, port: int, token: str | None) -> None:
        self._app = app
        self._port = port
        self._names = names_of(host)
        self._anywhere = is_wildcard(host)
        self._token = token
        self._cookie = f"arena-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answered = with_headers(send)
        refused = self._foreign(headers) or self._unknown(scope, headers) or _wrong_form(scope, headers)
        if refused is not None:
            await refused(scope, receive, answered)
            return
        if self._token is not None and "token" in dict(parse_qsl(scope["query_string"].decode("latin-1"))):
            await self._let_in(scope, receive, answered)
            return
        await self._app(scope, _limited(receive), answered)

    def _foreign(self, headers: Headers) -> Response | None:
        """403 if the Host or an Origin is not this server: another site's page, or a name that points here (DNS rebinding)."""
        host = headers.get("host", "")
        if not self._is_own(host):
            return _refusal(403, f"Host {host[:100]!r} is not this server; use the address that it printed")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refusal(403, f"Origin {origin[:100]!r} is another site; only pages of this server may ask")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return _refusal(403, "only pages of this server may ask")
        return None

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port or 80
        except ValueError:
            return False
        if port != self._port or parts.path or parts.username is not None:
            return False
        return name in self._names or (self._anywhere and is_address(name))

    def _unknown(self, scope: Scope, headers: Headers) -> Response | None:
        """401 without the token, if there is one."""
        if self._token is None:
            return None
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token") or _cookie(headers, self._cookie)
        given = given or headers.get("authorization", "").removeprefix("Bearer ")
        if hmac.compare_digest(given.encode(), self._token.encode()):
            return None
        return _refusal(401, "the token is missing or wrong; open the address that arena serve printed")

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep the token in a cookie and redirect to the address without it, so that it stays out of histories and logs."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # a path that begins with // would lead to another server
        cookie = f"{self._cookie}={self._token}; Path=/; Max-Age={YEAR}; HttpOnly; SameSite=Strict"
        headers = {"location": f"{path}?{rest}" if rest else path, "set-cookie": cookie}
        await Response(None, 303, headers)(scope, receive, send)


def names_of(host: str) -> frozenset[str]:
    """The names by which a browser may call a server on this interface."""
    names = {host.strip("[]").lower()}
    if is_wildcard(host) or is_loopback(host):
        names |= {"localhost", "127.0.0.1", "::1"}
    if not is_loopback(host):
        names.add(socket.gethostname().lower())
    return frozenset(names)


def is_loopback(host: str) -> bool:
    """True if only this machine reaches an interface."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """True if an address stands for all interfaces."""
    try:
        return ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host


def is_address(name: str) -> bool:
    """Tell whether a name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _wrong_form(scope: Scope, headers: Headers) -> Response | None:
    """415 or 413 unless what may change something is JSON, which no page of another site can send unasked, and short."""
    if scope["method"] in ("GET", "HEAD"):
        return None
    if headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        return _refusal(415, "expected content-type application/json")
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST_BODY:
        return _refusal(413, f"expected a body of at most {LARGEST_BODY:,} bytes")
    return None


class BodyTooLong(Exception):
    """A body went on beyond what it may have."""


def _limited(receive: Receive) -> Receive:
    """The messages of a request, as long as its body stays within bounds and comes in time."""
    taken, whole = 0, False

    async def limited() -> Message:
        nonlocal taken, whole
        async with asyncio.timeout(None if whole else BODY_SECONDS):  # once it is whole, what comes is the end of the connection
            message = await receive()
        whole = not message.get("more_body", False)
        taken += len(message.get("body", b""))
        if taken > LARGEST_BODY:
            raise BodyTooLong
        return message

    return limited


def with_headers(send: Send) -> Callable[[Any], Awaitable[None]]:
    """Return what sends an answer with HEADERS, those that it has itself first."""

    async def answered(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return answered
