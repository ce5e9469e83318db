"""gpucost: accept a corpus before comparing its cost."""

__version__ = "0.1.0"
