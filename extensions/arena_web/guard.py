"""Checks every request: its origin, its size and the rate. Adds headers to each answer that restrict the browser."""

import asyncio
import hmac
import socket
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena import ArenaError
from arena.api.games import read_digits
from arena.clock import monotonic
from arena_setup.hosts import is_loopback
from arena_web.error_answers import ErrorAnswers
from arena_web.errors import Refusal

MAX_HEAD_BYTES = 16 << 10
"""The maximum size of the address and all headers of a request together."""
MAX_HEADERS = 200
"""The maximum number of headers of a request. A browser sends about 20, and a proxy adds some."""
MAX_COOKIE_BYTES = 4 << 10
"""The maximum size of all cookies of a request together."""
MAX_JSON_BYTES = 512 << 10
"""The maximum body size of a request without a file."""
BODY_PART_SECONDS = 20.0
"""The timeout for each part of a body."""
BODY_SECONDS = 60.0
"""The timeout for a whole body. It prevents a client that sends single bytes from holding a connection for ever."""
FORM = "multipart/form-data"
"""The content type of a form with a file."""
MAX_DRAINED_BYTES = 64 << 20
"""The number of bytes of an oversized body that are still read and discarded, so that the sender receives the refusal."""
MAX_OPEN_REQUESTS = 120
"""The maximum number of concurrent requests from one address. It is below the maximum number of connections of the server, so
that one address cannot block the others.
"""
MAX_BUCKETS = 10_000
"""The maximum number of token buckets (see `RateLimits`). When there are more, the least recently used bucket is dropped."""
TOKEN_COOKIE_SECONDS = 365 * 24 * 3600
DEFAULT_PORTS = {"http": 80, "https": 443}
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
"""Headers that every answer has by default."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The rate limit for a kind of request: the burst size, and the number per second after a burst."""

    kind: str
    burst: float
    per_second: float


