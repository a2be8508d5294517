"""Kernels as chapter 4 prints them: texts that a reader runs and breaks in the page.

`run` takes a text through the tile machine in plain Python, says what it asked of
memory, and whether its result is right; where it is not, which slip would give just
that.
"""

from stacklib.gpu import interpreter as tl

from .judge import run

__all__ = ["run", "tl"]
