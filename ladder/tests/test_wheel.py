"""The wheels that a ladder serves are the distributions that are installed."""

import csv
import io
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from arena_ladder.wheel import list_wheels, pack_wheel, read_wheel


def test_a_rebuilt_wheel_contains_the_published_files() -> None:
    """The digests are those in the metadata of the installed distribution."""
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
def test_pip_can_install_both_wheels_that_a_ladder_serves(tmp_path: Path) -> None:
    """The wheel of arena contains no files of the ladder. The wheel of the ladder contains its pages and its manual."""
    target = tmp_path / "site"
    wheels = list_wheels()
    assert [*wheels.values()] == ["fairarena", "fairarena-ladder"]
    for file, name in wheels.items():
        content = read_wheel(name)
        assert content is not None
        (tmp_path / file).write_bytes(content)
        words = ["install", "-q", "--no-deps", "--no-index", "--target", str(target), str(tmp_path / file)]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True)
        assert (target / "arena_ladder").exists() == (name == "fairarena-ladder")
    assert (target / "arena_ladder" / "static" / "claim.js").is_file()
    assert (target / "arena_ladder" / "manual" / "course.md").is_file()
    assert (target / "arena_catalog" / "manual" / "reference" / "cli.md").is_file()
    assert not [*(target / "arena_catalog").rglob("course.md")]
