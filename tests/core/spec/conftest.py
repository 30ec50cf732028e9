"""Fixtures for tests of specs: they write a spec into a folder of its own, load it, and return its faults as printed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from arena import Spec, SpecError
from arena.spec import load_spec


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes `cup.yaml` and other named files next to it, and returns the path of `cup.yaml`."""

    def write(text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> Path:
        for name, content in {"cup.yaml": text, **(files or {})}.items():
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else dedent(content).encode())
        return tmp_path / "cup.yaml"

    return write


@pytest.fixture
def load(write: Callable[..., Path]) -> Callable[..., Spec]:
    """Return a function that loads a spec from its text."""

    def load(text: str, files: Mapping[str, str | bytes] | None = None) -> Spec:
        return load_spec(write(text, files))

    return load


@pytest.fixture
def faults(write: Callable[..., Path], tmp_path: Path) -> Callable[..., list[str]]:
    """Return a function that loads a spec from its text, and returns its faults as they are printed, without the folder."""

    def faults(text: str | bytes, files: Mapping[str, str | bytes] | None = None) -> list[str]:
        with pytest.raises(SpecError) as caught:
            load_spec(write(text, files))
        assert str(caught.value) == "\n".join(map(str, caught.value.faults))
        return [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults]

    return faults
