"""Openings that differ: counts by the rules of the game, keys by their documented text, and stores from before."""

import json
import sqlite3
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import arena
from arena import Results
from arena.cli import cli
from arena.spec import load_spec
from arena.tournament.kept_openings import with_kept_openings

CUP: dict[str, Any] = {"game": "tic-tac-toe", "rounds": 40, "openings": {"plies": 2}, "agents": ["random", "greedy"]}
"""72 openings, so that 40 draws have some of them twice: the chance of none is 1 in 10 ** 7."""
ALL = 10**6


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


def test_no_round_has_the_opening_of_an_earlier_one() -> None:
    """As they are drawn some repeat; 40 rounds have 40 openings now, and those that were new have stayed as they were."""
    before, now = arena.run(cup(openings={"plies": 2, "repeats": ALL})), arena.run(CUP)
    drawn, kept = openings(before), openings(now)
    first = [number for number, text in enumerate(drawn) if text not in drawn[:number]]
    assert len(set(drawn)) == len(first) < 40 == len(set(kept))
    same = [number for number in range(40) if ids(before)[2 * number : 2 * number + 2] == ids(now)[2 * number : 2 * number + 2]]
    assert same == first
    assert [kept[number] for number in first] == [drawn[number] for number in first]


def test_every_opening_is_found_before_one_repeats() -> None:
    """Nine first moves: nine rounds have them all, and three rounds more repeat one each."""
    found = openings(arena.run(cup(rounds=12, openings={"plies": 1})))
    assert len(set(found[:9])) == len(set(found)) == 9


def test_the_number_of_repeats_is_said(tmp_path: Path) -> None:
    """By `arena validate` and by `arena run`, of a board that has not enough openings alone."""
    few, enough = tmp_path / "few.yaml", tmp_path / "enough.yaml"
    few.write_text(json.dumps(cup(rounds=12, openings={"plies": 1})))
    enough.write_text(json.dumps(CUP))
    told = "note: tic-tac-toe: 3 of 12 rounds repeat the opening of an earlier one; 1,000 draws found no other of 1 ply\n"
    assert told in CliRunner().invoke(cli, ["validate", str(few)], standalone_mode=False).stderr
    assert told in CliRunner().invoke(cli, ["run", str(few), "--no-store"], standalone_mode=False).stderr
    assert "note" not in CliRunner().invoke(cli, ["validate", str(enough)], standalone_mode=False).stderr


def test_the_key_of_a_position_says_how_often_it_was_drawn_anew() -> None:
    """The hash of its canonical text; without `redraw` where the first draw stands, as ever."""
    positions = load_spec(CUP).boards[0].positions
    anew = {number: positions.redraws.of(number) for number in range(40)}
    assert max(anew.values()) >= 1
    for number, redraw in anew.items():
        text = {"game": "tic-tac-toe", "openings": {"plies": 2}, "position": number, "seed": 0}
        text["parameters"] = {"rows": 3, "columns": 3, "in_a_row": 3}
        text |= {"redraw": redraw} if redraw else {}
        written = json.dumps(text, sort_keys=True, separators=(",", ":"))
        assert positions.key(number) == blake2b(written.encode(), digest_size=16).hexdigest()


def test_given_positions_have_openings_that_differ_too() -> None:
    """One position given eight times, from which eight moves lead."""
    spec = {key: value for key, value in CUP.items() if key != "rounds"} | {"positions": ["x../.../..."] * 8}
    assert len(set(openings(arena.run({**spec, "openings": {"plies": 1}})))) == 8


def test_more_rounds_and_more_workers_change_nothing() -> None:
    """The rounds that were there keep their matches, and two processes come to the same as one."""
    whole = arena.run(cup(rounds=50))
    assert ids(whole)[:80] == ids(arena.run(CUP))
    both = arena.run(cup(rounds=50), workers=2)
    assert [one.record.timeless() for one in both.played] == [one.record.timeless() for one in whole.played]


@pytest.mark.parametrize("plies", [{}, {"openings": None}])
def test_a_board_without_openings_draws_nothing(plies: dict[str, Any]) -> None:
    """Keys of positions follow from the numbers alone."""

    class Unwilling(arena.Game):
        """Gives no position."""

        name = "unwilling"

        def initial(self, rng: Any) -> Any:
            raise AssertionError

        to_move = actions = result = returns = initial  # type: ignore[assignment]

    from arena.match.match import Positions

    assert Positions(Unwilling(), "unwilling", {}, 0).key(1000) != Positions(Unwilling(), "unwilling", {}, 0).key(1001)


def earlier(path: Path, **keys: Any) -> list[str]:
    """Make a store as arena made it when openings were not drawn anew; the ids in it."""
    found = ids(arena.run(cup(openings={"plies": 2, "repeats": ALL}, **keys), store=path))
    with sqlite3.connect(path) as store:
        spec = json.loads(store.execute("SELECT spec FROM run").fetchone()[0])
        spec["values"]["openings"] = {"plies": 2}
        store.execute("UPDATE run SET spec = ?", (json.dumps(spec),))
    store.close()
    return found


def test_a_store_from_before_goes_on(tmp_path: Path) -> None:
    """What was played keeps its ids and is not played again; of ten rounds more none repeats another; once more, nothing is."""
    path = tmp_path / "cup.db"
    before = earlier(path)
    played: list[Any] = []
    arena.run(CUP, store=path, observe=played.append)
    assert played == []
    longer = arena.run(cup(rounds=50), store=path, observe=played.append)
    assert len(played) == 20
    assert ids(longer)[:80] == before
    found = openings(longer)
    assert len(set(found[40:]) - set(found[:40])) == 10
    assert ids(arena.run(cup(rounds=50), store=path, observe=played.append)) == ids(longer)
    assert len(played) == 20


def test_half_a_round_from_before_is_played_to_its_end_from_its_opening(tmp_path: Path) -> None:
    """One game of the last round that repeats another is there: the second one swaps the seats on that very position."""
    path = tmp_path / "cup.db"
    before = earlier(path)
    last = load_spec(CUP).boards[0].positions.redraws.redrawn(40)[-1]
    with sqlite3.connect(path) as store:
        for one in before[2 * last + 1 :]:
            (number,) = store.execute("SELECT number FROM record WHERE id = ?", (bytes.fromhex(one),)).fetchone()
            for table, column in (("place", "record"), ("detail", "record"), ("record", "number")):
                store.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
    store.close()
    again = arena.run(CUP, store=path)
    assert ids(again)[: 2 * last + 2] == before[: 2 * last + 2]


def test_another_seed_in_an_old_store_has_openings_that_differ(tmp_path: Path) -> None:
    """Rounds are kept because they are there, not because the store is old; and the first seed finds its own again."""
    path = tmp_path / "cup.db"
    before = earlier(path)
    assert len(set(openings(arena.run(cup(seed=1), store=path)))) == 40
    assert ids(arena.run(CUP, store=path)) == before
    assert with_kept_openings(load_spec(cup(seed=1)), path).boards[0].positions.repeats == 0


def test_a_match_of_a_round_drawn_anew_is_played_again_by_replay(tmp_path: Path) -> None:
    """From its own position, by the spec that the store keeps; of a store from before, from the old one."""
    for path in (tmp_path / "new.db", tmp_path / "old.db"):
        if path.stem == "old":
            earlier(path)
        results = arena.run(CUP, store=path)
        last = load_spec(CUP).boards[0].positions.redraws.redrawn(40)[-1]
        told = CliRunner().invoke(cli, ["replay", str(path), ids(results)[2 * last]], standalone_mode=False).output
        assert "the rules agree, and the agents have played the same again" in told
