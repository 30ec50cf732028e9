"""The command line: stdout, stderr, exit codes, Ctrl-C."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from time import sleep
from types import SimpleNamespace

import click
import pytest

from arena.cli import Commands, cli
from arena.errors import Interrupted
from tests.conftest import Arena

NOISY = """
import os, subprocess, sys
from arena import Agent, hookimpl

print("imported")
os.write(1, b"raw import\\n")

class Noisy(Agent):
    name = "noisy"

    def choose(self, game, state, search):
        print("thinking")
        os.write(1, b"raw thought\\n")
        subprocess.run(["echo", "from a child"])
        return game.actions(state)[0]

@hookimpl
def arena_agents():
    return [Noisy]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text("game: tic-tac-toe\nrounds: 2\nagents: [random, greedy]\n")
    return file


def test_run_prints_only_the_leaderboard_on_stdout(spec: Path, invoke: Arena) -> None:
    done = invoke("run", spec, "--no-store")
    assert (done.returncode, done.stderr) == (0, "")
    assert "small: tic-tac-toe" in done.stdout
    assert re.search(r"\bgreedy\b", done.stdout)


def test_output_of_agents_never_reaches_stdout(tmp_path: Path, arena: Arena) -> None:
    """An agent prints, writes to the file descriptor and starts a program, at import and in a match, with one and two workers."""
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "noisy.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, noisy]\nplugins: [noisy.py]\n")
    for extra in ([], ["--workers", "2"]):
        done = arena("run", "noisy.yaml", "--no-store", "--format", "json", *extra)
        assert done.returncode == 0
        json.loads(done.stdout)
        for words in ("imported", "raw import", "thinking", "raw thought", "from a child"):
            assert words in done.stderr


