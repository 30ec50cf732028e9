"""The fixture for the tests of the manual."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the manual in HTML. It is built once for all workers of pytest-xdist; warnings are errors."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    html, sound = folder / "manual", folder / "manual-is-sound"
    with (folder / "manual.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not sound.exists():
            words = ["-q", "-W", "--keep-going", "-E", "-b", "html", str(DOCS), str(html)]
            done = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            sound.touch()
    return html
