"""A ratio in words: *1.5 times as long*, *the same time*, *2 times as fast*.

One template for every sentence, title and readout that says how many times. Near one
the ratio is *the same*; below one the sentence turns round and says the inverse.
"""

from __future__ import annotations

from .units import format_number

SAME = (0.95, 1.05)
LONG = "times as long|the same time|times as fast"


def in_times(ratio: float, words: str = LONG, digits: int = 2) -> str:
    """A ratio as a reader says it.

    - ``ratio``: above zero
    - ``words``: what stands behind a ratio above one, what instead of one near one, and
      what behind the inverse of one below, parted by ``|``
    - raises ``ValueError`` for a ratio that is not above zero, for words not three

    >>> in_times(1.5), in_times(1.04), in_times(0.5)
    ('1.5 times as long', 'the same time', '2 times as fast')
    """
    parts = words.split("|")
    if len(parts) != 3 or not ratio > 0:
        raise ValueError(f"in_times({ratio!r}, {words!r}): above zero, and three words")
    more, same, less = parts
    if SAME[0] <= ratio <= SAME[1]:
        return same
    shown = ratio if ratio > 1 else 1 / ratio
    return f"{format_number(shown, digits)} {more if ratio > 1 else less}"
