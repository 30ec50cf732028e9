"""A plugin that adds transcripts to a report: `arena report STORE -o FILE --plugin arena_web.report.transcripts`."""

from pathlib import Path

from arena import hookimpl
from arena_web.api import Panel
from arena_web.transcripts import all_transcripts


@hookimpl
def arena_panels() -> list[Panel]:
    """Return the panel with all transcripts."""
    script = (Path(__file__).parents[1] / "transcripts.js").read_text(encoding="utf-8")
    return [Panel("transcripts-of-all", "report", "Transcripts", all_transcripts, script)]
