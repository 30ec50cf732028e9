"""A cache of answers, which all stores of a user share. An entry uses it only with `cache: true`."""

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TypeVar

from arena.api.store import are_own, cache_folder, make_cache_folder
from arena_bridges.llm.apis import ModelAnswer, Question
from arena_bridges.llm.gate import Usage

LOCK_SECONDS = 60.0
"""The timeout for the lock of the file."""
_SCHEMA = "CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID"
Value = TypeVar("Value")


class AnswerCache:
    """The file of the cache. It is thread-safe, and several processes may use it.

    The key of an answer is everything that determines it: the address, the protocol, the headers and the whole question. Unless
    the temperature is 0, a question has a seed that depends on the match, the seat and the decision. So only a repetition of the
    same match finds its answers in the cache.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._lock = Lock()

    @staticmethod
    def make_key(url: str, api: str, headers: Mapping[str, str], question: Question) -> str:
        """Return the key of the answer to a question."""
        return sha256(json.dumps([url, api, headers, question], sort_keys=True).encode()).hexdigest()

    def get(self, key: str) -> ModelAnswer | None:
        """Return the answer with a key; None if there is none."""
        row = self._use(lambda opened: opened.execute("SELECT text FROM answer WHERE key = ?", (key,)).fetchone())
        if row is None:
            return None
        text, thoughts, truncated, usage, version = json.loads(row[0])
        return ModelAnswer(text, thoughts, truncated, Usage(*usage), version)

    def put(self, key: str, answer: ModelAnswer) -> None:
        """Keep an answer."""
        row = (key, json.dumps(answer))
        self._use(lambda opened: opened.execute("INSERT OR REPLACE INTO answer VALUES (?, ?)", row))

    def _use(self, call: Callable[[sqlite3.Connection], Value]) -> Value | None:
        """Call a function with the open file. Without a file that only the user can write, return None."""
        with self._lock:
            if not make_cache_folder(self._place.parent):
                return None
            if not self._place.exists():
                os.close(os.open(self._place, os.O_CREAT, 0o600))  # prompts may be private
            if not are_own([self._place]):
                return None
            with closing(sqlite3.connect(self._place, timeout=LOCK_SECONDS)) as opened, opened:
                opened.execute(_SCHEMA)
                return call(opened)


def open_cache() -> AnswerCache:
    """Return the cache of the user, in the folder that ARENA_CACHE names or in the usual one."""
    return _open_at(cache_folder() / "answers.db")


@cache
def _open_at(place: Path) -> AnswerCache:
    return AnswerCache(place)
