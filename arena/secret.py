"""Seeds that cannot be guessed. Until a seed is revealed, the random numbers that depend on it cannot be predicted.

A secret is a text of 32 hexadecimal digits (128 bits), which is used for all rounds. If a run is extended after its secret was
revealed, another part is added, as in `DIGITS,20:DIGITS`. The second part is used from round 20 on, counted from 0.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from secrets import token_hex

SECRET = "secret"  # noqa: S105 - a word in specs, not a password
"""The value of `seed` in a spec that asks for a secret."""
Seed = int | str
"""A number, or a secret."""

_DIGITS = re.compile(r"[0-9a-f]{32}")


def is_digits(text: str) -> bool:
    """Return whether a text is a secret that covers all rounds."""
    return _DIGITS.fullmatch(text) is not None


def draw_secret() -> str:
    """Return a secret from the random generator of the operating system."""
    return token_hex(16)


def extend_secret(secret: str, first: int) -> str:
    """Return a secret with a new part for the rounds from `first` on."""
    return f"{secret},{first}:{draw_secret()}"


@lru_cache(64)
def split_secret(secret: str) -> tuple[tuple[int, str], ...]:
    """Return the first round and the digits of each part of a secret."""
    found = [part.rpartition(":") for part in secret.split(",")]
    return tuple([(int(first or 0), digits) for first, _, digits in found])


def seed_of_round(seed: Seed, number: int) -> Seed:
    """Return the seed for the position of a round: the number, or the digits of the part that contains the round."""
    return seed if isinstance(seed, int) else [digits for first, digits in split_secret(seed) if first <= number][-1]


def newest_digits(seed: Seed) -> Seed:
    """Return the digits of the last part of a secret. A number is returned unchanged."""
    return seed if isinstance(seed, int) else split_secret(seed)[-1][1]


def commitment(secret: str) -> str:
    """Return the hash of the newest digits of a secret. The hash proves later that the digits were chosen in advance. It is
    blake2b with 256 bits, computed from the 32 digits as ASCII and written as 64 hexadecimal digits.
    """
    return blake2b(split_secret(secret)[-1][1].encode(), digest_size=32).hexdigest()
