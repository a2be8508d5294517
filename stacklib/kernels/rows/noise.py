"""Noise by counter: the same numbers however the work is cut into tiles.

Philox-4x32-10 (J. Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, SC
2011) turns a counter and a key into four random words. With the token's number as
counter, a tile of the vocabulary makes its own noise, and no tiling changes it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stacklib.quantity.bounds import is_whole

FACTORS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
KEYS = (0x9E3779B9, 0xBB67AE85)  # added each round
LOW = 0xFFFFFFFF
HALF = np.uint64(32)
ROUNDS = 10
MET = 3  # rounds after which each word hangs on both counters
Words: TypeAlias = NDArray[np.uint64]


def philox(seed: int, *counters: Any) -> tuple[Words, Words, Words, Words]:
    """Four words of 32 random bits for each of up to four counters.

    - ``seed``: int; the key, from 0 up to 2^64.
    - ``*counters``: array of int; from 0 up to 2^32, of shapes that meet; those left
      out are zero.
    """
    if not (is_whole(seed) and 0 <= seed < 2**64):
        raise ValueError(f"seed = {seed!r}: a whole number from 0 up to 2^64")
    none = np.uint64(0)
    given = [*(np.asarray(c, np.uint64) for c in counters), none, none, none][:4]
    if any((word >> HALF).any() for word in given):
        raise ValueError("counters are whole numbers from 0 up to 2^32")
    shape = np.broadcast_shapes(*(np.shape(word) for word in given))
    a, b, c, d = given
    halves = (int(seed & LOW), int(seed >> 32))
    keys = [
        tuple(
            np.uint64((half + n * key) & LOW)
            for half, key in zip(halves, KEYS, strict=True)
        )
        for n in range(ROUNDS)
    ]
    for k0, k1 in keys[:MET]:
        first, third = FACTORS[0] * a, FACTORS[1] * c  # words of 32 bits: exact in 64
        a, b = (third >> HALF) ^ (b ^ k0), third & LOW
        c, d = (first >> HALF) ^ (d ^ k1), first & LOW
    a, b, c, d = (np.array(np.broadcast_to(word, shape)) for word in (a, b, c, d))
    for k0, k1 in keys[MET:]:  # the same, in place
        first, third = FACTORS[0] * a, FACTORS[1] * c
        b ^= k0
        d ^= k1
        np.bitwise_xor(np.right_shift(third, HALF, out=a), b, out=a)
        np.bitwise_xor(np.right_shift(first, HALF, out=c), d, out=c)
        third &= LOW
        first &= LOW
        b, d = third, first
    return a, b, c, d


def uniform(seed: int, *counters: Any) -> NDArray[np.float64]:
    """A number above 0 and below 1 for each counter, with 53 random bits."""
    high, low, *_ = philox(seed, *counters)
    bits = (high << np.uint64(21)) | (low >> np.uint64(11))
    numbers: NDArray[np.float64] = (bits.astype(np.float64) + 0.5) * 2.0**-53
    return np.minimum(numbers, np.nextafter(1.0, 0.0))


def gumbel(seed: int, *counters: Any) -> NDArray[np.float64]:
    """Gumbel noise, -log(-log u), for each counter."""
    noise: NDArray[np.float64] = -np.log(-np.log(uniform(seed, *counters)))
    return noise
