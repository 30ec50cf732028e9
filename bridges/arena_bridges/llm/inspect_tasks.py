"""Tasks for the evaluation framework Inspect: each sample is a match of arena, and the model under evaluation plays in it.

This module needs the extra `inspect`. Inspect finds it by its entry point.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

import anyio
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema

from arena import Puzzle, Record, Spec, Unavailable, load_plugins
from arena.api.errors import Interrupted
from arena.api.games import Returns
from arena.api.match import Seat
from arena.api.run import Batch, MatchRunner, Schedule, Scheduled
from arena.api.spec import load_spec
from arena.stats import clustered_mean
from arena_bridges.llm.agent import LanguageModel
from arena_bridges.llm.apis import ModelAnswer, Question
from arena_bridges.llm.gate import Gate, Limits, Usage
from arena_setup.words import entry_of, values_of

UNUSED_URL = "http://localhost"
"""The address in the spec of `arena_match`, to which nothing is sent."""
MESSAGES: Mapping[str, type[ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}


@task  # type: ignore[untyped-decorator]
def arena_match(
    game: str = "tic-tac-toe",
    opponent: str | list[str] = "random",
    rounds: int = 10,
    plies: int = 0,
    options: str = "",
    seed: int = 0,
    plugins: str | list[str] = (),  # type: ignore[assignment]
) -> Task:
    """Let the model play one game against opponents, or solve one puzzle.

    `game` and `opponent` are written as on the command line of arena, such as `connect-four:rows=7` and `lookahead:depth=2`. In a
    game of two seats, each round is played twice, with exchanged seats. `plies` is the number of random moves before each round.
    `options` are those of the agent `llm`, such as `think=true,legal=hidden`.
    """
    loaded = [plugins] if isinstance(plugins, str) else list(plugins)
    name, colon, parameters = game.partition(":")
    puzzle = issubclass(load_plugins(loaded).game(name), Puzzle)
    others = [] if puzzle else [opponent] if isinstance(opponent, str) else list(opponent)
    model = {"agent": LanguageModel.name, "url": UNUSED_URL, "model": "inspect", "label": "model"}
    given = {
        "game": {"name": name, **(values_of([parameters], what=name) if colon else {})},
        "seed": seed,
        "rounds": rounds,
        "agents": [{**model, **(values_of([options], what="options") if options else {})}, *map(entry_of, others)],
    }
    return _make_task(load_spec(given | ({"openings": {"plies": plies}} if plies else {}), plugins=loaded))


@task  # type: ignore[untyped-decorator]
def arena_spec(spec: str, plugins: str | list[str] = ()) -> Task:  # type: ignore[assignment]
    """Let the model play all matches of a spec in which an entry with `agent: llm` takes part.

    If the name of a model role is the label of an entry, the model with this role plays for the entry. The model under evaluation
    plays for all other entries with `agent: llm`. Their `url`, `model`, `api` and `key_env` have no effect.
    """
    return _make_task(load_spec(spec, plugins=[plugins] if isinstance(plugins, str) else list(plugins)))


def _make_task(spec: Spec) -> Task:
    for board in spec.boards:
        if board.format.follows_results:
            raise ValueError(f"format {board.format.name}: its matches depend on results, but Inspect needs them in advance")
        for seat in board.seats:
            if _is_model(seat) and not seat.in_process:
                raise ValueError(f"isolation {seat.isolation}: {seat.label} is queried by Inspect; use isolation: none for it")
    schedule, matches, baton = Schedule(spec), dict[str, Scheduled](), threading.Lock()
    while (batch := schedule.take(1000)) is not Batch.OVER:
        matches |= {place.match_id(spec): place for place in batch if any(map(_is_model, _seats_of(spec, place)))}
    if not matches:
        raise ValueError(f"{spec.name}: no match has an entry with the agent {LanguageModel.name}")

    @solver(name="arena_player")  # type: ignore[untyped-decorator]
    def play() -> Solver:
        async def solve(state: TaskState, _: Generate) -> TaskState:
            await _play_sample(spec, matches[str(state.sample_id)], state, baton)
            return state

        return solve

    samples = []
    for match, place in matches.items():
        title, round_, labels = (
            spec.boards[place.board].title,
            place.pairing.round,
            [seat.label for seat in _seats_of(spec, place)],
        )
        metadata = {"board": title, "round": f"{place.board}.{round_}", "labels": labels}
        samples.append(Sample(f"{title}, round {round_ + 1}: {' against '.join(labels)}", id=match, metadata=metadata))
    return Task(dataset=MemoryDataset(samples, name=spec.name), solver=play(), scorer=match_result())


def _seats_of(spec: Spec, place: Scheduled) -> Sequence[Seat]:
    return [spec.boards[place.board].seats[entry] for entry in place.pairing.seats]


def _is_model(seat: Seat) -> bool:
    return seat.agent == LanguageModel.name


async def _play_sample(spec: Spec, place: Scheduled, state: TaskState, baton: threading.Lock) -> None:
    """Play a match, and keep its result in the state of the sample."""
    board, seats, active = spec.boards[place.board], _seats_of(spec, place), get_model()
    backends = {seat.label: InspectBackend(get_model(role=seat.label), baton) for seat in seats if _is_model(seat)}
    own = [number for number, seat in enumerate(seats) if seat.label in backends and backends[seat.label].model is active]
    if not own:
        raise ValueError(
            f"{' against '.join(backends)}: all models of this match have roles; leave one entry to the evaluated model"
        )
    connected = [
        replace(seat, make=partial(_connect, seat, backends[seat.label])) if seat.label in backends else seat
        for seat in board.seats
    ]
    boards = [replace(each, seats=tuple(connected)) if each is board else each for each in spec.boards]
    record = await anyio.to_thread.run_sync(_play, replace(spec, boards=tuple(boards)), place, baton)
    for backend in backends.values():
        if backend.failure is not None:
            raise backend.failure  # Inspect handles it
    if record is None:
        raise Interrupted
    if record.termination == "void":
        raise RuntimeError(f"the match is void: {record.message}")
    least, most = Returns(board.game).range
    result = record.returns[own[0]]
    state.store.set("entry", seats[own[0]].label)
    state.output = ModelOutput.from_content(str(active), record.answer or " ".join(record.actions))
    state.store.set("value", result if record.solved is not None else (result - least) / (most - least))
    state.store.set("record", record.as_dict())


def _play(spec: Spec, place: Scheduled, baton: threading.Lock) -> Record | None:
    """Play a match in this thread. Return None if the sample is cancelled."""
    with baton:
        runner = MatchRunner(spec)
        try:
            return runner.play(place)
        except Interrupted:
            return None
        finally:
            runner.close()


def _connect(seat: Seat, backend: "InspectBackend") -> LanguageModel:
    """Return the agent of a seat, which asks its questions through Inspect. Inspect handles limits, costs and caches."""
    made = seat.make()
    assert isinstance(made, LanguageModel)
    made.backend, made.limits, made.max_cost, made.cache = backend, Limits(), None, False
    return made


class InspectBackend:
    """An Inspect model, for the agents of a match that is played in a thread.

    Games and agents need not be thread-safe, so only the thread that holds the baton (a lock) runs their code. It releases the
    baton while it waits for an answer.
    """

    def __init__(self, model: Model, baton: threading.Lock) -> None:
        self.model = model
        self.failure: Exception | None = None
        """The exception that has ended the match."""
        self._baton = baton

    def begin(self) -> None:
        """Do nothing, because Inspect opens its models."""

    def check(self) -> None:
        """Do nothing, because Inspect checks its models."""

    def ask(self, question: Question, gate: Gate, headers: Mapping[str, str]) -> ModelAnswer:
        """Return the answer of the model. Inspect handles retries, limits and prices."""
        self._baton.release()
        try:
            output = anyio.from_thread.run(self._generate, question)
        except Exception as error:
            if error.__class__.__name__ == "CancelledError":
                raise Interrupted from None
            self.failure = error
            raise Unavailable(str(error)) from None
        finally:
            self._baton.acquire()
        return read_output(output)

    async def _generate(self, question: Question) -> ModelOutput:
        schema = None if question.schema is None else ResponseSchema(name="move", json_schema=JSONSchema(**question.schema))
        config = GenerateConfig(
            max_tokens=question.tokens,
            temperature=question.temperature,
            seed=question.seed,
            reasoning_effort=question.effort,
            extra_body=dict(question.extra) or None,
            response_schema=schema,
        )
        return await self.model.generate(
            [MESSAGES[one["role"]](content=one["content"]) for one in question.messages], config=config
        )


def read_output(output: ModelOutput) -> ModelAnswer:
    """Return an answer from Inspect as arena's own kind of answer."""
    told, usage = output.choices[0].message.content if output.choices else "", output.usage
    thoughts = [] if isinstance(told, str) else [part.reasoning for part in told if part.type == "reasoning"]
    read = 0 if usage is None else usage.input_tokens_cache_read or 0
    tokens = Usage(0, 0, known=False)
    if usage is not None:
        tokens = Usage(usage.input_tokens + read + (usage.input_tokens_cache_write or 0), usage.output_tokens, read)
    cut_off = bool(output.choices) and output.stop_reason in ("max_tokens", "model_length")
    return ModelAnswer(output.completion, "\n".join(thoughts), cut_off, tokens, output.model[:100])


