"""What a model has answered, as far as it can be read. There is one form, and nothing is looked for in prose."""

import json
from typing import Any, NamedTuple


class ModelAnswer(NamedTuple):
    """The answer to one request."""

    text: str
    """What it said, empty where it said nothing."""
    move: str | None
    """The move of the JSON object; None where it is none."""
    truncated: bool
    tokens_in: int
    tokens_out: int
    version: str
    """The model that has answered, and its fingerprint, as the backend calls them."""


def read(reply: Any) -> ModelAnswer:
    """Return the answer in a chat completion. Raises ValueError if it is none, which is not the model's fault."""
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
    return ModelAnswer(text, move_of(text), finish == "length", asked, answered, version)


def move_of(text: str) -> str | None:
    """Return the move of `{"move": TEXT}`; None for anything else."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return told["move"] if isinstance(told, dict) and told.keys() == {"move"} and isinstance(told["move"], str) else None
