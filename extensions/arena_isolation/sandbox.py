"""Runs programs in a sandbox of bubblewrap: no network, no files of the user, no other processes in sight.

    prove()                                                         call this first; raises SandboxError if the sandbox leaks
    command = enclose(["node", "my_agent.js"], ...)               the command to start instead of the program
    surroundings = environment(os.environ)                          its variables, without the user's own

The program sees only the files that `mounts` lists and the files that the caller names, all of them read-only. It has a private
/tmp, which is removed when it ends, a /proc with its own processes, and a minimal /dev. It can use only the system calls that a
player needs. Limits on the process that starts the sandbox also apply inside. Requires Linux and bubblewrap 0.8 or newer.

`prove` tests the sandbox by trying to break out of it. The options of bubblewrap do not prove that the sandbox works. Their
effect depends on the kernel, on its configuration, and on the program that is called bwrap, and a sandbox without effect may give
no warning.
"""

import fcntl
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from secrets import randbelow, token_hex
from types import ModuleType
from typing import Any

import arena
from arena.api.errors import IsolationError
from arena.api.processes import ProcessTree, PythonProcess
from arena.api.spec import PythonFile
from arena.api.store import are_own, cache_folder, describe_cache_fault, make_cache_folder, private_cache
from arena_isolation.canary import process_mark
from arena_isolation.helper_process import OWN_PATH
from arena_isolation.system_calls import filter_pipe
from arena_isolation.unprivileged import FIRST_USER, NOBODY, USERS, own_map

