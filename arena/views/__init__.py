"""What every view needs: a match as frames, boards that draw them, and the one style sheet."""

from arena.views.boards import STATIC, board_modules, static_files
from arena.views.bundle import bundle
from arena.views.frames import Frame, View, view

__all__ = ["STATIC", "Frame", "View", "board_modules", "bundle", "static_files", "view"]
