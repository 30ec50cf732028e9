"""The verdict on a bundle: the facts that were shown, the contradictions, and the facts that could not be shown."""

import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from arena.api.errors import cut, escape_line
from arena.api.games import read_whole
from arena.api.store import Store

MAX_JSON_BYTES = 16 << 20
"""The largest file with a verdict, in bytes. It stands beside a store, which may come from a stranger."""
KEY_BYTES = 32
MAX_LISTED = 10
"""The maximum number of contradictions in the text."""
MAX_LINE_CHARACTERS = 1000


@dataclass
class Verdict:
    """The result of `arena verify`. Every entry of a list is a sentence."""

    bundle: str
    name: str = ""
    manifest: str = ""
    """The SHA-256 of the manifest. It identifies the whole bundle, because the manifest contains the hashes of all files."""
    shown: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    not_shown: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    """Facts that no bundle can show."""
    matches: int = 0
    replayed: int = 0
    equal: int = 0
    not_replayable: dict[str, int] = field(default_factory=dict)
    """For each reason why matches cannot be replayed, the number of these matches."""
    most_differing: int | None = None
    """At most this many of the records that can be replayed differ, with 95 % confidence; None if no bound was computed."""

    @property
    def word(self) -> Literal["verified", "contradicted", "incomplete"]:
        """The verdict in one word."""
        return "contradicted" if self.contradictions else "incomplete" if self.not_shown else "verified"

    @property
    def exit_code(self) -> int:
        """0 if everything was shown, 1 for a contradiction, 3 if something was not shown."""
        return {"verified": 0, "contradicted": 1, "incomplete": 3}[self.word]

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        return {"verdict": self.word, **asdict(self)}

    def text(self) -> str:
        """Return the verdict as text for a terminal."""
        headline = {
            "verified": "verified",
            "contradicted": "CONTRADICTED",
            "incomplete": "no contradiction was found, but not everything could be verified",
        }[self.word]
        lines = [f"{self.bundle}: {headline}", f"  SHA-256 of its manifest: {self.manifest}"]
        listed = self.contradictions[:MAX_LISTED]
        if len(self.contradictions) > MAX_LISTED:
            listed.append(f"and {len(self.contradictions) - MAX_LISTED:,} more")
        for title, sentences in (
            ("Contradictions", listed),
            ("Shown", self.shown),
            ("Not shown", self.not_shown),
            ("Notes", self.notes),
            ("No bundle shows", self.limits),
        ):
            if sentences:
                lines += ["", f"{title}:", *[f"* {cut(escape_line(one), MAX_LINE_CHARACTERS)}" for one in sentences]]
        return "\n".join(lines)


def sign_verdict(values: Mapping[str, Any]) -> str | None:
    """Return a code (HMAC-SHA256) that only this account can compute; None if its folder cannot be used.

    The key is made when it is needed first. Whoever gives away a store can write any verdict beside it, but not this code.
    """
    from platformdirs import user_data_path  # only when a verdict is written or shown

    file = user_data_path("arena") / "verdict.key"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
            made.write(secrets.token_bytes(KEY_BYTES))
        key = read_whole(file, KEY_BYTES)
    except (ValueError, OSError):
        return None
    plain = json.dumps({name: value for name, value in values.items() if name != "mac"}, sort_keys=True)
    return hmac.new(key, plain.encode(), sha256).hexdigest() if len(key) == KEY_BYTES else None


def verdict_file(store: Path) -> Path:
    """Return the path of the file with the verdict on the matches of a store: `cup.verdict.json` next to `cup.db`."""
    return store.with_name(f"{store.stem}.verdict.json")


def read_verdict(store: Path) -> dict[str, Any] | None:
    """Return the verdict on the matches of a store; None if there is none, or if the file cannot be read."""
    try:
        values = json.loads(read_whole(verdict_file(store), MAX_JSON_BYTES))
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def digest_store(store: Store) -> str:
    """Return a hash of the matches on the boards of a store, in the order of the schedule."""
    whole = sha256()
    question = "SELECT p.board, p.round, p.seats, r.digest FROM place p JOIN record r ON r.number = p.record ORDER BY p.number"
    for board, turn, seats, digest in store.query(question):
        whole.update(f"{board} {turn} {seats} {digest.hex()}\n".encode())
    return whole.hexdigest()
