"""One block of a transformer in fixed point: no float from its input to its output.

    norm      x * 2^5 / root of the mean square, the root by whole numbers
    products  eight bits by eight, rounded by a shift, as every layer of ``fixed``
    softmax   2^(s - max) by a table of sixteen fractions and a shift, over their sum
    residual  sixteen bits, seven of them a fraction

``run_arrays`` computes it on NumPy's whole numbers, which loops in its test equal bit
for bit, and ``float_block`` is what it stands for. Gains of the norms stand in the
matrices that follow. Left out: positions, and bits that only long contexts need in the
sum of the softmax.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import isqrt
from typing import Any, NamedTuple, TypeAlias

from stacklib.quantity.bounds import is_whole, whole

from .fixed import HIGH, LOW, cut, shifted

Rows: TypeAlias = list[list[int]]
FRACTION = 7  # bits of a residual's fraction
NORMED = 5  # bits of the fraction after a norm
PASSED = 4  # after a product: up to eight, or a query is cut off
WEIGHT = 7  # bits of the fraction of a weight
NARROW = NORMED + WEIGHT - PASSED  # bits that a product's sum is shifted
BACK = PASSED + WEIGHT - FRACTION  # bits that one is to join a residual
SCORE = 4  # bits of the fraction of an exponent of two
TABLE = tuple(round(2 ** (15 + n / 2**SCORE - 1)) for n in range(1 << SCORE))
SCALED = 2 * PASSED + 10 - SCORE  # bits that a score's product is shifted
ONE = 1 << 15
# An exponent of two for one of e, in parts of 2^10.
LOG2E = 1477


class Block(NamedTuple):
    """Weights of one block, eight bits each, rows by output."""

    width: int
    heads: int  # over which the width is split
    query: Rows
    key: Rows
    value: Rows
    out: Rows
    up: Rows
    down: Rows

    def products(self, tokens: int) -> int:
        """Multiplications of a block for so many tokens, each seeing those before."""
        whole(tokens=tokens)
        dense = sum(len(m) * len(m[0]) for m in self[2:])
        return tokens * dense + tokens * (tokens + 1) * self.width


def drawn_block(width: int = 32, heads: int = 4, seed: int = 0) -> Block:
    """A block with weights drawn as a fresh model's are."""
    whole(width=width, heads=heads)
    if width % heads:
        raise ValueError(f"{width} columns do not split over {heads} heads")
    pick = random.Random(seed)

    def row(cols: int, scale: float) -> list[int]:
        spread = scale * (1 << WEIGHT) / cols**0.5
        return [cut(round(pick.gauss(0, spread))) for _ in range(cols)]

    w, wide = width, 4 * width
    sizes = (*3 * [(w, w, 1.0)], (w, w, 0.7), (wide, w, 1.0), (w, wide, 0.7))
    made = ([row(cols, scale) for _ in range(rows)] for rows, cols, scale in sizes)
    return Block(width, heads, *made)


def check(block: Block, tokens: Sequence[Sequence[int]]) -> Rows:
    """Python's whole numbers; refuses what is no residual of the block's width."""
    if not len(tokens):
        raise ValueError("no tokens; one at least is needed")
    for row in tokens:
        if len(row) != block.width:
            raise ValueError(f"{len(row)} numbers a token; the block has {block.width}")
        if wrong := [v for v in row if not is_whole(v) or not -ONE <= v < ONE]:
            raise ValueError(f"{wrong[0]!r} in a token: whole, of sixteen bits")
    return [list(map(int, row)) for row in tokens]


def run_arrays(block: Block, tokens: Any) -> Any:
    """A block over residuals, each with those before it, all tokens at once."""
    import numpy as np

    def normed(a: Any) -> Any:
        squares = (a * a).sum(1) * 2**16 // a.shape[1]
        roots = np.array([max(isqrt(int(n)), 1) for n in squares])[:, None]
        return np.floor_divide(a * 2 ** (9 + NORMED) + roots, 2 * roots).clip(LOW, HIGH)

    def softmax(dots: Any, seen: Any, size: int) -> Any:
        scores = shifted(dots * round(LOG2E / size**0.5), SCALED)
        most = np.where(seen, scores, np.iinfo(np.int64).min).max(2, keepdims=True)
        steps, part = np.divmod(np.where(seen, scores - most, 0), 1 << SCORE)
        powers = np.array(TABLE)[part] * 2 // 2 ** np.minimum(-steps, 40)
        powers = np.where(seen & (-steps < 17), powers, 0)
        total = powers.sum(2, keepdims=True)
        return (powers * ONE + total // 2) // total

    def narrow(a: Any, shift: int, low: int = LOW) -> Any:
        return shifted(a, shift).clip(low, HIGH)

    x = np.array(check(block, tokens), np.int64)
    return _through(block, x, np.int64(1), normed, softmax, narrow, shifted)


def float_block(block: Block, tokens: Any) -> Any:
    """What the block stands for, in floats."""
    import numpy as np

    def normed(a: Any) -> Any:
        return a / np.sqrt((a * a).mean(1, keepdims=True))

    def softmax(dots: Any, seen: Any, size: int) -> Any:
        powers = np.exp(np.where(seen, dots, -np.inf) / size**0.5)
        return powers / powers.sum(2, keepdims=True)

    def narrow(a: Any, shift: int, low: int = LOW) -> Any:
        return np.maximum(a, 0) if low == 0 else a

    x, unit = np.asarray(tokens, float) / (1 << FRACTION), 1.0 / (1 << WEIGHT)
    return _through(block, x, unit, normed, softmax, narrow, lambda a, _: a)


def _through(
    block: Block, x: Any, unit: Any, normed: Any, softmax: Any, narrow: Any, wide: Any
) -> Any:
    """A block on arrays, in the arithmetic of its four functions."""
    import numpy as np

    query, key, value, out, up, down = (np.array(m).T * unit for m in block[2:])
    h, split = normed(x), (len(x), block.heads, -1)
    q, k, v = (narrow(h @ m, NARROW).reshape(split) for m in (query, key, value))
    dots = np.einsum("ahc,bhc->hab", q, k)
    weights = softmax(dots, np.tril(np.ones(dots.shape[1:], bool)), q.shape[2])
    mixed = narrow(np.einsum("hab,bhc->ahc", weights, v), 15).reshape(len(x), -1)
    x = x + wide(mixed @ out, BACK)
    return x + wide(narrow(normed(x) @ up, NARROW, 0) @ down, BACK)
