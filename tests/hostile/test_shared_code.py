"""What the process of one entry computes reaches no other entry, and a sandbox shows no private files of the user: neither in the
cache, nor beside an agent, nor by links or folders that an author prepares.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena import search_engines
from arena.match.record import Record
from arena.plugins.syntax import digest_bytes
from arena.schedule.runner import MatchRunner
from arena.schedule.schedule import Schedule
from arena.spec import load_spec, reload_spec
from arena_isolation.sandbox import enclose, environment, private_folder
from arena_isolation.versions import CODE, LAID_OUT, PluginVersion, SharedCode, readable_files, seal_submission, submission
from tests.hostile.conftest import EagerEngine, lying_compiler

AGENT = """
from arena import Agent, hookimpl
import helper

class Mine(Agent):
    name = "mine"
    def choose(self, game, state, search):
        BODY
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Mine]
"""
PLANT = """
import sys
open(MARK, "a").write(f"{__name__}\\n")
"""
MORE = {
    "a module that Python imports by itself": ("sitecustomize.py", b"import helper\n"),
    "another module that Python imports by itself": ("usercustomize.py", b""),
    "a file with import paths": ("evil.pth", b"import os\n"),
    "machine code": ("helper.abi3.so", b"\x7fELF"),
    "compiled Python without its source": ("evil.pyc", b"\0"),
    "weights": ("weights.json", b"[1]"),
    "an archive of modules": ("evil.zip", b"PK"),
    "a plugin that is not imported": ("evil-1.dist-info/entry_points.txt", b"[arena]\nevil = evil\n"),
    "an ending in other letters": ("Helper.py", b""),
}


def write(folder: Path, more: dict[str, bytes] | None = None, body: str = "pass") -> Path:
    """Write an agent of two files, and other files beside it. Return the file of the agent."""
    given = {"agent.py": AGENT.replace("BODY", body).encode(), "helper.py": b"X = 1\n", **(more or {})}
    for name, content in given.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder / "agent.py"


def at_the_same_place(version: PluginVersion) -> PluginVersion:
    """The version, as if the spec had named it by the same text as all others."""
    return replace(version, text="agent.py")


@pytest.mark.parametrize("name", MORE)
@pytest.mark.promise(hole="file", isolation="sandbox")
def test_two_submissions_that_differ_in_one_byte_share_no_matches_or_code(name: str, tmp_path: Path) -> None:
    """Their matches have different ids, and their machine code is stored in different folders."""
    victim, thief = seal_submission(write(tmp_path / "victim")), seal_submission(write(tmp_path / "thief", dict([MORE[name]])))
    assert victim.code != thief.code
    assert at_the_same_place(victim).origin("sandbox") != at_the_same_place(thief).origin("sandbox")


@pytest.mark.promise(hole="file", isolation="sandbox")
def test_code_that_differs_only_in_comments_does_not_share_a_folder(tmp_path: Path) -> None:
    """A program can read its own comments, so they count."""
    victim = seal_submission(write(tmp_path / "victim"))
    commented = seal_submission(write(tmp_path / "thief", {"helper.py": b"X = 1  # play badly\n"}))
    copied = seal_submission(write(tmp_path / "copy"))
    assert victim.code == commented.code == copied.code
    assert at_the_same_place(victim).origin("sandbox") == at_the_same_place(copied).origin("sandbox")
    assert len({one.origin("sandbox") for one in (victim, commented, copied)}) == 3
    assert at_the_same_place(victim).origin("sandbox") != at_the_same_place(commented).origin("sandbox")
    assert victim.origin("process") != victim.origin("sandbox"), "outside a sandbox it reads files that no hash covers"


@pytest.mark.promise(hole="file", isolation="sandbox")
def test_names_of_files_cannot_imitate_other_files(tmp_path: Path) -> None:
    """The name has a line break and the digest of another author's file."""
    victim = seal_submission(write(tmp_path / "victim", {"a": b"1", "b": b"2"}))
    digest = digest_bytes(tmp_path / "victim" / "a")
    forged = b"a\n" + digest + b"b"
    if b"/" in digest or b"\0" in digest:
        pytest.skip("this digest cannot be part of a name")
    thief = write(tmp_path / "thief")
    (tmp_path / "thief" / os.fsdecode(forged)).write_bytes(b"2")
    assert seal_submission(thief).code != victim.code


@pytest.mark.promise(hole="network", isolation="sandbox")
def test_a_prepared_folder_gives_no_access_to_other_files(tmp_path: Path) -> None:
    """The folder has the marker of unpacked folders, links to files of the user, and compiled files of other code."""
    (tmp_path / "secret.txt").write_text("token")
    file = write(
        tmp_path / "work", {"course.yaml": b"seed: 7", LAID_OUT: b"", "__pycache__/helper.cpython-311.pyc": b"other code"}
    )
    for link in ("key", "key.py"):
        (tmp_path / "work" / link).symlink_to(tmp_path / "secret.txt")
    (tmp_path / "work" / "above").symlink_to(tmp_path)
    own = {file, file.with_name("helper.py")}
    assert readable_files(submission("work/agent.py", tmp_path, ())) == own
    assert readable_files(seal_submission(file)) == own | {file.with_name("course.yaml")}


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Record]]:
    """Play a match of entries on a small board, in this process."""
    monkeypatch.setenv("ARENA_CACHE", str(tmp_path / "cache"))

    def play(*entries: Any, rounds: int = 1, sealed: PluginVersion | None = None) -> list[Record]:
        board = {"name": "tic-tac-toe", "rows": 1, "columns": 3, "in_a_row": 3}
        spec = load_spec({"game": board, "rounds": rounds, "limits": {"seconds": 20}, "agents": [*entries, "random"]})
        if sealed is not None:  # as a ladder does
            shared = {**spec.shared, CODE: SharedCode(versions={("mine", True, sealed.text): sealed})}
            spec = reload_spec(spec.document, spec.plugins, spec.seed, shared=shared)
        with closing(MatchRunner(spec)) as runner:
            return [runner.play(match) for match in Schedule(spec).take(10**6)]

    return play


