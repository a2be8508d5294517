"""What a search for a prefix found, and why it is not longer."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

from stacklib.quantity.bounds import is_whole

WIDTH = 8  # bytes of a token in `array("q")`


class Why(NamedTuple):
    """Why a match ends where it does; ``str`` gives the sentence.

    ``kind`` is *never seen*, *shorter than a block*, *another token*, *evicted*,
    *last token* (which is always left to compute) or *complete*; ``place`` the token
    where the match ends, for *another token* the one that differs.
    """

    kind: str
    place: int
    missing: int = 0  # tokens short of a block
    token: int | None = None
    theirs: int | None = None
    step: int | None = None
    owner: Any = None  # for whom it was evicted

    def __str__(self) -> str:
        return _SENTENCES[self.kind].format(w=self, s="s"[: self.missing != 1])


_SENTENCES = {
    "never seen": "never seen from token {w.place} on",
    "shorter than a block": "the rest from token {w.place} on is shorter than a block, "
    "by {w.missing} token{s}",
    "another token": "another token at place {w.place}: {w.token}, not {w.theirs}",
    "evicted": "evicted from token {w.place} on, at step {w.step} for {w.owner!r}",
    "last token": "the block from token {w.place} on is there, but its last token is "
    "left to compute",
    "complete": "all of it is there",
}


class Match(NamedTuple):
    """How many tokens were found, in which blocks, and why no more."""

    tokens: int
    blocks: list[int]
    why: Why


def as_tokens(tokens: Iterable[int]) -> array[int]:
    """Tokens as an array of 64-bit numbers of its own; ValueError for anything else.

    - ``tokens``: whole numbers; text, fractions and truth values are none.
    """
    if type(tokens) is array and tokens.typecode == "q":
        return tokens[:]
    if isinstance(tokens, str | bytes | bytearray):
        raise ValueError(f"tokens = {tokens!r}: whole numbers are needed, not text")
    listed = tokens if isinstance(tokens, list | tuple) else list(tokens)
    try:
        if [*map(type, listed)].count(int) < len(listed):
            listed = [as_token(token) for token in listed]
        return array("q", listed)
    except OverflowError:
        wide = next(token for token in listed if not -(2**63) <= token < 2**63)
        raise ValueError(f"token = {wide}: does not fit in 64 bits") from None


def as_token(token: Any) -> int:
    """One token, Python's number or NumPy's; ValueError for anything else."""
    if not is_whole(token) or not -(2**63) <= token < 2**63:
        raise ValueError(f"token = {token!r}: a whole number of 64 bits is needed")
    return int(token)


def common(ours: bytes, theirs: bytes) -> int:
    """Tokens that two texts of tokens begin with alike.

    - ``ours``, ``theirs``: contents of arrays of tokens.

    Halves are compared as whole slices, so that no loop walks the tokens.
    """
    low, high = 0, min(len(ours), len(theirs)) // WIDTH
    while low < high:
        middle = (low + high + 1) // 2
        if ours[low * WIDTH : middle * WIDTH] == theirs[low * WIDTH : middle * WIDTH]:
            low = middle
        else:
            high = middle - 1
    return low


def at(text: bytes, place: int) -> int:
    """The token at a place of such a text."""
    token = text[place * WIDTH : (place + 1) * WIDTH]
    return int.from_bytes(token, sys.byteorder, signed=True)
