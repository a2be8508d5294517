"""The engine without a model: the same turns and blocks, tokens only counted."""

from __future__ import annotations

from collections.abc import Sequence

from stacklib.quantity.bounds import whole

from .place import Place
from .turns import Turns


class DryRun(Turns[Place, int]):
    """Serves requests whose lengths are known: an engine's scheduler in plain Python.

    Time is counted in work unless a clock is given. Arguments as of `Engine`.
    """

    def submit(self, tokens: Sequence[int], *, most: int) -> Place:
        """Put a request in line that is given exactly ``most`` tokens.

        - ``tokens``: the prompt; who shares a beginning shares blocks.
        - raises ``ValueError`` for no tokens, ``most`` below one, and what the pool can
          never hold, with the sum.
        """
        whole(most=most)
        if not tokens:
            raise ValueError("tokens is empty: a prompt has at least one")
        self._fits(len(tokens), most)
        return self._lined_up(
            Place(self._counts.submitted, tokens, most, self._ledger())
        )

    def _computed(self, given: dict[Place, int]) -> dict[Place, list[int]]:
        # Nobody else has these tokens: what was made is found by its own request only.
        return {
            each: [-1 - each.id]
            for each, count in given.items()
            if each.computed + count == len(each.known)
        }

    def _deliver(self, request: Place, tokens: Sequence[int], now: float) -> None:
        for token in tokens:
            self._keep(request, token, now)
        if not request.left:
            self._end(request, "length", now)
