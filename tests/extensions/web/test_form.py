"""Whatever a page sends, what gets into a spec are names and plain values within bounds, and everything else is named."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from arena_web import form
from arena_web.errors import BadRequest

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


_SWEEPS = st.lists(_LEAVES, max_size=3).map(lambda values: {"sweep": values})
_OPTIONS = st.dictionaries(_KEYS, st.one_of(_LEAVES, _SWEEPS), max_size=3)
_NAMED = _likely(name=st.just("x"), parameters=_OPTIONS)
_ENTRY = _likely(agent=st.just("random"), options=_OPTIONS, heuristic=st.one_of(st.just("x"), _NAMED), label=st.text(max_size=5))
_LIMITS = _likely(nodes=_NUMBERS, seconds=_NUMBERS, depth=_NUMBERS)
_FORM = _likely(
    name=st.just("x"),
    game=_NAMED,
    format=st.just("swiss"),
    rounds=_NUMBERS,
    plies=_NUMBERS,
    agents=st.lists(_ENTRY, max_size=3),
    limits=_LIMITS,
    seed=_NUMBERS,
)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= 200)


def _swept(value: Any) -> bool:
    if isinstance(value, dict):
        return set(value) == {"sweep"} and 1 <= len(value["sweep"]) <= 20 and all(map(_plain, value["sweep"]))
    return _plain(value)


def _entry(entry: Any) -> bool:
    if isinstance(entry, str):
        return True
    heuristic = entry.pop("heuristic", "x")
    named = isinstance(heuristic, str) or (isinstance(heuristic["name"], str) and all(map(_swept, heuristic.values())))
    return (
        named and not {"plugin", "plugins", "version", "isolation", "limits"} & entry.keys() and all(map(_swept, entry.values()))
    )


@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])  # the first one loads every game
@given(_FORM)
def test_only_plain_values_get_into_a_spec(asked: Any) -> None:
    try:
        found = form.tournament_of(asked)
    except BadRequest:
        assert not isinstance(asked, dict)
        return
    spec = found.values
    assert set(spec) <= {"name", "game", "format", "rounds", "openings", "agents", "limits", "seed"}
    assert isinstance(spec.get("game", "x"), str) or all(map(_swept, spec["game"].values()))
    assert all(map(_entry, spec.get("agents", [])))
    limits = spec.get("limits", {})
    assert 0 < limits.get("seconds", 1) <= 60
    assert all(type(limits.get(key, 1)) is int and 1 <= limits.get(key, 1) <= 10**9 for key in ("nodes", "depth"))
    assert type(spec.get("rounds", 1)) is int
    assert 1 <= spec.get("rounds", 1) <= 1000
    missing = {"game", "agents"} - spec.keys()
    assert missing <= {fault.replace("[", ":").replace(".", ":").partition(":")[0] for fault in found.faults}


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"nodes": True}, "limits.nodes: expected a whole number from 1 to 1,000,000,000, got True"),
        ({"seconds": float("nan")}, "limits.seconds: expected a number above 0, at most 60, got nan"),
        ({"depth": 2.0}, "limits.depth: expected a whole number from 1 to 1,000,000, got 2.0"),
        ({"memory_mb": 1}, "limits: unknown 'memory_mb'; expected depth, nodes, patient, seconds"),
        ([1], "limits: expected a mapping, got a list"),
    ],
)
def test_a_fault_says_where_it_is_what_was_expected_and_what_came(asked: Any, fault: str) -> None:
    with pytest.raises(BadRequest) as refused:
        form.limits_of(asked)
    assert refused.value.faults == (fault,)


@pytest.mark.parametrize("key", ["plugin", "version", "isolation"])
def test_no_page_names_a_file_of_code(key: str) -> None:
    """Nor where the agent runs."""
    asked = {"name": "x", "game": {"name": "hex"}, "agents": [{"agent": "random", "options": {key: "x.py"}}]}
    found = form.tournament_of(asked)
    assert [fault for fault in found.faults if f"{key} is not an option of an agent" in fault]
    assert key not in str(found.values)


def test_what_is_missing_is_named() -> None:
    assert form.tournament_of({"agents": [{}], "game": {}}).faults == (
        "name: expected text of at most 100 characters, got nothing",
        "game.name: expected a value, got nothing",
        "agents[0].agent: expected a value, got nothing",
    )
