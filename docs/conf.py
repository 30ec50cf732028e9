"""The manual, built by Sphinx: `make docs`."""

from arena import __version__

project = "gamearena"
author = "the gamearena project"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["examples"]
html_theme = "furo"
html_title = f"gamearena {__version__}"
html_static_path: list[str] = []
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
nitpicky = False
