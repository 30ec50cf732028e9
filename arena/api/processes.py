"""Processes: starting Python processes, ending a process with all its descendants, and interrupts by the user."""

from arena.processes.interrupts import abandoned, user_interrupts
from arena.processes.process_tree import ProcessTree
from arena.processes.python_process import PythonProcess

__all__ = ["ProcessTree", "PythonProcess", "abandoned", "user_interrupts"]
