"""Tries to get out of a sandbox and tells how far it came: `python -I -S canary.py`, a task on stdin, a report on stdout.

Run by its path inside a sandbox before any agent is, so it stands alone. The task is a JSON object: `nonce`, `root` (whether root
has started it), `port` of a listening socket, `network` (the namespace of that), `secrets` (files that hold the nonce), `folders`
to write in, `mark` of a process as `process_mark` gives it. The report: `nonce` and `scratch` (which must work: this ran, and can
write somewhere), then all that must not work: `connected`, `read` (the secrets that could be read), `wrote` (the files that could
be made), `saw` (whether the marked process is in sight), `keys` (whether the kernel's keys can be asked for, which the filter of
system calls refuses), `settings` (the first files of the kernel that can be opened for writing), `rights` (see there).
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


def writable_settings() -> list[str]:
    """Return up to three files of the kernel that can be opened for writing; nothing is written. Processes' own are left out."""
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
    """Return the capabilities of this process and of all that it may start, and 1 << 64 if it is root outside.

    Only root can start it as root. Namespaces of other users may lie inside each other, and say less about the outside.
    """
    with open("/proc/self/status") as file:  # noqa: PTH123
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
    """A mark that tells a process from all others, also under another number: when it was started, and by which words."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat, open(f"/proc/{pid}/cmdline", "rb") as words:  # noqa: PTH123
            started = stat.read().rpartition(b")")[2].split()[19]
            return f"{started.decode()} {words.read().hex()}"
    except (OSError, IndexError):
        return ""


if __name__ == "__main__":
    main()
