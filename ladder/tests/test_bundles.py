"""A bundle of a ladder contains no names of its people, and code only on request."""

import io
import json
import zipfile
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from arena.api.store import Store
from arena_bundle.bundle import bundle
from arena_bundle.privacy import LadderNames
from arena_ladder.tables import TABLES
from tests.conftest import arena_in
from tests.eventually import eventually
from tests.extensions.bundle.conftest import PLUGIN, call, play, read, rehash, verdict_on, write
from tests.extensions.bundle.test_bundle import EMAIL, PERSON, TOKEN, assert_absent
from tests.extensions.bundle.test_hostile import edit_record, reprint
from tests.ladder.hosting import SPEC, HostedLadder, agent


def make_ladder(folder: Path, spec: str = "ladder", house: str = "random") -> Path:
    """Return a store with the tables of a ladder: one submission with a name, and one with a pseudonym."""
    agents = f'[{house}, {{agent: greedy, label: "lovelace/lovelace-bot@1"}}, {{agent: random, label: "p-0123abcd/quick@2"}}]'
    store = play(folder, f"game: tic-tac-toe\nrounds: 3\nagents: {agents}\n", spec)
    with closing(Store.connect(store, "rw")) as connection:
        connection.executescript(TABLES)
        people = [(PERSON, "Ada King", EMAIL, "", PERSON), ("hopper", "Grace Hopper", "grace@uni-example.org", "", "p-0123abcd")]
        connection.executemany("INSERT INTO ladder_person VALUES (?, ?, ?, ?, ?)", people)
        connection.executemany("INSERT INTO ladder_author VALUES (?, ?, 0, NULL)", [(PERSON, TOKEN), ("hopper", "t")])
        connection.execute("INSERT INTO ladder_setting VALUES ('host token', 'planted-host-token')")
        rows = [("k1", PERSON, "lovelace-bot", 1, PLUGIN), ("k2", "p-0123abcd", "quick", 2, "print(1)\n")]
        for key, author, name, version, code in rows:
            connection.execute(
                "INSERT INTO ladder_submission (id, author, name, version, kind, file, digest, content, received, status) "
                "VALUES (?, ?, ?, ?, 'python', 'a.py', ?, ?, 0, 'playing')",
                (key, author, name, version, sha256(code.encode()).hexdigest(), code.encode()),
            )
    return store


def test_a_bundle_of_a_ladder_has_pseudonyms_and_hashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Existing pseudonyms are kept, and names are replaced by pseudonyms. The code is included only on request."""
    store = make_ladder(tmp_path)
    out = tmp_path / "ladder.arena"
    assert call(bundle, store, "-o", out) == 0
    assert_absent(out, PERSON, "Ada King", EMAIL, TOKEN, "Hopper", "planted-host-token", "uni-example")
    run_file = json.loads(read(out)["run.json"])
    assert run_file["submissions"] == {
        "author-1/agent-1@1": sha256(PLUGIN.encode()).hexdigest(),
        "p-0123abcd/quick@2": sha256(b"print(1)\n").hexdigest(),
    }
    assert set(run_file["boards"][0]["labels"]) == {"random", *run_file["submissions"]}
    assert not [name for name in read(out) if "submissions" in name]
    assert "`arena verify` cannot check which matches a ladder has played" in capsys.readouterr().err
    assert call(bundle, store, "-o", out, "--with-code") == 0
    assert read(out)["tournament/submissions/author-1/agent-1@1/agent.py"].decode() == PLUGIN


def change_values(record: dict[str, Any], new: dict[str, Any]) -> None:
    """Change values of a record."""
    record.update(new)


@pytest.mark.usefixtures("bubblewrap")
def test_the_matches_of_a_ladder_must_follow_the_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict also says what a bundle of a ladder can never show."""
    store = make_ladder(tmp_path)
    out = tmp_path / "ladder.arena"
    assert call(bundle, store, "-o", out) == 0
    code, verdict = verdict_on(out, capsys)
    assert (code, verdict["contradictions"]) == (3, [])
    assert any("the spec of a ladder does not determine it" in one for one in verdict["not_shown"])
    assert any("which submissions have these pseudonyms" in one for one in verdict["limits"])
    assert any("all records follow the rules of their games" in one for one in verdict["shown"])
    records = [json.loads(line) for line in read(out)["records.jsonl"].splitlines()]
    won = next(place for place, one in enumerate(records) if one["returns"][0])
    for number, (edit, expected) in enumerate(
        (
            ({"returns": records[won]["returns"][::-1]}, "but the rules give"),
            ({"actions": ["zz9"] * len(records[won]["actions"])}, "zz9"),
            ({"position": "xxx/ooo/xxx x"}, "position: recorded 'xxx/ooo/xxx x', but the spec gives"),
        )
    ):
        files = read(out)
        edit_record(files, partial(change_values, new=edit), won)
        (tmp_path / str(number)).mkdir()
        reprint(files, tmp_path / str(number))
        rehash(files)
        code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
        assert code == 1
        assert expected in verdict["contradictions"][0]


