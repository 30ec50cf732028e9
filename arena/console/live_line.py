"""A line on a terminal that is written over again and again."""

from typing import IO

from arena.console.output import draws, room


class LiveLine:
    """One line of a terminal, cut to its width; nothing on a stream that is no terminal, nor if it is not `wanted`."""

    def __init__(self, stream: IO[str], *, wanted: bool = True) -> None:
        self._stream = stream
        self._there = False
        self.shown = wanted and draws(stream)
        """False if nothing is ever written."""

    def show(self, text: str) -> None:
        """Write `text` in place of what is there; erase it for an empty text."""
        if self.shown and (text or self._there):
            self._stream.write(f"\r\x1b[K{text[: (room(self._stream) or 80) - 1]}")
            self._stream.flush()
            self._there = bool(text)
