"""The agent: one question a decision, asked again with the reason if the answer cannot be played."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from arena import Action, Agent, Game, Hints, Search, State
from arena.api.errors import cut
from arena_bridges.llm import prompts
from arena_bridges.llm.prompts import ModelAnswer, read_answer

if TYPE_CHECKING:
    from arena_bridges.llm.endpoint import Endpoint

AMOUNTS = ("requests", "illegal", "truncated", "tokens_in", "tokens_out", "money")
"""The amounts that a decision reports; `requests` counts answered requests."""
Price = Annotated[float, Field(ge=0, le=1e6)]


class Unplayable:
    """The choice if no answer can be played. It equals no action, and its text is the reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __repr__(self) -> str:
        return self._reason


class Conversation:
    """One decision with its conversation so far, which is kept if an answer does not arrive."""

    def __init__(self, state: State, messages: list[dict[str, Any]], seed: int | None) -> None:
        self.state = state
        self.messages = messages
        self.seed = seed
        """The seed of the first answer of a model that draws its answers; None if it does not draw."""
        self.spent: Counter[str] = Counter(dict.fromkeys(AMOUNTS, 0))
        self.last = ""
        """The fault of the last answer."""

    def add(self, answer: ModelAnswer, money: float) -> None:
        """Count an answer."""
        self.spent["requests"] += 1
        self.spent["truncated"] += answer.truncated
        self.spent["tokens_in"] += answer.tokens_in
        self.spent["tokens_out"] += answer.tokens_out
        self.spent["money"] += money  # type: ignore[assignment] # a counter of floats

    def again(self, answer: ModelAnswer, reason: str) -> None:
        """Go on after an answer that cannot be played."""
        self.messages = prompts.question([*self.messages, {"role": "assistant", "content": answer.text}], reason)


