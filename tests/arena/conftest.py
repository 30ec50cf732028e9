"""What the tests of an author's commands share: the commands as processes, in a folder of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Called = subprocess.CompletedProcess[str]


@pytest.fixture
def called(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Called]:
    """Run `python -m MODULE ...` in the test's folder, with what else should be importable."""

    cache = tmp_path_factory.getbasetemp() / "mypy"  # types of what is imported are found out once

    def called(module: str, *words: str, path: str = "", folder: Path = tmp_path) -> Called:
        beyond = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": beyond, "NO_COLOR": "1", "MYPY_CACHE_DIR": str(cache)},
            timeout=120,
            check=False,
        )

    return called
