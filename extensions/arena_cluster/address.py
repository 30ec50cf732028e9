"""The address of a cluster, as given to `--cluster`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from arena_cluster.engine import ClusterError
from arena_setup.hosts import is_loopback

EXPECTED_ADDRESS = "expected tcp://HOST:PORT, tls://HOST:PORT, a scheduler file or local:N"
MAX_LOCAL_WORKERS = 1024
_URL = re.compile(r"(?P<protocol>\w+)://(?P<host>\[[0-9a-fA-F:.%\w]+\]|[^\s:/\[\]]+):(?P<port>\d{1,5})/?")


_EXPOSED = (
    "{} has neither encryption nor authentication: any program that reaches this port can read all traffic, and run code on this "
    "machine and on every machine of the cluster; use tls://, or a private network"
)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a scheduler, or a number of workers to start on this machine."""

    given: str
    """The text that the user gave."""
    url: str = ""
    """The URL of the scheduler; empty if there is none yet."""
    workers: int = 0
    """The number of workers to start on this machine; 0 if there is a scheduler."""
    file: str | None = None
    """The scheduler file, if the address was read from one."""

    @property
    def encrypted(self) -> bool:
        """True if the connection is encrypted and both of its ends are authenticated."""
        return self.url.startswith("tls://")

    @property
    def host(self) -> str:
        """The host of the scheduler."""
        return self.url.partition("://")[2].rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port of the scheduler."""
        return int(self.url.rpartition(":")[2])

    @property
    def exposed(self) -> bool:
        """True if others could listen or take part, because the connection is neither encrypted nor limited to this machine."""
        return bool(self.url) and not self.encrypted and not is_loopback(self.host)

    @property
    def warning(self) -> str | None:
        """The warning about an exposed address; None for any other address."""
        return _EXPOSED.format(self.url) if self.exposed else None


def address_of(given: str) -> Address:
    """Parse an address. Raises ClusterError, with the fault, if it is invalid."""
    kind, colon, number = given.partition(":")
    if kind == "local" and colon:
        if not number.isascii() or not number.isdecimal() or not 1 <= int(number) <= MAX_LOCAL_WORKERS:
            raise ClusterError(f"--cluster {given}: expected local:N with N workers from 1 to {MAX_LOCAL_WORKERS}, as in local:2")
        return Address(given, workers=int(number))
    if not given:
        raise ClusterError(f"--cluster '': {EXPECTED_ADDRESS}")
    if "://" in given:
        return Address(given, _url(f"--cluster {given}", given))
    if re.fullmatch(r"[^/\\]+:\d+", given) and not Path(given).exists():
        raise ClusterError(f"--cluster {given}: the protocol is missing; {EXPECTED_ADDRESS}, so perhaps tcp://{given}")
    return Address(given, _of_file(given), file=given)


def _url(where: str, text: str) -> str:
    protocol = text.partition("://")[0]
    if protocol not in ("tcp", "tls"):
        raise ClusterError(f"{where}: unknown protocol {protocol!r}; expected tcp:// or tls://")
    found = _URL.fullmatch(text)
    if found is None or not 1 <= int(found["port"]) <= 65535:
        raise ClusterError(
            f"{where}: expected {protocol}://HOST:PORT with a port from 1 to 65535, in the form that the scheduler prints"
        )
    return f"{protocol}://{found['host']}:{int(found['port'])}"


def _of_file(given: str) -> str:
    where = f"--cluster {given}"
    try:
        text = Path(given).read_text("utf-8")
    except FileNotFoundError:
        raise ClusterError(f"{where}: no such file; {EXPECTED_ADDRESS}") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file"
        raise ClusterError(
            f"{where}: cannot be read: {reason}; expected a file written by `dask scheduler --scheduler-file`"
        ) from error
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ClusterError(f"{where}: not JSON: {error}; expected a file written by `dask scheduler --scheduler-file`") from error
    url = said.get("address") if isinstance(said, dict) else None
    if not isinstance(url, str):
        raise ClusterError(f"{where}: has no address; expected a file written by `dask scheduler --scheduler-file`")
    return _url(where, url)
