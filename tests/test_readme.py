"""The README is correct: the tests write its files into an empty folder and run its commands."""

import re
from pathlib import Path

import pytest

from arena import run
from arena.results.leaderboard import Leaderboard
from tests.docs import pages

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", README, re.DOTALL))
FASTER = {"check": ["--matches", "2"], "try": ["--game", "tic-tac-toe"]}
"""Options that shorten commands of the README in the tests."""
BODY = README[README.index("## A first agent") :]
"""What a reader does after the installation."""
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def test_the_readme_is_one_session(tmp_path: Path) -> None:
    """All commands from the first agent on run in their order, in one folder and in a new environment. Files are written when the
    README shows them. Each command of arena ends with exit code 0 and prints something.
    """
    surroundings = pages.environment(tmp_path)
    place = tmp_path / "reader"
    place.mkdir()
    arena = 0
    for name, text, block in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```|```sh\n(.*?)```", BODY, re.DOTALL):
        if name:
            (place / name).write_text(text.replace("rounds: 20\n", "rounds: 2\n"))  # fewer rounds keep the test short
        for line in block.splitlines():
            command = line.partition("#")[0].strip()
            faster = " ".join(FASTER.get(command.split()[1], ())) if command.startswith("arena ") else ""
            told, _ = pages.run(f"{command} {faster} || echo exit code $?", place, surroundings)
            assert "exit code" not in told, f"{command}: {told}"
            assert told or not command.startswith("arena ")
            arena += command.startswith("arena ")
    assert arena == 7
    shown, _ = pages.run("arena show blocker", tmp_path, surroundings)
    assert "Wins if it can, else blocks if it must" in shown
    assert "from arena-blocker:blocker 0.1.0" in shown
    tested, _ = pages.run("pytest -q", place / "blocker", surroundings)
    assert re.search(r"^\d passed", tested, re.MULTILINE), tested


def test_the_readme_shows_a_first_agent_and_a_first_tournament() -> None:
    """The agent has at most 15 lines that are not blank, and the README has the commands to run it and at most 150 lines."""
    lines = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in FILES.items()}
    assert set(lines) == {"my_agents.py", "mine.yaml"}
    assert lines["my_agents.py"] <= 15
    assert len([line for line in COMMANDS if line.startswith("arena ")]) == 7
    assert len(README.splitlines()) <= 150


def test_the_spec_of_the_readme_is_sound() -> None:
    """The spec with comments can be played. A single round and a limit of nodes keep this test short."""
    import yaml

    blocks = [yaml.safe_load(text) for text in re.findall(r"^```yaml\n(.*?)```", README, re.DOTALL | re.MULTILINE)]
    example = next(block for block in blocks if "Tic-tac-toe round robin" in str(block.get("name")))
    example = {**example, "rounds": 1, "limits": {"nodes": 200}}
    labels = {row["agent"] for row in Leaderboard.of_results(run(example))[0].rows}
    assert labels == {"random", "greedy", "perfect", "lookahead(depth=1)", "lookahead(depth=2)", "lookahead(depth=3)"}


def test_the_reference_names_every_command_game_agent_and_heuristic() -> None:
    """The manual has one page with all commands, and one with all games, agents and heuristics."""
    from arena import load_plugins
    from arena.cli import cli

    registry = load_plugins(environ=False)
    kinds = ("game", "agent", "heuristic")
    builtin = [key[-1] for key, source in registry.sources.items() if source.name.startswith("fairarena:") and key[0] in kinds]
    cli_page, builtin_page = ((ROOT / "docs/reference" / name).read_text("utf-8") for name in ("cli.md", "builtin.md"))
    assert [name for name in cli.commands if f"`arena {name}" not in cli_page] == []
    assert [name for name in builtin if f"`{name}`" not in builtin_page] == []


def test_links_lead_somewhere() -> None:
    """Every relative link in the README and the manual leads to a file of the project."""
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text("utf-8")):
            if (ROOT / "Makefile").exists() or "docs" in target or "tournaments" in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
