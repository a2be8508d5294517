"""Steps of the book's own models on this machine, by their account."""

from __future__ import annotations

from functools import lru_cache

from stacklib.quantity.bounds import at_least

from ..token import host
from ..token.account import account
from ..token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from ..token.work import LAUNCHES
from .steps import READ, Work, nanoseconds


@lru_cache(maxsize=4096)
def _lines(name: str, tokens: int, past: int) -> dict[str, float]:
    """Seconds by line: of a prompt, or of one token after so many."""
    prompt = tokens if tokens > 1 else None
    found = account(name, "this-machine", context=past or None, prompt=prompt).lines
    return {line.name: float(line.time.si) for line in found if line.time is not None}


class Here:
    """NumPy's steps: calls once a step, products by its tokens, attention by request.

    - ``name``: of the model
    - ``gap``: seconds of the host in each step; the account leaves them out
    """

    steady = True

    def __init__(self, name: str, gap: float | None = None) -> None:
        self.name, self.gap = name, gap or 0.0
        at_least(0, gap=self.gap)
        self.most = host.longest(name)

    def decode(self, decodes: int, context: int) -> tuple[int, int]:
        """As of `Law`."""
        full = -(-context // (READ * decodes)) or 1
        left = (READ * decodes * full - context) // decodes + 1
        return nanoseconds(self._rows(decodes) + self._cache(decodes, full)), left

    def mixed(self, work: Work) -> int:
        """As of `Law`."""
        seconds = self._rows(work.rows)
        if work.decodes:
            full = -(-work.context // (READ * work.decodes)) or 1
            seconds += self._cache(work.decodes, full)
        for start, end in work.pieces:
            seconds += self._prompt(end) - self._prompt(start)
        return nanoseconds(seconds)

    def _rows(self, rows: int) -> float:
        """Products and calls of so many tokens."""
        asked = min(rows, self.most)
        found = _lines(self.name, asked, 0 if asked > 1 else 1)
        products = sum(found.get(line, 0.0) for line in (PRODUCTS, HEAD, NORMS))
        return products * rows / asked + found[LAUNCHES] + self.gap

    def _cache(self, decodes: int, full: int) -> float:
        past = min(READ * full, self.most)
        return decodes * _lines(self.name, 1, past)[ATTENTION]

    def _prompt(self, tokens: int) -> float:
        asked = min(tokens, self.most)
        if not asked:
            return 0.0
        return _lines(self.name, asked, 1 if asked == 1 else 0)[ATTENTION]
