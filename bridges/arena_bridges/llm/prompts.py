"""The texts for a model - the game, the position as its seat sees it, the fault of its last answer - and its answers.

An answer has one form; prose is not searched for moves.
"""

import json
from collections.abc import Sequence
from inspect import getdoc
from typing import Any, NamedTuple

from arena import Action, Game, State
from arena.api.games import name_of, settings

RESPONSE_FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "move",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"move": {"type": "string"}},
            "required": ["move"],
            "additionalProperties": False,
        },
    },
}
"""The form of an answer, for the backend."""
FORM = 'Answer with the JSON object {"move": TEXT} and nothing else; TEXT is one legal move in the notation of the game.'


def rules(game: Game) -> str:
    """Return the prompt about a game: its author's description and its parameters."""
    parameters = ", ".join([f"{name}={value}" for name, value in settings(game).items()])
    described = f"You play {name_of(game)}{f' ({parameters})' if parameters else ''}.\n{getdoc(type(game)) or ''}"
    return f"{described.strip()}\n\n{FORM}"


def position(game: Game, state: State, past: str, legal: Sequence[str]) -> str:
    """Return the prompt about a position: its notation and its rendering. `legal` is empty if the legal moves are hidden."""
    notation, drawn = game.format_state(state), game.render(state)
    seat = game.to_move(state)
    parts = [
        past,
        f"Position: {notation}",
        "" if drawn == notation else drawn,
        f"You are seat {seat + 1} of {game.players}, and it is your turn." if game.players > 1 else "It is your turn.",
        f"Legal moves: {', '.join(legal)}" if legal else "",
    ]
    return "\n\n".join(filter(None, parts))


def question(messages: Sequence[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    """Return messages with one more from the user."""
    return [*messages, {"role": "user", "content": text}]


def unreadable(cut_off: bool, tokens: int) -> str:
    """Return the prompt after an answer that cannot be parsed."""
    if cut_off:
        return f"Your answer was cut off after {tokens} tokens. {FORM}"
    return f"Your answer is not that JSON object. {FORM}"


def illegal(move: str, legal: Sequence[str]) -> str:
    """Return the prompt after an illegal move."""
    allowed = f" Legal moves: {', '.join(legal)}" if legal else " Choose another one."
    return f"{move!r} is not a legal move here.{allowed} {FORM}"


def replies(game: Game, before: State, action: Action, now: State, most: int = 2000) -> list[str] | None:
    """Return the moves of the others that lead from one own turn to the next, each with its seat; None if they are not found.

    They are searched with the rules in at most `most` states, because agents are not informed of the actions of others.
    """
    seat = game.to_move(now)
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
            told = f"seat {mover + 1}: {game.format_action(state, reply)}"
            lines.append((game.result(state, reply), [*moves, told]))
    return None


class ModelAnswer(NamedTuple):
    """The answer to one request."""

    text: str
    """The text of the answer, which may be empty."""
    move: str | None
    """The move of the JSON object; None without one."""
    truncated: bool
    tokens_in: int
    tokens_out: int
    version: str
    """The model that has answered, and its fingerprint, as the backend calls them."""


def read_answer(reply: Any) -> ModelAnswer:
    """Return the answer in a chat completion. Raises ValueError if it has none, which is not the model's fault."""
    try:
        (choice, *_) = reply["choices"]
        content = choice["message"].get("content")
        finish = choice.get("finish_reason")
        usage = reply.get("usage") or {}
        used = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    except (TypeError, KeyError, ValueError, AttributeError):
        raise ValueError("the backend gave an answer that is no chat completion") from None
    text = content if isinstance(content, str) else ""
    asked, answered = [value if type(value) is int and 0 <= value <= 10**9 else 0 for value in used]
    version = " ".join([str(reply[key])[:100] for key in ("model", "system_fingerprint") if reply.get(key)])
    return ModelAnswer(text, read_move(text), finish == "length", asked, answered, version)


def read_move(text: str) -> str | None:
    """Return the move of `{"move": TEXT}`; None for anything else."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return told["move"] if isinstance(told, dict) and told.keys() == {"move"} and isinstance(told["move"], str) else None
