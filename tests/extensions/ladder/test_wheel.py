"""The wheel that a ladder serves is the distribution that is installed."""

import csv
import io
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from arena_ladder.wheel import find_wheel_name, pack_wheel, read_wheel


def test_a_wheel_has_the_files_that_its_makers_have_published() -> None:
    """With the digests that the wheel of the same distribution brought when it was installed."""
    installed = distribution("pluggy")
    published = [
        row for row in csv.reader(io.StringIO(installed.read_text("RECORD") or "")) if row[1] and "INSTALLER" not in row[0]
    ]
    with zipfile.ZipFile(io.BytesIO(pack_wheel(installed))) as wheel:
        (name,) = [name for name in wheel.namelist() if name.endswith("/RECORD")]
        rows = [row for row in csv.reader(io.StringIO(wheel.read(name).decode())) if row[1]]
        assert wheel.testzip() is None
        assert {row[0] for row in rows} | {name} == set(wheel.namelist())
    written = {"RECORD", "REQUESTED", "direct_url.json"}
    assert sorted(rows) == sorted(row for row in published if Path(row[0]).name not in written)


@pytest.mark.process
def test_pip_installs_the_wheel_of_this_arena(tmp_path: Path) -> None:
    """Also of a checkout; the command line of the copy is the one of its version."""
    name, content = find_wheel_name(), read_wheel()
    assert name is not None
    assert content is not None
    (tmp_path / name).write_bytes(content)
    target = tmp_path / "site"
    words = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(tmp_path / name),
    ]
    subprocess.run(words, check=True)
    assert (target / "arena_ladder" / "static" / "claim.js").is_file()
    assert (target / "arena_catalog" / "manual" / "how-to" / "course.md").is_file()
