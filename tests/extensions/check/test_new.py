"""`arena new`: what comes out is sound as it is, for every kind, as a file and as a package."""

import ast
import re
import shlex
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from arena import Agent, Limits, load_plugins, play
from arena.testing import check_game
from arena_check.new import write
from tests.conftest import arena_in
from tests.extensions.check.conftest import Inside

Called = subprocess.CompletedProcess[str]


KINDS = [
    ("agent", ()),
    ("agent", ("--game", "sliding-tiles")),
    ("agent", ("--game", "hearts")),
    ("game", ()),
    ("game", ("--chance",)),
    ("game", ("--chance", "--hidden")),
    ("game", ("--simultaneous",)),
    ("game", ("--chance", "--hidden", "--simultaneous")),
    ("puzzle", ()),
    ("heuristic", ("--game", "sliding-tiles")),
    ("heuristic", ("--game", "connect-four")),
    ("heuristic", ("--game", "hearts")),
]


@pytest.fixture(scope="module")
def new_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind, made by `arena new`."""
    folder = tmp_path_factory.mktemp("new")
    for number, (kind, words) in enumerate(KINDS):
        made = arena_in(folder)("new", kind, f"my_file_{number}.py", *words)
        tried = f"my_file_{number}.py {' '.join(words)}" if kind == "agent" and words else f"my_file_{number}.py"
        assert (made.returncode, made.stdout) == (0, f"wrote my_file_{number}.py\nnext: arena try {tried}\n")
        assert f"Next: `arena try {tried}`;" in (folder / f"my_file_{number}.py").read_text()
    assert sorted(file.name for file in folder.iterdir()) == sorted(f"my_file_{number}.py" for number in range(len(KINDS)))
    return folder


@pytest.mark.process
@pytest.mark.parametrize("number", range(len(KINDS)), ids=[" ".join([kind, *words]) for kind, words in KINDS])
def test_a_new_file_passes_its_check(number: int, new_files: Path) -> None:
    """A new file passes `arena check` without an edit."""
    checked = arena_in(new_files)("check", f"my_file_{number}.py", "--matches", "5")
    assert checked.returncode == 0, checked.stdout
    assert "FAILED" not in checked.stdout


@pytest.mark.process
@pytest.mark.parametrize("package", [(), ("--package",)], ids=["file", "package"])
def test_the_command_that_a_new_file_names_finds_its_game(package: tuple[str, ...], tmp_path: Path) -> None:
    """The command also names the game and its plugin, and works in the folder in which the file is."""
    inside = arena_in(tmp_path)
    assert inside("new", "game", "odd").returncode == 0
    (tmp_path / "odd.py").rename(tmp_path / 'the "odd" game.py')
    made = inside("new", "agent", "mine", "--game", "odd", "--plugin", 'the "odd" game.py', *package)
    folder = tmp_path / "mine" if package else tmp_path
    shown = re.findall(r"arena try [^`\n]*", str(ast.get_docstring(ast.parse((folder / "mine.py").read_text()))))
    shown += re.findall(r"^arena try .*", (folder / "README.md").read_text(), re.MULTILINE) if package else []
    assert len(shown) == 1 + len(package)
    for line, start in [(made.stdout.split("next: ")[1].splitlines()[0], tmp_path), *[(line, folder) for line in shown]]:
        tried = arena_in(start)(*shlex.split(line)[1:], "--seconds", "0.1")
        assert (tried.returncode, tried.stderr) == (0, "")
        assert re.findall(r"^mine at (\w+):", tried.stdout, re.MULTILINE) == ["odd"]
        assert "arena check mine" in tried.stdout.replace("mine/mine", "mine")
        assert "--watch --game odd --plugin" in tried.stdout


def test_new_files_pass_ruff_and_mypy(new_files: Path, called: Callable[..., Called]) -> None:
    """Ruff and the strict mode of mypy find nothing in a new file."""
    (new_files / "ruff.toml").write_text("line-length = 120\n[lint]\nselect = ['E', 'F', 'B', 'I', 'UP', 'RUF']\n")
    for tool in (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy", "--strict", ".")):
        looked = called(*tool, folder=new_files)
        assert looked.returncode == 0, looked.stdout + looked.stderr


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The folders of packages of several kinds, made by `arena new`."""
    folder = tmp_path_factory.mktemp("packages")
    for number, (kind, words) in enumerate(KINDS):
        made = arena_in(folder)("new", kind, f"my-{number}", *words, "--package")
        assert made.returncode == 0, made.stderr
    return [folder / f"my-{number}" for number in range(len(KINDS))]


def test_new_packages_can_be_installed(packages: list[Path], tmp_path: Path, called: Callable[..., Called]) -> None:
    """pip builds and installs them. After that, arena finds each of them by its entry point."""
    site = tmp_path / "site"
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(site))
    installed = called("pip", "install", *options, *map(str, packages))
    assert installed.returncode == 0, installed.stderr
    listed = called("arena", "plugins", path=str(site)).stdout
    assert [package.name for package in packages if package.name not in listed] == []


