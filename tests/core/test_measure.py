"""Short private functions that are called once go back to their callers; see `measure.py`."""

import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def measure() -> dict[str, Any]:
    """The names of the script."""
    return runpy.run_path(str(Path(__file__).with_name("measure.py")))


@pytest.mark.process
def test_every_short_function_that_is_called_once_has_a_reason(measure: dict[str, Any]) -> None:
    """Fold it into its caller, or note in `KEPT` of the script what its name says that its lines do not."""
    modules = measure["find_modules"]()
    found = {f"{module.path}:{function.name}" for module in modules for function in module.functions if function.short}
    assert found == {*measure["KEPT"]}


def test_a_short_function_is_private_and_referenced_once(measure: dict[str, Any], tmp_path: Path) -> None:
    """Counted are references in the module, and the lines from `def` to the end."""
    file = tmp_path / "some.py"
    file.write_text(
        "def _once():\n    return 1\n\n\ndef _twice():\n    return _once()\n\n\ndef public():\n    return _twice(), _twice\n"
    )
    functions = measure["read_module"](file).functions
    found = {function.name: (function.lines, function.references, function.short) for function in functions}
    assert found == {"_once": (2, 1, True), "_twice": (2, 2, False), "public": (2, 0, False)}
