"""A refused submission leaves no files, and a check that was killed continues where it stopped."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.store import Store
from arena_ladder.code_folder import BadSubmission, CodeFolder
from arena_ladder.examination import examine
from arena_ladder.ledger import Ledger
from arena_ladder.spec import load_ladder
from arena_ladder.submission_check import SubmissionCheck
from tests.extensions.isolation.test_archive import packed
from tests.ladder.hosting import SPEC, agent


@pytest.mark.unit
@pytest.mark.promise(hole="leftovers", isolation="any")
def test_a_refused_zip_leaves_no_files(tmp_path: Path) -> None:
    """One name is too long for the file system, and another file was written before it."""
    with closing(Store.open(tmp_path / "a.db", write=True)), closing(Ledger(tmp_path / "a.db")) as ledger:
        content = packed({"agent.py": b"", "\N{OLD PERSIAN SIGN AURAMAZDAA}" * 100: b""})
        code = CodeFolder(ledger, 1 << 18)
        ledger.expect("ada")
        with pytest.raises(BadSubmission):
            code.lay_out(ledger.submit("ada", None, "zip", "it.zip", content, 10))
        assert [*code.path.iterdir()] == []


class Killed(Exception):
    """The ladder is killed."""


@pytest.mark.promise(hole="season", isolation="process")
def test_a_check_that_is_killed_repeatedly_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ladder is killed after the first step of a check, and again after two more. Each step is still done exactly once."""
    (tmp_path / "course.yaml").write_text(SPEC)
    ladder = load_ladder(tmp_path / "course.yaml")
    steps: list[str] = []
    whole = SubmissionCheck.ask_judge

    def ask_and_die(self: SubmissionCheck, request: Any, keep: Any) -> dict[str, Any]:
        def keep_and_die(step: Any) -> None:
            steps.append(step["check"])
            keep(step)
            if len(steps) in (1, 3):
                raise Killed

        return whole(self, request, keep_and_die)

    monkeypatch.setattr(SubmissionCheck, "ask_judge", ask_and_die)
    with closing(Store.open(tmp_path / "a.db", write=True)):
        for life in range(3):
            with closing(Ledger(tmp_path / "a.db")) as ledger:
                if not life:
                    ledger.expect("ada")
                    ledger.submit("ada", None, "python", "mine.py", agent(), 100)
                ledger.requeue()
                one = ledger.next_to_check()
                assert one is not None
                try:
                    passed = examine(ladder, CodeFolder(ledger, 1 << 18), one)
                except Killed:
                    continue
                break
        else:
            pytest.fail("the check never ended")
        assert [finding["check"] for finding in passed.findings] == steps == ["ready", "plays", "repeats", "limits"]
        with closing(Ledger(tmp_path / "a.db")) as ledger:
            ledger.accept(one.id, "mine", "mine", passed.findings, 2)
            assert ledger.setting(f"steps {one.id}") is None
