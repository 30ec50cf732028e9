"""Identities: canonical texts, keys for positions and matches, and the random streams that are derived from the keys.

A key is a hash of everything that defines a position or a match, and of nothing else. It never depends on a place in a list or on
Python's own `hash`. So a match keeps its key and its random streams if agents are added or reordered, and on any machine.
"""

import json
import random
from _random import Random as Twister
from hashlib import blake2b
from typing import Any

KEY_BYTES = 16


def canonical(value: Any) -> str:
    """Return the canonical JSON text of a value: sorted keys, no spaces, and type names for values that JSON does not have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_type_name)


def _type_name(value: object) -> str:
    kind = value if isinstance(value, type) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def key(text: str) -> str:
    """Return the key for a canonical text: its blake2b hash of 128 bits, as 32 hexadecimal digits."""
    return blake2b(text.encode(), digest_size=KEY_BYTES).hexdigest()


class Stream(random.Random):
    """A random generator that is seeded when it is first used, and becomes an ordinary generator then.

    Seeding takes longer than a whole small game, and most streams are never used. On first use, the object becomes an ordinary
    `random.Random`, so later calls are as fast as usual, and its class says that it has been used. The object holds a number
    and not the text from which the number was derived, so that one stream reveals nothing about the others.
    """

    gauss_next: float | None = None

    def __init__(self, seed: int | str) -> None:
        """Create a stream from a number, or from a text that is hashed to a number."""
        self.first_seed = seed if isinstance(seed, int) else stream_seed(seed)  # seeded later: no super().__init__()

    def random(self) -> float:
        """Return the next number in [0, 1)."""
        return _awake(self).random()

    def getrandbits(self, k: int, /) -> int:
        """Return the next k random bits."""
        return _awake(self).getrandbits(k)

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Seed the generator again, as `random.Random` does."""
        _awake(self).seed(a, version)

    def getstate(self) -> tuple[Any, ...]:
        """Return the state, as `random.Random` does."""
        return _awake(self).getstate()

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Set the state, as `random.Random` does."""
        _awake(self).setstate(state)

    def __reduce__(self) -> Any:
        return _awake(self).__reduce__()

    @classmethod
    def of_position(cls, position_key: str, use: str = "initial") -> "Stream":
        """Return the random stream for one `use` of a position, such as drawing its start. It is the same for all agents."""
        return cls(position_seed(position_key, use))

    @staticmethod
    def seed_of_seat(match_id: str, seat: int) -> int:
        """Return the seed for the stream of one seat in one match."""
        return stream_seed(f"{match_id}/seat/{seat}")


def _awake(generator: random.Random) -> random.Random:
    """Turn a stream into an ordinary generator and return it. Methods that were bound before may call this again later."""
    if isinstance(generator, Stream):
        seed = generator.first_seed
        generator.__class__ = random.Random  # type: ignore[assignment]
        generator.gauss_next = None
        Twister.seed(generator, seed)  # as `random.Random.seed` does for a whole number, but without its checks
    return generator


def stream_seed(purpose: str) -> int:
    """Return the seed for the stream that `purpose` names: 64 bits of the hash of the text."""
    return int.from_bytes(blake2b(purpose.encode(), digest_size=8).digest(), "big")


def position_seed(position_key: str, use: str) -> int:
    """Return the seed for the stream of a position and one use, such as its start."""
    return stream_seed(f"{position_key}/{use}")


def seat_stream(match_id: str, seat: int) -> Stream:
    """Return the stream of one seat in one match."""
    return Stream(Stream.seed_of_seat(match_id, seat))
