"""Bridges to other libraries and programs: each is a separate plugin with its own extra."""