@metric  # type: ignore[untyped-decorator]
def interval() -> Metric:
    """Return the bounds of the 95 % interval of the mean. The matches of a round count as one observation."""

    def measure(scores: Sequence[SampleScore]) -> dict[str, float]:
        rounds: dict[Any, list[float]] = {}
        for one in scores:
            rounds.setdefault((one.sample_metadata or {}).get("round"), []).append(one.score.as_float())
        found = clustered_mean([sum(values) for values in rounds.values()], [len(values) for values in rounds.values()])
        return {
            "low": float("nan") if found.low is None else found.low,
            "high": float("nan") if found.high is None else found.high,
        }

    return measure


@metric  # type: ignore[untyped-decorator]
def entry_means() -> Metric:
    """Return the mean score of each entry of the spec for which the model plays."""

    def measure(scores: Sequence[SampleScore]) -> dict[str, float]:
        entries: dict[str, list[float]] = {}
        for one in scores:
            entries.setdefault(str((one.score.metadata or {}).get("entry")), []).append(one.score.as_float())
        return {entry: fmean(values) for entry, values in entries.items()}

    return measure


@scorer(metrics=[mean(), stderr(cluster="round"), interval(), entry_means()])  # type: ignore[untyped-decorator]
def match_result() -> Scorer:
    """Score the result of a match: the return of the model from 0 (the least) to 1 (the largest possible)."""

    async def score(state: TaskState, _: Target) -> Score:
        record = state.store.get("record")
        ended = record["termination"] if record["seat"] is None else f"{record['termination']} of seat {record['seat'] + 1}"
        moves = f"{record['moves']} move{'s' * (record['moves'] != 1)}"
        result = f"{ended}: returns {' '.join([f'{value:g}' for value in record['returns']])} after {moves}"
        told = {"entry": state.store.get("entry"), "record": record}
        return Score(value=state.store.get("value"), explanation=result, metadata=told)

    return score
