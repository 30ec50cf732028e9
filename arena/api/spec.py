"""A spec, and the plugins that it names."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.parts import AgentSource as AgentSource, Part as Part
    from arena.plugins.contract import HOOKS as HOOKS, NAME as NAME, source_line as source_line
    from arena.plugins.dependencies import (
        find_beside as find_beside,
        find_imported as find_imported,
        find_sources as find_sources,
        stands_alone as stands_alone,
    )
    from arena.plugins.members import read_member as read_member
    from arena.plugins.registry import Key as Key, Plugin as Plugin
    from arena.plugins.sources import (
        ENVIRONMENT as ENVIRONMENT,
        is_file as is_file,
        list_asked as list_asked,
        make_absolute as make_absolute,
        module_name as module_name,
        put_in_place as put_in_place,
        resolve_place as resolve_place,
        survey as survey,
    )
    from arena.plugins.syntax import forget_below as forget_below, parse_file as parse_file
    from arena.spec import load_spec as load_spec, make_seat as make_seat, reload_spec as reload_spec
    from arena.spec.board import Board as Board
    from arena.spec.boards import SHARED_DEALS as SHARED_DEALS
    from arena.spec.choices import Choices as Choices, Fitted as Fitted, validate_heuristic as validate_heuristic
    from arena.spec.document import (
        Document as Document,
        is_database as is_database,
        parse_document as parse_document,
        read_document as read_document,
    )
    from arena.spec.games import Rules as Rules
    from arena.spec.labels import CodeLabel as CodeLabel, format_setting as format_setting
    from arena.spec.model import Count as Count, SpecKeys as SpecKeys
    from arena.spec.named_code import list_named_code as list_named_code
    from arena.spec.parameters import (
        Report as Report,
        check_value as check_value,
        drop_defaults as drop_defaults,
        explain_faults as explain_faults,
        make_adapter as make_adapter,
        make_adapters as make_adapters,
        make_plain as make_plain,
        make_refusal as make_refusal,
        validate_parameters as validate_parameters,
    )
    from arena.spec.reader import Faults as Faults, SpecReader as SpecReader, format_path as format_path
    from arena.spec.source import (
        EntryAgent as EntryAgent,
        GivenEntry as GivenEntry,
        SoundAgent as SoundAgent,
        SourceReader as SourceReader,
        list_organisers as list_organisers,
        say_trusted as say_trusted,
    )
    from arena.spec.unlimited import describe_unlimited as describe_unlimited, is_large as is_large
else:
    __getattr__, __dir__ = pass_on(__name__)
