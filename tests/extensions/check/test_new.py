"""`arena new`: what comes out is sound as it is, for every kind, as a file and as a package."""

import re
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from arena import load_plugins
from arena.testing import check_game
from arena_check.new import write

Called = subprocess.CompletedProcess[str]


KINDS = [
    ("agent", ()),
    ("agent", ("--game", "sliding-tiles")),
    ("game", ()),
    ("game", ("--chance",)),
    ("game", ("--chance", "--hidden")),
    ("game", ("--simultaneous",)),
    ("game", ("--chance", "--hidden", "--simultaneous")),
    ("puzzle", ()),
    ("heuristic", ("--game", "sliding-tiles")),
    ("heuristic", ("--game", "connect-four")),
]
PACKAGES = [(kind, words) for kind, words in KINDS if kind != "game" or len(words) in (0, 3)]
"""One game of several seats at once stands for all whose packages have the same tests."""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "words"), KINDS)
def test_a_new_file_is_sound_without_an_edit(
    kind: str, words: tuple[str, ...], tmp_path: Path, called: Callable[..., Called]
) -> None:
    """It passes `arena check`, ruff and mypy strict, and says what to do next."""
    made = called("arena", "new", kind, "my_first.py", *words)
    tried = f"my_first.py {' '.join(words)}" if kind == "agent" and words else "my_first.py"
    assert (made.returncode, made.stdout) == (0, f"wrote my_first.py\nnext: arena try {tried}\n")
    assert [file.name for file in tmp_path.iterdir()] == ["my_first.py"]
    checked = called("arena", "check", "my_first.py")
    assert checked.returncode == 0, checked.stdout
    assert "FAILED" not in checked.stdout
    (tmp_path / "ruff.toml").write_text("line-length = 120\n[lint]\nselect = ['E', 'F', 'B', 'I', 'UP', 'RUF']\n")
    for linter in (("check",), ("format", "--check")):
        linted = called("ruff", *linter, "my_first.py")
        assert linted.returncode == 0, linted.stdout + linted.stderr
    typed = called("mypy", "--strict", "my_first.py")
    assert typed.returncode == 0, typed.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "words"), PACKAGES)
def test_a_new_package_can_be_installed_and_passes_its_own_tests(
    kind: str, words: tuple[str, ...], tmp_path: Path, called: Callable[..., Called]
) -> None:
    """pip builds it; once installed, arena finds it through its entry point; pytest, ruff and mypy as its pyproject sets them."""
    made = called("arena", "new", kind, "my-first", *words, "--package")
    assert made.returncode == 0, made.stderr
    package = tmp_path / "my-first"
    site = tmp_path / "site"
    pip = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(site), str(package))
    installed = called("pip", *pip)
    assert installed.returncode == 0, installed.stderr
    assert "my-first" in called("arena", "plugins", path=str(site)).stdout
    tested = called("pytest", "-q", "-p", "no:cacheprovider", folder=package)
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
    for tool in (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy", ".")):
        looked = called(*tool, folder=package)
        assert looked.returncode == 0, looked.stdout + looked.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rule", "other", "noticed"),
    [
        ("game", "min(self.most, state[0]) + 1", "min(self.most + 1, state[0]) + 1", "there_are_so_many_ways_to_begin"),
        ("game", "if state[1] == 1 else", "if state[1] == 0 else", "who_takes_the_last_one_wins"),
        ("puzzle", "range(2, self.pancakes + 1)", "range(2, self.pancakes)", "so_many_states_at_each_distance"),
    ],
)
def test_tests_of_a_package_notice_another_rule(
    kind: str, rule: str, other: str, noticed: str, tmp_path: Path, called: Callable[..., Called]
) -> None:
    """One that is as sound as the first for `arena check`: a move more, the loser wins, a turn less."""
    write(kind, "my-first", tmp_path, load_plugins(), package=True)
    file = tmp_path / "my-first" / "my_first.py"
    text = file.read_text()
    assert rule in text
    file.write_text(text.replace(rule, other))
    check_game(load_plugins([file]).game("my-first"), matches=3)
    tested = called("pytest", "-q", "-p", "no:cacheprovider", folder=file.parent)
    assert tested.returncode == 1, tested.stdout
    assert noticed in tested.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("agent", "Blocker"), "name 'Blocker': expected small letters, digits and dashes"),
        (("agent", "random"), "brings 'agent random' already; expected a name that is free"),
        (("heuristic", "x"), "a heuristic belongs to a game; expected --game with one of 2048, backgammon, connect-four, "),
        (("heuristic", "x", "--game", "chess"), "unknown game 'chess'"),
        (("heuristic", "manhattan", "--game", "sliding-tiles"), "already"),
        (("robot", "x"), "'robot' is not one of"),
        (("agent", "import", "--package"), "import is a word of Python's own; expected a name that starts with a letter"),
        (("agent", "class"), "class is a word of Python's own; expected a name that starts with a letter"),
        (("agent", "9lives"), "9lives can be no module; expected a name that starts with a letter"),
        (("agent", "foo-bar-"), "foo_bar_ can be no module; expected a name that starts with a letter and ends without a dash"),
        (("agent", "-"), "expected"),
        (("agent", "json"), "json.py would hide the module json; expected another name"),
    ],
)
def test_bad_calls_write_nothing(words: tuple[str, ...], said: str, tmp_path: Path, called: Callable[..., Called]) -> None:
    """Exit code 2, what was expected, and no file."""
    ended = called("arena", "new", *words)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", [(), ("--package",)])
def test_what_is_there_is_never_overwritten(package: tuple[str, ...], tmp_path: Path, called: Callable[..., Called]) -> None:
    """Neither a file nor a folder of that name."""
    there = tmp_path / ("mine" if package else "mine.py")
    there.write_text("precious")
    ended = called("arena", "new", "agent", "mine", *package)
    assert ended.returncode == 2
    assert "exists; expected another name, or another folder" in ended.stderr
    assert there.read_text() == "precious"


def test_tests_of_a_new_plugin_play_within_limits() -> None:
    """A search that is written in place of the template's may never end."""
    tests = [file.read_text("utf-8") for file in sorted((files("arena_check") / "templates").iterdir(), key=str)]
    calls = [call for text in tests for call in re.findall(r"[^`]\bplay\((.*)\n", text)]
    assert len(calls) >= 5
    assert [call for call in calls if "limits=" not in call] == []
