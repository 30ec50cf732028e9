"""The pages as they are sent, by one template: a frame that a module of its own fills."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

Navigation = Sequence[tuple[str, str]]
"""Names and addresses."""
PAGES: Navigation = (("Tournaments", "/"), ("Play", "/play"), ("Puzzles", "/puzzles"), ("New", "/new"))
"""Entries of the navigation."""


@cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.get_template("page.html")


def page(title: str, module: str, path: str, pages: Navigation = PAGES, **data: str) -> str:
    """Return a page: its title, the module that fills it, which entry of the navigation it is, and what it is told."""
    return _template().render(title=title, module=module, path=path, data=data, pages=pages)


def fault_page(title: str, message: str, pages: Navigation = PAGES) -> str:
    """Return a page that says why there is none at an address, and leads back."""
    return _template().render(title=title, module=None, path="", data={}, pages=pages, message=message)
