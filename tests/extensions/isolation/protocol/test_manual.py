"""docs/reference/protocol.md is true: its transcripts are replayed from both sides, its tables tried row by row."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena import run
from arena.limits import MAX_TEXT_CHARACTERS, Limits
from arena.match.record import Record
from arena.spec import load_spec
from arena_isolation.agent_pool import MAX_IDLE_PROCESSES
from arena_isolation.agent_process import HELLO_SECONDS
from arena_isolation.agent_start import MAX_PROCESSES
from arena_isolation.protocol import MAX_ACTION_CHARACTERS, MAX_LINE_BYTES, MAX_PATH_CHARACTERS, MAX_STATE_CHARACTERS, VERSION
from arena_isolation.sandbox import SCRATCH_BYTES

PAGE = (Path(__file__).parents[4] / "docs" / "reference" / "protocol.md").read_text("utf-8")
SCRIPTED = Path(__file__).with_name("scripted.py")
TRANSCRIPTS = {
    name: (spec, text)
    for name, spec, text in re.findall(r"<!-- transcript: (\w+) -->\n```yaml\n(.*?)```\n.*?```text\n(.*?)```", PAGE, re.DOTALL)
}
BY_ARENA = ("game", "puzzle")
"""Transcripts in which the program is arena's own host."""
ENDINGS = re.findall(r"^\| `(.+?)`(?: \(.*\))? \| `([a-z-]+)` \|$", PAGE, re.MULTILINE)


def said(text: str, side: str) -> list[str]:
    """The lines of one side: `>` of arena, `<` of the program."""
    return [line[2:] for line in text.splitlines() if line.startswith(side)]


def without_versions(line: str) -> dict[str, Any]:
    """Return a message without the versions in a hello, and without `compiled`, which is for arena's own program alone."""
    message: dict[str, Any] = json.loads(line)
    left_out = ("arena", "name", "compiled") if message["type"] == "hello" else ("compiled", "settled")
    return {key: value for key, value in message.items() if key not in left_out}


def test_the_page_contains_all_parts_that_the_tests_use() -> None:
    """Otherwise, other tests could pass because they find nothing to check."""
    assert set(TRANSCRIPTS) == {"game", "puzzle", "stop"}
    assert len(ENDINGS) >= 15
    assert {ending for _, ending in ENDINGS} == {"illegal-action", "exception", "memory", "crash"}


@pytest.mark.process
@pytest.mark.parametrize("name", BY_ARENA)
def test_arenas_host_answers_as_in_the_transcript(name: str) -> None:
    """`python -m arena_isolation.agent_host` gets the requests in the page, and gives the answers in it."""
    text = TRANSCRIPTS[name][1]
    command = [sys.executable, "-m", "arena_isolation.agent_host"]
    requests = "\n".join([*said(text, ">"), '{"type":"quit"}']) + "\n"
    done = subprocess.run(command, input=requests, capture_output=True, text=True, check=True)
    assert list(map(without_versions, done.stdout.splitlines())) == list(map(without_versions, said(text, "<")))