@pytest.mark.parametrize("number", range(len(KINDS)), ids=[" ".join([kind, *words]) for kind, words in KINDS])
def test_a_new_package_passes_its_own_tests(number: int, packages: list[Path], called: Callable[..., Called]) -> None:
    """pytest, ruff and mypy run with the options of its pyproject.toml."""
    tested = called("pytest", "-q", "-p", "no:cacheprovider", folder=packages[number])
    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
    for tool in (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy", ".")):
        looked = called(*tool, folder=packages[number])
        assert looked.returncode == 0, looked.stdout + looked.stderr


@pytest.mark.parametrize(
    ("kind", "rule", "other", "noticed"),
    [
        ("game", "min(self.most, state[0]) + 1", "min(self.most + 1, state[0]) + 1", "number_of_sequences_from_the_start"),
        ("game", "if state[1] == 1 else", "if state[1] == 0 else", "the_player_that_takes_the_last_one_wins"),
        ("puzzle", "range(2, self.pancakes + 1)", "range(2, self.pancakes)", "number_of_states_at_each_distance"),
        (
            "game chance",
            "return uniform(range(1, self.sides + 1))",
            "return [(face, face / 21) for face in range(1, 7)]",
            "all_faces_of_the_die_are_equally_likely",
        ),
        ("game chance", "return state[2]  #", "return 0  #", "each_seat_has_its_own_throws"),
        ("game chance", "SURE = 3", "SURE = 4", "the_value_of_the_game"),
        ("game hidden", "return (1, -1)\n", "return (2, -2)\n", "the_value_of_the_game"),
        ("game hidden", "if owner == seat else", "if seat or owner == seat else", "each_seat_sees_only_its_own_card"),
        ("game hidden", "rng.choice(left)", "left[0]", "every_card_that_the_seat_cannot_see_is_possible"),
        (
            "game simultaneous",
            "1 if sum(shown) % 2 else -1",
            "-1 if sum(shown) % 2 else 1",
            "an_odd_sum_scores_for_the_first_seat",
        ),
        ("game simultaneous chance", "(mine > theirs) - (mine < theirs)", "(mine < theirs) - (mine > theirs)", "the_higher_bid"),
        ("game simultaneous chance", "UNKNOWN, bid[1]", "bid[0], bid[1]", "bids_stay_hidden"),
    ],
)
def test_tests_of_a_package_detect_changed_rules(
    kind: str, rule: str, other: str, noticed: str, tmp_path: Path, called: Callable[..., Called]
) -> None:
    """`arena check` accepts the changed rules: a different number of turns, a win for the losing side, or a loaded die."""
    kind, *features = kind.split()
    write(kind, "my-first", tmp_path, load_plugins(), package=True, features=frozenset(features))
    file = tmp_path / "my-first" / "my_first.py"
    text = file.read_text()
    assert rule in text
    file.write_text(text.replace(rule, other))
    check_game(load_plugins([file]).game("my-first"), matches=3)
    tested = called("pytest", "-q", "-p", "no:cacheprovider", folder=file.parent)
    assert tested.returncode == 1, tested.stdout
    assert noticed in tested.stdout


def test_tests_of_an_agent_never_replace_its_moves(tmp_path: Path) -> None:
    """An agent without reports plays its own moves in the games of its tests, however long its search takes."""
    write("agent", "my-first", tmp_path, load_plugins(), package=True)
    text = (tmp_path / "my-first" / "tests" / "test_my_first.py").read_text()
    (limits,) = re.findall(r"^LIMITS = (.*)$", text, re.MULTILINE)

    class Slow(Agent):
        name = "slow"

        def choose(self, game: Any, state: Any, search: Any) -> Any:
            for _ in range(3_000):
                game.result(state, game.actions(state)[-1])
            return game.actions(state)[-1]

    given = eval(limits, {"Limits": Limits})
    record = play("tic-tac-toe", [Slow(), "random"], limits=given)
    assert (record.fallbacks, record.actions[0]) == (0, "9")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("agent", "Blocker"), "name 'Blocker': expected lowercase letters, digits and dashes"),
        (("agent", "random"), "already defines 'agent random'; choose another name"),
        (
            ("heuristic", "x"),
            "a heuristic belongs to a game; expected --game with one of 2048, backgammon, breakthrough, ",
        ),
        (("heuristic", "x", "--game", "chess"), "unknown game 'chess'"),
        (("heuristic", "manhattan", "--game", "sliding-tiles"), "already"),
        (("robot", "x"), "'robot' is not one of"),
        (("agent", "import", "--package"), "import is a Python keyword; expected a name that starts with a letter"),
        (("agent", "class"), "class is a Python keyword; expected a name that starts with a letter"),
        (("agent", "9lives"), "9lives cannot be the name of a module; expected a name that starts with a letter"),
        (
            ("agent", "foo-bar-"),
            "foo_bar_ cannot be the name of a module; expected a name that starts with a letter and ends without a dash",
        ),
        (("agent", "-"), "expected"),
        (("agent", "json"), "json.py would hide the module json; expected another name"),
    ],
)
def test_invalid_calls_write_nothing(words: tuple[str, ...], said: str, tmp_path: Path, inside: Inside) -> None:
    """The exit code is 2, the message gives the expected value, and no file is written."""
    ended = inside("new", *words)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("package", [(), ("--package",)])
def test_an_existing_file_is_never_overwritten(package: tuple[str, ...], tmp_path: Path, inside: Inside) -> None:
    """The same holds for an existing folder."""
    there = tmp_path / ("mine" if package else "mine.py")
    there.write_text("precious")
    ended = inside("new", "agent", "mine", *package)
    assert ended.returncode == 2
    assert "already exists; choose another name or another folder" in ended.stderr
    assert there.read_text() == "precious"


def test_tests_of_a_new_plugin_play_within_limits() -> None:
    """A search that replaces the template's code may never end."""
    tests = [file.read_text("utf-8") for file in sorted((files("arena_check") / "templates").iterdir(), key=str)]
    calls = [call for text in tests for call in re.findall(r"[^`]\bplay\((.*)\n", text)]
    assert len(calls) >= 5
    assert [call for call in calls if "limits=" not in call] == []
