"""What the tests of the manual share."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual as it is read: HTML, built once; warnings are errors."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    html = tmp_path_factory.mktemp("manual") / "html"
    words = ["-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(html)]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return html
