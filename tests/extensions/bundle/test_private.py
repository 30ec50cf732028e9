"""Private values in files, file names and messages are found, and archives and links cannot lead out of their folder."""

import json
from pathlib import Path

import pytest

from arena_bundle.bundle import bundle
from arena_bundle.privacy import PLACES_IN_MESSAGES, Privacy, PrivateValue
from tests.extensions.bundle.conftest import SPEC, call, pack, play, read
from tests.extensions.bundle.test_bundle import EMAIL, TOKEN, assert_absent

SECRETS = [
    "github~_pat_11ABCDEFG0aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "gl~pat-abcdefghijklmnopqrst",
    "xo~xb-123456789012-abcdefghijkl",
    "AI~zaSyA-1234567890abcdefghijklmnopqrstuv",
    "sk_~live_abcdefghijklmnopqrstuvwx",
    "py~pi-AgEIcHlwaS5vcmcabcdefghijk",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    "Pu~TTY-User-Key-File-3: ssh-ed25519",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx",
]
"""These values have the forms that the services document, or are headers of private keys. The `~` prevents alarms of secret
scanners.
"""


@pytest.mark.parametrize("secret", SECRETS)
def test_api_keys_of_services_are_recognised(secret: str) -> None:
    """A truncated key, as in a tutorial, is not recognised as a key."""
    secret = secret.replace("~", "")
    with pytest.raises(PrivateValue, match=r"tournament/a\.txt:2 contains a key"):
        Privacy({}).check("tournament/a.txt", f"first\nx={secret}\n".encode())
    Privacy({}).check("tournament/a.txt", f"first\nx={secret[:9]}...\n".encode())


@pytest.mark.parametrize(
    "content",
    [
        f"caf\xe9 {EMAIL}".encode("latin-1"),
        b"\xff\xfe\0\1" + EMAIL.encode() + b"\xe9",
        b"\xff\xfe\0\1\xe9" + TOKEN.encode(),
        EMAIL.encode("utf-16"),
        f"key {TOKEN}".encode("utf-16"),
    ],
)
def test_files_in_other_encodings_are_searched(content: bytes) -> None:
    """The files are in Latin-1, in UTF-16, or binary."""
    with pytest.raises(PrivateValue):
        Privacy({}).check("tournament/w.bin", content)


def test_a_long_line_is_searched_in_linear_time() -> None:
    """A pattern with quadratic time would take hours."""
    Privacy({}).check("tournament/w.hex", b"0123456789abcdef" * (1 << 17))
    Privacy({}).check("tournament/w.txt", b"a.b-" * (1 << 17) + b"@" * (1 << 17))


@pytest.mark.parametrize("name", ["DB_PWD", "PROXY_AUTH", "GPG_PASSPHRASE", "MY_API_KEY"])
def test_values_of_secret_variables_are_found_inside_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory in the variable PWD is not a secret."""
    monkeypatch.setenv(name, 'planted-"secret-4711')
    monkeypatch.setenv("PWD", "/planted/folder")
    privacy = Privacy({})
    for text in ('keyplanted-"secret-4711x', r"{'planted-\"secret-4711\n'}"):
        with pytest.raises(PrivateValue, match="secret environment variable"):
            privacy.check("tournament/a.py", text.encode())
    privacy.check("tournament/a.py", b"/planted/folder")


@pytest.mark.parametrize(
    ("message", "private"),
    [
        ("cannot connect to gpu7.uni-example.org:8080", "gpu7"),
        ("HTTPConnectionPool(host='gpu7', port=80)", "gpu7"),
        ("no answer from gpu7:8080", "gpu7"),
        ("Failed to resolve 'gpu7.uni-example.org'", "gpu7"),
        ("connect 10.20.30.40:11434 refused", "10.20"),
        ("connect to 2001:db8::17 refused", "db8"),
        ("Bearer abcdefgh12345", "abcdefgh"),
        ("File /home/ada/.ssh/id", "ada"),
        (r"C:\Users\ada\x", "ada"),
    ],
)
def test_hosts_and_paths_in_messages_are_replaced(message: str, private: str) -> None:
    """The line of a file and the time of day stay."""
    texts = [message, "agent.py:12: expected 3.25 at 12:30:45, got numpy.linalg.LinAlgError"]
    for pattern in PLACES_IN_MESSAGES:
        texts = [pattern.sub(r"\1[left out]", text) for text in texts]
    assert private not in texts[0]
    assert "[left out]" not in texts[1]


def test_hidden_files_are_skipped_and_links_out_of_the_folder_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The output mentions both."""
    store, data = play(tmp_path, "game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n"), tmp_path / "data"
    (data / ".git").mkdir(parents=True)
    for name in (".env", ".git/config", "w.txt"):
        (data / name).write_text("1 2 3\n")
    names = read(pack(store, "--data", data)).keys()
    assert [name for name in names if "data" in name] == ["tournament/data/w.txt"]
    assert ".env, .git; if the code reads" in capsys.readouterr().err.replace("\n", " ")
    assert "tournament/data/.env" in read(pack(store, "--data", data / ".env"))
    out = tmp_path / "x.arena"
    (tmp_path / "outside.txt").write_text("planted")
    for target, said in (("../outside.txt", "outside"), ("..", "outside"), ("nothing", "not a regular file")):
        (data / "link.txt").symlink_to(target)
        assert call(bundle, store, "-o", out, "--data", data) == 2
        assert said in capsys.readouterr().out
        (data / "link.txt").unlink()
    assert not out.exists()


