"""Every case of the GPU benchmark, as plain data with a stable id.

Shared by gpu.py (runs them with torch) and predict_gpu.py (predicts them with
stacklib); imports neither. ``operations`` and ``bytes`` count each operand once.
"""

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
SECTIONS = {
    "launch": 0.023,
    "copy": 0.042,
    "gemm": 0.135,
    "gemv": 0.135,
    "sdpa": 0.14,
    "decode": 0.14,
    "power": 0.07,
    "written": 0.315,
}

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
    made += [*decodes(), *helds(), *written()]
    return sorted(made, key=lambda c: list(SECTIONS).index(c["section"]))


def small(case: Case) -> bool:
    """Whether a CPU can rehearse the case in a moment; each kind of call has one."""
    if case["section"] == "launch":
        return bool(case["n"] <= 100)
    if case["section"] in ("written", "decode", "power"):
        return bool(case["check"])
    if case["section"] == "gemv":
        return (case["matrix"], case["tp"], case["batch"]) == ("o", 8, 1)
    most = 5e7 if case["dtype"] == "fp8" else 3e8  # no library of a CPU has FP8
    return bool(case["bytes"] <= 8 * MIB and case["operations"] <= most)


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


# -- a decode step ---------------------------------------------------------------

# Llama-3-70B's sizes on one of eight chips; the whole of a small model, for the check
EIGHTH = {"layers": 80, "hidden": 8192, "heads": 8, "kv_heads": 1, "dim": 128}
EIGHTH |= {"intermediate": 3584, "vocab": 16032, "context": 4096}
TINY = {"layers": 2, "hidden": 40, "heads": 2, "kv_heads": 1, "dim": 16}
TINY |= {"intermediate": 24, "vocab": 50, "context": 21}


def decodes() -> Iterator[Case]:
    """A step of a chip's eighth, by torch and by our kernels, at three batches."""
    for backend in ("torch", "written"):
        yield _step(backend, 2, TINY, check=True)
    for backend in ("torch", "written"):
        for batch in (1, 16, 64):
            yield _step(backend, batch, EIGHTH)


def _step(backend: str, batch: int, shape: dict[str, int], check: bool = False) -> Case:
    """Weights once, each sequence's cache once; scores and values 4 FLOP a number."""
    hidden, heads, kv_heads = (shape[x] for x in ("hidden", "heads", "kv_heads"))
    query, kept = heads * shape["dim"], 2 * kv_heads * shape["dim"]
    a_layer = hidden * (2 * query + kept + 3 * shape["intermediate"])
    weights = shape["layers"] * a_layer + shape["vocab"] * hidden
    norms = (2 * shape["layers"] + 1) * hidden
    cached = batch * shape["layers"] * shape["context"]
    work = 2 * batch * weights + 4 * cached * query
    size = 2 * (weights + norms + cached * kept)
    made = {"op": "step", "backend": backend, "batch": batch, "check": check, **shape}
    name = f"{backend}-" + ("check" if check else f"b{batch}")
    return _case("decode", name, work, size, dtype="bf16", limit="bytes", **made)


def helds() -> Iterator[Case]:
    """A step again and again for half a minute, to read the board's watts meanwhile."""
    for shape, batch, seconds in ((TINY, 2, 0.05), (EIGHTH, 1, 30.0)):
        step = _step("torch", batch, shape, check=shape is TINY)
        name = step["id"].replace("decode-torch", "power-step")
        yield {**step, "id": name, "section": "power", "seconds": seconds}


# -- the kernels of chapter 4 ----------------------------------------------------


def written() -> Iterator[Case]:
    """Our kernels and, where no other section has one, what they are held beside."""
    yield from _written_checks()
    for op, reads in (("add", 2), ("softmax", 1), ("layernorm", 1), ("rmsnorm", 1)):
        for backend in ("triton", "torch"):
            for rows, columns in ((16384, 4096), (16384, 8192)):
                yield _row_op(op, backend, rows, columns, reads)
    for m in (4096, 8192):
        yield _written("matmul", "triton", f"{m}", *_work(m, m, m), m=m, n=m, k=m)
    shape = {"rows": 8192, "columns": 8192, "n": 8192}
    for backend in ("triton", "torch"):
        counts = _work(8192, 8192, 8192)
        yield _written("layernorm_linear", backend, "8192", *counts, **shape)
    for s in (4096, 8192, 16384):
        for d in (64, 128):
            for causal in (False, True):
                yield from _flash(s, d, causal)
    for batch, s in ((1, 4096), (8, 4096), (64, 4096), (8, 32768)):
        yield _decoding(batch, s, 64, 8, 128)
    for rows in (1, 16):
        for backend in ("triton", "torch"):
            yield _sampling(backend, rows, 128256, 8192)
    m, n, k = 4096, 4096, 7168
    for op in ("fp8_matmul", "mxfp8_matmul"):
        size = m * k + n * k + 2 * m * n
        work = (2 * m * n * k, size)
        yield _written(op, "triton", "4096-7168", *work, dtype="fp8", m=m, n=n, k=k)
    for op in ("swiglu_fp8", "swiglu_mxfp8"):
        yield _swiglu(op, 16384, 2048)


