"""open_spiel itself, against which the bridge is held."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def spiel(missing: Callable[[str, str], None]) -> Any:
    """Its module; without it these tests are skipped."""
    if find_spec("pyspiel") is None:
        missing("openspiel", "open_spiel is missing: pip install 'fairarena[openspiel]'")
    import pyspiel

    return pyspiel
