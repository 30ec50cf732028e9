"""Brings the page of `arena compare -o FILE` and the built-in panels."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from arena import hookimpl
from arena.api.results import Export
from arena.api.store import Store
from arena_web.api import Panel


@hookimpl
def arena_exports() -> list[Export]:
    """The page of comparisons. matplotlib is heavy, so it is imported when the page is checked or written."""

    def check(place: Path) -> None:
        from arena_web.report.drawing import require
        from arena_web.report.output_files import check_place

        require()
        check_place(place)

    def write(place: Path, store: Store, boards: Mapping[int, Mapping[str, Any]]) -> int:
        from arena_web.report.comparison_page import ComparedBoard, comparison_page
        from arena_web.report.evidence import findings
        from arena_web.report.output_files import write_output

        content = comparison_page(findings(store), [ComparedBoard(number, **board) for number, board in boards.items()])
        write_output(place, content)
        return len(content)

    return [Export("comparison-page", "comparison", ".html", write, check)]


@hookimpl
def arena_panels() -> list[Panel]:
    """The panels for the resources of a match and the rating curve of an entry."""

    def find_resources(store: Store, match: str) -> dict[str, Any]:
        from arena_web.panels import match_resources

        return match_resources(store, match)

    def find_curves(store: Store, label: str) -> list[dict[str, Any]] | None:
        from arena_web.entry_page import rating_curves

        return rating_curves(store, label)

    curve = Path(__file__).with_name("curve.js").read_text(encoding="utf-8")
    return [
        Panel("resources", "match", "Resources", find_resources, public=True),
        Panel("rating-curve", "agent", "Over the run", find_curves, curve),
    ]
