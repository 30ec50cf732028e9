"""The manual, built by Sphinx: `make docs`."""

import re
from typing import Any

from arena import __version__

project = "fairarena"
author = "the fairarena project"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["examples"]
html_theme = "furo"
html_title = f"fairarena {__version__}"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_show_copyright = False
default_role = "code"  # single backticks in docstrings are names
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_default_options = {"undoc-members": True}  # the docstring of a class may explain its attributes
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
nitpicky = False


def named(_app: Any, _page: str, source: list[str]) -> None:
    """Turn the comments that name files into captions. The tests find the files by these comments."""
    source[0] = re.sub(
        r"^<!-- file: (\S+) -->\n```(\w+)\n", r"```{code-block} \2\n:caption: \1\n\n", source[0], flags=re.MULTILINE
    )


def readable(_app: Any, _what: str, _name: str, _value: Any, _options: Any, signature: str | None, returns: str | None) -> Any:
    """Return a signature that Sphinx can parse. A default from a factory is shown as `...`."""
    return (signature or "").replace("<factory>", "...") or signature, returns


def linked(_app: Any, env: Any, _pages: Any) -> None:
    """Let pages name the pages of the ladder by their real paths, as on GitHub: `docs/ladder` is a link to `ladder/docs`."""
    paths = {name: env.doc2path(name) for name in env.found_docs}
    env.project._path_to_docname |= {path.resolve(): name for name, path in paths.items()}  # noqa: SLF001 - there is no other way


def setup(app: Any) -> None:
    """Connect these functions to Sphinx, which calls `setup`."""
    app.connect("autodoc-process-signature", readable)
    app.connect("env-before-read-docs", linked)
    app.connect("source-read", named)
