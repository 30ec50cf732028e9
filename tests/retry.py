"""Run pytest, and run each test that failed once more: alone, in a new process, after all other tests.

A test that passes then is accepted, and named as flaky in the last lines. More than `MAX_FLAKY` of them are an error. A test that
ends its worker has failed. If ARENA_FLAKY names a file, the flaky tests of several calls are counted together in it.

    python tests/retry.py [ARGUMENT OF PYTEST]...
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

MAX_FLAKY = 3
MAX_RETRIES = 30
"""If more tests than this fail, none runs once more. The Makefile lets more workers end before pytest-xdist stops, so that all
other tests have run if fewer fail.
"""
SUMMARY = re.compile(r" in \d+\.\d+s")
"""The end of the last line of a run that was not cut off."""
KEPT_CHARACTERS = 100_000


def main(words: list[str]) -> int:
    """Run pytest with these words, retry the tests that failed, and return the exit code."""
    with TemporaryDirectory() as cache:
        code, end = run_pytest([*words, "-o", f"cache_dir={cache}"])
        record = Path(cache, "v", "cache", "lastfailed")
        failed = [*json.loads(record.read_text("utf-8"))] if record.exists() else []
    if (code == 0 and not SUMMARY.search(end)) or (code == 5 and "node down" in end):
        return 1  # a test has ended this process, or all workers have ended before they had any test
    if code != 1 or not failed:
        return code
    if len(failed) > MAX_RETRIES:
        print(f"{len(failed)} tests failed. More than {MAX_RETRIES} are not run once more.")
        return code
    again = [test for test in failed if not passes_alone(test)]
    flaky = count_flaky([test for test in failed if test not in again])
    for test in again:
        print(f"FAILED twice: {test}")
    for test in flaky:
        print(f"flaky: {test}")
    if len(flaky) > MAX_FLAKY:
        print(f"{len(flaky)} tests are flaky. At most {MAX_FLAKY} are accepted.")
    return int(bool(again) or len(flaky) > MAX_FLAKY)


def passes_alone(test: str) -> bool:
    """Return whether a test passes in a new process. One that ends the process has failed, whatever its exit code."""
    code, end = run_pytest([test, "-p", "no:cacheprovider"])
    return code == 0 and bool(SUMMARY.search(end))


def run_pytest(words: list[str]) -> tuple[int, str]:
    """Run pytest in a new process. Return its exit code and the end of its output."""
    end = ""
    with subprocess.Popen([sys.executable, "-u", "-m", "pytest", *words], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        while part := os.read(started.stdout.fileno(), 65536):
            os.write(1, part)
            end = (end + part.decode("utf-8", "replace"))[-KEPT_CHARACTERS:]
    if not end.endswith("\n"):  # a test has ended the process
        os.write(1, b"\n")
    return started.returncode, end


def count_flaky(tests: list[str]) -> list[str]:
    """Return the flaky tests of this call and of earlier calls."""
    if (place := os.environ.get("ARENA_FLAKY")) is None:
        return tests
    with Path(place).open("a+", encoding="utf-8") as opened:
        opened.writelines(f"{test}\n" for test in tests)
        opened.seek(0)
        return opened.read().splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