@pytest.mark.parametrize("isolation", ["process", "sandbox"])
@pytest.mark.promise(hole="file", isolation=("process", "sandbox"))
def test_python_does_not_import_files_of_an_entry_automatically(
    play: Callable[..., list[Record]], isolation: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """No file is imported when Python starts, or instead of a module of arena."""
    if isolation == "sandbox":
        request.getfixturevalue("bubblewrap")
    names = ("sitecustomize", "usercustomize", "arena", "arena_isolation", "json")
    plant = PLANT.replace("MARK", repr(str(tmp_path / "marks"))).encode()
    body = f"""import os, subprocess, sys
        here = os.path.dirname(__file__)
        planted = [name for name in {names} if here in str(getattr(sys.modules.get(name), "__file__", ""))]
        assert not planted and helper.__file__.startswith(here), planted
        subprocess.run([sys.executable, "-c", "import helper"], check=True)"""
    file = write(tmp_path / "work", {f"{name}.py": plant for name in names} if isolation == "process" else {}, body)
    if isolation == "sandbox":  # all of them are imported, so that the sandbox shows them
        more = "".join(f"if False: import {name}\n" for name in names[:2])
        file.write_text(more + file.read_text())
        for name in names[:2]:
            (tmp_path / "work" / f"{name}.py").write_bytes(plant)
    if isolation == "process":
        file.write_text(file.read_text().replace('"-c"', '"-S", "-c"'))  # the agent's own Python may load any module
    records = play({"agent": "mine", "plugin": str(file), "isolation": isolation})
    assert [(record.termination, record.message) for record in records] == [("normal", None)] * 2
    assert not (tmp_path / "marks").exists()


POISON = lying_compiler('{"0.module": base64.b64encode(b"bad").decode()}').encode()


@pytest.mark.promise(hole="file", isolation="sandbox")
def test_no_entry_writes_machine_code_that_another_entry_reads(
    bubblewrap: str, play: Callable[..., list[Record]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One entry has the code of the victim and a module that Python imports by itself, the other has different code."""
    search_engines.search_engines()
    monkeypatch.setattr(search_engines, "_engines", {"eager": EagerEngine("eager", lambda *_: None)})
    write(tmp_path / "victim")
    write(tmp_path / "thief", {"sitecustomize.py": POISON, "usercustomize.py": POISON})
    write(tmp_path / "other", {"helper.py": POISON})
    victim, thief, other = [seal_submission(tmp_path / name / "agent.py") for name in ("victim", "thief", "other")]
    for one in (thief, other):
        play({"agent": "mine", "plugin": one.text, "isolation": "sandbox"}, rounds=3, sealed=one)
    written = {file.parent for file in private_folder("x").parent.glob("*/0.module")}
    assert written == {private_folder(other.origin("sandbox"))}, "Python imported a module of the thief, or nothing was compiled"
    assert private_folder(victim.origin("sandbox")) not in written


SPY = """
import json, os, sys
told = json.loads(sys.argv[1])
seen = {}
for place in told["secrets"]:
    try:
        seen[place] = open(place, "rb").read().decode("latin-1")
    except OSError:
        pass
for folder, _, names in os.walk(told["cache"]):
    for name in names:
        seen[os.path.join(folder, name)] = "listed"
for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
    for name in ("environ", "cmdline", "mountinfo"):
        try:
            text = open(f"/proc/{pid}/{name}", "rb").read().decode("latin-1")
        except OSError:
            continue
        if name == "environ" and told["nonce"] in text:
            seen[f"/proc/{pid}/{name}"] = text
print(json.dumps(seen))
"""


@pytest.mark.promise(hole="network", isolation="sandbox")
def test_a_sandbox_shows_only_the_common_part_of_the_cache(
    bubblewrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hides files of git revisions, answers of language models, machine code of the user's games, and private folders."""
    nonce = "secret-of-the-user"
    cache = tmp_path / "cache"
    hidden = [
        cache / "versions" / "0123" / "secrets.yaml",
        cache / "answers.db",
        cache / "compiled-own" / "user0.module",
        cache.with_name("cache-private") / "0" / "0.module",
        cache / "notes.txt",
        *(tmp_path / name for name in (".git/config", "cup.yaml", "cup.db", "cup.db-wal", "course.roster", "other/agent.py")),
        *(tmp_path / name for name in (".ssh/id_ed25519", ".netrc", ".config/tokens.json", ".cache/arena/answers.db")),
    ]
    shown = {cache / "compiled" / "0.module": "listed", cache / "pattern-v1.table": "listed"}
    for file in (*hidden, *shown):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(nonce)
        file.chmod(0o644)
    (tmp_path / "work").mkdir()
    for name, value in {"ARENA_CACHE": str(cache), "HOME": str(tmp_path), "OPENAI_API_KEY": nonce}.items():
        monkeypatch.setenv(name, value)
    told = json.dumps({"secrets": [*map(str, hidden)], "cache": str(cache), "nonce": nonce})
    words = [sys.executable, "-I", "-c", SPY, told]
    command = enclose(words, folder=tmp_path / "work", calls=None, metered=True)
    done = subprocess.run(command, env=environment(os.environ), capture_output=True, text=True, check=True)
    assert {Path(place): seen for place, seen in json.loads(done.stdout).items()} == shown
