"""The script behind `make test-root` follows the Containerfile in a root of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.test_about import load_script


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can mount")
def test_steps_in_the_root_do_not_change_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package ca-certificates writes into the folder of certificates, which comes from the machine."""
    try_root = load_script("deploy/try_root.py")
    root, certificates, settings = tmp_path / "root", tmp_path / "certs", tmp_path / "pip.conf"
    for name in ("sh", "mount", "umount"):
        program = str(shutil.which(name))
        libraries = re.findall(
            r"/\S+(?= \(0x)", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        )
        for file in (program, *libraries):
            place = root / "bin" / name if file == program else root / file[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    certificates.mkdir()
    (certificates / "bundle").write_text("own\n")
    settings.write_text("own\n")
    monkeypatch.setattr(try_root, "OF_MACHINE", (str(certificates), str(settings)))
    image = try_root.Image(root)
    change = f"read -r one < {certificates}/bundle && read -r other < {settings} && echo $one $other > /seen"
    image.run(["sh", "-c", f"{change} && echo new > {certificates}/bundle && echo new > {settings}"])
    assert (root / "seen").read_text() == "own own\n"
    assert (certificates / "bundle").read_text() == settings.read_text() == "own\n"
