"""`arena serve FOLDER` shows all stores in the folder and no other files, including stores that are added later."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest

from arena import run
from arena_web.live import Watcher
from arena_web.store_folder import stores_in
from tests.extensions.web.conftest import Pages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two stores, one of them in a subfolder, another program's database, a text file, and links to other
    folders.
    """
    top = tmp_path_factory.mktemp("all")
    outside, folder = top / "outside", top / "stores"
    run({"name": "<b>One</b>", "game": "tic-tac-toe", "rounds": 2, "agents": ["random", "greedy"]}, store=folder / "one.db")
    (folder / "deep").mkdir()
    shutil.copy(folder / "one.db", folder / "deep" / "one.db")
    outside.mkdir()
    shutil.copy(folder / "one.db", outside / "secret.db")
    (folder / "link.db").symlink_to(outside / "secret.db")
    (folder / "linked").symlink_to(outside, target_is_directory=True)
    (folder / ".hidden").mkdir()
    shutil.copy(folder / "one.db", folder / ".hidden" / "two.db")
    with sqlite3.connect(folder / "other.db") as other:
        other.execute("CREATE TABLE record (x)")
    other.close()
    (folder / "notes.db").write_text("no database")
    return folder


@pytest.fixture(scope="module")
def served_folder(pages: Pages, folder: Path) -> Pages:
    return Pages(folder=folder)


def test_only_stores_in_the_folder_are_found(folder: Path) -> None:
    """Stores are recognised by their content. Links out of the folder are not followed."""
    assert [str(path.relative_to(folder)) for path in stores_in(folder)] == ["one.db", "deep/one.db"]


@pytest.mark.parametrize(
    ("place", "reason"), [(0, "the header of the file has changed since it was written"), (68, "its header is not valid")]
)
def test_a_store_with_a_damaged_header_is_listed_with_the_reason(folder: Path, tmp_path: Path, place: int, reason: str) -> None:
    """The schema identifies a store, even if a byte of its header has changed."""
    data = bytearray((folder / "one.db").read_bytes())
    data[place] ^= 0xFF
    (tmp_path / "torn.db").write_bytes(data)
    (tmp_path / "other.db").write_bytes((folder / "other.db").read_bytes())
    assert stores_in(tmp_path) == [tmp_path / "torn.db"]
    told = asyncio.run(Watcher(tmp_path / "torn.db").brief())
    assert (told["state"], reason in told["message"]) == ("failed", True)


def test_a_backup_is_listed_after_its_store(folder: Path) -> None:
    for name in ("one-backup.db", "one.backup.db", "one 2.db"):
        copied = folder / name
        shutil.copy(folder / "one.db", copied)
        assert [path.name for path in stores_in(folder)][:2] == ["one.db", name]
        copied.unlink()


def test_all_stores_are_listed_and_can_be_opened(served_folder: Pages, folder: Path) -> None:
    found = served_folder.ask("/api/tournaments").json
    assert [(one["key"], one["place"], one["name"], one["done"], one["total"]) for one in found["tournaments"]] == [
        ("one", "one.db", "<b>One</b>", 4, 4),
        ("deep-one", "deep/one.db", "<b>One</b>", 4, 4),
    ]
    assert {one["state"] for one in found["tournaments"]} == {"finished"}
    for one in found["tournaments"]:
        assert served_folder.ask(f"/api/t/{one['key']}").json["done"] == 4
    assert served_folder.ask("/").status == 200, "the start page is a list"


@pytest.mark.parametrize(
    "key", ["..%2Foutside%2Fsecret", "outside-secret", "link", "linked-secret", "hidden-two", "other", "notes"]
)
def test_files_other_than_stores_have_no_address(served_folder: Pages, key: str) -> None:
    assert served_folder.ask(f"/api/t/{key}").status == 404
    assert served_folder.ask(f"/t/{key}/download/matches.csv").status == 404


def test_added_and_removed_stores_are_noticed(served_folder: Pages, folder: Path) -> None:
    shutil.copy(folder / "one.db", folder / "new.db")
    assert "new" in [one["key"] for one in served_folder.ask("/api/tournaments").json["tournaments"]]
    (folder / "new.db").unlink()
    assert "new" not in [one["key"] for one in served_folder.ask("/api/tournaments").json["tournaments"]]
    assert served_folder.ask("/api/t/new").status == 404


def test_an_unreadable_store_does_not_hide_others(served_folder: Pages, folder: Path) -> None:
    broken = folder / "broken.db"
    broken.write_bytes((folder / "one.db").read_bytes()[:4096] + b"x" * 5000)
    listed = {one["key"]: one["state"] for one in served_folder.ask("/api/tournaments").json["tournaments"]}
    broken.unlink()
    assert listed == {"broken": "failed", "deep-one": "finished", "one": "finished"}


def test_an_empty_folder_has_an_empty_list(served_folder: Pages, folder: Path) -> None:
    moved = folder.rename(folder.with_name("elsewhere"))
    folder.mkdir()
    assert served_folder.ask("/api/tournaments").json == {"tournaments": [], "folder": folder.name}
    folder.rmdir()
    moved.rename(folder)


@pytest.mark.parametrize("name", ["matches.csv", "matches.jsonl"])
def test_the_download_of_a_damaged_store_is_refused_before_its_first_part(folder: Path, tmp_path: Path, name: str) -> None:
    """A label with an override of the direction of writing is damage, which the first part notices."""
    shutil.copy(folder / "one.db", tmp_path / "odd.db")
    with sqlite3.connect(tmp_path / "odd.db") as odd:
        odd.execute("UPDATE run SET boards = replace(boards, 'greedy', ?)", ["\u202egreedy"])
    odd.close()
    answer = Pages(folder=tmp_path).ask(f"/t/odd/download/{name}")
    assert (answer.status, "\u202e" in answer.text) == (404, False)
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("name", ["matches.csv", "matches.jsonl"])
def test_a_download_that_meets_damage_later_breaks_off_with_one_line(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is not completed, so that its reader notices."""
    run({"game": "tic-tac-toe", "rounds": 150, "agents": ["random", "greedy"]}, store=tmp_path / "torn.db")
    with sqlite3.connect(tmp_path / "torn.db") as torn:
        torn.execute("UPDATE detail SET actions = 'x' WHERE record = (SELECT max(record) FROM detail)")
    torn.close()
    with pytest.raises(AssertionError, match="incomplete"):
        Pages(folder=tmp_path).ask(f"/t/torn/download/{name}")
    (line,) = [record.getMessage() for record in caplog.records if record.name == "uvicorn.error"]
    assert line.startswith("A download broke off: ")
    assert "\n" not in line
