"""The map of the code agrees with the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
ARENA = TOP / "arena"
EXTENSIONS = TOP / "extensions"
PAGE = (TOP / "docs" / "explanation" / "architecture.md").read_text()
UNSAID = {"__init__.py", "__main__.py"}


@pytest.mark.process
def test_the_picture_is_drawn_from_the_imports(tmp_path: Path) -> None:
    code = f"import make_figures, pathlib; make_figures.FOLDER = pathlib.Path({str(tmp_path)!r}); import make_map; "
    code += "make_map.draw(make_map.imports()).save('map.svg')"
    subprocess.run([sys.executable, "-c", code], cwd=TOP / "docs", check=True)
    drawn, kept = (tmp_path / "map.svg").read_text(), (TOP / "docs" / "figures" / "map.svg").read_text()
    assert drawn == kept, "make figures draws it anew"


def test_every_package_and_module_is_in_the_tables() -> None:
    said = set(re.findall(r"^\| `([\w./]+)` \|", PAGE, re.MULTILINE))
    modules = {file.name for file in ARENA.glob("*.py")} - UNSAID
    packages = {f"{folder.name}/" for folder in ARENA.iterdir() if (folder / "__init__.py").exists()}
    extensions = {f"{folder.name}/" for folder in EXTENSIONS.iterdir() if (folder / "__init__.py").exists()}
    assert said == modules | packages | extensions


def test_files_named_by_the_page_exist() -> None:
    named = set(re.findall(r"`([a-z_]+/[a-z_]+\.py|[a-z_]+\.py)`", PAGE))
    folders = [EXTENSIONS, TOP / "agents", TOP / "bridges", TOP / "games", TOP / "ladder"]
    places = [*ARENA.glob("*.py"), *ARENA.glob("*/*.py"), *[file for folder in folders for file in folder.rglob("*.py")]]
    missing = [path for path in named if not any(str(place).endswith(f"/{path}") for place in places)]
    assert not missing
    longer = set(re.findall(r"`((?:agents|bridges|docs|games|tests)/[\w./]+\.\w+)`", PAGE))
    assert len(longer) > 10
    assert not [path for path in longer if not (TOP / path).is_file()]
