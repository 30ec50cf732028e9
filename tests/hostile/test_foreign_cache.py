"""Another user may write in the cache folder, for example because two users share it: arena uses none of the files of
that user.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from arena.console.notices import say_notes
from arena.spec import load_spec
from arena_bridges.llm.answers import AnswerCache, open_cache
from arena_bridges.llm.apis import ModelAnswer
from arena_bridges.llm.gate import Usage
from arena_compiled import cache
from arena_compiled.compile_process import lock
from arena_games.pattern_tables import load_table
from arena_isolation.sandbox import checked_folders, mounts, users_code

pytestmark = [pytest.mark.unit, pytest.mark.promise(hole="cache", isolation="any")]

KEY = "ab" * 16
OTHER_USER = 12_345
Change = Callable[[Path], None]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache folder with a usual umask of users who have a group of their own."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "above" / "cache"))
    monkeypatch.setattr(cache, "_memory", {})
    monkeypatch.setattr(cache, "_processor", lambda: "x86")
    cache._is_safe.cache_clear()
    before = os.umask(0o002)
    yield tmp_path / "above" / "cache"
    os.umask(before)
    cache._is_safe.cache_clear()


@pytest.fixture
def give_away(monkeypatch: pytest.MonkeyPatch) -> Change:
    """Let a file belong to another user. Only root can do this; for others, the file of an ordinary user stands for it."""

    def give(file: Path) -> None:
        if os.geteuid() == 0:
            os.chown(file, OTHER_USER, -1, follow_symlinks=False)
            return
        whole = os.fstat, os.stat, os.lstat
        number = file.lstat().st_ino

        def told(found: os.stat_result) -> os.stat_result:
            return os.stat_result([*found[:4], OTHER_USER, *found[5:]]) if found.st_ino == number else found

        for name, real in zip(("fstat", "stat", "lstat"), whole, strict=True):
            monkeypatch.setattr(os, name, lambda *words, real=real, **more: told(real(*words, **more)))

    return give


def open_to(bits: int) -> Change:
    """Return a function that lets others write a file or a folder."""
    return lambda file: file.chmod(stat.S_IMODE(file.stat().st_mode) | bits)


def forget() -> None:
    """Forget what this process knows, as another process would."""
    cache._memory.clear()
    cache._is_safe.cache_clear()


@pytest.mark.parametrize("key", [KEY, f"user{KEY}"])
@pytest.mark.parametrize("who", ["owner", "group", "everybody"])
@pytest.mark.parametrize("what", ["file", "folder", "cache"])
def test_machine_code_that_others_may_have_written_is_not_used(
    place: Path, give_away: Change, key: str, who: str, what: str
) -> None:
    cache.write(key, "symbol", b"code")
    forget()
    assert cache.read(key) == ("symbol", b"code")
    file = next(place.glob("*/*.module"))
    change = {"owner": give_away, "group": open_to(0o020), "everybody": open_to(0o002)}[who]
    change({"file": file, "folder": file.parent, "cache": place}[what])
    forget()
    assert cache.read(key) is None
    assert not cache.has(key)
    if what == "file":  # the folder is safe, so the file is replaced
        cache.write(key, "symbol", b"new code")
        forget()
        assert cache.read(key) == ("symbol", b"new code")
        assert (stat.S_IMODE(file.stat().st_mode), file.stat().st_uid) == (0o644, os.geteuid())
    else:
        before = file.read_bytes()
        cache.write(key, "symbol", b"new code")
        with lock(key):  # all locks are in the folder of arena's own code
            assert bool([*place.rglob("*.lock")]) == (what == "folder" and key != KEY)
        assert file.read_bytes() == before


@pytest.mark.parametrize(("mode", "safe"), [(0o1777, True), (0o777, False), (0o755, True), (0o775, True)])
def test_a_cache_in_a_folder_that_others_can_write_is_not_used(place: Path, mode: int, safe: bool) -> None:
    """A folder above it may be open to everybody if it is sticky, as /tmp is. A group that may write above must be the user's
    own.
    """
    cache.write(KEY, "symbol", b"code")
    place.parent.chmod(mode)
    forget()
    assert cache.has(KEY) == safe
    place.parent.chmod(0o755)


def test_nobody_else_can_write_what_arena_creates(place: Path) -> None:
    """Others cannot open the cache either. The files in it are readable, because a sandbox shows them to another user."""
    cache.write(KEY, "symbol", b"code")
    load_table("a", 1, lambda: b"x")
    modes = {str(one.relative_to(place.parent)): stat.S_IMODE(one.stat().st_mode) for one in place.parent.rglob("*")}
    assert modes == {
        "cache": 0o700,
        "cache/compiled": 0o755,
        f"cache/compiled/{KEY}.module": 0o644,
        "cache/a-v2.table": 0o644,
    }


def test_a_table_that_belongs_to_another_user_is_built_again(place: Path, give_away: Change) -> None:
    assert load_table("a", 1, lambda: b"x") == b"x"
    assert load_table("a", 1, lambda: b"y") == b"x"
    give_away(place / "a-v2.table")
    assert load_table("a", 1, lambda: b"y") == b"y"
    open_to(0o020)(place)
    assert load_table("a", 1, lambda: b"z") == b"z"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_answers_of_models_are_kept_only_in_a_file_of_the_user(place: Path, what: str) -> None:
    answers, answer = AnswerCache(place / "answers.db"), ModelAnswer("a", "", False, Usage(1, 1), "m")
    answers.put("key", answer)
    found = answers.get("key")
    assert found is not None
    assert found.text == "a"
    open_to(0o020)(place / "answers.db" if what == "file" else place)
    before = (place / "answers.db").read_bytes()
    assert answers.get("key") is None
    answers.put("other", answer)
    assert (place / "answers.db").read_bytes() == before
    assert open_cache().get("key") is None


def test_a_sandbox_does_not_show_files_of_another_user(place: Path, give_away: Change) -> None:
    """In a sandbox, nothing can check the owners of files, because they appear as other users."""
    cache.write(KEY, "symbol", b"code")
    cache.write(f"user{KEY}", "symbol", b"code")
    load_table("a", 1, lambda: b"x")
    shown = {str(place / "compiled"), str(place / "a-v2.table")}
    assert shown <= set(mounts([]))
    assert checked_folders([users_code()]) == [users_code()]
    give_away(place / "a-v2.table")
    give_away(place / "compiled-own" / f"user{KEY}.module")
    assert shown & set(mounts([])) == {str(place / "compiled")}
    assert checked_folders([users_code()]) == []
    give_away(place / "compiled" / f"{KEY}.module")
    assert not shown & set(mounts([]))


def test_a_note_about_an_unsafe_cache_names_its_folder_and_says_what_to_do(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"]})
    place.mkdir(parents=True, mode=0o700)
    say_notes(spec)
    assert "cache" not in capsys.readouterr().err
    open_to(0o020)(place)
    say_notes(spec)
    assert capsys.readouterr().err == (
        f"note: the cache {place}/compiled is not used, because of {place}: others may write it "
        "(`chmod -R go-w` forbids this); name another folder with ARENA_CACHE\n"
    )