def test_copies_of_a_good_match_are_caught(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ladder plays each round once with the same seats. The copies have ids and numbers of their own."""
    store, out = make_ladder(tmp_path), tmp_path / "ladder.arena"
    assert call(bundle, store, "-o", out) == 0
    files = read(out)
    match = json.loads(files["records.jsonl"].splitlines()[0])
    for number in range(20):
        match["id"], match["places"][0][0] = f"{number:032x}", 1000 + number
        files["records.jsonl"] += json.dumps(match).encode() + b"\n"
    reprint(files, tmp_path)
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
    assert code == 1
    assert "and its seats belong to another match, too" in verdict["contradictions"][0]


def test_a_bundle_of_a_ladder_with_invented_ranks_is_caught(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ladders are ranked by ratings or scores, so ranks given by a format can only be invented."""
    store, out = make_ladder(tmp_path), tmp_path / "ladder.arena"
    assert call(bundle, store, "-o", out) == 0
    files = read(out)
    run_file = json.loads(files["run.json"])
    last = run_file["boards"][0]
    last.update(format="ladder", ranking={"columns": [], "criteria": "league points", "placings": None})
    files["run.json"] = json.dumps(run_file).encode()
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
    assert code == 1
    assert "a ladder has no ranking of its own" in verdict["contradictions"][0]


@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize(
    ("invented", "expected"),
    [
        ({}, None),
        ({"title": "chess"}, "title is"),
        ({"anchor": "p-0123abcd/quick@2"}, "anchor is"),
        ({"columns": ["rank", "agent"]}, "columns is"),
        ({"sort": "agent"}, "sort is"),
        ({"ranked_by": "score"}, "ranked_by is"),
    ],
)
def test_the_boards_of_a_ladder_must_follow_from_its_spec(
    invented: dict[str, Any], expected: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The spec names no anchor, so it is the first entry of the host. The limits are the word of the author."""
    store, out = make_ladder(tmp_path), tmp_path / "ladder.arena"
    assert call(bundle, store, "-o", out) == 0
    files = read(out)
    run_file = json.loads(files["run.json"])
    run_file["boards"][0].update(format="ladder", ranked_by="rating", anchor="random", exact=False, left=[])
    run_file["boards"][0].update({"limits": {"random": {"nodes": 5}}, **invented})
    files["run.json"] = json.dumps(run_file).encode()
    reprint(files, tmp_path)
    rehash(files)
    code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
    if expected is None:
        assert (code, verdict["contradictions"]) == (3, [])
        assert any("with which limits and isolation" in one for one in verdict["limits"])
    else:
        assert code == 1
        assert f"board 1 is not the board of the spec: {expected}" in verdict["contradictions"][0]


def test_replaced_code_of_a_submission_is_caught(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One submission is a file, and the other one an archive, which the bundle contains as it was handed in."""
    store, content = make_ladder(tmp_path), io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("agent.py", PLUGIN)
    digest = sha256(content.getvalue()).hexdigest()
    with closing(Store.connect(store, "rw")) as connection:
        question = "UPDATE ladder_submission SET kind = 'zip', content = ?, digest = ? WHERE id = 'k2'"
        connection.execute(question, [content.getvalue(), digest])
    out, names = tmp_path / "x.arena", ("author-1/agent-1@1/agent.py", "p-0123abcd/quick@2/agent.zip")
    assert call(bundle, store, "-o", out, "--with-code") == 0
    assert sha256(read(out)[f"tournament/submissions/{names[1]}"]).hexdigest() == digest
    for name in names:
        files = read(out)
        files[f"tournament/submissions/{name}"] = b"print(1)\n"
        rehash(files)
        code, verdict = verdict_on(write(tmp_path / "forged.arena", files), capsys)
        assert code == 1
        assert f"tournament/submissions/{name} is not the code that was submitted" in verdict["contradictions"][0]
    files = read(out)
    files["run.json"] = files["run.json"].replace(digest.encode(), b"0" * 64)
    rehash(files)
    assert verdict_on(write(tmp_path / "forged.arena", files), capsys)[0] == 1


@pytest.mark.parametrize("name", ["../../../../ESCAPED.txt", "/ESCAPED.txt"])
def test_a_submitted_archive_cannot_write_outside_its_folder(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The archive was put into the store without the checks of the ladder. The bundle contains only the other submission."""
    store, content = make_ladder(tmp_path), io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, "planted")
    with closing(Store.connect(store, "rw")) as connection:
        connection.execute("UPDATE ladder_submission SET kind = 'zip', content = ? WHERE id = 'k1'", [content.getvalue()])
    out = tmp_path / "x.arena"
    assert call(bundle, store, "-o", out, "--with-code") == 0
    assert "the code of author-1/agent-1@1 is left out" in capsys.readouterr().err
    assert [one for one in read(out) if "submissions" in one] == ["tournament/submissions/p-0123abcd/quick@2/agent.py"]


def test_an_author_cannot_prevent_a_bundle_of_the_ladder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A team named like an agent does not affect the bundle, and neither does an e-mail address that starts with a common
    word.
    """
    store, out = make_ladder(tmp_path), tmp_path / "x.arena"
    assert call(bundle, store, "-o", out, "--with-code") == 0
    before = {name: content for name, content in read(out).items() if name != "environment.json"}
    with closing(Store.connect(store, "rw")) as connection:
        person = ("kim", "Kim Example", "score@uni-example.org", "random", "p-11111111")
        connection.execute("INSERT INTO ladder_person VALUES (?, ?, ?, ?, ?)", person)
    assert call(bundle, store, "-o", out, "--with-code") == 0
    assert {name: content for name, content in read(out).items() if name != "environment.json"} == before
    with closing(Store.connect(store, "rw")) as connection:
        connection.execute("UPDATE ladder_submission SET content = ? WHERE id = 'k1'", [b"# by Ada King"])
        code = b"# score: better than lovelace"
        question = "UPDATE ladder_submission SET content = ?, digest = ? WHERE id = 'k2'"
        connection.execute(question, [code, sha256(code).hexdigest()])
    capsys.readouterr()
    assert call(bundle, store, "-o", out, "--with-code") == 0
    assert "the code of author-1/agent-1@1 is left out: it contains the name" in capsys.readouterr().err
    assert [one for one in read(out) if "submissions" in one] == ["tournament/submissions/p-0123abcd/quick@2/agent.py"]


@pytest.mark.usefixtures("bubblewrap")
def test_names_of_people_in_the_spec_of_a_ladder_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The names are in the label of an entry and in the name of the spec. The bundle stays valid."""
    store, out = make_ladder(tmp_path, "hopper", '{agent: random, label: "like lovelace"}'), tmp_path / "x.arena"
    assert call(bundle, store, "-o", out) == 0
    assert_absent(out, "hopper", "lovelace")
    assert set(json.loads(read(out)["run.json"])["boards"][0]["labels"]) == {
        "entry-1",
        "author-1/agent-1@1",
        "p-0123abcd/quick@2",
    }
    assert verdict_on(out, capsys)[0] == 3


@pytest.mark.process
def test_texts_and_code_of_a_ladder_with_names_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One author's code contains her own id, and the other author's code contains the full name of the first one."""
    store, out = make_ladder(tmp_path), tmp_path / "x.arena"
    with Store.open(store) as opened:
        names = LadderNames(opened)
        record = next(one for one, _ in opened.records())
    texts: Any = {"message": "by lovelace", "traceback": "by Ada", "timing": {"start": (0.1, None)}}
    cleaned = names.clean(record._replace(**texts))
    assert (cleaned.message, cleaned.traceback, cleaned.timing) == (None, None, None)
    with closing(Store.connect(store, "rw")) as connection:
        connection.execute("UPDATE ladder_submission SET content = ? WHERE id = 'k1'", [b"# by lovelace"])
        connection.execute("UPDATE ladder_submission SET content = ? WHERE id = 'k2'", [b"# better than Ada King"])
    assert call(bundle, store, "-o", out, "--with-code") == 0
    assert "author-1/agent-1@1 is left out" in (said := capsys.readouterr().err)
    assert "p-0123abcd/quick@2 is left out" in said
    assert not [one for one in read(out) if "submissions" in one]
    with closing(Store.connect(store, "rw")) as connection:  # this handle is not a pseudonym
        connection.execute("UPDATE ladder_person SET handle = 'countess' WHERE id = 'lovelace'")
        connection.execute("UPDATE ladder_submission SET author = 'countess' WHERE id = 'k1'")
    with Store.open(store) as opened:
        assert LadderNames(opened).labels["countess/lovelace-bot@1"] == "author-1/agent-1@1"


def test_a_plugin_of_a_ladder_has_the_same_name_in_all_runs(tmp_path: Path) -> None:
    """The second run has one more plugin, whose name comes first. The matches were played with one version of each plugin."""
    (tmp_path / "first.py").write_text(PLUGIN.replace("last", "first").replace("Last", "First"))
    store = play(tmp_path, "game: tic-tac-toe\nrounds: 1\nplugins: [last.py]\nagents: [random, last]\n")
    play(tmp_path, "game: tic-tac-toe\nrounds: 1\nplugins: [first.py, last.py]\nagents: [random, last, first]\n")
    with closing(Store.connect(store, "rw")) as connection:
        connection.executescript(TABLES)
    assert call(bundle, store, "-o", tmp_path / "x.arena") == 0
    files = read(tmp_path / "x.arena")
    names = [sorted(name for name in run["plugins"] if "plugin-" in name) for run in json.loads(files["run.json"])["runs"]]
    assert [len(one) for one in names] == [1, 2]
    assert set(names[0]) < set(names[1])
    assert b"more than one version" not in files["boards.txt"]


@pytest.mark.usefixtures("bubblewrap")
def test_a_ladder_is_packed_after_its_seed_is_revealed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bundle of a hosted ladder has a valid board. The name of the author is neither in it nor in the code."""
    arena, out = arena_in(tmp_path), tmp_path / "course.arena"
    with HostedLadder(tmp_path, SPEC.replace("seed: 5\n", "name: Course of lovelace\n")) as ladder:
        (token,) = ladder.tokens(PERSON)
        key = ladder.submit(token, agent()).body["id"]
        assert ladder.verdict(token, key)["status"] == "playing"
        eventually(lambda: "lovelace/mine@1" in str(ladder.ask("/api/t/ladder/matches").body))
        refused = arena("bundle", "results/course.db", "-o", out)
        assert refused.returncode == 2
        assert "`arena ladder admin SPEC reveal` ends the ladder for ever and reveals the seed" in refused.stderr
        assert ladder.admin("reveal").returncode == 0
        eventually(lambda: ladder.ask("/health").body["state"] == "over")
        assert ladder.end()[0] == 0
    for words in ((), ("--with-code",)):
        done = arena("bundle", "results/course.db", "-o", out, *words)
        assert done.returncode == 0, done.stderr
        assert_absent(out, PERSON, token)
        assert ("tournament/submissions/author-1/agent-1@1/agent.py" in read(out)) == bool(words)
        code, verdict = verdict_on(out, capsys)
        assert (code, verdict["contradictions"]) == (3, [])
        assert any("the spec of a ladder does not determine it" in one for one in verdict["not_shown"])
        assert any("all records follow the rules of their games" in one for one in verdict["shown"])
        assert any("every number of boards.json and boards.txt" in one for one in verdict["shown"])
