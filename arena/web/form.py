"""What a page may ask for, turned into the keys of a spec: known names and plain values alone.

A spec can name plugins, programs and files. What comes from a page cannot: it holds a game, agents, options and limits, and
everything else is refused here, whatever the page may say.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.errors import ArenaError, cut

MOST_AGENTS = 16
MOST_ROUNDS = 1000
MOST_SWEPT = 20
"""Values of one sweep."""
MOST_ACTIONS = 2000
"""Actions that are played again from a position."""
MOST_SECONDS = 60.0
MOST_NODES = 10**9
DECISION = frozenset({"nodes", "seconds", "depth"})
"""The limits of a decision that a page may set."""
TAKEN = frozenset({"agent", "label", "heuristic", "limits", "isolation", "name", "plugins"})
"""Keys of an entry that are no options of its agent."""


class BadRequest(ArenaError):
    """A page asked for what cannot be; `faults` say what was expected, one of them or all that were found at once."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


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


def actions_of(given: Any) -> list[str]:
    """Actions in the notation of a game; none for None."""
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > MOST_ACTIONS:
        raise BadRequest(f"actions: expected a list of at most {MOST_ACTIONS:,} of them")
    return [text(action, "actions") for action in given]


def game_of(given: Any, *, sweeps: bool = False) -> dict[str, Any]:
    """The key `game` of a spec from `{name, parameters}`; with `sweeps` a parameter may be one."""
    values = mapping(given, "game")
    parameters = _plain(values.get("parameters") or {}, "game.parameters", sweeps=sweeps)
    return {**parameters, "name": text(values.get("name"), "game.name")}


def entry_of(given: Any, what: str = "agent", *, sweeps: bool = False) -> dict[str, Any]:
    """An entry of `agents` from `{agent, options, heuristic, label}`; with `sweeps` an option may be one.

    `heuristic` is a name, or `{name, parameters}`.
    """
    values = mapping(given, what)
    options = _plain(values.get("options") or {}, f"{what}.options", sweeps=sweeps)
    for name in options:
        if name in TAKEN:
            raise BadRequest(f"{what}.options: {name} is no option of an agent")
    entry = {"agent": text(values.get("agent"), f"{what}.agent"), **options}
    if values.get("heuristic"):
        entry["heuristic"] = _heuristic(values["heuristic"], f"{what}.heuristic", sweeps=sweeps)
    if values.get("label"):
        entry["label"] = text(values["label"], f"{what}.label", 100)
    return entry


def _heuristic(given: Any, what: str, *, sweeps: bool) -> Any:
    if not isinstance(given, dict):
        return text(given, what, 100)
    parameters = _plain(given.get("parameters") or {}, f"{what}.parameters", sweeps=sweeps)
    name = text(given.get("name"), f"{what}.name", 100)
    if "name" in parameters:
        raise BadRequest(f"{what}.parameters: name is no parameter of a heuristic")
    return {"name": name, **parameters} if parameters else name


def limits_of(given: Any) -> dict[str, Any]:
    """The limits of a decision, each within what a page may ask for."""
    values = {key: value for key, value in mapping(given or {}, "limits").items() if value is not None}
    unknown = sorted(set(values) - DECISION)
    if unknown:
        raise BadRequest(f"limits: unknown {unknown[0]!r}; expected {', '.join(sorted(DECISION))}")
    found: dict[str, Any] = {}
    faults: list[str] = []
    for key, value in values.items():
        try:
            most = MOST_NODES if key == "nodes" else 10**6
            found[key] = _seconds(value) if key == "seconds" else whole(value, f"limits.{key}", 1, most)
        except BadRequest as error:
            faults += error.faults
    if faults:
        raise BadRequest(*faults)
    return found


@dataclass(frozen=True, slots=True)
class Asked:
    """What the form for a small tournament holds, as far as it is sound."""

    values: dict[str, Any]
    """The keys of a spec, in the order of a file; those with a fault are left out."""
    faults: tuple[str, ...]

    @property
    def loadable(self) -> bool:
        """Whether there is enough of a spec left for its own faults to mean something."""
        return {"game", "agents"} <= set(self.values)


def tournament_of(given: Any) -> Asked:
    """The keys of a spec from what the form for a small tournament holds, and everything that is wrong with that."""
    values = mapping(given, "tournament")
    read: dict[str, Callable[[], Any]] = {
        "name": lambda: text(values.get("name"), "name", 100).strip() or "Tournament",
        "game": lambda: _game(values.get("game")),
        "format": lambda: text(values["format"], "format") if values.get("format") else None,
        "rounds": lambda: whole(values.get("rounds", 10), "rounds", 1, MOST_ROUNDS),
        "openings": lambda: _openings(values.get("plies")),
        "agents": lambda: _entries(values.get("agents")),
        "limits": lambda: limits_of(values.get("limits")) or None,
        "seed": lambda: whole(values.get("seed", 0), "seed", 0, 2**53),
    }
    found: dict[str, Any] = {}
    faults: list[str] = []
    for key, one in read.items():
        try:
            value = one()
        except BadRequest as error:
            faults += error.faults
        else:
            found |= {} if value is None else {key: value}
    return Asked(found, tuple(faults))


def _game(given: Any) -> Any:
    game = game_of(given, sweeps=True)
    return {"name": game.pop("name"), **game} if len(game) > 1 else game["name"]


def _openings(plies: Any) -> dict[str, Any] | None:
    return None if plies is None else {"plies": whole(plies, "openings.plies", 1, 1000)}


def _entries(given: Any) -> list[Any]:
    if not isinstance(given, list) or not 1 <= len(given) <= MOST_AGENTS:
        raise BadRequest(f"agents: expected from 1 to {MOST_AGENTS} of them")
    entries: list[Any] = []
    faults: list[str] = []
    for number, agent in enumerate(given):
        try:
            entries.append(entry_of(agent, f"agents[{number}]", sweeps=True))
        except BadRequest as error:
            faults += error.faults
    if faults:
        raise BadRequest(*faults)
    return [entry["agent"] if len(entry) == 1 else entry for entry in entries]


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_SECONDS:
        raise BadRequest(f"limits.seconds: expected a number above 0, at most {MOST_SECONDS:g}, got {_said(value)}")
    return float(value)


def _plain(given: Any, what: str, *, sweeps: bool = False) -> dict[str, Any]:
    """Options and parameters: numbers, words, true, false and null, with `sweeps` also `{sweep: [...]}` of them."""
    values: Mapping[str, Any] = mapping(given, what)
    for name, value in values.items():
        if sweeps and isinstance(value, dict) and set(value) == {"sweep"} and isinstance(value["sweep"], list):
            if not 1 <= len(value["sweep"]) <= MOST_SWEPT:
                raise BadRequest(f"{what}.{name}: expected from 1 to {MOST_SWEPT} values of a sweep, got {len(value['sweep'])}")
            for one in value["sweep"]:
                _check_plain(one, f"{what}.{name}.sweep")
        else:
            _check_plain(value, f"{what}.{name}")
    return dict(values)


def _check_plain(value: Any, what: str) -> None:
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise BadRequest(f"{what}: expected a number or a word, got {type(value).__name__}")
    if isinstance(value, str):
        text(value, what)


def _said(value: Any) -> str:
    return "nothing" if value is None else cut(repr(value))
