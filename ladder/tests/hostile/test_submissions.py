"""Submissions reach only their own sandbox: names that shadow modules, files that are loaded by themselves, processes before
hello, agents that change their own file, names that read backwards.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.examination import examine
from arena_ladder.judge import NotPassed, Passed
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from tests.eventually import eventually
from tests.extensions.isolation.test_archive import packed
from tests.ladder.hosting import SPEC, agent

GOOD = agent("return game.actions(state)[0]")
BY_ITSELF = (
    "sitecustomize.py", "usercustomize.py", "evil.py", "conftest.py", "arena_duel/__init__.py", "__main__.py", "setup.py",
)  # fmt: skip
SHADOWS = (
    "arena/__init__.py",
    "arena_isolation/agent_host.py",
    "arena_isolation/__init__.py",
    "pluggy.py",
    "random.py",
    "json.py",
)
LOADERS = {
    "evil.pth": b"import evil\n",
    "arena.toml": b'plugins = ["evil.py"]\n',
    "pyproject.toml": b'[tool.arena]\nplugins = ["evil.py"]\n',
    "pyvenv.cfg": b"home = /tmp\n",
    "evil-1.dist-info/METADATA": b"Name: evil\nVersion: 1\n",
    "evil-1.dist-info/entry_points.txt": b"[arena]\nevil = evil\n[arena.commands]\nevil = evil\n",
    "__pycache__/agent.cpython-311.pyc": b"none",
    ".laid-out": b"",
}
OWN_FILE = """
        for change in (lambda: open(__file__, "a"), lambda: os.unlink(__file__), lambda: os.chmod(__file__, 0o777)):
            try:
                change()
            except OSError:
                continue
            raise RuntimeError("its file can be changed")
        return game.actions(state)[0]"""
Examine = Callable[..., Passed]


@pytest.fixture
def check(tmp_path: Path, bubblewrap: str) -> Examine:
    """Check a file, or a zip of files, as a ladder with sandboxes does."""

    def check(content: bytes | Mapping[str, bytes]) -> Passed:
        (tmp_path / "course.yaml").write_text(SPEC.replace("isolation: process", "isolation: sandbox"))
        ladder = load_ladder(tmp_path / "course.yaml")
        with Store.open(tmp_path / "a.db", write=True), closing(Ledger(tmp_path / "a.db")) as ledger:
            plain = isinstance(content, bytes)
            body = content if isinstance(content, bytes) else packed(content)
            ledger.expect("ada")
            one = ledger.submit("ada", None, "python" if plain else "zip", "mine.py" if plain else "mine.zip", body, 100)
            return examine(ladder, CodeFolder(ledger, 1 << 20), one)

    return check


def zipped(names: Iterable[str], mark: Path, main: bytes = GOOD) -> dict[str, bytes]:
    """The files of a zip; those of the names leave a mark outside any sandbox if they are loaded there."""
    evil = f"open({str(mark)!r}, 'w').write('x')\nraise RuntimeError('loaded')\n".encode()
    return {"agent.py": main, **LOADERS, **dict.fromkeys(names, evil)}


@pytest.mark.promise(hole="file", isolation="sandbox")
def test_a_submission_affects_only_its_own_sandbox(check: Examine, tmp_path: Path) -> None:
    """The submitted file does not change after its check, and processes that it starts before `hello` end with the check."""
    word = f"before-hello-{os.getpid()}"
    forks = "import os, sys\nif os.fork() == 0:\n    os.setsid()\n    "
    forks += f"os.execve(sys.executable, [sys.executable, '-ISc', 'import time; time.sleep(600)', {word!r}], {{}})\n"
    passed = check(zipped(BY_ITSELF, tmp_path / "loaded", forks.encode() + agent(OWN_FILE)))
    assert passed.agent == "mine"
    assert not [finding for finding in passed.findings if not finding["kept"]]
    assert not (tmp_path / "loaded").exists()
    eventually(lambda: not [one for one in psutil.process_iter(["cmdline"]) if (one.info["cmdline"] or [""])[-1] == word])


@pytest.mark.promise(hole="judge", isolation="sandbox")
def test_files_that_shadow_modules_affect_only_their_author(check: Examine, tmp_path: Path) -> None:
    """The process imports modules of Python and arena before it adds the folder of the submission."""
    assert check(zipped(SHADOWS, tmp_path / "loaded")).agent == "mine"
    with pytest.raises(NotPassed, match="while it was loaded"):
        check(zipped(["colorsys.py"], tmp_path / "loaded", b"import colorsys\n" + GOOD))
    assert not (tmp_path / "loaded").exists()


@pytest.mark.promise(hole="text", isolation="sandbox")
def test_a_name_with_characters_that_reverse_text_is_refused_without_printing_them(check: Examine) -> None:
    with pytest.raises(NotPassed) as raised:
        check(GOOD.replace(b'"mine"', '"mi\u202ene"'.encode()))
    assert r"mi\u202ene" in str(raised.value)
    assert str(raised.value).isprintable()
