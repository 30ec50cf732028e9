"""Connects to a scheduler. When that fails, it explains why."""

import logging
import queue
import signal
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from arena.api.cli import install_command
from arena_cluster.address import Address
from arena_cluster.engine import ClusterError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

T = TypeVar("T")
ANSWER_SECONDS = 10.0
"""Seconds to wait for the first answer of a scheduler."""
GREETING_SECONDS = 3.0
"""Seconds within which a scheduler must send its greeting. Normally this takes less than a millisecond."""
TLS_SECONDS = 2.0
"""Seconds within which a server must begin TLS."""
GREETING_LENGTH_BYTES = 8
MAX_GREETING_BYTES = 1 << 20
USE_TLS = "the scheduler uses TLS; use tls:// and the certificates of the cluster"
_OPTIONS = ("distributed.comm.tls.ca-file", "distributed.comm.tls.client.cert", "distributed.comm.tls.client.key")


def connect(address: Address) -> tuple["Client", "LocalCluster | None"]:
    """Return a client of the scheduler at an address, and the cluster if it was started on this machine. Raises ClusterError if
    this fails.
    """
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(f"--cluster needs Dask ({error}); install it with: {install_command('cluster')}") from error
    del distributed
    return _start_cluster(address) if address.workers else (_connect_to(address), None)


def _start_cluster(address: Address) -> tuple["Client", "LocalCluster"]:
    import dask
    from distributed import Client, LocalCluster

    quiet = {"logging": {"distributed": "critical", "tornado": "critical", "asyncio": "critical"}}
    cluster = None
    try:
        with dask.config.set(quiet), _delay_interrupts():  # the workers inherit the configuration and the blocked signal
            cluster = LocalCluster(
                n_workers=address.workers,
                threads_per_worker=1,
                memory_limit=0,  # no limit, because matches are played in separate processes
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # any free port, because there may be another cluster
                silence_logs=logging.CRITICAL,
                preload="arena_cluster.deaf",
            )
            client = Client(cluster, set_as_default=False, timeout=ANSWER_SECONDS, **_CODECS)
    except BaseException as error:
        if cluster is not None:
            with suppress(Exception):
                cluster.close()
        if isinstance(error, (OSError, RuntimeError)):
            raise ClusterError(f"--cluster {address.given}: the workers could not be started: {_root(error)}") from error
        raise
    return client, cluster


