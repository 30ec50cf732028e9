"""The commands of docs/how-to/play.md run, and its tables are complete."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena_play.session import COMMANDS

Run = Callable[..., Any]

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "play.md").read_text("utf-8")
LINES = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", LINES)
def test_every_command_of_the_page_runs(here: Run, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command exits with code 0 and prints a result. Commands that ask for a move read the end of the input and stop."""
    monkeypatch.setattr("arena_play.session.sleep", lambda _: None)
    done = here(*shlex.split(line, comments=True)[1:])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert done.stderr == ""


def test_the_tables_of_the_page_are_complete(here: Run) -> None:
    """The page lists every command of the prompt and every key of the JSON output."""
    rows = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)
    assert set(COMMANDS) <= set(rows)
    listed = re.search(r"prints one object: `([^`]+)`", PAGE)
    assert listed is not None
    done = here("solve", "n-queens", "--agent", "dfs", "--format", "json")
    assert [key.strip() for key in listed[1].replace("\n", " ").split(",")] == list(json.loads(done.stdout))
