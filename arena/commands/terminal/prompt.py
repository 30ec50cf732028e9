"""Input of a person whose turn it is: an action, its number in the list, or a command."""

from collections.abc import Sequence
from dataclasses import dataclass

from arena.errors import Interrupted, cut, describe, suggestion
from arena.game import Action, Game, State
from arena.match.legality import IllegalAction, legal_action

COMMANDS = {
    "?": "lists the moves",
    "undo": "takes back your last move, and what came after it",
    "hint": "asks an agent; hint AGENT asks that one",
    "eval": "tells what the heuristic says",
    "board": "shows the board again",
    "help": "shows this",
    "quit": "leaves",
}
"""Commands and their explanations."""
_SHORT = {"u": "undo", "h": "hint", "e": "eval", "b": "board", "q": "quit", "exit": "quit", "moves": "?"}
LONGEST = 400
"""Characters of a complaint of a game that are shown."""


@dataclass(frozen=True, slots=True)
class PromptCommand:
    """A command with what follows it."""

    name: str
    rest: str = ""


class Misunderstood(Exception):
    """A line is neither an action nor a command; the message says what was expected."""


def texts_of(game: Game, state: State, legal: Sequence[Action]) -> list[str]:
    """Return the text notation of all legal actions, in their order."""
    return [game.format_action(state, action) for action in legal]


def numbered(texts: Sequence[str]) -> bool:
    """Tell whether numbers in the list may name actions: not if the notation itself has numbers."""
    return not any(text.strip().isdecimal() for text in texts)


def understood(game: Game, state: State, legal: Sequence[Action], line: str) -> Action | PromptCommand:
    """Return the action or the command that a line stands for. Actions come first, so that no game loses one to a command.

    `:quit` is always the command, `#3` always the third action of the list. Misunderstood says what was expected.
    """
    texts = texts_of(game, state, legal)
    if line in texts:
        return legal[texts.index(line)]
    word, _, rest = line.removeprefix(":").partition(" ")
    name = _SHORT.get(word.lower(), word.lower())
    if name in COMMANDS and (name == "hint" or not rest):
        return PromptCommand(name, rest.strip())
    if not legal:
        raise Misunderstood("no move is left; undo or quit")
    number = line.removeprefix("#")
    if number.isdecimal() and number.isascii() and len(number) < 10 and (line != number or numbered(texts)):
        if not 1 <= int(number) <= len(legal):
            raise Misunderstood(f"expected a number from 1 to {len(legal)}, got {number}; ? lists the moves")
        return legal[int(number) - 1]
    try:
        return legal_action(game, state, line)
    except IllegalAction as illegal:
        complaint = illegal.complaint or f"{illegal} here"
    except Interrupted:
        raise
    except Exception as error:  # a plugin's own parser, whatever it raises
        complaint = f"expected a move, got {line!r} ({describe(error)})"
    near = suggestion(line, list(COMMANDS))
    raise Misunderstood(f"{cut(complaint, LONGEST)}; {f'{near} or ' if near.startswith('did') else ''}? lists the moves")
