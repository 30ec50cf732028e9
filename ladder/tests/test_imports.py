"""The packages that a submission may import."""

from contextlib import closing
from pathlib import Path

import pytest

from arena.store import Store
from arena_ladder.code_folder import CodeFolder
from arena_ladder.examination import examine
from arena_ladder.judge import NotPassed, find_forbidden_imports
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from tests.ladder.hosting import GOOD, SPEC, agent


def test_all_imports_of_a_submission_are_found() -> None:
    """Imports are found at module level, in functions and in conditions. The submission's own modules, the standard library and
    relative imports are allowed.
    """
    files = {
        "agent.py": "import os.path, torch.nn\nfrom helper import f\nfrom . import helper\nfrom arena import Agent\n"
        "def g():\n    if 1:\n        from scipy.stats import norm\n",
        "lib/helper.py": "import numpy as np\nimport lib\n",
        "broken.py": "import (",
    }
    assert find_forbidden_imports(files, ["numpy"]) == ["agent.py:1: torch", "agent.py:7: scipy"]
    assert find_forbidden_imports(files, []) == ["agent.py:1: torch", "agent.py:7: scipy", "lib/helper.py:1: numpy"]


@pytest.mark.process
def test_a_submission_that_imports_another_package_is_refused(tmp_path: Path) -> None:
    """The reason names the author's file, the line and the allowed packages."""
    spec = SPEC.replace("{per_day: 1000}", "{packages: [numpy]}")
    (tmp_path / "course.yaml").write_text(spec)
    ladder = load_ladder(tmp_path / "course.yaml")
    with Store.open(tmp_path / "a.db", write=True), closing(Ledger(tmp_path / "a.db")) as ledger:
        folder = CodeFolder(ledger, 1 << 18)
        ledger.expect("ada")
        one = ledger.submit("ada", None, "python", "mine.py", b"import pytest\n" + agent(GOOD), 10)
        with pytest.raises(NotPassed, match=r"not allowed here: mine.py:1: pytest; allowed: numpy"):
            examine(ladder, folder, one)
