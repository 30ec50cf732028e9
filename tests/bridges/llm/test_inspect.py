"""Test the tasks for Inspect with its mock model. Arena plays the same spec against a server for comparison."""

import gc
import json
from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import arena
from tests.bridges.llm.stub import Reply, first, move, serving
from tests.conftest import Missing

pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of Inspect and its libraries
Spec = Callable[..., Path]


@pytest.fixture(scope="module")
def tasks(missing: Missing) -> Any:
    """Return the module with the tasks, which takes long to import."""
    if find_spec("inspect_ai") is None:
        missing("inspect", "inspect_ai is not installed: pip install '.[inspect]'")
    (point,) = entry_points(group="inspect_ai", name="arena_bridges")
    return point.load()


@pytest.fixture
def spec(tmp_path: Path) -> Spec:
    """Return a function that writes a spec of tic-tac-toe with a model."""

    def write(url: str = "http://127.0.0.1:1/v1", *others: Any, **more: Any) -> Path:
        model = {"agent": "llm", "url": url, "model": "m", "label": "model"}
        values = {"game": "tic-tac-toe", "rounds": 2, "agents": [model, *(others or ["random"])], **more}
        (tmp_path / "s.yaml").write_text(json.dumps(values))
        return tmp_path / "s.yaml"

    return write


def make_mock(answers: Callable[[dict[str, Any]], Reply], name: str = "model") -> Any:
    """Return a model of Inspect that gives the answers of a server."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    def answer(messages: list[Any], tools: Any, choice: Any, config: Any) -> Any:
        asked = [{"role": one.role, "content": one.text} for one in messages]
        reply = answers({"messages": asked, "max_tokens": config.max_tokens, "temperature": config.temperature})
        output = ModelOutput.from_content("stub-1", reply.content or "", "max_tokens" if reply.finish == "length" else "stop")
        output.usage = ModelUsage(input_tokens=reply.usage[0], output_tokens=reply.usage[1], total_tokens=sum(reply.usage))
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def evaluate(task: Any, folder: Path, **more: Any) -> Any:
    """Evaluate a task, and return its log."""
    import inspect_ai

    (log,) = inspect_ai.eval(task, log_dir=str(folder / "logs"), display="none", **more)
    gc.collect()  # Inspect leaves streams open, and the collector warns about them
    return log


def test_inspect_plays_a_spec_as_arena_does(tasks: Any, spec: Spec, tmp_path: Path) -> None:
    """With equal answers, some of them bad, the records are equal. Inspect's log contains each request."""
    spoilt = [move("99"), Reply("{", finish="length")]

    def answers(request: dict[str, Any]) -> Reply:
        messages = request["messages"]
        assert (request["max_tokens"], request["temperature"]) == (1024, 0)
        place = len(messages[1]["content"]) % 3
        return spoilt[place] if place < 2 and len(messages) == 2 else first(request)

    with serving(answers) as stub:
        path = spec(stub.url, "random", "greedy", rounds=3)
        records = {record.id: record for record in arena.run(path).records if "model" in record.labels}
        asked = len(stub.requests)
    log = evaluate(tasks.arena_spec(str(path)), tmp_path, model=make_mock(answers))
    assert log.status == "success", log.error
    assert {sample.id for sample in log.samples} == records.keys()
    for sample in log.samples:
        record, (score,), expected = sample.store["record"], sample.scores.values(), records[str(sample.id)]
        assert [record["actions"], record["returns"]] == [list(expected.actions), list(expected.returns)]
        spent = [one["spent"] for one in record["decisions"] if "spent" in one]
        assert spent == [one.spent for one in expected.decisions if one.spent]
        assert score.value == {1.0: 1, 0.0: 0.5, -1.0: 0}[expected.returns[expected.labels.index("model")]]
        events = [event for event in sample.events if event.event == "model"]
        exchanges = [json.loads(text) for _, text in expected.transcript]
        assert [event.output.completion for event in events] == [one["answer"] for one in exchanges]
        kept = {f"attachment://{name}": text for name, text in sample.attachments.items()}  # the log stores long texts once
        assert [[kept.get(one.text, one.text) for one in event.input] for event in events] == [
            [message["content"] for message in one["messages"]] for one in exchanges
        ]
    assert sum(event.event == "model" for sample in log.samples for event in sample.events) == asked


