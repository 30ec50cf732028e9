"""Run pytest, and run each test that failed once more: alone, in a new process, after all other tests.

A test that passes then is accepted, and named as flaky in the last lines. More than `MAX_FLAKY` of them are an error, and so is a
worker that has ended, because nobody knows which tests it would have run. If ARENA_FLAKY names a file, the flaky tests of several
calls are counted together in it.

    python tests/retry.py [ARGUMENT OF PYTEST]...
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

MAX_FLAKY = 3
MAX_RETRIES = 30
WORKER_ENDED = "worker restarting disabled"
"""What pytest-xdist prints if a worker has ended and the other workers stop for that reason."""


def main(words: list[str]) -> int:
    """Run pytest with these words, retry what failed, and return the exit code."""
    with TemporaryDirectory() as cache:
        code, complete = run_pytest([*words, "-o", f"cache_dir={cache}"])
        record = Path(cache, "v", "cache", "lastfailed")
        failed = [*json.loads(record.read_text("utf-8"))] if record.exists() else []
    if code != 1 or not complete or not failed:
        return code
    if len(failed) > MAX_RETRIES:
        print(f"{len(failed)} tests failed. More than {MAX_RETRIES} are not run once more.")
        return code
    again = [test for test in failed if run_pytest([test, "-p", "no:cacheprovider"])[0]]
    flaky = count_flaky([test for test in failed if test not in again])
    for test in again:
        print(f"FAILED twice: {test}")
    for test in flaky:
        print(f"flaky: {test}")
    if len(flaky) > MAX_FLAKY:
        print(f"{len(flaky)} tests are flaky. At most {MAX_FLAKY} are accepted.")
    return int(bool(again) or len(flaky) > MAX_FLAKY)


def run_pytest(words: list[str]) -> tuple[int, bool]:
    """Run pytest in a new process. Return its exit code, and False if a worker has ended."""
    complete = True
    with subprocess.Popen([sys.executable, "-u", "-m", "pytest", *words], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        while part := os.read(started.stdout.fileno(), 65536):
            os.write(1, part)
            complete = complete and WORKER_ENDED not in part.decode("utf-8", "replace")
    return started.returncode, complete


def count_flaky(tests: list[str]) -> list[str]:
    """Return the flaky tests with those of earlier calls."""
    if (place := os.environ.get("ARENA_FLAKY")) is None:
        return tests
    with Path(place).open("a+", encoding="utf-8") as opened:
        opened.writelines(f"{test}\n" for test in tests)
        opened.seek(0)
        return opened.read().splitlines()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
