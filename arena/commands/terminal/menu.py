"""The menu of `arena` alone: boards, algorithms, statistics. Every choice shows the command that does the same."""

import shlex
import sys
from collections.abc import Callable, Sequence
from tempfile import TemporaryDirectory

import click

from arena.commands.terminal.questions import Leaving, answer, choice
from arena.commands.terminal.workbench import FILE, Workbench, written
from arena.console.notices import load
from arena.console.output import results_alone
from arena.console.screen import Screen
from arena.errors import ArenaError, Interrupted, describe
from arena.plugins.registry import Registry
from arena.spec.faults import one_line

Run = Callable[[list[str]], int]
"""Runs a command line, without the word `arena`."""
CHOICES = {
    "g": "choose a puzzle or a game",
    "b": "make a board",
    "a": "choose an algorithm",
    "w": "watch it",
    "p": "play it yourself",
    "s": "statistics over many boards",
    "q": "quit",
}
BOARDS = 20
"""Boards of a statistic where nothing else is said."""


def menu(run: Run) -> int:
    """Offer choices until the person leaves; 0 then."""
    screen = Screen(sys.stdout)
    with results_alone():
        registry = load(())
        bench = Workbench.first(registry)
    menu_ = Menu(screen, registry, bench, run)
    try:
        while True:
            menu_.turn()
    except (Leaving, EOFError):
        return 0


class Menu:
    """What is chosen so far, and what can be done with it."""

    def __init__(self, screen: Screen, registry: Registry, bench: Workbench, run: Run) -> None:
        self._screen = screen
        self._registry = registry
        self._bench = bench
        self._run = run

    def turn(self) -> None:
        """Show what is chosen, and do what is asked for."""
        self._show()
        asked = answer(self._screen, "choice> ", list(CHOICES)).lower()
        actions = {
            "g": self._choose_game,
            "b": self._make_board,
            "a": self._choose_agents,
            "w": lambda: self._do(self._bench.watching()),
            "p": lambda: self._do(self._bench.by_hand()),
            "s": self._count,
        }
        if asked in actions:
            actions[asked]()
        elif asked:
            self._screen.say(f"expected one of {', '.join(CHOICES)}, got {asked!r}", "bad")

    def _show(self) -> None:
        bench, screen = self._bench, self._screen
        screen.say(f"\n{bench.title}", "bold")
        with results_alone():
            board = bench.board(screen)
        screen.put(board)
        screen.say(f"algorithm: {' against '.join(bench.agents)}")
        self._same(bench.watching())
        screen.put("")
        for letter, does in CHOICES.items():
            screen.say(f"  {letter}  {does}")

    def _same(self, words: Sequence[str]) -> None:
        self._command(f"$ arena {shlex.join(words)}")

    def _command(self, text: str) -> None:
        """Show a command as it is to be typed: no line of it is broken."""
        for line in text.split("\n"):
            self._screen.put(self._screen.styled(one_line(line), "dim"))

    def _do(self, words: list[str]) -> None:
        """Run a command as if it had been typed."""
        self._same(words)
        self._screen.put("")
        try:
            self._run(words)
        except ArenaError as error:
            self._screen.say(str(error), "bad")
        except click.ClickException as error:
            self._screen.say(error.format_message(), "bad")

    def _changed(self, change: Callable[[], Workbench]) -> bool:
        """Take another board, if it is one."""
        try:
            with results_alone():
                bench = change()
                bench.board(self._screen)
        except Interrupted:
            raise
        except Exception as error:  # of the call, or of a plugin's game
            self._screen.say(str(error) if isinstance(error, ArenaError) else describe(error), "bad")
            return False
        self._bench = bench
        return True

    def _choose_game(self) -> None:
        self._same(["list", "games"])
        name = choice(self._screen, "puzzle or game", sorted(self._registry.games), self._bench.setting.game)
        if not self._changed(lambda: Workbench.of(self._registry, name)):
            return
        known = self._bench.parameters
        while known:
            self._screen.say(f"parameters: {known}; others as KEY=VALUE, Enter keeps them")
            words = answer(self._screen, "parameters> ").split()
            if not words or self._changed(lambda asked=words: self._bench.with_parameters(asked)):  # type: ignore[misc]
                break

    def _make_board(self) -> None:
        self._screen.say("Enter draws another board; a number is a seed; anything else is a position in the game's notation")
        asked = answer(self._screen, "board> ")
        self._changed(lambda: self._bench.another(asked))

    def _choose_agents(self) -> None:
        self._same(["show", self._bench.setting.game])
        fitting = self._bench.fitting(self._registry)
        agents = []
        for number, current in enumerate(self._bench.agents, 1):
            what = "algorithm" if len(self._bench.agents) == 1 else f"agent in seat {number}"
            agents.append(choice(self._screen, what, fitting, current, options=True))
        self._changed(lambda: self._bench.with_agents(agents))

    def _count(self) -> None:
        """Play a small tournament, from a spec that is shown."""
        asked = answer(self._screen, f"how many boards? [{BOARDS}]> ") or str(BOARDS)
        if not (asked.isdecimal() and 1 <= int(asked) <= 10_000):
            self._screen.say(f"expected a number from 1 to 10000, got {asked!r}", "bad")
            return
        usual = " ".join(self._bench.agents)
        agents = (answer(self._screen, f"which agents? [{usual}]> ") or usual).split()
        try:
            text = self._bench.spec(agents, int(asked))
        except ArenaError as error:
            self._screen.say(str(error), "bad")
            return
        self._command(f"$ cat > {FILE} <<'END'\n{text}END")
        self._same(["run", FILE, "--no-store"])
        self._screen.put("")
        with TemporaryDirectory() as folder:
            try:
                self._run(["run", written(text, folder), "--no-store"])
            except ArenaError as error:
                self._screen.say(str(error).replace(folder, ""), "bad")
