"""Writes the file `CITATION.cff` of a bundle: how to cite the results, and the software that made them."""

import json
from collections.abc import Sequence
from typing import Any

from arena.api.cli import distribution
from arena_bundle.layout import RECORDS, RunFile

SOFTWARE_AUTHORS = "The fairarena authors"
"""The authors of the software, as they are named in its licence."""


def write_citation(file: RunFile, authors: Sequence[str], records_digest: str) -> bytes:
    """Return the text of the file, in version 1.2.0 of the Citation File Format. Without `authors`, the author is anonymous."""
    last = file.runs[-1]
    values: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them and the software that made them.",
        "type": "dataset",
        "title": f"Results of the tournament {file.name}",
        "authors": [{"name": name} for name in authors or ["anonymous"]],
        "date-released": (last.ended or last.started)[:10],
        "identifiers": [
            {"type": "other", "value": f"sha256:{records_digest}", "description": f"The SHA-256 of {RECORDS} in the bundle"}
        ],
        "references": [
            {
                "type": "software",
                "title": distribution(),
                "version": last.versions.get("arena", ""),
                "license": "MIT",
                "authors": [{"name": SOFTWARE_AUTHORS}],
            }
        ],
    }
    lines = [f"{key}: {json.dumps(value)}\n" for key, value in values.items()]  # JSON is valid YAML, too
    return "".join(lines).encode()
