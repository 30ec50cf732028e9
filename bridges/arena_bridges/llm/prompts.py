"""The texts for a model (the game, the position as the seat sees it, and the fault in the last answer), and the parsing of its
answers.

An answer must have a fixed form; moves are not searched for in free text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from inspect import getdoc
from typing import Any

from arena import Action, Disguise, Game, State
from arena.api.games import name_of, settings

FORM = 'Answer with the JSON object {"move": TEXT} and nothing else; TEXT is one legal move in the notation of the game.'
THINKING_FORM = (
    'Answer with the JSON object {"thoughts": TEXT, "move": TEXT}. First think in "thoughts"; "move" is one legal move in the '
    "notation of the game."
)
"""The form of an answer if the model thinks before its move."""
MAX_OBJECTS_SEARCHED = 20
"""How many opening braces, counted from the end of an answer, are tried as the start of the object with the move."""


def form(*, think: bool) -> str:
    """Return the words that describe the form of an answer."""
    return THINKING_FORM if think else FORM


def make_schema(*, think: bool) -> dict[str, Any]:
    """Return the JSON schema of an answer."""
    fields = ["thoughts", "move"] if think else ["move"]
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in fields},
        "required": fields,
        "additionalProperties": False,
    }


class Words:
    """The words in which a model reads about a game: the words of the game, or of its disguise."""

    def __init__(self, game: Game, disguise: Disguise | None = None) -> None:
        self._game = game
        self._disguise = disguise
        self.name = name_of(game) if disguise is None else "a game"

    def describe(self) -> str:
        """Return the rules for a reader: those of the disguise, the game's `rules_text`, or the description by its author and its
        parameters.
        """
        if self._disguise is not None:
            return f"You play a game.\n{self._disguise.rules_text}"
        given = {name: value for name, value in settings(self._game).items() if value is not None}
        parameters = ", ".join(
            [f"{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in given.items()]
        )
        text = getattr(self._game, "rules_text", None) or getdoc(type(self._game)) or ""
        return f"You play {self.name}{f' ({parameters})' if parameters else ''}.\n{text}".strip()

    def write_state(self, state: State) -> str:
        """Return a position in one line."""
        return self._game.format_state(state) if self._disguise is None else self._disguise.write_state(state)

    def render(self, state: State) -> str:
        """Return a position as a human player would see it. In a disguise, this is the text in one line."""
        return self._game.render(state) if self._disguise is None else self._disguise.write_state(state)

    def write_action(self, state: State, action: Action) -> str:
        """Return an action."""
        text = self._game.format_action(state, action)
        return text if self._disguise is None else self._disguise.write_action(text)

    def read_action(self, state: State, move: str, moves: Mapping[str, Action]) -> Action | None:
        """Return the legal action that a text names; None if there is none. `moves` contains all legal actions by their texts."""
        if move.strip() in moves:
            return moves[move.strip()]
        if self._disguise is not None:  # in a disguise, the usual text of a move is not valid
            return {text.casefold(): action for text, action in moves.items()}.get(move.strip().casefold())
        try:
            action = self._game.parse_action(state, move)
        except Exception:  # the text is not trusted, and a plugin parses it
            return None
        return action if action in moves.values() else None

    def position(self, state: State, past: str, legal: Sequence[str]) -> str:
        """Return the prompt about a position, with its notation and its rendering. `legal` is empty if the legal moves are not
        shown.
        """
        game, notation, drawn = self._game, self.write_state(state), self.render(state)
        parts = [
            past,
            f"Position: {notation}",
            "" if drawn == notation else drawn,
            f"You are {self.name_seat(game.to_move(state))} of {game.players}, and it is your turn."
            if game.players > 1
            else "It is your turn.",
            f"Legal moves: {', '.join(legal)}" if legal else "",
        ]
        return "\n\n".join(filter(None, parts))

    def name_seat(self, seat: int) -> str:
        """Return the name of a seat. In a disguise, seats are called players."""
        return f"{'seat' if self._disguise is None else 'player'} {seat + 1}"


def question(messages: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return messages followed by `text` as a message from the user."""
    return [*messages, {"role": "user", "content": text}]


def unreadable(cut_off: bool, tokens: int) -> str:
    """Return the reason to give for an answer that cannot be parsed."""
    return f"Your answer was cut off after {tokens} tokens." if cut_off else "Your answer is not that JSON object."


def illegal(move: str, legal: Sequence[str]) -> str:
    """Return the reason to give for an illegal move."""
    allowed = f" Legal moves: {', '.join(legal)}" if legal else " Choose another one."
    return f"{move!r} is not a legal move here.{allowed}"


def replies(
    game: Game, before: State, action: Action, now: State, words: Words | None = None, most: int = 2000
) -> list[str] | None:
    """Return the moves of the other seats between one turn of this seat and the next, each with its seat; None if they are not
    found.

    Agents are not sent the actions of others. So the moves are reconstructed by the rules, in a search of at most `most`
    states.
    """
    seat, words = game.to_move(now), words or Words(game)
    lines: list[tuple[State, list[str]]] = [(game.result(before, action), [])]
    for state, moves in lines:
        if state == now:
            return moves
        mover = -1 if game.is_terminal(state) else game.to_move(state)
        if mover in (-1, seat):
            continue
        for reply in game.actions(state):
            if len(lines) >= most:
                return None
            told = f"{words.name_seat(mover)}: {words.write_action(state, reply)}"
            lines.append((game.result(state, reply), [*moves, told]))
    return None


def read_move(text: str, *, think: bool = False) -> str | None:
    """Return the move in `{"move": TEXT}`; None for anything else.

    If the model may `think`, the object may also have `thoughts`, and it may follow other text.
    """
    keys = [{"move"}, {"thoughts", "move"}] if think else [{"move"}]
    starts = [0]
    if think:
        text = text.strip().removesuffix("```").rstrip()
        starts += [place.start() for place in re.finditer(r"\{", text)][: -MAX_OBJECTS_SEARCHED - 1 : -1]
    for start in starts:
        try:
            told = json.loads(text[start:])
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict) and told.keys() in keys and isinstance(told["move"], str):
            return str(told["move"])
    return None
