"""Agents and games that are proposed where nobody names any, by the flags of their classes and never by their names."""

from arena.game import Game, Puzzle
from arena.plugins.members import HEURISTIC, member
from arena.plugins.registry import Registry
from arena.traits import refusal, traits


def proposed(registry: Registry, game: Game, *, informed: bool) -> list[str]:
    """Return the names of agents with a weight for `game` that can play it, the largest weight first.

    `informed` tells whether they get a heuristic. Equals stand in the order in which plugins brought them.
    """
    words = traits(game) | ({HEURISTIC} if informed else set())
    weights = {
        name: max([weight for word, weight in member(agent, "proposed").items() if word in words], default=0)
        for name, agent in registry.agents.items()
        if refusal(agent, game) is None
    }
    return sorted([name for name, weight in weights.items() if weight > 0], key=lambda name: -weights[name])


def references(registry: Registry, game: Game) -> list[str]:
    """Return the names of reference agents that can play `game`: arena's own, then those of other plugins."""
    wanted = (True, "puzzles" if game.players == 1 else "games")
    agents = registry.agents.items()
    found = [name for name, agent in agents if member(agent, "reference") in wanted and refusal(agent, game) is None]
    return sorted(found, key=lambda name: not registry.sources["agent", name].own)


def first_game(registry: Registry, *, puzzle: bool) -> str | None:
    """Return the first puzzle, or the first game for several, that came with arena, else of all plugins; None without any.

    Games whose rules may take the process down come last.
    """
    found = [name for name, kind in registry.games.items() if issubclass(kind, Puzzle) == puzzle]
    native = {name: bool(member(registry.games[name], "native")) for name in found}
    return min(found, key=lambda name: (not registry.sources["game", name].own, native[name]), default=None)