BWRAP = "bwrap"
BAIT_PREFIX = ".arena-secret-"
"""How the names of the files begin that the canary tries to read."""
INSTEAD = "or use isolation: process"
SCRATCH = "/tmp"  # noqa: S108 - the sandbox has its own
"""The only writable folder except /dev/shm."""
SCRATCH_BYTES = 64 << 20
"""The size of this folder in bytes; /dev/shm has a quarter of it. Without a limit, a tmpfs may take half of the memory."""
KEPT_VARIABLES = (
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", OWN_PATH, "PYTHONHASHSEED", "PYTHONUTF8"),
    *("ARENA_PLUGINS", "ARENA_PLAIN", ProcessTree.OF_WORKER, "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
)
"""The environment variables that the program inherits; others may hold passwords. The variable OF_WORKER identifies all processes
that a worker has started.
"""
SANDBOX_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
"""Debian and its derivatives put engines, such as Stockfish and GNU Go, into the folders for games."""
UNPRIVILEGED = Path(__file__).with_name("unprivileged.py")
COUNTING_FOLDERS = ("fs", "irq", "pressure")
COUNTING_FILES = (
    *("buddyinfo", "cgroups", "diskstats", "interrupts", "key-users", "keys", "loadavg", "meminfo", "pagetypeinfo", "partitions"),
    *("sched_debug", "schedstat", "slabinfo", "softirqs", "stat", "swaps", "timer_list", "uptime", "vmallocinfo", "vmstat"),
    *("zoneinfo", "sys/fs/aio-nr", "sys/fs/dentry-state", "sys/fs/file-nr", "sys/fs/inode-nr", "sys/fs/inode-state"),
    *("sys/kernel/pty/nr", "sys/kernel/random/entropy_avail"),
)
"""The folders and files in /proc that count what all programs of the machine do. A seat could leave a message there for another
seat. The number of processors and the size of the memory are still available, from sched_getaffinity and sysinfo.
"""
EMPTY_FILE = Path(arena.__file__).with_name("py.typed")
"""An empty file that always exists."""
CONSTANT_FILES = {"meminfo": Path(__file__).with_name("meminfo.txt")}
"""Files in /proc that libraries such as psutil cannot do without. They have the same numbers on every machine, at any time."""
CANARY = Path(__file__).with_name("canary.py")
NOT_RUN = 127
"""The exit code of UNPRIVILEGED if it cannot start the program."""
CANARY_SECONDS = 20.0
"""Timeout for the canary."""


SYSTEM_PATHS = (
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share"),
    *("/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/games", "/usr/games"),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"),
)
"""Programs and libraries, and the files that they need to find each other. This is not all of /usr, because container images keep
the sources of users in /usr/src.
"""
PREFIX_PARTS = ("bin", "lib", "lib64", "pyvenv.cfg")
"""The parts of the installation prefix that Python needs. The whole prefix may be the folder of a project."""
NAMED_MODULES = ("__main__", "arena_plugin_")
"""Prefixes of the names of modules that were loaded from named files and not imported."""
SITE_FOLDERS = ("site-packages", "dist-packages")


class SandboxError(IsolationError):
    """There is no working sandbox here. The message names the failed test and a remedy."""


def enclose(
    command: Sequence[str],
    *,
    readable: Iterable[Path] = (),
    private: Iterable[Path] = (),
    folder: str | Path,
    calls: int | None,
    metered: bool,
) -> list[str]:
    """Return the command line that runs `command` in a sandbox with the working folder `folder`. The program sees only the files
    that it may read.

    The program may read `readable`, the folders in `private`, and the files that `command` names, including the program itself.
    The paths in `command` are relative to `folder`. `command` may also name a folder inside `folder`. `calls` is the descriptor
    of a filter of system calls, as opened by `filter_pipe`, or None for no filter. If the kernel does not count all memory of the
    program, `metered` is False. Then /dev/zero is empty, because mapping it would create hidden memory. Start the command only
    with the variables from `environment`, because a program can read the variables of bubblewrap in /proc/1/environ. Raises
    SandboxError if bubblewrap is missing; `prove` tests whether the sandbox works.
    """
    place = Path(folder).absolute()
    program = shutil.which(str(place / command[0]) if "/" in command[0] else command[0])
    words = [command[0] if program is None else str(Path(program).absolute()), *command[1:]]  # PATH is different inside
    named = [place / word for word in words if _names(word, place)]
    shown = [*named, *(path.absolute() for path in readable)]
    root = _is_root()
    user = 0
    if root:
        _check_readable(shown)
        user = FIRST_USER + randbelow(USERS) if has_own_users() else NOBODY
    apart = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL"]
    if root:  # the remaining rights only allow the program to become another user without rights
        needed = [word for right in ("SETUID", "SETGID", "SETPCAP") for word in ("--cap-add", f"CAP_{right}")]
        begin = [*_unprivileged("enter", user), _bubblewrap(), *apart, *needed]
    else:  # without further user namespaces, capabilities cannot be regained
        begin = [_bubblewrap(), "--unshare-user", "--disable-userns", *apart]
    return [
        *begin,
        # A separate session, because otherwise the program could type into the terminal of the user (TIOCSTI, CVE-2017-5226).
        *("--die-with-parent", "--new-session", "--hostname", "arena"),
        # The root is an empty tmpfs. It becomes read-only only at the end, because folders for mounts have to be created in it
        # first.
        *("--size", str(SCRATCH_BYTES), "--perms", "1777", "--tmpfs", SCRATCH, "--proc", "/proc", "--dev", "/dev"),
        *("--size", str(SCRATCH_BYTES // 4), "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),  # noqa: S108
        *(() if metered else ("--ro-bind", str(EMPTY_FILE), "/dev/zero")),
        *("--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"),  # no terminals: their buffers belong to no process
        *_kernel_files(),
        *_hidden_counters(),
        *(() if calls is None else ("--seccomp", str(calls))),
        *(shown_files := mounts([*shown, *private, UNPRIVILEGED])),
        *_folders_above(place / "x", shown_files),
        *("--remount-ro", "/", "--chdir", str(place), "--"),
        *_unprivileged("leave", user),
        *words,
    ]


def _unprivileged(step: str, user: int) -> list[str]:
    return [sys.executable, "-I", "-S", str(UNPRIVILEGED), step, str(user)]


def has_own_users() -> bool:
    """Return True if each sandbox can run as a user of its own, so that no other program can use up what the kernel gives it."""
    last = FIRST_USER + USERS - 1
    maps = [own_map(name) for name in ("uid_map", "gid_map")] if _is_root() else [[]]
    return all(any(first <= FIRST_USER and last < first + count for first, _, count in ranges) for ranges in maps)


def _is_root() -> bool:
    """Return True if a program in the sandbox would also be root outside it. Raises SandboxError if the program could not
    become another user.
    """
    if os.geteuid() != 0:
        return False
    for name in ("uid_map", "gid_map"):
        ranges = own_map(name)
        if any(first <= NOBODY < first + count for first, _, count in ranges):
            continue
        if all(outside for first, outside, _ in ranges if first == 0):
            return False  # this process is root only in a user namespace that another user has made
        raise SandboxError(
            f"sandbox: arena runs as root, but this machine has no user id {NOBODY} for the agents; start arena as another user"
        )
    return True


def _check_readable(files: Iterable[Path]) -> None:
    """Raise SandboxError for a file or program that only root can use, because the agent runs as another user."""
    for top in files:
        for path in (top, *(top.rglob("*") if top.is_dir() else ())):
            with suppress(OSError):
                mode = path.stat().st_mode
                needed = 0o5 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0o4
                if mode & needed != needed:
                    raise SandboxError(
                        f"sandbox: {path} can be read only by its owner; arena runs as root, so agents run as another user: "
                        f"chmod -R o+rX {top}, or start arena as the user who owns it"
                    )


def _kernel_files() -> Iterator[str]:
    """Yield the arguments that make all of /proc read-only, except the processes."""
    for path in sorted(Path("/proc").iterdir()):
        if path.name.isdigit() or path.is_symlink():
            continue
        with suppress(OSError):
            mode = path.stat().st_mode
            if stat.S_ISDIR(mode) or mode & 0o222:
                yield from ("--ro-bind-try", str(path), str(path))


def _hidden_counters() -> Iterator[str]:
    """Yield the arguments that hide what counts the whole machine in /proc: an empty file or folder takes its place."""
    for name in COUNTING_FOLDERS:
        if Path("/proc", name).is_dir():
            yield from ("--tmpfs", f"/proc/{name}", "--remount-ro", f"/proc/{name}")
    for name in COUNTING_FILES:
        if Path("/proc", name).is_file():
            yield from ("--ro-bind", str(CONSTANT_FILES.get(name, EMPTY_FILE)), f"/proc/{name}")


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables for a sandboxed program: variables that configure programs, but none that identifies the
    user.
    """
    kept = {name: value for name, value in given.items() if name in KEPT_VARIABLES}
    inside = {"HOME": SCRATCH, "TMPDIR": SCRATCH, "PYTHONDONTWRITEBYTECODE": "1"}
    inside |= {"ARENA_CACHE": str(cache_folder()), "ARENA_CACHE_CHECKED": "1"}  # files in a sandbox have other owners
    return {**kept, **inside, "PATH": f"{Path(sys.executable).parent}:{SANDBOX_PATH}"}


def prove() -> None:
    """Run a canary in the sandbox. Raises SandboxError unless all its escapes fail and all permitted actions succeed.

    The canary tries to connect to a socket of this process, to read secrets that are written into the home of the user and the
    working folder, to write there and in /usr/bin, to see this process, and to open every file of kernel settings. It also
    reports its rights.
    """
    nonce = token_hex(16)
    with ExitStack() as stack:
        port = stack.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1]
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
        made = []
        for path in (Path(folder, f".arena-{nonce}") for folder in folders):
            with suppress(OSError):  # usually there is no such file
                path.unlink()
                made.append(str(path))
    _judge(report, nonce, made)


def _judge(report: Mapping[str, Any], nonce: str, made: Sequence[str]) -> None:
    works = report.get("nonce") == nonce and report.get("scratch") is True
    if not works:
        raise SandboxError(f"sandbox: expected a program to run in it with a writable /tmp, got {report}; {_REPAIR}")
    broken = []
    if report.get("connected") is not False:
        broken.append("the network can be reached")
    if report.get("read") != []:
        broken.append(f"files of the user can be read: {report.get('read')}")
    # /tmp in the sandbox is not /tmp outside. So a file that the canary wrote there does not exist here, or it is in `made`.
    outside = [path for path in report.get("wrote", ["?"]) if not Path(path).is_relative_to(SCRATCH)]
    if made or outside:
        broken.append(f"files can be written: {made or outside}")
    if report.get("saw") is not False:
        broken.append("processes outside can be seen")
    if report.get("keys") is not False:
        broken.append("kernel keys can be requested")
    if report.get("settings") != []:
        broken.append(f"kernel settings can be changed: {report.get('settings')}")
    if report.get("rights") != 0:
        broken.append(f"a program has root privileges: {report.get('rights')}")
    if broken:
        where = f"{shutil.which(BWRAP)}; working folder {Path.cwd()}"
        raise SandboxError(f"sandbox: this sandbox is not secure: {'; '.join(broken)} ({where}); {_REPAIR}")


_REPAIR = f"check that {BWRAP} on PATH is bubblewrap, and start arena in a separate folder, {INSTEAD}"
_NAMESPACES = (
    f"expected bubblewrap 0.8 or newer, and user namespaces (sysctl user.max_user_namespaces above 0, "
    f"kernel.apparmor_restrict_unprivileged_userns 0 if it exists, a container that allows them), {INSTEAD}"
)


def _report(task: Mapping[str, Any]) -> dict[str, Any]:
    bubblewrap = _bubblewrap()
    try:
        with filter_pipe(frozen=True, metered=True) as calls:
            done = subprocess.run(  # noqa: S603 - our own canary
                enclose([sys.executable, "-I", "-S", str(CANARY)], folder=Path.cwd(), calls=calls, metered=True),
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
        unreadable = f"users other than root must be able to read Python: chmod -R o+rX {sys.prefix} {sys.base_prefix}, {INSTEAD}"
        advice = unreadable if done.returncode == NOT_RUN and _is_root() else _NAMESPACES
        raise SandboxError(f"sandbox: {bubblewrap} ended with code {done.returncode} and said {said!r}; {advice}")
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = None
    return report if isinstance(report, dict) else {}


def _places() -> list[Path]:
    """Return the folders in which the user may have secrets."""
    places = (Path.home(), Path.cwd(), Path(tempfile.gettempdir()), cache_folder())
    return list(dict.fromkeys(path.resolve() for path in places))


@contextmanager
def _secret(folder: Path, text: str) -> Iterator[list[Path]]:
    """Create a file with a text, and delete it after the block. If the folder is not writable, the yielded list is empty.

    The file is locked, so that files that a killed run has left can be recognised and are deleted.
    """
    _delete_abandoned(folder)
    try:
        file = tempfile.NamedTemporaryFile("w", dir=folder, prefix=BAIT_PREFIX, delete=False)  # noqa: SIM115 - closed below
    except OSError:
        yield []
        return
    with closing(file), ExitStack() as stack:
        stack.callback(Path(file.name).unlink, missing_ok=True)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.fchmod(file.fileno(), 0o644)  # if arena runs as root, the canary runs as another user
        file.write(text)
        file.flush()
        yield [Path(file.name)]


def _delete_abandoned(folder: Path) -> None:
    """Delete the files of `_secret` that no process holds any more."""
    with suppress(OSError):
        for path in folder.glob(f"{BAIT_PREFIX}*"):
            with suppress(OSError), open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:  # noqa: PTH123
                status = os.fstat(file.fileno())
                if stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid():
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    path.unlink()


def _bubblewrap() -> str:
    if sys.platform != "linux":
        raise SandboxError(f"sandbox: a sandbox needs Linux, but this is {sys.platform}; use isolation: process")
    found = shutil.which(BWRAP)
    if found is None:
        raise SandboxError(f"sandbox: expected {BWRAP} on PATH, found none; install bubblewrap 0.8 or newer, {INSTEAD}")
    return found


def _names(word: str, folder: Path) -> bool:
    """Return True if a word in a command names a file, or a folder inside `folder`."""
    try:
        path = folder / word
        return path.is_file() or (path.is_dir() and folder.resolve() in path.resolve().parents)
    except (OSError, ValueError):  # not a path
        return False


def mounts(named: Iterable[Path]) -> list[str]:
    """Return the arguments with which bubblewrap shows the programs, the libraries, and the files and folders in `named`. The
    paths in `named` are absolute.
    """
    line: list[str] = []
    for text in SYSTEM_PATHS:
        path = Path(text)
        if path.is_symlink() and path.is_dir():  # such as /bin on most systems
            line += ["--symlink", str(path.readlink()), text]
        elif path.exists():
            line += [*_folders_above(path, line), "--ro-bind", text, text]
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    python = [Path(prefix, name) for prefix in prefixes for name in PREFIX_PARTS]
    for entry in map(Path, PythonProcess.import_path()):
        if entry.name in SITE_FOLDERS or entry.is_file():
            python.append(entry)
        else:  # a folder of the user's sources, of which only the parts that callers name are shown
            python += [*entry.glob("*.dist-info"), *entry.glob("*.egg-info")]
    own = Path(__file__).parents[1]  # all extensions, because the sandbox may need one that this process has not imported
    shown = {Path(text) for text in SYSTEM_PATHS}
    there = [path for path in chain(python, _imported_paths(), [own], _shared_tables(), named) if path.exists()]
    both = {*[path.absolute() for path in there], *[path.resolve() for path in there]}  # both the link and its target
    for path in sorted(both):  # folders before their contents
        if path not in shown and shown.isdisjoint(path.parents):
            line += [*_folders_above(path, line), "--ro-bind", str(path), str(path)]
            shown.add(path)
    return line


def _folders_above(path: Path, line: Collection[str]) -> Iterator[str]:
    """Yield the arguments that create the folders above a path so that everyone may use them. Otherwise, bubblewrap would create
    them for root alone.
    """
    for parent in reversed(path.parents):
        if str(parent) not in line and str(parent) not in ("/", SCRATCH):
            yield from ("--perms", "0755", "--dir", str(parent))


def _shared_tables() -> list[Path]:
    """Return what every sandbox may read of the cache: tables of heuristics, and machine code of searches in which all code is
    arena's own. The folder for this code is created, because one that appears later would not be visible. Most of the cache is
    not visible in a sandbox: it has files from git revisions, and answers of language models.
    """
    shared = checked_folders([cache_folder() / "compiled"])
    tables = [*cache_folder().glob("*.table")]
    return [*shared, *[table for table in tables if are_own([table])]] if describe_cache_fault(cache_folder()) is None else []


def checked_folders(folders: Iterable[Path]) -> list[Path]:
    """Create folders in the cache, and return those in which only the user has written. Inside of a sandbox, nothing can check
    this. Without these folders, searches stay uncompiled.
    """
    return [folder for folder in folders if make_cache_folder(folder) and are_own(folder.iterdir())]


def users_code() -> Path:
    """Return the folder for the machine code of searches with code of the user. A sandbox shows it only to agents of the user."""
    return cache_folder() / "compiled-own"


def private_folder(origin: str) -> Path:
    """Return the folder for the machine code of an entry that brings its own code. `origin` is `PluginVersion.origin`. A sandbox
    shows this folder only to agents with this origin.
    """
    return private_cache() / origin


def _imported_paths() -> Iterator[Path]:
    """Yield the paths of imported packages and modules that are installed, or come with arena, but are not part of Python's
    standard library. The user's own modules are left out, because they may belong to other agents; callers name those to show.
    """
    library = tuple({os.path.dirname(os.__file__), os.path.realpath(os.path.dirname(os.__file__))})  # noqa: PTH120
    arenas = Path(arena.__file__).parent
    for name, module in list(sys.modules.items()):
        file = _file(module)
        if file is None or file.startswith(library) or name.startswith(NAMED_MODULES):
            continue
        if _file(sys.modules.get(name.rpartition(".")[0])):  # the module belongs to its package
            continue
        path = Path(file)
        path = path.parent if hasattr(module, "__path__") else path
        if path == arenas or not PythonFile(path).is_own() or path.name in _list_installed(str(path.parent)):
            yield path


@cache
def _list_installed(folder: str) -> frozenset[str]:
    """Return the names of the packages and modules that pip (with `--target`) has put into a folder."""
    found: set[str] = set()
    for record in Path(folder).glob("*.dist-info/RECORD"):
        with suppress(OSError):
            found.update(re.findall(r"^([^/,\n]+)", record.read_text(errors="replace"), re.MULTILINE))
    return frozenset(found)


def _file(module: ModuleType | None) -> str | None:
    file = getattr(module, "__file__", None)
    return file if isinstance(file, str) else None
