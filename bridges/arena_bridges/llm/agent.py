"""The agent for language models. It asks one question per decision. If the answer cannot be played, it asks again, with the
reason.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import Field

from arena import Action, Agent, Game, Hints, Search, State
from arena.api.errors import cut
from arena.api.games import SpecFile, name_of
from arena_bridges.llm import prompts
from arena_bridges.llm.answers import AnswerCache, open_cache
from arena_bridges.llm.apis import APIS, Api, ApiName, ModelAnswer, Question
from arena_bridges.llm.budget import find_budget
from arena_bridges.llm.gate import Gate, Limits, Price, throttle
from arena_bridges.llm.template import PromptFile

AMOUNTS = ("requests", "retries", "illegal", "unreadable", "truncated", "tokens_in", "tokens_out", "tokens_cached", "money")
"""The amounts that a decision reports. `requests` counts the requests that were answered, and `retries` counts the requests that
followed a bad answer.
"""
GivenPrice = dict[Literal["in", "out", "cached"], Annotated[float, Field(ge=0, le=1e6)]]
PerMinute = Annotated[int, Field(ge=1, le=10**9)]
OWN_HEADERS = frozenset(
    {"accept", "anthropic-version", "connection", "content-length", "content-type", "host", "transfer-encoding", "user-agent"}
)
SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password", re.IGNORECASE)
"""Names of headers that may hold a secret. Specs and stores are shared with others, so they must not contain such headers."""


ANSWER_COUNTS = frozenset({"n", "best_of", "candidateCount", "candidate_count"})
"""Fields for the number of answers to a question. An agent reads only one answer, but would have to pay for all of them."""
FREE_FIELDS = frozenset(
    {
        *(
            "frequencyPenalty",
            "frequency_penalty",
            "logit_bias",
            "min_p",
            "presencePenalty",
            "presence_penalty",
            "repeat_penalty",
        ),
        *("repetition_penalty", "stop", "stopSequences", "stop_sequences", "topK", "topP", "top_k", "top_p", "typical_p"),
        *("chat_template_kwargs", "metadata", "output_config", "reasoning", "safetySettings", "safety_identifier", "store"),
        *("temperature", "thinking", "thinkingConfig", "user", "verbosity"),
    }
)
"""Fields that are allowed with a limit on costs: they add no costs to those of the tokens, and do not raise the maximum number of
tokens.
"""


class Backend(Protocol):
    """An object that answers the questions of an agent, such as an `endpoint.Endpoint`."""

    def begin(self) -> str | None:
        """Begin a run. Return a note if there are no answers yet."""

    def check(self) -> None:
        """Raise ArenaError if there will be no answers."""

    def ask(self, question: Question, gate: Gate, headers: Mapping[str, str]) -> ModelAnswer:
        """Return an answer. Raises Unavailable if there is none."""


class Unplayable:
    """The choice if no answer can be played. It does not equal any action, and its text is the reason."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __repr__(self) -> str:
        return self._reason


class Conversation:
    """One decision, with its conversation so far. If an answer does not arrive, the conversation is kept."""

    def __init__(self, state: State, messages: list[dict[str, Any]], seed: int | None) -> None:
        self.state = state
        self.messages = messages
        self.seed = seed
        """The seed for the first answer, if the model draws its answers at random; otherwise None."""
        self.spent: Counter[str] = Counter(dict.fromkeys(AMOUNTS, 0))
        self.last = ""
        """The fault in the last answer."""
        self.chosen: list[Action] = []
        """The legal moves that the model has answered so far."""

    def add(self, answer: ModelAnswer, money: float) -> None:
        """Count an answer."""
        self.spent["requests"] += 1
        self.spent["truncated"] += answer.truncated
        self.spent["tokens_in"] += answer.usage.tokens_in
        self.spent["tokens_out"] += answer.usage.tokens_out
        self.spent["tokens_cached"] += answer.usage.cached
        self.spent["money"] += money  # type: ignore[assignment] # a counter of floats

    def again(self, answer: ModelAnswer, reason: str) -> None:
        """Continue after an answer that cannot be played."""
        self.messages = prompts.question([*self.messages, {"role": "assistant", "content": answer.text}], reason)


