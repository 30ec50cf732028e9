"""Specs and boards for checks that lack the code of some entries: these are replaced by agents of arena, or left out."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from arena import load_plugins
from arena_bundle.sandboxed import LOOKS, stand_ins

HIDDEN_HOST = re.compile(r"://[^/\s\"]*\bhost-\d+\.invalid\b")
"""An address with a replaced host. The key of an entry depends on its real host."""
CODE_KEYS = frozenset({"command", "plugin", "version"})
"""Keys of an entry that name code or a program."""


def pick(given: Mapping[str, Any], made: Mapping[str, Any], keys: Collection[str]) -> list[dict[str, Any]]:
    """Return only these keys of two boards."""
    return [{key: sheet[key] for key in keys if key in sheet} for sheet in (given, made)]


def without(value: Any, labels: Collection[str]) -> Any:
    """Return a value of a board that lists labels, or that has labels as its keys, without some of these labels."""
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if key not in labels}
    return [one for one in value if one not in labels] if isinstance(value, list) else value


def hides_host(values: Any) -> bool:
    """Return whether a host was replaced in an address, in a spec or in the settings of an entry. A label is no address."""
    if isinstance(values, dict):
        return any(hides_host(one) for key, one in values.items() if key not in ("label", "name"))
    return any(map(hides_host, values)) if isinstance(values, list) else HIDDEN_HOST.search(str(values)) is not None


def find_wrong_settings(given: Sequence[Any], computed: Sequence[Any]) -> Iterator[Any]:
    """Yield the settings that differ from those of the same entry of the spec. If a host was replaced, its key may differ."""
    for entry, other in zip(given, computed, strict=True):
        if entry != other and not (
            isinstance(entry, dict) and hides_host(entry) and {**entry, "key": None} == {**other, "key": None}
        ):
            yield entry


def names_code(value: Any) -> bool:
    """Return whether a value of a spec names code or a program."""
    if isinstance(value, list):
        return any(names_code(one) for one in value)
    return isinstance(value, dict) and (not CODE_KEYS.isdisjoint(value) or any(names_code(one) for one in value.values()))


def list_labels(sheets: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Return the labels of the entries. Return None if the boards have different labels."""
    labels: list[str] = sheets[0]["labels"] if sheets else []
    return None if any(sheet["labels"] != labels for sheet in sheets) else labels


def keep_own_agents(values: Mapping[str, Any], labels: Sequence[str]) -> tuple[list[Any] | None, set[str]]:
    """Return the entries of a spec, with another agent for each one that is not arena's own, and the labels of the latter.

    Return None, and all labels, if it is not known which entry has which label.
    """
    known, agents = load_plugins(environ=False).sources, values.get("agents")
    if not isinstance(agents, list):
        return None, set(labels)
    names = [agent.get("agent") if isinstance(agent, dict) else agent for agent in agents]
    own = [isinstance(name, str) and (found := known.get(("agent", name))) is not None and found.own for name in names]
    own = [is_own and not names_code(agent) for is_own, agent in zip(own, agents, strict=True)]
    if all(own):
        return agents, set()
    if len(agents) != len(labels):
        return None, set(labels)
    kept = [agent if is_own else other for agent, other, is_own in zip(agents, stand_ins(labels), own, strict=True)]
    return kept, {label for label, is_own in zip(labels, own, strict=True) if not is_own}


def replace_agents(
    values: Mapping[str, Any], sheets: Sequence[Mapping[str, Any]], *, is_ladder: bool = False
) -> dict[str, Any] | None:
    """Return a spec with the same labels, but with agents of arena. Return None if the boards have different labels.

    On a ladder, the labels do not matter: the rules of a match depend on its board and its round alone.
    """
    labels = max([sheet["labels"] for sheet in sheets], key=len) if is_ladder else list_labels(sheets)
    if labels is None:
        return None
    return {**{key: one for key, one in values.items() if key not in LOOKS}, "agents": stand_ins(labels)}
