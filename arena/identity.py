"""Who is who: canonical text, keys of positions and matches, and the random streams that follow from them.

A key is a hash of everything that makes a thing what it is, and of nothing else: never a place in a list, never Python's
own `hash`. So a match keeps its key, and with it its random streams, when agents are added, reordered or played elsewhere.
"""

import json
import random
from hashlib import blake2b
from typing import Any

KEY_BYTES = 16


def canonical(value: Any) -> str:
    """The one JSON text of a value: keys sorted, no spaces. What JSON cannot say stands as the name of its type."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_type_name)


def _type_name(value: object) -> str:
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def key(text: str) -> str:
    """The key of a canonical text: blake2b with 128 bits, as 32 hexadecimal digits."""
    return blake2b(text.encode(), digest_size=KEY_BYTES).hexdigest()


class Stream:
    """A random generator that is seeded from a text when it is first used, and not before."""

    __slots__ = ("_generator", "_purpose")

    def __init__(self, purpose: str) -> None:
        self._purpose = purpose
        self._generator: random.Random | None = None

    @property
    def drawn(self) -> bool:
        """Whether anybody has asked for the generator."""
        return self._generator is not None

    @property
    def rng(self) -> random.Random:
        """The generator; always the same object."""
        generator = self._generator
        if generator is None:
            seed = blake2b(self._purpose.encode(), digest_size=8).digest()
            generator = self._generator = random.Random(int.from_bytes(seed, "big"))
        return generator


def position_stream(position_key: str, use: str = "initial") -> Stream:
    """The stream from which a position is drawn, the same for everyone who meets it."""
    return Stream(f"{position_key}/{use}")


def seat_stream(match_id: str, seat: int) -> Stream:
    """The stream of one seat of one match."""
    return Stream(f"{match_id}/seat/{seat}")
