"""The client for the address of a provider. It sends a request, and returns the answer or the reason why there is none.

The standard library is sufficient: opening a connection for each request takes little time compared with the answer of a model.
"""

import json
import os
import ssl
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from math import inf
from socket import gaierror
from threading import Lock
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit
from urllib.request import getproxies, proxy_bypass

from arena import ArenaError, BackendGone, Unavailable, __version__
from arena.api.cli import distribution
from arena.api.errors import cut
from arena.api.games import read_digits
from arena.clock import monotonic, sleep, wall_time
from arena_bridges.llm.apis import APIS, LATER_TOKENS, ApiName, ModelAnswer, Question
from arena_bridges.llm.gate import Gate, Usage
from arena_setup.hosts import is_loopback

CERTIFICATES = "SSL_CERT_FILE"
"""The environment variable with which OpenSSL uses another file of certificate authorities."""
WAIT_SECONDS = 60.0
"""Seconds for which a request is retried. After a silence of this length, a backend is no longer asked."""
FIRST_ANSWER_SECONDS = 120.0
"""The time within which a backend must give its first answer, before the first match."""
CONNECT_SECONDS = 10.0
"""The timeout of a connection."""
FIRST_PAUSE_SECONDS = 1.0
"""The time before the first retry. It doubles with each retry, up to LAST_PAUSE_SECONDS."""
LAST_PAUSE_SECONDS = 8.0
MAX_REFUSALS = 3
"""The maximum number of retries after the backend has refused a request."""
MAX_ANSWER_BYTES = 8 << 20
BUSY = frozenset({408, 429, 500, 502, 503, 504, 529})
"""HTTP statuses after which a retry may succeed."""
HOPELESS = frozenset({401, 403, 404})
"""HTTP statuses after which no retry can succeed, because the key or the model is not accepted."""

NOTHING_USED = Usage(0, 0)
OPEN_GATE = Gate()
NO_HEADERS: Mapping[str, str] = {}


class ErrorStatus(Exception):
    """The backend has answered with an error. `pause` is the waiting time in seconds that it asks for."""

    def __init__(self, status: int, told: str, pause: float | None) -> None:
        super().__init__(f"status {status}: {told}" if told else f"status {status}")
        self.status = status
        self.pause = pause


