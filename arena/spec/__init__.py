"""Reads the spec of a tournament. The result is a list of boards that can be played, or a list of faults."""

from arena.spec.board import Board, Spec, make_seat
from arena.spec.document import Document
from arena.spec.resolve import json_schema, load_spec, reload_spec
from arena.spec.unlimited import limit_warnings

__all__ = ["Board", "Document", "Spec", "json_schema", "limit_warnings", "load_spec", "make_seat", "reload_spec"]