class LanguageModel(Agent):
    """A language model behind an address, such as `http://127.0.0.1:8000/v1`. `api` is the protocol of the address; `chat` is
    OpenAI's.

    `url` is the address, and `model` the name of the model. `prompt` is a file that replaces the prompt. `legal` says whether a
    question lists the legal moves: `listed`, `hidden`, or `on-error`, which lists them only after an illegal move. `history` says
    which past moves a question lists: its `own`, the moves of `both` sides, or `none`. With `think: true`, the model may think
    before its answer. `votes` is the number of answers from which the most frequent move is chosen. `temperature` goes to the
    model; none leaves it out. `tokens` is the largest number of tokens in an answer. `max_cost` is the largest amount that a
    tournament may spend, in the currency of `price`. `requests_per_minute` and `tokens_per_minute` limit the rate of questions,
    and `concurrency` limits the number of questions at the same time. `headers` and `extra_body` are added to each request.
    `reasoning_effort` goes to models that can reason. `cache: true` keeps answers, so that the same question is paid for only
    once. The prompt has the rules as described by the author of the game, and the position as the seat sees it. The model answers
    with the JSON object `{"move": TEXT}`. If the move is illegal or cannot be parsed, the model is asked again with the reason,
    up to `retries` times. After that, it loses the match, or plays a random move with `fallback: random`. With `disguise: true`,
    the model plays the same game under another story. `price` is the price of a million tokens, such as {in: 2, out: 8, cached:
    0.5}. `key_env` names the environment variable that holds the key. The name must end in _API_KEY, as in MISTRAL_API_KEY, so
    that no other variable can be sent. The default is OPENAI_API_KEY, but no key is sent to an address on this machine.
    """

    name = "llm"
    copes: ClassVar[frozenset[str]] = frozenset({"chance", "hidden-information"})
    hints = Hints(uses_heuristic=False)
    waits = True
    incidental = frozenset({"price", "max_cost", "requests_per_minute", "tokens_per_minute", "concurrency", "cache"})

    def __init__(
        self,
        *,
        url: str,
        model: Annotated[str, Field(min_length=1)],
        api: ApiName = "chat",
        prompt: SpecFile | None = None,
        legal: Literal["listed", "hidden", "on-error"] = "listed",
        history: Literal["own", "both", "none"] = "own",
        retries: Annotated[int, Field(ge=0, le=10)] = 2,
        fallback: Literal["lose", "random"] = "lose",
        think: bool = False,
        votes: Annotated[int, Field(ge=1, le=99)] = 1,
        disguise: bool = False,
        temperature: Annotated[float, Field(ge=0, le=2)] | None = 0,
        tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 1024,
        price: GivenPrice | None = None,
        max_cost: Annotated[float, Field(gt=0, le=1e9)] | None = None,
        requests_per_minute: PerMinute | None = None,
        tokens_per_minute: PerMinute | None = None,
        concurrency: Annotated[int, Field(ge=1, le=256)] | None = None,
        headers: dict[str, str] | None = None,
        extra_body: dict[str, Any] | None = None,
        reasoning_effort: Annotated[str, Field(min_length=1, max_length=20)] | None = None,
        key_env: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*_API_KEY$")] | None = None,
        cache: bool = False,
    ) -> None:
        from arena_bridges.llm.endpoint import address

        address(url)
        _check_request(headers or {}, extra_body or {}, APIS[api], limited=max_cost is not None and any((price or {}).values()))
        if price is not None and not {"in", "out"} <= price.keys():
            raise ValueError(f"price: expected in and out, such as {{in: 2, out: 8}}, got {price}")
        if votes > 1 and temperature == 0:
            raise ValueError("votes: all answers are identical at temperature 0; set temperature, for example 0.7")
        self.prompt = None if prompt is None else PromptFile.read(prompt, always_legal=legal == "listed")
        self.think = think
        self.votes = votes
        self.disguise = disguise
        self.url = url
        self.key_env = key_env
        self.api: ApiName = api
        self.model = model
        self.legal = legal
        self.history = history
        self.retries = retries
        self.fallback = fallback
        self.temperature = temperature
        self.tokens = tokens
        self.price = Price.read(price)
        self.max_cost = max_cost
        self.limits = Limits(requests_per_minute, tokens_per_minute, concurrency)
        self.headers = headers or {}
        self.extra_body = extra_body or {}
        self.reasoning_effort = reasoning_effort
        self.cache = cache
        self._words: prompts.Words | None = None
        self._open: Conversation | None = None
        self._decided = 0
        """The number of finished decisions in this match."""
        self._past: list[str] = []
        self._last: tuple[State, Action] | None = None

    @classmethod
    def check_entries(cls, entries: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
        """Yield a fault for each further host that would get the same key, because a key belongs to one host. If the run has a
        limit on costs, also yield a fault for each entry without a price.
        """
        from arena_bridges.llm.endpoint import address
        from arena_setup.hosts import is_loopback

        hosts: dict[str, str] = {}
        limits = {options["max_cost"] for options in entries}
        for number, options in enumerate(entries):
            if len(limits) > 1:
                yield number, "max_cost", "it is a limit of the whole run; write it at the top level of the spec"
            elif options["max_cost"] is not None and options["price"] is None:
                yield number, "price", "max_cost needs the price per million tokens; write price: {in: 2, out: 8}, or 0 for both"
            parts, key = address(options["url"]), options["key_env"]
            if key is None and is_loopback(parts.hostname or ""):
                continue
            default = {"http": 80, "https": 443}[parts.scheme]
            host, key = f"{parts.scheme}://{parts.hostname}:{parts.port or default}", key or APIS[options["api"]].key
            if hosts.setdefault(key, host) != host:
                expected = "key_env: NAME, an environment variable with the key of this host"
                yield number, "url", f"{host} would receive {key}, the key of {hosts[key]}; expected {expected}"

    @classmethod
    def check_run(cls, spec: Any, store: Any, left: float, *, alone: bool) -> Iterator[str]:
        """Open the budget of the run. Yield an estimate of its cost, and a note for each backend that does not answer yet."""
        from arena_bridges.llm.costs import prepare_costs

        seats = [(board, seat) for board in spec.boards for seat in board.seats]
        models = [(board, seat, made) for board, seat in seats if isinstance(made := seat.make(), cls)]
        yield from prepare_costs(spec, models, store, left, alone=alone)
        made = [seat.make() for board in spec.boards for seat in board.seats]
        for backend in dict.fromkeys([model.backend for model in made if isinstance(model, cls)]):
            if note := backend.begin():
                yield note

    def refuses(self, game: Game) -> str | None:
        """Return why a game cannot be disguised; None if it can, or if the entry does not ask for a disguise."""
        if not self.disguise:
            return None
        if not hasattr(game, "disguise"):
            return f"disguise: {name_of(game)} has no disguise; remove this option, or define the method disguise of the game"
        try:
            game.disguise(random.Random(0))
        except ValueError as error:
            return f"disguise: {name_of(game)} has no disguise with these parameters: {error}"
        return None

    def check_backend(self) -> None:
        """Raise ArenaError if the key is missing or the address does not answer."""
        self.backend.check()

    def choose(self, game: Game, state: State, search: Search) -> Action:
        """Return the move of the model."""
        actions = list(game.actions(state))
        words = self._find_words(game, search)
        moves = {words.write_action(state, action): action for action in actions}
        talk = self._open if self._open is not None and self._open.state == state else self._begin(game, state, search, moves)
        self._open = talk
        while talk.spent["requests"] < self.votes + self.retries:
            answer = self._answer(talk, search)
            move = prompts.read_move(answer.text, think=self.think)
            action = None if move is None else words.read_action(state, move, moves)
            outcome = "unreadable" if move is None else "illegal" if action is None else "legal"
            fault = ""
            if move is None:
                talk.spent["unreadable"] += 1
                talk.last = f"cut off after {self.tokens} tokens" if answer.truncated else f"unreadable: {cut(answer.text)!r}"
                fault = prompts.unreadable(answer.truncated, self.tokens)
            elif action is None:
                talk.spent["illegal"] += 1
                talk.last = f"illegal: {cut(move)!r}"
                fault = prompts.illegal(move, () if self.legal == "hidden" else list(moves))
            else:
                talk.chosen.append(action)
            search.transcribe(
                {
                    "decision": self._decided,
                    "request": int(talk.spent["requests"]),
                    "messages": talk.messages,
                    "answer": answer.text,
                    "thoughts": answer.thoughts,
                    "outcome": outcome,
                    "fault": fault,
                    "truncated": answer.truncated,
                    "tokens_in": answer.usage.tokens_in,
                    "tokens_out": answer.usage.tokens_out,
                    "model": answer.version,
                }
            )
            if talk.spent["requests"] < self.votes:
                continue
            if talk.chosen:
                return self._play(game, state, Counter(talk.chosen).most_common(1)[0][0], talk, search)
            if self.prompt is not None and self.prompt.uses_fault:
                talk.messages = self.prompt.messages(self._describe(game, words, state, moves, fault))
            else:
                talk.again(answer, f"{fault} {prompts.form(think=self.think)}")
        search.spend(**talk.spent)
        if self.fallback == "lose":
            return Unplayable(f"no legal move in {talk.spent['requests']} answers; the last answer: {talk.last}")
        return self._play(game, state, search.rng.choice(actions), talk, search, spend=False)

    @cached_property
    def backend(self) -> Backend:
        """The address, which all agents of the entry share. Another object may replace it before the match."""
        from arena_bridges.llm.endpoint import endpoint

        return endpoint(self.url, self.key_env, self.api)

    def _find_words(self, game: Game, search: Search) -> prompts.Words:
        """Return the words for the game. A disguise is drawn once for each match, from the stream of the seat."""
        if self._words is None:
            self._words = prompts.Words(game, game.disguise(search.rng) if self.disguise else None)
        return self._words

    def _begin(self, game: Game, state: State, search: Search, moves: dict[str, Action]) -> Conversation:
        words = self._find_words(game, search)
        if self.history == "both" and self._last is not None and search.limits.nodes is None:
            with suppress(Exception):  # the rules may fail for an observation, because it need not be a whole state
                self._past += prompts.replies(game, *self._last, state, words) or ()
        seed = None if self.temperature == 0 else search.rng.getrandbits(31)
        if self.prompt is not None:
            return Conversation(state, self.prompt.messages(self._describe(game, words, state, moves, "")), seed)
        past = f"Moves so far: {'; '.join(self._past)}" if self._past else ""
        told = words.position(state, past, list(moves) if self.legal == "listed" else ())
        rules = f"{words.describe()}\n\n{prompts.form(think=self.think)}"
        return Conversation(state, prompts.question([{"role": "system", "content": rules}], told), seed)

    def _describe(
        self, game: Game, words: prompts.Words, state: State, moves: Mapping[str, Action], fault: str
    ) -> dict[str, Any]:
        """Return the variables for a template."""
        shown = self.legal == "listed" or (self.legal == "on-error" and fault)
        return {
            "game": words.name,
            "rules": words.describe(),
            "form": prompts.form(think=self.think),
            "position": words.write_state(state),
            "board": words.render(state),
            "seat": game.to_move(state) + 1,
            "seats": game.players,
            "legal": list(moves) if shown else [],
            "history": list(self._past),
            "fault": fault,
        }

    def _answer(self, talk: Conversation, search: Search) -> ModelAnswer:
        question = Question(
            self.model,
            talk.messages,
            self.tokens,
            prompts.make_schema(think=self.think),
            self.temperature,
            None if talk.seed is None else talk.seed + int(talk.spent["requests"]),
            self.reasoning_effort,
            self.extra_body,
        )
        limited = None if self.limits == Limits() else throttle(self.url, self.model, self.limits)
        gate = Gate(limited, find_budget(self.max_cost) if self.max_cost is not None or any(self.price) else None, self.price)
        key = AnswerCache.make_key(self.url, self.api, self.headers, question) if self.cache else ""
        answer = open_cache().get(key) if self.cache else None
        if answer is not None:
            talk.add(answer, 0.0)
            talk.spent["from_cache"] += 1
        else:
            with search.waiting():
                answer = self.backend.ask(question, gate, self.headers)
            talk.add(answer, self.price.of(answer.usage))
            if self.cache:
                open_cache().put(key, answer)
        talk.spent["retries"] += talk.spent["requests"] > self.votes
        return answer

    def _play(
        self, game: Game, state: State, action: Action, talk: Conversation, search: Search, *, spend: bool = True
    ) -> Action:
        if spend:
            search.spend(**talk.spent)
        self._open = None
        self._decided += 1
        if self.history != "none":
            words = self._find_words(game, search)
            self._past.append(f"{words.name_seat(game.to_move(state))} (you): {words.write_action(state, action)}")
        self._last = (state, action)
        return action


def _check_request(headers: Mapping[str, str], extra: Mapping[str, Any], api: Api, *, limited: bool) -> None:
    """Raise ValueError for headers and fields of a request that an entry must not set.

    If costs are `limited`, these include all fields that could add costs to those of the tokens.
    """
    for name, value in headers.items():
        if SECRET_HEADER.search(name):
            raise ValueError(
                f"headers: {cut(name)} may contain a secret, which a spec must not contain; use key_env to name an "
                "environment variable with the key"
            )
        if name.lower() in OWN_HEADERS or not re.fullmatch(r"[A-Za-z0-9-]+", name):
            raise ValueError(f"headers: expected the name of a header that arena does not set itself, got {cut(name)!r}")
        if not re.fullmatch(r"[\x20-\x7e]*", value):
            raise ValueError(f"headers: expected printable ASCII for {name}, got {cut(value)!r}")
    inner = extra.get("generationConfig")
    names = [name for name in extra if name != "generationConfig"] + list(inner if isinstance(inner, dict) else ())
    for name in sorted(names):
        if name in api.own_fields | ANSWER_COUNTS | {"stream"}:
            raise ValueError(f"extra_body: {name} is set by arena; remove it")
        if limited and name not in FREE_FIELDS:
            allowed = ", ".join(sorted(FREE_FIELDS))
            raise ValueError(
                f"extra_body: {cut(name)} may add costs that max_cost does not count; remove {cut(name)} or max_cost. "
                f"With max_cost, these fields are allowed: {allowed}"
            )