def _written_checks() -> Iterator[Case]:
    """One small ragged case of each kernel; a CPU can run it in the interpreter."""
    for op, reads in (("add", 2), ("softmax", 1), ("layernorm", 1), ("rmsnorm", 1)):
        for backend in ("triton", "torch"):
            yield _row_op(op, backend, 5, 200, reads, check=True)
    product = {"m": 33, "n": 50, "k": 70}
    work = _work(33, 50, 70)
    yield _written("matmul", "triton", "", *work, check=True, **product)
    shape = {"rows": 33, "columns": 70, "n": 50}
    for backend in ("triton", "torch"):
        yield _written("layernorm_linear", backend, "", *work, check=True, **shape)
    yield from _flash(50, 64, True, check=True)
    yield _decoding(1, 40, 4, 2, 64, check=True)
    for backend in ("triton", "torch"):
        yield _sampling(backend, 3, 100, 70, check=True)
    for op in ("fp8_matmul", "mxfp8_matmul"):
        shape = {"m": 33, "n": 50, "k": 160}
        yield _written(
            op, "triton", "", *_work(33, 50, 160), dtype="fp8", check=True, **shape
        )
    for op in ("swiglu_fp8", "swiglu_mxfp8"):
        yield _swiglu(op, 5, 150, check=True)


def _work(m: int, n: int, k: int) -> tuple[int, int]:
    """Operations and bytes of a product in bf16."""
    return 2 * m * n * k, 2 * (m * k + n * k + m * n)


def _written(
    op: str,
    backend: str,
    name: str,
    operations: float,
    size: float,
    check: bool = False,
    **rest: Any,
) -> Case:
    made = {"op": op, "backend": backend, "dtype": "bf16", "check": check, **rest}
    parts = [op, backend, *([name] if name else []), *(["check"] if check else [])]
    return _case("written", "-".join(parts), operations, size, **made)


def _row_op(
    op: str, backend: str, rows: int, columns: int, reads: int, check: bool = False
) -> Case:
    """A kernel over rows: each element read and written once."""
    size = 2 * rows * columns * (reads + 1)
    shape = {"rows": rows, "columns": columns, "limit": "bytes"}
    name = "" if check else f"{rows}x{columns}"
    return _written(op, backend, name, 8 * rows * columns, size, check, **shape)


def _swiglu(op: str, rows: int, columns: int, check: bool = False) -> Case:
    size = 5 * rows * columns  # gate and up in bf16, a code of one byte
    shape = {"rows": rows, "columns": columns, "limit": "bytes"}
    name = "" if check else f"{rows}x{columns}"
    return _written(op, "triton", name, 8 * rows * columns, size, check, **shape)


def _flash(s: int, d: int, causal: bool, check: bool = False) -> Iterator[Case]:
    """Forward by ours (section sdpa has the others'); backward by all three."""
    batch, heads = (1, 2) if check else (16384 // s, 4096 // d)
    kv_heads = 1 if check else heads
    shape = {"batch": batch, "heads": heads, "kv_heads": kv_heads}
    shape |= {"queries": s, "keys": s, "dim": d, "causal": causal}
    pairs = s * s - (s * (s - 1) // 2 if causal else 0)
    work = 4 * batch * heads * d * pairs
    size = 4 * batch * (heads + kv_heads) * s * d
    name = "" if check else f"s{s}-d{d}" + ("-causal" if causal else "")
    yield _written("flash", "triton", name, work, size, check, **shape)
    for backend in ("triton", "flash", "cudnn"):
        # five products where the forward has two; q k v o dO read, dQ dK dV written
        counts = (work * 5 // 2, 2 * size)
        yield _written("backward", backend, name, *counts, check, **shape)


def _decoding(
    batch: int, s: int, heads: int, kv_heads: int, d: int, check: bool = False
) -> Case:
    shape = {"batch": batch, "heads": heads, "kv_heads": kv_heads, "causal": False}
    shape |= {"queries": 1, "keys": s, "dim": d}
    size = 2 * batch * d * (2 * heads + 2 * kv_heads * s)
    name = "" if check else f"b{batch}-s{s}"
    work = 4 * batch * heads * d * s
    return _written("decode", "triton", name, work, size, check, **shape)


def _sampling(backend: str, rows: int, n: int, k: int, check: bool = False) -> Case:
    size = 2 * (rows * k + n * k) + 4 * rows
    shape = {"rows": rows, "n": n, "k": k, "limit": "bytes"}
    name = "" if check else f"b{rows}"
    return _written("sampling", backend, name, 2 * rows * n * k, size, check, **shape)
