"""A command that runs in a fork behaves as in a new process."""

import os
import signal
from pathlib import Path

import pytest

from tests.conftest import arena_in
from tests.eventually import DEADLINE_SECONDS
from tests.fork_server import preload, run_module, start_module

pytestmark = pytest.mark.process

PROGRAM = """
import atexit, os, pathlib, signal, sys
atexit.register(print, "bye")
print(sys.argv[1:], os.getcwd(), sys.path[0], os.environ.get("WORD"), __name__, sys.stdin.read(), sys.stdout.isatty())
print("noted", file=sys.stderr)
if sys.argv[1] == "raise":
    raise RuntimeError("on purpose")
if sys.argv[1] == "kill":
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTERM)
sys.exit({"text": "so long", "code": 7, "none": None}[sys.argv[1]])
"""


@pytest.mark.parametrize("ending", ["raise", "kill", "text", "code", "none"])
def test_a_forked_program_has_the_same_environment_and_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The arguments, folder, path, environment and input are the same, and so are the output, exit code and traceback."""
    (tmp_path / "program_of_test.py").write_text(PROGRAM)
    environment = {**os.environ, "WORD": "spoken"}
    done = [run_module("program_of_test", [ending], folder=tmp_path, environment=environment, typed="typed")]
    monkeypatch.setenv("ARENA_TEST_FORK", "no")
    done.append(run_module("program_of_test", [ending], folder=tmp_path, environment=environment, typed="typed"))
    forked, real = [(one.returncode, one.stdout, one.stderr) for one in done]
    assert forked == real
    assert forked[0] == {"raise": 1, "kill": -signal.SIGTERM, "text": 1, "code": 7, "none": 0}[ending]


def test_forked_commands_have_the_same_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands are a help text, a faulty spec, an unknown command, and a run."""
    (tmp_path / "bad.yaml").write_text("game: nothing\nagents: [random]\n")
    (tmp_path / "good.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    arena = arena_in(tmp_path)
    calls = [["--help"], ["validate", "bad.yaml"], ["nothing"], ["run", "good.yaml", "--no-store", "--format", "csv"]]
    forked = [(one.returncode, one.stdout.count("\n"), one.stderr) for one in [arena(*words) for words in calls]]
    monkeypatch.setenv("ARENA_TEST_FORK", "no")
    assert forked == [(one.returncode, one.stdout.count("\n"), one.stderr) for one in [arena(*words) for words in calls]]
    assert [code for code, *_ in forked] == [0, 2, 2, 0]


def test_a_file_that_shadows_a_preloaded_module_is_imported_instead(tmp_path: Path) -> None:
    """The file is in the working folder or on PYTHONPATH."""
    (tmp_path / "program_of_test.py").write_text("import click; print(click.__file__)")
    (tmp_path / "click.py").touch()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for folder, path in ((tmp_path, ""), (elsewhere, str(tmp_path))):
        done = run_module("program_of_test", [], folder=folder, environment={**os.environ, "PYTHONPATH": path})
        assert done.stdout == f"{tmp_path / 'click.py'}\n"


def test_a_command_with_environment_variables_of_python_runs_in_a_new_process(tmp_path: Path) -> None:
    (tmp_path / "program_of_test.py").write_text("import os, sys; print(os.getppid(), sys.flags.optimize)")
    for more, flag in (({}, 0), ({"PYTHONOPTIMIZE": "1"}, 1)):  # no test runs with this variable: it removes each assert
        done = run_module("program_of_test", [], folder=tmp_path, environment={**os.environ, **more})
        parent, found = map(int, done.stdout.split())
        assert (found, parent == os.getpid()) == (flag, bool(flag))


@pytest.mark.parametrize("forks", ["yes", "no"])
def test_a_command_that_runs_on_gets_signals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: str) -> None:
    """It has a session of its own, the modules that were preloaded, and the exit code of a new process."""
    monkeypatch.setenv("ARENA_TEST_FORK", forks)
    text = "import os, sys, signal; print(os.getsid(0) == os.getpid(), 'colorsys' in sys.modules, flush=True); signal.pause()"
    (tmp_path / "program_of_test.py").write_text(text)
    preload("colorsys")
    with (tmp_path / "errors").open("wb") as errors:
        started = start_module("program_of_test", [], folder=tmp_path, environment=os.environ, errors=errors.fileno())
    assert started.stdout is not None
    assert started.stdout.readline() == f"True {forks == 'yes'}\n"
    assert started.poll() is None
    started.send_signal(signal.SIGTERM)
    assert started.communicate(timeout=DEADLINE_SECONDS)[0] == ""
    assert started.returncode == -signal.SIGTERM
