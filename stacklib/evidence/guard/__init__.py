"""Possibility guard: nothing shown beats its own roofline or uses more than all.

``plots.table`` and ``plots.figure`` register what they show; each output of a
notebook carries its entry, so that a test can walk every committed page.
"""

from .entries import MIME, RUN, cell, entry, of_run, register, row, shown
from .notebook import read_notebook, unregistered
from .owners import records, refuse_other
from .rules import faults

__all__ = [
    "MIME",
    "RUN",
    "cell",
    "entry",
    "faults",
    "of_run",
    "read_notebook",
    "records",
    "refuse_other",
    "register",
    "row",
    "shown",
    "unregistered",
]
