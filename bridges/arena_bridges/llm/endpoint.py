"""An OpenAI-compatible address: one request, one answer, and who is to blame where there is none.

The standard library does: a connection for each request costs little beside what a model takes to answer.
"""

import json
import os
import ssl
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from threading import Lock
from time import monotonic, sleep, time
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from arena import ArenaError, BackendGone, Unavailable, __version__
from arena.errors import cut

KEY = "OPENAI_API_KEY"
CERTIFICATES = "SSL_CERT_FILE"
"""The environment variable by which OpenSSL is told of another file of authorities."""
WAIT = 60.0
"""Seconds that a run waits for a backend: for one answer, and in all where it gives none."""
CONNECT = 10.0
"""Seconds to wait for a connection."""
REFUSALS = 3
"""Connections in a row that may be refused before the first match."""
LONGEST = 8 << 20
"""Bytes of an answer."""
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may be answered a little later."""
HOPELESS = frozenset({401, 403, 404})
"""Statuses that no later request would change: a key or a model that is not accepted."""


class ErrorStatus(Exception):
    """The backend has answered with an error; `pause` is what it asks to wait, in seconds."""

    def __init__(self, status: int, told: str, pause: float | None) -> None:
        super().__init__(f"status {status}: {told}" if told else f"status {status}")
        self.status = status
        self.pause = pause


def address(url: str) -> SplitResult:
    """Return the parts of an address; ValueError for anything but `http://` or `https://` with a host."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"url: expected an address such as http://127.0.0.1:8000/v1, got {url!r}")
    if parts.port == 0:  # which is read here: ValueError for what is none
        raise ValueError(f"url: expected a port from 1 to 65535, got {url!r}")
    return parts


@cache
def endpoint(url: str) -> "Endpoint":
    """Return what this process knows of an address: all its agents share what they have heard of it."""
    return Endpoint(url)


