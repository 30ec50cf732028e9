"""What rows are held against when they are read, so that a damaged one is never taken for a result.

Neither is a defence against somebody who writes into the file on purpose: he can write the hash, too.
"""

import marshal
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any
from zlib import crc32

DIGEST_BYTES = 16


def digest(cells: Sequence[Any]) -> bytes:
    """Return the hash of the cells of a record or a run: blake2b with 128 bits of the tuple as Python writes it in ASCII."""
    return blake2b(ascii(tuple(cells)).encode(), digest_size=DIGEST_BYTES).digest()


def checksum(*cells: Any) -> int:
    """Return the checksum of the cells of a row: CRC-32 of the tuple in version 2 of Python's marshal format.

    Of the formats at hand that tell 1 from 1.0 and from "1" this is the quickest, and boards check all their rows.
    """
    return crc32(marshal.dumps(cells, 2))
