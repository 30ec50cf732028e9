"""A bundle contains the documented files, and never private values."""

import json
import re
import socket
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from arena import run
from arena.api.spec import load_spec
from arena.api.store import Run, Store
from arena_bundle.bundle import bundle
from arena_bundle.verdict import Verdict
from tests.conftest import Arena, invoke_in
from tests.docs.pages import ROOT
from tests.extensions.bundle.conftest import PLUGIN, SPEC, call, pack, play, read, verdict_on

EMAIL, TOKEN, PERSON = "ada@uni-example.org", "sk-abcdefghijklmnopqrstuvwxyz0123", "lovelace"
FAULTY = PLUGIN.replace(
    "        return game.actions(state)[-1]",
    """        import os
        import socket

        key, host = os.environ["PLANTED_API_KEY"], socket.gethostname()
        raise ValueError(f"http://gpu7" f".example.org:80 refused {host} with {key} of ada" "@uni-example.org")""",
)


def test_a_bundle_contains_the_documented_files_and_equal_stores_give_equal_bytes(packed: Path, tmp_path: Path) -> None:
    """The test computes the hashes, and the boards come from the command `leaderboard` on the store itself."""
    files = read(packed)
    always = {"boards.json", "boards.txt", "CITATION.cff", "environment.json", "manifest.json", "records.jsonl", "run.json"}
    assert files.keys() == always | {"tournament/spec.json", "tournament/last.py"}
    manifest = json.loads(files["manifest.json"])
    assert (manifest["format"], manifest["version"]) == ("fairarena-bundle", 1)
    assert manifest["files"] == {name: sha256(files[name]).hexdigest() for name in files if name != "manifest.json"}
    assert files["tournament/last.py"].decode() == PLUGIN
    printed = invoke_in(packed.parent)("leaderboard", "cup.db").stdout
    assert files["boards.txt"].decode() == printed
    assert len(files["records.jsonl"].splitlines()) == 30
    again = tmp_path / "again.arena"
    assert call(bundle, packed.with_suffix(".db"), "-o", again, "--spec", packed.with_suffix(".yaml")) == 0
    assert again.read_bytes() == packed.read_bytes()


def test_a_link_at_the_name_of_the_temporary_file_is_not_followed(packed: Path, tmp_path: Path) -> None:
    """Another user may have put the link into the folder."""
    out, victim = tmp_path / "again.arena", tmp_path / "thesis.txt"
    victim.write_text("my thesis")
    (tmp_path / ".again.arena.part").symlink_to(victim)
    assert call(bundle, packed.with_suffix(".db"), "-o", out, "--without-code") == 0
    assert victim.read_text() == "my thesis"
    assert zipfile.is_zipfile(out)


def test_the_citation_has_the_required_fields(packed: Path) -> None:
    """CFF 1.2.0 requires cff-version, message, title and authors, and for a reference authors, title and type."""
    citation = yaml.safe_load(read(packed)["CITATION.cff"])
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert all({"authors", "title", "type"} <= one.keys() for one in citation["references"])
    assert not {"url", "repository", "repository-code", "contact"} & citation.keys()


