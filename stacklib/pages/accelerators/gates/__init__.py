"""Section 5.3: What does one multiplier cost?"""

from __future__ import annotations

import json
from functools import reduce
from operator import add
from typing import Any

from stacklib import hardware
from stacklib.accelerators.array.control import (
    between_loads,
    control_share,
    held_while_waiting,
    overhead,
    sparse_gain,
)
from stacklib.accelerators.array.power import busiest, throttle
from stacklib.accelerators.rtl.netlist import KINDS, transistors
from stacklib.evidence import results
from stacklib.memory import decode_energy
from stacklib.quantity import (
    Quantity,
    chosen,
    constant,
    counted,
    counting,
    quoted,
    recorded,
)
from stacklib.roofline import decode_step

FILE = "benchmarks/results/rtl_{}.json"
WIDTHS = tuple(range(2, 9))
WIDE, NARROW = 8, 7  # bits
SIDES = (4, 8, 16, 32, 64, 128)
SMALL, LARGE = SIDES[0], SIDES[-1]
FASTER = 1.25  # the clock of the claim
MODEL, CHIP, CHIPS, CONTEXT = "llama-3-70b", "h100-sxm", 8, 4096
REGISTERS, LANES, LOADED = 64, 32, 16  # of a thread; of a warp; bytes a thread loads


def stored(part: str, row: str, field: str, label: str, unit: str = "") -> Quantity:
    """A value of a stored run of the hardware flow."""
    return recorded(FILE.format(part), row, field, unit=unit, label=label)


# -- one multiplier, by width ----------------------------------------------------------


def multiply(a: int, b: int, bits: int) -> tuple[int, int]:
    """A product by ANDs and full adders, and how many cells that were."""
    total, cells = [0] * (2 * bits), 0
    for i in range(bits):
        carry = 0
        for j in range(bits):
            x, s = a >> j & b >> i & 1, total[i + j]
            total[i + j] = s ^ x ^ carry
            carry = s & x | carry & (s ^ x)
            cells += 1 + 5
        total[i + bits] = carry
    return sum(bit << n for n, bit in enumerate(total)), cells


@counting(lambda bits: f"cells of the loop, {bits} bits")
def loop_cells(bits: int) -> int:
    """Cells of the multiplier that the loop builds."""
    return multiply(0, 0, bits)[1]


def kinds(name: str, part: str = "gates", flops: bool = True) -> dict[str, Quantity]:
    """Cells of a synthesised design by kind, flip-flops among them or not."""
    found = (*KINDS.values(), *(["DFF"] if flops else []))
    return {k: stored(part, name, f"cells/{k}", f"{k} of {name}") for k in found}


def cells(name: str) -> Quantity:
    """Its gates, flip-flops left out."""
    each = kinds(name, flops=False).values()
    return reduce(add, each).named(f"gates of {name}")


def area(name: str, part: str = "gates") -> Quantity:
    """Its transistors, flip-flops too."""
    return transistors(kinds(name, part)).named(f"transistors of {name}")


def square() -> Quantity:
    """Area of 7 bits over 8, if area is a square."""
    seven, eight = (chosen(b, label=f"{b} bits") for b in (NARROW, WIDE))
    return ((seven / eight) ** 2).named("7 bits over 8, squared")


def ratio(what: str) -> Quantity:
    """Transistors of a product, or of a whole place, at 7 bits over 8."""
    seven, eight = (area(f"{what}-{b}") for b in (NARROW, WIDE))
    return (seven / eight).named(f"{what}, 7 bits over 8")


def product_share() -> Quantity:
    """Share of a place's transistors that multiply."""
    return (area("product-8") / area("mac")).named("share of the product")


def rows() -> list[dict[str, Any]]:
    """The table by width."""
    return [
        {
            "bits": chosen(bits, label="bits"),
            "gates of the loop": loop_cells(bits),
            "gates of the product": cells(f"product-{bits}"),
            "transistors of it": area(f"product-{bits}"),
            "transistors of a MAC": area(f"mac-{bits}"),
            "LUTs of a MAC": stored(
                "placed", f"mac-{bits}", "luts", f"LUTs, {bits} bits"
            ),
            "clock": stored(
                "placed", f"mac-{bits}", "megahertz", f"clock, {bits} bits", "MHz"
            ),
        }
        for bits in WIDTHS
    ]


# -- joules, from gates ----------------------------------------------------------------


def turned(name: str) -> Quantity:
    """Gates of a design that turn when its inputs do."""
    return stored("gates", name, "toggles", f"gates that turn, {name}")


def per_turn() -> Quantity:
    """Energy of one gate that turns, from the published 32-bit sum."""
    each = quoted("horowitz.add32") / turned("sum-32")
    return each.to("fJ").named("energy of a turn")


def energy(name: str) -> Quantity:
    """Energy of a design, by the gates that turn."""
    return (turned(name) * per_turn()).to("pJ").named(f"energy of {name}")


def of_a_mac() -> Quantity:
    """One product and the 32-bit sum that takes it."""
    return (energy("product-8") + energy("sum-32")).named("energy of a MAC")


def operations() -> Quantity:
    """Operations of a token: two for each product and its sum."""
    step = decode_step(
        MODEL, on=hardware.get(CHIP), dtype="bf16", tp=CHIPS, context=CONTEXT
    )
    return step.operations


def token_products() -> Quantity:
    """Joules of a token's products, by gates of 45 nm and 8 bits."""
    count = operations() / constant("multiply_add")
    return (count * of_a_mac()).to("mJ").named("a token's products")


