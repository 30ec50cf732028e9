"""Numbers that a submitted program reports cannot damage the pages of a ladder."""

import json
from pathlib import Path

import pytest

from tests.eventually import eventually
from tests.hostile.test_numbers import PROGRAM, check_text
from tests.ladder.hosting import HostedLadder


@pytest.mark.promise(hole="text", isolation=("process", "sandbox"))
def test_numbers_from_a_program_are_displayed_on_a_ladder(tmp_path: Path) -> None:
    """They are in the standings, the matches and the log of the program, which its author can read."""
    with HostedLadder(tmp_path) as ladder:
        (token,) = ladder.tokens("ada")
        key = ladder.submit(token, PROGRAM.encode(), "program", name="odd").body["id"]
        told = ladder.verdict(token, key)
        assert told["status"] == "playing", told
        found = eventually(
            lambda: [one for one in ladder.ask("/api/t/ladder/matches").body["matches"] if "ada/odd@1" in one["labels"]]
        )
        match = found[0]["id"]
        paths = [
            "/api/standings",
            "/api/live",
            "/api/agents/ada/odd@1",
            "/api/t/ladder/entry?name=ada/odd@1",
            f"/api/submissions/{key}/log",
        ]
        for path in [*paths, f"/api/t/ladder/match/{match}", f"/api/t/ladder/match/{match}/around", "/metrics"]:
            answer = ladder.ask(path, token)
            assert answer.status == 200, (path, answer)
            check_text(path, answer.body if isinstance(answer.body, str) else json.dumps(answer.body, ensure_ascii=False))
        assert "\\x1b[2J" in ladder.ask(f"/api/submissions/{key}/log", token).body["log"]
