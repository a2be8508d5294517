"""Parts of a GPU: lanes, warps, sub-cores, register files, shared memory, SMs, L2."""

from __future__ import annotations

from stacklib.gpu.issue.instructions import part_count
from stacklib.hardware import Accelerator, level, microarchitecture
from stacklib.hardware.warp_rules import rule
from stacklib.quantity import Quantity

from ..marks import Pipe
from ..nodes import Box, Cells, Node, Words
from ..relate import Either, below, grid, right_of
from ..words import an, line

CHIP = "layer-3"  # the colour of what computes
STORE = "layer-2"  # and of what holds bytes


def count(quantity: Quantity) -> int:
    """A count as a whole number, to draw so many."""
    return round(quantity.si)


def subcores(device: Accelerator) -> Quantity:
    """Sub-cores of an SM, each with a scheduler."""
    return microarchitecture(device).count("warp_schedulers")


def lanes(device: Accelerator, name: str = "lanes", lit: bool = False) -> Cells:
    """The FP32 lanes of one sub-core."""
    each = per_subcore(device, part_count(device, "fp32_lanes"), "FP32 lanes")
    shown = frozenset(range(count(each))) if lit else frozenset()
    return Cells(name, count(each), 16, side=5.0, gap=1.5, role=CHIP, lit=shown)


def warp(name: str = "warp", lit: frozenset[int] = frozenset()) -> Cells:
    """A warp: a cell a thread."""
    return Cells(
        name,
        count(rule("lanes")),
        16,
        side=9.0,
        role=CHIP,
        lit=lit,
        words=f"{rule('lanes').text()} threads",
    )


def per_subcore(device: Accelerator, whole: Quantity, words: str) -> Quantity:
    """What one sub-core has of what the SM has."""
    return (whole / subcores(device)).named(f"{device.short} {words} of a sub-core")


def register_file(device: Accelerator, lit: bool = False) -> Box:
    """The registers of one sub-core."""
    own = per_subcore(device, device.registers_per_unit.across(1), "registers")
    return Box("register file", ["registers", own], role=STORE, lit=lit)


def subcore(device: Accelerator, number: str, lit: bool = False) -> Box:
    """A sub-core opened: scheduler, registers, lanes, tensor core."""
    each = per_subcore(device, part_count(device, "fp32_lanes"), "FP32 lanes")
    cores = per_subcore(device, part_count(device, "tensor_cores"), "tensor cores")
    tensor = Box("tensor core", [(cores, " tensor core")], lit=lit)
    inside = below(
        Box("warp scheduler", role="layer-6"),
        register_file(device),
        Words([(each, " FP32 lanes")]),
        lanes(device, f"lanes of {number}"),
        tensor,
        gap=5,
    )
    return Box(f"sub-core {number}", line("sub-core", bold=True), inside, lit=lit)


def banks(name: str = "banks", lit: frozenset[int] = frozenset()) -> Cells:
    """The banks of shared memory, side by side."""
    side = (8.0, 16.0)
    return Cells(name, count(rule("banks")), side=side, gap=1.3, role=STORE, lit=lit)


def shared_memory(device: Accelerator, lit: bool = False) -> Box:
    """Shared memory and L1, one array, with its banks."""
    both = microarchitecture(device).size("l1_capacity")
    told = [
        line("shared memory and L1", bold=True),
        (both, ", in ", rule("banks"), " banks of ", rule("word")),
    ]
    return Box("shared memory", told, banks(), role=STORE, lit=lit)


def sms(
    device: Accelerator,
    columns: tuple[int, int],
    side: float = 8.0,
    lit: frozenset[int] = frozenset(),
) -> Cells:
    """Every SM that is on, counted true."""
    units = device.compute_units
    return Cells(
        "SMs",
        count(units),
        columns,
        side,
        role=CHIP,
        lit=lit,
        words=f"{count(units)} cells",
    )


def l2(device: Accelerator, lit: bool = False) -> Box:
    """The L2: a half near and a half far, where it has parts."""
    known = microarchitecture(device).constants
    parts = count(known["l2_parts"]) if "l2_parts" in known else 1
    told = [line("L2", bold=True), device.l2_capacity]
    halves = [Box(n, n, role=STORE) for n in ("near half", "far half")]
    inside: Node | None = None
    if parts == len(halves):
        inside = Either(below(*halves), right_of(*halves, even=True))
    return Box("L2", told, inside, role=STORE, lit=lit)


def sm(device: Accelerator, lit: str = "") -> Box:
    """An SM opened; ``lit`` names the part in question."""
    cores = [
        subcore(device, n, lit == "sub-core") for n in "ABCD"[: count(subcores(device))]
    ]
    pass_ = (rule("banks") * rule("word")).named("bytes of all banks")
    feed = Pipe(
        "shared memory",
        "sub-cores",
        pass_,
        pass_,
        (pass_, " per cycle"),
        both=True,
        down=(True, True),
        least=30.0,
    )
    store = shared_memory(device, lit == "shared memory")
    inside = below(grid(cores, (4, 2)), feed, store, gap=0)
    of = device.compute_units
    return Box("SM", line("one of ", of, " SMs of ", an(device), bold=True), inside)


def rate_of(device: Accelerator, name: str) -> Quantity:
    """What all SMs together draw from a level."""
    rate = level(device, name).known("rate")
    return rate.named(f"{device.short} {name.upper()}, bandwidth of all SMs")
