"""Triton's names in plain Python, one number at a time, so that a page can run them.

    from stacklib.gpu import interpreter as tl

``run`` takes a program through its grid and counts the bytes that it asks for.
`gpu.launch_tiles` runs the same text on NumPy, with caches and time beside the counts;
with ``import triton.language as tl`` it is Triton's. Sums are in double precision; a
store rounds to the format of its array.
"""

# ruff: noqa: F401 (what `tl.` finds)

from __future__ import annotations

from .language import (
    arange,
    argmax,
    cdiv,
    dot,
    exp,
    float32,
    full,
    int32,
    load,
    log,
    max,
    maximum,
    minimum,
    num_programs,
    program_id,
    rand,
    rsqrt,
    store,
    sum,
    trans,
    where,
    zeros,
)
from .launch import Array, Counts, constexpr, run
