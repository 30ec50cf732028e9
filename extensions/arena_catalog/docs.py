"""The command `docs`: shows the pages of the manual in the terminal."""

import ast
import inspect
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatch
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from arena import ArenaError
from arena.api.cli import Terminal, distribution, hint_at_distribution
from arena.api.results import figures
from arena_catalog.catalogue import paragraph

INSTALLED = Path(__file__).parent / "manual"
"""The folder of the pages if arena was installed from a wheel."""
CHECKOUT = Path(__file__).parents[2] / "docs"
"""The folder of the pages in a checkout of the repository."""
MANUALS = "arena.manual"
"""The group of entry points by which other distributions name a package with pages. The pages are in its folder `manual` or, in a
checkout, in the folder `docs` beside the package. The name of the entry point comes before their topics.
"""
CONTENTS = "index"
"""The page with the tables of contents, which determine the order of all other pages."""
MAX_TEXT_WIDTH = 100
"""The maximum width in columns. Longer lines are hard to read."""
MIN_TOPIC_SIMILARITY = 0.7
"""A topic is proposed in place of an unknown one if the similarity of the two, from 0 to 1, is at least this value."""
MAX_PAGES_NAMED = 5
"""The maximum number of pages that are proposed for an unknown topic."""

TOCTREE = re.compile(r"^```\{toctree\}\n:caption: (?P<caption>[^\n]+)\n(?P<entries>.*?)^```\n?", re.DOTALL | re.MULTILINE)
BUILT = re.compile(r"^```\{eval-rst\}\n.*?^```", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^<!-- file: (\S+) -->$", re.MULTILINE)
COMMENT = re.compile(r"^ *<!-- .*? -->\n", re.DOTALL | re.MULTILINE)
IMAGE = re.compile(r"^!\[(?P<told>[^]]*)\]\((?P<file>[^)]*)\)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ManualPage:
    """A page of the manual."""

    topic: str
    """The path relative to the folder of the manual, without `.md`."""
    path: Path

    @property
    def text(self) -> str:
        """Return the Markdown text of the page, in which docstrings replace the Sphinx directives."""
        return BUILT.sub(lambda block: spelled_out(block[0]), self.path.read_text("utf-8"))

    @property
    def title(self) -> str:
        """Return the heading of the page."""
        return self.path.read_text("utf-8").partition("\n")[0].lstrip("# ")


@click.command()
@click.argument("topic", required=False)
@click.option("--path", "where", is_flag=True, help="Print the path of the page, or of the folder with all pages.")
def docs(topic: str | None, where: bool) -> int:
    """Show the page TOPIC of the manual, or list all pages."""
    pages = manual()
    page = None if topic is None else find(topic, pages)
    if where:
        click.echo(folder() if page is None else page.path)
    elif page is None:
        click.echo("\n".join(contents(pages, Terminal(sys.stdout).size[0] or MAX_TEXT_WIDTH)))
    elif Terminal(sys.stdout).draws:
        columns, lines = Terminal(sys.stdout).size
        text = rendered(page.text, min(MAX_TEXT_WIDTH, columns or 80), colors=not os.environ.get("NO_COLOR"))
        if text.count("\n") < lines:
            click.echo(text, nl=False, color=True)
        else:
            click.echo_via_pager(text, color=True)
    else:
        click.echo(page.text, nl=False)
    return 0


def folder() -> Path:
    """Return the folder of the manual; raises ArenaError if the installation has no manual."""
    for place in (INSTALLED, CHECKOUT):
        if (place / f"{CONTENTS}.md").is_file():
            return place
    raise ArenaError(f"the manual is missing at {INSTALLED}; reinstall {distribution()}")


def manual() -> Mapping[str, ManualPage]:
    """Return all pages, keyed by topic and sorted."""
    top = folder()
    files = {file.relative_to(top).with_suffix("").as_posix(): file for file in top.rglob("*.md")}
    for point in entry_points(group=MANUALS):
        spec = find_spec(point.value)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            place = package / "manual" if (package / "manual").is_dir() else package.parents[1] / "docs"
            files |= {f"{point.name}/{file.stem}": file for file in place.glob("*.md")}
    return {topic: ManualPage(topic, files[topic]) for topic in sorted(files)}


def find(topic: str, pages: Mapping[str, ManualPage]) -> ManualPage:
    """Return the page for a topic. A topic is the path of a page. The last part of the path suffices if no other path has the
    same last part. For an unknown topic, an ArenaError names similar pages.
    """
    asked = topic.strip("/").removeprefix("../").removesuffix(".md").lower()
    ending = [name for name in pages if name == asked or name.endswith(f"/{asked}")]
    if asked in pages or len(ending) == 1:
        return pages[asked if asked in pages else ending[0]]
    if ending:
        raise ArenaError(f"topic {topic!r}: expected one of {', '.join(ending)}")
    listed = [entry for table in TOCTREE.finditer(pages[CONTENTS].text) for entry in table["entries"].split()]
    for entry in listed:
        if entry == asked or entry.endswith(f"/{asked}"):
            raise ArenaError(f"topic {topic!r}: {hint_at_distribution(entry.partition('/')[0])}")
    near = get_close_matches(asked, {*pages, *[name.rpartition("/")[2] for name in pages]}, cutoff=MIN_TOPIC_SIMILARITY)
    whole = re.compile(rf"\b{re.escape(asked)}\b", re.IGNORECASE)
    counts = {name: len(whole.findall(page.text)) for name, page in pages.items()}
    having = sorted([name for name, count in counts.items() if count], key=lambda name: -counts[name])[:MAX_PAGES_NAMED]
    told = [f"did you mean {figures.listing(near, 'or')}?"] if near else []
    told += [f"pages that contain this word: {', '.join(having)}"] if having else []
    raise ArenaError(f"unknown topic {topic!r}; {'; '.join(told) or '`arena docs` lists all pages'}")


def groups(pages: Mapping[str, ManualPage]) -> Iterator[tuple[str, Sequence[ManualPage]]]:
    """Yield the caption of each table of contents on the first page of the manual, with the pages that this table lists."""
    for table in TOCTREE.finditer(pages[CONTENTS].text):
        entries = [line for line in table["entries"].splitlines() if line and not line.startswith(":")]
        yield table["caption"], [page for entry in entries for topic, page in pages.items() if fnmatch(topic, entry)]


def contents(pages: Mapping[str, ManualPage], width: int) -> Iterator[str]:
    """Yield the lines that list the topics and titles of all pages."""
    column = max(map(len, pages)) + 4
    for caption, group in groups(pages):
        if not group:  # its pages are in another distribution
            continue
        yield caption
        for page in group:
            topic = f"  {page.topic}"
            yield paragraph(page.title, width, topic.ljust(column), " " * column)
        yield ""
    yield "`arena docs TOPIC` shows a page, `--path` prints the folder with the examples."


def rendered(markdown: str, width: int, *, colors: bool) -> str:
    """Return Markdown as text for a terminal that is `width` columns wide."""
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    text = StringIO()
    console = Console(
        file=text,
        width=width,
        force_terminal=True,
        color_system="standard" if colors else None,
        theme=Theme({"markdown.code": "bold cyan"}),  # no background, because terminals may be light or dark
        legacy_windows=False,
    )
    console.print(Markdown(for_terminal(markdown), code_theme="ansi_light", hyperlinks=False))
    return text.getvalue()


def for_terminal(markdown: str) -> str:
    """Return Markdown for a terminal. Tables of contents, directives for docstrings, and pictures are replaced by text."""
    text = TOCTREE.sub("", markdown)
    text = FILE.sub(r"`\1`:\n", text)
    text = COMMENT.sub("", text)
    return IMAGE.sub(r"(Picture: \g<told>, \g<file>)", text)


# Parts of pages that are made from docstrings

DIRECTIVE = re.compile(r"^\.\. (?P<kind>[\w:]+):: (?P<name>\S+)(?P<rest>(?:\n(?: .*)?)*)", re.MULTILINE)
"""Matches one directive in a block of Sphinx directives, with the lines that belong to it."""
PLACES = re.compile(r"\b(?:collections\.abc|typing|pathlib)\.")
"""Modules whose names are left out of signatures."""


def spelled_out(block: str) -> str:
    """Return a block of Sphinx directives as Markdown. For a directive that does not name a Python object, the result
    contains the text of the directive.
    """
    return "\n".join([line for found in DIRECTIVE.finditer(block) for line in _directive_lines(found)])


def _directive_lines(found: re.Match[str]) -> Iterator[str]:
    kind, name = found["kind"], found["name"]
    if kind.startswith("auto"):
        try:
            module, _, last = name.rpartition(".")
            value = getattr(import_module(module), last, None) if module else None
            value = import_module(name) if value is None else value
        except (ImportError, AttributeError) as error:
            yield f"`{name}` cannot be shown here: {error}\n"
            return
        yield from _object_lines(name.removeprefix("arena."), value)
        if inspect.isclass(value) and ":members:" in found["rest"]:
            yield from _attribute_lines(value)
            for member, one in vars(value).items():
                if not member.startswith("_") and (inspect.isroutine(one) or isinstance(one, property)):
                    yield from _object_lines(f"{value.__name__}.{member}", one)
    elif kind == "click":
        yield "`arena --help` lists the commands, `arena COMMAND --help` the options of each.\n"
    else:
        yield f"**{name}**\n\n{inspect.cleandoc(found['rest'])}\n"


def _attribute_lines(kind: type) -> Iterator[str]:
    """Yield the attributes of a class that have a docstring below them, with their types and defaults."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    for one, below in pairwise(body.body):
        said = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(said, str):
            default = "" if one.value is None else f" = {ast.unparse(one.value)}"
            yield f"**`{kind.__name__}.{one.target.id}: {ast.unparse(one.annotation)}{default}`**\n"
            yield f"{inspect.cleandoc(said)}\n"


def _object_lines(name: str, value: Any) -> Iterator[str]:
    """Yield the signature and the docstring of a class, a function or a property."""
    said = inspect.getdoc(value) or ""
    try:
        signature = PLACES.sub("", str(inspect.signature(value))) if callable(value) else ""
    except (TypeError, ValueError):
        signature = ""
    if not inspect.ismodule(value):
        yield f"**`{name}{signature}`**\n"
    yield f"{said}\n"
