"""Makes the description on PyPI from the README: hatchling calls this when it builds the package.

PyPI shows the description without the repository. So a relative link becomes a link to the file on GitHub, at the tag of the
version. As long as `about.toml` names no repository on GitHub, only the text of the link remains, and a picture is left out.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(!?)\[([^\]]+)\]\((?!https?://|#)([^)]+)\)")


def describe_project(text: str, repository: str, version: str) -> str:
    """Return the text of the README with links that work everywhere."""
    on_github = repository.startswith("https://github.com/")

    def replace_link(found: re.Match[str]) -> str:
        picture, words, path = found.groups()
        if not on_github:
            return "" if picture else words
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return RELATIVE.sub(replace_link, text)


class Description(MetadataHookInterface):
    """Sets the field `readme` of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Do as hatchling asks."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        repository = metadata.get("urls", {}).get("Repository", "")
        text = describe_project(text, repository, metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
