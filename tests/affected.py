"""Prints the folders of the tests that a change of one extension needs: the folders of this extension and of
all extensions that import it.

`python tests/affected.py web`
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def find_affected(extension: str) -> list[str]:
    """Return the names of an extension and of all extensions that import it, directly or not."""
    sources = {
        folder.name.removeprefix("arena_"): "".join(file.read_text("utf-8") for file in folder.rglob("*.py"))
        for folder in [*(ROOT / "extensions").glob("arena_*"), ROOT / "ladder" / "src" / "arena_ladder"]
    }
    if extension not in sources:
        sys.exit(f"EXTENSION: expected one of {', '.join(sorted(sources))}; got {extension}")
    affected = [extension]
    for name in affected:
        imports = re.compile(rf"^\s*(from|import) arena_{name}\b", re.MULTILINE)
        affected += [other for other, text in sources.items() if other not in affected and imports.search(text)]
    return sorted(affected)


if __name__ == "__main__":
    folders = [ROOT / "tests" / ("" if name == "ladder" else "extensions") / name for name in find_affected(sys.argv[1])]
    print(*[folder.relative_to(ROOT) for folder in folders if folder.is_dir()])
