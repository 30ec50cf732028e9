"""Agents in separate processes: the protocol, the host processes, and the sandbox."""
