"""The version of arena."""

__version__ = "0.1.0"
