"""Tests of the tiers: how `tests/conftest.py` finds them, and the limits of a unit test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.process
FORBIDDEN = {
    "starts a process": "subprocess.run(['true'])",
    "opens a socket": "socket.socket().bind(('127.0.0.1', 0))",
    "sleeps": "time.sleep(0.001)",
}
HEAD = "import socket, subprocess, time\nimport pytest\n"


def call(folder: Path, text: str, *words: str) -> str:
    """Run pytest with the fixtures and hooks of this project on one file, and return its output."""
    (folder / "test_tried.py").write_text(HEAD + text)
    project = ["-p", "tests.conftest", "-c", str(ROOT / "pyproject.toml"), "-o", "filterwarnings=ignore"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *project, "--rootdir", str(folder), *words, str(folder)],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("reason", FORBIDDEN)
def test_a_unit_test_that_starts_a_process_opens_a_socket_or_sleeps_fails(reason: str, tmp_path: Path) -> None:
    """With the mark of another tier, it passes."""
    body = f"def test_it():\n    {FORBIDDEN[reason]}\n"
    assert f"a unit test {reason}: use the mark `process`" in call(tmp_path, body)
    assert "1 passed" in call(tmp_path, f"@pytest.mark.process\n{body}")


def test_a_library_may_start_a_process_when_it_is_imported(tmp_path: Path) -> None:
    """Otherwise, the first test of a worker that imports matplotlib would fail on a machine without a list of fonts."""
    (tmp_path / "starts_a_process.py").write_text("import subprocess\nsubprocess.run(['true'])\n")
    body = f"import sys\ndef test_it():\n    sys.path.insert(0, {str(tmp_path)!r})\n    import starts_a_process\n"
    assert "1 passed" in call(tmp_path, body)


def test_a_shared_fixture_counts_for_each_of_its_tests(tmp_path: Path) -> None:
    """It does not count for tests that do not use it."""
    fixture = "@pytest.fixture(scope='module')\ndef shared():\n    subprocess.run(['true'])\n"
    tests = "def test_a(shared): pass\ndef test_b(shared): pass\ndef test_c(): pass\n"
    assert "3 passed, 2 errors" in call(tmp_path, fixture + tests)


def test_tiers_come_from_fixtures_parameters_and_marks(tmp_path: Path) -> None:
    """The most demanding tier counts."""
    body = """
def test_plain(): pass
def test_command(arena): pass
def test_program(node, arena): pass
@pytest.mark.parametrize("isolation", ["sandbox"])
def test_parameter(isolation): pass
@pytest.mark.process
@pytest.mark.load
def test_marked(browser): pass
"""
    tests = {"unit": "plain", "process": "command", "service": "program", "sandbox": "parameter", "load": "marked"}
    for tier, name in tests.items():
        assert f"::test_{name}" in (found := call(tmp_path, body, "--collect-only", "-m", tier))
        assert "1/5 tests collected" in found


def test_a_skipped_test_fails_if_every_test_must_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.ci/run` asks for this, because a program that it failed to install must not hide the tests that need it."""
    body = "def test_it(): pytest.skip('there is no engine')\n"
    assert "1 skipped" in call(tmp_path, body)
    monkeypatch.setenv("ARENA_REQUIRE", "all")
    found = call(tmp_path, body)
    assert "1 failed" in found
    assert "there is no engine" in found


LEFT = {
    "process": "subprocess.Popen(['sleep', '1000'])",
    "port": "socket.create_server(('127.0.0.1', 0))",
    "thread": "threading.Thread(target=threading.Event().wait, args=(3,)).start()",
    "temporary file": "tempfile.mkstemp()",
}


@pytest.mark.parametrize(("what", "tier"), [*[(what, "process") for what in LEFT], ("thread", "unit")])
def test_a_test_that_leaves_something_fails(what: str, tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next test passes, and so does a test with a fixture that the module shares."""
    monkeypatch.setenv("ARENA_TEST_PATIENCE", "0.01")
    text = f"""import tempfile, threading
pytestmark = pytest.mark.{tier}
kept = []
@pytest.fixture(scope="module")
def shared():
    made = {LEFT[what]}
    yield
    if {what == "process"}:
        made.kill()
        made.wait()
def test_clean(): pass
def test_leaves():
    kept.append({LEFT[what]})
def test_next(): pass
def test_shares(shared): pass
"""
    told = call(tmp_path, text)
    assert "4 passed, 1 error" in told
    assert "ERROR at teardown of test_leaves" in told
    assert f"the test left {what} " in told


def test_a_proof_may_take_longer_than_other_tests(tmp_path: Path) -> None:
    """A test of another tier ends the process of pytest after `faulthandler_timeout`, so it prints no result."""
    body = "def test_it(): time.sleep(2)\n"
    limit = ["-o", "faulthandler_timeout=1"]
    assert "1 passed" in call(tmp_path, f"@pytest.mark.proof\n{body}", *limit)
    found = call(tmp_path, f"@pytest.mark.process\n{body}", *limit)
    assert "Timeout" in found
    assert "passed" not in found
