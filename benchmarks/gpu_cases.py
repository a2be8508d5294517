"""Every case of the GPU benchmark, as plain data with a stable id.

Shared by gpu.py (runs them with torch) and predict_gpu.py (predicts them with
stacklib); imports neither. ``operations`` and ``bytes`` count each operand once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Case = dict[str, Any]

BITS = {"fp32": 32, "tf32": 32, "bf16": 16, "fp16": 16, "fp8": 8, "int8": 8}
# What torch calls a device -> its key in stacklib.hardware. Names must match
# whole: an H100 PCIe is not an H100 SXM.
DEVICES = {
    "NVIDIA H100 80GB HBM3": "h100_sxm",
    "NVIDIA H200": "h200_sxm",
    "NVIDIA B200": "b200_sxm",
    "NVIDIA GeForce RTX 4090": "rtx_4090",
}
# Sections in the order they run, with their share of the time budget. Those that
# are likeliest to break a driver's state come last.
SECTIONS = {"launch": 0.05, "copy": 0.1, "gemm": 0.3, "gemv": 0.3, "sdpa": 0.25}

MIB = 2**20
COPY_SIZES = (1, 4, 16, 64, 256, 1024, 4096)  # MiB read
LAUNCHES = (1, 10, 100, 1000)

SQUARES = (256, 512, 1024, 2048, 4096, 8192, 16384)
# Llama-3-70B, columns and rows of a layer's four matrices at tp = 1; the first
# pair is split by columns, the second by rows, over tp devices.
LAYER = {
    "qkv": (10240, 8192),
    "gate_up": (57344, 8192),
    "o": (8192, 8192),
    "down": (8192, 28672),
}
SPLIT_ROWS = ("o", "down")
PREFILL_TOKENS = 4096
DECODE_BATCHES = {
    "bf16": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "fp8": (1, 4, 16, 64, 256),
}

BACKENDS = ("flash", "cudnn", "efficient", "math")
# Tokens a request. The math backend writes all scores to memory in fp32: at 4096
# they already take gigabytes.
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
LONGEST_MATH = 4096


def cases() -> list[Case]:
    """All cases, section by section."""
    made = [*launch(), *copies(), *gemms(), *gemvs(), *attentions()]
    return sorted(made, key=lambda c: list(SECTIONS).index(c["section"]))


def small(case: Case) -> bool:
    """Whether a CPU can rehearse the case in a moment; each kind of call has one."""
    if case["section"] == "launch":
        return bool(case["n"] <= 100)
    if case["section"] == "gemv":
        return (case["matrix"], case["tp"], case["batch"]) == ("o", 8, 1)
    return bool(case["bytes"] <= 8 * MIB and case["operations"] <= 3e8)


def _case(section: str, name: str, operations: float, size: float, **rest: Any) -> Case:
    counts = {"operations": operations, "bytes": size}
    return {"id": f"{section}-{name}", "section": section, **rest, **counts}


def launch() -> Iterator[Case]:
    """n kernels that add one to a single number: what is left is the launching."""
    for how in ("stream", "graph"):
        for n in LAUNCHES:
            yield _case("launch", f"{how}-n{n}", n, 8 * n, how=how, n=n, dtype="fp32")


def copies() -> Iterator[Case]:
    """Read and write once: a plain copy by size, and y = 2x in four formats."""
    for mib in COPY_SIZES:
        size = 2 * mib * MIB
        yield _case("copy", f"copy-{mib}MiB", 0, size, op="copy", dtype="fp32", mib=mib)
    for dtype in ("fp32", "bf16", "fp16", "int8"):
        for mib in (1, 64, 1024):
            n = mib * MIB * 8 // BITS[dtype]
            rest = {"op": "scale", "dtype": dtype, "mib": mib}
            yield _case("copy", f"scale-{dtype}-{mib}MiB", n, 2 * mib * MIB, **rest)


def gemms() -> Iterator[Case]:
    """Squares in six formats, a ragged one, one on zeros, and prefill layers."""
    for dtype in BITS:
        largest = 8192 if dtype in ("fp32", "tf32") else 16384
        for n in (s for s in SQUARES if s <= largest):
            yield _product("gemm", f"{dtype}-{n}", n, n, n, dtype)
    yield _product("gemm", "bf16-4097", 4097, 4097, 4097, "bf16")
    yield _product("gemm", "bf16-8192-zeros", 8192, 8192, 8192, "bf16", data="zeros")
    for dtype in ("bf16", "fp8"):
        for matrix, (n, k) in LAYER.items():
            name = f"{dtype}-prefill{PREFILL_TOKENS}-{matrix}"
            yield _product("gemm", name, PREFILL_TOKENS, n, k, dtype)


def gemvs() -> Iterator[Case]:
    """Decode: a batch of tokens through each matrix of a Llama-3-70B layer."""
    for dtype, batches in DECODE_BATCHES.items():
        for tp in (1, 2, 4, 8):
            for matrix, (n, k) in LAYER.items():
                cut_n, cut_k = (n, k // tp) if matrix in SPLIT_ROWS else (n // tp, k)
                for batch in batches:
                    name = f"{dtype}-{matrix}-tp{tp}-b{batch}"
                    rest = {"tp": tp, "matrix": matrix, "batch": batch}
                    yield _product("gemv", name, batch, cut_n, cut_k, dtype, **rest)


def _product(
    section: str, name: str, m: int, n: int, k: int, dtype: str, **rest: Any
) -> Case:
    """Y (m, n) = X (m, k) W (n, k)^T; 8-bit inputs give wider outputs."""
    out = {"fp8": 2, "int8": 4}.get(dtype, BITS[dtype] // 8)
    size = (m * k + n * k) * BITS[dtype] // 8 + m * n * out
    shape = {"dtype": dtype, "m": m, "n": n, "k": k}
    return _case(section, name, 2 * m * n * k, size, **shape, **rest)


def attentions() -> Iterator[Case]:
    """Prefill over length and head size, grouped heads, and decode; by backend."""
    for backend in BACKENDS:
        lengths = [s for s in LENGTHS if backend != "math" or s <= LONGEST_MATH]
        for s in lengths:
            for d in (64, 128):
                batch, heads = 16384 // s, 4096 // d
                for causal in (False, True):
                    shape = (batch, heads, heads, s, s, d)
                    yield _attention(backend, *shape, causal=causal)
        for s in (x for x in lengths if x in (4096, 16384)):  # Llama-3-70B
            yield _attention(backend, 1, 64, 8, s, s, 128, causal=True)
        for batch, s in ((1, 512), (1, 4096), (8, 4096), (64, 4096), (8, 32768)):
            yield _attention(backend, batch, 64, 8, 1, s, 128, causal=False)


def _attention(
    backend: str,
    batch: int,
    heads: int,
    kv_heads: int,
    queries: int,
    keys: int,
    dim: int,
    causal: bool,
) -> Case:
    """Scores and values, 4 FLOP a pair and dimension; half the pairs if causal."""
    shape = {"batch": batch, "heads": heads, "kv_heads": kv_heads}
    shape |= {"queries": queries, "keys": keys, "dim": dim}
    pairs = queries * keys - (queries * (queries - 1) // 2 if causal else 0)
    size = 2 * (2 * batch * heads * queries * dim + 2 * batch * kv_heads * keys * dim)
    name = f"{backend}-b{batch}-h{heads}-kv{kv_heads}-q{queries}-s{keys}-d{dim}"
    rest = {"backend": backend, "dtype": "bf16", "causal": causal, **shape}
    work = 4 * batch * heads * dim * pairs
    return _case("sdpa", name + ("-causal" if causal else ""), work, size, **rest)
