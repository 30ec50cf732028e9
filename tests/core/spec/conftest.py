"""What the tests of specs share: a spec in a folder of its own, and its faults as a user sees them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from arena import Spec, SpecError
from arena.spec import load_spec


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write `cup.yaml`, and other files beside it by name; return its path."""

    def write(text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> Path:
        for name, content in {"cup.yaml": text, **(files or {})}.items():
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else dedent(content).encode())
        return tmp_path / "cup.yaml"

    return write


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., Spec]:
    """Read a spec from its text."""

    def load(text: str, files: Mapping[str, str | bytes] | None = None) -> Spec:
        return load_spec(write(text, files))

    return load


@pytest.fixture
def faults(write: Callable[..., Path], tmp_path: Path) -> Callable[..., list[str]]:
    """Read a spec from its text; return every fault as it is printed, the folder left out."""

    def faults(text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> list[str]:
        with pytest.raises(SpecError) as caught:
            load_spec(write(text, files))
        assert str(caught.value) == "\n".join(map(str, caught.value.faults))
        return [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults]

    return faults
