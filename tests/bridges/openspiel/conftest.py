"""The fixture of open_spiel."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(scope="session", autouse=True)
def spiel(missing: Callable[[str, str], None]) -> Any:
    """Return the module of open_spiel. The tests in this folder are skipped if it is not installed."""
    if find_spec("pyspiel") is None:
        missing("openspiel", "open_spiel is missing: pip install '.[openspiel]'")
    import pyspiel

    return pyspiel


@pytest.fixture(scope="session", autouse=True)
def harmless(spiel: Any) -> Iterator[None]:
    """Let the tests of this folder load games in their own process at once, because these games are known not to crash."""
    from arena_bridges.openspiel import library

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "find_crash", lambda *_: None)
        yield
