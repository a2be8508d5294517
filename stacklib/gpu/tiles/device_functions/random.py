"""Random numbers from a seed and an offset: Philox, as Triton has it.

J. Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, SC 2011: ten rounds of
multiplying 32-bit words. The numbers are Triton's to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import bitwise, multiply, subtract, wrapping
from ..functions import cos, log, maximum, sqrt, to, umulhi, where
from ..machine import error
from ..tile import Tile, as_tile, cast, known
from ..types import int1, int32, uint32, uint64

KEYS = (0x9E3779B9, 0xBB67AE85)  # by which the keys grow each round
FACTORS = (0xD2511F53, 0xCD9E8D57)
ROUNDS = 10
SCALE = 4.6566127342e-10  # of a whole number of 31 bits, to stay below 1


def _xor(a: Any, b: Any) -> Tile:
    return bitwise(np.bitwise_xor, "^", a, b)


def philox(
    seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: Any = ROUNDS
) -> tuple[Tile, Tile, Tile, Tile]:
    """Four words of 32 random bits for four counters."""
    wide = cast(as_tile(seed), uint64)
    shifted = bitwise(np.right_shift, ">>", wide, 32)
    k1, k0 = cast(shifted, uint32), cast(wide, uint32)
    state = [cast(as_tile(c), uint32) for c in (c0, c1, c2, c3)]
    for _ in range(known(n_rounds, "the rounds of tl.philox")):
        a, b, c, d = state
        state = [
            _xor(_xor(umulhi(FACTORS[1], c), b), k0),
            wrapping(np.multiply, FACTORS[1], c),
            _xor(_xor(umulhi(FACTORS[0], a), d), k1),
            wrapping(np.multiply, FACTORS[0], a),
        ]
        k0 = wrapping(np.add, k0, KEYS[0])
        k1 = wrapping(np.add, k1, KEYS[1])
    return state[0], state[1], state[2], state[3]


def randint4x(seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> tuple[Tile, ...]:
    """Four random words of 32 bits for each offset."""
    at = as_tile(offset)
    if not at.dtype.is_int():
        raise error(f"a random number at {at.dtype}: whole offsets are needed")
    low = cast(at, uint32)
    none = multiply(low, 0)
    high = none
    if at.dtype.bits > 32:
        high = cast(bitwise(np.right_shift, ">>", at, 32), uint32)
    return philox(seed, low, high, none, none, n_rounds)


def randint(seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Tile:
    """A random word of 32 bits for each offset."""
    return randint4x(seed, offset, n_rounds)[0]


def uint_to_uniform_float(x: Any) -> Tile:
    """32 random bits as a number from 0 up to 1."""
    signed = to(x, int32, bitcast=True)
    below = signed.data < 0
    turned = where(Tile(below, int1, signed.op), _flipped(signed), signed)
    return multiply(turned, SCALE)


def _flipped(x: Tile) -> Tile:
    """``-x - 1``."""
    return subtract(-1, x)


def rand(seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Tile:
    """A random number from 0 up to 1 for each offset."""
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


def rand4x(seed: Any, offsets: Any, n_rounds: Any = ROUNDS) -> tuple[Tile, ...]:
    """Four random numbers from 0 up to 1 for each offset."""
    words = randint4x(seed, offsets, n_rounds)
    return tuple(uint_to_uniform_float(w) for w in words)


def randn(seed: Any, offset: Any, n_rounds: Any = ROUNDS) -> Tile:
    """A normally distributed number for each offset (Box and Muller)."""
    first, second, *_ = rand4x(seed, offset, n_rounds)
    radius = sqrt(multiply(-2.0, log(maximum(1.0e-7, first))))
    return multiply(radius, cos(multiply(6.283185307179586, second)))
