"""Triton's names: ``from stacklib.gpu import tiles as tl``.

A program says what happens to blocks of data; `gpu.launch_tiles` runs it on NumPy and
reports what a profiler would. With ``import triton.language as tl`` the same text runs
in Triton. Beside Triton's names there are ``tl.array`` and ``tl.empty``, arguments of
formats NumPy lacks, and ``tl.jit``, which stands for ``triton.jit`` where a text is to
serve both.
"""

from __future__ import annotations

import difflib
import sys
from typing import Any

from .arguments import array, empty
from .arithmetic import add
from .arithmetic import multiply as mul
from .arithmetic import subtract as sub
from .atomics import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from .block_pointers import (
    BlockPointer as block_pointer,
)
from .block_pointers import (
    advance,
    make_block_ptr,
)
from .device_functions.libdevice import extra
from .device_functions.random import (
    philox,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    uint_to_uniform_float,
)
from .dots import dot
from .functions import abs_ as abs
from .functions import (
    cdiv,
    ceil,
    clamp,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    log,
    log2,
    maximum,
    minimum,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    sqrt_rn,
    umulhi,
    where,
)
from .functions import (
    to as cast,
)
from .loads import (
    TensorDescriptor as tensor_descriptor,
)
from .loads import (
    load,
    make_tensor_descriptor,
    store,
)
from .members import attach as _attach
from .reductions import (
    argmax,
    argmin,
    associative_scan,
    cumprod,
    cumsum,
    gather,
    histogram,
    reduce,
    reduce_or,
    softmax,
    sort,
    topk,
    xor_sum,
)
from .reductions import (
    max_ as max,
)
from .reductions import (
    min_ as min,
)
from .reductions import (
    sum_ as sum,
)
from .rewrite import jit, static_range
from .rewrite import turns as range
from .shapes import (
    arange,
    broadcast,
    broadcast_to,
    cat,
    expand_dims,
    flip,
    full,
    interleave,
    join,
    num_programs,
    permute,
    program_id,
    ravel,
    reshape,
    split,
    squeeze,
    swizzle2d,
    trans,
    zeros,
    zeros_like,
)
from .shapes import (
    expand_dims as unsqueeze,
)
from .shapes import (
    reshape as view,
)
from .tile import Tile as tensor
from .tile import constexpr
from .types import (
    DType as dtype,
)
from .types import (
    Pointer as pointer_type,
)
from .types import (
    bfloat16,
    float8e4nv,
    float8e5,
    float16,
    float32,
    float64,
    int1,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .words import (
    assume,
    debug_barrier,
    device_assert,
    static_assert,
    static_print,
    to_tensor,
)
from .words import (
    hint as max_constancy,
)
from .words import (
    hint as max_contiguous,
)
from .words import (
    hint as multiple_of,
)

_attach(globals())
LEFT_OUT = (
    "device_print",
    "dot_scaled",
    "inline_asm_elementwise",
    "map_elementwise",
)


MODULES = ("core", "math", "standard")  # Triton's own, whose names are all here


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in MODULES:
        return sys.modules[__name__]
    if name in LEFT_OUT:
        raise AttributeError(f"tl.{name} is left out here: Triton has it")
    known = [n for n in globals() if not n.startswith("_") and n.islower()]
    near = difflib.get_close_matches(name, known, 3, 0.6)
    says = f"; did you mean: {', '.join(near)}" if near else ""
    raise AttributeError(f"tl has no {name!r}{says}")
