"""Tries to get out of a sandbox and tells how far it came: `python -I -S canary.py`, a task on stdin, a report on stdout.

Run by its path inside a sandbox before any agent is, so it stands alone. The task is a JSON object: `nonce`, `port` of a
listening socket, `secrets` (files that hold the nonce), `folders` to write in, `mark` of a process as `process_mark` gives it.
The report: `nonce` and `scratch` (what must work: this ran, and has a place to write), then what must not: `connected`, `read`
(the secrets that could be read), `wrote` (the files that could be made), `saw` (whether the marked process is in sight), `keys`
(whether the kernel's keys can be asked for, which the filter of system calls refuses).
"""

import json
import os
import socket
import sys
import tempfile


def main() -> None:
    """Do the task of stdin."""
    task = json.loads(sys.stdin.readline())
    nonce = task["nonce"]
    report = {
        "nonce": nonce,
        "scratch": scratch(nonce),
        "connected": connects(task["port"]),
        "read": [path for path in task["secrets"] if reads(path) == nonce],
        "wrote": [path for folder in task["folders"] if writes(path := os.path.join(folder, f".arena-{nonce}"))],  # noqa: PTH118
        "saw": task["mark"] in map(process_mark, filter(str.isdigit, os.listdir("/proc"))),  # noqa: PTH208
        "keys": reaches_keys(),
    }
    sys.stdout.write(json.dumps(report) + "\n")


def scratch(text: str) -> bool:
    """Tell whether there is a temporary folder that keeps what is written."""
    try:
        with tempfile.TemporaryFile("w+") as file:
            file.write(text)
            file.seek(0)
            return file.read() == text
    except OSError:
        return False


def connects(port: int) -> bool:
    """Tell whether a socket of this machine can be reached."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def reads(path: str) -> str | None:
    """The text of a file, None where it cannot be read."""
    try:
        with open(path) as file:  # noqa: PTH123 - pathlib takes longer to import than all of this
            return file.read()
    except OSError:
        return None


def writes(path: str) -> bool:
    """Tell whether a file can be made."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True


def reaches_keys() -> bool:
    """Tell whether add_key(2) is there, which says that its arguments are wrong; the filter says that it is not permitted."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    return libc.syscall(number, None, None, None, 0, 0) != -1 or ctypes.get_errno() != 1


def process_mark(pid: str) -> str:
    """A mark that tells a process from all others, also under another number: when it was started, and by which words."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as words:  # noqa: PTH123
            started = stat.read().rpartition(b")")[2].split()[19]
            return f"{started.decode()} {words.read().hex()}"
    except (OSError, IndexError):
        return ""


if __name__ == "__main__":
    main()
