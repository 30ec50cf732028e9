"""The modes of stores: while a seed is secret, other users of the machine cannot read it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.store import Store


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    """A usual umask, with which new files are readable for everybody."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def find_modes(folder: Path) -> dict[str, str]:
    """The modes of a store and the files of SQLite beside it."""
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.glob("a.db*") if path.suffix != ".lock"}


@pytest.mark.parametrize(("seed", "mode"), [("secret", "0o600"), (1, "0o644")])
def test_a_store_with_a_secret_seed_is_private_before_its_first_match(tmp_path: Path, seed: Any, mode: str) -> None:
    """This also holds for a store that exists. Other stores have the mode that the umask gives."""
    spec = {"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2, "seed": seed}
    found: list[dict[str, str]] = []
    for rounds in (2, 4):
        arena.run({**spec, "rounds": rounds}, store=tmp_path / "a.db", observe=lambda _: found.append(find_modes(tmp_path)))
    assert found
    assert {"a.db", "a.db-wal"} <= found[0].keys()
    assert all(set(modes.values()) == {mode} for modes in found)


def test_a_copy_has_the_mode_of_its_store(tmp_path: Path) -> None:
    for mode in (0o600, 0o640, 0o644):
        place = tmp_path / f"{mode:o}.db"
        with Store.open(place, write=True) as store:
            place.chmod(mode)
            store.copy(tmp_path / f"{mode:o}-copy.db")
            aside = store.copy_aside()
        for copy in (tmp_path / f"{mode:o}-copy.db", aside):
            assert copy.stat().st_mode & 0o777 == mode


def test_a_link_to_a_store_stays_and_its_target_becomes_private(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "a.db")
    Store.make_private(tmp_path / "link.db")
    assert (tmp_path / "link.db").is_symlink()
    assert find_modes(tmp_path) == {"a.db": "0o600"}
