"""Checks the keys of a spec itself: which there are, and of what type their values."""

from typing import Any

from arena.errors import suggestion
from arena.spec.document import Document, Path
from arena.spec.faults import Faults
from arena.spec.model import AdjudicateKeys, DrawKeys, MatchLimits, ResignKeys, SpecKeys
from arena.spec.parameters import UNKNOWN_KEY, adapter, checked, hinting

KEPT = ("agents", "games", "plugins", "positions")
"""Lists whose sound items are looked at even if others are not."""

ADJUDICATE = list(dict.fromkeys([*AdjudicateKeys.model_fields, *DrawKeys.model_fields, *ResignKeys.model_fields]))
"""The keys in `adjudicate` and its rules."""


def checked_keys(document: Document, faults: Faults) -> dict[str, Any]:
    """The keys of a spec, None where a value has the wrong type; faults are noted."""
    values = dict(document.values)
    if "game" in values:
        values["game"] = _named(values["game"])
    if isinstance(values.get("games"), list):
        values["games"] = [_named(game) for game in values["games"]]
    _check_names(values, faults)

    def add(path: Path, message: str) -> None:
        faults.add(path, message, key=message.startswith(UNKNOWN_KEY))

    for key, model in SpecKeys.model_fields.items():
        if key in values:
            report = hinting(add, ADJUDICATE if key == "adjudicate" else MatchLimits.model_fields)
            before = faults.noted
            checked(adapter(model.rebuild_annotation()), values[key], (key,), report)
            if faults.noted > before and not (key in KEPT and isinstance(values[key], list)):
                values[key] = None
    return values


def _named(game: Any) -> Any:
    """A game as the spec gives it, its name as text: YAML reads that of 2048 as a number."""
    if isinstance(game, dict) and "name" in game:
        return {**game, "name": _named(game["name"])}
    return str(game) if isinstance(game, int) and not isinstance(game, bool) else game


def _check_names(values: dict[str, Any], faults: Faults) -> None:
    for key in values:
        if key not in SpecKeys.model_fields:
            faults.add((key,), f"{UNKNOWN_KEY}; {suggestion(key, SpecKeys.model_fields)}", key=True)
    if values.get("game") is not None and values.get("games") is not None:
        faults.add(("games",), "expected game or games, got both", key=True)
    if values.get("game") is None and values.get("games") is None:
        faults.add(("game",) if "game" in values else (), "game is missing: name one of `arena list games`")
    if "agents" not in values:
        faults.add((), "agents is missing: list some of `arena list agents`")
    if values.get("rounds") is not None and values.get("positions") is not None:
        faults.add(("rounds",), "expected rounds or positions, got both; every given position is met once", key=True)
