"""The HTML of the pages. All pages use one template, and a JavaScript module fills it."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

Navigation = Sequence[tuple[str, str]]
"""The names and addresses of pages."""
PAGES: Navigation = (("Tournaments", "/"), ("Play", "/play"), ("Puzzles", "/puzzles"))
"""The entries of the navigation."""
WAY_BACK = "<!-- the way back -->"
"""The placeholder on a page of comparisons where a server inserts links to its pages."""


@cache
def _template() -> Template:
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.get_template("page.html")


def page(title: str, module: str, path: str, pages: Navigation = PAGES, **data: str) -> str:
    """Return a page with its title, the module that fills it, its path in the navigation, and data for the module.

    If the data has a `root`, the paths in the module are relative to it.
    """
    return _template().render(title=title, module=module, path=path, data=data, pages=pages)


def fault_page(title: str, message: str, pages: Navigation = PAGES) -> str:
    """Return an error page with a message and a link back."""
    return _template().render(title=title, module=None, path="", data={}, pages=pages, message=message)