def test_the_interval_treats_a_round_as_one_observation(tasks: Any, spec: Spec, tmp_path: Path) -> None:
    """Inspect's own interval with clusters gives the expected bounds."""
    from inspect_ai.scorer import SampleScore, Score, ci

    log = evaluate(tasks.arena_spec(str(spec(rounds=5, openings={"plies": 1}))), tmp_path, model=make_mock(first))
    (result,) = log.results.scores
    found = {name: metric.value for name, metric in result.metrics.items()}
    scores = [
        SampleScore(score=Score(value=sample.scores["match_result"].value), sample_metadata=sample.metadata)
        for sample in log.samples
    ]
    bounds = ci(cluster="round")(scores)
    assert 0 < found["mean"] < 1
    assert [found["low"], found["high"]] == pytest.approx([bounds["lower"], bounds["upper"]])
    assert found["model"] == found["mean"]


def test_two_models_play_a_match_through_model_roles(tasks: Any, spec: Spec, tmp_path: Path) -> None:
    """A model role plays for the entry with its label. The model under evaluation plays for the other entry."""
    last = {"agent": "llm", "url": "http://127.0.0.1:1/v1", "model": "m", "label": "rival"}

    def resign(_: dict[str, Any]) -> Reply:
        return Reply("I resign")

    log = evaluate(
        tasks.arena_spec(str(spec("http://127.0.0.1:1/v1", last))),
        tmp_path,
        model=make_mock(first),
        model_roles={"rival": make_mock(resign, "rival")},
    )
    assert log.status == "success", log.error
    assert {sample.scores["match_result"].value for sample in log.samples} == {1.0}
    assert {sample.store["entry"] for sample in log.samples} == {"model"}
    asked = {event.model for sample in log.samples for event in sample.events if event.event == "model"}
    assert asked == {"mockllm/model", "mockllm/rival"}


def test_a_match_task_is_found_by_its_name_and_takes_options(tasks: Any, tmp_path: Path) -> None:
    """A puzzle needs no opponent."""
    from inspect_ai._util.registry import registry_info

    name = registry_info(tasks.arena_match).name
    assert name in ("arena_match", "arena_bridges/arena_match")  # the second if arena is installed from a wheel
    options = {"game": "hex:size=3", "opponent": "greedy", "rounds": 2, "plies": 1, "options": "legal=hidden,retries=0"}
    log = evaluate(name, tmp_path, model=make_mock(lambda _: Reply("no move")), task_args=options)
    assert log.status == "success", log.error
    (asked, *_) = [event for event in log.samples[0].events if event.event == "model"]
    assert "Legal moves" not in asked.input[1].text
    assert [sample.scores["match_result"].value for sample in log.samples] == [0.0] * 4
    puzzle = evaluate(name, tmp_path, model=make_mock(first), task_args={"game": "n-queens:n=1", "rounds": 1})
    assert [sample.scores["match_result"].value for sample in puzzle.samples] == [1.0]


def test_a_failure_of_the_model_is_an_error_of_the_sample(tasks: Any, spec: Spec, tmp_path: Path) -> None:
    def fail(_: dict[str, Any]) -> Reply:
        raise ValueError("out of order")

    log = evaluate(tasks.arena_spec(str(spec())), tmp_path, model=make_mock(fail), fail_on_error=False)
    assert {"out of order" in sample.error.message for sample in log.samples} == {True}
    assert not any(sample.scores for sample in log.samples)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"format": "swiss", "rounds": 1}, "format swiss: its matches depend on results"),
        ({"isolation": "process"}, "use isolation: none"),
        ({"agents": ["random", "greedy"]}, "no match has an entry with the agent llm"),
    ],
)
def test_specs_that_inspect_cannot_play_are_refused(tasks: Any, spec: Spec, more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tasks.arena_spec(str(spec(**more)))
