"""CUDA C++ kernels, each beside its twin in Python, and both counted.

The sources are in ``cuda/``. Their PTX and what ``ptxas`` made of it for Hopper are
recorded (``cuda/record.json``, by ``benchmarks/cuda_record.py``): no compiler is
needed. `compiled_counts` runs the recorded PTX thread by thread and counts what its
warps ask of memory; `twin_counts` launches the twin on the SIMT machine. The numbers
must be the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity import resolve

FOLDER = Path(__file__).parent / "cuda"
SECTOR, WORD, BANKS = 32, 4, 32
T = Any


@dataclass(frozen=True, slots=True)
class Counts:
    """What the warps of a launch ask of memory."""

    loads: int  # requests of warps to global memory
    stores: int
    sectors: int  # of 32 bytes that they touch
    asked_bytes: int
    shared_passes: int  # over shared memory: more than requests where banks conflict
    result: Any

    @property
    def numbers(self) -> tuple[int, ...]:
        """The counts alone."""
        return (
            self.loads,
            self.stores,
            self.sectors,
            self.asked_bytes,
            self.shared_passes,
        )


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel as it was compiled."""

    name: str
    text: str  # CUDA C++
    ptx: str
    registers: int  # a thread, on Hopper
    shared_bytes: int  # a block
    instructions: dict[str, int]  # machine code: opcode -> how often it stands there


def matmul_swizzled(t: T, x: T, wt: T, y: T, n: int, k: int) -> None:
    """``y = x @ wt.T`` by tiles of 32, the second's columns exchanged row by row."""
    xs, ws = t.shared((32, 32)), t.shared((32, 32))
    row = t.block.y * 32 + t.thread.y
    column = t.block.x * 32 + t.thread.y
    total = 0.0
    for first in range(0, k, 32):
        xs[t.thread.y, t.thread.x] = x[row * k + first + t.thread.x]
        ws[t.thread.y, t.thread.x ^ t.thread.y] = wt[column * k + first + t.thread.x]
        t.sync()
        for j in range(32):
            total = total + xs[t.thread.y, j] * ws[t.thread.x, j ^ t.thread.x]
        t.sync()
    y[row * n + t.block.x * 32 + t.thread.x] = total


def matmul_shared(t: T, x: T, w: T, y: T, n: int, k: int) -> None:
    """``y = x @ w`` by tiles of 16; `gpu.kernels.matmul_tiled` on flat arrays."""
    xs, ws = t.shared((16, 16)), t.shared((16, 16))
    row = t.block.y * 16 + t.thread.y
    column = t.block.x * 16 + t.thread.x
    total = 0.0
    for first in range(0, k, 16):
        xs[t.thread.y, t.thread.x] = x[row * k + first + t.thread.x]
        ws[t.thread.y, t.thread.x] = w[(first + t.thread.y) * n + column]
        t.sync()
        for j in range(16):
            total = total + xs[t.thread.y, j] * ws[j, t.thread.x]
        t.sync()
    y[row * n + column] = total


def twins() -> dict[str, Callable[..., None]]:
    """The twin of each kernel that runs on ordinary cores."""
    from stacklib.gpu.simt import kernels

    return {
        "vector_add": kernels.vector_add,
        "strided_copy": kernels.strided_copy,
        "transpose_naive": kernels.transpose_naive,
        "transpose_tiled": kernels.transpose_tiled,
        "transpose_swizzled": kernels.transpose_swizzled,
        "matmul_tiled": matmul_shared,
        "matmul_swizzled": matmul_swizzled,
    }


@cache
def record() -> dict[str, Any]:
    """The record as it stands in the file."""
    text = (FOLDER / "record.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def source(name: str) -> Source:
    """A kernel's source, PTX, and what the assembler said of it.

    - raises ``UnknownName`` for a kernel that is not recorded; it suggests one.
    """
    found = record()["kernels"]
    key = resolve(name, found, "CUDA kernel")
    row = found[key]
    text = (FOLDER / f"{key}.cu").read_text("utf-8")
    sizes = row["registers"], row["shared_bytes"]
    return Source(key, text, "\n".join(row["ptx"]) + "\n", *sizes, row["instructions"])


def compiled_counts(name: str, grid: Any, block: Any, *args: Any) -> Counts:
    """Run the recorded PTX and count what its warps ask of memory.

    - ``name``: str; one of `twins`.
    - ``grid``, ``block``: int or tuple of int.
    - ``*args``: As the CUDA kernel takes them; arrays are flat.
    """
    from stacklib.gpu.code.ptx_run import run_ptx

    seen = {"ld.global": 0, "st.global": 0, "sectors": 0, "bytes": 0, "passes": 0}

    def watch(opcode: str, addresses: list[int]) -> None:
        way = ".".join(opcode.split(".")[:2])
        if way.endswith("shared"):
            seen["passes"] += passes(addresses)
            return
        seen[way] += 1
        seen["sectors"] += len({a // SECTOR for a in addresses})
        seen["bytes"] += WORD * len(addresses)

    ran = run_ptx(source(name).ptx, grid, block, *args, watch=watch)
    ways = (seen["ld.global"], seen["st.global"], seen["sectors"])
    return Counts(*ways, seen["bytes"], seen["passes"], ran.results)


def passes(addresses: list[int]) -> int:
    """Passes of one request over shared memory: most words that one bank must give."""
    words = {a // WORD for a in addresses}
    banks = [word % BANKS for word in words]
    return max(banks.count(bank) for bank in set(banks))


def twin_counts(name: str, grid: Any, block: Any, *args: Any) -> Counts:
    """Launch the twin on the SIMT machine and count the same.

    ``args`` are the twin's own; they may have rows and columns.
    """
    from stacklib.gpu.simt.launcher import launch

    key = resolve(name, twins(), "kernel with a twin")
    ran = launch(twins()[key], grid, block, "h100-sxm", *args)
    traffic = ran.report.traffic
    ways = (traffic.requests.get("load", 0), traffic.requests.get("store", 0))
    sums = (traffic.sectors, traffic.asked, traffic.passes)
    sectors, asked, over = (sum(kind.values()) for kind in sums)
    return Counts(*ways, sectors, asked, over, ran.results)
