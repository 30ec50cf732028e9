"""The results of checks as JSON, for grading programs. Each object that was checked gives one line."""

import json
from collections.abc import Iterable

import click

format_option = click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: a line with a JSON object for each thing that is checked, and for each board that is played.",
)
"""The option `--format` of the commands that check."""
STATUSES = {"ok": "ok", "FAILED": "failed", "-": "not checked"}
"""The word at the beginning of each line of a report, and the name of this status in JSON."""


def as_json_line(subject: str, source: str | None, lines: Iterable[str]) -> str:
    """Return the lines of a report as one JSON object: the subject, where it is defined, whether it passes, and all results.

    >>> as_json_line("agent mine", None, ["  ok      nim: plays"])
    '{"subject": "agent mine", "source": null, "passed": true, "results": [{"status": "ok", "text": "nim: plays"}]}'
    """
    results = []
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        text = "\n".join([part.strip() for part in rest.splitlines()])
        results.append({"status": STATUSES.get(word, word), "text": text})
    passed = all(one["status"] != "failed" for one in results)
    return json.dumps({"subject": subject, "source": source, "passed": passed, "results": results})
