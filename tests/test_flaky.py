"""Tests of the list of flaky tests, which must not grow."""

from pathlib import Path

from tests.flaky import FLAKY, MAX_FLAKY

ROOT = Path(__file__).parents[1]


def test_the_list_does_not_grow() -> None:
    assert len(FLAKY) == MAX_FLAKY


def test_every_flaky_test_exists_and_has_a_reason() -> None:
    for name, reason in FLAKY.items():
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / file).read_text("utf-8")
        assert reason