@contextmanager
def _delay_interrupts() -> Iterator[None]:
    """Delay Ctrl-C inside the block, because a cluster that is interrupted while it starts prints many errors.

    Threads and processes that are started in the block never receive the signal; see `arena_cluster.deaf`.
    """
    resource_tracker.ensure_running()  # if the tracker started later, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _connect_to(address: Address) -> "Client":
    from distributed import Client
    from distributed.security import Security

    security = Security()  # it reads the configuration of Dask
    if address.encrypted:
        named = (security.tls_ca_file, security.tls_client_cert, security.tls_client_key)
        for option, value in zip(_OPTIONS, named, strict=True):
            variable = f"DASK_{option.upper().replace('.', '__').replace('-', '_')}"
            where = f"--cluster {address.given}: {option}"
            if value is None and not option.endswith("key"):  # the key may be in the file of the certificate
                raise ClusterError(f"{where} is not set; set it in Dask's configuration, or {variable} to the path of the file")
            if value is not None and "-----BEGIN" not in value and not Path(value).is_file():
                raise ClusterError(f"{where}: no such file: {value}; see Dask's configuration, or {variable}")
    _probe(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask warns of other versions; arena compares those that matter later
            return call_within(
                3 * ANSWER_SECONDS,
                lambda: Client(
                    address.url, security=security, timeout=ANSWER_SECONDS, set_as_default=False, name="arena", **_CODECS
                ),
            )
    except Exception as error:  # a server that is not a scheduler can make Dask fail in any way
        raise ClusterError(_why_not(address, error)) from error


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Return the result of a call that may hang. If it takes longer, raise TimeoutError and abandon its thread."""
    found: queue.SimpleQueue[tuple[T | None, Exception | None]] = queue.SimpleQueue()

    def attempt() -> None:
        try:
            found.put((call(), None))
        except Exception as error:
            found.put((None, error))

    threading.Thread(target=attempt, name="arena-call", daemon=True).start()
    try:
        result, error = found.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer in {seconds:.0f} s") from None
    if error is not None:
        raise error
    return cast(T, result)


_CODECS: dict[str, Any] = {"deserializers": ["dask", "msgpack", "error"]}
"""The codecs that may encode results. Pickle is not among them, because it would run code from a node. (Dask itself always
unpickles the exceptions of tasks.)
"""


def _probe(address: Address) -> None:
    """Raise ClusterError if no server listens at the address. This is faster than Dask, which retries for a long time."""
    where = f"--cluster {address.given}"
    stale = ""
    if address.file is not None:
        where = f"{where}: the file names the scheduler {address.url}"
        stale = "; the file is out of date: start the scheduler with --scheduler-file again, which rewrites it"
    try:
        with socket.create_connection((address.host, address.port), timeout=ANSWER_SECONDS) as connection:
            greets = address.encrypted or _greets(connection)  # a TLS server waits for the client to begin
    except (socket.gaierror, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ClusterError(f"{where}: no such host {address.host!r}: {reason}{stale}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        hint = stale or "; expected a scheduler, as `dask scheduler` starts one"
        raise ClusterError(f"{where}: no server answers there: {reason}{hint}") from error
    if not greets:
        if _speaks_tls(address):
            raise ClusterError(f"{where}: {USE_TLS}")
        raise ClusterError(
            f"{where}: the server there is not a Dask scheduler{stale or '; expected one, as `dask scheduler` starts it'}"
        )


def _greets(connection: socket.socket) -> bool:
    """Return True if the server sends the greeting of a Dask scheduler. It begins with the length of a short message in 8 bytes,
    little-endian.

    Without this check, any server would be taken for a scheduler. The bytes `HTTP/1.1` would announce a message of three
    exbibytes, and Dask would wait for ever on a silent server.
    """
    connection.settimeout(GREETING_SECONDS)
    said = b""
    try:
        while len(said) < GREETING_LENGTH_BYTES:
            more = connection.recv(GREETING_LENGTH_BYTES - len(said))
            if not more:
                return False
            said += more
    except OSError:
        return False
    return 0 < int.from_bytes(said, "little") < MAX_GREETING_BYTES


def _why_not(address: Address, error: Exception) -> str:
    """Return the reason why no client could connect although the port is open."""
    where = f"--cluster {address.given}"
    speaks = _speaks_tls(address)
    if address.encrypted and not speaks:
        return f"{where}: the scheduler does not use TLS; use tcp://, or start scheduler and workers with TLS"
    if not address.encrypted and speaks:
        return f"{where}: {USE_TLS}"
    root = _root(error)
    if address.encrypted and isinstance(root, ssl.SSLError):
        return (
            f"{where}: the two sides do not trust each other's certificates: {root}; use the same certificate authority on both"
        )
    return (
        f"{where}: the server there is not a Dask scheduler that this version of Dask can talk to: {' '.join(str(root).split())}"
    )


def _root(error: BaseException) -> BaseException:
    """Return the root cause of an error."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__ or error
    return error


def _speaks_tls(address: Address) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # no data is sent; this only identifies the server
    try:
        plain = socket.create_connection((address.host, address.port), timeout=TLS_SECONDS)
        with closing(plain), closing(context.wrap_socket(plain, server_hostname=address.host)):
            return True
    except ssl.SSLError as error:
        return error.reason is not None and "ALERT" in error.reason  # the server required a certificate
    except OSError:
        return False
