"""One match between people and agents at the terminal, by the rules of the referee."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from arena import Action, Game, Puzzle, State
from arena.api.cli import say
from arena.api.errors import cut, describe, suggest
from arena.api.games import Returns, gives
from arena.api.match import Differs, Forfeit, Match, Player, Stepper, legal_action
from arena.api.results import figures, put_last
from arena.clock import sleep
from arena_isolation.agent_pool import AgentProcesses
from arena_play.advice import Adviser, usage
from arena_play.endings import because, result
from arena_play.screen import Screen, fit_board
from arena_play.seats import is_person, player_of
from arena_play.slow_decision import SlowDecision

COMMANDS = {
    "?": "lists the moves",
    "undo": "takes back your last move and all moves after it",
    "hint": "asks an agent for a move; hint AGENT asks that agent",
    "eval": "shows the value of the heuristic",
    "board": "shows the board again",
    "help": "shows this list",
    "quit": "leaves",
}
"""The commands that a person can type, with their explanations."""
_SHORT = {"u": "undo", "h": "hint", "e": "eval", "b": "board", "q": "quit", "exit": "quit", "moves": "?"}
MAX_COMPLAINT_CHARACTERS = 400
"""The maximum number of characters that are shown of an error message from a game."""


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A command that a person has typed, with its argument."""

    name: str
    rest: str = ""


class Misunderstood(Exception):
    """A line that is neither an action nor a command. The message says which input is expected."""


def texts_of(game: Game, state: State, legal: Sequence[Action]) -> list[str]:
    """Return the text notation of all legal actions, in the same order."""
    return [game.format_action(state, action) for action in legal]


def takes_numbers(texts: Sequence[str]) -> bool:
    """Return True if actions may be chosen by their number in the list. If the notation of an action is a number itself, return
    False.
    """
    return not any(text.strip().isdecimal() for text in texts)


def parse_line(game: Game, state: State, legal: Sequence[Action], line: str) -> Action | PromptCommand:
    """Parse a line as an action or a command. Actions take precedence over commands, so that every action can be typed.

    `:quit` is always the command, and `#3` is always the third action in the list. Raises Misunderstood for all other lines.
    """
    texts = texts_of(game, state, legal)
    if line in texts:
        return legal[texts.index(line)]
    word, _, rest = line.removeprefix(":").partition(" ")
    name = _SHORT.get(word.lower(), word.lower())
    if name in COMMANDS and (name == "hint" or not rest):
        return PromptCommand(name, rest.strip())
    if not legal:
        raise Misunderstood("no moves are left; type undo or quit")
    number = line.removeprefix("#")
    if number.isdecimal() and number.isascii() and len(number) < 10 and (line != number or takes_numbers(texts)):
        if not 1 <= int(number) <= len(legal):
            raise Misunderstood(f"expected a number from 1 to {len(legal)}, got {number}; type ? for a list of the moves")
        return legal[int(number) - 1]
    try:
        return legal_action(game, state, line)
    except Differs as illegal:
        complaint = illegal.complaint or f"{illegal} here"
    except Exception as error:  # the parser of a plugin may raise anything
        complaint = f"expected a move, got {line!r} ({describe(error)})"
    near = suggest(line, list(COMMANDS))
    meant = f"{near} " if near.startswith("did") else ""
    raise Misunderstood(f"{cut(complaint, MAX_COMPLAINT_CHARACTERS)}; {meant}type ? for a list of the moves")


class TakenBack(Exception):
    """A person takes back the last move."""


class Left(Exception):
    """A person leaves the match."""


