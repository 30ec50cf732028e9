"""Checks before every request to a ladder: for which host, from which page, from which address, and with how large a body."""

import asyncio
from collections import Counter
from contextlib import suppress
from ipaddress import IPv6Address, ip_address
from time import monotonic
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.errors import ArenaError
from arena.ladder.ledger import Refusal
from arena.ladder.rate_limits import PAGES, RateLimits
from arena.web.guard import BODY_SECONDS, BodyTooLong, is_address, is_wildcard, names_of, with_headers

MULTIPART = 64 << 10
"""Bytes of a request beside the file that it hands in."""
FORWARDED = "x-forwarded-for"
PORTS = {"http": 80, "https": 443}
WHOLE_BODY_SECONDS = 60.0
"""For a whole body: who sends a byte now and then does not hold a connection for ever."""
MOST_OPEN = 120
"""Requests of one address that are answered at a time, below the connections of the server, so that it shuts out nobody else."""
DRAINED = 64 << 20
"""Bytes of a body that is too long that are read and dropped, so that its sender reads why it is not taken."""


def public_address(url: str) -> str:
    """Return the address of a proxy as browsers write it, without the port of its scheme; ArenaError where it is none."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname, parts.port
    except ValueError:
        name = port = None
    if (
        not name
        or parts.scheme not in PORTS
        or parts.path.strip("/")
        or parts.query
        or parts.fragment
        or parts.username is not None
    ):
        raise ArenaError(f"--public {url}: expected scheme and host alone, such as https://arena.example.org")
    shown = f"[{name}]" if ":" in name else name
    return f"{parts.scheme}://{shown}" + ("" if port in (None, PORTS[parts.scheme]) else f":{port}")


def refused(refusal: Refusal) -> Response:
    """The answer to what is not taken: why, and what to do."""
    headers = {"www-authenticate": "Bearer"} if refusal.status == 401 else {}
    return JSONResponse({"error": str(refusal), "hint": refusal.hint}, refusal.status, headers)


class Gate:
    """Lets requests through that are for this ladder, from its own pages or from no page at all, and not too many."""

    def __init__(self, app: ASGIApp, host: str, port: int, public: str | None, limits: RateLimits, largest: int) -> None:
        """Serve on `host` and `port`; `public` is the address of a proxy, by public_address, `largest` the bytes of a file."""
        self._app = app
        self._names, self._anywhere, self._port = names_of(host), is_wildcard(host), port
        self._public = public
        self._scheme, _, name = (public or "").partition("://")
        self._public_hosts = frozenset([name, f"{name}:{PORTS[self._scheme]}"] if public else [])
        self._limits = limits
        self._largest = largest + MULTIPART
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answered = with_headers(send)
        if self._is_public(headers.get("host", "")):
            scope["scheme"] = self._scheme
        who = scope["client_address"] = self._address(scope, headers)
        self._open[who] += 1
        try:
            self._check(scope, headers)
            await self._app(scope, self._limited(receive), answered)
        except Refusal as refusal:
            if refusal.status == 413:
                await _drained(receive)
            await refused(refusal)(scope, receive, answered)
        finally:
            self._open[who] -= 1
            if not self._open[who]:
                del self._open[who]

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host", "")
        if not self._is_own(host):
            raise Refusal(403, f"Host {host[:100]!r} is not this ladder", "use its own address; a proxy needs --public")
        origin = headers.get("origin")
        if origin is not None and not self._is_own_origin(origin, host):
            raise Refusal(403, f"Origin {origin[:100]!r} is another site", "only pages of this ladder may ask")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refusal(403, "the request comes from a page of another site", "only pages of this ladder may ask")
        self._limits.take(PAGES, scope["client_address"])
        if self._open[scope["client_address"]] > MOST_OPEN:
            raise Refusal(429, f"{MOST_OPEN} requests of this address are open already", "close some pages")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._largest:
            raise Refusal(413, f"the body is larger than {self._largest >> 10:,} KiB", "hand in less")

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if parts.path or parts.username is not None:
            return False
        if self._is_public(host):
            return True
        return (port or 80) == self._port and (name in self._names or (self._anywhere and is_address(name)))

    def _is_own_origin(self, origin: str, host: str) -> bool:
        return origin == self._public or (not self._is_public(host) and origin == f"http://{host}")

    def _is_public(self, host: str) -> bool:
        return host.lower() in self._public_hosts

    def _address(self, scope: Scope, headers: Headers) -> str:
        """Who asks: behind a proxy of this machine, the last one that it names, whatever came before that."""
        client = scope.get("client")
        peer = counted_as(client[0] if client else "unknown")
        told = ",".join(headers.getlist(FORWARDED)).rpartition(",")[2].strip()
        from_here = is_address(peer) and ip_address(peer).is_loopback
        return counted_as(told) if self._public is not None and from_here and is_address(told) else peer

    def _limited(self, receive: Receive) -> Receive:
        taken, whole = 0, False
        until = monotonic() + WHOLE_BODY_SECONDS

        async def limited() -> Message:
            nonlocal taken, whole
            async with asyncio.timeout(None if whole else max(0.0, min(BODY_SECONDS, until - monotonic()))):
                message = await receive()
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > self._largest:
                await _drained(receive)
                raise BodyTooLong
            return message

        return limited


def counted_as(address: str) -> str:
    """Return whom the limits count for an address: of IPv6 its network of 64 bits, since a single host has all of that."""
    if not is_address(address) or not isinstance(found := ip_address(address), IPv6Address) or found.is_loopback:
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


async def _drained(receive: Receive) -> None:
    """Read a body to its end and keep nothing of it, as far as DRAINED goes."""
    dropped, more = 0, True
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_SECONDS):
            while more and dropped < DRAINED:
                message = await receive()
                dropped += len(message.get("body", b""))
                more = message.get("more_body", False)
