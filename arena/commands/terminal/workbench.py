"""What stands on the menu's bench: a game with its parameters, a position, and the agents that are tried on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from arena.commands.catalogue import made
from arena.commands.terminal.board_text import shown
from arena.commands.terminal.defaults import DECISION, SOLUTION, fitting, sensible
from arena.commands.terminal.match_setup import MatchSetup
from arena.commands.terminal.words import options_of, values_of
from arena.configured import settings
from arena.console.screen import Screen
from arena.errors import ArenaError
from arena.game import Game
from arena.plugins.proposals import first_game, references
from arena.plugins.registry import Registry
from arena.spec import load_spec

FILE = "statistics.yaml"
"""What a spec of the menu is called."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """A board and who is tried on it; every change makes another one. ArenaError where it cannot be as it was asked for."""

    setting: MatchSetup
    game: Game
    agents: tuple[str, ...]

    @classmethod
    def first(cls, registry: Registry) -> "Workbench":
        """What the menu begins with."""
        name = first_game(registry, puzzle=True) or first_game(registry, puzzle=False)
        if name is None:
            raise ArenaError("there is no game; `arena plugins` tells what became of the plugins")
        return cls.of(registry, name)

    @classmethod
    def of(cls, registry: Registry, name: str) -> "Workbench":
        """A game with its default parameters, and sensible agents."""
        game = made(registry.game(name))
        if game is None:
            raise ArenaError(f"{name} cannot be made without parameters: `arena show {name}` tells them, `arena play` takes them")
        best = sensible(registry, game)
        others = [next(iter(references(registry, game)), best)] * (game.players - 1)
        return cls(MatchSetup(name), game, (best, *others)).checked()

    def with_parameters(self, words: Sequence[str]) -> "Workbench":
        """The same game with other parameters, `KEY=VALUE`."""
        parameters = {**self.setting.parameters, **values_of(words, what="parameters")}
        return replace(self, setting=replace(self.setting, parameters=parameters, position=None)).checked()

    def with_agents(self, agents: Sequence[str]) -> "Workbench":
        """Other agents on the same board."""
        return replace(self, agents=tuple(agents)).checked()

    def another(self, asked: str) -> "Workbench":
        """Another board: the next seed, that seed, or that position."""
        if not asked:
            setting = replace(self.setting, seed=self.setting.seed + 1, position=None)
        elif asked.isascii() and asked.isdecimal() and len(asked) < 19:
            setting = replace(self.setting, seed=int(asked), position=None)
        else:
            setting = self.setting.at(asked)
        return replace(self, setting=setting).checked()

    def checked(self) -> "Workbench":
        """The same with the game as the spec makes it."""
        return replace(self, game=self.setting.load(self.agents).boards[0].game)

    @property
    def title(self) -> str:
        """The game and where its position comes from."""
        given = f" ({options_of(self.setting.parameters)})" if self.setting.parameters else ""
        return f"{self.setting.game}{given}, {'seed ' + str(self.setting.seed) if self.setting.position is None else 'own board'}"

    @property
    def parameters(self) -> str:
        """All parameters of the game as they are."""
        return " ".join([f"{key}={value}" for key, value in _plain(settings(self.game)).items()])

    def board(self, screen: Screen) -> str:
        """The position, for people in front of a screen."""
        return shown(self.game, self.setting.load(self.agents).boards[0].positions[0].state, screen)

    def fitting(self, registry: Registry) -> list[str]:
        """Who can be tried."""
        return fitting(registry, self.game)

    # As command lines

    def watching(self) -> list[str]:
        """The command that shows the agents at work."""
        if self.game.players == 1:
            return ["solve", self.setting.game, "--agent", *self.agents, *self._options(), "--animate"]
        return ["play", self.setting.game, *self.agents, *self._options()]

    def by_hand(self) -> list[str]:
        """The command by which a person plays, against the first agent where it takes more than one."""
        rivals = [] if self.game.players == 1 else ["human", *[self.agents[0], *self.agents[2:]]]
        return ["play", self.setting.game, *rivals, *self._options()]

    def _options(self) -> list[str]:
        words = [word for key, value in self.setting.parameters.items() for word in ("--set", options_of({key: value}))]
        if self.setting.position is not None:
            return [*words, "--position", self.setting.position]
        return [*words, "--seed", str(self.setting.seed)]

    def spec(self, agents: Sequence[str], boards: int) -> str:
        """The text of a spec that plays agents on so many boards; ArenaError where they cannot."""
        usual = SOLUTION if self.game.players == 1 else DECISION
        setting = replace(self.setting, position=None, limits=dict(usual))
        keys = setting.keys(agents)
        setting.load(agents)
        keys = {"game": keys.pop("game"), "rounds": boards, **keys}
        load_spec(keys)
        text: str = yaml.safe_dump(keys, sort_keys=False, default_flow_style=None, width=1000)
        return text


def written(text: str, folder: str) -> str:
    """Write a spec into a folder, and return its path."""
    file = Path(folder) / FILE
    file.write_text(text, "utf-8")
    return str(file)


def _plain(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: options_of({key: value}).partition("=")[2] for key, value in values.items()}