class Session:
    """A match in progress. It stores every action, so that moves can be taken back."""

    def __init__(self, match: Match, hosts: AgentProcesses, screen: Screen, adviser: Adviser | None, delay: float) -> None:
        self.match = match
        self._game = match.game
        self._hosts = hosts
        self._screen = screen
        self._adviser = adviser
        self._delay = delay
        self._slow = SlowDecision(say)
        self._stepper = self._start()
        self._moves: list[tuple[int, Action]] = []
        """The actions so far, each with its seat."""
        self._players: list[Player] = []
        self._people = [is_person(seat) for seat in match.seats]
        self._hides = gives(match.game, "observation")
        self._watcher: int | None = None
        """The seat of the person at the screen; None before the first turn, and in games without hidden information."""

    @property
    def state(self) -> State:
        """The current state."""
        return self._stepper.state

    def _start(self) -> Stepper:
        match = self.match
        return Stepper.of(self._game, match.position.state, match.seats[0].limits.moves, match.position.key, match.repetition)

    def play(self) -> None:
        """Play until the end of the match or until a person leaves, and show how it ended.

        In a game with hidden information, people see only the observation of their own seat. When two people share the screen, it
        is cleared between their turns.
        """
        if self._hides and sum(self._people) == 1:
            self._watcher = self._people.index(True)
        self._board()
        if any(self._people):
            self._screen.say("Type a move in the game's notation, ? for a list of the moves, or help for the commands.", "dim")
        try:
            self._seat_all()
            while self._goes_on():
                self._turn()
        except Forfeit as fault:
            ending = fault.ending
            self._screen.say(f"\n{self._label(ending.seat or 0)} has lost: {because(ending.reason, ending.message)}", "bad")
            if len(self._people) > 1:
                self._screen.say(self._result(Returns(self._game).of_loss(ending.seat, self.state), ending.seat), "bold")
        except Left:
            moves = len(self._moves)
            self._screen.say(f"left after {moves} {'move' if moves == 1 else 'moves'}")
        else:
            self._say_end()
        finally:
            self._leave()

    def _goes_on(self) -> bool:
        before = len(self._stepper.actions)
        legal = self._stepper.turn()
        outcomes = self._stepper.actions[before:]
        if outcomes:
            self._screen.say("\nchance has moved" if self._hides else f"\nchance: {', '.join(outcomes)}", "bold")
            self._board()
        return legal is not None and (bool(legal) or self._people[0])  # a person without legal actions may take a move back

    def _turn(self) -> None:
        state, seat = self.state, self._stepper.seat
        player = self._players[seat]
        try:
            with nullcontext() if self._people[seat] else self._slow.watch(self.match.seats[seat]):
                action = player.choose(state, self._game.actions(state))
        except TakenBack:
            self._take_back()
            return
        self._stepper.advance(action)
        self._moves.append((seat, action))
        used = "" if self._people[seat] else f" ({usage(player.used)})"
        random = " - a random move, because the budget ran out" if player.used and player.used[-1] else ""
        told = not self._hides or not any(self._people) or seat == self._watcher
        text = self._stepper.actions[-1] if told else "has moved"
        self._screen.say(f"\n{len(self._moves)}. {self._label(seat)}: {text}{used}{random}", "bold")
        self._board()
        if not any(self._people) and self._delay:
            sleep(self._delay)

    def _take_back(self) -> None:
        """Go back to the last decision of a person. Agents are created again, because they remember the moves that are taken
        back.
        """
        own = [number for number, (seat, _) in enumerate(self._moves) if self._people[seat]]
        if not own:
            self._screen.say("you have not moved yet")
            return
        del self._moves[own[-1] :]
        self._stepper = self._start()
        for _, action in self._moves:
            self._stepper.turn()  # the outcomes of chance are the same as before
            self._stepper.advance(action)
        self._leave()
        self._seat_all()
        self._screen.say(f"\nback after move {own[-1]}", "bold")
        self._board()

    def _seat_all(self) -> None:
        for number in range(len(self.match.seats)):
            self._players.append(player_of(self.match, number, self._stepper.actions, self._hosts, self._ask))
            self._players[-1].make_agent()

    def _leave(self) -> None:
        for player in self._players:
            player.leave()
        self._players.clear()

    # Input

    def _draw_curtain(self, seat: int) -> None:
        """Clear the screen between two people, and wait until the person in `seat` is ready."""
        if not self._hides or sum(self._people) < 2 or self._watcher == seat:
            return
        self._screen.wipe()
        try:
            self._screen.ask(f"{self._label(seat)}, it is your turn: press Enter when no other player is looking ")
        except EOFError:
            raise Left from None
        self._watcher = seat
        self._board()

    def _ask(self, seat: int, state: State, legal: Sequence[Action]) -> Action:
        self._draw_curtain(seat)
        texts = texts_of(self._game, state, legal)
        if not legal:
            self._screen.say("no moves are left, and the puzzle is not solved: type undo or quit", "bad")
        prompt = f"{self._label(seat)}> "
        while True:
            try:
                line = self._screen.ask(prompt, [*texts, *COMMANDS])
                meant = parse_line(self._game, state, legal, line) if line else PromptCommand("?")
            except EOFError:
                raise Left from None
            except Misunderstood as misunderstood:
                self._screen.say(str(misunderstood), "bad")
                continue
            if not isinstance(meant, PromptCommand):
                return meant
            self._obey(meant, seat, texts)

    def _obey(self, command: PromptCommand, seat: int, texts: Sequence[str]) -> None:
        if command.name == "quit":
            raise Left
        if command.name == "undo":
            raise TakenBack
        if command.name == "?":
            named = [f"{number}) {text}" for number, text in enumerate(texts, 1)] if takes_numbers(texts) else texts
            self._screen.columns(named)
        elif command.name == "help":
            for name, does in COMMANDS.items():
                self._screen.say(f"  {name:7}{does}")
            self._screen.say(
                "  Type a move as its text or its number in the list. #3 is always the third move, and :quit is always a command."
            )
        elif command.name == "board":
            self._board()
        elif command.name == "eval":
            self._screen.say(self._evaluate(seat))
        elif self._adviser is not None and texts:
            self._screen.say(self._adviser.hint(self._game, self._seen(seat), command.rest), "dim")
        else:
            self._screen.say("no hint: no moves are left")

    def _evaluate(self, seat: int) -> str:
        """Return the heuristic value of the position for every seat."""
        evaluation, name = self.match.seats[seat].evaluation, self.match.seats[seat].heuristic
        if evaluation is None:
            return f"no heuristic is set for {self._game.name}; use --heuristic NAME to set one"
        try:
            state = self._seen(seat)
            if isinstance(self._game, Puzzle):
                return f"{name}: {figures.figure(evaluation(state), 4)} to the goal"
            values = [
                f"{self._label(number)} {figures.signed(evaluation(state, number), 4)}" for number in range(self._game.players)
            ]
        except Exception as error:  # an error in the heuristic
            return f"{name}: {describe(error)}"
        return f"{name}: {', '.join(values)}"

    # Output

    def _seen(self, seat: int) -> State:
        """Return the current state as a seat sees it."""
        return self._game.observation(self.state, seat) if self._hides else self.state

    def _board(self) -> None:
        """Show the state as the person at the screen sees it. At the end, and if only agents play, show everything."""
        hidden = self._hides and any(self._people) and not self._game.is_terminal(self.state)
        if hidden and self._watcher is None:
            return  # neither of the people at the screen has had a turn yet
        state = self._seen(self._watcher) if hidden and self._watcher is not None else self.state
        self._screen.put(fit_board(self._game, state, self._screen))

    def _label(self, seat: int) -> str:
        return self.match.seats[seat].label

    def _say_end(self) -> None:
        moves = len(self._moves)
        counted = f"{moves} {'move' if moves == 1 else 'moves'}"
        game = self._game
        if isinstance(game, Puzzle):
            if game.is_goal(self.state):
                self._screen.say(f"\nsolved in {counted}, cost {figures.figure(self._stepper.cost, 6)}", "good")
            else:
                self._screen.say(f"\nnot solved: {because('move-limit' if game.actions(self.state) else 'stuck', None)}", "bad")
        elif game.is_terminal(self.state):
            self._screen.say(f"\n{self._result(tuple(map(float, game.returns(self.state))))}, after {counted}", "bold")
        else:
            told = self._result(Returns(game).standing(self.state))
            self._screen.say(f"\n{told}: {counted} is the limit; use --limits moves=N for more", "bold")

    def _result(self, returns: Sequence[float], loser: int | None = None) -> str:
        telling = len(returns) > 2 or (len(returns) == 2 and not self._game.zero_sum)  # the winner does not tell the returns
        points = f" ({', '.join(map(figures.score, returns))})" if telling else ""
        return result([seat.label for seat in self.match.seats], put_last(returns, loser)) + points
