"""What a person types when it is his turn: an action, its number in the list, or a command."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from arena.errors import Interrupted, describe, suggestion
from arena.game import Action, Game, State

COMMANDS = {
    "?": "lists the moves",
    "undo": "takes back your last move, and what came after it",
    "hint": "asks an agent; hint AGENT asks that one",
    "eval": "tells what the heuristic says",
    "board": "shows the board again",
    "help": "shows this",
    "quit": "leaves",
}
"""Every command and what it does."""
_SHORT = {"u": "undo", "h": "hint", "e": "eval", "b": "board", "q": "quit", "exit": "quit", "moves": "?"}
LONGEST = 400
"""Characters of a game's complaint that are shown."""


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A command with what follows it."""

    name: str
    rest: str = ""


class Misunderstood(Exception):
    """What was typed is neither an action nor a command; the message says what was expected."""


def texts_of(game: Game, state: State, legal: Sequence[Action]) -> list[str]:
    """The text notation of all legal actions, in their order."""
    return [game.format_action(state, action) for action in legal]


def numbered(texts: Sequence[str]) -> bool:
    """Whether actions may be named by their numbers in the list: not where the notation itself is numbers."""
    return not any(text.strip().isdecimal() for text in texts)


def understood(game: Game, state: State, legal: Sequence[Action], line: str) -> Action | PromptCommand:
    """The action or the command that a line stands for. Actions come first, so that no game loses one to a command.

    `:quit` is always the command, `#3` always the third action of the list. Misunderstood says what was expected.
    """
    texts = texts_of(game, state, legal)
    if line in texts:
        return legal[texts.index(line)]
    command = _command(line)
    if command is not None:
        return command
    number = line.removeprefix("#")
    if number.isdecimal() and number.isascii() and len(number) < 10 and (line != number or numbered(texts)):
        if not 1 <= int(number) <= len(legal):
            raise Misunderstood(_no_such(number, legal))
        return legal[int(number) - 1]
    return _parsed(game, state, legal, line)


def _no_such(number: str, legal: Sequence[Action]) -> str:
    return (
        f"expected a number from 1 to {len(legal)}, got {number}; ? lists the moves" if legal else "no move is left; undo or quit"
    )


def _command(line: str) -> PromptCommand | None:
    word, _, rest = line.removeprefix(":").partition(" ")
    name = _SHORT.get(word.lower(), word.lower())
    if name not in COMMANDS or (rest and name != "hint"):
        return None
    return PromptCommand(name, rest.strip())


def _parsed(game: Game, state: State, legal: Sequence[Action], line: str) -> Action:
    if not legal:
        raise Misunderstood("no move is left; undo or quit")
    try:
        action: Any = game.parse_action(state, line)
        if action in legal:
            return legal[legal.index(action)]
        complaint = f"{line!r} is not legal here"
    except Interrupted:
        raise
    except ValueError as error:
        complaint = str(error) or describe(error)
    except Exception as error:  # a plugin's own parser, whatever it raises
        complaint = f"expected a move, got {line!r} ({describe(error)})"
    near = suggestion(line, list(COMMANDS))
    complaint = complaint if len(complaint) <= LONGEST else f"{complaint[:LONGEST]}..."
    raise Misunderstood(f"{complaint}; {f'{near} or ' if near.startswith('did') else ''}? lists the moves")
