"""The guides of the ladder are true: the commands of the page for teachers and the page for students run in order."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from arena.errors import ArenaError
from arena_isolation.sandbox import prove
from tests.docs.pages import FORKING, ROOT, File, steps
from tests.eventually import DEADLINE_SECONDS, eventually
from tests.fork_server import shared_server
from tests.ladder.hosting import HostedLadder

pytestmark = pytest.mark.process

PAGES = ROOT / "ladder" / "docs"
TEACHER, STUDENT = ((PAGES / name).read_text("utf-8") for name in ("ladder.md", "submitting.md"))
ADDRESS = "http://127.0.0.1:8765"
ELSEWHERE = ("pip ", "export ", "arena ladder course.yaml")
"""The beginnings of commands that the tests replace: they install, set the token, and start the ladder."""


def _commands(page: str) -> list[str]:
    return [line for block in re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE) for line in block.splitlines()]


@pytest.fixture(scope="module")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostedLadder]:
    """Host the ladder of the page for teachers, with the files of this page. Without a sandbox, agents run in processes."""
    folder = tmp_path_factory.mktemp("course")
    files = {step.name: step.text for step in steps(TEACHER) if isinstance(step, File)}
    (folder / "authors.txt").write_text(files["authors.txt"])
    spec = files["course.yaml"].replace("interval: 40", "interval: 400")  # it soon rests
    assert spec != files["course.yaml"]
    try:
        prove()
    except ArenaError:
        spec += "isolation: process\n"
    with HostedLadder(folder, spec) as hosted:
        yield hosted


def _run(ladder: HostedLadder, command: str, token: str = "") -> str:
    """Run a command of a page as its reader does, and return what it prints."""
    tools = ladder.folder / "bin"
    if not tools.exists():
        tools.mkdir()
        (tools / "arena").write_text(FORKING.format(python=sys.executable, number=shared_server().fileno()))
        (tools / "arena").chmod(0o755)
    surroundings = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "ARENA_TOKEN": token}
    done = subprocess.run(
        command.replace(ADDRESS, ladder.url),
        shell=True,
        cwd=ladder.folder,
        env=surroundings,
        pass_fds=[shared_server().fileno()],
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def test_the_commands_of_both_guides_work_from_start_to_end(ladder: HostedLadder) -> None:
    """The teacher's and the student's commands run in order, with exit code 0, and have the effects that the pages describe."""
    teacher = [line for line in _commands(TEACHER) if not line.startswith(ELSEWHERE)]
    student = [line for line in _commands(STUDENT) if not line.startswith(ELSEWHERE)]
    assert teacher[0].endswith("> tokens.txt")
    _run(ladder, teacher[0])
    tokens = dict(line.split() for line in (ladder.folder / "tokens.txt").read_text().splitlines())
    assert list(tokens) == ["ada", "bob"]
    printed = {line: _run(ladder, line, tokens["ada"]) for line in student}
    key = printed[f"arena submit my_agent.py --to {ADDRESS}"].strip()
    told = ladder.verdict(tokens["ada"], key)
    assert (told["status"], told["agent"]) == ("playing", "ada/my-agent@1"), told
    eventually(lambda: "ada/my-agent@1" in str(ladder.ask("/api/standings").body))
    watched = {line: _run(ladder, line) for line in teacher[1:]}
    said = {
        "backup monday.db": "monday.db contains all matches",
        "pause": "paused:",
        "resume": "resumed:",
        "withdraw ada/my-agent@1": "ada/my-agent@1 is withdrawn",
        "ban bob": "bob is banned:",
        "reveal": "the ladder ends",
    }
    for action, beginning in said.items():
        assert watched[f"arena ladder admin course.yaml {action}"].startswith(beginning)
    assert watched["arena ladder admin course.yaml tokens"] == "ada\nbob (banned)\n"
    assert " admin ban bob" in watched["arena ladder admin course.yaml audit"]
    assert ladder.ask(f"/api/submissions/{key}", tokens["ada"]).body["status"] == "withdrawn"
    assert ladder.ask("/api/submissions", tokens["bob"]).status == 403
    eventually(lambda: ladder.ask("/health").body["state"] == "over")


def test_the_pages_list_every_metric_and_every_status_of_a_submission(ladder: HostedLadder) -> None:
    """The teacher's page lists each metric. The student's table lists exactly the existing statuses."""
    metrics = set(re.findall(r"^# TYPE (\w+)", ladder.ask("/metrics").body, re.MULTILINE))
    assert metrics == set(re.findall(r"`(arena_ladder_\w+)", TEACHER))
    described = ladder.ask("/openapi.json").body
    answer = described["paths"]["/api/submissions/{id}"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    answer = described["components"]["schemas"][answer["$ref"].rpartition("/")[2]]
    assert re.findall(r"^\| `(\w+)` \|", STUDENT, re.MULTILINE) == answer["properties"]["status"]["enum"]


def test_the_student_page_lists_the_limits_of_the_check() -> None:
    from arena_isolation.agent_log import KEPT_BYTES
    from arena_isolation.archive import MAX_ZIP_FILES
    from arena_ladder.api import MAX_LOST_MATCHES
    from arena_ladder.contest import FAULTS_IN_ROW
    from arena_ladder.examination import MEMORY_MB
    from arena_ladder.judge import CALL_SECONDS, CHECK_SECONDS, CPU_SECONDS

    page = " ".join(STUDENT.split())
    assert f"{CPU_SECONDS:g} seconds of processor time and {CHECK_SECONDS:g} seconds in total" in page
    assert f"Each call may take {CALL_SECONDS:g} seconds. The check may use {MEMORY_MB} MiB" in page
    assert f"at most {MAX_ZIP_FILES} files" in page
    assert "latest " + {10: "ten"}[MAX_LOST_MATCHES] + " matches that it lost through its own fault" in page
    assert f"the last {KEPT_BYTES >> 10} KiB of output" in page
    assert {5: "five"}[FAULTS_IN_ROW] + " matches in a row" in page


def test_the_spec_page_lists_every_key_of_a_ladder_with_its_default() -> None:
    """The defaults are those of the model of the spec."""
    from arena_ladder.spec import DEFAULT_INTERVAL, LADDER_KEYS, REFUSED_KEYS, SubmissionKeys

    page = (PAGES / "ladder-spec.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", page, re.MULTILINE))
    assert {*SubmissionKeys.model_fields, *LADDER_KEYS} <= set(rows)
    assert rows["until"] == f"`{{interval: {DEFAULT_INTERVAL:g}}}`"
    keys = SubmissionKeys()  # type: ignore[call-arg]
    assert (rows["authors"], rows["per_day"], rows["keep"]) == (f"`{keys.authors}`", str(keys.per_day), str(keys.keep))
    assert all(f"`{key}`" in page for key in REFUSED_KEYS)
