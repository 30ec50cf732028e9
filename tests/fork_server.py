"""Runs `python -m MODULE ...` in a fork of a process that has already imported arena. This saves most of the start-up time.

The child has the arguments, the folder, the environment, the pipes and the `sys.path` of a new process, and ends with the same
exit code. It differs in one respect: modules are already imported. `run_module` starts a real process if it could matter: if the
environment changes how Python starts, or if a file in the folder or on PYTHONPATH has the name of an imported module. Tests that
concern signals, terminals or the imports of a command start real processes themselves.
"""

import array
import atexit
import gc
import io
import json
import os
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module, invalidate_caches
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

PRELOADED = [
    "arena.cli", "arena.api.cli", "arena.tournament", "arena.results", "arena.store", "arena.workers.pool", "arena.commands.run",
    "arena_agents", "arena_games",
]  # fmt: skip
SMALL = {"game": "tic-tac-toe", "rounds": 1, "agents": ["random", "greedy"]}
OPTIONAL = [
    "arena_check.commands", "arena_web.report.command", "arena_web.report.page", "jinja2", "matplotlib.figure",
    "matplotlib.backends.backend_svg",
]  # fmt: skip
TIMEOUT_SECONDS = 120.0
READY = b"r"
PROCESS_EVENT = "arena.tests.process"
"""The audit event of a process that is forked by a server. Starting a process in Python has events of its own."""
START_VARIABLES = ("PYTHON", "LC_", "LD_", "LANG", "TZ", "VIRTUAL_ENV", "DASK_")
"""Prefixes of the environment variables that Python or the C library reads when a process starts, or Dask when it is imported."""