def test_plugins_of_arena_are_listed_before_its_bridges(invoke: Arena) -> None:
    kinds = re.findall(r"^fairarena:(\w+)-", invoke("plugins").stdout, re.MULTILINE)
    assert kinds == ["builtin"] * kinds.count("builtin") + ["bridge"] * kinds.count("bridge")
    assert {"builtin", "bridge"} <= set(kinds)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "x", "--format", "asciiidoc"],
        ["frobnicate"],
        ["list", "dogs"],
        ["show", "minimx"],
        ["run", "no.yaml"],
        [],
    ],
)
def test_an_invalid_call_exits_with_2(arguments: list[str], invoke: Arena) -> None:
    done = invoke(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_void_match_exits_with_1(tmp_path: Path, invoke: Arena) -> None:
    (tmp_path / "broken.py").write_text(
        "from arena_games.tic_tac_toe import TicTacToe\nfrom arena import hookimpl\n"
        "class Broken(TicTacToe):\n    name = 'broken'\n    default_heuristic = None\n"
        "    def returns(self, state):\n        raise LookupError('no result')\n"
        "@hookimpl\ndef arena_games():\n    return [Broken]\n"
    )
    (tmp_path / "void.yaml").write_text(
        "game: broken\nrounds: 1\nagents: [random, {agent: random, label: other}]\nplugins: [broken.py]\n"
    )
    done = invoke("run", "void.yaml", "--no-store")
    assert done.returncode == 1
    assert "void" in done.stdout
    assert "no result" in done.stderr


WATCHED = """
import os, runpy, signal, sys

class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.{number})

sys.meta_path.insert(0, Watch())
sys.argv = ["arena", "--version"]
{start}
"""
INSTALLED = "from arena.__main__ import main; main()"


@pytest.mark.process
@pytest.mark.parametrize("start", [INSTALLED, "runpy.run_module('arena', run_name='__main__')"])
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("module", ["arena.cli", "click", "arena.errors", "arena.commands"])
def test_a_signal_ends_arena_while_it_imports_its_modules(module: str, number: str, start: str) -> None:
    """The installed command and `python -m arena` print one line and no traceback."""
    code = WATCHED.format(module=module, number=number, start=start)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@pytest.mark.process
@pytest.mark.parametrize("command", [[str(Path(sys.executable).with_name("arena"))], [sys.executable, "-m", "arena"]])
def test_ctrl_c_prints_no_traceback_of_arena_at_any_time(tmp_path: Path, command: list[str]) -> None:
    """Like a terminal, the test sends SIGINT to the process group, 0 to 0.6 s after the start. Python itself may print an error
    at first.
    """
    if not Path(command[0]).exists():
        pytest.skip("arena is not installed beside Python")
    (tmp_path / "long.yaml").write_text("game: tic-tac-toe\nrounds: 100000\nagents: [random, greedy]\n")
    for step in range(12):
        words = [*command, "run", str(tmp_path / "long.yaml"), "--no-store"]
        started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        sleep(0.05 * step)
        os.killpg(started.pid, signal.SIGINT)
        _, complaints = started.communicate()
        if "Traceback" in complaints:
            own = re.findall(r'File ".*?arena/(?!__init__|__main__)\w+\.py"', complaints)
            assert own == [], complaints
        elif started.returncode != -signal.SIGINT:
            assert started.returncode == 130
            assert "interrupted" in complaints


@pytest.mark.parametrize("place", ["load_spec", "MatchQueue", "Leaderboard"])
def test_an_interrupted_run_prints_how_to_continue(
    tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Two agents play each position twice, so a round has two matches."""

    def interrupt(*_: object, **__: object) -> None:
        raise Interrupted

    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    assert invoke("run", "cup.yaml").returncode == 0
    module = import_module("arena.tournament.run" if place == "MatchQueue" else "arena.commands.run")
    monkeypatch.setattr(module, place, interrupt if place != "Leaderboard" else SimpleNamespace(of_results=interrupt))
    for options in ["--quiet"], [], ["--store", "none.db", "--quiet"]:
        done = invoke("run", "cup.yaml", *options)
        assert done.returncode == 130
        command = " ".join(["arena run cup.yaml", *[word for word in ("--quiet",) if word in options]])
        command += " --store none.db" if "--store" in options else ""
        store = "none.db" if "--store" in options else "results/cup.db"
        if place == "Leaderboard":  # nothing is left to play
            shown = f"\nall matches are played and in {store}; to see the leaderboards, use\n  arena leaderboard {store}\n"
            assert shown in done.stderr
            assert invoke("leaderboard", store).returncode == 0
        else:
            stored = f"2 matches are in {store}; continue"
            if "--store" in options:
                begun = place != "load_spec"
                stored = f"no match is finished yet in {store}; continue" if begun else "no match has been played; start again"
            assert f"\n{stored} with\n  {command}\n" in done.stderr


@pytest.mark.parametrize(("last", "said"), [(2, "all matches are played and in"), (1, "1 match is in")])
def test_an_interrupt_after_the_last_match_does_not_ask_to_continue(
    tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch, last: int, said: str
) -> None:
    """A round of two agents has two matches. The run is interrupted after `last` of them are stored, before the end of the
    run is recorded.
    """
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    played = 0

    def note(*_: object) -> None:
        nonlocal played
        played += 1
        if played == last:
            raise Interrupted

    monkeypatch.setattr("arena.console.progress.Progress.note", note)
    done = invoke("run", "cup.yaml", "--workers", "1")
    assert done.returncode == 130
    assert f"\n{said} results/cup.db; " in done.stderr
    assert ("continue with" in done.stderr) == (last == 1)


ENDS = """
import atexit, os, signal, sys
from arena import cli
def interrupt(): os.kill(os.getpid(), signal.{signal})
{place}
cli.run_process()
"""
LATE = """
class Late:
    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.{signal}): kill(me, number)
late, cli.main = Late(), lambda: 130
"""


@pytest.mark.process
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    "place",
    [
        "cli.main = lambda: interrupt() or 0",
        "cli.gc.freeze = interrupt",
        "cli.main = lambda: atexit.register(interrupt) and 130",
        "cli.main = lambda: 130; atexit.register(interrupt)",
        LATE,
    ],
)
def test_a_signal_after_the_command_ends_with_the_code_of_an_interrupt(name: str, place: str) -> None:
    """The second Ctrl-C may arrive while the message about the first is printed, or while Python shuts down."""
    code = ENDS.replace("{place}", place).format(signal=name)
    ended = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, "")


@pytest.mark.parametrize("place", ["load_spec", "check_code", "user_interrupts"])
@pytest.mark.parametrize("option", [["--fresh"], ["--fresh-for", "random"], ["--accept-changed-plugins"]])
def test_an_interrupted_run_repeats_options_that_have_not_taken_effect(
    tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch, place: str, option: list[str]
) -> None:
    """Without `--fresh`, the printed command would continue with the old matches."""
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    assert invoke("run", "cup.yaml").returncode == 0
    module = import_module("arena.commands.run" if place == "load_spec" else "arena.tournament.run")

    def interrupt(*_: object, **__: object) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(module, place, interrupt)
        done = invoke("run", "cup.yaml", *option)
    aside = place != "load_spec" and option[0] != "--accept-changed-plugins"
    kept = "no match is finished yet in" if aside else "2 matches are in"
    command = " ".join(["arena run cup.yaml", *(option if place != "user_interrupts" else [])])
    assert f"\n{kept} results/cup.db; continue with\n  {command}\n" in done.stderr


@pytest.mark.parametrize("looked_up", [0, 1, 500])
def test_an_interrupted_run_counts_the_matches_in_the_store(
    tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch, looked_up: int
) -> None:
    """There are 300 rounds of two matches. The second run is interrupted after it has looked up only a few of them."""
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 300\nagents: [random, greedy]\n")
    assert invoke("run", "cup.yaml").returncode == 0
    seen = 0

    def found(_: object, *, failed: bool) -> None:
        nonlocal seen
        seen += 1
        if seen > looked_up:
            raise Interrupted

    monkeypatch.setattr("arena.console.progress.Progress.found", found)
    done = invoke("run", "cup.yaml")
    assert "\n600 matches are in results/cup.db; continue with\n  arena run cup.yaml\n" in done.stderr


@pytest.mark.parametrize(("number", "said"), [(0, "0 of 4 matches were"), (1, "1 of 4 matches was"), (3, "3 of 4 matches were")])
def test_an_interrupted_run_without_a_store_shows_its_results(
    tmp_path: Path, invoke: Arena, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    """The matches are not stored, so this is the only output about them."""
    (tmp_path / "cup.yaml").write_text("game: tic-tac-toe\nrounds: 2\nagents: [random, greedy]\n")
    seen = 0

    def count(*_: object) -> None:
        nonlocal seen
        seen += 1
        if seen >= number:
            raise Interrupted

    monkeypatch.setattr(f"arena.console.progress.Progress.{'note' if number else 'expect'}", count)
    done = invoke("run", "cup.yaml", "--no-store", "--quiet", "--format", "json")
    assert done.returncode == 130
    assert f"\n{said} played; without a store, the run cannot be continued\n" in done.stderr
    if not number:
        assert done.stdout == ""
        return
    (board,) = json.loads(done.stdout)["boards"]
    assert [row["games"] for row in board["rows"]] == [number, number]
    assert (board["finished"], board["size"]) == (False, 4)
    assert not (tmp_path / "results").exists()


@pytest.mark.process
def test_a_closed_pipe_prints_no_traceback(spec: Path) -> None:
    command = shlex.join([sys.executable, "-m", "arena", "run", "--no-store", str(spec)])
    done = subprocess.run(f"{command} | true", shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def test_the_help_describes_every_command_in_a_short_sentence(invoke: Arena) -> None:
    """The sentences come from tables, so the help does not import the commands."""
    packages = {"arena.commands", *[command.target.partition(".")[0] for command in cli.commands.listed()]} - {"arena"}
    folders = [Path(str(import_module(name).__file__)).parent for name in packages]
    texts = [file.read_text("utf-8") for folder in folders for file in folder.rglob("*.py")]
    declared = {name for text in texts for name in re.findall(r"\n@click\.(?:command|group)\b(?:.*\n)*?def (\w+)\(", text)}
    assert [command.name for command in cli.commands.listed()] == sorted(name.rstrip("_") for name in declared if name != "admin")
    for command in cli.commands.listed():
        assert cli.commands[command.name].help
        if not command.hidden:
            assert command.help == click.Command(command.name, help=command.help).get_short_help_str(60), "not cut at 80 columns"
    shown = invoke("--help").stdout.partition("Commands:\n")[2]
    names = [line.split()[0] for line in shown.splitlines() if re.match("  [a-z]", line)]
    assert names == [command.name for command in cli.commands.listed() if not command.hidden]


def test_the_help_has_the_whole_first_sentence_of_a_command_of_a_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command itself is the entry point. By default, click cuts such sentences after 45 characters."""
    sentence = "Draw the openings of all games of a store as a tree."
    command = click.Command("openings", help=f"{sentence} Later sentences are details.")
    point = SimpleNamespace(name="openings", value="plugin:openings", load=lambda: command)
    monkeypatch.setattr("arena.cli.find_entry_points", lambda _group: [point])
    assert len(sentence) > 45
    assert {one.name: one.help for one in Commands().listed()}["openings"] == sentence


@pytest.mark.process
def test_a_command_is_imported_when_it_is_called() -> None:
    code = (
        "import sys, arena.cli\n"
        "try:\n    arena.cli.cli(['leaderboard', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('arena.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['arena.commands.leaderboard']"


def test_an_unknown_command_names_a_similar_one(invoke: Arena) -> None:
    assert "Did you mean 'validate'?" in invoke("valdate").stderr


# Bad input: exit code 2, a clear message on stderr, nothing on stdout, no traceback


SOUND = "game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n"


def refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    assert re.search(words, done.stderr, re.MULTILINE), done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            b"SQLite format 3\x00" + bytes(2_000_000),
            r"^cup\.yaml: is a store, not a spec; `arena leaderboard cup\.yaml` shows it$",
        ),
        (b"game: tic-tac-toe\nname: \xff\n", r"^cup\.yaml:2:7: not text: expected UTF-8"),
        (f'{SOUND}"\\e[31m\\n": 1\n'.encode(), r"^cup\.yaml:4:1: \\x1b\[31m\\n: unknown key"),
    ],
)
def test_an_invalid_spec_exits_with_2(tmp_path: Path, invoke: Arena, text: bytes, words: str) -> None:
    (tmp_path / "cup.yaml").write_bytes(text)
    refused(invoke("run", "cup.yaml"), words)


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("def f(:\n", r"mine\.py: SyntaxError: .*mine\.py:1\)"),
        (
            "import arena, arena_agents.simple as one\n@arena.hookimpl\ndef arena_agents(): return [one.Random]\n",
            r"'agent random', which fairarena:builtin-agents .* also defines .* play both .* \{agent: random, plugin: mine\.py\}",
        ),
    ],
)
def test_an_invalid_plugin_exits_with_2(tmp_path: Path, invoke: Arena, plugin: str, words: str) -> None:
    (tmp_path / "cup.yaml").write_text(SOUND)
    (tmp_path / "mine.py").write_text(plugin)
    refused(invoke("run", "cup.yaml", "--plugin", "mine.py"), rf"^plugin .*{words}")


