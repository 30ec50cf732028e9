"""Processes: Python processes of arena, trees that end together, and interrupts by the user."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.processes.interrupts import abandoned as abandoned
    from arena.processes.interrupts import user_interrupts as user_interrupts
    from arena.processes.process_tree import ProcessTree as ProcessTree
    from arena.processes.process_tree import remove_leftovers as remove_leftovers
    from arena.processes.python_process import import_path as import_path
    from arena.processes.python_process import python_environment as python_environment
    from arena.processes.python_process import signal_name as signal_name
    from arena.processes.python_process import take_pipes as take_pipes
else:
    __getattr__, __dir__ = pass_on(__name__)
