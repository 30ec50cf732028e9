"""A command that a message names in full can be run as it is written, apart from placeholders in capitals such as SPEC."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from arena.cli import cli

TOP = Path(__file__).parents[2]
FOLDERS = ("agents", "arena", "bridges", "extensions", "games", "ladder/src")
COMMAND = re.compile(r"`arena( [^`]*|)`")
PLACEHOLDERS = {"N": "1", "BUNDLE": __file__}
"""Values for placeholders of commands that read a number, or look at once whether a file exists."""


def list_messages(code: str) -> Iterator[list[str]]:
    """Yield the texts of some code that are no docstrings. Of a text with values, yield it with and without the last one."""
    tree = ast.parse(code)
    parts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            texts = [str(part.value) if isinstance(part, ast.Constant) else None for part in node.values]
            last = max([place for place, text in enumerate(texts) if text is None], default=0)
            filled = ["1" if text is None else text for text in texts]
            yield ["".join(filled), "".join([*filled[:last], texts[last] or "", *filled[last + 1 :]])]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield [node.value]


def find_mistake(words: list[str]) -> str | None:
    """Return why the command line refuses some words. A command without arguments is only a name, so it is never refused."""
    if not words or words[0].isupper() or words[0] in ("1", "--help"):
        return None
    try:
        name, command, rest = cli.resolve_command(click.Context(cli), [PLACEHOLDERS.get(word, word) for word in words])
        if command is not None and rest:
            command.make_context(name, rest)
    except click.UsageError as error:
        return f"arena {' '.join(words)}: {error.format_message()}"
    return None


def find_mistakes(code: str) -> list[str]:
    """Return the mistakes in all commands of the messages in some code."""
    found = []
    for texts in list_messages(code):
        for commands in zip(*[COMMAND.findall(text) for text in texts], strict=True):
            mistakes = [find_mistake(command.split()) for command in commands]
            found += [str(mistakes[0])] if all(mistakes) else []
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_command_in_a_message_can_be_run(folder: str) -> None:
    codes = {str(file): file.read_text("utf-8") for file in sorted((TOP / folder).rglob("*.py"))}
    assert codes
    assert {file: found for file, code in codes.items() if "`arena" in code and (found := find_mistakes(code))} == {}


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("say('use `arena run --fresh`')", True),  # without a spec
        ("say('use `arena run SPEC --frehs`')", True),
        ("say(f'use `arena export --sound` for {store}')", True),
        ("say(f'use `arena export --sound {store}`')", False),
        ("say(f'expected `arena new game a {options}`')", False),  # there may be no options
        ("say('the command `arena run` writes it')", False),
    ],
)
def test_a_wrong_command_is_found(code: str, refused: bool) -> None:
    assert bool(find_mistakes(code)) == refused
