"""Checks before every request: who may ask, how much and how often, and what a browser may do with the answer."""

import asyncio
import hmac
import socket
from collections import Counter, OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import IPv6Address, ip_address
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena import ArenaError
from arena_web.error_answers import ErrorAnswers
from arena_web.errors import Refusal

MAX_JSON_BYTES = 512 << 10
"""Of the body of a request that brings no file."""
BODY_PART_SECONDS = 20.0
"""For each part of a body."""
BODY_SECONDS = 60.0
"""For a whole body: a client that sends a byte now and then does not hold a connection for ever."""
MAX_DRAINED_BYTES = 64 << 20
"""Bytes of a body that is too long that are read and dropped, so that its sender reads why it is refused."""
MAX_OPEN_REQUESTS = 120
"""Requests of one address that are answered at a time, below the connections of the server, so that it shuts out nobody else."""
MAX_BUCKETS = 10_000
"""Buckets that are kept; the one that was not asked for longest goes."""
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
"""Headers of every answer that does not set them itself."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many requests of a kind may come at once, and how many a second after that."""

    kind: str
    burst: float
    per_second: float


REQUESTS = Rate("requests", 400, 40)
"""Of an address: a class of twenty may sit behind one."""


class RateLimits:
    """A bucket of tokens for each author and each address that has asked lately. Not for several threads."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[tuple[str, str], tuple[float, float]] = OrderedDict()

    def take(self, rate: Rate, who: str) -> None:
        """Count a request of an author or an address; Refusal 429 if there were too many."""
        now = monotonic()
        left, then = self._buckets.pop((rate.kind, who), (rate.burst, now))
        left = min(rate.burst, left + (now - then) * rate.per_second)
        self._buckets[rate.kind, who] = (max(left - 1, left if left < 1 else 0.0), now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        if left < 1:
            seconds = (1 - left) / rate.per_second
            raise Refusal(429, f"too many {rate.kind} in a short time", f"wait {seconds:.0f} seconds")


class Site:
    """The addresses of a server: which hosts and origins are its own, and which client sends a request."""

    def __init__(self, host: str, port: int, public: str | None = None) -> None:
        """Serve on `host` and `port`; `public` is the address of a proxy, by `public_address`."""
        self._names, self._anywhere, self.port = names_of(host), is_wildcard(host), port
        self._public = public
        self.public_scheme, _, name = (public or "").partition("://")
        self._public_hosts = frozenset([name, f"{name}:{DEFAULT_PORTS[self.public_scheme]}"] if public else [])

    def is_public(self, host: str) -> bool:
        """True if a Host is that of the proxy."""
        return host.lower() in self._public_hosts

    def check(self, headers: Headers) -> None:
        """Refusal 403 if the Host or an Origin is not this server: another site's page, or DNS rebinding."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._is_own(host):
            hint = "use the address that it printed; a proxy before a ladder needs --public"
            raise Refusal(403, f"Host {host[:100]!r} is not this server", hint)
        only_own = "only pages of this server may ask"
        if origin is not None and origin != self._public and (self.is_public(host) or origin != f"http://{host}"):
            raise Refusal(403, f"Origin {origin[:100]!r} is another site", only_own)
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refusal(403, "the request comes from a page of another site", only_own)

    def client_address(self, scope: Scope, headers: Headers) -> str:
        """Return the address that the limits count; behind a proxy of this machine the last one that it names."""
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
    """Lets a request through if it is meant for this server, comes from its own pages or from none, and is not too much."""

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
    ) -> None:
        """Guard `app`.

        `token` is needed by every request if there is one; `limits` count the requests of each address; `only_json` refuses
        requests that may change something and are not JSON, which no page of another site can send unasked.
        """
        self._app, self._site, self._answers = app, site, answers
        self._token, self._limits = token, limits
        self._max_body_bytes, self._only_json = max_body_bytes, only_json
        self._cookie = f"arena-{site.port}"
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
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
            await self._answer(scope, headers, receive, send)
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        try:
            self._site.check(headers)
            self._check_rate(scope["client_address"])
            self._check_token(scope, headers)
            self._check_body(scope, headers)
        except Refusal as refusal:
            if refusal.status == 413:
                await _drain(receive)
            await self._answers.json(refusal)(scope, receive, send)
            return
        if self._token is not None and "token" in _query(scope):
            await self._keep_token(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # FastAPI answers GET alone; uvicorn sends no body
            scope = {**scope, "method": "GET"}
        await self._app(scope, self._limit(receive), send)

    def _check_rate(self, address: str) -> None:
        if self._limits is None:
            return
        self._limits.take(REQUESTS, address)
        if self._open[address] > MAX_OPEN_REQUESTS:
            raise Refusal(429, f"{MAX_OPEN_REQUESTS} requests of this address are open already", "close some pages")

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        if self._token is None:
            return
        given = _query(scope).get("token") or _cookie(headers, self._cookie)
        given = given or headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            raise Refusal(401, "the token is missing or wrong", "open the address that arena serve printed")

    def _check_body(self, scope: Scope, headers: Headers) -> None:
        changes = scope["method"] not in ("GET", "HEAD")
        if self._only_json and changes and headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refusal(415, "expected content-type application/json")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._max_body_bytes:
            raise Refusal(413, f"the body is larger than {self._max_body_bytes >> 10:,} KiB", "hand in less")

    def _limit(self, receive: Receive) -> Receive:
        """Return what receives the body of a request as long as it stays within bounds and comes in time."""
        taken, whole = 0, False
        until = monotonic() + BODY_SECONDS

        async def receive_limited() -> Message:
            nonlocal taken, whole
            # Once the body is whole, the next message is the end of the connection.
            seconds = None if whole else max(0.0, min(BODY_PART_SECONDS, until - monotonic()))
            try:
                async with asyncio.timeout(seconds):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body did not come in time") from None
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > self._max_body_bytes:
                await _drain(receive)
                raise HTTPException(413, "the body is too long")
            return message

        return receive_limited

    async def _keep_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep the token in a cookie and redirect to the address without it, so that it stays out of histories and logs."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in pairs if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # a path that begins with // would lead to another server
        cookie = f"{self._cookie}={self._token}; Path=/; Max-Age={TOKEN_COOKIE_SECONDS}; HttpOnly; SameSite=Strict"
        headers = {"location": f"{path}?{rest}" if rest else path, "set-cookie": cookie}
        await Response(None, 303, headers)(scope, receive, send)


def public_address(url: str) -> str:
    """Return the address of a proxy as browsers write it, without the port of its scheme; ArenaError if it is none."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        name = port = None
    more = parts.path.strip("/") or parts.query or parts.fragment or parts.username is not None if name else True
    if not name or parts.scheme not in DEFAULT_PORTS or more:
        raise ArenaError(f"--public {url}: expected scheme and host alone, such as https://arena.example.org")
    shown = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{shown}" + ("" if port in (None, DEFAULT_PORTS[parts.scheme]) else f":{port}")


def names_of(host: str) -> frozenset[str]:
    """Return the names by which a browser may call a server on this interface."""
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
    """True if a name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def counted_address(address: str) -> str:
    """Return what the limits count for an address: of IPv6 its network of 64 bits, since a single host has all of that."""
    if not is_address(address) or not isinstance(found := ip_address(address), IPv6Address) or found.is_loopback:
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


def with_headers(send: Send) -> Send:
    """Return what sends an answer with HEADERS, unless it has set them itself."""

    async def send_with_headers(message: Any) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers


def _query(scope: Scope) -> dict[str, str]:
    return dict(parse_qsl(scope["query_string"].decode("latin-1")))


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


async def _drain(receive: Receive) -> None:
    """Read a body to its end and keep nothing of it, as far as MAX_DRAINED_BYTES goes."""
    dropped, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_PART_SECONDS):
            while more and dropped < MAX_DRAINED_BYTES:
                message = await receive()
                dropped += len(message.get("body", b""))
                more = message.get("more_body", False)
