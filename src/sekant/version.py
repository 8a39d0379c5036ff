"""The version of Sekant."""

__version__ = "0.2.0"
