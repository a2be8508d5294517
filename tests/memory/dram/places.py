"""Addresses that tests of DRAM share."""

from functools import cache

from stacklib.memory.dram.parts import dram_names, dram_part

PARTS = list(dram_names())
# One of each kind for what takes long: the others differ by their rate or preset.
KINDS = [n for n in PARTS if n not in ("ddr5_4800", "hbm3_march", "hbm3e")]


@cache
def burst(name: str) -> int:
    return int(dram_part(name).burst.si)


def one_bank(name: str, rows: int, hits: int = 1) -> list[int]:
    """Addresses of one bank: so many bursts of each row, then the next row."""
    part = dram_part(name)
    whole = int(part.row.si * part.bank_count.si)
    step = int(part.burst.si * part.groups.si)  # the group is the lowest field
    return [r * whole + h * step for r in range(rows) for h in range(hits)]
