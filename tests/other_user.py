"""Runs a spec as an unprivileged user, which cannot create control groups."""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

SYSTEM_PYTHON = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
OTHER_USER: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}


def run_as_other_user(folder: Path, values: dict[str, Any], files: int | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a spec in a folder, with one worker, into `cup.db`. `files` is the maximum number of open files of a process. The test
    is skipped if that is impossible.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can start a command as another user")
    python = next((one for one in (sys.executable, SYSTEM_PYTHON) if works_for(one)), None)
    if python is None:
        pytest.skip("another user cannot run this version of Python")
    (folder / "cup.json").write_text(json.dumps(values))
    command = [python, "-m", "arena", "run", "cup.json", "--workers", "1", "--store", "cup.db"]
    path = [one for one in sys.path if one and not one.startswith(sys.base_prefix)]
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Another run of pytest may close the folder above `folder` to others at any time.
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        shutil.copytree(folder, place, dirs_exist_ok=True)
        os.chown(place, OTHER_USER["user"], OTHER_USER["group"])
        own = {**os.environ, "HOME": place, "XDG_CACHE_HOME": place, "ARENA_CACHE": f"{place}/tables", "TMPDIR": place}
        own["PYTHONPATH"] = os.pathsep.join(path)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files or before[0], before[1]))
        try:
            done = subprocess.run(command, cwd=place, env=own, capture_output=True, text=True, check=False, **OTHER_USER)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
        if done.returncode == 0:
            shutil.copy(Path(place, "cup.db"), folder)
    return done


def works_for(python: str) -> bool:
    """Return whether another user can start this interpreter."""
    try:
        return subprocess.run([python, "-c", ""], cwd="/", check=False, **OTHER_USER).returncode == 0
    except OSError:
        return False
