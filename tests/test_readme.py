"""The README is correct: the tests write its files into an empty folder and run its commands."""

import re
import shutil
import subprocess
import tomllib
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self
from urllib.request import urlopen

import pytest

from arena import run
from arena.results.leaderboard import Leaderboard
from tests.conftest import Missing
from tests.docs import pages
from tests.eventually import eventually

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", README, re.DOTALL))
FASTER = {"check": ["--matches", "2"], "try": ["--game", "tic-tac-toe"]}
"""Options that shorten commands of the README in the tests."""
COPIED = (
    *("Makefile", "README.md", "LICENSE", "pyproject.toml", ".ci"),
    *("arena", "agents", "games", "bridges", "extensions", "ladder", "docs", "tournaments"),
)
"""The files of the checkout in which the README is read."""
MARK = "the exit code is"
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


class Session:
    """A shell that runs one command after the other, as a reader does."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        pipe = subprocess.PIPE
        self._shell = subprocess.Popen(
            ["sh"], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True, cwd=folder, env=environment
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(BrokenPipeError):
            self._shell.communicate("kill $server\nexit\n")

    def run(self, command: str) -> str:
        """Run a command, which must end with exit code 0, and return its output."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{{ {command}\n}} < /dev/null\ncode=$?; echo; echo {MARK} $code\n")
        self._shell.stdin.flush()
        lines: list[str] = []
        while not (lines and lines[-1].startswith(MARK)):
            line = self._shell.stdout.readline()
            assert line, f"{command} ended the shell: {lines}"
            lines.append(line)
        assert lines.pop() == f"{MARK} 0\n", f"{command}: {''.join(lines)}"
        return "".join(lines).strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the checkout, with fewer rounds in the two short tournaments."""
    place = tmp_path / "fairarena"
    place.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, place / name)
    for name in ("quickstart", "quickstart-puzzle"):
        spec = place / "tournaments" / f"{name}.yaml"
        text, changed = re.subn("^rounds: [0-9]+$", "rounds: 1", spec.read_text("utf-8"), flags=re.MULTILINE)
        assert changed == 1
        spec.write_text(text)
    return place


@pytest.mark.process
@pytest.mark.timeout(1200)
def test_the_readme_runs_as_one_session(checkout: Path, missing: Missing) -> None:
    """All commands run from top to bottom in one shell, in a new checkout. Files are written when the README shows them.

    `make run` installs the checkout into a new environment, which has the libraries of the tests instead of a network. Of `make
    test`, only the steps are listed. Each command ends with exit code 0, and each command of arena prints something.
    """
    if shutil.which("make") is None:
        missing("make", "there is no make: apt-get install make")
    surroundings = pages.environment(checkout, ".venv", ("pip", "pytest"))
    surroundings["PATH"] = surroundings["PATH"].partition(":")[2]  # the reader's shell does not find the new environment yet
    arena, served = 0, checkout / "served.txt"
    served.touch()
    with Session(checkout, surroundings) as session:
        for name, text, block in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```|```sh\n(.*?)```", README, re.DOTALL):
            if name:
                (checkout / name).write_text(text.replace("rounds: 20\n", "rounds: 2\n"))  # fewer rounds keep the test short
            for line in block.splitlines():
                command = line.partition("#")[0].strip()
                if command == "make test":
                    steps = session.run("make --dry-run test")
                    assert all(step in steps for step in ("ruff check", "mypy", "lint-imports", "pytest"))
                elif " serve " in command:
                    session.run(f"{command} --port 0 > {served.name} 2>&1 & server=$!")
                    address = eventually(lambda: re.findall(r"(http://\S+)\s", served.read_text()), served.read_text)
                    with urlopen(address[0]) as reply:
                        assert reply.status == 200
                    session.run("kill $server; wait $server; server=")
                else:
                    own = command.startswith("arena ")
                    told = session.run(f"{command} {' '.join(FASTER.get(command.split()[1], ())) if own else ''}")
                    assert told or not own, command
                    arena += own
                if command == "make run":
                    assert {*re.findall("othello|sliding-tiles|type-a-plus", told)} == {"othello", "sliding-tiles", "type-a-plus"}
        assert arena == 7
        assert session.run("command -v arena") == str(checkout / ".venv/bin/arena")
        shown = session.run("arena show blocker")
        assert "Wins if it can, else blocks if it must" in shown
        assert "from arena-blocker:blocker 0.1.0" in shown
        tested = session.run("cd blocker && pytest -q")
        assert re.search(r"^\d passed", tested, re.MULTILINE), tested


def test_the_readme_shows_a_first_agent_and_a_first_tournament() -> None:
    """The agent has at most 15 lines that are not blank, and the README contains the commands to run it and at most 150 lines."""
    lines = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in FILES.items()}
    assert set(lines) == {"my_agents.py", "mine.yaml"}
    assert lines["my_agents.py"] <= 15
    assert len([line for line in COMMANDS if line.startswith("arena ")]) == 7
    assert len(README.splitlines()) <= 150


def test_the_spec_of_the_readme_is_valid() -> None:
    """The spec with comments can be played. A single round and a limit of nodes keep this test short."""
    import yaml

    blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)```", README, re.DOTALL | re.MULTILINE)]
    example = next(block for block in blocks if "Tic-tac-toe round robin" in str(block.get("name")))
    example = {**example, "rounds": 1, "limits": {"nodes": 200}}
    labels = {row["agent"] for row in Leaderboard.of_results(run(example))[0].rows}
    assert labels == {"random", "greedy", "perfect", "lookahead(depth=1)", "lookahead(depth=2)", "lookahead(depth=3)"}


def test_the_pattern_for_the_wheel_matches_one_wheel_only() -> None:
    """`make wheel` writes two wheels, and pip takes extras for one file."""
    projects = [
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]["name"] for folder in (".", "ladder")
    ]
    wheels = [f"dist/{name.replace('-', '_')}-0.1.0-py3-none-any.whl" for name in projects]
    patterns = re.findall(r"ls (dist/[^)]+)\)", README)
    assert [[one for one in wheels if fnmatchcase(one, pattern)] for pattern in patterns] == [wheels[:1]]


def test_relative_links_have_targets() -> None:
    """Every relative link in the README and the manual leads to a file of the project."""
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
            if (ROOT / "Makefile").exists() or "docs" in target or "tournaments" in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
