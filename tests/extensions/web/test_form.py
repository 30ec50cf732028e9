"""Only names and plain values within bounds get from a request into a spec, and all errors are listed."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from pydantic import ValidationError

from arena import load_plugins
from arena_web.form import AgentForm
from arena_web.requests import Requests

_NUMBERS = st.one_of(st.integers(-3, 1100), st.integers(), st.floats(), st.sampled_from([2**53 + 1, 10**400]))
_LEAVES = st.one_of(_NUMBERS, st.booleans(), st.none(), st.text(max_size=5), st.sampled_from(["\ud800", "random", "x" * 201]))
_KEYS = st.one_of(st.text(max_size=3), st.sampled_from(["sweep", "name", "plugin", "command", "label", "version", "depth"]))
_ANYTHING = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=22), st.dictionaries(_KEYS, inner, max_size=3)),
    max_leaves=15,
)


def _likely(**parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional={key: st.one_of(part, _ANYTHING) for key, part in parts.items()})


_OPTIONS = st.dictionaries(_KEYS, _LEAVES, max_size=3)
_NAMED = _likely(name=st.just("x"), parameters=_OPTIONS)
_ENTRY = _likely(agent=st.just("random"), options=_OPTIONS, heuristic=st.one_of(st.just("x"), _NAMED), label=st.text(max_size=5))
_LIMITS = _likely(nodes=_NUMBERS, seconds=_NUMBERS, depth=_NUMBERS)
_FORM = _likely(game=_NAMED, state=st.text(max_size=3), agent=_ENTRY, limits=_LIMITS, seed=_NUMBERS, ply=_NUMBERS)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= 200)


def _named(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value["name"], str) and all(map(_plain, value.values())))


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(_FORM)
def test_only_plain_values_get_into_a_spec(asked: Any) -> None:
    try:
        found = AgentForm.model_validate(asked)
    except ValidationError:
        return
    assert _named(found.game.keys())
    entry = found.agent.keys()
    assert _named(entry.pop("heuristic", "x"))
    assert not {"plugin", "plugins", "version", "isolation", "limits"} & entry.keys()
    assert all(map(_plain, entry.values()))
    limits = found.limits.keys()
    assert 0 < limits.get("seconds", 1) <= 60
    assert all(type(limits.get(key, 1)) is int and 1 <= limits.get(key, 1) <= 10**9 for key in ("nodes", "depth"))


def _answer(**changes: Any) -> list[str]:
    asked = {"do": "move", "game": {"name": "tic-tac-toe"}, "state": ".../.../...", "agent": {"agent": "random"}}
    found: list[str] = Requests(load_plugins(), ()).answer(asked | changes)["faults"]
    return found


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        ({"nodes": True}, "limits.nodes: expected a whole number from 1 to 1,000,000,000, got True"),
        ({"seconds": float("nan")}, "limits.seconds: expected a number above 0, at most 60, got nan"),
        ({"depth": 2.0}, "limits.depth: expected a whole number from 1 to 1,000,000, got 2.0"),
        ({"memory_mb": 1}, "limits: unknown 'memory_mb'; expected depth, nodes, patient, seconds"),
        ([1], "limits: expected a mapping, got a list"),
    ],
)
def test_an_error_gives_the_place_the_expected_and_the_given_value(limits: Any, fault: str) -> None:
    assert _answer(limits=limits) == [fault]


@pytest.mark.parametrize("key", ["plugin", "version", "isolation"])
def test_a_page_cannot_name_a_file_of_code(key: str) -> None:
    """A page cannot choose the isolation of an agent either."""
    (fault,) = _answer(agent={"agent": "random", "options": {key: "x.py"}})
    assert f"{key} is not an option of an agent" in fault


def test_all_errors_are_listed_at_once() -> None:
    assert _answer(agent={}, game={}, seed=-1) == [
        "game.name: expected a value, got nothing",
        "seed: expected a whole number from 0 to 9,007,199,254,740,992, got -1",
        "agent.agent: expected a value, got nothing",
    ]


def test_the_errors_of_a_spec_are_listed_together() -> None:
    assert [
        fault.partition(": ")[0] for fault in _answer(agent={"agent": "lookahead", "options": {"depth": 0}, "heuristic": "best"})
    ] == [
        "agents[0].depth",
        "agents[0].heuristic",
        "agents[1].depth",
        "agents[1].heuristic",
    ]
