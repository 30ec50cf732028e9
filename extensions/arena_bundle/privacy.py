"""Keeps private values out of a bundle: e-mail addresses, keys, host names, and the names of people on a ladder."""

import builtins
import json
import keyword
import os
import platform
import re
import socket
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from arena import ArenaError, Record
from arena.api.store import Store
from arena_bundle.layout import OUTSIDE, SPEC, TOURNAMENT

AT_DOMAIN = r"@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[A-Za-z]{2,24}"
EMAIL = re.compile(rf"@(?<=[\w.+-]@){AT_DOMAIN[1:]}")
"""The `@` and the domain of an e-mail address. The pattern begins with `@`, because a search for a fixed character is fast."""
WHOLE_EMAIL = re.compile(rf"[\w.+-]{{1,64}}{AT_DOMAIN}")
BINARY_EMAIL = re.compile(r"@(?<=[\w.+-]{3}@)[A-Za-z0-9-]{3,63}(?:\.[A-Za-z0-9-]{2,63}){0,8}\.[a-z]{2,24}", re.ASCII)
"""An e-mail address in a binary file. Each part has at least three characters, because shorter ones occur by chance."""
KEY = re.compile(
    r"sk-(?<![\w-]sk-)[\w-]{20,}|gh[oprsu]_(?<![\w-]gh[oprsu]_)\w{20,}|github_pat_\w{20,}"
    r"|gl(?:pat|dt|rt|ptt|cbt|soat|ffct|imt|agent|oas|ft)-[\w-]{20,}|xox[abeprs]-(?<![\w-]xox[abeprs]-)[\w-]{10,}|xapp-\d-[\w-]{10,}|AIza(?<![\w-]AIza)[\w-]{30,}"
    r"|[rs]k_(?:live|test)_\w{16,}|whsec_\w{20,}|pypi-Ag[\w-]{16,}|npm_[A-Za-z0-9]{30,}|dckr_pat_[\w-]{20,}|ya29\.[\w-]{20,}"
    r"|hf_(?<![\w-]hf_)\w{20,}|gsk_(?<![\w-]gsk_)\w{20,}|nvapi-[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r"|A[KS]IA(?<![A-Za-z0-9]A[KS]IA)[A-Z0-9]{16}|eyJ[\w-]{8,2000}\.eyJ[\w.-]{8,}|AGE-SECRET-KEY-1[0-9A-Z]{20,}"
    r"|-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d",
    re.ASCII,
)
"""Keys of well-known services, and private keys in files."""
SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PWD|PASS|AUTH|PAT)$")
MIN_SECRET_CHARACTERS = 8
ADDRESS = re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://)(?:[^\s/@\"']{0,300}@)?(\[[^\]\s]{0,50}\]|[^\s/:\"'?#\\]{1,253})")
"""An address on a network, such as `http://host`. The groups of the pattern are `http://` and `host`."""
PLACES_IN_MESSAGES = (
    ADDRESS,
    re.compile(r"()\bBearer\s+\S{8,}"),
    re.compile(r"(\b(?:host|hostname|server|address|endpoint)\s{0,3}[=:]\s{0,3}['\"]?)[\w.:-]+", re.IGNORECASE),
    re.compile(r"()(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.])"),
    re.compile(r"()(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE),
    re.compile(r"()(?<![\w:])(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{0,4}(?![\w:])", re.IGNORECASE),
    re.compile(r"()(?<![\w.-])[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){1,8}(?<!\.py):\d{2,5}(?!\w)"),
    re.compile(r"()(?<![\w.-])[A-Za-z][\w-]{0,62}:\d{4,5}(?!\w)"),
    re.compile(
        r"()(?<![\w.-])(?:[A-Za-z0-9][\w-]{0,62}\.){1,8}(?:com|org|net|edu|gov|info|biz|io|ai|dev|app|cloud|xyz|local|internal"
        r"|intranet|lan|corp|at|au|be|br|ca|ch|cn|cz|de|dk|es|eu|fi|fr|gr|ie|il|it|jp|kr|nl|no|nz|pt|ru|se|uk|us)(?![\w-])"
    ),
    re.compile(r"((?:/home/|/Users/|\b[A-Za-z]:\\{1,2}Users\\{1,2}))[^/\\\s'\":]+"),
)
"""Hosts, network addresses, and home folders in the message of a record. A group of each pattern stays in the message."""
THIS_MACHINE = ("localhost", "127.0.0.1", "[::1]")
HIDDEN = "[left out]"
FREE_TEXT = re.compile(r"[\s/.@]")
PSEUDONYM = re.compile(r"(?:p|gone)-[0-9a-f]{8}")


class PrivateValue(ArenaError):
    """A file for a bundle holds a private value."""


class Privacy:
    """Refuses files with private values (`check`), and replaces private values in the spec, the boards and the records.

    `folder` is the folder of the spec. With `shortens_paths`, every absolute path in the spec is replaced by a short one, and
    otherwise only the paths in this folder and in the home folder.
    """

    def __init__(self, spec_values: Mapping[str, Any], folder: str = "", *, shortens_paths: bool = False) -> None:
        self._folder, self._shortens_paths = folder, shortens_paths
        hosts = {name for name in (socket.gethostname(), platform.node()) if name and name not in THIS_MACHINE}
        secrets = [value for name, value in os.environ.items() if SECRET_VARIABLE.search(name.upper())]
        self._everywhere = {
            "the host name of this machine": _pattern([name for name in hosts if not name.isalpha()]),
            "the value of a secret environment variable": _secrets_pattern(secrets),
            "a key of a service": KEY,
            "an e-mail address": EMAIL,
        }
        patterns = {**self._everywhere, "an e-mail address": WHOLE_EMAIL}
        self._in_messages = [*patterns.values(), _pattern([*hosts, folder, str(Path.home())])]
        found = dict.fromkeys([host for text in _texts(spec_values) for _, host in ADDRESS.findall(text)])
        self.hosts = {host: f"host-{number}.invalid" for number, host in enumerate(found, 1) if host not in THIS_MACHINE}
        """The hosts in the spec, each with the name that replaces it."""

    def check(self, name: str, content: bytes) -> None:
        """Raise PrivateValue if a file or its name holds a private value. The message does not repeat the value."""
        self.check_name(name)
        try:
            text, is_text = content.decode(), True
        except UnicodeDecodeError:
            text, is_text = content.decode("latin-1"), b"\0" not in content
        texts = [text] if b"\0" not in content else [text, text.replace("\0", "")]  # in UTF-16, every second byte is 0
        for what, pattern in self._everywhere.items():
            used = BINARY_EMAIL if pattern is EMAIL and not is_text else pattern
            for one in texts:
                if (match := used.search(one)) is not None:
                    line = one.count("\n", 0, match.start()) + 1
                    raise PrivateValue(f"{name}:{line} contains {what}, which a bundle must not contain; {_advice(name)}")

    def check_name(self, name: str) -> None:
        """Raise PrivateValue if the name of a file holds a private value. The message does not repeat the value."""
        for what, pattern in self._everywhere.items():
            if pattern.search(name) is not None:
                raise PrivateValue(
                    f"{self._hide(name)}: the name of this file contains {what}, which a bundle must not contain; rename the "
                    "file or "
                    "its folder"
                )

    def _hide(self, text: str) -> str:
        for pattern in self._in_messages:
            text = pattern.sub(HIDDEN, text)
        return text

    def rename_hosts(self, value: Any) -> Any:
        """Return a copy of plain values in which private paths, and the hosts that occur in the spec, are replaced."""
        if isinstance(value, str):
            value = self._shorten(value)
            for host, name in self.hosts.items():
                value = value.replace(host, name)
            return value
        if isinstance(value, Mapping):
            return {self.rename_hosts(key): self.rename_hosts(one) for key, one in value.items()}
        return [self.rename_hosts(one) for one in value] if isinstance(value, (list, tuple)) else value

    def _shorten(self, text: str) -> str:
        """Return a private path relative to the folder of the spec, or without its folders. Other texts stay."""
        path, home = PurePath(text), Path.home()
        if not path.is_absolute() or not path.name or "://" in text:
            return text
        if self._folder and path.is_relative_to(self._folder):
            return path.relative_to(self._folder).as_posix()
        return path.name if self._shortens_paths or (home.name and path.is_relative_to(home)) else text

    def clean(self, record: Record) -> Record:
        """Return a record without its traceback, and with private values replaced in its texts."""
        message = record.message
        if message is not None:
            message = self._hide(message)
            for pattern in PLACES_IN_MESSAGES:
                message = pattern.sub(rf"\1{HIDDEN}", message)
        labels = tuple(map(self.rename_hosts, record.labels))
        return record._replace(message=message, traceback=None, labels=labels)


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds each of these words, in upper or lower case. Without words, it finds nothing."""
    longest = sorted({word for word in words if word}, key=lambda word: (-len(word), word))
    return re.compile("|".join([rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest]) or r"(?!)", re.IGNORECASE)


def _secrets_pattern(values: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds each secret, also inside longer words and as JSON or an address writes it.

    A secret that consists of letters alone may be an ordinary word, so it is only found as a whole word.
    """
    long = {value.strip() for value in values if len(value.strip()) >= MIN_SECRET_CHARACTERS}
    written = {form for value in long for form in (value, json.dumps(value)[1:-1], quote(value, safe=""))}
    inside = [re.escape(form) for form in sorted(written, key=lambda form: (-len(form), form)) if not form.isalpha()]
    return re.compile("|".join([*inside, _pattern(filter(str.isalpha, written)).pattern]), re.IGNORECASE)


def _advice(name: str) -> str:
    """Return what the user can do about a private value in a file of the bundle."""
    if name.startswith((f"{TOURNAMENT}/", f"{OUTSIDE}/")) and name != SPEC:
        return (
            "remove it (comments and docstrings do not change the hash of code), or leave out the code and the data with "
            "--without-code"
        )
    return "remove it from the spec and the names of entries, and play the matches again"


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _texts(inner)


COMMON_WORDS = frozenset({*sys.stdlib_module_names, *keyword.kwlist, *dir(builtins)})
"""Words of Python. A person or a team may have such a name, so it stays in texts."""


class LadderNames:
    """The names in the store of a ladder: the names of its people, and a public label for each submission.

    `parts` are the names of games, agents and other parts. A person or team may have such a name, too, so it stays.
    """

    def __init__(self, store: Store, parts: Iterable[str] = ()) -> None:
        rows = store.query("SELECT id, name, email, team, handle FROM ladder_person")
        registered = [str(name) for (name,) in store.query("SELECT name FROM ladder_author")]
        common = {word.casefold() for word in (*COMMON_WORDS, *parts)}
        people: dict[str, set[str]] = {name: {name} for name in registered}
        own: set[str] = set()
        for key, name, email, team, handle in rows:
            names = {key, name, email, team, email.partition("@")[0]}
            people[key] = people.get(key, set()) | names
            people[handle] = people.get(handle, set()) | names
            if handle not in (key, team) and PSEUDONYM.fullmatch(handle):
                own.add(handle)
        telling = {
            author: {name for name in names - own if len(name) > 2 and name.casefold() not in common}
            for author, names in people.items()
        }
        self._private = _pattern(set().union(*telling.values()))
        self._full_names = {name for names in telling.values() for name in names if " " in name}
        self._telling = telling
        self.labels: dict[str, str] = {}
        """For the label of each submission, the public label that replaces it in the bundle."""
        self.digests: dict[str, str] = {}
        """The SHA-256 of each submission, by its label in the bundle."""
        self.keys: dict[str, str] = {}
        """The id of each submission, by its label in the bundle."""
        self._authors: dict[str, str] = {}
        authors: dict[str, str] = {}
        agents: dict[tuple[str, str], str] = {}
        question = "SELECT author, name, version, digest, id FROM ladder_submission WHERE version NOT NULL ORDER BY number"
        for author, name, version, digest, key in store.query(question):
            handle = author if author in own else authors.setdefault(author, f"author-{len(authors) + 1}")
            agent = name
            if author not in own or self._private.search(name):
                agent = agents.setdefault((author, name), f"agent-{len(agents) + 1}")
            label = self.labels[f"{author}/{name}@{version}"] = f"{handle}/{agent}@{version}"
            self.digests[label], self.keys[label], self._authors[label] = digest, key, author
        shown = [label for board in store.runs()[-1].boards for label in board.labels if label not in self.labels]
        for number, label in enumerate(dict.fromkeys([one for one in shown if self._private.search(one)]), 1):
            self.labels[label] = f"entry-{number}"
        self._known = re.compile(
            "|".join([rf"(?<!\w){re.escape(one)}(?!\w)" for one in sorted(self.labels, key=len)[::-1]]) or "(?!)"
        )

    @staticmethod
    def is_ladder(store: Store) -> bool:
        """Return whether a store belongs to a ladder."""
        return bool(list(store.query("SELECT 1 FROM sqlite_master WHERE name = 'ladder_submission'")))

    def rename(self, value: Any) -> Any:
        """Return plain values in which private labels are replaced, and names of people in free text are left out.

        A text of one word, such as the value of a setting, is not free text. The descriptions of columns come from plugins.
        """
        if isinstance(value, str):
            text = self._known.sub(lambda found: self.labels[found[0]], value)
            return self.hide(text) if FREE_TEXT.search(value) and value not in self.labels else text
        if isinstance(value, Mapping):
            return {self.labels.get(key, key): one if key == "column" else self.rename(one) for key, one in value.items()}
        return [self.rename(one) for one in value] if isinstance(value, (list, tuple)) else value

    def hide(self, text: str) -> str:
        """Return a text in which the names of people are replaced."""
        return self._private.sub(HIDDEN, text)

    def check(self, label: str, files: Mapping[str, bytes]) -> None:
        """Raise PrivateValue if the code of a submission contains a name of its author, or the full name of another
        person.
        """
        pattern = _pattern(self._full_names | self._telling.get(self._authors[label], set()))
        for name, content in files.items():
            if pattern.search(f"{name}\n{content.decode('latin-1')}\n{content.decode(errors='replace')}"):
                raise PrivateValue("it contains the name of a participant of the ladder")

    def clean(self, record: Record) -> Record:
        """Return a record with public labels and without the texts that agents have written."""
        return record._replace(labels=tuple(self.rename(record.labels)), message=None, traceback=None, timing=None)


def house_agents(agents: Iterable[Any], digests: Collection[str], labels: Mapping[str, str]) -> list[Any]:
    """Return the entries in the spec of a ladder that are not submissions. `digests` contains the labels of submissions."""
    return [one for one in agents if not (isinstance(one, dict) and labels.get(str(one.get("label"))) in digests)]
