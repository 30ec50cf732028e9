"""Tests of the program that runs failed tests once more."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import retry

pytestmark = pytest.mark.process

ONCE = """
from pathlib import Path

def test_once():
    place = Path(__file__).with_suffix(".seen")
    seen = place.exists()
    place.touch()
    assert seen
"""
ALWAYS = "def test_always():\n    assert False\n"


def call(folder: Path, *words: str) -> tuple[int, list[str]]:
    """Return the exit code, and the lines about failed tests."""
    environment = {**os.environ, "ARENA_FLAKY": str(folder / "flaky"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [sys.executable, retry.__file__, "-q", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, [line for line in done.stdout.splitlines() if line.startswith(("flaky: ", "FAILED twice: "))]


def test_a_test_that_passes_alone_is_flaky(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(ONCE)
    assert call(tmp_path) == (0, ["flaky: test_a.py::test_once"])


def test_a_test_that_fails_twice_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(ONCE)
    (tmp_path / "test_b.py").write_text(ALWAYS)
    assert call(tmp_path) == (1, ["FAILED twice: test_b.py::test_always", "flaky: test_a.py::test_once"])


@pytest.mark.parametrize(("number", "code"), [(3, 0), (4, 1)])
def test_more_than_three_flaky_tests_are_an_error(number: int, code: int, tmp_path: Path) -> None:
    """Flaky tests of an earlier call count, too."""
    (tmp_path / "flaky").write_text("test_earlier.py::test_once\n")
    for index in range(1, number):
        (tmp_path / f"test_{index}.py").write_text(ONCE)
    found = call(tmp_path)
    assert found[0] == code
    assert len(found[1]) == number


ENDS = """
import os
import time
import pytest

@pytest.mark.parametrize("number", range(20))
def test_ends(number):
    if number == 7:
        time.sleep(0.5)  # pytest-xdist has sent the result of the test before it
        os._exit(0)
    assert number != 13
"""


def test_a_worker_that_ends_fails_its_test_and_no_other(tmp_path: Path) -> None:
    """The other tests run, including one that fails."""
    (tmp_path / "test_a.py").write_text(ENDS)
    code, told = call(tmp_path, "-p", "xdist", "-n", "2", "--dist", "worksteal")
    assert code == 1
    assert sorted(told) == [f"FAILED twice: test_a.py::test_ends[{number}]" for number in (13, 7)]


def test_a_test_that_ends_the_only_process_is_an_error(tmp_path: Path) -> None:
    """The exit code of the process is 0."""
    (tmp_path / "test_a.py").write_text(ENDS)
    assert call(tmp_path) == (1, [])


def test_workers_that_end_before_any_test_are_an_error(tmp_path: Path) -> None:
    """In this case, pytest reports no test."""
    (tmp_path / "test_a.py").write_text("import os\nif 'PYTEST_XDIST_WORKER' in os.environ:\n    os._exit(0)\n")
    assert call(tmp_path, "-p", "xdist", "-n", "1") == (1, [])


def test_errors_of_pytest_are_kept(tmp_path: Path) -> None:
    """The cases are no tests, an invalid option, and a file that cannot be imported."""
    assert call(tmp_path)[0] == 5
    assert call(tmp_path, "--no-such-option")[0] == 4
    (tmp_path / "test_a.py").write_text("import nothing_like_this\n")
    assert call(tmp_path)[0] == 2