@pytest.mark.process
@pytest.mark.parametrize("name", BY_ARENA)
def test_arena_sends_the_requests_of_the_transcript(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the answers of the page, arena sends the lines of the page. The record equals the record of an agent in arena's
    process.
    """
    spec, text = TRANSCRIPTS[name]
    script = tmp_path / "script"
    script.write_text(text)
    python = tmp_path / "python"
    said_by_script = shlex.join([sys.executable, str(SCRIPTED), str(script)])
    python.write_text(
        f'#!/bin/sh\ncase "$*" in *launch.py*) ;; *agent_host*) exec {said_by_script};; esac\n'
        f'exec {shlex.quote(sys.executable)} "$@"\n'
    )
    python.chmod(0o755)
    values = yaml.safe_load(spec)
    monkeypatch.setenv("ARENA_PLAIN", "1")  # else its own host is asked to load compiled code, where there is a compiler
    monkeypatch.setattr(sys, "executable", str(python))
    records = run(values).records
    monkeypatch.undo()
    assert Path(f"{script}.outcome").read_text() == "said"
    here = [{**entry, "isolation": "none"} if isinstance(entry, dict) else entry for entry in values["agents"]]
    assert [record.timeless() for record in records] == [record.timeless() for record in run({**values, "agents": here}).records]


@pytest.mark.process
def test_a_program_that_is_stopped_plays_its_last_report(tmp_path: Path, long_margin: None) -> None:
    """In the third transcript, `stop` arrives, `best` counts, and the fields of the report are recorded."""
    spec, text = TRANSCRIPTS["stop"]
    (tmp_path / "script").write_text(text)
    agent = tmp_path / "my_agent"
    agent.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, str(SCRIPTED), 'script'])}\n")
    agent.chmod(0o755)
    (tmp_path / "spec.yaml").write_text(spec)
    records = run(tmp_path / "spec.yaml").records
    assert (tmp_path / "script.outcome").read_text() == "said"
    for record, action in zip(records, ("3", "6"), strict=True):
        assert (record.termination, record.actions[-1], record.returns[record.labels.index("mine")]) == ("normal", action, 1.0)
        last = record.decisions[-1]
        assert (last.nodes, last.depth, last.value) == (41, 2, 0.9)
        assert last.seconds >= 0.2


def answering(folder: Path, answer: str) -> list[str]:
    """The command of a program that gives one answer, whatever it is asked to choose."""
    program = folder / "program.py"
    hello = json.dumps({"type": "hello", "protocol": VERSION, "can": ["choose"]})
    answers = {"hello": hello, "start": '{"type":"ready"}', "choose": answer}
    program.write_text(
        f"import json, sys\nfor line in sys.stdin:\n    print({answers!r}[json.loads(line)['type']], flush=True)\n"
    )
    return [sys.executable, "-I", "-S", str(program)]


def first(command: list[str], **more: Any) -> Record:
    """The record of the first match of a program, as x on the empty board."""
    agents = [{"agent": {"command": command}, "label": "mine"}, "random"]
    return run({"game": "tic-tac-toe", "agents": agents, "rounds": 1, **more}).records[0]


@pytest.mark.process
@pytest.mark.parametrize(("answer", "ending"), ENDINGS)
def test_errors_have_the_documented_consequences(answer: str, ending: str, tmp_path: Path) -> None:
    """Each row of the table is tested as an answer of a program to arena."""
    record = first(answering(tmp_path, answer))
    assert (record.termination, record.seat, record.returns) == (ending, 0, (-1.0, 1.0)), record.message


@pytest.mark.process
@pytest.mark.parametrize(("said", "kept"), [("1e301", 1e301), ("-1.7e308", -1.7e308), ("1" + 300 * "0", 1e300), ("0", 0.0)])
def test_a_value_may_be_any_finite_double(said: str, kept: float, tmp_path: Path) -> None:
    """It is recorded unchanged. Larger numbers have a row in the table of the page."""
    record = first(answering(tmp_path, f'{{"type":"action","action":"1","value":{said}}}'))
    assert record.termination == "illegal-action"  # its second action is the first again
    assert record.decisions[0].value == kept


@pytest.mark.process
def test_a_program_cannot_restart_the_measurement_of_its_time(tmp_path: Path) -> None:
    """Only arena's own host may announce that it loads compiled code, which is not counted."""
    for said in ('{"type":"again","loading":true}', '{"type":"again"}'):
        record = first(answering(tmp_path, said), limits={"seconds": 60})
        assert (record.termination, record.seat) == ("crash", 0)
        assert "expected an answer, got a message of type 'again'" in str(record.message)


@pytest.mark.process
def test_an_integer_above_the_range_of_doubles_is_a_crash(tmp_path: Path) -> None:
    """JSON does not limit integers, so a program can send one."""
    record = first(answering(tmp_path, f'{{"type":"action","action":"1","value":1{400 * "0"}}}'))
    assert (record.termination, record.seat) == ("crash", 0)
    assert "value: expected a finite number or null, got 1000" in str(record.message)


@pytest.mark.process
def test_the_shortest_agent_on_the_page_plays_a_match(tmp_path: Path) -> None:
    """The agent has fifteen lines."""
    (code,) = re.findall(r"<!-- file: my_agent.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    (tmp_path / "my_agent.py").write_text(code)
    command = [sys.executable, "-I", "-S", str(tmp_path / "my_agent.py")]
    agents = [{"agent": {"command": command}, "label": "mine"}, "random"]
    records = run({"game": "tic-tac-toe", "agents": agents, "rounds": 3}).records
    assert {record.termination for record in records} == {"normal"}
    for record in records:
        for ply in range(record.labels.index("mine"), len(record.actions), 2):
            assert record.actions[ply] == min(set("123456789") - set(record.actions[:ply]))
    done = subprocess.run(command, input='{"type":"hello","protocol":2}\n', capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["type"] == "hello"


def test_the_spec_of_the_page_is_valid(tmp_path: Path) -> None:
    """Every entry names an existing program, each in a different way."""
    spec = PAGE.partition("```yaml\n")[2].partition("```")[0].replace("[node,", f"[{sys.executable},")
    for name in ("my_agent.py", "javascript_agent.js", "c_agent"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "spec.yaml").write_text(spec)
    seats = load_spec(tmp_path / "spec.yaml").boards[0].seats
    assert [seat.isolation for seat in seats] == ["process", "process", "sandbox", "none"]
    assert seats[1].program is not None
    assert seats[1].program.options == {"depth": 4}


def test_every_key_of_the_transcripts_is_in_the_tables() -> None:
    """This covers each key of each message, in both directions."""
    tables = "\n".join(part for part in PAGE.split("\n\n") if part.startswith("|") or "Python host" in part)
    explained = set(re.findall(r"`(\w+)`", tables))
    messages = [json.loads(line) for _, text in TRANSCRIPTS.values() for side in "<>" for line in said(text, side)]
    keys = {key for message in messages for key in message} - {"type"}
    keys |= {key for message in messages for key in message.get("limits", ())}
    assert {message["type"] for message in messages} | keys <= explained


def test_the_numbers_of_the_page_agree_with_the_code() -> None:
    """The page names the limits of programs."""
    page = " ".join(PAGE.split())
    for text in (
        f"at most {MAX_LINE_BYTES >> 20} MiB",
        f"then has {Limits.MARGIN_SECONDS} s more to answer",
        f"has {HELLO_SECONDS:.0f} s from its start to its `hello`",
        f"`limits.start_seconds` ({Limits().start_seconds:.0f} s if",
        f"at most {MAX_ACTION_CHARACTERS:,} characters. The texts of a path have at most {MAX_PATH_CHARACTERS:,} characters",
        f"a state in an answer has at most {MAX_STATE_CHARACTERS:,} characters",
        f"may have {MAX_PROCESSES} processes",
        f"keeps up to {MAX_IDLE_PROCESSES} idle programs",
        f"up to {MAX_TEXT_CHARACTERS:,} characters",
        f"({SCRATCH_BYTES >> 20} MiB, deleted",
        f"describes version {VERSION},",
        f"are at most 10^{len(str(Limits.MAX_COUNT)) - 1}",
    ):
        assert text in page, text
