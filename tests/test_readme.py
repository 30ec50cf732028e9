"""The README is true: its files are written down and its commands run, in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena import run
from arena.results.leaderboard import leaderboards
from tests.docs import pages

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", README, re.DOTALL))
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reader's folder, with every file of the README in it."""
    made = tmp_path_factory.mktemp("reader")
    for name, text in FILES.items():
        (made / name).write_text(text)
    return made


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("arena ")])
def test_every_arena_command_of_the_readme_runs(command: str, folder: Path) -> None:
    """Exit code 0, something on stdout."""
    words = command.partition("#")[0].split()[1:]
    done = subprocess.run([sys.executable, "-m", "arena", *words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_the_readme_shows_a_first_agent_and_a_first_game() -> None:
    """In at most 15 and 40 lines that are not blank, and with commands to run them."""
    lines = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in FILES.items()}
    assert set(lines) == {"my_agents.py", "mine.yaml", "nim.py", "nim.yaml"}
    assert lines["my_agents.py"] <= 15
    assert lines["nim.py"] <= 40
    assert len([line for line in COMMANDS if line.startswith("arena ")]) == 9


def test_the_spec_of_the_readme_is_sound() -> None:
    """The commented example plays; fewer rounds and no minimax from the empty board keep it short."""
    import yaml

    blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)```", README, re.DOTALL | re.MULTILINE)]
    example = next(block for block in blocks if "Tic-tac-toe round robin" in str(block.get("name")))
    example = {**example, "rounds": 1, "limits": {"nodes": 200}}
    labels = {row["agent"] for row in leaderboards(run(example))[0].rows}
    assert labels == {"random", "greedy", "perfect", "lookahead(depth=1)", "lookahead(depth=2)", "lookahead(depth=3)"}


def test_the_readme_names_every_command_game_agent_and_heuristic() -> None:
    """Nothing is built in that the README keeps quiet about."""
    from arena import load_plugins
    from arena.cli import cli

    registry = load_plugins(environ=False)
    kinds = ("game", "agent", "heuristic")
    builtin = [key[-1] for key, source in registry.sources.items() if source.name.startswith("fairarena:") and key[0] in kinds]
    for name in (*cli.commands, *builtin):
        assert name in README


def test_links_lead_somewhere() -> None:
    """Every relative link of README and docs is a file of the project."""
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
            if (ROOT / "Makefile").exists() or "docs" in target or "tournaments" in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
def test_the_package_of_the_readme_can_be_installed_and_keeps_its_promises(tmp_path: Path) -> None:
    """Its three lines one after the other; then arena finds the agent of the README, and the tests of the package pass."""
    surroundings = pages.environment(tmp_path)
    place = tmp_path / "reader"
    place.mkdir()
    (place / "my_agents.py").write_text(FILES["my_agents.py"])
    start = COMMANDS.index(next(line for line in COMMANDS if line.startswith("arena new agent blocker")))
    for line in COMMANDS[start : start + 3]:
        pages.run(line, place, surroundings)
    shown, _ = pages.run("arena show blocker", tmp_path, surroundings)
    assert "Wins if it can, else blocks if it must" in shown
    assert "from arena-blocker:blocker 0.1.0" in shown
    tested, _ = pages.run("pytest -q", place / "blocker", surroundings)
    assert re.search(r"^\d passed", tested, re.MULTILINE), tested
