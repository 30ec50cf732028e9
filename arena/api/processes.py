"""Processes: starting Python processes, ending a process with all its descendants, and interrupts by the user."""

from typing import TYPE_CHECKING

from arena.lazy import pass_on

if TYPE_CHECKING:
    from arena.processes.interrupts import abandoned as abandoned, user_interrupts as user_interrupts
    from arena.processes.process_tree import ProcessTree as ProcessTree
    from arena.processes.python_process import PythonProcess as PythonProcess
else:
    __getattr__, __dir__ = pass_on(__name__)
