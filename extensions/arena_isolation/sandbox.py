"""Runs programs in a sandbox of bubblewrap: no network, none of the user's files, no other processes in sight.

    prove()                                                         once before: SandboxError if it does not hold
    command = enclose(["node", "my_agent.js"], folder=folder)      the command to start instead of the program
    surroundings = environment(os.environ)                          its variables: the user's own stay outside

The program sees the files that `mounts` lists and those that are named, all of them read-only; a /tmp of its own, gone with it;
/proc with its own processes; a /dev of next to nothing; and no system calls that no player needs. Limits that are set on the
process that starts it hold inside as well. Linux alone, with bubblewrap 0.8 or newer.

That it holds is proved by trying to break out, rather than concluded from options: what these do depends on the kernel, on its
configuration, and on which program is called bwrap, and one that does nothing may do so without a word.
"""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from secrets import token_hex
from types import ModuleType
from typing import Any

from platformdirs import user_cache_path

from arena.errors import IsolationError
from arena.processes.child import import_path
from arena.processes.process_tree import OF_WORKER
from arena_isolation.canary import process_mark
from arena_isolation.system_calls import filter_pipe
from arena_isolation.unprivileged import NOBODY, own_map

BWRAP = "bwrap"
INSTEAD = "or use isolation: process"
SCRATCH = "/tmp"  # noqa: S108 - its own
"""The one folder to write in, beside /dev/shm."""
SCRATCH_BYTES = 64 << 20
"""Bytes that fit into it; a quarter of that into /dev/shm. Without a limit a tmpfs takes half of the memory."""
KEPT_VARIABLES = (
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "PYTHONHASHSEED", "PYTHONUTF8"),
    *("ARENA_PLUGINS", "ARENA_PLAIN", OF_WORKER, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
)
"""Variables that go in; others may hold passwords. OF_WORKER goes in since by it what a worker has started is found and ended."""
SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin"
UNPRIVILEGED = Path(__file__).with_name("unprivileged.py")
CANARY = Path(__file__).with_name("canary.py")
NOT_RUN = 127
"""The exit code of UNPRIVILEGED if it cannot start the program."""
CANARY_SECONDS = 20.0
"""Seconds for the canary."""


