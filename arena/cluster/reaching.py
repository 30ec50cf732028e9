"""Finds a scheduler, or says in words that help why there is none."""

import logging
import socket
import ssl
import warnings
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.cluster.address import Address
from arena.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

PATIENCE = 10.0
"""Seconds to wait for a scheduler's first answer."""
_OPTIONS = ("distributed.comm.tls.ca-file", "distributed.comm.tls.client.cert", "distributed.comm.tls.client.key")


def reached(address: Address) -> tuple["Client", "LocalCluster | None"]:
    """A client of the scheduler at an address, and the cluster where it was started here; ClusterError where there is none."""
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(f"--cluster needs Dask ({error}); install it with: pip install 'gamearena[cluster]'") from error
    del distributed
    return _started(address) if address.workers else (_connected(address), None)


def _started(address: Address) -> tuple["Client", "LocalCluster"]:
    import dask
    from distributed import Client, LocalCluster

    quiet = {"logging": {"distributed": "critical", "tornado": "critical", "asyncio": "critical"}}
    try:
        with dask.config.set(quiet):  # the workers take it over
            cluster = LocalCluster(
                n_workers=address.workers,
                threads_per_worker=1,
                memory_limit=0,  # matches are played in processes of their own
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",  # any port: there may be another cluster
                silence_logs=logging.CRITICAL,
                preload="arena.cluster.deaf",
            )
        return Client(cluster, set_as_default=False, timeout=PATIENCE, **_CODECS), cluster
    except (OSError, RuntimeError) as error:
        raise ClusterError(f"--cluster {address.given}: the workers could not be started: {_root(error)}") from error


def _connected(address: Address) -> "Client":
    from distributed import Client
    from distributed.security import Security

    security = Security()  # what Dask's own configuration says
    if address.encrypted:
        _check_certificates(address, security)
    _probe(address)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other versions of what Dask stands on; those that matter here are compared later
            return Client(address.url, security=security, timeout=PATIENCE, set_as_default=False, name="arena", **_CODECS)
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        raise ClusterError(_why_not(address, error)) from error


_CODECS: dict[str, Any] = {"deserializers": ["dask", "msgpack", "error"]}
"""What a reply may be made of: no pickles."""


def _check_certificates(address: Address, security: Any) -> None:
    named = (security.tls_ca_file, security.tls_client_cert, security.tls_client_key)
    for option, value in zip(_OPTIONS, named, strict=True):
        variable = f"DASK_{option.upper().replace('.', '__').replace('-', '_')}"
        where = f"--cluster {address.given}: {option}"
        if value is None and not option.endswith("key"):  # it may be in the file of the certificate
            raise ClusterError(f"{where} is not set; set it in Dask's configuration, or {variable} to the path of the file")
        if value is not None and "-----BEGIN" not in value and not Path(value).is_file():
            raise ClusterError(f"{where}: no such file: {value}; see Dask's configuration, or {variable}")


def _probe(address: Address) -> None:
    """ClusterError where nobody listens; quicker than Dask, which tries again and again."""
    where = f"--cluster {address.given}"
    stale = ""
    if address.file is not None:
        where = f"{where}: it names {address.url}"
        stale = "; the file is stale: start the scheduler with --scheduler-file once more, and it is written anew"
    try:
        socket.create_connection((address.host, address.port), timeout=PATIENCE).close()
    except (socket.gaierror, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ClusterError(f"{where}: no such host {address.host!r}: {reason}{stale}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        hint = stale or "; expected a scheduler, as `dask scheduler` starts one"
        raise ClusterError(f"{where}: nobody answers there: {reason}{hint}") from error


def _why_not(address: Address, error: Exception) -> str:
    """What stands in the way although somebody listens."""
    where = f"--cluster {address.given}"
    speaks = _speaks_tls(address)
    if address.encrypted and not speaks:
        return f"{where}: no TLS is spoken there; use tcp://, or start scheduler and workers with TLS"
    if not address.encrypted and speaks:
        return f"{where}: TLS is spoken there; use tls:// and the certificates of the cluster"
    root = _root(error)
    if address.encrypted and isinstance(root, ssl.SSLError):
        return f"{where}: the two ends do not trust each other: {root}; expected certificates of the same authority on both"
    return f"{where}: what answers there is no Dask scheduler that this Dask can speak to: {' '.join(str(root).split())}"


def _root(error: BaseException) -> BaseException:
    """The error at the bottom of it all."""
    while error.__cause__ is not None or (error.__context__ is not None and not error.__suppress_context__):
        error = error.__cause__ or error.__context__ or error
    return error


def _speaks_tls(address: Address) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # nothing is sent: it is only to see who is there
    try:
        plain = socket.create_connection((address.host, address.port), timeout=2.0)
        with closing(plain), closing(context.wrap_socket(plain, server_hostname=address.host)):
            return True
    except ssl.SSLError as error:
        return error.reason is not None and "ALERT" in error.reason  # it answered in TLS that it wants a certificate
    except OSError:
        return False
