"""The protocols of providers: each writes a question as the body of a request, and reads an answer and its tokens from the reply.

They use no library, because the libraries of the providers follow redirects, and so could send a key to another host.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from arena_bridges.llm.gate import Usage

ApiName = Literal["chat", "responses", "anthropic", "gemini"]
LATER_TOKENS = "max_completion_tokens"
"""The name that newer models use for the maximum number of tokens of a chat completion."""
ANTHROPIC_VERSION = "2023-06-01"
MAX_TOKENS_IN_REPLY = 10**9
"""If a reply reports a larger number of tokens, this number is ignored."""


class Question(NamedTuple):
    """A request, independent of the protocol."""

    model: str
    messages: list[dict[str, Any]]
    """The roles are `system`, `user` and `assistant`."""
    tokens: int
    """The maximum number of tokens of the answer."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema of the answer."""
    temperature: float | None = None
    seed: int | None = None
    effort: str | None = None
    """How much the model may think, as a word that its provider defines."""
    extra: Mapping[str, Any] = {}
    """Further fields of the body."""

    def split(self) -> tuple[str, list[dict[str, Any]]]:
        """Return the text of the messages with the role `system`, and the other messages."""
        system = "\n\n".join([message["content"] for message in self.messages if message["role"] == "system"])
        return system, [message for message in self.messages if message["role"] != "system"]


class ModelAnswer(NamedTuple):
    """The answer to one request."""

    text: str
    """The text of the answer. It may be empty."""
    thoughts: str
    """The reasoning, if the backend reports it separately from the answer; otherwise empty."""
    truncated: bool
    usage: Usage
    version: str
    """The model that has answered and its fingerprint, as named by the backend."""


class Api(NamedTuple):
    """One protocol."""

    write: Callable[[Question], dict[str, Any]]
    """Returns the body of a request."""
    read: Callable[[Any], ModelAnswer]
    """Returns the answer in a reply. Raises ValueError if there is none, which is not the fault of the model."""
    read_usage: Callable[[Any], Usage]
    """Returns the tokens that a reply reports."""
    path: str
    """The path of requests below the address; `{model}` stands for the model."""
    key: str
    """The default environment variable for the key."""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = {}
    own_fields: frozenset[str] = frozenset()
    """Fields that `extra_body` must not set."""


def write_chat(question: Question) -> dict[str, Any]:
    """Return the body of a request for a chat completion."""
    own = {"model": question.model, "messages": question.messages, "max_tokens": question.tokens}
    if question.schema is not None:
        own["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "move", "strict": True, "schema": question.schema},
        }
    return _complete(own, question, temperature=question.temperature, seed=question.seed, reasoning_effort=question.effort)


def read_chat(reply: Any) -> ModelAnswer:
    """Return the answer in a chat completion."""
    try:
        (choice, *_) = reply["choices"]
        message = choice["message"]
        content, *reasons = [message.get(key) for key in ("content", "reasoning_content", "reasoning")]
        finish = choice.get("finish_reason")
    except (TypeError, KeyError, ValueError, AttributeError):
        raise ValueError("the backend's answer is not a chat completion") from None
    version = " ".join([str(reply[key])[:100] for key in ("model", "system_fingerprint") if reply.get(key)])
    thoughts = next((reason for reason in reasons if isinstance(reason, str)), "")
    return ModelAnswer(_text(content), thoughts, finish == "length", read_chat_usage(reply), version)


def read_chat_usage(reply: Any) -> Usage:
    """Return the tokens that a chat completion reports."""
    told = _below(reply, "usage")
    cached = _below(told, "prompt_tokens_details").get("cached_tokens")
    return _use(told.get("prompt_tokens"), told.get("completion_tokens"), cached)


def write_responses(question: Question) -> dict[str, Any]:
    """Return the body of a request to OpenAI's Responses API. The provider does not store the request."""
    own = {"model": question.model, "input": question.messages, "max_output_tokens": question.tokens, "store": False}
    if question.schema is not None:
        own["text"] = {"format": {"type": "json_schema", "name": "move", "strict": True, "schema": question.schema}}
    reasoning = None if question.effort is None else {"effort": question.effort}
    return _complete(own, question, temperature=question.temperature, reasoning=reasoning)


def read_responses(reply: Any) -> ModelAnswer:
    """Return the answer in a reply of OpenAI's Responses API."""
    try:
        items = [item for item in reply["output"] if isinstance(item, dict)]
        parts = [part for item in items if item.get("type") == "message" for part in item["content"]]
        text = "".join([_text(part.get("text")) for part in parts if part.get("type") == "output_text"])
        reasons = [part for item in items if item.get("type") == "reasoning" for part in item.get("summary") or ()]
        thoughts = "\n".join([_text(part.get("text")) for part in reasons])
    except (TypeError, KeyError, AttributeError):
        raise ValueError("the backend's answer is not a reply from OpenAI's Responses API") from None
    truncated = _below(reply, "incomplete_details").get("reason") == "max_output_tokens"
    return ModelAnswer(text, thoughts, truncated, read_responses_usage(reply), _text(reply.get("model"))[:100])


def read_responses_usage(reply: Any) -> Usage:
    """Return the tokens that a reply of OpenAI's Responses API reports."""
    told = _below(reply, "usage")
    cached = _below(told, "input_tokens_details").get("cached_tokens")
    return _use(told.get("input_tokens"), told.get("output_tokens"), cached)


def write_anthropic(question: Question) -> dict[str, Any]:
    """Return the body of a request to Anthropic's Messages API."""
    system, messages = question.split()
    own: dict[str, Any] = {"model": question.model, "messages": messages, "max_tokens": question.tokens}
    config: dict[str, Any] = {} if question.effort is None else {"effort": question.effort}
    if question.schema is not None:
        config["format"] = {"type": "json_schema", "schema": question.schema}
    return _complete(own, question, system=system or None, temperature=question.temperature, output_config=config or None)


