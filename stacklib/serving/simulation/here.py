"""Steps of the book's own models on this machine, by their account."""

from __future__ import annotations

from functools import lru_cache

from ..token import host
from ..token.account import account
from ..token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from ..token.work import LAUNCHES
from .pace import Pace
from .steps import READ, ByBlocks, Work


@lru_cache(maxsize=4096)
def _lines(name: str, tokens: int, past: int) -> dict[str, float]:
    """Seconds by line: of a prompt, or of one token after so many."""
    prompt = tokens if tokens > 1 else None
    found = account(name, "this-machine", context=past or None, prompt=prompt).lines
    return {line.name: float(line.time.si) for line in found if line.time is not None}


class Here(ByBlocks):
    """NumPy's steps: calls once a step, products by its tokens, attention by request.

    - ``name``: of the model
    - ``gap``: of the host, which the account leaves out: seconds of each step, or by
      what is in it
    """

    def __init__(
        self, name: str, gap: float | Pace | None = None, factor: float = 1.0
    ) -> None:
        super().__init__(factor)
        self.name, self.gap = name, gap or 0.0
        self.most = host.longest(name)

    def seconds(self, work: Work) -> float:
        """As of `ByBlocks`."""
        gap = self.gap.seconds(work) if isinstance(self.gap, Pace) else self.gap
        found = self._rows(work.rows) + gap
        if many := work.decodes:
            past = min(READ * (-(-work.context // (READ * many)) or 1), self.most)
            found += many * _lines(self.name, 1, past)[ATTENTION]
        for start, end in work.pieces:
            found += self._prompt(end) - self._prompt(start)
        return found

    def _rows(self, rows: int) -> float:
        """Products and calls of so many tokens."""
        asked = min(rows, self.most)
        found = _lines(self.name, asked, 0 if asked > 1 else 1)
        products = sum(found.get(line, 0.0) for line in (PRODUCTS, HEAD, NORMS))
        return products * rows / asked + found[LAUNCHES]

    def _prompt(self, tokens: int) -> float:
        asked = min(tokens, self.most)
        if not asked:
            return 0.0
        return _lines(self.name, asked, 1 if asked == 1 else 0)[ATTENTION]
