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


def test_the_readme_shows_a_first_agent_and_a_first_tournament() -> None:
    """At most 15 lines that are not blank, and commands to run them; the whole README has at most 150 lines."""
    lines = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in FILES.items()}
    assert set(lines) == {"my_agents.py", "mine.yaml"}
    assert lines["my_agents.py"] <= 15
    assert len([line for line in COMMANDS if line.startswith("arena ")]) == 7
    assert len(README.splitlines()) <= 150


def test_the_spec_of_the_readme_is_sound() -> None:
    """The commented example plays; fewer rounds and no minimax from the empty board keep it short."""
    import yaml

    blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)```", README, re.DOTALL | re.MULTILINE)]
    example = next(block for block in blocks if "Tic-tac-toe round robin" in str(block.get("name")))
    example = {**example, "rounds": 1, "limits": {"nodes": 200}}
    labels = {row["agent"] for row in leaderboards(run(example))[0].rows}
    assert labels == {"random", "greedy", "perfect", "lookahead(depth=1)", "lookahead(depth=2)", "lookahead(depth=3)"}


def test_the_reference_names_every_command_game_agent_and_heuristic() -> None:
    """Two pages of the manual list everything that is built in."""
    from arena import load_plugins
    from arena.cli import cli

    registry = load_plugins(environ=False)
    kinds = ("game", "agent", "heuristic")
    builtin = [key[-1] for key, source in registry.sources.items() if source.name.startswith("fairarena:") and key[0] in kinds]
    cli_page, builtin_page = ((ROOT / "docs/reference" / name).read_text("utf-8") for name in ("cli.md", "builtin.md"))
    assert [name for name in cli.commands if f"`arena {name}" not in cli_page] == []
    assert [name for name in builtin if f"`{name}`" not in builtin_page] == []


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
