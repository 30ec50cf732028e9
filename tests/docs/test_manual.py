"""The files and commands in the manual, and its completeness."""

import re
from pathlib import Path

import pytest
from click import Command, Group

from arena import load_plugins
from arena.cli import cli
from arena.plugins.manager import HOOKS
from arena.spec import json_schema
from tests.docs import pages

DOCS = pages.ROOT / "docs"
FILES = sorted([*DOCS.rglob("*.md"), *(DOCS / "ladder").glob("*.md")])  # before Python 3.13, rglob follows no links
MANUAL = {page.relative_to(DOCS).as_posix(): page.read_text("utf-8") for page in FILES}
TRIED = [name for name, text in MANUAL.items() if "```console\n$ " in text]


@pytest.mark.process
@pytest.mark.parametrize("name", TRIED)
def test_the_commands_of_a_page_print_the_shown_output(name: str, tmp_path: Path) -> None:
    """The commands run in an empty folder."""
    wrong = [found for command, printed in pages.walk(DOCS / name, tmp_path) if (found := pages.differs(command, printed))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", [name for name, text in MANUAL.items() if "```yaml\n" in text])
def test_yaml_in_the_manual_is_valid(name: str) -> None:
    import yaml

    for block in re.findall(r"^ *```yaml\n(.*?)^ *```", MANUAL[name], re.DOTALL | re.MULTILINE):
        assert yaml.safe_load(block) is not None


def commands(group: Group, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Command]]:
    """All commands with their names."""
    found: list[tuple[tuple[str, ...], Command]] = []
    for name, command in group.commands.items():
        found.append(((*path, name), command))
        if isinstance(command, Group):
            found += commands(command, (*path, name))
    return found


def test_the_manual_mentions_every_feature() -> None:
    """These are hooks, keys of the spec, and built-in games, agents, heuristics and formats."""
    whole = "\n".join([*MANUAL.values(), (pages.ROOT / "README.md").read_text("utf-8")])
    registry = load_plugins(environ=False)
    builtin = [key[-1] for key, source in registry.sources.items() if source.name.startswith("fairarena:")]
    assert len(builtin) > 30
    words = [*HOOKS, *json_schema(registry)["properties"], *builtin, *[name for (name, *_), _ in commands(cli)]]
    assert [word for word in words if f"`{word}" not in whole and f"arena {word}" not in whole] == []


def test_every_command_and_option_has_a_help_text() -> None:
    for path, command in commands(cli):
        assert command.help, path
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name not in ("format", "style"):
                assert getattr(parameter, "help", None), (path, parameter.name)


LONGEST = 96
"""Characters of a line of code for which the column of the manual is wide enough."""


@pytest.mark.parametrize("name", [name for name in MANUAL if name.startswith(("tutorial", "explanation", "reference"))])
def test_code_lines_are_short_enough_to_read_without_scrolling(name: str) -> None:
    blocks = re.findall(r"^ *```(?!console|text)\w+\n(.*?)^ *```", MANUAL[name], re.DOTALL | re.MULTILINE)
    assert [line for block in blocks for line in block.splitlines() if len(line) > LONGEST] == []
