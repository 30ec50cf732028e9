"""The parts that reports and pages share: matches as frames, the boards that draw them, and the style sheet."""

from arena_web.views.bundle import STATIC, address_imports, board_script, bundle, panel_script, static_files
from arena_web.views.match_frames import Frame, MatchView, aim, depict, describe_game, text_view, view

__all__ = [
    "STATIC",
    "Frame",
    "MatchView",
    "address_imports",
    "aim",
    "board_script",
    "bundle",
    "depict",
    "describe_game",
    "panel_script",
    "static_files",
    "text_view",
    "view",
]
