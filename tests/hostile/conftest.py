"""What the tests that attack share."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

Walls = Callable[[str], None]


@pytest.fixture
def walls(missing: Callable[[str, str], None]) -> Walls:
    """Skip what needs a sandbox where none can be made."""

    def walls(isolation: str) -> None:
        line = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "true"]
        if isolation == "sandbox" and (not shutil.which("bwrap") or subprocess.run(line, check=False).returncode):
            missing("sandbox", "bubblewrap does not run here")

    return walls
