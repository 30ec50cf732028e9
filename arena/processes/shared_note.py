"""A note that one process writes and another reads, also when the writer has ended without a word."""

import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

VARIABLE = "ARENA_SHARED_NOTE"
"""The environment variable that tells a child process the descriptor of the note."""


class SharedNote:
    """A JSON object in a file without a name, which a child process inherits; the last one written is read."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def new(cls) -> "SharedNote":
        """A note for a child process."""
        with tempfile.TemporaryFile() as file:
            return cls(os.dup(file.fileno()))

    @classmethod
    def inherited(cls) -> "SharedNote | None":
        """The note that the parent process has made for this one; None if there is none. Its own children do not get it."""
        descriptor = os.environ.pop(VARIABLE, "")
        return cls(int(descriptor)) if descriptor else None

    def write(self, values: Mapping[str, Any]) -> None:
        """Replace what is there."""
        os.pwrite(self.descriptor, json.dumps(values).encode() + b"\n", 0)

    def read(self) -> dict[str, Any]:
        """Return what was written last; an empty dictionary if that is nothing."""
        text, _, _ = os.pread(self.descriptor, os.fstat(self.descriptor).st_size, 0).partition(b"\n")
        return dict(json.loads(text)) if text else {}

    def close(self) -> None:
        """Let go of it."""
        os.close(self.descriptor)
