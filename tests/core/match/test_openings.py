"""Openings that differ: how many there are, and their keys."""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import Results
from arena.spec import load_spec
from tests.conftest import Arena

CUP: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 40, "openings": {"plies": 2}, "agents": ["random", "greedy"]}
"""72 openings, so that 40 draws have some of them twice: the chance of none is 1 in 10 ** 7."""


def cup(**keys: Any) -> dict[str, Any]:
    return {**CUP, **keys}


def openings(results: Results) -> list[str]:
    """The opening of every round, which both of its games share."""
    found: dict[int, set[str]] = {}
    for played in results.played:
        found.setdefault(played.pairing.round, set()).add(played.record.position)
    assert all(len(texts) == 1 for texts in found.values())
    return [found[number].pop() for number in sorted(found)]


def ids(results: Results) -> list[str]:
    return [played.record.id for played in results.played]


def test_all_rounds_have_different_openings() -> None:
    """There are 40 rounds. An opening is drawn again only if an earlier round has it."""
    positions = load_spec(CUP).boards[0].positions
    drawn, kept = [positions._drawn(number, 0).text for number in range(40)], openings(arena.run(CUP))
    first = [number for number, text in enumerate(drawn) if text not in kept[:number]]
    assert len(set(drawn)) < 40 == len(set(kept))
    assert [number for number in range(40) if positions.redraws.of(number) == 0] == first
    assert [kept[number] for number in first] == [drawn[number] for number in first]


def test_every_opening_is_found_before_one_repeats() -> None:
    """There are nine first moves. Nine rounds use all of them, and three more rounds repeat three."""
    found = openings(arena.run(cup(rounds=12, openings={"plies": 1})))
    assert len(set(found[:9])) == len(set(found)) == 9


def test_a_note_counts_the_repeated_openings(tmp_path: Path, invoke: Arena) -> None:
    few, enough = tmp_path / "few.yaml", tmp_path / "enough.yaml"
    few.write_text(json.dumps(cup(rounds=12, openings={"plies": 1})))
    enough.write_text(json.dumps(CUP))
    note = "note: tic-tac-toe: 3 of 12 rounds repeat the opening of an earlier round; "
    note += "1,000 more draws found no other opening of 1 ply\n"
    assert note in invoke("validate", few).stderr
    assert note in invoke("run", few, "--no-store").stderr
    assert "note" not in invoke("validate", enough).stderr


def test_the_key_of_a_position_contains_the_number_of_redraws() -> None:
    """Without redraws, `redraw` is missing."""
    positions = load_spec(CUP).boards[0].positions
    anew = {number: positions.redraws.of(number) for number in range(40)}
    assert max(anew.values()) >= 1
    for number, redraw in anew.items():
        text = {"game": "tic-tac-toe", "openings": {"plies": 2}, "parameters": {}, "position": number, "seed": 0}
        text |= {"redraw": redraw} if redraw else {}
        written = json.dumps(text, sort_keys=True, separators=(",", ":"))
        assert positions.key(number) == blake2b(written.encode(), digest_size=16).hexdigest()


def test_given_positions_have_different_openings_too() -> None:
    """One position is given eight times and has eight moves."""
    spec = {key: value for key, value in CUP.items() if key != "rounds"} | {"positions": ["x../.../..."] * 8}
    assert len(set(openings(arena.run({**spec, "openings": {"plies": 1}})))) == 8


@pytest.mark.process
def test_more_rounds_or_workers_change_no_opening() -> None:
    whole = arena.run(cup(rounds=44))
    assert ids(whole)[:80] == ids(arena.run(CUP))
    both = arena.run(cup(rounds=44), workers=2)
    assert [one.record.timeless() for one in both.played] == [one.record.timeless() for one in whole.played]


@pytest.mark.parametrize("plies", [{}, {"openings": None}])
def test_the_key_of_a_position_is_computed_without_drawing_it_if_there_are_no_openings(plies: dict[str, Any]) -> None:
    class Unwilling(arena.Game):
        """Gives no position."""

        name = "unwilling"

        def initial(self, rng: Any) -> Any:
            raise AssertionError

        to_move = actions = result = returns = initial  # type: ignore[assignment]

    from arena.match.match import Positions

    assert Positions(Unwilling(), "unwilling", {}, 0).key(1000) != Positions(Unwilling(), "unwilling", {}, 0).key(1001)


def test_a_match_from_a_redrawn_opening_can_be_replayed(tmp_path: Path, invoke: Arena) -> None:
    path = tmp_path / "cup.db"
    results, redraws = arena.run(CUP, store=path), load_spec(CUP).boards[0].positions.redraws
    last = max(number for number in range(40) if redraws.of(number))
    shown = invoke("replay", path, ids(results)[2 * last]).stdout
    assert "the record follows the rules, and the agents made the same decisions again" in shown


@pytest.mark.parametrize("plies", [0, 1])
def test_a_list_of_positions_starts_again_after_its_last_position(plies: int) -> None:
    """This happens on a ladder, which has no last round. A position that comes back has new random streams and, if there are
    plies, a new opening.
    """
    texts = ["x../.../...", "x../.o./...", "x../.../..."]
    keys = {"plies": plies} if plies else None
    board = load_spec(cup(rounds=None, positions=texts, openings=keys) | {"name": "again"}).boards[0]
    rounds = range(7)
    assert [board.positions.repetition(number) for number in rounds] == [0, 0, 1, 2, 1, 3, 4]
    found = [board.positions[number] for number in rounds]
    if plies:
        assert len({one.text for one in found}) == 7
    else:
        assert [one.text for one in found] == [texts[number % 3] for number in rounds]
