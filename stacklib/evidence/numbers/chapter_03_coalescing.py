"""Numbers of the section on coalescing: sectors of a request, lines of a walk."""

from __future__ import annotations

from stacklib.memory.warp.rules import rule
from stacklib.quantity import Quantity

from .. import addresses
from .. import ledger as claims
from ..addresses import given, moved
from .registry import number

FP32 = given(4, "B", "bytes of an fp32 number")
STRIDE = given(32, "", "stride in elements")
FIELDS = given(7, "", "fields of a particle")
LINE_STRIDE, PAGE_STRIDE = 16, 1024  # elements: a line of the host, a page of it


def _asked() -> Quantity:
    return (rule("lanes") * FP32).named("bytes asked for")


@number("coal.lanes", evidence="spec")
def lanes() -> Quantity:
    """Lanes of a warp: what one instruction asks for at once."""
    return rule("lanes")


@number("coal.sector", evidence="spec")
def sector() -> Quantity:
    """Bytes of a sector, the least that moves."""
    return rule("sector")


@number("coal.line", evidence="spec")
def line() -> Quantity:
    """Bytes of a cache line, which has one tag."""
    return rule("line")


@number("coal.line_sectors", evidence="spec")
def line_sectors() -> Quantity:
    """Sectors of a line."""
    return rule("line") / rule("sector")


@number("coal.asked")
def asked() -> Quantity:
    """Bytes a warp asks for, one fp32 number a lane."""
    return _asked()


@number("coal.unit_sectors")
def unit_sectors() -> Quantity:
    """Sectors moved for neighbouring numbers from the start of a sector."""
    return moved(FP32)


@number("coal.shifted_sectors")
def shifted_sectors() -> Quantity:
    """Sectors moved for neighbouring numbers, one element off."""
    return moved(FP32, first=given(4, "B", "one element off"))


@number("coal.stride", evidence="spec")
def stride() -> Quantity:
    """Elements from lane to lane in the example."""
    return STRIDE


@number("coal.far_sectors")
def far_sectors() -> Quantity:
    """Sectors moved when lanes are 32 numbers apart."""
    return moved(STRIDE * FP32)


@number("coal.far_bytes", unit="B", digits=4)
def far_bytes() -> Quantity:
    """Bytes moved when lanes are 32 numbers apart."""
    return far_sectors() * rule("sector")


@number("coal.far_factor")
def far_factor() -> Quantity:
    """Bytes moved over bytes asked for, at that stride."""
    return far_bytes() / _asked()


@number("coal.far_used", unit="%")
def far_used() -> Quantity:
    """Share of the moved bytes that was asked for."""
    return _asked() / far_bytes()


@number("coal.knee", evidence="predicted")
def knee() -> Quantity:
    """Stride in fp32 numbers from which every lane has a sector of its own."""
    return rule("sector") / FP32


@number("coal.fetch", evidence="spec")
def fetch() -> Quantity:
    """Bytes that the L2 usually fetches from memory at once."""
    return rule("fetch")


@number("coal.fetch_factor")
def fetch_factor() -> Quantity:
    """Traffic to memory when the L2 fetches 64 bytes for every lane."""
    return moved(STRIDE * FP32, "fetch") * rule("fetch") / _asked()


@number("coal.line_factor")
def line_factor() -> Quantity:
    """Traffic to memory when it fetches whole lines."""
    return moved(STRIDE * FP32, "line") * rule("line") / _asked()


@number("coal.claimed_low", evidence="claimed")
def claimed_low() -> Quantity:
    """Slowdown by strided access that the document claims, its low end."""
    return claims.get("strided-slowdown-10-30").quantity()


@number("coal.fields", evidence="spec")
def fields() -> Quantity:
    """Fields of the particle in the example."""
    return FIELDS


@number("coal.struct_sectors")
def struct_sectors() -> Quantity:
    """Sectors moved to read one field of an array of such structures."""
    return moved(FIELDS * FP32)


@number("coal.struct_factor")
def struct_factor() -> Quantity:
    """The same over what an array of that field alone would move."""
    return struct_sectors() / unit_sectors()


@number("coal.straight_factor")
def straight_factor() -> Quantity:
    """Sectors written by a straight transpose over those that hold the matrix."""
    side = given(64, "", "side of the matrix")
    # One store a row of each tile, each lane in another row of the result.
    return moved(side * FP32) / unit_sectors()


# -- the walk ----------------------------------------------------------------------


@number("coal.host_line", evidence="spec")
def host_line() -> Quantity:
    """Bytes of a cache line of this machine."""
    return given(64, "B", "bytes of a line of this machine")


@number("coal.walk_bytes", unit="MiB", evidence="spec")
def walk_bytes() -> Quantity:
    """Bytes of the array that every walk covers."""
    return addresses.walk(LINE_STRIDE).bytes


@number("coal.walk_predicted", unit="ms", digits=2)
def walk_predicted() -> Quantity:
    """Time of every walk, by the lines it moves."""
    return addresses.walk(LINE_STRIDE).predicted


@number("coal.walk_alone", unit="ms", digits=2)
def walk_alone() -> Quantity:
    """Time of every walk, were each line fetched alone."""
    return addresses.alone(PAGE_STRIDE)


@number("coal.walk_line", unit="ms", digits=2, evidence="measured")
def walk_line() -> Quantity:
    """Measured time of the walk that takes one number of every line in turn."""
    return addresses.walk(LINE_STRIDE).measured


@number("coal.walk_page", unit="ms", digits=2, evidence="measured")
def walk_page() -> Quantity:
    """Measured time of the walk that jumps a page at a time."""
    return addresses.walk(PAGE_STRIDE).measured


@number("coal.walk_loss", digits=2, evidence="measured")
def walk_loss() -> Quantity:
    """How much longer the walk by pages took than the walk by lines."""
    return walk_page() / walk_line()


@number("coal.walk_in_line")
def walk_in_line() -> Quantity:
    """Numbers of four bytes in a line of this machine."""
    return host_line() / FP32


@number("coal.walk_total", digits=2, evidence="measured")
def walk_total() -> Quantity:
    """Time for each number read, by pages over one after the other."""
    far, near = addresses.walk(PAGE_STRIDE), addresses.walk(1)
    return (far.measured / far.operations) / (near.measured / near.operations)