def read_anthropic(reply: Any) -> ModelAnswer:
    """Return the answer in a reply of Anthropic's Messages API."""
    try:
        blocks = [block for block in reply["content"] if isinstance(block, dict)]
        text = "".join([_text(block.get("text")) for block in blocks if block.get("type") == "text"])
        thoughts = "\n".join([_text(block.get("thinking")) for block in blocks if block.get("type") == "thinking"])
    except (TypeError, KeyError):
        raise ValueError("the backend's answer is not a reply from Anthropic's Messages API") from None
    truncated = reply.get("stop_reason") in ("max_tokens", "model_context_window_exceeded")
    return ModelAnswer(text, thoughts, truncated, read_anthropic_usage(reply), _text(reply.get("model"))[:100])


def read_anthropic_usage(reply: Any) -> Usage:
    """Return the tokens that a reply of Anthropic's Messages API reports. `input_tokens` does not include cached tokens."""
    told = _below(reply, "usage")
    cached, stored = [told.get(f"cache_{name}_input_tokens") for name in ("read", "creation")]
    fresh = told.get("input_tokens")
    asked = fresh + sum(each for each in (cached, stored) if type(each) is int) if type(fresh) is int else None
    return _use(asked, told.get("output_tokens"), cached)


def write_gemini(question: Question) -> dict[str, Any]:
    """Return the body of a request to Gemini's `generateContent`."""
    system, messages = question.split()
    roles = {"user": "user", "assistant": "model"}
    contents = [{"role": roles[message["role"]], "parts": [{"text": message["content"]}]} for message in messages]
    config: dict[str, Any] = {"maxOutputTokens": question.tokens, "temperature": question.temperature, "seed": question.seed}
    if question.schema is not None:
        config |= {"responseMimeType": "application/json", "responseJsonSchema": question.schema}
    if question.effort is not None:
        config["thinkingConfig"] = {"thinkingLevel": question.effort}
    own = {"contents": contents, "generationConfig": {name: value for name, value in config.items() if value is not None}}
    return _complete(own, question, systemInstruction={"parts": [{"text": system}]} if system else None)


def read_gemini(reply: Any) -> ModelAnswer:
    """Return the answer of Gemini. A question that its filter has blocked has an empty answer."""
    try:
        candidates = reply.get("candidates")
        candidate: Any = candidates[0] if candidates else {} if reply["promptFeedback"] else None
        parts = [part for part in _below(candidate, "content").get("parts") or () if isinstance(part, dict)]
        texts = [(bool(part.get("thought")), _text(part.get("text"))) for part in parts]
        version, finish = _text(reply.get("modelVersion"))[:100], candidate.get("finishReason")
    except (TypeError, KeyError, ValueError, AttributeError):
        raise ValueError("the backend's answer is not a reply from Gemini (`generateContent`)") from None
    answer, thoughts = ["".join([text for thought, text in texts if thought is wanted]) for wanted in (False, True)]
    return ModelAnswer(answer, thoughts, finish == "MAX_TOKENS", read_gemini_usage(reply), version)


def read_gemini_usage(reply: Any) -> Usage:
    """Return the tokens that Gemini reports. Thoughts are billed as a part of the answer."""
    told = _below(reply, "usageMetadata")
    answered, thought = told.get("candidatesTokenCount", 0), told.get("thoughtsTokenCount", 0)
    out = answered + thought if type(answered) is int and type(thought) is int else None
    return _use(told.get("promptTokenCount"), out, told.get("cachedContentTokenCount"))


def _complete(own: Mapping[str, Any], question: Question, **optional: Any) -> dict[str, Any]:
    """Return the body of a request: the fields in `own`, the optional fields except None, and the further fields of the entry.

    If the body and the entry have a mapping under the same key, the two mappings are merged.
    """
    body = {**own, **{name: value for name, value in optional.items() if value is not None}}
    for name, value in question.extra.items():
        before = body.get(name)
        body[name] = {**value, **before} if isinstance(before, dict) and isinstance(value, dict) else value
    return body


def _below(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _use(tokens_in: Any, tokens_out: Any, cached: Any) -> Usage:
    given = (tokens_in, tokens_out, cached)
    asked, answered, held = [value if type(value) is int and 0 <= value <= MAX_TOKENS_IN_REPLY else 0 for value in given]
    return Usage(asked, answered, min(held, asked), known=type(tokens_in) is int and type(tokens_out) is int)


APIS: dict[ApiName, Api] = {
    "chat": Api(
        write_chat,
        read_chat,
        read_chat_usage,
        "/chat/completions",
        "OPENAI_API_KEY",
        own_fields=frozenset({"messages", "model", "response_format", "n", "max_tokens", LATER_TOKENS, "seed"}),
    ),
    "responses": Api(
        write_responses,
        read_responses,
        read_responses_usage,
        "/responses",
        "OPENAI_API_KEY",
        own_fields=frozenset({"input", "model", "max_output_tokens", "instructions"}),
    ),
    "anthropic": Api(
        write_anthropic,
        read_anthropic,
        read_anthropic_usage,
        "/messages",
        "ANTHROPIC_API_KEY",
        "x-api-key",
        "",
        {"anthropic-version": ANTHROPIC_VERSION},
        frozenset({"messages", "model", "max_tokens", "system"}),
    ),
    "gemini": Api(
        write_gemini,
        read_gemini,
        read_gemini_usage,
        "/models/{model}:generateContent",
        "GEMINI_API_KEY",
        "x-goog-api-key",
        "",
        own_fields=frozenset({"contents", "systemInstruction"}),
    ),
}