SYSTEM_PATHS = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/bin", "/usr/local/lib", "/usr/local/lib64"),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
)
"""Programs and libraries, and how they find each other. Not all of /usr: images keep the user's sources in /usr/src."""
PREFIX_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of its prefix that Python needs; not all of it, which may be the folder of a project."""
NAMED_MODULES = ("__main__", "arena_plugin_")
"""Modules of files that somebody named, rather than imported."""
SITE_FOLDERS = ("site-packages", "dist-packages")


class SandboxError(IsolationError):
    """No sandbox holds here; the message says what did not hold, and what to do."""


def enclose(command: Sequence[str], *, readable: Iterable[Path] = (), folder: str | Path, calls: int | None = None) -> list[str]:
    """The command line that runs `command` in a sandbox, as if in `folder`, which is empty but for what is readable.

    Readable are `readable`, and the files that `command` names, the program first, by paths from `folder`; folders, too, where
    they are inside `folder`. `calls` is the descriptor of a filter of system calls, as `filter_pipe` opens it. To be started with
    `environment` alone, since a program can read the variables of bubblewrap itself in /proc/1/environ. SandboxError if there is
    no bubblewrap; that it holds is for `prove`.
    """
    place = Path(folder).absolute()
    words = [_program(command[0], place), *command[1:]]
    named = [place / word for word in words if _names(word, place)]
    shown = [*named, *(path.absolute() for path in readable)]
    root = _is_root()
    if root:
        _check_readable(shown)
    return [
        *_namespaces(root),
        # A session of its own: else it could type into the user's terminal (TIOCSTI, CVE-2017-5226).
        *("--die-with-parent", "--new-session", "--hostname", "arena"),
        # The root is an empty tmpfs that is made read-only at last: mounts need folders in it before.
        *("--size", str(SCRATCH_BYTES), "--perms", "1777", "--tmpfs", SCRATCH, "--proc", "/proc", "--dev", "/dev"),
        *("--size", str(SCRATCH_BYTES // 4), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *_kernel_files(),
        *(() if calls is None else ("--seccomp", str(calls))),
        *(shown_files := mounts([*shown, *([UNPRIVILEGED] if root else [])])),
        *_folders_above(place / "x", shown_files),
        *("--remount-ro", "/", "--chdir", str(place), "--"),
        *(_as_other_user("leave") if root else ()),
        *words,
    ]


def _namespaces(root: bool) -> list[str]:
    """Return the start of the command: bubblewrap, with what it keeps apart and which rights the program has."""
    apart = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if root:  # the rights that are left are those to become another user, who has none
        needed = [word for right in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{right}")]
        return [*_as_other_user("enter"), _bubblewrap(), *apart, *needed]
    # Without further user namespaces no capabilities can be got back.
    return [_bubblewrap(), "--unshare-user", "--disable-userns", *apart]


def _as_other_user(step: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(UNPRIVILEGED), step]


def _is_root() -> bool:
    """Return whether a program would be root outside of its sandbox, too. SandboxError if it could be nobody else."""
    if os.geteuid() != 0:
        return False
    for name in ("uid_map", "gid_map"):
        ranges = own_map(name)
        if any(first <= NOBODY < first + count for first, _, count in ranges):
            continue
        if all(outside for first, outside, _ in ranges if first == 0):
            return False  # root only in a user namespace that another user has made
        raise SandboxError(f"sandbox: arena runs as root, and no id {NOBODY} exists here for agents; start it as another user")
    return True


def _check_readable(files: Iterable[Path]) -> None:
    """Raise SandboxError for a file that only root can read, or a program that only root can run: the agent is another user."""
    for top in files:
        for path in (top, *(top.rglob("*") if top.is_dir() else ())):
            with suppress(OSError):
                mode = path.stat().st_mode
                needed = 0o5 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0o4
                if mode & needed != needed:
                    raise SandboxError(
                        f"sandbox: {path} is for its owner alone; arena runs as root, so agents run as another user: "
                        f"chmod -R o+rX {top}, or start arena as the user who owns it"
                    )


def _kernel_files() -> Iterator[str]:
    """Yield the arguments that make read-only what /proc offers of the kernel: all but the processes."""
    for path in sorted(Path("/proc").iterdir()):
        if path.name.isdigit() or path.is_symlink():
            continue
        with suppress(OSError):
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode) or mode & 0o222:
                yield from ("--ro-bind-try", str(path), str(path))


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables of a sandboxed program: of those given the ones that say how to run, none that says who runs it."""
    kept = {name: value for name, value in given.items() if name in KEPT_VARIABLES}
    inside = {"HOME": SCRATCH, "TMPDIR": SCRATCH, "ARENA_CACHE": str(tables()), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **inside, "PATH": f"{Path(sys.executable).parent}:{SANDBOX_PATH}"}


def prove() -> None:
    """Let a canary loose in the sandbox; SandboxError unless all of its attempts to get out fail, and what is allowed works.

    It connects to a socket that listens here, reads secrets written into the user's home and the working folder, writes there
    and in /usr/bin, looks for this process, opens every file by which the kernel is set up, and counts its rights.
    """
    nonce = token_hex(16)
    with ExitStack() as stack:
        port = stack.enter_context(_listen())
        secrets = [str(path) for folder in _places() for path in stack.enter_context(_secret(folder, nonce))]
        folders = ["/", "/usr/bin", *map(str, _places())]
        mark = process_mark(str(os.getpid()))
        network = os.readlink("/proc/self/ns/net")  # noqa: PTH115
        task = {
            "nonce": nonce,
            "root": _is_root(),
            "port": port,
            "network": network,
            "secrets": secrets,
            "folders": folders,
            "mark": mark,
        }
        report = _report(task)
        made = [str(path) for path in (Path(folder, f".arena-{nonce}") for folder in folders) if _remove_file(path)]
    _judge(report, nonce, made)


