"""The board that the menu works on: a game with its parameters, a position, and the chosen agents."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import yaml

from arena import ArenaError, Registry
from arena.api.games import make_default, settings
from arena.api.spec import Board, load_spec
from arena_play import human
from arena_play.board_text import fit_board
from arena_play.defaults import DECISION_LIMITS, SOLUTION_LIMITS, propose_agent
from arena_play.screen import Screen
from arena_setup.match_setup import MatchSetup
from arena_setup.words import options_of, values_of

FILE = "statistics.yaml"
"""The file name for a spec from the menu."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """A board with its agents. It is immutable: a change returns a new board, or raises ArenaError if it is not possible."""

    setup: MatchSetup
    agents: tuple[str, ...]
    board: Board

    @classmethod
    def first(cls, registry: Registry) -> "Workbench":
        """Return the board with which a menu begins."""
        name = registry.find_first_game(puzzle=True) or registry.find_first_game(puzzle=False)
        if name is None:
            raise ArenaError("no game is installed; `arena plugins` shows the state of all plugins")
        return cls.of(registry, name)

    @classmethod
    def of(cls, registry: Registry, name: str) -> "Workbench":
        """Return a board for a game with its default parameters and suitable agents."""
        game = make_default(registry.game(name))
        if game is None:
            raise ArenaError(
                f"{name} cannot be created without parameters: `arena show {name}` lists them, and `arena play` accepts them"
            )
        best = propose_agent(registry, game)
        others = [next(iter(registry.list_references(game)), best)] * (game.players - 1)
        return cls.loaded(MatchSetup(name, own_plugins=(human.__name__,)), (best, *others))

    @classmethod
    def loaded(cls, setup: MatchSetup, agents: Sequence[str]) -> "Workbench":
        """Return the board for a setup with these agents."""
        return cls(setup, tuple(agents), setup.load(agents).boards[0])

    def with_parameters(self, words: Sequence[str]) -> "Workbench":
        """Return a board for the same game with other parameters, given as `KEY=VALUE`."""
        parameters = {**self.setup.parameters, **values_of(words, what="parameters")}
        return self.loaded(replace(self.setup, parameters=parameters, position=None), self.agents)

    def another(self, asked: str) -> "Workbench":
        """Return another board of the same game, from the seed or position `asked`; if `asked` is empty, from the next seed."""
        setup = self.setup.at(asked)
        if not asked:
            setup = replace(self.setup, seed=self.setup.seed + 1, position=None)
        elif asked.isascii() and asked.isdecimal() and len(asked) < 19:
            setup = replace(self.setup, seed=int(asked), position=None)
        return self.loaded(setup, self.agents)

    @property
    def title(self) -> str:
        """The game and the origin of its position."""
        setup = self.setup
        given = f" ({options_of(setup.parameters)})" if setup.parameters else ""
        return f"{setup.game}{given}, {f'seed {setup.seed}' if setup.position is None else 'your own board'}"

    @property
    def parameters(self) -> str:
        """All parameters of the game with their current values."""
        return " ".join([options_of({key: value}) for key, value in settings(self.board.game).items()])

    def show(self, screen: Screen) -> str:
        """Return the position as text that fits the screen."""
        return fit_board(self.board.game, self.board.positions[0].state, screen)

    # Command lines

    def watching(self) -> list[str]:
        """Return the command that shows the agents while they play."""
        if self.board.game.players == 1:
            return ["solve", self.setup.game, "--agent", *self.agents, *self._options(), "--animate"]
        return ["play", self.setup.game, *self.agents, *self._options()]

    def by_hand(self) -> list[str]:
        """Return the command with which a person plays, against the first agent if the game has more than one seat."""
        rivals = [] if self.board.game.players == 1 else ["human", *[self.agents[0], *self.agents[2:]]]
        return ["play", self.setup.game, *rivals, *self._options()]

    def _options(self) -> list[str]:
        setup = self.setup
        words = [word for key, value in setup.parameters.items() for word in ("--set", options_of({key: value}))]
        return [*words, *(["--seed", str(setup.seed)] if setup.position is None else ["--position", setup.position])]

    def spec(self, agents: Sequence[str], boards: int) -> str:
        """Return the text of a spec in which agents play on `boards` boards; raises ArenaError if they cannot play the game."""
        limits = SOLUTION_LIMITS if self.board.game.players == 1 else DECISION_LIMITS
        setup = replace(self.setup, position=None, limits=limits)
        setup.load(agents)
        keys = setup.keys(agents)
        keys = {"game": keys.pop("game"), "rounds": boards, **keys}
        load_spec(keys)
        text: str = yaml.safe_dump(keys, sort_keys=False, default_flow_style=None, width=1000)
        return text
