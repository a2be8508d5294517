"""Every computed number of the book, by name.

A chapter module registers a function; the text links to its name; the page
shows its derivation. A number that nobody registered cannot be written.

>>> from stacklib.evidence import numbers
>>> numbers.get("decode.t_mem").text        # doctest: +SKIP
'21.1 ms'
"""

from .registry import EVIDENCE, Number, UnknownNumber, all, get, number

__all__ = ["EVIDENCE", "Number", "UnknownNumber", "all", "get", "number"]
