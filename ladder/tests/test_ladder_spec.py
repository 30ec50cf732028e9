from pathlib import Path

import pytest

from arena.errors import SpecError
from arena_ladder.spec import load_ladder

GOOD = "game: tic-tac-toe\nagents: [random, greedy]\n"


def load(folder: Path, text: str) -> object:
    (folder / "course.yaml").write_text(text)
    return load_ladder(folder / "course.yaml")


def test_a_short_spec_of_a_ladder_has_the_documented_defaults(tmp_path: Path) -> None:
    (tmp_path / "course.yaml").write_text(GOOD)
    ladder = load_ladder(tmp_path / "course.yaml")
    assert ladder.anchor == "random"
    assert ladder.interval == 40
    assert ladder.authors is None
    assert ladder.submissions.model_dump() == {
        "authors": "open",
        "per_day": 10,
        "agents": 10,
        "keep": 2,
        "size_kb": 256,
        "kinds": ["python", "zip", "program"],
        "names": "ids",
        "packages": None,
        "install": None,
        "opens": None,
        "closes": None,
        "late": None,
    }
    assert ladder.spec.secret
    assert [seat.isolation for seat in ladder.spec.boards[0].seats] == ["sandbox", "sandbox"]
    assert ladder.spec.boards[0].positions.plies == 2
    assert ladder.store == Path("results/course.db")


def test_keys_of_a_spec_replace_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "class.txt").write_text("# the course\nada\n\nbob\nada\n")
    more = "seed: 7\nisolation: process\nanchor: greedy\nopenings: {plies: 1}\nuntil: {interval: 25.5}\n"
    (tmp_path / "course.yaml").write_text(GOOD + more + "submissions: {authors: class.txt, kinds: [python]}\n")
    ladder = load_ladder(tmp_path / "course.yaml")
    assert (ladder.anchor, ladder.interval, ladder.authors) == ("greedy", 25.5, ("ada", "bob"))
    assert (ladder.spec.seed, ladder.spec.secret, ladder.spec.boards[0].positions.plies) == (7, False, 1)


def test_games_with_chance_get_no_openings(tmp_path: Path) -> None:
    (tmp_path / "course.yaml").write_text("game: pig\nagents: [random, {agent: hold-at}]\n")
    assert load_ladder(tmp_path / "course.yaml").spec.boards[0].positions.plies == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "rounds: 3\n", r"course.yaml:3:1: rounds: a ladder chooses its matches itself"),
        (GOOD + "format: swiss\n", "format: a ladder chooses its matches itself"),
        (GOOD + "isolation: none\n", "isolation: the code of authors runs in its own process; expected sandbox"),
        (GOOD + "unti: {interval: 3}\n", "unti: unknown key; did you mean 'until'"),
        (GOOD + "until: {interval: -3}\n", r"course.yaml:3:\d+: until.interval: expected"),
        (GOOD + "until: {intervall: 3}\n", "until.intervall: unknown key; did you mean 'interval'"),
        (GOOD + "submissions: {per_day: none}\n", "submissions.per_day: expected"),
        (GOOD + "submissions: {kinds: [perl]}\n", "submissions.kinds"),
        (GOOD + "submissions: {authors: nobody.txt}\n", "nobody.txt cannot be read: No such file or directory"),
        (GOOD + "submissions: {closes: '2026-12-01T18:00'}\n", "submissions.closes: expected"),
        (
            GOOD + "submissions: {opens: 2026-12-02T18:00Z, closes: 2026-12-01T18:00Z}\n",
            "expected a time after `opens`",
        ),
        (GOOD + "submissions: {late: {until: 2026-12-01T18:00Z}}\n", "late: expected `until` to be later than `closes`"),
        (GOOD + "submissions: {names: pseudonyms}\n", "names: pseudonyms need a file of authors"),
        (GOOD + "requests: {open: 0}\n", "requests.open: expected"),
        (GOOD + "anchor: deep-blue\n", "anchor: no entry is called 'deep-blue'"),
        ("games: [pancake, nim]\nagents: [random, greedy]\n", "course.yaml:1:8: games: nim: a ladder is for two-player games"),
        ("game: '2048'\nagents: [random, greedy]\n", "2048: a ladder is for two-player games or for puzzles"),
        ("game: tic-tac-toe\nagents: [random]\n", "needs at least 2"),
        (
            "game: tic-tac-toe\nagents: [random, {agent: llm, url: 'http://127.0.0.1:1/v1', model: it}]\n",
            "course.yaml:2:9: agents: llm waits for an external service, but a sandbox has no network; add isolation: none",
        ),
        (
            "game: hearts\nagents: [random, pimc, ismcts, {agent: pimc, rollouts: 5}]\n",
            "hearts: a ladder is for two-player games",
        ),
    ],
)
def test_errors_name_the_line_and_the_reason(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        load(tmp_path, text)


def test_an_invalid_name_in_the_file_of_authors_is_refused(tmp_path: Path) -> None:
    (tmp_path / "class.txt").write_text("Ada Lovelace\nadmin\n")
    with pytest.raises(
        SpecError, match="'Ada Lovelace' is not a valid author name; expected 1 to 40 lowercase letters"
    ) as raised:
        load(tmp_path, GOOD + "submissions: {authors: class.txt}\n")
    assert "'admin' is not a valid author name" in str(raised.value)
