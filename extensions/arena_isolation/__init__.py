"""Agents in processes of their own: the protocol, the hosts that start and end them, and the sandbox."""
