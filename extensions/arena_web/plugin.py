"""Adds the page of `arena compare -o FILE` and the built-in panels."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena import hookimpl
from arena.api.results import Export
from arena_web.api import Panel

if TYPE_CHECKING:
    from arena.api.spec import PluginManager
    from arena.api.store import Store


@hookimpl
def arena_add_hookspecs(manager: "PluginManager") -> None:
    """Add the hooks for panels of pages and for feedback on a ladder."""
    manager.add_part_hook("arena_panels", "arena_web.api:Panel")
    manager.add_part_hook("arena_feedback", "arena_web.api:Feedback")


@hookimpl
def arena_exports() -> list[Export]:
    """Return the exports for the pages of comparisons. matplotlib is slow to import, so it is imported only when a page is
    checked or written.
    """

    def check(place: Path) -> None:
        from arena.api.cli import PAGE_FILE, check_place
        from arena_web.report.drawing import require

        require()
        check_place(place, PAGE_FILE)

    def write(place: Path, store: "Store", boards: Mapping[int, Mapping[str, Any]]) -> int:
        from arena.api.cli import write_output
        from arena_web.report.comparison_page import ComparedBoard, comparison_page
        from arena_web.report.evidence import findings

        content = comparison_page(findings(store), [ComparedBoard(number, **board) for number, board in boards.items()])
        write_output(place, content)
        return len(content)

    def write_domains(place: Path, store: "Store", content: Mapping[str, Any]) -> int:
        from arena.api.cli import write_output
        from arena_web.report.domains_page import domains_page
        from arena_web.report.evidence import findings

        page = domains_page(findings(store), **content)
        write_output(place, page)
        return len(page)

    return [
        Export("comparison-page", "comparison", ".html", write, check),
        Export("domains-page", "comparison", ".html", write_domains, check),
    ]


@hookimpl
def arena_panels() -> list[Panel]:
    """Return the panels for the resources of a match, the rating curve of an entry, transcripts, and all boards together."""

    def find_domains(store: "Store", _: None) -> list[dict[str, str]] | None:
        found: list[dict[str, str]] | None = import_module("arena_compare.across").summarise_store(store)
        return found

    def find_resources(store: "Store", match: str) -> dict[str, Any]:
        from arena_web.panels import match_resources

        return match_resources(store, match)

    def find_curves(store: "Store", label: str) -> list[dict[str, Any]] | None:
        from arena_web.entry_page import rating_curves

        return rating_curves(store, label)

    def find_transcript(store: "Store", match: str) -> dict[str, Any] | None:
        from arena_web.transcripts import match_transcript

        return match_transcript(store, match)

    def find_transcripts(store: "Store", label: str) -> dict[str, Any] | None:
        from arena_web.transcripts import entry_transcripts

        return entry_transcripts(store, label)

    transcripts = Path(__file__).with_name("transcripts.js").read_text(encoding="utf-8")
    curve = Path(__file__).with_name("curve.js").read_text(encoding="utf-8")
    return [
        Panel("resources", "match", "Resources", find_resources, public=True),
        Panel("rating-curve", "agent", "Over the run", find_curves, curve),
        Panel("transcript", "match", "Transcript", find_transcript, transcripts),
        Panel("domains", "report", "Over all boards", find_domains),
        Panel("transcripts", "agent", "Transcripts", find_transcripts, transcripts),
    ]
