"""The nightly review: its start time, the feedback for authors, and access to it."""

import csv
import io
import json
import re
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from arena.errors import SpecError
from arena_ladder.feedback import find_night
from arena_ladder.spec import FeedbackKeys, load_ladder
from tests.eventually import eventually
from tests.extensions.review.test_feedback import ERRING, check_costly
from tests.ladder.hosting import SPEC, HostedLadder


@pytest.mark.parametrize(
    ("at", "after", "expected"),
    [
        ("02:00+01:00", "2026-11-26T00:59:59+00:00", "2026-11-26T02:00:00+01:00"),
        ("02:00+01:00", "2026-11-26T01:00:00+00:00", "2026-11-27T02:00:00+01:00"),
        ("23:30-08:00", "2026-12-31T23:00:00+00:00", "2026-12-31T23:30:00-08:00"),
        ("00:00Z", "2028-02-28T12:00:00+00:00", "2028-02-29T00:00:00+00:00"),
    ],
)
def test_a_review_starts_at_the_next_time_of_day_given_in_the_spec(at: str, after: str, expected: str) -> None:
    """The time of day is in the time zone of the spec. A review never starts twice at the same moment."""
    keys = FeedbackKeys.model_validate({"at": at})
    assert find_night(keys, datetime.fromisoformat(after).timestamp()) == datetime.fromisoformat(expected).timestamp()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "feedback: {at: '02:00'}",
            "feedback.at: expected another value (a time of day with a time zone, such as 02:00+01:00), got '02:00'",
        ),
        ("feedback: {seconds: 60}", "feedback.at"),
        ("feedback: {at: 12:30}", "a time of day with a time zone"),
        ("feedback: {at: 26:00Z}", "a time of day with a time zone"),
        ("feedback: {at: 02:00Z, seconds: 0}", "feedback.seconds"),
    ],
)
def test_an_error_in_the_key_feedback_is_reported(tmp_path: Path, line: str, said: str) -> None:
    """The message gives the expected value."""
    (tmp_path / "course.yaml").write_text(f"{SPEC}{line}\n")
    with pytest.raises(SpecError, match=re.escape(said)):
        load_ladder(tmp_path / "course.yaml")


@pytest.mark.process
def test_only_the_author_and_the_host_see_the_costliest_decisions(tmp_path: Path) -> None:
    """The team and the host read what the planted mistakes cost. No match is played during the review."""
    people = (
        "id,name,e-mail,team\n1,Ada Lovelace,ada@example.org,engines\n2,Bob,bob@example.org,engines\n3,Cyd,cyd@example.org,\n"
    )
    (tmp_path / "roster.csv").write_text(people)
    spec = SPEC.replace("{per_day: 1000}", "{authors: roster.csv, names: pseudonyms}")
    spec = spec.replace("interval: 200", "interval: 20")  # hundreds of matches are too few, so it does not rest
    with HostedLadder(tmp_path, f"{spec}openings: {{plies: 4}}\nfeedback: {{at: 02:00Z, seconds: 120}}\n") as ladder:
        ada, bob, cyd = [row["token"] for row in csv.DictReader(io.StringIO(ladder.admin("tokens", "--all").stdout))]
        host = ladder.admin("host-token").stdout.strip()
        key = ladder.submit(ada, ERRING.encode(), "erring.py").body["id"]
        assert ladder.verdict(ada, key)["status"] == "playing"
        eventually(lambda: [row["games"] for row in ladder.rows() if row["agent"].endswith("/erring@1") and row["games"] >= 16])
        assert ladder.ask(f"/api/submissions/{key}", ada).body["feedback"] is None
        assert ladder.admin("feedback").returncode == 0
        played = set()

        def is_reviewed() -> bool:
            health = ladder.ask("/health").body
            if health["state"] == "reviewing":
                played.add(health["matches"])
            return health["state"] != "reviewing" and ladder.ask("/api/submissions", bob).body["rows"][0]["feedback"] is not None

        eventually(is_reviewed)
        assert len(played) <= 1
        feedback = ladder.ask("/api/submissions", bob).body["rows"][0]["feedback"]
        assert ladder.ask(f"/api/submissions/{key}", ada).body["feedback"] == feedback
        assert len(feedback["costly"]) == 3
        check_costly(feedback["costly"])
        assert feedback["judged"] == feedback["decisions"] > 0
        assert ladder.ask(f"/api/submissions/{key}", cyd).status == 403
        assert ladder.ask("/api/submissions", cyd).body["rows"] == []
        assert ladder.ask(f"/api/host/submissions/{key}", host).body["feedback"] == feedback
        listed = {one["id"]: one["feedback"] for one in json.loads(ladder.admin("submissions", "--json").stdout)}
        assert listed[key] == feedback
        assert ladder.admin("submissions", "--zip", "all.zip").returncode == 0
        with zipfile.ZipFile(tmp_path / "all.zip") as archive:
            (name,) = [name for name in archive.namelist() if name.endswith(f"{key}/feedback.json")]
            assert json.loads(archive.read(name)) == feedback
        names = json.dumps(feedback)
        assert not [name for name in ("Ada", "Bob", "engines", "Cyd") if name in names]