def address(url: str) -> SplitResult:
    """Return the parts of an address. Raises ValueError for anything but `http://` or `https://` with a host."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"url: expected an address such as http://127.0.0.1:8000/v1, got {url!r}")
    if parts.port == 0:  # reading the port raises ValueError if it is not valid
        raise ValueError(f"url: expected a port from 1 to 65535, got {url!r}")
    return parts


@cache
def endpoint(url: str, key: str | None = None, api: ApiName = "chat") -> "Endpoint":
    """Return the endpoint for an address. All agents of this process share it."""
    return Endpoint(url, key, api)


class Endpoint:
    """The client for one address, which also keeps the time since when the address has not answered. It is thread-safe."""

    def __init__(self, url: str, key: str | None = None, api: ApiName = "chat") -> None:
        """Set the address, the name of the environment variable that holds its key, and the protocol.

        If no name is given, the key is read from the default variable of the protocol. But then no key is sent to an address on
        this machine, because any user may run a server here.
        """
        self.url = url.rstrip("/")
        self._parts = address(self.url)
        self._api = APIS[api]
        self._key = self._api.key if key is None and not is_loopback(self._parts.hostname or "") else key
        self._tls = ssl.create_default_context() if self._parts.scheme == "https" else None
        self._lock = Lock()
        self._tokens = "max_tokens"
        """The name of the parameter for the maximum number of tokens."""
        self._answered = 0.0
        self._silent: float | None = None
        """The time of the first unanswered request since the last answer; None without such a request."""
        self._gone: str | None = None
        self._checked = False
        self._until = inf
        """The time until which the backend must give its first answer in this run."""

    def begin(self) -> str | None:
        """Begin a run, in which the address is checked again. Return a note if it does not answer yet."""
        with self._lock:
            self._checked, self._silent, self._gone = False, None, None
            self._until = monotonic() + FIRST_ANSWER_SECONDS
        try:
            self._check_key()
            why, _ = self._probe(min(self._until, monotonic() + CONNECT_SECONDS))
        except ArenaError:  # `check` raises the error again, and its caller names the entry
            return None
        self._checked = not why
        limit = f"if it does not answer within {FIRST_ANSWER_SECONDS:g} s, the matches of the entries that use it are skipped"
        return f"{self.url} does not answer yet ({why}); {limit}" if why else None

    def check(self) -> None:
        """Check the address once in a run. Raises ArenaError for a missing key or an invalid certificate.

        If there is no answer within FIRST_ANSWER_SECONDS after the run has begun, the address is not asked in this run.
        """
        self._check_key()
        if self._checked:
            return
        self._checked = True
        until = min(self._until, monotonic() + FIRST_ANSWER_SECONDS)
        while True:
            why, pause = self._probe(until)
            if not why:
                return
            if monotonic() + pause >= until:
                self._gone = (
                    f"{self.url} has not answered within {FIRST_ANSWER_SECONDS:g} s before the first match: {why}; "
                    "check that the server runs and that the url is correct"
                )
                return
            sleep(pause)

    def _probe(self, until: float) -> tuple[str, float]:
        """Ask for the list of models. Return the reason if there is no answer, and the time in seconds to wait before a retry.

        The reason is empty if there is an answer. Raises ArenaError if a retry cannot help.
        """
        try:
            self._exchange("GET", "/models", None, until)
        except ErrorStatus as refused:
            if refused.status in (401, 403):
                given, advice = f"the key in {self._key}", ""
                if self._key is None:
                    given, advice = "a request without a key", "; set one with key_env: NAME in the entry"
                raise ArenaError(f"{self.url} does not accept {given}: {refused}{advice}") from None
            if refused.status in BUSY:  # with another status, it answers, but has no list of models
                return str(refused), refused.pause or FIRST_PAUSE_SECONDS
        except ssl.SSLCertVerificationError as error:
            advice = f"set {CERTIFICATES} to a file with the certificate of the authority that signed it, or correct the url"
            raise ArenaError(f"{self.url} does not have a trusted certificate: {_describe(error)}; {advice}") from None
        except (OSError, HTTPException, ValueError) as error:
            return _describe(error), FIRST_PAUSE_SECONDS
        return "", 0.0

    def ask(self, question: Question, gate: Gate = OPEN_GATE, headers: Mapping[str, str] = NO_HEADERS) -> ModelAnswer:
        """Return the answer to a question.

        Every attempt passes the `gate`; the time that it waits there does not count as silence of the backend. A request without
        an answer is retried for WAIT_SECONDS. Raises Unavailable if there is no answer, and BackendGone if no agent has had an
        answer for WAIT_SECONDS, or if the backend does not accept the key or the model.
        """
        try:
            self._check_key()
        except ArenaError as error:
            raise BackendGone(str(error)) from None
        began, pause, refusals = monotonic(), FIRST_PAUSE_SECONDS, 0
        body, path = self._api.write(question), self._api.path.replace("{model}", quote(question.model, safe=""))
        while True:
            if self._gone:
                raise BackendGone(self._gone)
            wait = pause
            named = {self._tokens if name == "max_tokens" else name: value for name, value in body.items()}
            data = json.dumps(named).encode()
            asked = monotonic()
            passage = gate.enter(len(data), question.tokens)
            began += monotonic() - asked
            usage: Usage | None = None
            try:
                reply = self._exchange("POST", path, data, began + WAIT_SECONDS, headers)
                usage = self._api.read_usage(reply)
                answer = self._api.read(reply)
            except ErrorStatus as refused:
                usage = NOTHING_USED
                names = (self._tokens, LATER_TOKENS)  # if a backend requires the other name, it gets that name from now on
                if refused.status == 400 and names[0] != names[1] and all(name in str(refused) for name in names):
                    self._tokens = LATER_TOKENS
                    continue
                if refused.status in HOPELESS:
                    wait = inf
                why, wait, refusals = str(refused), max(wait, refused.pause or 0.0), refusals + (refused.status not in BUSY)
            except (OSError, HTTPException, ValueError) as error:
                if isinstance(error, (ConnectionRefusedError, ssl.SSLError, gaierror)):
                    usage = NOTHING_USED
                why, refusals = _describe(error), refusals + isinstance(error, ssl.SSLCertVerificationError)
            else:
                with self._lock:
                    self._answered, self._silent = monotonic(), None
                return answer
            finally:
                passage.end(usage)
            if refusals > MAX_REFUSALS or monotonic() + wait >= began + WAIT_SECONDS:
                raise self._fail(why, began, wait)
            sleep(wait)
            pause = min(2 * pause, LAST_PAUSE_SECONDS)

    def _check_key(self) -> None:
        if self._key is not None and not os.environ.get(self._key):
            raise ArenaError(
                f"{self.url} needs a key, like all addresses outside this machine: set the environment variable {self._key}"
            )

    def _fail(self, why: str, began: float, wait: float) -> Unavailable:
        """Return the error for a request that began at time `began` and could be repeated after `wait` seconds."""
        message = f"{self.url}: {why}"
        now = monotonic()
        with self._lock:
            if self._silent is None:
                self._silent = max(began, self._answered)
            silence = now - self._silent
            if silence + wait < WAIT_SECONDS:
                return Unavailable(message)
            reason = "" if wait == inf else f"; after {silence:.0f} s without an answer, this run sends it no more requests"
            self._gone = message + reason
            return BackendGone(self._gone)

    # One request

    def _exchange(self, method: str, path: str, body: bytes | None, until: float, own: Mapping[str, str] = NO_HEADERS) -> Any:
        """Return the JSON of an answer. Raises ErrorStatus, OSError, HTTPException or ValueError if there is none."""
        host, port, tls = self._parts.hostname or "", self._parts.port, self._tls
        proxy = None if is_loopback(self._parts.hostname or "") or proxy_bypass(host) else getproxies().get(self._parts.scheme)
        through = None if proxy is None else urlsplit(proxy if "//" in proxy else f"//{proxy}")
        near, gate = (host, port) if through is None else (through.hostname or "", through.port)
        connection = HTTPConnection(near, gate) if tls is None else HTTPSConnection(near, gate, context=tls)
        if through is not None and tls is not None:
            connection.set_tunnel(host, port)
        target = f"http://{self._parts.netloc}" if through is not None and tls is None else ""  # the part before the path
        headers = {
            **own,
            **self._api.headers,
            "Accept": "application/json",
            "Connection": "close",
            "User-Agent": f"{distribution()}/{__version__}",
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._key is not None and (key := os.environ.get(self._key)):
            headers[self._api.key_header] = self._api.key_prefix + key
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
    """Return the whole body. Raises TimeoutError if it is late, and ValueError if it is too long."""
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
    """Return the error in a few words."""
    if isinstance(error, TimeoutError):
        return f"no complete answer within {WAIT_SECONDS:g} s"
    if isinstance(error, (HTTPException, json.JSONDecodeError)):
        return "the answer is incomplete or not JSON"
    return cut(str(error) or type(error).__name__, 200)


def _read_message(text: bytes) -> str:
    """Return the message of an error."""
    try:
        told = json.loads(text)
        error = told.get("error", told.get("message", told.get("detail", "")))
        words = str(error.get("message", "") if isinstance(error, dict) else error)
    except (ValueError, AttributeError):
        words = text.decode("utf-8", "replace")
    return cut(" ".join(words.split()), 200)


def _read_pause(header: str | None) -> float | None:
    """Return the seconds in a Retry-After header, which is a number or a date; None if it is not valid."""
    if header is None:
        return None
    try:
        digits = read_digits(header.strip())
        seconds = float(digits) if digits is not None else parsedate_to_datetime(header).timestamp() - wall_time()
    except (ValueError, TypeError):
        return None
    return max(seconds, 0.0)