def run_module(
    module: str,
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    typed: str | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m MODULE WORDS` in a folder. Return the result as `subprocess.run` does."""
    command = [sys.executable, "-m", module, *words]
    if module != "pytest" and _can_fork(folder, environment):  # pytest rewrites plugins that are not imported yet
        done = shared_server().call(command, folder, environment, typed, timeout)
        if done is not None:
            return done
    return subprocess.run(
        command, input=typed, capture_output=True, text=True, cwd=folder, env=environment, timeout=timeout, check=False
    )


def _can_fork(folder: Path, environment: Mapping[str, str]) -> bool:
    if os.environ.get("ARENA_TEST_FORK") == "no":
        return False
    for name in {*environment, *os.environ}:
        if name.startswith(START_VARIABLES) and name != "PYTHONPATH" and environment.get(name) != os.environ.get(name):
            return False
    return folder.is_dir()


class ForkServer:
    """A client that starts a fork server and sends it commands. The server ends when the client closes its socket.

    With `environment` and options for Python, the server belongs to another installation of Python, and does not import the
    optional modules.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, *options: str) -> None:
        self._socket, other = socket.socketpair()
        self.imports: list[str] = []
        """Further modules that the server imports before it forks for the next command."""
        optional = OPTIONAL if environment is None else []
        if environment is None:
            environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        with other:
            self.process = subprocess.Popen(
                [sys.executable, *options, str(Path(__file__)), str(other.fileno()), *optional],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
                env=environment,
            )
        if self._socket.recv(1) != READY:
            self.close()
            raise RuntimeError("the fork server has not started")
        atexit.register(self.close)

    def fileno(self) -> int:
        """Return the file descriptor of the socket, for a process that sends requests itself."""
        return self._socket.fileno()

    def close(self) -> None:
        """End the server."""
        self._socket.close()
        self.process.wait()

    def call(
        self, command: list[str], folder: Path, environment: Mapping[str, str], typed: str | None, timeout: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Run a command. Return None if it needs a real process."""
        out, err = os.pipe(), os.pipe()
        stdin = os.pipe() if typed is not None else (os.dup(0), -1)
        pid = self._send(command, folder, environment, [stdin[0], out[1], err[1]])
        if pid == 0:
            for descriptor in (out[0], err[0], stdin[1]):
                if descriptor >= 0:
                    os.close(descriptor)
            return None
        if typed is not None:
            with os.fdopen(stdin[1], "wb") as pipe, suppress(BrokenPipeError):
                pipe.write(typed.encode())
        texts = _read_all([out[0], err[0]], time.monotonic() + timeout)
        if texts is None:
            os.kill(pid, signal.SIGKILL)
        code = int.from_bytes(self._receive(4), "big", signed=True)
        if texts is None:
            raise subprocess.TimeoutExpired(command, timeout)
        return subprocess.CompletedProcess(command, code, *texts)

    def start(
        self,
        command: list[str],
        folder: Path,
        environment: Mapping[str, str],
        errors: int,
        out: int | None = None,
    ) -> "ForkedProcess | None":
        """Start a command that runs on in a session of its own. Return None if it needs a real process.

        `errors` and `out` are the file descriptors for its stderr and its stdout; without `out`, its stdout is a pipe.
        """
        pipe = os.pipe() if out is None else (None, os.dup(out))
        ending, stdin = os.pipe(), os.open(os.devnull, os.O_RDONLY)
        pid = self._send(command, folder, environment, [stdin, pipe[1], os.dup(errors), ending[1]])
        if pid == 0:
            for descriptor in (pipe[0], ending[0]):
                if descriptor is not None:
                    os.close(descriptor)
            return None
        return ForkedProcess(int.from_bytes(os.read(ending[0], 4), "big"), pipe[0], ending[0])

    def _send(
        self,
        command: list[str],
        folder: Path,
        environment: Mapping[str, str],
        descriptors: Sequence[int],
    ) -> int:
        """Send a request with file descriptors, which are closed here. A fourth descriptor means that the command runs on. Return
        the process id in the answer.
        """
        sys.audit(PROCESS_EVENT)
        call = {
            "module": command[2],
            "words": command[3:],
            "folder": str(folder),
            "environment": dict(environment),
            "imports": list(self.imports),
        }
        request = json.dumps(call).encode()
        try:
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
            self._socket.sendmsg([len(request).to_bytes(4, "big")], [rights])
            self._socket.sendall(request)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return int.from_bytes(self._receive(4), "big")

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise RuntimeError("the fork server has ended")
            data += piece
        return data


class ForkedProcess:
    """A process that a fork server has started. It has the part of `subprocess.Popen` that tests need."""

    def __init__(self, pid: int, out: int | None, ending: int) -> None:
        self.pid = pid
        self.stdout = None if out is None else os.fdopen(out)
        self.returncode: int | None = None
        self._ending = ending

    def poll(self) -> int | None:
        """Return the exit code, or None if the process still runs."""
        return self._await(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process, and return its exit code."""
        code = self._await(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        """Wait for the end of the process. Return the rest of its output."""
        self.wait(timeout)
        assert self.stdout is not None
        with self.stdout:
            return self.stdout.read(), None

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the process, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def _await(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._ending], [], [], seconds)[0]:
            self.returncode = int.from_bytes(os.read(self._ending, 4), "big", signed=True)
            os.close(self._ending)
        return self.returncode


def start_module(
    module: str,
    words: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    errors: int,
    out: int | None = None,
) -> "ForkedProcess | subprocess.Popen[str]":
    """Start `python -m MODULE WORDS` in a folder, and return the process. See `ForkServer.start`."""
    command = [sys.executable, "-m", module, *words]
    if _can_fork(folder, environment) and (started := shared_server().start(command, folder, environment, errors, out)):
        return started
    stdout = subprocess.PIPE if out is None else out
    return subprocess.Popen(command, cwd=folder, env=environment, text=True, start_new_session=True, stdout=stdout, stderr=errors)


def preload(*modules: str) -> None:
    """Let the server of this process import modules, so that later commands need not import them."""
    server = shared_server()
    server.imports += [name for name in modules if name not in server.imports]


_servers: list[ForkServer] = []
"""The server of this process, once the first call has started it."""


def shared_server() -> ForkServer:
    """Return the server of this process."""
    if not _servers:
        _servers.append(ForkServer())
    return _servers[0]


def server_ids() -> set[int]:
    """Return the ids of the servers that serve this process until it ends."""
    return {server.process.pid for server in _servers}


def _read_all(descriptors: Sequence[int], until: float) -> list[str] | None:
    """Read pipes to their ends, and close them. Return None after a timeout."""
    found = {descriptor: bytearray() for descriptor in descriptors}
    with selectors.DefaultSelector() as selector:
        for descriptor in descriptors:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                piece = os.read(key.fd, 1 << 16)
                found[key.fd] += piece
                if not piece:
                    selector.unregister(key.fd)
        complete = not selector.get_map()
    for descriptor in descriptors:
        os.close(descriptor)
    if not complete:
        return None
    return [io.TextIOWrapper(io.BytesIO(data)).read() for data in found.values()]


def _serve(connection: socket.socket, optional: Sequence[str]) -> None:
    """Fork for each request until the client closes the socket."""
    for name in PRELOADED:
        import_module(name)
    for name in optional:
        with suppress(ImportError):
            import_module(name)
    import_module("arena.spec").load_spec(SMALL)  # imports the installed plugins
    base = sys.path[1:]
    gc.collect()
    gc.freeze()
    connection.sendall(READY)
    while True:
        head, rights, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(4 * array.array("i").itemsize))
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:  # the guards of commands that have ended
                pass
        if not head:
            return
        descriptors = array.array("i")
        descriptors.frombytes(rights[0][2])
        size, body = int.from_bytes(head, "big"), b""
        while len(body) < size:
            body += connection.recv(size - len(body))
        request, runs_on = json.loads(body), len(descriptors) == 4
        for name in request.get("imports", ()):
            if name not in sys.modules:
                import_module(name)
                gc.collect()
                gc.freeze()
        path = [entry for entry in request["environment"].get("PYTHONPATH", "").split(os.pathsep) if entry]
        hides = any(map(_hides_imported, [request["folder"], *path]))
        pid = 0 if hides else os.fork()
        if pid == 0 and not hides:
            connection.close()
            if runs_on:
                _guard(descriptors.pop())
            _become(request, [request["folder"], *path, *base], descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(pid.to_bytes(4, "big"))
        if pid and not runs_on:
            _, status = os.waitpid(pid, 0)
            connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))


def _guard(ending: int) -> None:
    """Fork again, and return in the child, which is in a session of its own. The parent writes the process id of the child to the
    pipe `ending`, and its exit code when it has ended.
    """
    pid = os.fork()
    if pid == 0:
        os.close(ending)
        os.setsid()
        return
    os.closerange(0, ending)
    os.write(ending, pid.to_bytes(4, "big"))
    _, status = os.waitpid(pid, 0)
    with suppress(BrokenPipeError):
        os.write(ending, os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    os._exit(0)


def _hides_imported(folder: str) -> bool:
    """Return whether a new process would import a file in a folder instead of a module that is already imported here."""
    for path in Path(folder).iterdir() if Path(folder).is_dir() else ():
        name = path.stem
        if name in ("sitecustomize", "usercustomize"):
            return True
        file = getattr(sys.modules.get(name), "__file__", None)
        if name in sys.modules and path.suffix in ("", ".py", ".so") and Path(file or "").parent not in (path, path.parent):
            return True
    return False


def _become(request: dict[str, Any], path: list[str], descriptors: Sequence[int]) -> NoReturn:
    """Run the requested module in the forked process, and end it as a new process would end."""
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["-m", *request["words"]]
    sys.modules["__main__"] = ModuleType("__main__")
    sys.path[:] = path
    invalidate_caches()
    code = 0
    try:
        runpy._run_module_as_main(request["module"])  # type: ignore[attr-defined]  # the function behind `python -m`
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException as error:
        error.with_traceback(error.__traceback__ and error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        sys.stderr.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
