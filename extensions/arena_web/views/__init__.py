"""What reports and pages share: a match as frames, the boards that draw them, and the style sheet."""

from arena_web.views.bundle import STATIC, board_script, bundle, panel_script, served, static_files
from arena_web.views.match_frames import Frame, MatchView, depicted, described, text_view, view

__all__ = [
    "STATIC",
    "Frame",
    "MatchView",
    "board_script",
    "bundle",
    "depicted",
    "described",
    "panel_script",
    "served",
    "static_files",
    "text_view",
    "view",
]