def test_code_named_only_by_the_store_is_not_packed(packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the option that packs it."""
    out = tmp_path / "other.arena"
    assert call(bundle, packed.with_suffix(".db"), "-o", out) == 2
    assert "--plugin" in capsys.readouterr().out
    assert not out.exists()
    assert call(bundle, packed.with_suffix(".db"), "-o", out, "--without-code") == 0
    assert "tournament/last.py" not in read(out)


@pytest.mark.process
@pytest.mark.usefixtures("no_sandbox")
def test_a_bundle_without_code_contains_the_hashes_of_the_code(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hashes are the SHA-256 of the files."""
    out = tmp_path / "hashes.arena"
    words = ("-o", out, "--without-code", "--spec", packed.with_suffix(".yaml"))
    assert call(bundle, packed.with_suffix(".db"), *words) == 0
    assert json.loads(read(out)["manifest.json"])["left_out"] == {"tournament/last.py": sha256(PLUGIN.encode()).hexdigest()}
    code, verdict = verdict_on(out, capsys)
    assert code == 3
    assert "not replayed: the bundle does not contain code" in verdict["not_shown"]


def test_changed_code_is_not_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The matches could not be replayed with the changed code."""
    store = play(tmp_path)
    (tmp_path / "last.py").write_text(PLUGIN.replace("[-1]", "[0]"))
    assert call(bundle, store, "-o", tmp_path / "x.arena", "--spec", tmp_path / "cup.yaml") == 2
    assert "changed since the matches were played" in capsys.readouterr().out


def test_a_note_reports_matches_that_an_earlier_version_of_a_plugin_played(tmp_path: Path, invoke: Arena) -> None:
    """A replay with the current code cannot reproduce them. After they have been played again, there is no note."""
    play(tmp_path)
    (tmp_path / "last.py").write_text(PLUGIN.replace("[-1]", "[0]"))
    (tmp_path / "cup.yaml").write_text(SPEC.replace("rounds: 5", "rounds: 6"))
    for option, count in (("--accept-changed-plugins", 1), ("--fresh-for=last", 0)):
        played = invoke("run", "cup.yaml", "--store", "cup.db", "--workers", "1", option)
        assert played.returncode == 0, played.stderr
        packed = invoke("bundle", "cup.db", "-o", "cup.arena", "--spec", "cup.yaml")
        assert packed.returncode == 0, packed.stderr
        said = " ".join(packed.stderr.split())
        assert said.count("the matches were played with more than one version of last.py, and the bundle contains only") == count
        assert "note: the matches" not in invoke("bundle", "cup.db", "-o", "cup.arena", "--without-code").stderr


def test_the_spec_of_a_bundle_names_the_seed_and_the_files_that_were_used(tmp_path: Path) -> None:
    """`--seed` replaces the seed of the spec, and a link leads to the file of a plugin."""
    play(tmp_path)
    (tmp_path / "linked.py").symlink_to("last.py")
    (tmp_path / "cup.yaml").write_text(SPEC.replace("last.py", "linked.py"))
    (tmp_path / "cup.db").unlink()
    run(load_spec(tmp_path / "cup.yaml", seed=7), store=tmp_path / "cup.db")
    values = json.loads(read(pack(tmp_path / "cup.db"))["tournament/spec.json"])
    assert (values["seed"], values["plugins"]) == (7, ["last.py"])


def test_a_secret_seed_is_refused_until_it_is_revealed(tmp_path: Path, invoke: Arena) -> None:
    """The message does not show the seed either."""
    spec = load_spec({"game": "tic-tac-toe", "agents": ["random", "greedy"], "rounds": 2, "seed": "secret"})
    with Store.open(tmp_path / "cup.db", write=True) as store:
        store.begin(Run.of(spec))
    refused = invoke("bundle", "cup.db", "-o", "cup.arena")
    assert refused.returncode == 2
    assert "still secret" in refused.stderr
    assert str(spec.seed) not in refused.stderr + refused.stdout
    assert not (tmp_path / "cup.arena").exists()


def assert_absent(place: Path, *values: str) -> None:
    """Search every byte of a zip archive, packed and unpacked."""
    texts = [place.read_bytes(), *read(place).values()]
    for value in values:
        for text in texts:
            assert value.lower().encode() not in text.lower(), value


def test_private_values_in_error_messages_are_not_in_a_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent writes the values into its error messages. The records stay valid."""
    monkeypatch.setenv("PLANTED_API_KEY", "planted-secret-4711")
    monkeypatch.setattr(socket, "gethostname", lambda: "planted-host-7")
    (tmp_path / "faulty.py").write_text(FAULTY)
    store = play(tmp_path, SPEC.replace("last.py", "faulty.py").replace("random, ", ""))
    found = store.read_bytes()
    assert all(one in found for one in (b"planted-secret-4711", b"planted-host-7", b"gpu7.example.org", EMAIL.encode()))
    out = pack(store)
    assert_absent(out, "planted-secret-4711", EMAIL, "gpu7.example.org", "planted-host-7", str(tmp_path))
    assert b"[left out]" in read(out)["records.jsonl"]


def test_code_with_a_private_value_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A comment does not change the hash of code, so its author can remove the value afterwards."""
    store = play(tmp_path)
    for value in (EMAIL, TOKEN, "-----BEGIN OPENSSH PRIVATE KEY-----"):
        (tmp_path / "last.py").write_text(f"{PLUGIN}# {value}\n")
        capsys.readouterr()
        assert call(bundle, store, "-o", tmp_path / "x.arena", "--spec", tmp_path / "cup.yaml") == 2
        shown = "".join(capsys.readouterr())
        assert "tournament/last.py:19 contains" in shown
        assert value not in shown


def test_a_bundle_may_include_an_earlier_run_and_a_data_file(tmp_path: Path) -> None:
    """A store with two runs gives the leaderboards of the last one. --data adds a file that the code reads."""
    store = play(tmp_path)
    play(tmp_path, SPEC.replace("rounds: 5", "rounds: 6"))
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "w.txt").write_text("1 2 3\n")
    files = read(pack(store, "--data", tmp_path / "weights"))
    assert files["tournament/weights/w.txt"] == b"1 2 3\n"
    assert len(json.loads(files["run.json"])["runs"]) == 2
    assert len(files["records.jsonl"].splitlines()) == 36


def test_a_note_names_code_that_may_read_files_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only code that names `__file__` is named, and only if no data file is given."""
    (tmp_path / "book.txt").write_text("0")
    (tmp_path / "reads.py").write_text(f"{PLUGIN}\n\nBOOK = __file__.replace('reads.py', 'book.txt')\n")
    for plugin, words, noted in (("reads", (), True), ("reads", ("--data", tmp_path / "book.txt"), False), ("last", (), False)):
        store = play(tmp_path, f"game: tic-tac-toe\nplugins: [{plugin}.py]\nagents: [random, last]\nrounds: 1\n", plugin)
        capsys.readouterr()
        pack(store, *words)
        text = capsys.readouterr().err
        assert ("note: tournament/reads.py may read data files by `__file__`" in text) is noted


def test_the_archive_has_no_timestamps(packed: Path) -> None:
    """Every file has the earliest date that a zip archive allows."""
    with zipfile.ZipFile(packed) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert re.search(rb"20\d\d-", read(packed)["run.json"])


def test_the_manual_lists_the_keys_of_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scripts read them. A refused file has different keys from a verified one."""
    page = (ROOT / "docs" / "reference" / "bundle.md").read_text("utf-8")
    (table,) = re.findall(r"^\| key \| value \|\n(?:\|.*\n)+", page, re.MULTILINE)
    listed = {key for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)}
    (tmp_path / "x.arena").write_bytes(b"")
    refused = verdict_on(tmp_path / "x.arena", capsys)[1]
    assert refused.keys() == {"verdict", "bundle", "message"}
    assert listed == Verdict("x.arena").as_dict().keys() | refused.keys()
