"""Queries, keys and values, and ways to mask them, for the tests of backends."""

import numpy as np

MASKS = [
    {},
    {"causal": True},
    {"window": 7},
    {"causal": True, "window": 130},
    {"causal": True, "scale": -0.3},
]


def made(seed, batch, heads, kv_heads, queries, keys, wide, dtype=np.float32, by=1.0):
    """Queries, keys and values."""
    rng = np.random.default_rng(seed)
    shapes = (batch, heads, queries, wide), *[(batch, kv_heads, keys, wide)] * 2
    q, k, v = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return (by * q).astype(dtype), k, v