@pytest.mark.parametrize("words", [(), ("--without-code",)])
def test_a_file_name_with_a_private_value_is_refused(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Even with --without-code, the manifest would contain the name. The message does not repeat it."""
    store = play(tmp_path, "game: tic-tac-toe\nrounds: 1\nagents: [random, greedy]\n")
    (tmp_path / "data" / EMAIL).mkdir(parents=True)
    (tmp_path / "data" / EMAIL / "w.txt").write_text("1\n")
    assert call(bundle, store, "-o", tmp_path / "x.arena", "--data", tmp_path / "data", *words) == 2
    shown = capsys.readouterr().out
    assert "tournament/data/[left out]/w.txt: the name of this file contains an e-mail address" in shown
    assert "ada" not in shown


def test_a_bundle_without_code_hides_the_authors_folders(tmp_path: Path) -> None:
    """The spec names its plugin by an absolute path."""
    store = play(tmp_path, SPEC.replace("[last.py]", f"[{tmp_path}/last.py]"))
    out = tmp_path / "x.arena"
    assert call(bundle, store, "-o", out, "--without-code") == 0
    assert_absent(out, str(tmp_path))
    assert json.loads(read(out)["tournament/spec.json"])["plugins"] == ["last.py"]


def test_a_file_that_only_the_store_names_is_not_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store of a stranger may name any folder and any file in it. --spec and --data say that the user means the file."""
    (tmp_path / "keyed.py").write_text(
        "from typing import Annotated\n"
        "from arena import Agent, hookimpl\nfrom arena.api.games import SpecFile\n"
        "class Keyed(Agent):\n    name = 'keyed'\n"
        "    def __init__(self, *, table: SpecFile = '') -> None:\n        self.table = table\n"
        "    def choose(self, game, state, search):\n        return game.actions(state)[0]\n"
        "@hookimpl\ndef arena_agents():\n    return [Keyed]\n"
    )
    (tmp_path / "table.txt").write_text("planted\n")
    entries = "[random, {agent: keyed, table: table.txt}]"
    store = play(tmp_path, f"game: tic-tac-toe\nrounds: 1\nplugins: [keyed.py]\nagents: {entries}\n")
    out, plugin = tmp_path / "x.arena", ("--plugin", tmp_path / "keyed.py")
    capsys.readouterr()
    assert call(bundle, store, "-o", out, *plugin) == 2
    assert "only the store names these data files: table.txt; to pack them: arena bundle" in capsys.readouterr().out
    assert not out.exists()
    assert call(bundle, store, "-o", out, *plugin, "--without-code") == 0
    files = read(out)
    assert "tournament/table.txt" not in json.loads(files["manifest.json"])["left_out"]
    assert not any(b"planted" in content for content in files.values())
    for words in ((*plugin, "--data", tmp_path / "table.txt"), ("--spec", tmp_path / "cup.yaml")):
        assert call(bundle, store, "-o", out, *words) == 0
        assert read(out)["tournament/table.txt"] == b"planted\n"
