"""Tries to escape from a sandbox and reports the result. `python -I -S canary.py` reads a task from stdin and writes a report to
stdout.

The script runs inside a sandbox before any agent does. It is started by its path, so it must not import anything from arena. The
task is a JSON object with the keys `nonce`, `root` (whether root has started it), `port` of a listening socket, `network` (the
network namespace of that socket), `secrets` (files that contain the nonce), `folders` (in which it tries to write) and `mark`
(the mark of a process, as `process_mark` returns it). Two attempts in the report must succeed: `nonce` (the canary ran) and
`scratch` (it can write somewhere). All other attempts must fail: `connected` (it reached the socket), `read` (the secrets that it
could read), `wrote` (the files that it could create), `saw` (whether the marked process is visible), `keys` (whether it can ask
for the kernel's keys, which the filter of system calls refuses), `settings` (the first files of the kernel that it can open for
writing), `rights` (see the function of this name).
"""

import json
import os
import socket
import sys
import tempfile


def main() -> None:
    """Run the task from stdin."""
    task = json.loads(sys.stdin.readline())
    nonce = task["nonce"]
    report = {
        "nonce": nonce,
        "scratch": scratch(nonce),
        "connected": connects(task["port"]) or os.readlink("/proc/self/ns/net") == task["network"],  # noqa: PTH115
        "read": [path for path in task["secrets"] if reads(path) == nonce],
        "wrote": [path for folder in task["folders"] if writes(path := os.path.join(folder, f".arena-{nonce}"))],  # noqa: PTH118
        "saw": task["mark"] in map(process_mark, filter(str.isdigit, os.listdir("/proc"))),  # noqa: PTH208
        "keys": reaches_keys(),
        "settings": writable_settings(),
        "rights": rights(task["root"]),
    }
    sys.stdout.write(json.dumps(report) + "\n")


def scratch(text: str) -> bool:
    """Return True if there is a temporary folder that keeps written data."""
    try:
        with tempfile.TemporaryFile("w+") as file:
            file.write(text)
            file.seek(0)
            return file.read() == text
    except OSError:
        return False


def connects(port: int) -> bool:
    """Return True if a socket of this machine can be reached."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def reads(path: str) -> str | None:
    """Return the text of a file; None if it cannot be read."""
    try:
        with open(path) as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
            return file.read()
    except OSError:
        return None


def writes(path: str) -> bool:
    """Return True if a file can be created."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


def reaches_keys() -> bool:
    """Return True if add_key(2) is available. An available call rejects the arguments; the filter of system calls denies
    permission instead.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    return libc.syscall(number, None, None, None, 0, 0) != -1 or ctypes.get_errno() != 1


def writable_settings() -> list[str]:
    """Return up to three files of kernel settings that can be opened for writing, except files of processes. Nothing
    is written.
    """
    found: list[str] = []
    for top in sorted(os.listdir("/proc")):  # noqa: PTH208
        if top.isdigit() or os.path.islink(f"/proc/{top}"):  # noqa: PTH114
            continue
        inside = [os.path.join(folder, name) for folder, _, names in os.walk(f"/proc/{top}") for name in names]  # noqa: PTH118
        for path in inside or [f"/proc/{top}"]:
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                continue
            found.append(path)
            if len(found) == 3:
                return found
    return found


def rights(by_root: bool) -> int:
    """Return the capabilities of this process and of all processes that it may start. The bit 1 << 64 is set if this process is
    root outside the sandbox.

    `by_root` says whether root has started the script; otherwise this process cannot be root outside. It is needed because
    namespaces may be nested, and then the ids say little about the outside.
    """
    with open("/proc/self/status", errors="replace") as file:  # noqa: PTH123
        sets = [int(line.split()[1], 16) for line in file if line.startswith("Cap")]
    with open("/proc/self/uid_map") as file:  # noqa: PTH123
        ranges = [[int(word) for word in line.split()] for line in file]
    user = os.getuid()
    outside = [start + user - first for first, start, count in ranges if first <= user < first + count]
    found = 0
    for one in sets:
        found |= one
    return found | (1 << 64 if by_root and outside == [0] else 0)


def process_mark(pid: str) -> str:
    """Return a mark that identifies a process even if its id is different in a namespace: its start time and its command line."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as words:  # noqa: PTH123
            started = stat.read().rpartition(b")")[2].split()[19]
            return f"{started.decode()} {words.read(4096).hex()}"  # its author chooses the length
    except (OSError, IndexError):
        return ""


if __name__ == "__main__":
    main()
