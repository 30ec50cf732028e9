"""The sandbox is secure; if it is not, agents do not play in it."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.limits import Limits
from arena.match.match import Program
from arena.match.record import Record
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec
from arena_isolation.agent_pool import AgentProcesses
from arena_isolation.agent_start import namespaces_work, prove_once
from arena_isolation.sandbox import SandboxError, enclose, environment, prove
from tests.conftest import arena_in
from tests.eventually import eventually
from tests.extensions.isolation.conftest import played

pytestmark = pytest.mark.usefixtures("nobody_left_behind")

SPIES = str(Path(__file__).with_name("spies.py"))
HOSTILE = str(Path(__file__).parents[2] / "isolation" / "hostile.py")
NO_WALLS = 'while [ "$1" != -- ]; do shift; done; shift; [ "$5" = leave ] && shift 6; exec "$@"'
"""A bwrap that starts the command and does nothing else; not even the words by which root becomes another user are heeded."""


@pytest.fixture
def bwrap(bubblewrap: str) -> str:
    """The path of bubblewrap."""
    return bubblewrap


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the user, for one test."""
    made = tmp_path / "home"
    made.mkdir()
    made.chmod(0o777)  # if arena runs as root, agents run as another user
    monkeypatch.setenv("HOME", str(made))
    return made


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder, for one test."""
    made = tmp_path / "work"
    made.mkdir()
    made.chmod(0o777)
    monkeypatch.chdir(made)
    return made


def first_match(spec: dict[str, Any]) -> Record:
    """The first match of a spec."""
    ready = load_spec(spec)
    with closing(MatchRunner(ready)) as stage:
        return stage.play(Schedule(ready).take(1)[0])


def fake(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put another bwrap on PATH."""
    program = folder / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/bash\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


# --- The proof ------------------------------------------------------------------------------------------------------------


def test_a_secure_sandbox_passes_and_leaves_no_files(bwrap: str, home: Path, work: Path) -> None:
    """The home and the working folder contain no file of the test program afterwards."""
    prove()
    assert list(home.iterdir()) == list(work.iterdir()) == []


