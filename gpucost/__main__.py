"""`python -m gpucost`."""

from gpucost.cli import run

run()
