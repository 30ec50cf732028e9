"""The menu that `arena` shows without a command: boards, algorithms and statistics. For every choice, it shows the equivalent
command.
"""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import yaml

from arena import ArenaError, Registry
from arena.api.cli import load, plugin_option, results_alone
from arena.api.errors import describe, escape_line, suggest
from arena.api.games import make_default, read_digits, settings
from arena.api.spec import Board, load_spec
from arena_play import human
from arena_play.defaults import DECISION_LIMITS, SOLUTION_LIMITS, list_fitting_agents, propose_agent
from arena_play.screen import Screen, fit_board
from arena_setup.match_setup import MatchSetup
from arena_setup.words import options_of, values_of

Run = Callable[[list[str]], int]
"""A function that runs a command line, which is given without the word `arena`."""
CHOICES = {
    "g": "choose a puzzle or a game",
    "b": "make a board",
    "a": "choose an algorithm",
    "w": "watch it",
    "p": "play it yourself",
    "s": "statistics over many boards",
    "q": "quit",
}
DEFAULT_BOARDS = 20
"""The default number of boards for statistics."""
SPEC_FILE = "statistics.yaml"
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


@click.command
@plugin_option
@click.pass_context
def menu(context: click.Context, plugins: tuple[str, ...]) -> int:
    """Choose boards and agents from a menu, until `q` or the end of the input."""
    arena = context.find_root().command
    named = [word for plugin in plugins for word in ("--plugin", plugin)]
    offered = Menu(lambda words: int(arena.main([*words, *named], standalone_mode=False) or 0), plugins)
    try:
        while True:
            offered.turn()
    except EOFError:
        return 0


class Menu:
    """The board and the agents that are chosen, and the actions of the menu."""

    def __init__(self, run: Run, plugins: Sequence[str] = ()) -> None:
        self._screen = Screen(sys.stdout)
        self._run = run
        with results_alone():
            self._registry = load(plugins)
            self._bench = Workbench.first(self._registry)

    def turn(self) -> None:
        """Show the current choice and run the next action of the user; raises EOFError when the user leaves."""
        self._show()
        asked = self._answer("choice> ", list(CHOICES)).lower()
        if asked == "g":
            self._choose_game()
        elif asked == "b":
            self._screen.say("press Enter for another board, or type a seed (a number) or a position in the game's notation")
            board = self._answer("board> ")
            self._change_board(lambda: self._bench.another(board))
        elif asked == "a":
            self._choose_agents()
        elif asked == "w":
            self._do(self._bench.watching())
        elif asked == "p":
            self._do(self._bench.by_hand())
        elif asked == "s":
            self._count()
        elif asked:
            self._screen.say(f"expected one of {', '.join(CHOICES)}, got {asked!r}", "bad")

    # Output

    def _show(self) -> None:
        bench, screen = self._bench, self._screen
        screen.say(f"\n{bench.title}", "bold")
        with results_alone():
            board = bench.show(screen)
        screen.put(board)
        screen.say(f"algorithm: {' against '.join(bench.agents)}")
        self._command(bench.watching())
        screen.put("")
        for letter, does in CHOICES.items():
            screen.say(f"  {letter}  {does}")

    def _command(self, words: Sequence[str]) -> None:
        self._show_command(f"arena {shlex.join(words)}")

    def _show_command(self, text: str) -> None:
        """Show a command that can be copied, without line breaks."""
        for line in f"$ {text}".split("\n"):
            self._screen.put(escape_line(line), "dim")

    # Actions

    def _do(self, words: list[str], folder: str = "") -> None:
        """Show a command and run it as if the user had typed it. If a word of the command is SPEC_FILE, the name of the
        spec, the command gets the path of the spec in `folder`.
        """
        self._command(words)
        self._screen.put("")
        try:
            self._run([f"{folder}/{SPEC_FILE}" if folder and word == SPEC_FILE else word for word in words])
        except ArenaError as error:
            self._screen.say(str(error).replace(folder, ""), "bad")
        except click.ClickException as error:
            self._screen.say(error.format_message(), "bad")

    def _change_board(self, change: Callable[[], Workbench]) -> bool:
        """Replace the board. Return False, after a message, if the new board cannot be created or shown."""
        try:
            with results_alone():
                bench = change()
                bench.show(self._screen)
        except Exception as error:  # an error in the arguments, or in a game of a plugin
            self._screen.say(str(error) if isinstance(error, ArenaError) else describe(error), "bad")
            return False
        self._bench = bench
        return True

    def _choose_game(self) -> None:
        self._command(["list", "games"])
        name = self._choice("puzzle or game", sorted(self._registry.games), self._bench.setup.game)
        if not self._change_board(lambda: Workbench.of(self._registry, name)):
            return
        known = self._bench.parameters
        while known:
            self._screen.say(f"parameters: {known}; type KEY=VALUE to change one, or press Enter to keep them")
            words = self._answer("parameters> ").split()
            if not words or self._change_board(lambda asked=words: self._bench.with_parameters(asked)):  # type: ignore[misc]
                break

    def _choose_agents(self) -> None:
        bench = self._bench
        self._command(["show", bench.setup.game])
        names = list_fitting_agents(self._registry, bench.board.game)
        seats = [f"agent in seat {seat}" for seat in range(1, len(bench.agents) + 1)] if bench.agents[1:] else ["algorithm"]
        agents = [self._choice(seat, names, current, options=True) for seat, current in zip(seats, bench.agents, strict=True)]
        self._change_board(lambda: Workbench.loaded(bench.setup, agents))

    def _count(self) -> None:
        """Play a small tournament from a spec, and show the spec."""
        asked = self._answer(f"how many boards? [{DEFAULT_BOARDS}]> ") or str(DEFAULT_BOARDS)
        boards = read_digits(asked)
        if boards is None or not 1 <= boards <= 10_000:
            self._screen.say(f"expected a number from 1 to 10000, got {asked!r}", "bad")
            return
        usual = " ".join(self._bench.agents)
        agents = (self._answer(f"which agents? [{usual}]> ") or usual).split()
        try:
            text = self._bench.spec(agents, boards)
        except ArenaError as error:
            self._screen.say(str(error), "bad")
            return
        self._show_command(f"cat > {SPEC_FILE} <<'END'\n{text}END")
        with TemporaryDirectory() as folder:
            (Path(folder) / SPEC_FILE).write_text(text, "utf-8")
            self._do(["run", SPEC_FILE, "--no-store"], folder)

    # Input

    def _answer(self, prompt: str, words: Sequence[str] = ()) -> str:
        typed = self._screen.ask(prompt, words)
        if typed.lower() in ("q", "quit", "exit"):
            raise EOFError
        return typed

    def _choice(self, what: str, names: Sequence[str], current: str, *, options: bool = False) -> str:
        """Return one of the names. The user types the name or its number; an empty line means `current`. With `options`,
        `NAME:KEY=VALUE` is accepted too.
        """
        self._screen.columns([f"{number}) {name}" for number, name in enumerate(names, 1)])
        while True:
            typed = self._answer(f"{what} [{current}]> ", names)
            if not typed:
                return current
            if typed.isascii() and typed.isdecimal() and len(typed) < 10 and 1 <= int(typed) <= len(names):
                return names[int(typed) - 1]
            name = typed.partition(":")[0] if options else typed
            if name in names:
                return typed
            self._screen.say(f"expected a name or a number from 1 to {len(names)}, got {typed!r}; {suggest(name, names)}", "bad")
