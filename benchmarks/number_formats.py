"""Quantizers against the libraries they are equal to, one core, one run.

    pip install torchao bitsandbytes llama-cpp-python   # not pinned; extra `bench`
    python benchmarks/number_formats.py                 # -> results/quantize.json,
                                                        #    q4_k.json

64 MiB of bell-shaped fp32 numbers. Both sides were called before the clock runs, get
memory that was touched before, and are called in turn, so that other work meets both.
Codes, scales and bytes must be equal before a time counts; the searched scales of Q4_K
must lose no more than ggml's.
"""

import ctypes
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import host_common
import numpy as np

from stacklib.quantizers import dequantize, pack, quantize
from stacklib.roofline.host import measure as host

ROWS, ROW, ROUNDS = 4096, 4096, 7
RMSE = 0.0714  # of ggml's own Q4_K on these numbers

Case = dict[str, Any]


def numbers() -> Any:
    """The same for every case."""
    random = np.random.default_rng(0)
    return random.standard_normal((ROWS, ROW), dtype=np.float32)


def timed(
    name: str, bar: float, calls: dict[str, Callable[[], Any]], note: str
) -> Case:
    """Both sides in turn; the ratio of medians."""
    times: dict[str, list[float]] = {who: [] for who in calls}
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for who, call in calls.items():
            began = perf_counter()
            call()
            times[who].append(perf_counter() - began)
    ours, theirs = (median(times[who]) for who in calls)
    row = {
        "id": name,
        "peer": list(calls)[1],
        "numbers": ROWS * ROW,
        "times_s": times["stacklib"],
        "peer_times_s": times[list(calls)[1]],
        "ratio": round(theirs / ours, 3),
        "bar": bar,
        "equal": note,
    }
    print(
        f"{name}: {row['ratio']:.2f} times {row['peer']} (bar {bar}), "
        f"{ROWS * ROW / ours / 1e6:.0f} M/s; {note}"
    )
    return row


def same(name: str, *pairs: tuple[Any, Any], most: int = 0) -> str:
    """Stop where results differ in more than so many places."""
    apart = sum(int((a != b).sum()) for a, b in pairs)
    if apart > most:
        raise SystemExit(f"{name}: {apart} differences")
    return f"{apart} of {sum(a.size for a, _ in pairs)} differ"


