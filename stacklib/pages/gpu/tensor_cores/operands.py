"""What a matrix instruction reads: who holds its tiles, and bytes per cycle."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from stacklib import gpu, hardware
from stacklib.gpu.issue.decode_slots import fewest_columns
from stacklib.gpu.tensor.peaks import peak_of, per_mac
from stacklib.hardware.warp_rules import rule
from stacklib.pages.gpu import journey
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted, one_of

H100 = "h100-sxm"
DTYPE = "bf16"
# Rows, columns, shared size of a warp's mma.sync of 16-bit numbers.
ROWS, COLUMNS, DEPTH = 16, 8, 16
GROUP = 4  # lanes that share a row


def left_of(lane: int) -> list[tuple[int, int]]:
    """Rows and shared places of the left tile that a lane holds."""
    row, first = lane // GROUP, lane % GROUP * 2
    return [(row + r, first + k + i) for k in (0, 8) for r in (0, 8) for i in (0, 1)]


def right_of_lane(lane: int) -> list[tuple[int, int]]:
    """Shared places and columns of the right tile that a lane holds."""
    column, first = lane // GROUP, lane % GROUP * 2
    return [(first + k + i, column) for k in (0, 8) for i in (0, 1)]


def sums_of(lane: int) -> list[tuple[int, int]]:
    """Rows and columns of the sums that a lane holds."""
    row, first = lane // GROUP, lane % GROUP * 2
    return [(row + r, first + i) for r in (0, 8) for i in (0, 1)]


def held(which: Callable[[int], list[tuple[int, int]]], words: str) -> Quantity:
    """Numbers of a tile that each lane holds."""
    return counted(len, which(0), label=f"{words} that a lane holds")


def side(length: int, words: str) -> Quantity:
    """A side of a tile."""
    return chosen(length, label=f"{words} of a tile")


def of_largest(device: str, axis: str, words: str = "") -> Quantity:
    """A side of the largest tile of a device's instruction."""
    return gpu.instruction(device).side(axis, DTYPE, f"{words or axis} of a tile")


def largest(device: str) -> tuple[int, int, int]:
    """Rows, columns and shared size of the largest instruction of a device."""
    one = gpu.instruction(device)
    return one.rows[-1], one.columns[1], one.k[DTYPE]


def tile_rate(device: str, rows: int, columns: int, units: int = 1) -> Quantity:
    """Bytes per cycle that an SM reads at full rate, each operand read once per tile.

    The shared size drops out. ``units``: SMs that multiply a tile together.
    """
    m, n = side(rows, "rows"), side(columns, "columns")
    each = bytes_per_element(DTYPE) / one_of("MAC", "a multiply-add")
    share = (m + n) / (m * n)
    return (peak_of(device, DTYPE).macs * each * share).named(
        f"bytes per cycle for tiles of {rows} by {columns}, {device}, {units} together"
    )


def port() -> Quantity:
    """Bytes per cycle that shared memory delivers to its SM."""
    every = rule("banks") * rule("word") / one_of("cycle", "one cycle")
    return every.named("bytes per cycle of all banks")


def reach(device: str, rows: int, columns: int) -> Quantity:
    """Share of the peak that the port of shared memory can feed."""
    return port() / tile_rate(device, rows, columns)


def sums_size(device: str) -> Quantity:
    """Bytes of the sums of the largest instruction, per SM."""
    m, n = (of_largest(device, axis, axis) for axis in ("rows", "columns"))
    every = m * n * bytes_per_element("fp32")
    units = counted(gpu.instruction, device, take="units", label="SMs together")
    return (every / units).named(f"{device}: bytes of the sums of one instruction")


def registers() -> Quantity:
    """Bytes of the registers of an SM."""
    found = hardware.get(H100).registers_per_unit
    return found.named("registers of an SM")


@cache
def multiplied() -> Quantity:
    """Time in which tensor cores multiply for one token, the columns of zeros too."""
    return journey.slots("tensor cores").time


def printed() -> Quantity:
    """The same at the printed peak, which counts only the column that is used."""
    return (multiplied() / fewest_columns(H100)).named("time at the printed peak")


def per_mac_count() -> Quantity:
    """Operations of a multiply-add, as a plain count."""
    return (
        per_mac(DTYPE)
        * one_of("MAC", "a multiply-add")
        / one_of("FLOP", "an operation")
    ).named("operations of a multiply-add")
