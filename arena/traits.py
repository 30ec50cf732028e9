"""Traits are properties of a game from a fixed list. Agents declare which traits they need and which they can cope with."""

from typing import ClassVar, Literal

from arena.agent import Agent
from arena.configured import name_of
from arena.errors import listing, suggest
from arena.game import Game, Puzzle, gives, overrides
from arena.simultaneous import Simultaneous


class Traits(frozenset[str]):
    """Traits of a game. As text, they are listed in the order of the fixed list, separated by commas."""

    WORDS: ClassVar = {
        "single-player": "the game has players = 1, as every Puzzle has",
        "two-player": "the game has players = 2, which is the default of Game",
        "multi-player": "the game has another number of players",
        "zero-sum": "zero_sum is True, which is the default of Game: the returns of all seats add up to 0",
        "path": "the game is a Puzzle with path_matters = True, which is the default: a solution is a sequence of actions",
        "solution-only": "the game is a Puzzle with path_matters = False: only the final state counts",
        "local": "the class defines random_state and neighbors, or local",
        "genetic": "the class defines crossover and mutate",
        "constraint": "the class defines variables: it is a constraint satisfaction problem",
        "chance": "the class defines chance_outcomes: when to_move returns CHANCE, a chance event comes next",
        "hidden-information": "the class defines observation: a seat does not see the whole state",
        "imperfect-recall": "perfect_recall is False: an observation does not contain everything that its seat has seen and done",
        "simultaneous": (
            "the game is a Simultaneous game: several seats choose at the same time without seeing the choices of the others"
        ),
        "resample": "the class defines resample: it draws a state that the seat cannot distinguish from the true one",
    }
    """Every trait, with a description of the games that have it."""
    COPED: ClassVar = ("chance", "hidden-information")
    """An agent can play a game with one of these traits only if it declares that it can cope with this trait."""

    @classmethod
    def of(cls, game: Game) -> "Traits":
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
        if overrides(game, "variables"):
            found.add("constraint")
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
        return cls(found)

    def __str__(self) -> str:
        return ", ".join(trait for trait in self.WORDS if trait in self)


class Abilities:
    """The abilities of an agent or a class of agents, read from the class. Members of an unexpected type are ignored."""

    __slots__ = ("agent",)

    def __init__(self, agent: type[Agent] | Agent) -> None:
        self.agent = agent

    @property
    def chooses(self) -> bool:
        """Whether the agent defines `choose`."""
        return self._kind.choose is not Agent.choose

    @property
    def solves(self) -> bool:
        """Whether the agent defines `solve`."""
        return self._kind.solve is not Agent.solve

    @property
    def copes(self) -> frozenset[str]:
        """The traits that the agent declares it can play."""
        given = self.agent.copes
        return frozenset(given) if isinstance(given, (set, frozenset)) else frozenset()

    @property
    def games(self) -> frozenset[str]:
        """The names of the games that the agent is made for; none if it plays any."""
        given = getattr(self.agent, "games", None)
        if not isinstance(given, (set, frozenset)) or not all(isinstance(name, str) for name in given):
            return frozenset()
        return frozenset(given)

    @property
    def _kind(self) -> type[Agent]:
        return self.agent if isinstance(self.agent, type) else type(self.agent)

    def find_unknown_need(self) -> str | None:
        """Return a message about an unknown trait in `needs`; None if all of them are known."""
        for word in sorted(self.agent.needs):
            if word not in Traits.WORDS:
                return f"needs {word!r}, which is not a trait; {suggest(word, Traits.WORDS)}"
        return None

    def find_uncoped(self, game: Game) -> Traits:
        """Return the traits of a game that the agent does not cope with."""
        return Traits((Traits.of(game) & set(Traits.COPED)) - self.copes)

    def find_refusal(self, game: Game) -> str | None:
        """Return why the agent cannot play `game`; None if it can."""
        start = f"{name_of(self.agent)} cannot play {name_of(game)}"
        games = self.games
        if games and name_of(game) not in games:
            return f"{start}: it plays only {listing(sorted(games))}"
        has = Traits.of(game)
        missing = self.agent.needs - has
        if not self.chooses and not isinstance(game, Puzzle):
            if missing <= {"single-player"} and "single-player" in has:
                return f"{start}: it only solves puzzles, and {name_of(game)} is a game"
            missing |= {"single-player"}
        unknown = self.find_uncoped(game)
        if unknown and not missing:
            has_unknown = listing([trait for trait in Traits.COPED if trait in unknown])
            return f"{start}: {name_of(game)} has {has_unknown}{self._describe_cure(unknown)}"
        return f"{start}: needs {Traits(missing)}; {name_of(game)} is {has}" if missing else None

    def _describe_cure(self, unknown: frozenset[str]) -> str:
        """Return what the author of an agent can do if it does not cope with some traits; empty for arena's own agents."""
        package = self._kind.__module__.partition(".")[0]
        if package.startswith("arena") and not package.startswith("arena_plugin_"):
            return ""
        words = ", ".join([f'"{trait}"' for trait in Traits.COPED if trait in unknown | self.copes])
        return f"; if it can deal with that, write copes = frozenset({{{words}}}) in class {self._kind.__name__}"

    def find_claim(self, puzzle: Puzzle, *, admissible: bool) -> Literal["cost", "length"] | None:
        """Return the measure that the agent claims to minimize on this puzzle; None if none of its claims applies.

        `admissible` is true if the heuristic claims to be admissible, or if there is none. If all steps cost the same, the
        shortest path is the cheapest.
        """
        claim = self.agent.optimal if puzzle.path_matters else None
        if claim == "length":
            return "length" if overrides(puzzle, "step_cost") else "cost"
        return "cost" if claim == "cost" or (claim == "admissible" and admissible) else None
