"""Which tokens of a vocabulary may come next in a text of a grammar.

The bytes of all tokens stand in one tree, so that tokens with a common beginning read
it once. What a walk through the tree finds depends on the states that it looked at, and
those are the few on top of the stack: it is kept under them, and found again whatever
lies below.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import whole
from stacklib.tinylm import Tokenizer

from .grammar import Grammar, Stack

NEVER = np.iinfo(np.int32).max
MOST_ROWS = 1024  # kept of a grammar


class Leaf(dict[int, "Leaf"]):
    """A place in the tree of tokens: where each byte leads, and who ends here."""

    def __init__(self) -> None:
        self.tokens: list[int] = []


@lru_cache(4)
def tree(spelled: tuple[bytes, ...]) -> Leaf:
    """The bytes of all tokens, those with one beginning together."""
    root = Leaf()
    for token, word in enumerate(spelled):
        at = root
        for byte in word:
            at = at.setdefault(byte, Leaf())
        at.tokens.append(token)
    return root


@dataclass
class Walks:
    """Walks through the tree of tokens, each made once for a grammar.

    ``walked`` counts them, and ``steps`` the bytes they read.
    """

    grammar: Grammar
    tokenizer: Tokenizer = field(repr=False)
    walked: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        self.root = tree(self.tokenizer.spelled)
        self.costs = [0] * (self.grammar.states + 1)
        for state in self.grammar.nearest:
            self.costs[state] = self._cost(state)
        self._rows: dict[Stack, NDArray[np.int32]] = {}
        self._depths: defaultdict[int, list[int]] = defaultdict(list)

    def _cost(self, state: int) -> int:
        """Tokens that end a state's rule by a shortest way, at least.

        None of them reaches into a call or out of it, so that behind the first of them
        a token less is needed. The states ahead have theirs.
        """
        byte, to = self.grammar.closing[state]
        if byte is None:
            return sum(self.costs[each] for each in to)
        best, place = NEVER, self.root
        while byte is not None and byte in place:
            place = place[byte]
            if place.tokens:
                best = min(best, 1 + self.costs[to[0]])
            byte, to = self.grammar.closing[to[0]]
        return best

    def after(self, stack: Stack) -> tuple[NDArray[np.int32], int]:
        """Tokens to an end behind each token, and what all of them have to add.

        ``NEVER`` where a token may not come.
        """
        for depth in self._depths[stack[-1]]:
            row = self._rows.get(stack[-depth:])
            if row is not None:
                break
        else:
            row, depth = self._walk(stack)
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            self._rows[stack[-depth:]] = row
            if depth not in self._depths[stack[-1]]:
                self._depths[stack[-1]].append(depth)
        return row, sum(self.costs[state] for state in stack[:-depth])

    def _walk(self, stack: Stack) -> tuple[NDArray[np.int32], int]:
        """Every token from one stack: (vocab,), and how many states were looked at."""
        moves, accepts = self.grammar.moves, self.grammar.accepts
        found: defaultdict[Stack, list[int]] = defaultdict(list)
        low = len(stack) - 1
        waiting = [(self.root, stack)]
        while waiting:
            place, at = waiting.pop()
            self.steps += len(place)
            below, here = at[:-1], moves[at[-1]]
            low = min(low, len(below)) if place else low
            for byte, ahead in place.items():
                way = here.get(byte)
                to = None if way is None else below + way
                if to is None and accepts[at[-1]]:
                    to, looked = self.grammar.step(at, byte)
                    low = min(low, looked)
                if to is not None:
                    waiting.append((ahead, to))
                    found[to] += ahead.tokens
        row: NDArray[np.int32] = np.full(self.tokenizer.vocab, NEVER, np.int32)
        for to, tokens in found.items():
            row[tokens] = sum(self.costs[state] for state in to[low:])
        self.walked += 1
        return row, len(stack) - low


@dataclass(frozen=True)
class Mask:
    """Tokens allowed in each state of an answer; states are whole numbers.

    An answer may go back to an earlier state, as after a rejected draft. States are
    numbered as they are met: one mask serves one request, ``walks`` all of a grammar.

    - ``walks``: the grammar, read for a vocabulary
    """

    walks: Walks
    _met: list[Stack] = field(init=False, repr=False, default_factory=list)
    _known: dict[Stack, int] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._number(self.walks.grammar.start)

    def _number(self, stack: Stack) -> int:
        number = self._known.setdefault(stack, len(self._met))
        if number == len(self._met):
            self._met.append(stack)
        return number

    def start(self) -> int:
        """The state before the first token."""
        return 0

    def allowed(self, state: int, left: int | None = None) -> NDArray[np.bool_]:
        """Tokens that may come next: (vocab,); the end of the text in final states.

        - ``state``: from ``start`` or ``advance``
        - ``left``: tokens that may still be drawn, this one among them: only those are
          allowed behind which the shortest way to an end has room, if there are any
        """
        row, more = self.walks.after(self._met[state])
        ends = self.final(state)
        mask = row < NEVER
        if left is not None:
            whole(left=left)
            # A token more for the end of the text, where there is room for it.
            for spare in (1, 0):
                closed = row < left - more - spare
                if closed.any() or ends:
                    mask = closed
                    break
        mask[self.walks.tokenizer.end] = ends
        return mask

    def advance(self, state: int, token: int) -> int:
        """The state behind a token.

        - raises ``ValueError`` for a token that is not allowed
        """
        stack = self._met[state]
        tokenizer, grammar = self.walks.tokenizer, self.walks.grammar
        to = grammar.read(stack, tokenizer.decode([token]))
        if to is None or (token == tokenizer.end and not grammar.final(stack)):
            raise ValueError(f"token {token} is not allowed in state {state}")
        return self._number(to)

    def final(self, state: int) -> bool:
        """Whether the text may end in this state."""
        return self.walks.grammar.final(self._met[state])
