"""The command line on bad input: exit code 2, a clear message on stderr, nothing on stdout, no traceback."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.fork_server import run_module

pytestmark = pytest.mark.process

SOUND = "game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n"
TIC = "game: tic-tac-toe\nagents: [random, greedy]\n"
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)]
)
CAUTIOUS = (
    "from arena import Agent, hookimpl\n"
    "class Cautious(Agent):\n"
    "    name = 'cautious'\n"
    "    def choose(self, game, state, search):\n"
    "        return game.actions(state)[0]\n"
    "@hookimpl\n"
    "def arena_agents():\n"
    "    return [Cautious]\n"
)


def arena(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "ARENA_PLUGINS"}
    return run_module("arena", arguments, folder=folder, environment=environment)


def refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert re.search(words, done.stderr, re.MULTILINE), done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Files.
        ("", r"^cup\.yaml: is empty"),
        ("- random\n- greedy\n", r"^cup\.yaml:1:1: .* got a list"),
        (
            b"SQLite format 3\x00" + bytes(2_000_000),
            r"^cup\.yaml: is a store, not a spec; `arena leaderboard cup\.yaml` shows it$",
        ),
        (b"\x89PNG\r\n\x1a\n\x00\xff", r"^cup\.yaml:1:1: not text"),
        (b"game: tic-tac-toe\nname: \xff\n", r"^cup\.yaml:2:7: not text: expected UTF-8"),
        ("game: [tic-tac-toe\nagents: x\n", r"^cup\.yaml:2:7: not YAML"),
        (f"{SOUND}#{'x' * (2 << 20)}\n", r"^cup\.yaml: has 2,097,\d+ bytes; expected a spec of at most 1,048,576"),
        (f"{LAUGHS}{SOUND}", r"^cup\.yaml:1:\d+: .*aliases"),
        (f"name: &a [*a]\n{SOUND}", r"^cup\.yaml:1:7: .*alias"),
        (f"name: {'[' * 10000}{']' * 10000}\n{SOUND}", r"^cup\.yaml:1:\d+: .*deep"),
        (f"name: !!python/object/apply:os.getcwd []\n{SOUND}", r"^cup\.yaml:1:7: tag"),
        (f"{SOUND}game: tic-tac-toe\n", r"^cup\.yaml:4:1: duplicate key 'game'"),
        # Types, keys, names, numbers.
        (f"{SOUND}seed: '7'\n", r"^cup\.yaml:4:7: seed: expected an integer, got '7'"),
        (f"{SOUND}sed: 7\n", r"^cup\.yaml:4:1: sed: unknown key; did you mean 'seed'\?"),
        (
            "game: tic-tac-toe\nagents: [random, gredy]\n",
            r"^cup\.yaml:2:18: agents\[1\]: unknown agent 'gredy'; did you mean 'greedy'",
        ),
        ("game: tic-tac-tow\nagents: [random, greedy]\n", r"^cup\.yaml:1:7: game: unknown game .*; did you mean 'tic-tac-toe'"),
        (f"{TIC}rounds: -3\n", r"^cup\.yaml:3:9: rounds: expected at least 1, got -3"),
        (f"{TIC}rounds: {10**40}\n", r"^cup\.yaml:3:9: rounds: expected at most"),
        (f"{TIC}seed: {'9' * 6000}\n", r"^cup\.yaml:3:7: .*digits"),
        # Who plays.
        ("game: tic-tac-toe\nagents: []\n", r"^cup\.yaml:2:9: agents: no agents"),
        ("game: tic-tac-toe\nagents: [random]\n", r"^cup\.yaml:2:9: agents: one agent .*round-robin"),
        (
            "game: tic-tac-toe\nagents: [{agent: random, label: \u00e9}, {agent: greedy, label: e\u0301}]\n",
            r"^cup\.yaml:2:\d+: agents\[1\]\.label: two entries are called '\u00e9'",
        ),
        ("game: tic-tac-toe\nagents: [random, random]\n", r"^cup\.yaml:2:18: agents\[1\]: two entries are called 'random'"),
        (
            "game: sliding-tiles\nagents: [minimax]\n",
            r"^cup\.yaml:2:10: agents\[0\]: minimax cannot play sliding-tiles: needs two-player",
        ),
        # Positions.
        (f"{TIC}positions: [nonsense]\n", r"^cup\.yaml:3:13: positions\[0\]: not a position of tic-tac-toe"),
        (
            "game: sliding-tiles\nagents: [greedy]\npositions: ['2 1 3 / 4 5 6 / 7 8 .']\n",
            r"^cup\.yaml:3:13: positions\[0\]: .*unsolvable",
        ),
        # What the terminal must not see as it is.
        (f'{SOUND}"\\e[31m\\n": 1\n', r"^cup\.yaml:4:1: \\x1b\[31m\\n: unknown key"),
    ],
)
def test_a_bad_spec(tmp_path: Path, text: str | bytes, words: str) -> None:
    """One clear line for each thing that is wrong, beginning with its place."""
    (tmp_path / "cup.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(arena(tmp_path, "run", "cup.yaml"), words)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, r"mine\.py: .*no such file"),
        ({"mine.py": "def f(:\n"}, r"mine\.py: SyntaxError: .*mine\.py:1\)"),
        ({"mine.py": "import no_such_module\n"}, r"mine\.py: ModuleNotFoundError: .*mine\.py:1\)"),
        ({"mine.py": "import sys\nsys.exit(0)\n"}, r"mine\.py: SystemExit: 0 .*mine\.py:2\)"),
        ({"mine.py": "raise KeyboardInterrupt\n"}, r"mine\.py: KeyboardInterrupt .*mine\.py:1\)"),
        ({"mine.py": CAUTIOUS.replace("def arena_agents", "def arena_agent")}, r"'arena_agent'; did you mean 'arena_agents'"),
        (
            {"mine.py": CAUTIOUS.replace("'cautious'", "'greedy'")},
            r"'agent greedy', which fairarena:builtin-agents .* also defines .* play both .* \{agent: greedy, plugin: mine\.py\}",
        ),
        ({"mine.py/x": ""}, r"mine\.py is a directory"),
    ],
)
def test_a_bad_plugin(tmp_path: Path, files: Mapping[str, str], words: str) -> None:
    """Named on the command line it stops the run, whatever the spec."""
    for name, content in {"cup.yaml": SOUND, **files}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    refused(arena(tmp_path, "run", "cup.yaml", "--plugin", "mine.py"), rf"^plugin .*{words}")


def test_a_bad_plugin_of_the_spec(tmp_path: Path) -> None:
    """Named in the spec it is a fault at its line, beside all others."""
    (tmp_path / "mine.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "cup.yaml").write_text(f"{SOUND}plugins: [mine.py]\nseed: x\n")
    done = arena(tmp_path, "run", "cup.yaml")
    refused(done, r"^cup\.yaml:4:11: plugins\[0\]: plugin .*mine\.py: KeyboardInterrupt")
    refused(done, r"^cup\.yaml:5:7: seed: expected an integer, got 'x'")


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    """Named as the user named them."""
    refused(arena(tmp_path, "run", "nowhere.yaml"), r"^nowhere\.yaml: no such file$")
    refused(arena(tmp_path, "run", "."), r"^\.: is a directory")


def test_validate_tells_all_faults_of_all_specs(tmp_path: Path) -> None:
    """On stderr; what is sound is said on stdout, and the exit code is that of the worst."""
    (tmp_path / "cup.yaml").write_text(SOUND)
    (tmp_path / "bad.yaml").write_text("game: tic-tac-tow\nagents: [random, gredy]\nrounds: 0\n")
    (tmp_path / "worse.yaml").write_text("game: [\n")
    done = arena(tmp_path, "validate", "bad.yaml", "cup.yaml", "worse.yaml", "nowhere.yaml")
    assert done.returncode == 2
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        "bad.yaml:1:7",
        "bad.yaml:2:18",
        "bad.yaml:3:9",
        "worse.yaml:2:1",
        "nowhere.yaml",
    ]
    assert done.stdout.startswith("cup.yaml: ")
    assert len(done.stdout.splitlines()) == 1


def test_a_note_is_no_fault(tmp_path: Path) -> None:
    """An agent that one of several boards cannot use costs a line on stderr, none with --quiet, and the run goes on."""
    (tmp_path / "cup.yaml").write_text(
        "games: [tic-tac-toe, {name: sliding-tiles, shuffle: 2}]\nrounds: 1\nagents: [random, type-a]\nlimits: {moves: 9}\n"
    )
    done = arena(tmp_path, "run", "cup.yaml", "--format", "csv")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "type-a cannot play sliding-tiles: needs two-player, zero-sum; sliding-tiles is single-player, path" in line
    quiet = arena(tmp_path, "run", "cup.yaml", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_a_spec_in_the_place_of_a_store_is_named_so(tmp_path: Path) -> None:
    (tmp_path / "cup.yaml").write_text(SOUND)
    for command in ("leaderboard", "matches", "export"):
        refused(
            arena(tmp_path, command, "cup.yaml"), r"^cup\.yaml is a spec: `arena run cup\.yaml` plays it; .* results/cup\.db$"
        )