def test_validate_prints_all_faults_of_all_specs(tmp_path: Path, invoke: Arena) -> None:
    (tmp_path / "cup.yaml").write_text(SOUND)
    (tmp_path / "bad.yaml").write_text("game: tic-tac-tow\nagents: [random, gredy]\nrounds: 0\n")
    (tmp_path / "worse.yaml").write_text("game: [\n")
    done = invoke("validate", "bad.yaml", "cup.yaml", "worse.yaml", "nowhere.yaml")
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


@pytest.mark.parametrize(
    ("keys", "matches"),
    [
        ("format: round-robin\nrounds: 3\nagents: [random, greedy]\n", "6 matches"),  # two orders of seats per round
        (
            "format: {name: head-to-head, test: {sprt: {elo0: 0, elo1: 50}}}\nrounds: 300\nagents: [random, greedy]\n",
            "at most 600 matches",
        ),
    ],
)
def test_validate_counts_matches_or_says_how_many_there_can_be(tmp_path: Path, invoke: Arena, keys: str, matches: str) -> None:
    (tmp_path / "cup.yaml").write_text(f"game: tic-tac-toe\n{keys}")
    assert invoke("validate", "cup.yaml").stdout == f"cup.yaml: no faults, {matches}\n"


def test_an_agent_that_cannot_play_on_a_board_is_reported_as_a_note(tmp_path: Path, invoke: Arena) -> None:
    (tmp_path / "cup.yaml").write_text(
        "games: [tic-tac-toe, {name: sliding-tiles, shuffle: 2}]\nrounds: 1\nagents: [random, type-a]\nlimits: {moves: 9}\n"
    )
    done = invoke("run", "cup.yaml", "--no-store", "--format", "csv")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert "type-a cannot play sliding-tiles: needs two-player, zero-sum; sliding-tiles is single-player, path" in line
    quiet = invoke("run", "cup.yaml", "--no-store", "--quiet")
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_the_error_for_a_spec_instead_of_a_store_names_the_command(tmp_path: Path, invoke: Arena) -> None:
    for name, quoted in (("cup.yaml", "cup.yaml"), ("the cup.yaml", "'the cup.yaml'")):
        (tmp_path / name).write_text(SOUND)
        told = f"{name} is a spec: `arena run {quoted}` plays it; name its store, by default results/{Path(name).stem}.db"
        for command in ("leaderboard", "matches", "export"):
            refused(invoke(command, name), f"^{re.escape(told)}$")
