"""The choices that a page offers: games with their parameters and agents, and agents with their options."""

from collections.abc import Callable, Container, Iterator, Mapping
from inspect import Parameter
from typing import Any

from arena import Agent, Game, Hints, Puzzle, Registry
from arena.api.games import Abilities, count_given, make_default
from arena.api.spec import Parameters
from arena_catalog.board_files import load_board_module
from arena_catalog.catalogue import summary

PEOPLE = frozenset({"human"})
"""Agents that need a person at a terminal."""


def inventory(registry: Registry, served: Container[str] = ()) -> dict[str, Any]:
    """Return the games and agents as plain values. `first` names the game and the puzzle that pages select at first.

    Games with required parameters are left out, and so are agents that a page cannot start. Of the agents that wait for
    something outside, a page can start only those that are `served`, in a spec.
    """
    agents = {name: kind for name, kind in sorted(registry.agents.items()) if _can_start(name, kind, served)}
    modules = {name: load_board_module(kind) for name, kind in sorted(registry.games.items())}
    games = [_game(registry, agents, name, module.source is not None) for name, module in modules.items()]
    return {
        "games": [game for game in games if game is not None],
        "first": {"game": registry.find_first_game(puzzle=False), "puzzle": registry.find_first_game(puzzle=True)},
        "agents": [
            {
                "name": name,
                "summary": summary(kind),
                "chooses": Abilities(kind).chooses,
                "solves": Abilities(kind).solves,
                "uses_heuristic": asks_estimates(kind),
                "options": list(form_fields(kind)),
            }
            for name, kind in agents.items()
        ],
        "notes": [
            *[note for plugin in registry.plugins for note in plugin.notes],
            *[f"game {name}: {module.note}" for name, module in modules.items() if module.note is not None],
        ],
    }


def _can_start(name: str, kind: type[Agent], served: Container[str]) -> bool:
    """Return whether a page can start an agent: a form has a field for each required parameter."""
    required = {one for one, parameter in Parameters(kind).known.items() if parameter.default is Parameter.empty}
    fields = {field["name"] for field in form_fields(kind)} if required else set()
    return name not in PEOPLE and required <= fields and (not kind.waits or name in served)


def _game(registry: Registry, agents: Container[str], name: str, drawn: bool) -> dict[str, Any] | None:
    kind: type[Game] = registry.games[name]
    game = make_default(kind)
    if game is None:  # such a game can be played only from a spec
        return None
    fit = [agent for agent in registry.agents_for(game) if agent in agents]
    proposed = [agent for agent in registry.propose_agents(game, informed=True) if agent in agents]
    heuristics = []
    for heuristic in registry.heuristics_of(name):
        made = registry.heuristic(name, heuristic)
        own = list(Parameters(made).known)[count_given(made) :]
        heuristics.append({"name": heuristic, "parameters": [one for one in form_fields(made) if one["name"] in own]})
    return {
        "name": name,
        "summary": summary(kind),
        "players": game.players,
        "puzzle": isinstance(game, Puzzle),
        "alone": game.players == 1,
        "path_matters": isinstance(game, Puzzle) and game.path_matters,
        "drawn": drawn,
        "parameters": list(form_fields(kind)),
        "agents": fit,
        "proposed": proposed,
        "heuristics": heuristics,
        "default_heuristic": kind.default_heuristic,
    }


def asks_estimates(kind: type[Agent]) -> bool:
    """Return True if an agent may ask for estimates. Forms then offer heuristics for it."""
    return bool(kind.wants_heuristic or Hints.of(kind).uses_heuristic)


def form_fields(constructor: Callable[..., Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters of a class that a form can show as a field, each with its default and its kind of field."""
    for name, parameter in Parameters(constructor).known.items():
        field = _field(constructor, name)
        if field is not None:
            default = None if parameter.default is Parameter.empty else Parameters.make_plain(parameter.default)
            yield {"name": name, "default": default, **field}


def _field(constructor: Callable[..., Any], name: str) -> dict[str, Any] | None:
    """Return the form field for a parameter; None if no field can hold its values."""
    try:
        schema: Mapping[str, Any] = Parameters(constructor).adapter(name).json_schema()
    except Exception:  # JSON Schema cannot express this type
        return None
    choices = schema.get("anyOf", [schema])
    named = [choice for choice in choices if choice.get("type") != "null"]
    optional = len(named) < len(choices)
    if name in Parameters(constructor).file_parameters:  # a page can choose a listed name, but only a spec can name a file
        named = [choice for choice in named if "enum" in choice or "const" in choice]
    if len(named) != 1:
        return None
    one = named[0]
    if "enum" in one or "const" in one:
        return {"kind": "choice", "choices": one.get("enum", [one.get("const")]), "optional": optional}
    if one.get("type") == "boolean":
        return {"kind": "flag", "optional": optional}
    if one.get("type") in ("integer", "number"):
        low = one.get("minimum", one.get("exclusiveMinimum"))
        high = one.get("maximum", one.get("exclusiveMaximum"))
        return {"kind": one["type"], "low": low, "high": high, "optional": optional}
    return {"kind": "text", "optional": optional} if one.get("type") == "string" else None
