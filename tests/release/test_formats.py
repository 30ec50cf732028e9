"""Files of earlier releases: a newer arena reads them, and finds the same boards, matches and ids in them."""

import csv
import hashlib
import io
import json
import math
import runpy
import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from tests.conftest import Arena, arena_in

RELEASES = sorted(folder for folder in Path(__file__).parent.iterdir() if (folder / "games.db").exists())
STORES = [
    pytest.param(folder, spec.stem, id=f"{folder.name}-{spec.stem}")
    for folder in RELEASES
    for spec in sorted(folder.glob("*.yaml"))
]
TOLERANCE = 1e-9
"""The difference that two computations of a number may have, as in a bundle: other processors round differently."""


def read_tables(text: str) -> list[list[dict[str, str]]]:
    """The tables of a CSV text; an empty line separates them."""
    return [[*csv.DictReader(io.StringIO(part))] for part in text.strip().split("\n\n")]


def has_all(old: Any, new: Any) -> bool:
    """Return whether all keys and values of `old` are in `new`, which may have more keys."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and has_all(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(has_all, old, new))
    try:
        return old == new or math.isclose(float(old), float(new), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except (TypeError, ValueError):
        return False


@pytest.fixture
def release(folder: Path, tmp_path: Path) -> tuple[Path, Arena]:
    """A copy of the files of a release, and the command line there."""
    copytree(folder, tmp_path, dirs_exist_ok=True)
    return tmp_path, arena_in(tmp_path)


@pytest.mark.parametrize(("folder", "name"), STORES)
def test_boards_and_exports_have_the_same_numbers(release: tuple[Path, Arena], name: str) -> None:
    """New keys and columns may be added, but nothing else changes. The store has no damage."""
    folder, arena = release
    checked = arena("check", f"{name}.db")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    board = read_tables(arena("leaderboard", f"{name}.db", "--format", "csv").stdout)
    assert has_all(read_tables((folder / f"{name}.board.csv").read_text()), board)
    for ending, words in (("csv", ["--format", "csv"]), ("tidy.csv", ["--format", "tidy"])):
        (new,) = read_tables(arena("export", f"{name}.db", *words).stdout)
        (old,) = read_tables((folder / f"{name}.{ending}").read_text())
        assert has_all(old, new), ending
    lines = arena("export", f"{name}.db").stdout.splitlines()
    kept = (folder / f"{name}.jsonl").read_text().splitlines()
    assert has_all([json.loads(line) for line in kept], [json.loads(line) for line in lines])


@pytest.mark.parametrize(("folder", "name"), STORES)
def test_old_matches_can_be_replayed_and_a_continued_run_repeats_none(release: tuple[Path, Arena], name: str) -> None:
    """Two matches are replayed with today's rules and agents. The spec still gives every match the same id."""
    folder, arena = release
    with closing(sqlite3.connect(folder / f"{name}.db")) as connection:
        before = connection.execute("SELECT hex(id), digest FROM record ORDER BY id").fetchall()
    for identity, _ in (before[0], before[-1]):
        replayed = arena("replay", f"{name}.db", identity.lower(), "--spec", f"{name}.yaml")
        assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    continued = arena("run", f"{name}.yaml", "--store", f"{name}.db", "--quiet", "--workers", "1")
    assert continued.returncode == 0, continued.stderr
    with closing(sqlite3.connect(folder / f"{name}.db")) as connection:
        assert connection.execute("SELECT hex(id), digest FROM record ORDER BY id").fetchall() == before
    assert len(before) == len((folder / f"{name}.jsonl").read_text().splitlines())


@pytest.mark.parametrize(("folder", "name"), STORES)
def test_bundles_are_verified(release: tuple[Path, Arena], name: str) -> None:
    """No contradiction is found. The exit code is 3 if matches cannot be replayed, for example without a sandbox."""
    _, arena = release
    verified = arena("verify", f"{name}.arena", "--replay", "2")
    assert verified.returncode in (0, 3), verified.stdout + verified.stderr


@pytest.mark.parametrize("folder", RELEASES, ids=lambda folder: folder.name)
def test_the_files_of_a_release_have_not_changed(folder: Path) -> None:
    """Their hashes equal the hashes that `generate.py` wrote, and it does not write the files of a released version again."""
    files = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir() if file.is_file()}
    del files["SHA256SUMS"]
    assert files == {name: digest for digest, name in map(str.split, (folder / "SHA256SUMS").read_text().splitlines())}
    generate: Any = runpy.run_path(str(Path(__file__).with_name("generate.py")))
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text("utf-8")
    assert generate["is_released"](folder.name) == (f"## [{folder.name}] - " in changelog)


def test_numbers_are_compared_with_a_tolerance() -> None:
    """This includes numbers in text. Other text and missing keys are differences."""
    old = [{"elo": "12.5", "agent": "a", "wins": 3}]
    assert has_all(old, [{"elo": "12.500000000001", "agent": "a", "wins": 3, "more": 1}])
    assert not has_all(old, [{"elo": "12.50001", "agent": "a", "wins": 3}])
    assert not has_all(old, [{"elo": "12.5", "agent": "b", "wins": 3}])
    assert not has_all(old, [{"elo": "12.5", "agent": "a"}])


def test_files_of_the_first_release_exist() -> None:
    """They are never removed."""
    assert "0.1.0" in {folder.name for folder in RELEASES}