class Endpoint:
    """An address that answers, or has not answered since some moment; safe for threads."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._parts = address(self.url)
        self._lock = Lock()
        self._tokens = "max_tokens"
        self._answered = 0.0
        self._silent: float | None = None
        """When the first request after the last answer was made that got none."""
        self._gone: str | None = None

    @property
    def loopback(self) -> bool:
        """Whether the address is of this machine."""
        host = self._parts.hostname or ""
        try:
            return host == "localhost" or ip_address(host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """ArenaError where it cannot be asked: no key, a certificate that is not valid, or no answer for WAIT seconds."""
        with self._lock:
            self._silent = self._gone = None
        self._check_key()
        until, refusals, pause = monotonic() + WAIT, 0, 1.0
        while True:
            try:
                self._exchange("GET", "/models", None, until)
                return
            except ErrorStatus as refused:
                if refused.status in (401, 403):
                    raise ArenaError(f"{self.url} does not accept the key in {KEY}: {refused}") from None
                if refused.status not in BUSY:  # it answers, and has no list of models
                    return
                why, pause = str(refused), refused.pause or pause
            except ssl.SSLCertVerificationError as error:
                advice = f"name the file of the authority that signed its certificate in {CERTIFICATES}, or correct the url"
                raise ArenaError(f"{self.url} does not prove that it is who it says: {_why(error)}; {advice}") from None
            except (OSError, HTTPException, ValueError) as error:
                why, refusals = _why(error), refusals + isinstance(error, ConnectionRefusedError)
            if refusals >= REFUSALS or monotonic() + pause >= until:
                raise ArenaError(f"{self.url} does not answer: {why}; is the server running, and the url right?")
            sleep(pause)

    def ask(self, body: Mapping[str, Any]) -> Any:
        """Return the answer to a chat completion, JSON of any shape; `tokens` becomes the most tokens of the answer.

        Busy backends are asked again within WAIT seconds. Unavailable where there is no answer, BackendGone where there was none
        for WAIT seconds or where the key or the model is not accepted.
        """
        if self._gone:
            raise BackendGone(self._gone)
        try:
            self._check_key()
        except ArenaError as error:
            raise BackendGone(str(error)) from None
        began = monotonic()
        pause = 1.0
        while True:
            try:
                answer = self._exchange("POST", "/chat/completions", self._body(body), began + WAIT)
            except ErrorStatus as refused:
                wait = pause if refused.pause is None else refused.pause
                if self._renamed(refused):
                    continue
                if refused.status not in BUSY or monotonic() + wait >= began + WAIT:
                    raise self._failed(str(refused), began, refused.status) from None
                sleep(wait)
                pause *= 2
            except (OSError, HTTPException, ValueError) as error:
                raise self._failed(_why(error), began) from None
            else:
                self._heard()
                return answer

    def _check_key(self) -> None:
        if not (self.loopback or os.environ.get(KEY)):
            raise ArenaError(f"{self.url} needs a key: set {KEY}; only an address of this machine does without one")

    def _body(self, body: Mapping[str, Any]) -> bytes:
        named = {self._tokens if name == "tokens" else name: value for name, value in body.items()}
        return json.dumps(named).encode()

    def _renamed(self, refused: ErrorStatus) -> bool:
        """Whether the backend wants another name for the most tokens of an answer, which it gets from now on."""
        if refused.status != 400 or self._tokens not in str(refused) or "max_completion_tokens" not in str(refused):
            return False
        before, self._tokens = self._tokens, "max_completion_tokens"
        return before != self._tokens

    def _heard(self) -> None:
        with self._lock:
            self._answered, self._silent = monotonic(), None

    def _failed(self, why: str, began: float, status: int = 0) -> Unavailable:
        message = f"{self.url}: {why}"
        now = monotonic()
        with self._lock:
            if self._silent is None:
                self._silent = max(began, self._answered)
            waited = now - self._silent
            if status not in HOPELESS and waited < WAIT * 0.95:  # the last request is a little shorter
                return Unavailable(message)
            self._gone = message if status in HOPELESS else f"{message}; no answer for {waited:.0f} s, it is not asked again"
            return BackendGone(self._gone)

    # One request

    def _exchange(self, method: str, path: str, body: bytes | None, until: float) -> Any:
        """Return the JSON of an answer. ErrorStatus, OSError, HTTPException or ValueError without one."""
        connection, target = self._connection()
        headers = {"Accept": "application/json", "Connection": "close", "User-Agent": f"gamearena/{__version__}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        try:
            connection.timeout = min(CONNECT, max(until - monotonic(), 0.1))
            connection.connect()
            connection.sock.settimeout(max(until - monotonic(), 0.1))
            sock = connection.sock
            connection.request(method, target + self._parts.path + path, body, headers)
            with connection.getresponse() as response:
                text = _read(response, sock, until)
        finally:
            connection.close()
        if response.status != 200:
            raise ErrorStatus(response.status, _told(text), _pause(response.headers.get("Retry-After")))
        return json.loads(text)

    def _connection(self) -> tuple[HTTPConnection, str]:
        """A connection that is not made yet, through a proxy where the environment names one, and what comes before a path."""
        host, port, tls = self._parts.hostname or "", self._parts.port, self._parts.scheme == "https"
        proxy = None if self.loopback or proxy_bypass(host) else getproxies().get(self._parts.scheme)
        through = None if proxy is None else urlsplit(proxy if "//" in proxy else f"//{proxy}")
        near, gate = (host, port) if through is None else (through.hostname or "", through.port)
        connection = HTTPSConnection(near, gate, context=self._tls) if tls else HTTPConnection(near, gate)
        if through is not None and tls:
            connection.set_tunnel(host, port)
        return connection, f"http://{self._parts.netloc}" if through is not None and not tls else ""

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()


def _read(response: HTTPResponse, sock: Any, until: float) -> bytes:
    """The whole body; TimeoutError where it is not there in time, ValueError where it is too long."""
    whole = bytearray()
    while not response.isclosed():
        left = until - monotonic()
        if left <= 0:
            raise TimeoutError
        sock.settimeout(left)
        part = response.read1(1 << 16)
        if not part:
            break
        whole += part
        if len(whole) > LONGEST:
            raise ValueError(f"an answer of more than {LONGEST:,} bytes")
    return bytes(whole)


def _why(error: Exception) -> str:
    """What went wrong, in a few words."""
    if isinstance(error, TimeoutError):
        return f"no whole answer in {WAIT:g} s"
    if isinstance(error, (HTTPException, json.JSONDecodeError)):
        return "the answer was cut off, or is none"
    return cut(str(error) or type(error).__name__, 200)


def _told(text: bytes) -> str:
    """The message of an error."""
    try:
        told = json.loads(text)
        error = told.get("error", told.get("message", told.get("detail", "")))
        words = str(error.get("message", "") if isinstance(error, dict) else error)
    except (ValueError, AttributeError):
        words = text.decode("utf-8", "replace")
    return cut(" ".join(words.split()), 200)


def _pause(header: str | None) -> float | None:
    """The seconds of a Retry-After, which is a number or a date; None without one that can be read."""
    if header is None:
        return None
    try:
        seconds = float(header) if header.strip().isdecimal() else parsedate_to_datetime(header).timestamp() - time()
    except (ValueError, TypeError):
        return None
    return max(seconds, 0.0)
