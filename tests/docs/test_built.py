"""The pages that Sphinx builds."""

import inspect
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import click
import pytest

import arena
import arena.testing
from arena.cli import cli

pytestmark = pytest.mark.process


def words(page: Path) -> str:
    """The text of a page."""
    return unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def ids(page: Path) -> set[str]:
    """The places of a page that a link can point to."""
    return set(re.findall(r'id="([^"]+)"', page.read_text("utf-8")))


def commands(command: click.Command, path: tuple[str, ...] = ("arena",)) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """A command and all that it has below it."""
    yield path, command
    if isinstance(command, click.Group):
        words = [parameter for parameter in command.params if isinstance(parameter, click.Argument)]
        before = [piece for word in words for piece in word.get_usage_pieces(click.Context(command))]
        for name, inner in command.commands.items():
            yield from commands(inner, (*path, *before, name))


def members() -> Iterator[str]:
    """Every public name, and every public member that its class itself declares."""
    for module in (arena, arena.testing):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value):
                continue
            yield f"{module.__name__}.{name}"
            if inspect.isclass(value):
                own = {**vars(value), **vars(value).get("__annotations__", {})}
                yield from (f"{module.__name__}.{name}.{member}" for member in own if not member.startswith("_"))


def test_the_manual_builds_without_warnings(built: Path) -> None:
    assert (built / "tutorial" / "agent.html").is_file()


def test_no_markup_is_left_in_a_page(built: Path) -> None:
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 20
    left = re.compile(r"^\s*\.\. [a-z:]+::|:(?:ref|class|func|meth|doc):`|^\s*:(?:prog|nested|members|caption):", re.MULTILINE)
    wrong = {str(page.relative_to(built)): found[0] for page in pages if (found := left.search(words(page)))}
    assert wrong == {}


def test_every_command_and_option_is_on_the_page_of_the_command_line(built: Path) -> None:
    """Each option has an anchor, an entry in the index, and two dashes."""
    page = built / "reference" / "cli.html"
    places, text = ids(page), words(page)
    asked = 0
    for path, command in commands(cli):
        assert "-".join(path).lower() in places, path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                asked += 1
                name = max(parameter.opts, key=len)
                assert f"cmdoption-{'-'.join(path)}-{name.lstrip('-')}" in places, (path, name)
                assert name in text, (path, name)
    assert asked > 50


def test_every_public_name_and_member_is_on_the_page_of_the_api(built: Path) -> None:
    places = ids(built / "reference" / "api.html")
    wanted = list(members())
    assert {"arena.Registry.games", "arena.Spec.boards", "arena.hookimpl", "arena.State"} <= set(wanted)
    assert [name for name in wanted if name not in places] == []


def test_docstrings_of_attributes_are_complete(built: Path) -> None:
    """No part of a sentence is parsed as a type, and names between backticks are code."""
    page = (built / "reference" / "api.html").read_text("utf-8")
    text = words(built / "reference" / "api.html")
    assert "Its name in specs and on the command line: lowercase letters, digits and dashes." in text
    assert "TYPE:" not in text
    assert "~arena" not in text
    assert not re.search(r"(str|int|dict|list|tuple)\(.*\) -> ", text)  # signatures of Python's own types
    assert "<cite>" not in page
    assert not re.search(r"<em>[a-z_]+</em>(?!\s*[:=])", re.sub(r"<em class[^>]*>.*?</em>", "", page))
