"""CUDA to HIP: what a rename does, and what 64 lanes break (4.25).

``hipify`` renames: the runtime's calls and headers. What a kernel means by *a warp* it
leaves, and on AMD's GPUs for computing (GCN, CDNA) that is 64 lanes and not 32. Each
case here is a kernel as CUDA has it and its portable version; both are run with warps
of 32 and of 64 by the machine's slow twin, a thread of Python a lane, and held to what
they should give.

Sources: AMD, "HIP porting guide" (sections Warp size, Identifying the device), and the
CDNA 3 instruction set, section 3.3, whose execution mask has 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve

T = Any
WAVES = (32, 64)

# What the rename changes, whole words; longest first, so that none hides in another.
RENAMED = {
    "cuda_runtime.h": "hip/hip_runtime.h",
    "cuda_bf16.h": "hip/hip_bf16.h",
    "cuda_fp16.h": "hip/hip_fp16.h",
    "cudaDeviceSynchronize": "hipDeviceSynchronize",
    "cudaEventElapsedTime": "hipEventElapsedTime",
    "cudaEventRecord": "hipEventRecord",
    "cudaFree": "hipFree",
    "cudaGetLastError": "hipGetLastError",
    "cudaGraphLaunch": "hipGraphLaunch",
    "cudaMalloc": "hipMalloc",
    "cudaMemcpy": "hipMemcpy",
    "cudaMemcpyAsync": "hipMemcpyAsync",
    "cudaMemcpyDeviceToHost": "hipMemcpyDeviceToHost",
    "cudaMemcpyHostToDevice": "hipMemcpyHostToDevice",
    "cudaStreamCreate": "hipStreamCreate",
    "cudaStream_t": "hipStream_t",
    "cublasSgemm": "hipblasSgemm",
}
# What no rename can bring: it names what the other chip has not, or has otherwise.
LEFT = {
    r"\basm\b": "inline PTX: another instruction set",
    r"\bnvcuda\b|\bwmma::": "tensor-core fragments: rocWMMA, other shapes",
    r"\b0x[fF]{8}\b": "a mask of 32 lanes: 64 bits are needed",
    r"\b(threadIdx\.x|lane|tid)\s*(&\s*31|%\s*32)": "lane number of a warp of 32",
    r"\b(threadIdx\.x|tid)\s*(>>\s*5|/\s*32)": "warp number of a warp of 32",
    r"\bunsigned(\s+int)?\s+\w+\s*=\s*__ballot": "a ballot kept in 32 bits",
    r"\bcp\.async|\b__pipeline_": "copies into shared memory behind the cores' back",
    r"\bmbarrier\b": "barriers that count bytes",
}


def renamed(source: str) -> tuple[str, list[str]]:
    """A CUDA source with HIP's names, and what it holds that a name does not cure.

    - ``source``: str; cUDA C++.
    - gives ``text``, str.
    - gives ``left``, list of str: ``line N: why`` for each thing to be changed by hand.

    >>> text, left = renamed("cudaFree(p); int lane = threadIdx.x & 31;")
    >>> text[:10], left
    ('hipFree(p)', ['line 1: lane number of a warp of 32'])
    """
    names = sorted(RENAMED, key=len, reverse=True)
    pattern = r"\b(" + "|".join(map(re.escape, names)) + r")\b"
    text = re.sub(pattern, lambda found: RENAMED[found[1]], source)
    left = [
        f"line {number}: {why}"
        for number, line in enumerate(source.splitlines(), 1)
        for pattern, why in LEFT.items()
        if re.search(pattern, line)
    ]
    return text, left


# -- kernels, as CUDA has them and as any width has them ------------------------------


def sum_of_32(t: T, src: T, out: T) -> None:
    """Sum of each warp; the ladder begins at 16, the first lane writes."""
    i = t.block.x * t.block_dim.x + t.thread.x
    total = src[i]
    for k in (16, 8, 4, 2, 1):
        total = total + t.shuffle_down(total, k)
    if t.lane == 0:
        out[i // t.lanes] = total


def sum_of_any(t: T, src: T, out: T) -> None:
    """The same, the ladder begins at half a warp."""
    i = t.block.x * t.block_dim.x + t.thread.x
    total, k = src[i], t.lanes // 2
    while k > 0:
        total = total + t.shuffle_down(total, k)
        k = k // 2
    if t.lane == 0:
        out[i // t.lanes] = total


def count_in_32(t: T, src: T, out: T) -> None:
    """How many lanes hold a positive number: a ballot kept in 32 bits."""
    i = t.block.x * t.block_dim.x + t.thread.x
    votes = t.ballot(src[i] > 0) & 0xFFFFFFFF
    if t.lane == 0:
        out[i // t.lanes] = t.popc(votes)


def count_in_any(t: T, src: T, out: T) -> None:
    """The same in two halves of 32 bits."""
    i = t.block.x * t.block_dim.x + t.thread.x
    votes = t.ballot(src[i] > 0)
    if t.lane == 0:
        out[i // t.lanes] = t.popc(votes & 0xFFFFFFFF) + t.popc(votes >> 32)


def block_sum_of_32(t: T, src: T, out: T) -> None:
    """Sum of a block: a place in shared memory a warp, by a lane number of ``& 31``.

    Two lanes of a warp of 64 then are lane 0, and the ladder of 16 has summed half a
    warp for each: that part is right by luck. What breaks is the last step, which adds
    as many places as there are warps.
    """
    s = t.shared(32)
    total = src[t.block.x * t.block_dim.x + t.thread.x]
    for k in (16, 8, 4, 2, 1):
        total = total + t.shuffle_down(total, k)
    if t.thread.x % 32 == 0:
        s[t.thread.x // 32] = total
    t.sync()
    if t.thread.x == 0:
        total = 0.0
        for warp in range(t.block_dim.x // t.lanes):
            total = total + s[warp]
        out[t.block.x] = total


def block_sum_of_any(t: T, src: T, out: T) -> None:
    """The same with the warp's own width everywhere."""
    s = t.shared(32)
    total, k = src[t.block.x * t.block_dim.x + t.thread.x], t.lanes // 2
    while k > 0:
        total = total + t.shuffle_down(total, k)
        k = k // 2
    if t.lane == 0:
        s[t.warp] = total
    t.sync()
    if t.thread.x == 0:
        total = 0.0
        for warp in range(t.block_dim.x // t.lanes):
            total = total + s[warp]
        out[t.block.x] = total


def rank_of_32(t: T, src: T, out: T) -> None:
    """Places of the positive numbers of a warp: those before me, in a mask of 32."""
    i = t.block.x * t.block_dim.x + t.thread.x
    votes = t.ballot(src[i] > 0)
    before = t.popc(votes & ((1 << t.lane % 32) - 1))
    out[i] = before


def rank_of_any(t: T, src: T, out: T) -> None:
    """The same with a mask as wide as the warp."""
    i = t.block.x * t.block_dim.x + t.thread.x
    mine = t.ballot(src[i] > 0) & ((1 << t.lane) - 1)
    out[i] = t.popc(mine & 0xFFFFFFFF) + t.popc(mine >> 32)


@dataclass(frozen=True, slots=True)
class Case:
    """A habit of CUDA, what it rests on, and the same without it."""

    name: str
    rests_on: str
    as_cuda: Callable[..., None]
    portable: Callable[..., None]
    wanted: Callable[[Any, int], Any]  # of the input and a warp's lanes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a case with one width of warps."""

    case: str
    lanes: int
    as_cuda: bool  # whether the kernel as CUDA has it gives what it should
    portable: bool
    wrong: int  # elements of the first that are wrong
    of: int


def _warp_sums(x: Any, lanes: int) -> Any:
    return x.reshape(-1, lanes).sum(1)


def _warp_counts(x: Any, lanes: int) -> Any:
    return (x > 0).reshape(-1, lanes).sum(1)


def _block_sums(x: Any, lanes: int) -> Any:
    return x.reshape(-1, BLOCK).sum(1)


def _ranks(x: Any, lanes: int) -> Any:
    positive = (x > 0).reshape(-1, lanes)
    return (positive.cumsum(1) - positive).ravel()


BLOCK = 128
CASES = {
    case.name: case
    for case in (
        Case(
            "shuffle ladder",
            "a reduction that begins at 16",
            *(sum_of_32, sum_of_any, _warp_sums),
        ),
        Case(
            "ballot",
            "32 bits hold all lanes",
            *(count_in_32, count_in_any, _warp_counts),
        ),
        Case(
            "lane & 31",
            "warps are threads / 32",
            *(block_sum_of_32, block_sum_of_any, _block_sums),
        ),
        Case(
            "mask of the lanes before",
            "1 << lane fits 32 bits",
            *(rank_of_32, rank_of_any, _ranks),
        ),
    )
}


def run_case(name: str, lanes: int, blocks: int = 2) -> Verdict:
    """Run a case on both its kernels with warps of so many lanes.

    - raises ``UnknownName`` for a case that is not in `CASES`.
    - raises ``ValueError`` for another width than 32 or 64.
    """
    import numpy as np

    from stacklib.gpu.simt.one_thread import run_one_by_one

    case = CASES[resolve(name, CASES, "case")]
    if lanes not in WAVES:
        raise ValueError(f"lanes = {lanes!r}: warps have 32, AMD's waves 64")
    x = np.arange(blocks * BLOCK) * 7 % 11 - 4.0
    wanted = np.asarray(case.wanted(x, lanes))
    wrong = []
    for kernel in (case.as_cuda, case.portable):
        out = np.full(wanted.shape, -99.0)
        run_one_by_one(kernel, blocks, BLOCK, x, out, lanes=lanes)
        wrong.append(int((out != wanted).sum()))
    return Verdict(case.name, lanes, not wrong[0], not wrong[1], wrong[0], len(wanted))


def table() -> list[Verdict]:
    """Every case with both widths."""
    return [run_case(name, lanes) for name in CASES for lanes in WAVES]
