"""The archives of a release: the same bytes each time, and everything that a release needs."""

import subprocess
import sys
import tarfile
from pathlib import Path

from tests.docs import pages

BUILD = "import sys, hatchling.build as build; print(build.build_sdist(sys.argv[1])); print(build.build_wheel(sys.argv[1]))"


def test_two_builds_have_the_same_bytes(tmp_path: Path) -> None:
    """The second build uses the first source archive, whose files have other times. So the archive is complete, too."""
    made: list[dict[str, bytes]] = []
    source = pages.ROOT
    for folder in ("one", "two"):
        target = tmp_path / folder
        target.mkdir()
        if folder == "two":
            with tarfile.open(next((tmp_path / "one").glob("*.tar.gz"))) as archive:
                archive.extractall(tmp_path, filter="data")
            (source,) = (path for path in tmp_path.iterdir() if path.name.startswith("fairarena-"))
            for name in ("SECURITY.md", "CITATION.cff", "action.yml", ".github/duel.sh", "deploy/Containerfile"):
                assert (source / name).exists(), name
            for file in source.rglob("*"):
                file.touch()
        subprocess.run([sys.executable, "-c", BUILD, str(target)], cwd=source, check=True, capture_output=True)
        made.append({file.name: file.read_bytes() for file in target.iterdir()})
    assert sorted(made[0]) == sorted(made[1])
    assert len(made[0]) == 2
    assert [name for name, content in made[0].items() if content != made[1][name]] == []
