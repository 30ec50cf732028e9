"""Any spec is read or refused with faults; no other exception is raised."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from arena import SpecError, SpecFault
from arena.spec import load_spec

KEYS = ["name", "game", "games", "agent", "agents", "label", "heuristic", "limits", "sweep", "depth", "rounds", "rows", "nodes"]
NAMES = ["sliding-tiles", "tic-tac-toe", "random", "greedy", "lookahead", "manhattan", "benchmark", "none", ".", "a.py", ""]

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(NAMES) | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SOUND: dict[str, Any] = {
    "game": {"name": "sliding-tiles", "shuffle": {"sweep": [1, 2]}},
    "agents": ["random", {"agent": "lookahead", "depth": {"sweep": [1, 2]}, "heuristic": {"sliding-tiles": "misplaced"}}],
    "limits": {"nodes": 10},
    "seed": 3,
}
PLACES = [
    *[("game",), ("game", "name"), ("game", "shuffle"), ("game", "shuffle", "sweep"), ("game", "shuffle", "sweep", 1)],
    *[("agents",), ("agents", 0), ("agents", 1), ("agents", 1, "agent"), ("agents", 1, "label"), ("agents", 1, "limits")],
    *[("agents", 1, "depth"), ("agents", 1, "depth", "sweep", 0), ("agents", 1, "heuristic"), ("agents", 1, "isolation")],
    *[("agents", 1, "heuristic", "sliding-tiles"), ("limits",), ("limits", "nodes"), ("limits", "seconds"), ("seed",)],
    *[("games",), ("positions",), ("rounds",), ("format",), ("name",), ("plugins",)],
]


def with_value(spec: dict[str, Any], place: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy of a spec with another value in one place."""
    changed: dict[str, Any] = copy.deepcopy(spec)
    inside: Any = changed
    for part in place[:-1]:
        inside = inside[part]
    inside[place[-1]] = value
    return changed


def faults_of(source: Path | dict[str, Any]) -> Sequence[SpecFault]:
    """Return the message that refuses a spec, or an empty text if the spec is read."""
    try:
        load_spec(source)
    except SpecError as error:
        return error.faults
    return ()


@settings(max_examples=40, deadline=None, database=None)
@given(place=st.sampled_from(PLACES), value=VALUES)
def test_a_spec_with_any_value_in_a_mapping_is_read_or_refused(place: tuple[str | int, ...], value: Any) -> None:
    assert all(str(fault).isprintable() for fault in faults_of(with_value(SOUND, place, value)))


@settings(max_examples=40, deadline=None, database=None)
@given(data=st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_a_spec_of_any_bytes_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = Path(tmp_path_factory.getbasetemp()) / "any.yaml"
    file.write_bytes(data)
    found = faults_of(file)
    assert found
    assert all(str(fault).isprintable() for fault in found)


@settings(max_examples=40, deadline=None, database=None)
@given(cut=st.integers(0, 200), character=st.sampled_from([*":-[]{}&*!|>'\"%@`,#?\t\n\\", "\x00", "ü", "\u2028", "<<: "]))
def test_a_spec_with_any_character_changed_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, cut: int, character: str
) -> None:
    text = json.dumps(SOUND, indent=1)
    file = Path(tmp_path_factory.getbasetemp()) / "slip.yaml"
    file.write_text(text[:cut] + character + text[cut:])
    assert all(str(fault).isprintable() for fault in faults_of(file))
