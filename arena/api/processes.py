"""Processes: Python processes of arena, trees that end together, and interrupts by the user."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.processes.interrupts import abandoned as abandoned, user_interrupts as user_interrupts
    from arena.processes.process_tree import ProcessTree as ProcessTree, remove_leftovers as remove_leftovers
    from arena.processes.python_process import (
        import_path as import_path,
        python_environment as python_environment,
        signal_name as signal_name,
        take_pipes as take_pipes,
    )
else:
    __getattr__, __dir__ = pass_on(__name__)
