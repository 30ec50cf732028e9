"""The games of the manual's page about boards, and matches of these games."""

import re
from pathlib import Path

import pytest

from arena import run

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "board.md"


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the page, and with a store `cup.db` that has matches of their games and of othello."""
    folder = tmp_path_factory.mktemp("drawn")
    for name, text in re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL):
        (folder / name).write_text(text, "utf-8")
    plugins = [str(folder / "domineering.py"), str(folder / "marienbad.py")]
    run(
        {
            "name": "drawn",
            "games": ["domineering", "marienbad", "othello"],
            "rounds": 1,
            "plugins": plugins,
            "agents": ["random", "greedy"],
        },
        store=folder / "cup.db",
    )
    return folder
