"""An OpenAI-compatible address: one request, one answer, and the reason if there is none.

The standard library is sufficient: a connection for each request costs little compared with the time of a model's answer.
"""

import json
import os
import ssl
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from math import inf
from threading import Lock
from time import monotonic, sleep, time
from typing import Any, TypeVar
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from arena import ArenaError, BackendGone, Unavailable, __version__
from arena.api.cli import distribution
from arena.api.errors import cut

DEFAULT_KEY = "OPENAI_API_KEY"
"""The default environment variable of the key, for addresses of other machines."""
LATER_TOKENS = "max_completion_tokens"
"""The parameter for the maximum number of tokens in newer models."""
CERTIFICATES = "SSL_CERT_FILE"
"""The environment variable of OpenSSL for another file of certificate authorities."""
WAIT_SECONDS = 60.0
"""Seconds for retries of a request, and the maximum silence of a backend before it is given up."""
CONNECT_SECONDS = 10.0
"""The timeout of a connection."""
FIRST_PAUSE_SECONDS = 1.0
"""The time before the first retry. It doubles with each retry up to LAST_PAUSE_SECONDS."""
LAST_PAUSE_SECONDS = 8.0
MAX_REFUSALS = 3
"""The maximum number of retries of a refused request; before the first match, of refused connections."""
MAX_ANSWER_BYTES = 8 << 20
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})
"""Statuses after which a retry may succeed."""
HOPELESS = frozenset({401, 403, 404})
"""Statuses after which no retry can succeed: the key or the model is not accepted."""


Answer = TypeVar("Answer")


class ErrorStatus(Exception):
    """The backend has answered with an error; `pause` is the requested waiting time in seconds."""

    def __init__(self, status: int, told: str, pause: float | None) -> None:
        super().__init__(f"status {status}: {told}" if told else f"status {status}")
        self.status = status
        self.pause = pause