class LanguageModel(Agent):
    """A language model behind an OpenAI-compatible address, such as `http://127.0.0.1:8000/v1`.

    Its prompt has the rules in their author's description and the position as its seat sees it. It answers with the JSON object
    `{"move": TEXT}`. If the move is illegal or cannot be parsed, it is asked again with the reason, `retries` times; then
    `fallback` decides. `price_in` and `price_out` are for a million tokens. `key_env` names the environment variable with the
    key, such as MISTRAL_API_KEY: no other variable can be sent. The default is OPENAI_API_KEY, but an address of this machine
    gets no key.
    """

    name = "llm"
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)
    waits = True

    def __init__(
        self,
        *,
        url: str,
        model: Annotated[str, Field(min_length=1)],
        legal: Literal["listed", "hidden"] = "listed",
        history: Literal["own", "both", "none"] = "own",
        retries: Annotated[int, Field(ge=0, le=10)] = 2,
        fallback: Literal["lose", "random"] = "lose",
        temperature: Annotated[float, Field(ge=0, le=2)] | None = 0,
        tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 1024,
        price_in: Price = 0.0,
        price_out: Price = 0.0,
        key_env: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*_API_KEY$")] | None = None,
    ) -> None:
        from arena_bridges.llm.endpoint import address

        address(url)
        self.url = url
        self.key_env = key_env
        self.model = model
        self.legal = legal
        self.history = history
        self.retries = retries
        self.fallback = fallback
        self.temperature = temperature
        self.tokens = tokens
        self.prices = (price_in, price_out)
        self._open: Conversation | None = None
        self._past: list[str] = []
        self._last: tuple[State, Action] | None = None

    @classmethod
    def check_entries(cls, entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
        """Yield a fault for each further host that would get the same key, because a key belongs to one host."""
        from arena_bridges.llm.endpoint import DEFAULT_KEY, address, is_loopback

        hosts: dict[str, str] = {}
        for number, options in enumerate(entries):
            parts, key = address(options["url"]), options["key_env"]
            if key is None and is_loopback(parts):
                continue
            default = {"http": 80, "https": 443}[parts.scheme]
            host, key = f"{parts.scheme}://{parts.hostname}:{parts.port or default}", key or DEFAULT_KEY
            if hosts.setdefault(key, host) != host:
                expected = "key_env: NAME, an environment variable with the key of this host"
                yield number, "url", f"{host} would be given {key}, the key of {hosts[key]}; expected {expected}"

    def check_backend(self) -> None:
        """Raise ArenaError if the key is missing or nothing answers."""
        self._endpoint.check()

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the move of the model."""
        actions = list(game.actions(state))
        moves = {game.format_action(state, action): action for action in actions}
        talk = self._open if self._open is not None and self._open.state == state else self._begin(game, state, search, moves)
        self._open = talk
        while talk.spent["requests"] <= self.retries:
            answer = self._answer(talk, search)
            action = _read_action(game, state, answer.move, moves, actions)
            outcome = "unreadable" if answer.move is None else "illegal" if action is None else "legal"
            search.transcribe(
                {
                    "messages": talk.messages,
                    "answer": answer.text,
                    "outcome": outcome,
                    "truncated": answer.truncated,
                    "tokens_in": answer.tokens_in,
                    "tokens_out": answer.tokens_out,
                    "model": answer.version,
                }
            )
            if action is not None:
                return self._play(game, state, action, talk, search)
            if answer.move is None:
                talk.last = f"cut off after {self.tokens} tokens" if answer.truncated else f"unreadable: {cut(answer.text)!r}"
                talk.again(answer, prompts.unreadable(answer.truncated, self.tokens))
            else:
                talk.spent["illegal"] += 1
                talk.last = f"illegal: {cut(answer.move)!r}"
                talk.again(answer, prompts.illegal(answer.move, list(moves) if self.legal == "listed" else ()))
        search.spend(**talk.spent)
        if self.fallback == "lose":
            return Unplayable(f"no legal move in {talk.spent['requests']} answers, the last {talk.last}")
        return self._play(game, state, search.rng.choice(actions), talk, search, spend=False)

    @property
    def _endpoint(self) -> "Endpoint":
        from arena_bridges.llm.endpoint import endpoint

        return endpoint(self.url, self.key_env)

    def _begin(self, game: Game, state: State, search: Search, moves: dict[str, Action]) -> Conversation:
        if self.history == "both" and self._last is not None and search.limits.nodes is None:
            with suppress(Exception):  # the observation of a seat need not be a playable state
                self._past += prompts.replies(game, *self._last, state) or ()
        past = f"Moves so far: {'; '.join(self._past)}" if self._past else ""
        told = prompts.position(game, state, past, list(moves) if self.legal == "listed" else ())
        seed = None if self.temperature == 0 else search.rng.getrandbits(31)
        return Conversation(state, prompts.question([{"role": "system", "content": prompts.rules(game)}], told), seed)

    def _answer(self, talk: Conversation, search: Search) -> ModelAnswer:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": talk.messages,
            "tokens": self.tokens,
            "response_format": prompts.RESPONSE_FORMAT,
        }
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if talk.seed is not None:
            body["seed"] = talk.seed + int(talk.spent["requests"])
        with search.waiting():
            answer = self._endpoint.ask(body, read_answer)
        price_in, price_out = self.prices
        talk.add(answer, (answer.tokens_in * price_in + answer.tokens_out * price_out) / 1e6)
        return answer

    def _play(
        self, game: Game, state: State, action: Action, talk: Conversation, search: Search, *, spend: bool = True
    ) -> Action:
        if spend:
            search.spend(**talk.spent)
        self._open = None
        if self.history != "none":
            self._past.append(f"seat {game.to_move(state) + 1} (you): {game.format_action(state, action)}")
        self._last = (state, action)
        return action


def _read_action(
    game: Game, state: State, move: str | None, moves: dict[str, Action], actions: Sequence[Action]
) -> Action | None:
    """The legal action of a text; None if there is none."""
    if move is None:
        return None
    if move.strip() in moves:
        return moves[move.strip()]
    try:
        action = game.parse_action(state, move)
    except Exception:  # the text is untrusted, and the parser is a plugin's
        return None
    return action if action in actions else None