def _judge(report: Mapping[str, Any], nonce: str, made: Sequence[str]) -> None:
    works = report.get("nonce") == nonce and report.get("scratch") is True
    if not works:
        raise SandboxError(f"sandbox: expected a program to run in it with a /tmp to write in, got {report}; {_REPAIR}")
    broken = []
    if report.get("connected") is not False:
        broken.append("the network can be reached")
    if report.get("read") != []:
        broken.append(f"files of the user can be read: {report.get('read')}")
    # /tmp inside is not /tmp outside: what the canary could write there has not been made here, or it would be in `made`.
    outside = [path for path in report.get("wrote", ["?"]) if not Path(path).is_relative_to(SCRATCH)]
    if made or outside:
        broken.append(f"files can be written: {made or outside}")
    if report.get("saw") is not False:
        broken.append("processes outside can be seen")
    if report.get("keys") is not False:
        broken.append("keys of the kernel can be asked for")
    if report.get("settings") != []:
        broken.append(f"settings of the kernel can be changed: {report.get('settings')}")
    if report.get("rights") != 0:
        broken.append(f"it has rights of root: {report.get('rights')}")
    if broken:
        where = f"{shutil.which(BWRAP)}; working folder {Path.cwd()}"
        raise SandboxError(f"sandbox: it does not hold: {'; '.join(broken)} ({where}); {_REPAIR}")


_REPAIR = f"see that {BWRAP} on PATH is bubblewrap, and start arena in a folder of its own, {INSTEAD}"
_NAMESPACES = (
    f"expected bubblewrap 0.8 or newer, and user namespaces (sysctl user.max_user_namespaces above 0, "
    f"kernel.apparmor_restrict_unprivileged_userns 0 where there is one, a container that allows them), {INSTEAD}"
)


