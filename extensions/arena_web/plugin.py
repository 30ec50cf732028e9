"""Brings the page of `arena compare -o FILE`."""

from collections.abc import Mapping
from pathlib import Path

from arena import hookimpl
from arena.api.results import Export
from arena.api.store import Store


def _check(place: Path) -> None:
    from arena_web.report.drawing import require  # matplotlib is heavy
    from arena_web.report.output_files import check_place

    require()
    check_place(place)


def _write(place: Path, store: Store, boards: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]]]) -> int:
    from arena_web.report.comparison_page import ComparedBoard, comparison_page
    from arena_web.report.evidence import findings
    from arena_web.report.output_files import write_output

    content = comparison_page(findings(store), [ComparedBoard(number, *board) for number, board in boards.items()])
    write_output(place, content)
    return len(content)


@hookimpl
def arena_exports() -> list[Export]:
    """The page of comparisons."""
    return [Export("comparison-page", "comparison", ".html", _write, _check)]