def quantize_rows(x: Any) -> list[Case]:
    """Blocks with a scale: MXFP8, MXFP4, NVFP4 and NF4."""
    import bitsandbytes.functional as bnb
    import gguf
    import torch
    from torchao.prototype.mx_formats.mx_tensor import to_mx
    from torchao.prototype.mx_formats.nvfp4_tensor import (
        nvfp4_quantize,
        per_tensor_amax_to_scale,
    )

    torch.set_num_threads(1)
    t = torch.from_numpy(x)
    rows = []
    scales, codes = to_mx(t, torch.float8_e4m3fn, 32)
    q = quantize(x, "mxfp8_e4m3")
    u8 = torch.uint8
    note = same(
        "mxfp8",
        (q.scales, scales.view(u8).numpy()),
        (q.codes, codes.view(u8).numpy()),
    )
    calls = {
        "stacklib": lambda: quantize(x, "mxfp8_e4m3"),
        "torchao": lambda: to_mx(t, torch.float8_e4m3fn, 32),
    }
    rows.append(timed("mxfp8_e4m3", 1.5, calls, note))
    kind = gguf.GGMLQuantizationType.MXFP4
    theirs = gguf.quants.quantize(x, kind).reshape(-1)
    note = same("mxfp4", (np.frombuffer(pack(quantize(x, "mxfp4")), np.uint8), theirs))
    calls = {
        "stacklib": lambda: quantize(x, "mxfp4"),
        "gguf": lambda: gguf.quants.quantize(x, kind),
    }
    rows.append(timed("mxfp4", 3.0, calls, note))
    tensor = per_tensor_amax_to_scale(t.abs().max())
    scales, codes = nvfp4_quantize(t, 16, tensor)
    q, raw = quantize(x, "nvfp4"), codes.numpy().reshape(ROWS, -1)
    unpacked = np.stack([raw & 15, raw >> 4], -1).reshape(x.shape)
    most = x.size // 4_000_000
    note = same(
        "nvfp4", (q.codes, unpacked), (q.scales, scales.view(u8).numpy()), most=most
    )
    calls = {
        "stacklib": lambda: quantize(x, "nvfp4"),
        "torchao": lambda: nvfp4_quantize(t, 16, tensor),
    }
    rows.append(timed("nvfp4", 2.0, calls, note))
    found = bnb.quantize_4bit(t, blocksize=64, quant_type="nf4")[0].numpy().reshape(-1)
    mine = np.frombuffer(pack(quantize(x, "nf4")), np.uint8)[: x.size // 2]
    note = same("nf4", (mine, found))
    calls = {
        "stacklib": lambda: quantize(x, "nf4"),
        "bitsandbytes": lambda: bnb.quantize_4bit(t, blocksize=64, quant_type="nf4"),
    }
    rows.append(timed("nf4", 1.3, calls, note))
    return rows


def ggml_library() -> Any:
    """The library that comes with llama-cpp-python."""
    import llama_cpp

    folder = Path(llama_cpp.__file__).parent / "lib"
    library = ctypes.CDLL(str(next(folder.glob("libggml-base*"))))
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    library.ggml_quantize_chunk.argtypes = [
        *(ctypes.c_int, pointer, pointer, count, count, count, pointer)
    ]
    return library


def q4_k_rows(x: Any) -> list[Case]:
    """Q4_K: a search for scales against ggml's in C, and decoding against gguf."""
    import gguf

    kind = gguf.GGMLQuantizationType.Q4_K
    library, out = ggml_library(), np.zeros(x.size // 256 * 144, np.uint8)

    def by_ggml() -> None:
        library.ggml_quantize_chunk(
            kind.value, x.ctypes.data, out.ctypes.data, 0, ROWS, ROW, None
        )

    by_ggml()
    q = quantize(x, "q4_k")
    theirs = gguf.quants.dequantize(out.reshape(ROWS, -1), kind)
    errors = [float(np.sqrt(np.mean((y - x) ** 2))) for y in (dequantize(q), theirs)]
    if not errors[0] <= min(RMSE, errors[1]):
        raise SystemExit(f"q4_k: RMSE {errors[0]:.5f}, ggml's {errors[1]:.5f}")
    note = f"RMSE {errors[0]:.5f}, ggml's {errors[1]:.5f}"
    calls = {"stacklib": lambda: quantize(x, "q4_k"), "ggml": by_ggml}
    rows = [timed("q4_k encode", 1.0, calls, note)]
    raw = np.frombuffer(pack(q), np.uint8).reshape(ROWS, -1)
    note = same("q4_k", (dequantize(q), gguf.quants.dequantize(raw, kind)))
    calls = {
        "stacklib": lambda: dequantize(q),
        "gguf": lambda: gguf.quants.dequantize(raw, kind),
    }
    rows.append(timed("q4_k decode", 1.5, calls, note))
    return rows


def measure(
    stem: str, rows: Callable[[Any], list[Case]], peers: tuple[str, ...]
) -> None:
    """One result file."""
    watch = host.Watch()
    found = rows(numbers())
    head = host_common.head(
        stem,
        None,
        watch,
        driver="none",
        rows=found,
        versions=host.versions() | {name: version(name) for name in peers},
        why_no_prediction="a comparison of speed with a named peer in one run",
    )
    host_common.save(host_common.HERE, stem, head)


def touched() -> None:
    """Start again with an allocator that keeps what was freed, in pages of one size.

    Else each large result of either side is fresh memory, and the kernel clears its
    pages one by one while the clock runs; and NumPy asks for large pages, torch not.
    """
    kept = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
    kept["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"
    if not kept.items() <= os.environ.items():
        os.environ.update(kept)
        os.execv(sys.executable, [sys.executable, *sys.argv])


if __name__ == "__main__":
    touched()
    measure("quantize", quantize_rows, ("torch", "torchao", "gguf", "bitsandbytes"))
    measure("q4_k", q4_k_rows, ("gguf", "llama-cpp-python"))