REQUESTS = Rate("requests", 400, 40)
"""The default rate for an address. A class of twenty students may share one address."""
OWN_PATHS = ("/api/", "/play", "/puzzles")
"""Path prefixes that a link on a page of another site cannot open: data, and pages that start agents as their address says."""
FREE_PATHS = ("/static/", "/modules/")
"""Path prefixes of files that are held in memory. Such requests do not count towards a rate, because a page loads
several files.
"""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits on the requests of one address and of each known client."""

    address: Rate = REQUESTS
    """The rate for an address; requests of known clients do not count."""
    client: Rate = REQUESTS
    """The rate for a known client, over all its addresses."""
    open: int = MAX_OPEN_REQUESTS
    """The maximum number of concurrent requests of one address."""


class RateLimits:
    """Token buckets, one for each author or address with recent requests. This class is not thread-safe."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, rate: Rate, who: str) -> None:
        """Count a request from an author or an address; raises Refusal 429 if there are too many."""
        now = monotonic()
        left, then = self._buckets.pop((rate.kind, who), (rate.burst, now))
        left = min(rate.burst, left + (now - then) * rate.per_second)
        self._buckets[rate.kind, who] = (max(left - 1, left if left < 1 else 0.0), now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        if left < 1:
            seconds = (1 - left) / rate.per_second
            raise Refusal(429, f"too many {rate.kind} in a short time", f"wait {ceil(seconds)} seconds", seconds)


DEFAULT_LIMITS = RequestLimits()


class Site:
    """The hosts and origins under which a server is reached, and the addresses of its clients."""

    def __init__(self, host: str, port: int, public: str | None = None) -> None:
        """Describe a server on `host` and `port`. `public` is the address of a proxy, as returned by `public_address`."""
        self._names, self._anywhere, self.port = names_of(host), is_wildcard(host), port
        self._public = public
        self.public_scheme, _, name = (public or "").partition("://")
        self._public_hosts = frozenset([name, f"{name}:{DEFAULT_PORTS[self.public_scheme]}"] if public else [])

    def is_public(self, host: str) -> bool:
        """Return True if a Host header names the proxy."""
        return host.lower() in self._public_hosts

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise Refusal 403 if Host or Origin does not name this server. This stops pages of other sites and DNS rebinding.

        A link on such a page may open a page of this server.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_own(host):
            hint = "use the address that it printed; a proxy in front of a ladder needs --public"
            raise Refusal(403, f"the host {host[:100]!r} is not this server", hint)
        only_own = "only pages of this server may send requests"
        if origin is not None and origin != self._public and (self.is_public(host) or origin != f"http://{host}"):
            raise Refusal(403, f"the origin {origin[:100]!r} is a different site", only_own)
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none") and not _follows_link(scope, headers):
            raise Refusal(403, "the request comes from a page of a different site", only_own)

    def client_address(self, scope: Scope, headers: Headers) -> str:
        """Return the client address that limits apply to. If a proxy on this machine sent the request, this is the last address
        that the proxy names.
        """
        client = scope.get("client")
        peer = counted_address(client[0] if client else "unknown")
        forwarded = ",".join(headers.getlist("x-forwarded-for")).rpartition(",")[2].strip()
        by_proxy = self._public is not None and is_address(peer) and ip_address(peer).is_loopback
        return counted_address(forwarded) if by_proxy and is_address(forwarded) else peer

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port or DEFAULT_PORTS["http"]
        except ValueError:
            return False
        if parts.path or parts.username is not None:
            return False
        own_name = name in self._names or (self._anywhere and is_address(name))
        return self.is_public(host) or (port == self.port and own_name)


class Guard:
    """Accepts a request only if it is meant for this server, does not come from a page of another site, and is within
    the limits.
    """

    def __init__(
        self,
        app: ASGIApp,
        site: Site,
        answers: ErrorAnswers,
        *,
        token: str | None = None,
        limits: RateLimits | None = None,
        max_body_bytes: int = MAX_JSON_BYTES,
        only_json: bool = True,
        requests: RequestLimits = DEFAULT_LIMITS,
        client_of: Callable[[str], str | None] = lambda _token: None,
    ) -> None:
        """Guard the application `app`.

        If `token` is given, every request needs it. `requests` contains the limits for each address, and `limits` counts the
        requests; without `limits`, their number is not limited. `client_of` maps a bearer token to a client name; a request
        with such a token counts for the client instead of the address. With `only_json`, requests that may change something
        are refused unless they are JSON, because a page of another site cannot send JSON without permission.
        """
        self._app, self._site, self._answers = app, site, answers
        self._token, self._limits = token, limits
        self._max_body_bytes, self._only_json = max_body_bytes, only_json
        self._requests, self._client_of = requests, client_of
        self._cookie = f"arena-{site.port}"
        self._own_cookie = f"{self._cookie}-own"
        """A cookie that a browser does not send if another site opened the address. Without HTTPS, the headers `Sec-Fetch-*` are
        missing, except on the machine of the server.
        """
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        if scope["type"] != "http":
            return
        headers = Headers(scope=scope)
        send = with_headers(send)
        address = scope["client_address"] = self._site.client_address(scope, headers)
        if self._site.is_public(headers.get("host", "")):
            scope["scheme"] = self._site.public_scheme
        self._open[address] += 1
        try:
            try:
                self._check(scope, headers)
            except Refusal as refusal:
                if refusal.status == 413:
                    await _drain(receive)
                answer = self._answers.json(refusal)
                if refusal.status == 400:  # the end of the request is ambiguous, so the bytes after it are not a request
                    answer.headers["connection"] = "close"
                await answer(scope, receive, send)
                return
            if self._token is not None and "token" in _query(scope):
                await self._keep_token(scope, receive, send)
                return
            if scope["method"] == "HEAD":  # the routes answer only GET; uvicorn leaves out the body
                scope = {**scope, "method": "GET"}
            kept = [pair for pair in scope["headers"] if pair[0] != b"cookie"]  # no route needs it, but FastAPI would parse it
            await self._app({**scope, "headers": kept}, self._limit(receive, self._body_limit(headers)), send)
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]

    def _check(self, scope: Scope, headers: Headers) -> None:
        """Raise Refusal if a request is not meant for this server, lacks the token, exceeds a limit, or has two lengths."""
        _check_head(scope)
        if "transfer-encoding" in headers and "content-length" in headers:
            raise Refusal(400, "expected content-length or transfer-encoding, got both")
        self._site.check(scope, headers)
        if self._limits is not None:
            address, rates = scope["client_address"], self._requests
            if not scope["path"].startswith(FREE_PATHS):
                word, _, bearer = headers.get("authorization", "").partition(" ")
                client = self._client_of(bearer.strip()) if word.lower() == "bearer" else None
                if client is None:
                    self._limits.take(rates.address, address)
                else:
                    self._limits.take(rates.client, f"client {client}")
            if self._open[address] > rates.open:
                raise Refusal(429, f"{rates.open} requests from this address are already open", "close some pages", 1.0)
        if self._token is not None:
            said, kept = _query(scope).get("token"), _cookie(headers, self._cookie)
            given = said or kept or headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), self._token.encode()):
                raise Refusal(401, "the token is missing or wrong", "open the address that arena serve printed")
            from_own = said or not kept or hmac.compare_digest(_cookie(headers, self._own_cookie).encode(), self._token.encode())
            if scope["path"].startswith(OWN_PATHS) and not from_own:
                raise Refusal(403, "a page of a different site opened this address", "open it from a page of this server")
        changes = scope["method"] not in ("GET", "HEAD")
        if self._only_json and changes and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refusal(415, "expected content-type application/json")
        length = read_digits(headers.get("content-length", "0"))
        if not changes and (length != 0 or "transfer-encoding" in headers):
            raise Refusal(400, f"expected no body with {scope['method']}", "leave the body out")
        if "transfer-encoding" in headers:  # the server does not parse it, see BoundedParser
            raise Refusal(411, "expected a body with content-length, got one in chunks", "send the length of the body")
        most = self._body_limit(headers)
        if length is None or length > most:
            raise Refusal(413, f"the body is larger than {most >> 10:,} KiB", "submit a smaller file")

    def _body_limit(self, headers: Headers) -> int:
        """Return the maximum body size of a request. Only a form can have a file; all other bodies are parsed at once."""
        is_form = headers.get("content-type", "").startswith(FORM)
        return self._max_body_bytes if is_form else min(self._max_body_bytes, MAX_JSON_BYTES)

    def _limit(self, receive: Receive, most: int) -> Receive:
        """Wrap `receive` so that it enforces the timeouts of a body and its maximum size, `most`."""
        taken, whole = 0, False
        until = monotonic() + BODY_SECONDS

        async def receive_limited() -> Message:
            nonlocal taken, whole
            # Once the body is complete, the next message is the end of the connection.
            seconds = None if whole else max(0.0, min(BODY_PART_SECONDS, until - monotonic()))
            try:
                async with asyncio.timeout(seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the request body did not arrive in time") from None
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > most:
                await _drain(receive)
                raise HTTPException(413, "the body is too long")
            return message

        return receive_limited

    async def _keep_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Store the token in cookies and redirect to the address without the token. So the token does not appear in histories
        and logs.

        A browser sends the first cookie when a link on a page of another site opens a page, and with no other request of that
        site. The second is sent only with requests of own pages, and with addresses that the user has typed.
        """
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + quote(scope["path"].lstrip("/"))  # one that begins with // or /\ would redirect to another server
        answer = Response(None, 303, {"location": f"{path}?{rest}" if rest else path})
        for name, site in ((self._cookie, "Lax"), (self._own_cookie, "Strict")):
            cookie = f"{name}={self._token}; Path=/; Max-Age={TOKEN_COOKIE_SECONDS}; HttpOnly; SameSite={site}"
            answer.headers.append("set-cookie", cookie)
        await answer(scope, receive, send)


def public_address(url: str) -> str:
    """Return the address of a proxy as browsers write it, without the default port of its scheme; raises ArenaError if it is
    invalid.
    """
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        name = port = None
    more = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None if name else True
    if not name or parts.scheme not in DEFAULT_PORTS or more:
        raise ArenaError(f"--public {url}: expected only a scheme and a host, such as https://arena.example.org")
    shown = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{shown}" + ("" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}")


def names_of(host: str) -> frozenset[str]:
    """Return the host names under which a browser may reach a server on this interface."""
    names = {host.strip("[]").lower()}
    if is_wildcard(host) or is_loopback(host):
        names |= {"localhost", "127.0.0.1", "::1"}
    if not is_loopback(host):
        names.add(socket.gethostname().lower())
    return frozenset(names)


def is_wildcard(host: str) -> bool:
    """Return True if an address stands for all interfaces."""
    try:
        return ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return not host


def is_address(name: str) -> bool:
    """Return True if a name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def counted_address(address: str) -> str:
    """Return the key under which the limits count an address: the address itself, or its /64 network for IPv6, because a single
    host may have a whole /64 network.
    """
    if not is_address(address) or not isinstance(found := ip_address(address), IPv6Address) or found.is_loopback:
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


def with_headers(send: Send) -> Send:
    """Wrap `send` so that each answer gets the default HEADERS, except those that it sets itself."""

    async def send_with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def _follows_link(scope: Scope, headers: Headers) -> bool:
    """Return True if a browser opens a page in a tab of its own, where the page with the link can neither read nor frame it."""
    opened = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    return opened and scope["method"] in ("GET", "HEAD") and not scope["path"].startswith(OWN_PATHS)


def _query(scope: Scope) -> dict[str, str]:
    return dict(parse_qsl(scope["query_string"].decode("latin-1")))


def _check_head(scope: Scope) -> None:
    """Raise Refusal 431 if the head of a request is too long. Libraries may take a time that grows faster than its length."""
    headers = scope["headers"]
    if len(headers) > MAX_HEADERS:
        raise Refusal(431, f"the request has {len(headers):,} headers; expected at most {MAX_HEADERS}", "send fewer headers")
    cookies = sum([len(value) for name, value in headers if name == b"cookie"])
    if cookies > MAX_COOKIE_BYTES:
        hint = "delete the cookies of this host in your browser"
        raise Refusal(431, f"the cookies have {cookies:,} bytes; expected at most {MAX_COOKIE_BYTES:,}", hint)
    size = len(scope["raw_path"]) + len(scope["query_string"]) + sum([len(name) + len(value) for name, value in headers])
    if size > MAX_HEAD_BYTES:
        message = f"the address and the headers have {size:,} bytes; expected at most {MAX_HEAD_BYTES:,}"
        raise Refusal(431, message, "send a shorter address or fewer headers")


def _cookie(headers: Headers, name: str) -> str:
    """Return the value of a cookie; empty if there is none. A quoted value stays quoted, because reading quotes takes long."""
    pairs = [pair.partition("=") for header in headers.getlist("cookie") for pair in header.split(";")]
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


async def _drain(receive: Receive) -> None:
    """Read and discard a body, up to MAX_DRAINED_BYTES."""
    dropped, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_PART_SECONDS):
            while more and dropped < MAX_DRAINED_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                more = message.get("more_body", False)
