"""Number formats of a few bits, as rows of a table.

``Format("e4m3fn")`` encodes a number as hardware does, nearest with ties to even, and
decodes every code. One number needs the standard library only; arrays use NumPy.
"""

from __future__ import annotations

from .formats import FORMATS, Format, Row

__all__ = ["FORMATS", "Format", "Row"]
