"""Traits: the properties of a game, in a closed vocabulary, so that an agent can declare what it needs."""

from arena.agent import Agent, chooses
from arena.configured import name_of
from arena.errors import suggest
from arena.game import Game, Puzzle, gives, overrides
from arena.simultaneous import Simultaneous

TRAITS = {
    "single-player": "players = 1: every Puzzle",
    "two-player": "players = 2, the default of Game",
    "multi-player": "any other number of players",
    "zero-sum": "zero_sum = True, the default of Game: the returns of all seats add up to 0",
    "path": "a Puzzle with path_matters = True, the default: a solution is a sequence of actions",
    "solution-only": "a Puzzle with path_matters = False: only the final state counts",
    "local": "random_state and neighbors, or a local view",
    "genetic": "crossover and mutate",
    "chance": "chance_outcomes: chance moves where to_move gives CHANCE",
    "hidden-information": "observation: a seat does not see the whole state",
    "imperfect-recall": "perfect_recall = False: an observation does not tell all that its seat has seen and done",
    "simultaneous": "a Simultaneous: several seats act at once, and none sees what the others choose",
    "resample": "resample: a state can be drawn from those that a seat cannot tell apart",
}
"""Every trait, with the members that give it to a game."""

COPED = ("chance", "hidden-information")
"""The traits on which an agent is refused unless it copes with them."""


def find_traits(game: Game) -> frozenset[str]:
    """Return the traits of a game, derived from the members of its class."""
    players = {1: "single-player", 2: "two-player"}.get(game.players, "multi-player")
    found = {players}
    if game.zero_sum:
        found.add("zero-sum")
    if isinstance(game, Puzzle):
        found.add("path" if game.path_matters else "solution-only")
    if (overrides(game, "random_state") and overrides(game, "neighbors")) or overrides(game, "local"):
        found.add("local")
    if overrides(game, "crossover") and overrides(game, "mutate"):
        found.add("genetic")
    if gives(game, "chance_outcomes"):
        found.add("chance")
    if gives(game, "observation"):
        found.add("hidden-information")
    if game.perfect_recall is False:
        found.add("imperfect-recall")
    if isinstance(game, Simultaneous):
        found.add("simultaneous")
    if gives(game, "resample"):
        found.add("resample")
    return frozenset(found)


def join_traits(found: frozenset[str]) -> str:
    """Traits in the order of the vocabulary, with commas."""
    return ", ".join(trait for trait in TRAITS if trait in found)


def read_coped(agent: type[Agent]) -> frozenset[str]:
    """Return the traits that an agent declares it can play; none if it uses the name for something else."""
    given = agent.copes
    return frozenset(given) if isinstance(given, (set, frozenset)) else frozenset()


def find_unknown_need(agent: type[Agent]) -> str | None:
    """Return the fault in the words of `needs`, None if all are traits."""
    for word in sorted(agent.needs):
        if word not in TRAITS:
            return f"needs {word!r}, which is no trait; {suggest(word, TRAITS)}"
    return None


def read_games(agent: type[Agent]) -> frozenset[str]:
    """Return the games that an agent is made for; none if it plays any, or uses the name for something else."""
    given = getattr(agent, "games", None)
    return given if isinstance(given, frozenset) and all(isinstance(name, str) for name in given) else frozenset()


def find_uncoped(agent: type[Agent], game: Game) -> frozenset[str]:
    """Return the traits of a game that an agent does not cope with."""
    return (find_traits(game) & set(COPED)) - read_coped(agent)


def find_refusal(agent: type[Agent], game: Game) -> str | None:
    """Why `agent` cannot play `game`; None if it can."""
    games = read_games(agent)
    if games and name_of(game) not in games:
        return f"{name_of(agent)} cannot play {name_of(game)}: it plays {' and '.join(sorted(games))} alone"
    has = find_traits(game)
    missing = agent.needs - has
    if not chooses(agent) and not isinstance(game, Puzzle):
        if missing <= {"single-player"} and "single-player" in has:
            return f"{name_of(agent)} cannot play {name_of(game)}: it only solves puzzles, and {name_of(game)} is a game"
        missing |= {"single-player"}
    name = name_of(game)
    unknown = find_uncoped(agent, game)
    if unknown and not missing:
        return f"{name_of(agent)} cannot play {name}: {name} has {' and '.join([trait for trait in COPED if trait in unknown])}"
    if not missing:
        return None
    return f"{name_of(agent)} cannot play {name}: needs {join_traits(missing)}; {name} is {join_traits(has)}"
