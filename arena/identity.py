"""Identities: canonical text, keys of positions and matches, and the random streams that follow from them.

A key is a hash of everything that defines a thing, and of nothing else: never a place in a list, never Python's
own `hash`. So a match keeps its key, and with it its random streams, when agents are added, reordered or played elsewhere.
"""

import json
import random
from _random import Random as Twister
from hashlib import blake2b
from typing import Any

KEY_BYTES = 16


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: keys sorted, no spaces. Types that JSON cannot express appear by name."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_type_name)


def _type_name(value: object) -> str:
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def key(text: str) -> str:
    """The key of a canonical text: blake2b with 128 bits, as 32 hexadecimal digits."""
    return blake2b(text.encode(), digest_size=KEY_BYTES).hexdigest()


class Stream(random.Random):
    """A random generator that is seeded when it is first used, and is an ordinary one from then on.

    Seeding takes longer than a whole small game, and most streams are never drawn from. On first use the object becomes a plain
    `random.Random`, so it costs nothing after that, and `is_used` returns whether it has been used. It holds a number and not the
    text behind it, so that one stream reveals nothing about the others.
    """

    gauss_next: float | None = None

    def __init__(self, seed: int | str) -> None:
        """Make a stream of a number, or of a text whose hash is the number."""
        self.first_seed = seed if isinstance(seed, int) else stream_seed(seed)  # no seeding here, and so no super().__init__()

    def random(self) -> float:
        """Return the next number in [0, 1)."""
        return _awake(self).random()

    def getrandbits(self, k: int, /) -> int:
        """Return the next k random bits."""
        return _awake(self).getrandbits(k)

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Seed anew, as `random.Random` does."""
        _awake(self).seed(a, version)

    def getstate(self) -> tuple[Any, ...]:
        """Return the state, as `random.Random` does."""
        return _awake(self).getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Set the state, as `random.Random` does."""
        _awake(self).setstate(state)

    def __reduce__(self) -> Any:
        return _awake(self).__reduce__()


def _awake(generator: random.Random) -> random.Random:
    """The generator as an ordinary one. A method that was bound before the first draw may ask for it again."""
    if isinstance(generator, Stream):
        seed = generator.first_seed
        generator.__class__ = random.Random  # type: ignore[assignment]
        generator.gauss_next = None
        Twister.seed(generator, seed)  # what `random.Random.seed` does with a whole number, without its questions
    return generator


def is_used(generator: random.Random) -> bool:
    """Return whether a stream has been used."""
    return not isinstance(generator, Stream)


def stream_seed(purpose: str) -> int:
    """Return the seed of the stream named by `purpose`: 64 bits of the hash of the text."""
    return int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "big")


def position_seed(position_key: str, use: str) -> int:
    """Return the seed of the stream of a position for one use, such as its start."""
    return stream_seed(f"{position_key}/{use}")


def seat_seed(match_id: str, seat: int) -> int:
    """Return the seed of the stream of one seat of one match."""
    return stream_seed(f"{match_id}/seat/{seat}")


def position_stream(position_key: str, use: str = "initial") -> Stream:
    """Return the stream from which a position is drawn, the same for all agents."""
    return Stream(position_seed(position_key, use))


def seat_stream(match_id: str, seat: int) -> Stream:
    """Return the stream of one seat of one match."""
    return Stream(seat_seed(match_id, seat))