def test_a_program_that_starts_the_command_without_isolation_is_not_accepted(
    bwrap: str, home: Path, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test program reaches the network, reads and writes the user's files, and sees other processes. The message names all
    four. The files that it has written are removed.
    """
    fake(tmp_path, NO_WALLS, monkeypatch)
    with pytest.raises(SandboxError) as caught:
        prove()
    expected = ["network", "files of the user can be read", "files can be written", "processes outside", "isolation: process"]
    for words in (*expected, *(["root privileges", "kernel settings"] if os.geteuid() == 0 else [])):
        assert words in str(caught.value)
    assert list(home.iterdir()) == list(work.iterdir()) == []


HOLES = {
    "--share-net": "the network can be reached",
    '--ro-bind "$HOME" "$HOME"': "files of the user can be read",
    '--ro-bind "$PWD" "$PWD"': "files of the user can be read",
    '--bind "$PWD" "$PWD"': "files can be written",
    "--ro-bind /proc /proc": "processes outside can be seen",
    "--bind /proc/sys /proc/sys": "kernel settings can be changed",
}


PAIRS = [
    ["--share-net"],
    ['--ro-bind "$HOME" "$HOME"', "--ro-bind /proc /proc"],
    ['--bind "$PWD" "$PWD"'],
    ['--ro-bind "$PWD" "$PWD"', "--bind /proc/sys /proc/sys"],
]
"""The holes that are open in one test. A proof takes more than a second."""


@pytest.mark.parametrize("holes", PAIRS, ids=" and ".join)
def test_each_leak_of_a_sandbox_is_found(
    bwrap: str, home: Path, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holes: list[str]
) -> None:
    """bubblewrap gets one or two additional arguments. The message names exactly the leak that they cause."""
    gather = 'given=(); while [ "$1" != -- ]; do given+=("$1"); shift; done; shift'
    folders = " ".join(
        f"--perms 0755 --dir {quote(str(folder))}"
        for folder in reversed(home.parents)
        if folder.is_relative_to(tmp_path.parents[2])
    )
    fake(
        tmp_path,
        f'{gather}\nHOME={quote(str(home))}; exec {bwrap} "${{given[@]}}" {folders} {" ".join(holes)} -- "$@"',
        monkeypatch,
    )
    with pytest.raises(SandboxError) as caught:
        prove()
    found = {words for words in HOLES.values() if words in str(caught.value)}
    expected = {HOLES[hole] for hole in holes}
    assert expected <= found
    assert len(found) <= len(expected) + any(hole.startswith("--bind") for hole in holes)


NO_SANDBOX = {
    "echo no namespaces here >&2; exit 1": "ended with code 1 and said 'no namespaces here'.*user namespaces",
    "exit 0": "expected a program to run in it",
    'echo \'{"connected": false, "read": [], "wrote": [], "saw": false}\'': "expected a program to run in it",
    "echo '[]'": "expected a program to run in it",
    "kill -9 $$": "ended with code -9",
}


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is refused before")
@pytest.mark.parametrize("script", NO_SANDBOX)
def test_a_sandbox_that_does_not_run_the_test_program_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, home: Path, work: Path
) -> None:
    """The false bwrap fails, prints nothing, or prints the expected text without running the test program."""
    fake(tmp_path, script, monkeypatch)
    with pytest.raises(SandboxError, match=NO_SANDBOX[script]):
        prove()


REFUSED = {
    "none": "expected bwrap on PATH, found none; install bubblewrap",
    "leaky": "this sandbox is not secure: the network can be reached",
}


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is refused before")
@pytest.mark.parametrize(("kind", "workers"), [("none", 1), ("leaky", 2)])
def test_without_a_sandbox_nothing_is_played(
    tmp_path: Path, work: Path, kind: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command exits with code 2, gives the reason, and has no fallback. Workers do the same."""
    (work / "spec.yaml").write_text("game: tic-tac-toe\nagents: [random, greedy]\nrounds: 1\nisolation: sandbox\n")
    if kind == "none":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        fake(tmp_path, NO_WALLS, monkeypatch)
    done = arena_in(work)("run", "spec.yaml", "--no-store", "--workers", workers)
    assert done.returncode == 2
    assert done.stdout == ""
    assert REFUSED[kind] in done.stderr


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is refused before")
def test_an_agent_is_not_started_in_a_sandbox_that_leaks(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox is checked before every process that starts in it."""
    fake(tmp_path, NO_WALLS, monkeypatch)
    prove_once.cache_clear()
    program = Program("random", {}, None, (), str(work))
    with AgentProcesses() as hosts, pytest.raises(SandboxError, match="this sandbox is not secure"):
        hosts.take(program, Limits(), "sandbox")
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "isolation": "sandbox"})
    with pytest.raises(SandboxError, match="this sandbox is not secure"):
        MatchRunner(spec)  # before the first match; and a refusal is not remembered as a proof


def test_a_sandbox_is_refused_on_systems_other_than_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the system and an alternative."""
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="a sandbox needs Linux, but this is darwin; use isolation: process"):
        enclose(["true"], folder=".", calls=None, metered=True)
    assert issubclass(SandboxError, ArenaError)


# --- Agents in it ---------------------------------------------------------------------------------------------------------


def spied(agent: dict[str, Any], isolation: str, **more: Any) -> Record:
    """The record of a match of a spy."""
    agents = [{**agent, "isolation": isolation}, "random"]
    return first_match({"game": "tic-tac-toe", "agents": agents, "rounds": 1, "plugins": [SPIES], **more})


@contextmanager
def callback(last: Callable[[], object]) -> Iterator[None]:
    """Do something at the end."""
    try:
        yield
    finally:
        last()


def test_an_agent_in_the_sandbox_cannot_find_private_data_or_other_processes(
    bwrap: str, home: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the sandbox, the same agent finds everything but other processes, so it does look for them.

    It looks for files of the user, files of the system about its users, files beside the plugin, a port of this machine, a
    socket without a file, a process, and the environment variables of arena, which the sandbox could pass on.
    """
    monkeypatch.setenv("SECRET_TOKEN", "open-sesame")
    name = f"arena-test-{os.getpid()}"
    read = [str(path) for path in (home / "secret", work / "secret", home, HOSTILE, "/etc/passwd", "/var")]
    written = [folder / f"written-{os.getpid()}" for folder in (home, work, Path(__file__).parent)]
    for path in read[:2]:
        Path(path).write_text("password")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as local,
        subprocess.Popen(["sleep", "54321.125"]) as process,
        callback(process.kill),  # the test never waits for it
    ):
        local.bind(f"\0{name}")
        local.listen()
        spy = {"agent": "curious", "read": read, "write": list(map(str, written)), "port": server.getsockname()[1]}
        spy |= {"unix": name, "process": "54321.125", "variable": "open-sesame"}
        inside = spied(spy, "sandbox")
        kept_out = [not path.exists() for path in written]
        outside = spied(spy, "process")
    let_out = [path.exists() for path in written]
    written[-1].unlink(missing_ok=True)
    assert (inside.termination, inside.message) == ("normal", None)
    others = ["variable"] if namespaces_work() else ["process", "variable"]
    assert outside.termination == "exception"
    assert f"Escaped: {', '.join([*read, 'port', 'unix', *others])} (" in str(outside.message)
    assert all(kept_out)
    assert all(let_out)


def test_a_program_cannot_exceed_its_limits_in_the_sandbox(bwrap: str) -> None:
    """It cannot raise its memory limit, become root of a namespace, mount, or fill the memory through /tmp."""
    insatiable = {"agent": "insatiable", "isolation": "sandbox", "limits": {"memory_mb": 400}}
    record = first_match({"game": "tic-tac-toe", "agents": [insatiable, "random"], "rounds": 1, "plugins": [SPIES]})
    assert (record.termination, record.message) == ("normal", None)


ATTACKS = {
    "fork-bomb": ({"crash"}, "more than 64 processes"),
    "leaves-home": ({"timeout"}, "longer than its limit of 0.3 s"),
    "memory": ({"memory"}, ""),
    "exits": ({"crash"}, "ended with code 3"),
    "kills-group": ({"crash"}, "killed by SIGKILL"),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_hostile_agent_loses_in_the_sandbox(bwrap: str, name: str) -> None:
    """All processes that it started end, too: see `nobody_left_behind`."""
    seconds = 0.3 if "timeout" in ATTACKS[name][0] else 10
    hostile = {"agent": name, "isolation": "sandbox", "limits": {"seconds": seconds, "memory_mb": 300}}
    record = first_match({"game": "tic-tac-toe", "rounds": 1, "plugins": [HOSTILE], "agents": [hostile, "greedy"]})
    endings, message = ATTACKS[name]
    assert record.termination in endings, record.message
    assert record.labels[record.seat or 0] == name
    assert message in str(record.message)


def test_no_process_outlives_its_sandbox(bwrap: str, tmp_path: Path) -> None:
    """If bubblewrap is killed, for example by arena or at its end, the program ends, too."""
    word = f"4{os.getpid()}.125"
    command = enclose(["sleep", word], folder=tmp_path, calls=None, metered=True)
    with subprocess.Popen(command, env=environment(os.environ)) as process:
        eventually(lambda: sleeping(word))
        process.kill()
    eventually(lambda: not sleeping(word))


def sleeping(word: str) -> bool:
    """Tell whether `sleep` runs with that word, and not its sandbox, which has the word in its command line, too."""
    return any(
        line.endswith(f"sleep\0{word}\0".encode()) and b"--unshare-pid" not in line and b"/unprivileged.py" not in line
        for line in command_lines()
    )


def command_lines() -> Iterator[bytes]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            yield (folder / "cmdline").read_bytes()


def test_an_agent_plays_the_same_in_the_sandbox(bwrap: str) -> None:
    """The records are equal except for times."""
    spec = {"game": "tic-tac-toe", "agents": ["random", {"agent": "alpha-beta", "depth": 3}], "rounds": 1, "seed": 4}
    here = [record.timeless() for record in played(spec)]
    assert [record.timeless() for record in played({**spec, "isolation": "sandbox"})] == here


def test_a_program_may_read_the_files_that_its_command_names(bwrap: str, tmp_path: Path) -> None:
    """The paths are relative to the folder. Other files in the folder are not readable."""
    (tmp_path / "named").write_text("yes")
    (tmp_path / "beside").write_text("no")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "file").write_text("yes")
    script = "import os, sys; print([os.path.exists(name) for name in ('named', 'beside', 'inside/file', '..')], os.listdir())"
    words = [sys.executable, "-I", "-c", script, "named", "inside", "..", "/"]
    command = enclose(words, folder=tmp_path, calls=None, metered=True)
    done = subprocess.run(command, env=environment(os.environ), capture_output=True, text=True, check=True)
    assert done.stdout.split("]")[0] == "[True, False, True, True"
    assert "beside" not in done.stdout


@pytest.mark.unit
def test_a_command_may_name_only_folders_inside_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the folder itself nor one above it or beside it is shown, also if a path or a link leads out of the folder."""
    monkeypatch.setattr("arena_isolation.sandbox._bubblewrap", lambda: "bwrap")
    monkeypatch.setattr("arena_isolation.sandbox._is_root", lambda: False)
    own = tmp_path / "own"
    (own / "inside").mkdir(parents=True)
    (tmp_path / "beside").mkdir()
    (own / "link").symlink_to(tmp_path / "beside")
    words = ["true", "inside", ".", "..", "../beside", "inside/../../beside", "link", str(tmp_path)]
    command = enclose(words, folder=own, calls=None, metered=True)
    shown = {place for word, place in pairwise(command) if word == "--ro-bind" and Path(place).is_relative_to(tmp_path)}
    assert shown == {str(own / "inside")}


def test_the_visible_memory_of_the_machine_is_constant_in_the_sandbox(bwrap: str, tmp_path: Path) -> None:
    """psutil, which Axelrod imports, needs the total memory. The numbers that change with other programs are not visible."""
    command = enclose(["sh", "-c", "cat /proc/meminfo"], folder=tmp_path, calls=None, metered=True)  # the command names no file
    done = subprocess.run(command, env=environment(os.environ), capture_output=True, text=True, check=True)
    found = dict(line.split(":") for line in done.stdout.splitlines())
    assert found["MemTotal"].split() == ["4194304", "kB"]
    assert found["MemFree"].split() == ["2097152", "kB"]


def test_programs_in_usr_games_are_found(bwrap: str, tmp_path: Path) -> None:
    """Debian installs game engines in /usr/games."""
    programs = [one for one in sorted(Path("/usr/games").glob("*")) if os.access(one, os.X_OK)]
    if not programs:
        pytest.skip("no program in /usr/games")
    command = enclose(["sh", "-c", f"command -v {programs[0].name}"], folder=tmp_path, calls=None, metered=True)
    done = subprocess.run(command, env=environment(os.environ), capture_output=True, text=True, check=True)
    assert done.stdout == f"{programs[0]}\n"