def _report(task: Mapping[str, Any]) -> dict[str, Any]:
    bubblewrap = _bubblewrap()
    try:
        with filter_pipe() as calls:
            done = subprocess.run(  # noqa: S603 - our own canary
                enclose([sys.executable, "-I", "-S", str(CANARY)], folder=Path.cwd(), calls=calls),
                input=json.dumps(task) + "\n",
                capture_output=True,
                text=True,
                env=environment(os.environ),
                timeout=CANARY_SECONDS,
                check=False,
                start_new_session=True,
                pass_fds=[calls],
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxError(f"sandbox: {bubblewrap} cannot be run: {error}; {_REPAIR}") from error
    if done.returncode != 0:
        said = done.stderr.strip()[-300:] or "nothing"
        unreadable = f"other users than root must be able to read Python: chmod -R o+rX {sys.prefix} {sys.base_prefix}, {INSTEAD}"
        advice = unreadable if done.returncode == NOT_RUN and _is_root() else _NAMESPACES
        raise SandboxError(f"sandbox: {bubblewrap} ended with code {done.returncode} and said {said!r}; {advice}")
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = None
    return report if isinstance(report, dict) else {}


def _places() -> list[Path]:
    """The folders in which secrets of the user may lie."""
    return list(dict.fromkeys(path.resolve() for path in (Path.home(), Path.cwd(), Path(tempfile.gettempdir()))))


@contextmanager
def _listen() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def _secret(folder: Path, text: str) -> Iterator[list[Path]]:
    """A file with a text, deleted afterwards; none in a folder where nothing can be written."""
    try:
        file = tempfile.NamedTemporaryFile("w", dir=folder, prefix=".arena-secret-")  # noqa: SIM115 - closed below
    except OSError:
        yield []
        return
    with file:
        os.fchmod(file.fileno(), 0o644)  # if arena runs as root, the canary is somebody else
        file.write(text)
        file.flush()
        yield [Path(file.name)]


def _remove_file(path: Path) -> bool:
    """Remove a file that the canary has made out here; False where there is none."""
    with suppress(OSError):
        path.unlink()
        return True
    return False


def _bubblewrap() -> str:
    if sys.platform != "linux":
        raise SandboxError(f"sandbox: expected Linux, got {sys.platform}; use isolation: process")
    found = shutil.which(BWRAP)
    if found is None:
        raise SandboxError(f"sandbox: expected {BWRAP} on PATH, found none; install bubblewrap 0.8 or newer, {INSTEAD}")
    return found


def _program(word: str, folder: Path) -> str:
    """The program by its whole path: PATH is another one inside."""
    found = shutil.which(str(folder / word) if "/" in word else word)
    return word if found is None else str(Path(found).absolute())


def _names(word: str, folder: Path) -> bool:
    """Tell whether a word of a command names a file, or a folder inside `folder`."""
    try:
        path = folder / word
        return path.is_file() or (path.is_dir() and folder.resolve() in path.resolve().parents)
    except (OSError, ValueError):  # no path at all
        return False


def mounts(named: Iterable[Path]) -> list[str]:
    """The arguments that make bubblewrap show all this and the files and folders `named`, which are absolute."""
    line: list[str] = []
    for text in SYSTEM_PATHS:
        path = Path(text)
        if path.is_symlink() and path.is_dir():  # /bin of most systems
            line += ["--symlink", str(path.readlink()), text]
        elif path.exists():
            line += [*_folders_above(path, line), "--ro-bind", text, text]
    shown = [Path(text) for text in SYSTEM_PATHS]
    for path in sorted({*_python(), *_both(named)}):  # folders before what is in them
        if not any(path.is_relative_to(upper) for upper in shown):
            line += [*_folders_above(path, line), "--ro-bind", str(path), str(path)]
            shown.append(path)
    return line


def _folders_above(path: Path, line: Collection[str]) -> Iterator[str]:
    """Yield the arguments that make the folders above a path for everybody; bubblewrap itself makes them for root alone."""
    for parent in reversed(path.parents):
        if str(parent) not in line and str(parent) not in ("/", SCRATCH):
            yield from ("--perms", "0755", "--dir", str(parent))


def tables() -> Path:
    """The folder where tables are kept that take long to build; they are arena's own, and shown where they are there."""
    return Path(os.environ.get("ARENA_CACHE") or user_cache_path("arena")).absolute()


def _python() -> Iterator[Path]:
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    parts = [Path(prefix, name) for prefix in prefixes for name in PREFIX_PARTS]
    own = Path(__file__).parents[1]  # the extensions: a process in the sandbox may need one that this process has not imported
    yield from _both(chain(parts, _packages(), _imported_paths(), [own, tables()]))


def _packages() -> Iterator[Path]:
    for entry in map(Path, import_path()):
        if entry.name in SITE_FOLDERS or entry.is_file():
            yield entry
        else:  # a folder of sources is the user's own: what has been imported from it, and by which names it is installed
            yield from chain(entry.glob("*.dist-info"), entry.glob("*.egg-info"))


def _imported_paths() -> Iterator[Path]:
    """The packages and modules that have been imported from elsewhere than Python's own library; plugin files are named."""
    library = tuple({os.path.dirname(os.__file__), os.path.realpath(os.path.dirname(os.__file__))})  # noqa: PTH120
    for name, module in list(sys.modules.items()):
        file = _file(module)
        if file is None or file.startswith(library) or name.startswith(NAMED_MODULES):
            continue
        if _file(sys.modules.get(name.rpartition(".")[0])):  # it is under its package
            continue
        path = Path(file)
        yield path.parent if hasattr(module, "__path__") else path


def _file(module: ModuleType | None) -> str | None:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None


def _both(paths: Iterable[Path]) -> Iterator[Path]:
    """Each path as it is called, and where it leads; none that does not exist."""
    for path in paths:
        if path.exists():
            yield path.absolute()
            yield path.resolve()
