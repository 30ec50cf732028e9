"""The command line as its user meets it: real processes, stdout for results alone, exit codes, Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from arena import __version__
from arena.cli import cli
from arena.errors import Interrupted
from tests.conftest import arena_in, at_terminal
from tests.core.store.test_night import counted
from tests.eventually import DEADLINE_SECONDS, eventually

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]

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


def arena(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    alone = ["--no-store"] if arguments[:1] == ("run",) else []  # stores have tests of their own
    return arena_in(cwd or ROOT)(*arguments, *alone, **environment)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text("game: tic-tac-toe\nrounds: 2\nagents: [random, greedy]\n")
    return file


def test_run_prints_the_leaderboard_on_stdout_alone(spec: Path, tmp_path: Path) -> None:
    """From any directory; nothing on stderr, since it is no terminal."""
    done = arena("run", str(spec), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "small: tic-tac-toe" in done.stdout
    assert re.search(r"\bgreedy\b", done.stdout)


def test_the_installed_command_does_the_same(spec: Path) -> None:
    """`arena` and `python -m arena` print the same scores."""
    script = Path(sys.executable).with_name("arena")
    done = subprocess.run(
        [script, "run", str(spec), "--no-store", "--format", "json"], capture_output=True, text=True, check=True
    )
    other = json.loads(arena("run", str(spec), "--format", "json").stdout)
    mine = json.loads(done.stdout)
    for board in (*mine["boards"], *other["boards"]):
        for row in board["rows"]:
            del row["ms_per_move"]
    assert mine == other


def test_the_seed_can_be_replaced(spec: Path) -> None:
    """It shows in the output, and the same seed gives the same result."""
    seeds = [json.loads(arena("run", str(spec), "--format", "json", "--seed", seed).stdout)["seed"] for seed in ("5", "6")]
    assert seeds == [5, 6]


def test_what_agents_print_never_reaches_stdout(tmp_path: Path) -> None:
    """Neither print, nor the file descriptor, nor a child process; at import or while playing; with workers or without."""
    (tmp_path / "noisy.py").write_text(NOISY)
    (tmp_path / "noisy.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, noisy]\nplugins: [noisy.py]\n")
    for extra in ([], ["--workers", "2"]):
        done = arena("run", str(tmp_path / "noisy.yaml"), "--format", "json", *extra)
        assert done.returncode == 0
        json.loads(done.stdout)
        for words in ("imported", "raw import", "thinking", "raw thought", "from a child"):
            assert words in done.stderr


def test_validate_reports_every_fault_on_stderr(tmp_path: Path, spec: Path) -> None:
    """Exit code 2, and the sound spec beside it is said to be sound."""
    bad = tmp_path / "bad.yaml"
    bad.write_text("game: tic-tac-toe\nrouns: 3\nagents:\n  - random\n  - {agent: lookahead, depth: four}\n")
    done = arena("validate", str(spec), str(bad))
    assert done.returncode == 2
    assert done.stdout == f"{spec}: no faults, 4 matches\n"
    assert done.stderr == (
        f"{bad}:2:1: rouns: unknown key; did you mean 'rounds'?\n{bad}:5:31: agents[1].depth: expected an integer, got 'four'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "games"], ["tic-tac-toe", "sliding-tiles", "two-player, zero-sum", "single-player, path"]),
        (
            ["list", "agents"],
            ["prisoners-dilemma only", "random", "greedy", "lookahead", "minimax", "alpha-beta", "type-a", "type-a-plus"],
        ),
        (["list", "heuristics"], ["open-lanes", "manhattan", "misplaced"]),
        (["list", "formats"], ["round-robin", "benchmark"]),
        (["list"], ["tic-tac-toe", "open-lanes", "benchmark", "Game ", "Agent ", "Heuristic ", "Encoding ", "Format "]),
        (["show", "lookahead"], ["depth", "2", "full_width.py"]),
        (["show", "sliding-tiles"], ["rows", "shuffle", "blank-first", "manhattan, misplaced"]),
        (["show", "manhattan"], ["admissible, consistent"]),
        (["matrix"], ["needs two-player, zero-sum", "yes"]),
        (["plugins"], ["builtin-agents", "builtin-games", __version__]),
        (["--version"], [__version__]),
        (["--help"], ["run", "validate", "list", "show", "matrix", "plugins", "schema", "check"]),
    ],
)
def test_what_there_is_can_be_looked_up(arguments: list[str], words: list[str]) -> None:
    """Each command names what it should, on stdout, with exit code 0."""
    done = arena(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    for word in words:
        assert word in done.stdout


def test_plugins_that_came_with_arena_are_told_before_its_bridges() -> None:
    """Whatever the alphabet says."""
    told = re.findall(r"^fairarena:(\w+)-", arena("plugins").stdout, re.MULTILINE)
    assert told == ["builtin"] * told.count("builtin") + ["bridge"] * told.count("bridge")
    assert {"builtin", "bridge"} <= set(told)


def test_the_schema_is_json_and_knows_every_key(spec: Path) -> None:
    """Draft 2020-12, with the keys of a spec and of an entry."""
    schema = json.loads(arena("schema").stdout)
    assert set(schema["properties"]) >= {
        "name",
        "game",
        "games",
        "format",
        "rounds",
        "positions",
        "agents",
        "limits",
        "seed",
        "plugins",
    }
    assert set(schema["$defs"]["Entry"]["properties"]) == {
        "agent",
        "label",
        "heuristic",
        "limits",
        "isolation",
        "waits",
        "plugin",
        "version",
    }


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
def test_a_wrong_call_ends_with_2_and_says_why(arguments: list[str]) -> None:
    """On stderr, nothing on stdout."""
    done = arena(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_a_void_match_ends_with_1(tmp_path: Path) -> None:
    """The board is printed all the same, the void matches are named."""
    (tmp_path / "broken.py").write_text(
        "from arena_games.tic_tac_toe import TicTacToe\nfrom arena import hookimpl\n"
        "class Broken(TicTacToe):\n    name = 'broken'\n    default_heuristic = None\n"
        "    def returns(self, state):\n        raise LookupError('no result')\n"
        "@hookimpl\ndef arena_games():\n    return [Broken]\n"
    )
    (tmp_path / "void.yaml").write_text(
        "game: broken\nrounds: 1\nagents: [random, {agent: random, label: other}]\nplugins: [broken.py]\n"
    )
    done = arena("run", str(tmp_path / "void.yaml"))
    assert done.returncode == 1
    assert "void" in done.stdout
    assert "no result" in done.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_with_130(tmp_path: Path, workers: str) -> None:
    """A real SIGINT in the middle of a long run: exit code 130, nothing on stdout, no process left behind."""
    (tmp_path / "long.yaml").write_text("game: tic-tac-toe\nrounds: 100000\nagents: [random, greedy]\n")
    started = subprocess.Popen(
        [sys.executable, "-m", "arena", "run", str(tmp_path / "long.yaml"), "--workers", workers],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    eventually(lambda: counted(tmp_path / "results" / "long.db"))
    eventually(lambda: len(_children(started.pid)) == (2 if workers == "2" else 0))
    children = _children(started.pid)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=DEADLINE_SECONDS)
    assert (started.returncode, out) == (130, "")
    assert "interrupted" in err
    assert "Traceback" not in err
    assert len(children) == (0 if workers == "1" else 2)
    eventually(lambda: not any(_alive(child) for child in children))


@pytest.mark.parametrize("place", ["load_spec", "MatchQueue", "Leaderboard"])
def test_an_interrupted_run_says_how_to_continue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    """Before the first match, too, and with `--quiet`; without a store there is nothing to continue.

    Two agents play each position twice, with the seats swapped, so a round has two matches.
    """

    def interrupt(*_: object, **__: object) -> None:
        raise Interrupted

    monkeypatch.chdir(tmp_path)
    Path("cup.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    assert CliRunner().invoke(cli, ["run", "cup.yaml"]).exit_code == 0
    module = import_module("arena.tournament.run" if place == "MatchQueue" else "arena.commands.run")
    monkeypatch.setattr(module, place, interrupt if place != "Leaderboard" else SimpleNamespace(of_results=interrupt))
    for options, continues in (["--quiet"], True), ([], True), (["--store", "none.db", "--quiet"], place != "load_spec"):
        done = CliRunner().invoke(cli, ["run", "cup.yaml", *options])
        assert done.exit_code == 1  # click's own way to end; `arena` itself ends with 130
        command = " ".join(["arena run cup.yaml", *[word for word in ("--quiet",) if word in options]])
        command += " --store none.db" if "--store" in options else ""
        count = (2 if place == "Leaderboard" else 0) if "--store" in options else 2
        store = "none.db" if "--store" in options else "results/cup.db"
        assert (f"\n{count} matches are in {store}; continue with\n  {command}\n" in done.stderr) == continues


@pytest.mark.parametrize("place", ["load_spec", "check_code", "finish_all"])
@pytest.mark.parametrize("option", [["--fresh"], ["--fresh-for", "random"], ["--accept-changed-plugins"]])
def test_an_interrupted_run_repeats_an_option_until_it_has_its_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, option: list[str]
) -> None:
    """Without `--fresh`, the printed command would go on with the old matches."""
    monkeypatch.chdir(tmp_path)
    Path("cup.yaml").write_text("game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    assert CliRunner().invoke(cli, ["run", "cup.yaml"]).exit_code == 0
    module = import_module("arena.commands.run" if place == "load_spec" else "arena.tournament.run")

    def interrupt(*_: object, **__: object) -> None:
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(module, place, interrupt)
        done = CliRunner().invoke(cli, ["run", "cup.yaml", *option])
    kept = 0 if place != "load_spec" and option[0] != "--accept-changed-plugins" else 2
    command = " ".join(["arena run cup.yaml", *(option if place != "finish_all" else [])])
    assert f"\n{kept} matches are in results/cup.db; continue with\n  {command}\n" in done.stderr


@pytest.mark.parametrize("looked_up", [0, 1, 500])
def test_an_interrupted_run_counts_the_matches_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked_up: int
) -> None:
    """300 rounds of two matches each, of which the second run has looked up a few when it is interrupted."""
    monkeypatch.chdir(tmp_path)
    Path("cup.yaml").write_text("game: tic-tac-toe\nrounds: 300\nagents: [random, greedy]\n")
    assert CliRunner().invoke(cli, ["run", "cup.yaml"]).exit_code == 0
    seen = 0

    def found(_: object) -> None:
        nonlocal seen
        seen += 1
        if seen > looked_up:
            raise Interrupted

    monkeypatch.setattr("arena.console.progress.Progress.found", found)
    done = CliRunner().invoke(cli, ["run", "cup.yaml"])
    assert "\n600 matches are in results/cup.db; continue with\n  arena run cup.yaml\n" in done.stderr


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    tasks = Path(f"/proc/{pid}/task")
    if not listed.exists():
        pytest.skip("no /proc here to see child processes in")
    return [int(child) for task in tasks.iterdir() for child in (task / "children").read_text().split()]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_a_closed_pipe_is_no_crash(spec: Path) -> None:
    """`arena run ... | true` leaves no traceback."""
    done = subprocess.run(
        f"{sys.executable} -m arena run --no-store {spec} | true", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr


def test_progress_is_shown_on_a_terminal_alone(tmp_path: Path) -> None:
    """Through a pseudo-terminal the count is seen, and stdout stays clean."""
    (tmp_path / "some.yaml").write_text("game: tic-tac-toe\nrounds: 10\nagents: [random, {agent: mcts, rollouts: 4000}]\n")
    result, seen = at_terminal(tmp_path, "run", "--no-store", "some.yaml", "--format", "json")
    json.loads(result)
    assert b"/20 matches" in seen


def test_the_help_lists_every_command_by_a_short_sentence() -> None:
    """From tables, so that none has to be imported; they name every module that declares a command, in order."""
    packages = {"arena.commands", *[command.target.partition(".")[0] for command in cli.commands.listed()]} - {"arena"}
    folders = [Path(str(import_module(name).__file__)).parent for name in packages]
    texts = [file.read_text("utf-8") for folder in folders for file in folder.rglob("*.py")]
    declared = {name for text in texts for name in re.findall(r"\n@click\.(?:command|group)\b(?:.*\n)*?def (\w+)\(", text)}
    assert [command.name for command in cli.commands.listed()] == sorted(name.rstrip("_") for name in declared if name != "admin")
    for command in cli.commands.listed():
        assert cli.commands[command.name].help
        if not command.hidden:
            assert command.help == click.Command(command.name, help=command.help).get_short_help_str(60), "not cut at 80 columns"
    shown = CliRunner().invoke(cli, ["--help"]).stdout.partition("Commands:\n")[2]
    names = [line.split()[0] for line in shown.splitlines() if re.match("  [a-z]", line)]
    assert names == [command.name for command in cli.commands.listed() if not command.hidden]


def test_a_command_is_imported_when_it_is_called() -> None:
    """The help of one command imports no other."""
    code = (
        "import sys, arena.cli\n"
        "try:\n    arena.cli.cli(['leaderboard', '--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('arena.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['arena.commands.leaderboard']"


def test_an_unknown_command_is_told_what_is_near_it() -> None:
    """As an unknown name of a plugin is."""
    assert "Did you mean 'validate'?" in arena("valdate").stderr