def token_step() -> Quantity:
    """Joules of the token on eight H100s, by circuit."""
    step = decode_energy(MODEL, on=CHIP, tp=CHIPS, context=CONTEXT)
    return step.total


def token_share() -> Quantity:
    """Products over all of it."""
    return (token_products() / token_step()).named("share of the products")


# -- control beside the array ----------------------------------------------------------


def core() -> Quantity:
    """Transistors of a small control core, its gates taken as NANDs."""
    size = quoted("cortex_m0.gates") * quoted("yosys.nand")
    return size.named("transistors of a control core")


def control(side: int) -> Quantity:
    """Share that control takes beside an array."""
    share = control_share(side, place=area("mac"), core=core())
    return share.named(f"control beside {side} x {side}")


@counting("how much less overhead for each place, 4 x 4 over 128 x 128")
def less() -> float:
    """Control for each place at 4 x 4 over that at 128 x 128."""
    return overhead(SMALL) / overhead(LARGE)


def tpu_control() -> Quantity:
    """Control over control and compute on the first TPU's die."""
    dark, light = quoted("tpu1.control"), quoted("tpu1.compute")
    return (dark / (dark + light)).named("control beside the first TPU's array")


def beside_gpus() -> Quantity:
    """Share of a box's power that no GPU draws; its host is a part of that."""
    box = quoted("dgx_h100.power")
    gpus = chosen(CHIPS, label="GPUs") * hardware.get(CHIP).tdp
    return ((box - gpus) / box).named("power beside the GPUs of a box")


def waiting() -> tuple[Quantity, Quantity]:
    """Bytes on an SM that hide memory's latency: by a compiler, and by warps."""
    device, memory = hardware.get(CHIP), hardware.levels(CHIP)[-1]
    tile = chosen(LANES * LOADED, "B", label="what a warp loads at once")
    regs = chosen(LANES * REGISTERS * 4, "B", label="registers of a warp")
    every = between_loads(device, tile)
    ahead, warps = held_while_waiting(memory.latency, every, stage=tile, warp=regs)
    return ahead.to("kB").named("by a compiler"), warps.to("kB").named("by warps")


def sparse() -> Quantity:
    """Products of an area with one of two weights kept, over dense ones."""
    bits = chosen(WIDE, label="bits of an activation")
    choice = bits * (2 * quoted("yosys.and") + quoted("yosys.or"))
    gain = sparse_gain(area("mac"), choice.named("transistors of a choice"))
    return gain.named("gain of keeping one of two")


# -- a clock under a limit -------------------------------------------------------------


def most_active(exponent: float | None) -> Quantity:
    """The activity up to which a quarter more clock needs no bubble."""
    words = {1.0: "the voltage stays", None: "as fitted", 1 / 3: "the voltage follows"}
    return counted(busiest, FASTER, exponent, label=f"busiest, {words[exponent]}")


@counting("rate of a program that is always busy")
def always_busy() -> float:
    """Of one that keeps all circuits switching, at a quarter more clock."""
    return float(throttle(1.0, 1.0, clock=FASTER).rate)


def public_clocks() -> Quantity:
    """TPU v3's clock over TPU v2's."""
    new, old = (hardware.get(f"tpu-v{n}").tensor_clock for n in (3, 2))
    return (new / old).named("clock of TPU v3 over v2")


# -- one array, four accounts of it ----------------------------------------------------


def agreed(who: str) -> Quantity:
    """Random products on which an account equals the formula in every cycle."""
    both = [
        stored("witnesses", f"{n}x4x{n}", f"equal/{who}", f"{who}, {n} x {n}")
        for n in (2, 4)
    ]
    return (both[0] + both[1]).named(f"products on which {who} agrees")


def took(what: str) -> Quantity:
    """Cycles of a 4 x 4 x 4 product in Icarus, or the number of the last one."""
    return stored("witnesses", "4x4x4", what, what.replace("_", " "))


def placed(row: str, field: str, unit: str = "") -> Quantity:
    """What the place and route of a design found."""
    return stored("placed", row, field, f"{field} of {row}", unit)


def faster() -> Quantity:
    """Vectors a second of a netlist here, over Icarus'."""
    return stored("speed", "ratio", "of", "vectors a second over Icarus")


def sizes() -> list[dict[str, Any]]:
    """The table of arrays by size, on gates and on the chip."""
    names = {1: "mac", 2: "array_2x2", 3: "array_3x3", 4: "array_4x4"}
    found = []
    for side, name in names.items():
        inside = f"{'bare' if side < 3 else 'shell'}-{side}"
        found.append(
            {
                "array": f"{side} x {side}",
                "gates": cells(name),
                "flip-flops": kinds(name)["DFF"],
                "LUTs": placed(f"bare-{side}", "luts"),
                "carries": placed(f"bare-{side}", "carries"),
                "LUTs of the shell": placed(inside, "shell_luts") if side > 2 else None,
                "logic cells, placed": placed(inside, "logic_cells"),
                "clock": placed(inside, "megahertz", "MHz"),
            }
        )
    return found


def versions() -> str:
    """Tools of the stored runs, with their versions."""
    path = results.root() / FILE.format("placed")
    told = json.loads(path.read_text(encoding="utf-8"))["versions"]
    return ", ".join(f"{name} {told[name]}" for name in ("yosys", "nextpnr", "icarus"))
