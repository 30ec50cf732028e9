"""A spec, and the plugins that it names."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.parts import AgentSource as AgentSource
    from arena.parts import Part as Part
    from arena.plugins.contract import HOOKS as HOOKS
    from arena.plugins.contract import NAME as NAME
    from arena.plugins.contract import source_line as source_line
    from arena.plugins.dependencies import find_beside as find_beside
    from arena.plugins.dependencies import find_imported as find_imported
    from arena.plugins.dependencies import find_sources as find_sources
    from arena.plugins.dependencies import stands_alone as stands_alone
    from arena.plugins.members import read_member as read_member
    from arena.plugins.registry import Key as Key
    from arena.plugins.registry import Plugin as Plugin
    from arena.plugins.sources import ENVIRONMENT as ENVIRONMENT
    from arena.plugins.sources import is_file as is_file
    from arena.plugins.sources import list_asked as list_asked
    from arena.plugins.sources import make_absolute as make_absolute
    from arena.plugins.sources import module_name as module_name
    from arena.plugins.sources import put_in_place as put_in_place
    from arena.plugins.sources import resolve_place as resolve_place
    from arena.plugins.sources import survey as survey
    from arena.plugins.syntax import forget_below as forget_below
    from arena.plugins.syntax import parse_file as parse_file
    from arena.spec import load_spec as load_spec
    from arena.spec import make_seat as make_seat
    from arena.spec import reload_spec as reload_spec
    from arena.spec.board import Board as Board
    from arena.spec.boards import SHARED_DEALS as SHARED_DEALS
    from arena.spec.choices import Choices as Choices
    from arena.spec.choices import Fitted as Fitted
    from arena.spec.choices import validate_heuristic as validate_heuristic
    from arena.spec.document import Document as Document
    from arena.spec.document import is_database as is_database
    from arena.spec.document import parse_document as parse_document
    from arena.spec.document import read_document as read_document
    from arena.spec.games import Rules as Rules
    from arena.spec.labels import CodeLabel as CodeLabel
    from arena.spec.labels import format_setting as format_setting
    from arena.spec.model import Count as Count
    from arena.spec.model import SpecKeys as SpecKeys
    from arena.spec.named_code import list_named_code as list_named_code
    from arena.spec.parameters import Report as Report
    from arena.spec.parameters import check_value as check_value
    from arena.spec.parameters import drop_defaults as drop_defaults
    from arena.spec.parameters import explain_faults as explain_faults
    from arena.spec.parameters import make_adapter as make_adapter
    from arena.spec.parameters import make_adapters as make_adapters
    from arena.spec.parameters import make_plain as make_plain
    from arena.spec.parameters import make_refusal as make_refusal
    from arena.spec.parameters import validate_parameters as validate_parameters
    from arena.spec.reader import Faults as Faults
    from arena.spec.reader import SpecReader as SpecReader
    from arena.spec.reader import format_path as format_path
    from arena.spec.source import EntryAgent as EntryAgent
    from arena.spec.source import GivenEntry as GivenEntry
    from arena.spec.source import SoundAgent as SoundAgent
    from arena.spec.source import SourceReader as SourceReader
    from arena.spec.source import list_organisers as list_organisers
    from arena.spec.source import say_trusted as say_trusted
    from arena.spec.unlimited import describe_unlimited as describe_unlimited
    from arena.spec.unlimited import is_large as is_large
else:
    __getattr__, __dir__ = pass_on(__name__)
