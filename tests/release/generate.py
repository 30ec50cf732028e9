"""Writes the stores, boards and exports of a release from its specs: `python tests/release/generate.py tests/release/0.1.0`.

Run it once, with the code of the release. The files of a release must never change afterwards; the tests keep reading them.
"""

import argparse
import hashlib
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
SUMS = "SHA256SUMS"
OUTPUTS = {
    "board.csv": ["leaderboard", "--format", "csv"],
    "jsonl": ["export"],
    "csv": ["export", "--format", "csv"],
    "tidy.csv": ["export", "--format", "tidy"],
}
"""The suffixes of the written files, each with the command that prints the file."""


def arena(folder: Path, *words: str) -> str:
    """Run a command in a folder and return its output."""
    command = [sys.executable, "-m", "arena", *words]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "ARENA_PLAIN": "1"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{words}: {done.stderr}")
    return done.stdout


def is_released(version: str) -> bool:
    """Return whether the changelog has the date of this version."""
    return re.search(rf"^## \[{re.escape(version)}\] - ", CHANGELOG.read_text("utf-8"), re.MULTILINE) is not None


def write(folder: Path, names: Sequence[str]) -> None:
    """Play each spec of a folder into a store, and write the output of the commands about it.

    With `names`, play only these specs.

    The hashes of all files of the folder are in SUMS, in the format of `sha256sum`.
    """
    for spec in sorted(folder.glob("*.yaml")):
        if names and spec.name not in names:
            continue
        store = spec.with_suffix(".db")
        store.unlink(missing_ok=True)
        arena(folder, "run", spec.name, "--store", store.name, "--quiet", "--workers", "1")
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("VACUUM")
        for ending, words in OUTPUTS.items():
            spec.with_suffix(f".{ending}").write_text(arena(folder, words[0], store.name, *words[1:]), "utf-8")
        spec.with_suffix(".arena").unlink(missing_ok=True)
        arena(folder, "bundle", store.name, "-o", spec.with_suffix(".arena").name, "--spec", spec.name)
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name != SUMS)
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (folder / SUMS).write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the release, named after its version")
    parser.add_argument("specs", nargs="*", help="the names of the specs; default: all")
    parser.add_argument("--force", action="store_true", help="write the files even if the version is released")
    asked = parser.parse_args()
    if is_released(asked.folder.resolve().name) and not asked.force:
        sys.exit(f"{asked.folder}: CHANGELOG.md has a date for this version, so its files must not change")
    write(asked.folder, asked.specs)
