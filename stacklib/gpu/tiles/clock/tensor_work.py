"""Matrix instructions of a product: which of the generation's, and how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stacklib.hardware import Accelerator, UnknownSpec

from ...issue.instructions import Instruction, instruction
from ..machine import Op, Product

FAMILY = {"e4m3fn": "fp8", "e5m2": "fp8"}  # formats that one instruction takes
GROUP = 4  # warps that issue one wgmma together
SMALL = "8.9"  # mma.sync of the generations that have a wider instruction as well


def chosen(form: str, rows: int, device: Accelerator, warps: int) -> Instruction | None:
    """The instruction a product is made of; None for ordinary arithmetic.

    Triton takes ``wgmma`` and ``tcgen05`` where four warps and 64 rows are at hand, and
    ``mma.sync`` otherwise.
    """
    try:
        best = instruction(device)
    except UnknownSpec:
        return None
    if best.name != "mma.sync" and (warps % GROUP or rows < best.rows[0]):
        best = instruction(SMALL)
    return best if FAMILY.get(form, form) in best.k else None


def instruction_for(form: str, rows: int, device: Accelerator, warps: int) -> str:
    """Its name."""
    found = chosen(form, rows, device, warps)
    return found.name if found else ""


def shape_of(product: Product, best: Instruction) -> tuple[int, int, int]:
    """Rows, columns and products of the largest shape that a product fills."""
    one_block = [r for r in best.rows if best.units == 1 or r < best.rows[-1]]
    rows = max((r for r in one_block if r <= product.m), default=one_block[0])
    low, high, step = best.columns
    columns = max(low, min(high, product.n // step * step))
    return rows, columns, best.k[FAMILY.get(product.form, product.form)]


def instructions(product: Product, device: Accelerator, warps: int) -> Counter[str]:
    """Matrix instructions of one product, by name, shape and format."""
    best = chosen(product.form, product.m, device, warps)
    if best is None:
        return Counter()
    m, n, k = shape_of(product, best)
    times = -(-product.m // m) * -(-product.n // n) * -(-product.k // k)
    return Counter({f"{best.name} m{m}n{n}k{k} {product.form}": times * product.times})


def total(
    ops: Iterable[Op], device: Accelerator, warps: int, programs: int
) -> Counter[str]:
    """Matrix instructions of so many programs that did the same."""
    found: Counter[str] = Counter()
    for op in ops:
        if op.kind == "dot":
            for name, times in instructions(op.detail, device, warps).items():
                found[name] += times * programs
    return found