def address(url: str) -> SplitResult:
    """Return the parts of an address; raises ValueError for anything but `http://` or `https://` with a host."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"url: expected an address such as http://127.0.0.1:8000/v1, got {url!r}")
    if parts.port == 0:  # which is read here: ValueError for what is none
        raise ValueError(f"url: expected a port from 1 to 65535, got {url!r}")
    return parts


def is_loopback(parts: SplitResult) -> bool:
    """Return whether an address is of this machine."""
    host = parts.hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@cache
def endpoint(url: str, key: str | None = None) -> "Endpoint":
    """Return the endpoint of an address, which all agents of this process share."""
    return Endpoint(url, key)


class Endpoint:
    """An address and the time since which it has not answered. It is thread-safe."""

    def __init__(self, url: str, key: str | None = None) -> None:
        """Take the address, and the name of the environment variable with its key.

        Without a name the key is in DEFAULT_KEY, but an address of this machine gets none, because any user may run that server.
        """
        self.url = url.rstrip("/")
        self._parts = address(self.url)
        self._key = DEFAULT_KEY if key is None and not is_loopback(self._parts) else key
        self._tls = ssl.create_default_context() if self._parts.scheme == "https" else None
        self._lock = Lock()
        self._tokens = "max_tokens"
        """The parameter for the maximum number of tokens."""
        self._answered = 0.0
        self._silent: float | None = None
        """The time of the first unanswered request after the last answer."""
        self._gone: str | None = None

    def check(self) -> None:
        """Raise ArenaError if it is not usable: no key, an invalid certificate, or no answer for WAIT_SECONDS."""
        with self._lock:
            self._silent = self._gone = None
        self._check_key()
        until, refusals, pause = monotonic() + WAIT_SECONDS, 0, FIRST_PAUSE_SECONDS
        while True:
            try:
                self._exchange("GET", "/models", None, until)
                return
            except ErrorStatus as refused:
                if refused.status in (401, 403):
                    given = f"the key in {self._key}"
                    if self._key is None:
                        given = "a request without a key; key_env: NAME in the entry gives one"
                    raise ArenaError(f"{self.url} does not accept {given}: {refused}") from None
                if refused.status not in BUSY:  # it answers, and has no list of models
                    return
                why, pause = str(refused), refused.pause or pause
            except ssl.SSLCertVerificationError as error:
                advice = f"name the file of the authority that signed its certificate in {CERTIFICATES}, or correct the url"
                raise ArenaError(f"{self.url} does not prove that it is who it says: {_describe(error)}; {advice}") from None
            except (OSError, HTTPException, ValueError) as error:
                why, refusals = _describe(error), refusals + isinstance(error, ConnectionRefusedError)
            if refusals >= MAX_REFUSALS or monotonic() + pause >= until:
                raise ArenaError(f"{self.url} does not answer: {why}; is the server running, and the url right?")
            sleep(pause)

    def ask(self, body: Mapping[str, Any], read: Callable[[Any], Answer]) -> Answer:
        """Return the answer to a chat completion, parsed by `read`; `tokens` is the maximum number of tokens of the answer.

        An unanswered request is retried for WAIT_SECONDS. `read` raises ValueError for an invalid answer. Raises Unavailable if
        there is no answer, and BackendGone if no agent has had one for WAIT_SECONDS, or if the backend does not accept the key or
        the model.
        """
        try:
            self._check_key()
        except ArenaError as error:
            raise BackendGone(str(error)) from None
        began, pause, refusals = monotonic(), FIRST_PAUSE_SECONDS, 0
        while True:
            if self._gone:
                raise BackendGone(self._gone)
            wait = pause
            try:
                named = {self._tokens if name == "tokens" else name: value for name, value in body.items()}
                answer = read(self._exchange("POST", "/chat/completions", json.dumps(named).encode(), began + WAIT_SECONDS))
            except ErrorStatus as refused:
                names = (self._tokens, LATER_TOKENS)  # a backend that requires the other name gets it from now on
                if refused.status == 400 and names[0] != names[1] and all(name in str(refused) for name in names):
                    self._tokens = LATER_TOKENS
                    continue
                if refused.status in HOPELESS:
                    wait = inf
                why, wait, refusals = str(refused), max(wait, refused.pause or 0.0), refusals + (refused.status not in BUSY)
            except (OSError, HTTPException, ValueError) as error:
                why, refusals = _describe(error), refusals + isinstance(error, ssl.SSLCertVerificationError)
            else:
                with self._lock:
                    self._answered, self._silent = monotonic(), None
                return answer
            if refusals > MAX_REFUSALS or monotonic() + wait >= began + WAIT_SECONDS:
                raise self._fail(why, began, wait)
            sleep(wait)
            pause = min(2 * pause, LAST_PAUSE_SECONDS)

    def _check_key(self) -> None:
        if self._key is not None and not os.environ.get(self._key):
            raise ArenaError(f"{self.url} needs a key: set {self._key}; only an address of this machine does without one")

    def _fail(self, why: str, began: float, wait: float) -> Unavailable:
        """Return the error of a request that began at some time, and could be repeated after `wait` seconds."""
        message = f"{self.url}: {why}"
        now = monotonic()
        with self._lock:
            if self._silent is None:
                self._silent = max(began, self._answered)
            silence = now - self._silent
            if silence + wait < WAIT_SECONDS:
                return Unavailable(message)
            reason = "" if wait == inf else f"; not asked again in this run, after {silence:.0f} s without an answer"
            self._gone = message + reason
            return BackendGone(self._gone)

    # One request

    def _exchange(self, method: str, path: str, body: bytes | None, until: float) -> Any:
        """Return the JSON of an answer. Raises ErrorStatus, OSError, HTTPException or ValueError without one."""
        host, port, tls = self._parts.hostname or "", self._parts.port, self._tls
        proxy = None if is_loopback(self._parts) or proxy_bypass(host) else getproxies().get(self._parts.scheme)
        through = None if proxy is None else urlsplit(proxy if "//" in proxy else f"//{proxy}")
        near, gate = (host, port) if through is None else (through.hostname or "", through.port)
        connection = HTTPConnection(near, gate) if tls is None else HTTPSConnection(near, gate, context=tls)
        if through is not None and tls is not None:
            connection.set_tunnel(host, port)
        target = f"http://{self._parts.netloc}" if through is not None and tls is None else ""  # what comes before the path
        headers = {"Accept": "application/json", "Connection": "close", "User-Agent": f"{distribution()}/{__version__}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None and (key := os.environ.get(self._key)):
            headers["Authorization"] = f"Bearer {key}"
        try:
            connection.timeout = min(CONNECT_SECONDS, max(until - monotonic(), 0.1))
            connection.connect()
            connection.sock.settimeout(max(until - monotonic(), 0.1))
            sock = connection.sock
            connection.request(method, target + self._parts.path + path, body, headers)
            with connection.getresponse() as response:
                text = _read(response, sock, until)
        finally:
            connection.close()
        if response.status != 200:
            raise ErrorStatus(response.status, _read_message(text), _read_pause(response.headers.get("Retry-After")))
        return json.loads(text)


def _read(response: HTTPResponse, sock: Any, until: float) -> bytes:
    """The whole body; raises TimeoutError if it is late, ValueError if it is too long."""
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
        if len(whole) > MAX_ANSWER_BYTES:
            raise ValueError(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes")
    return bytes(whole)


def _describe(error: Exception) -> str:
    """The error in a few words."""
    if isinstance(error, TimeoutError):
        return f"no whole answer in {WAIT_SECONDS:g} s"
    if isinstance(error, (HTTPException, json.JSONDecodeError)):
        return "the answer was cut off, or is none"
    return cut(str(error) or type(error).__name__, 200)


def _read_message(text: bytes) -> str:
    """The message of an error."""
    try:
        told = json.loads(text)
        error = told.get("error", told.get("message", told.get("detail", "")))
        words = str(error.get("message", "") if isinstance(error, dict) else error)
    except (ValueError, AttributeError):
        words = text.decode("utf-8", "replace")
    return cut(" ".join(words.split()), 200)


def _read_pause(header: str | None) -> float | None:
    """The seconds of a Retry-After, which is a number or a date; None without a valid one."""
    if header is None:
        return None
    try:
        seconds = float(header) if header.strip().isdecimal() else parsedate_to_datetime(header).timestamp() - time()
    except (ValueError, TypeError):
        return None
    return max(seconds, 0.0)
