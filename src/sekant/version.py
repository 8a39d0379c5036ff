"""The version of Sekant."""

__version__ = "0.1.0"
