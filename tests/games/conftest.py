"""The rules of open_spiel, for tests that compare games with them."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(scope="session")
def pyspiel(missing: Callable[[str, str], None]) -> Any:
    """Return the module of open_spiel."""
    if find_spec("pyspiel") is None:
        missing("open-spiel", "rules are compared with those of open_spiel: pip install open-spiel")
    return import_module("pyspiel")
