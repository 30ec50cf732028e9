"""What a page may ask for, turned into the keys of a spec: known names and plain values alone.

A spec can name plugins, programs and files. What comes from a page cannot: it holds a game, agents, options and limits, and
everything else is refused here, whatever the page may say.
"""

from collections.abc import Mapping
from typing import Any

from arena.errors import ArenaError

MOST_AGENTS = 16
MOST_ROUNDS = 1000
MOST_SECONDS = 60.0
MOST_NODES = 10**9
DECISION = frozenset({"nodes", "seconds", "depth"})
"""The limits of a decision that a page may set."""
TAKEN = frozenset({"agent", "label", "heuristic", "limits", "isolation", "name", "plugins"})
"""Keys of an entry that are no options of its agent."""


class BadRequest(ArenaError):
    """A page asked for what cannot be; the message says what was expected."""


def mapping(value: Any, what: str) -> dict[str, Any]:
    """A mapping with text as keys; BadRequest for anything else."""
    if not isinstance(value, dict):
        raise BadRequest(f"{what}: expected a mapping, got {type(value).__name__}")
    return value


def text(value: Any, what: str, most: int = 200) -> str:
    """Text that is not too long; BadRequest for anything else."""
    if not isinstance(value, str) or len(value) > most:
        raise BadRequest(f"{what}: expected text of at most {most:,} characters, got {_said(value)}")
    return value


def whole(value: Any, what: str, least: int, most: int) -> int:
    """A whole number within bounds; BadRequest for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadRequest(f"{what}: expected a whole number from {least:,} to {most:,}, got {_said(value)}")
    return value


def game_of(given: Any) -> dict[str, Any]:
    """The key `game` of a spec from `{name, parameters}`."""
    values = mapping(given, "game")
    parameters = _plain(values.get("parameters") or {}, "game.parameters")
    return {**parameters, "name": text(values.get("name"), "game.name")}


def entry_of(given: Any) -> dict[str, Any]:
    """An entry of `agents` from `{agent, options, heuristic, label}`."""
    values = mapping(given, "agent")
    options = _plain(values.get("options") or {}, "agent.options")
    for name in options:
        if name in TAKEN:
            raise BadRequest(f"agent.options: {name} is no option of an agent")
    entry = {"agent": text(values.get("agent"), "agent.agent"), **options}
    for key in ("heuristic", "label"):
        if values.get(key):
            entry[key] = text(values[key], f"agent.{key}", 100)
    return entry


def limits_of(given: Any) -> dict[str, Any]:
    """The limits of a decision, each within what a page may ask for."""
    values = {key: value for key, value in mapping(given or {}, "limits").items() if value is not None}
    unknown = sorted(set(values) - DECISION)
    if unknown:
        raise BadRequest(f"limits: unknown {unknown[0]!r}; expected {', '.join(sorted(DECISION))}")
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key == "seconds":
            found[key] = _seconds(value)
        else:
            found[key] = whole(value, f"limits.{key}", 1, MOST_NODES if key == "nodes" else 10**6)
    return found


def tournament_of(given: Any) -> dict[str, Any]:
    """The keys of a spec, in the order of a file, from what the form for a small tournament holds."""
    values = mapping(given, "tournament")
    agents = values.get("agents")
    if not isinstance(agents, list) or not 1 <= len(agents) <= MOST_AGENTS:
        raise BadRequest(f"agents: expected from 1 to {MOST_AGENTS} of them")
    game = game_of(values.get("game"))
    found: dict[str, Any] = {"name": text(values.get("name"), "name", 100).strip() or "Tournament"}
    found["game"] = {"name": game.pop("name"), **game} if len(game) > 1 else game["name"]
    if values.get("format"):
        found["format"] = text(values["format"], "format")
    found["rounds"] = whole(values.get("rounds", 10), "rounds", 1, MOST_ROUNDS)
    if values.get("plies"):
        found["openings"] = {"plies": whole(values["plies"], "openings.plies", 1, 1000)}
    entries = [entry_of(agent) for agent in agents]
    found["agents"] = [entry["agent"] if len(entry) == 1 else entry for entry in entries]
    limits = limits_of(values.get("limits"))
    if limits:
        found["limits"] = limits
    found["seed"] = whole(values.get("seed", 0), "seed", 0, 2**53)
    return found


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_SECONDS:
        raise BadRequest(f"limits.seconds: expected a number above 0, at most {MOST_SECONDS:g}, got {_said(value)}")
    return float(value)


def _plain(given: Any, what: str) -> dict[str, Any]:
    """Options and parameters: numbers, words, true, false and null, and nothing that holds anything else."""
    values: Mapping[str, Any] = mapping(given, what)
    for name, value in values.items():
        if not (value is None or isinstance(value, (bool, int, float, str))):
            raise BadRequest(f"{what}.{name}: expected a number or a word, got {type(value).__name__}")
        if isinstance(value, str):
            text(value, f"{what}.{name}")
    return dict(values)


def _said(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."
