"""What Triton's compiler and ``ptxas`` made of the kernels, as recorded.

``benchmarks/triton_record.py`` compiles every launch of the chapter at a model's sizes
for sm_90, with the assembler inside Triton's wheel and no GPU, and writes
``cubins.json``: registers, what they spill, shared memory, and the matrix and copy
instructions; and ``tiles.csv``, every row of attention's tables of tiles on the
generations that they are for. Here the records are read, and asked what fits.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.gpu.issue.occupancy import occupancy

FILE = Path(__file__).parent / "cubins.json"
TILES = Path(__file__).parent / "tiles.csv"
COPY = 16  # bytes a thread that one asynchronous copy brings (LDGSTS.128)


@dataclass(frozen=True, slots=True)
class Cubin:
    """One launch of one kernel, compiled."""

    case: str  # what was asked, such as ``flash 128 causal``
    kernel: str
    blocks: dict[str, Any]  # the constants it was compiled with
    warps: int
    stages: int
    registers: int  # a thread
    spilled_bytes: int  # a thread, in local memory
    shared_bytes: int  # a program
    instructions: dict[str, int]  # HGMMA, QGMMA (FP8), HMMA, LDGSTS, LDL in the code
    loop_copies: tuple[int, ...]  # asynchronous copies of 16 bytes in each loop's body

    @property
    def matrix(self) -> int:
        """Matrix instructions that stand in the code."""
        return sum(self.instructions[name] for name in ("HGMMA", "QGMMA", "HMMA"))

    def programs(self, on: str = "h100_sxm") -> int:
        """Programs that a unit of a device holds at once; 0 if none fits."""
        found = occupancy(
            threads=32 * self.warps,
            registers=self.registers,
            shared_bytes=self.shared_bytes,
            device=on,
        )
        return found.blocks

    def bytes_a_turn(self) -> tuple[int, ...]:
        """What the copies in each loop bring in one turn, all threads together."""
        return tuple(n * COPY * 32 * self.warps for n in self.loop_copies)


@dataclass(frozen=True, slots=True)
class Tile:
    """One row of a table of tiles, compiled, causal."""

    capability: int  # such as 90
    dtype: str
    kernel: str
    head_dim: int
    v_dim: int
    kind: str  # causal, or that with a window, or of packed sequences
    block_q: int  # of `split_kernel`: query heads
    block_k: int
    warps: int
    stages: int
    registers: int
    spilled_bytes: int
    shared_bytes: int


@cache
def tiles() -> tuple[Tile, ...]:
    """Every recorded row of the tables of tiles."""
    with TILES.open(encoding="utf-8") as file:
        next(file)  # the digest
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row |= {
            n: int(v) for n, v in row.items() if n not in ("dtype", "kernel", "kind")
        }
    return tuple(Tile(**row) for row in rows)


def kernels_digest() -> str:
    """SHA-256 of the kernels that tiles are chosen for; comments do not count."""
    text = []
    for name in ("decode", "flash_backward", "flash_forward", "parts"):
        path = TILES.with_name(f"{name}_triton.py")
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                if ast.get_docstring(node):
                    del node.body[0]
                text.append(ast.unparse(node))
    return hashlib.sha256("\n".join(text).encode()).hexdigest()


@cache
def record() -> dict[str, Any]:
    """The record as it stands in the file."""
    found: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return found


def cubins() -> tuple[Cubin, ...]:
    """Every recorded launch, in the order of the cases."""
    rows = record()["rows"]
    return tuple(
        Cubin(**{**row, "loop_copies": tuple(row["loop_copies"])}) for row in rows
    )


def cubin(case: str, kernel: str = "") -> Cubin:
    """One recorded launch.

    - ``case``: str; such as ``flash 128 causal``.
    - ``kernel``: str; which of the case's kernels; by default its first.
    - raises ``UnknownName`` for a case or kernel that is not recorded; it suggests one.
    """
    from stacklib.quantity import resolve

    rows = cubins()
    key = resolve(case, {row.case: row for row in rows}, "compiled case")
    own = {row.kernel: row for row in rows if row.case == key}
    return own[resolve(kernel, own, "kernel") if kernel else next(iter(own))]


def kv_bytes(case: str, *, queries: int, keys: int, heads: int = 1) -> int:
    """Bytes of K and V that the compiled loop asks of global memory, before any cache.

    Copies in the body of the loop over whole tiles, times its turns, times the tiles of
    queries: the count of a witness that knows nothing of attention.

    - ``case``: str; of `forward_kernel` without a mask.
    - ``queries``, ``keys``: int; whole tiles.
    - ``heads``: int; heads of queries, all sequences together.
    - raises ``ValueError`` for a masked case, or sizes that are no whole tiles.
    """
    row = cubin(case, "forward_kernel")
    tile_q, tile_k = row.blocks["BLOCK_Q"], row.blocks["BLOCK_K"]
    if row.blocks["CAUSAL"] or row.blocks["WINDOW"]:
        raise ValueError(f"{row.case}: its loop's turns depend on the mask")
    if queries % tile_q or keys % tile_k:
        raise ValueError(
            f"queries = {queries}, keys = {keys}: whole tiles of {tile_q} and {tile_k}"
        )
    return row.bytes_a_turn()[0] * (keys // tile_k) * (queries // tile_q) * heads
