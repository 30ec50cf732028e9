"""Ids, records, boards and exports are what they were; `make_golden.py` says when and how to regenerate the files here."""

import json
from contextlib import closing
from typing import Any

import pytest

from arena import load_plugins
from arena.schedule.runner import MatchRunner
from arena.spec import load_spec
from arena.store import Store
from tests.golden import make_golden
from tests.golden.make_golden import FOLDER, PRINTED

EVERY = 9
"""One in so many matches of the store is played again."""


def read_numbers(text: str) -> Any:
    return json.loads(text, parse_float=lambda digits: round(float(f"{float(digits):.12g}"), 9) + 0.0)


@pytest.mark.process
@pytest.mark.parametrize("name", PRINTED)
def test_output_for_a_stored_run_is_unchanged(name: str) -> None:
    """Text must be identical. Numbers in JSON are compared to twelve digits and nine places, because the last digits depend on
    the machine.
    """
    printed, golden = make_golden.printed(*PRINTED[name]), (FOLDER / name).read_text("utf-8")
    if name.endswith(".json"):
        assert read_numbers(printed) == read_numbers(golden)
    else:
        assert printed == golden


def test_match_ids_are_unchanged() -> None:
    """The schedules have more than 200 matches and use all games and agents of arena."""
    golden = json.loads((FOLDER / "ids.json").read_text("utf-8"))
    assert make_golden.schedule() == golden
    assert len(golden) >= 200
    sources = load_plugins(environ=False).sources
    own = {key[:2] for key, source in sources.items() if source.own and "builtin" in source.name and key[0] in ("game", "agent")}
    boards = load_spec(FOLDER / "ids.yaml").boards
    assert own == {("game", board.name) for board in boards} | {("agent", seat.agent) for board in boards for seat in board.seats}


def test_matches_are_replayed_with_unchanged_results() -> None:
    """Some matches of every board are played again from the spec."""
    spec = load_spec(FOLDER / "cup.yaml")
    with Store.open(FOLDER / "cup.db") as store:
        records = list(store.records(boards=True))
    assert {place.board for _, place in records[::EVERY] if place is not None} == {0, 1, 2}
    with closing(MatchRunner(spec)) as runner:
        for record, place in records[::EVERY]:
            assert place is not None
            assert runner.play(place).timeless() == record.timeless()
