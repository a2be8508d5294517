"""Section 5.2: What happens in each cycle of an array?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib import hardware
from stacklib.accelerators.array.cycles import cycles, folds, sram_reads, utilisation
from stacklib.accelerators.array.network import Gemm, network
from stacklib.quantity import (
    Quantity,
    counted,
    counting,
    one_of,
    quoted,
    recorded,
)
from stacklib.quantity.constants import case

from ...figures_of import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

# The live figure imports this page in a browser: what needs NumPy is imported where it
# is called.

MODEL, SIDE, PROMPT = "llama-3-70b", 128, case("context")
LAYERS = 80
CHIP = "tpu_v5p"
WITNESSES = "benchmarks/results/rtl_witnesses.json"
SPEED = "benchmarks/results/systolic.json"


# -- one token, one matrix -------------------------------------------------------------


def on_array(gemm: Gemm, **more: Any) -> dict[str, Any]:
    """A product on the array whose weights stand, as the closed forms take it."""
    return {**gemm.shape, "rows": SIDE, "cols": SIDE, "dataflow": "ws", **more}


def matrix(tokens: int = 1) -> Gemm:
    """The first matrix of a layer, that of the queries."""
    return network(MODEL, batch=tokens)[0]


def side() -> Quantity:
    """Rows of the array, and its columns."""
    return quoted("tpu_arch.mxu")


@counting("use of the array, {tokens} tokens", unit="%")
def used(tokens: int = 1, overlap: bool = False) -> float:
    """Share of the array's multiply-adds that the queries' matrix uses, in per cent."""
    return 100 * utilisation(**on_array(matrix(tokens), overlap=overlap))


@counting("tiles of the queries' matrix")
def tiles() -> int:
    """Tiles of 128 x 128 weights."""
    return folds(**on_array(matrix())).count


@counting("cycles of a tile, {tokens} tokens", unit="cycle")
def fold(tokens: int = 1) -> int:
    """Cycles of one tile: its way in, what streams, the skew."""
    return folds(**on_array(matrix(tokens))).fold


@counting("numbers read for each multiply-add, {tokens} tokens")
def reads(tokens: int = 1) -> float:
    """Numbers that the memories beside the array hand over, for each multiply-add."""
    one = matrix(tokens)
    read = sram_reads(**on_array(one))
    return (read.activations + read.weights) / one.macs


# -- the prompt ------------------------------------------------------------------------


@counting("cycles of the prompt's products")
def prompt(overlap: bool = True) -> int:
    """Cycles of all layers' products for the prompt, on one array."""
    layer = network(MODEL, batch=PROMPT)
    each = (g.count * (1 + cycles(**on_array(g, overlap=overlap))) for g in layer)
    return LAYERS * sum(each)


def arrays() -> Quantity:
    """Arrays of a TPU v5p, from its peak: two operations a multiplier and cycle."""
    chip = hardware.get(CHIP)
    done = side() * side() * 2 * one_of("FLOP") / one_of("cycle")
    each = (chip.tensor_clock * done).retag("dense")
    return (chip.peak("bf16").across(1) / each.retag("per_chip")).named("arrays")


def prompt_time() -> Quantity:
    """The prompt's products on all arrays of one TPU v5p."""
    clock = hardware.get(CHIP).tensor_clock
    return (
        (prompt() * one_of("cycle") / clock / arrays())
        .to("s")
        .named("prompt on one TPU v5p")
    )


# -- control ---------------------------------------------------------------------------


@counting("multiply-adds of one vector, an array of {sides}")
def issued(sides: int) -> int:
    """Multiply-adds that one vector sets off in a stepped array of that side."""
    from stacklib.accelerators.array.systolic import SystolicArray

    ones = [[1] * sides]
    run = SystolicArray(sides, sides, "ws").run(ones, ones * sides)
    return sum(sum(map(sum, frame.busy)) for frame in run.frames())


# A chip, where the side of its arrays is printed, and where how many a core has.
GENERATIONS = {
    "tpu_v1": ("tpu1.side", ""),
    "tpu_v2": ("tpu_arch.mxu", ""),
    "tpu_v3": ("tpu_arch.mxu", ""),
    "tpu_v4": ("tpu_arch.mxu", ""),
    "tpu_v5e": ("tpu_arch.mxu", ""),
    "tpu_v5p": ("tpu_arch.mxu", ""),
    "tpu_v6e": ("tpu6.mxu", "tpu6.mxus"),
    "tpu_v7": ("jax.tpu7_mxu", "jax.tpu7_mxus"),
}


def generations() -> list[dict[str, Any]]:
    """Side and number of each TPU's arrays, and the clock that its peak asks of them.

    Where no clock is printed the number is, and the other way round.
    """
    found = []
    for key, (printed, number) in GENERATIONS.items():
        chip, side_ = hardware.get(key), quoted(printed)
        name = "int8" if key == "tpu_v1" else "bf16"
        pair = one_of("OP" if name == "int8" else "FLOP")
        done = (2 * side_ * side_ * pair / one_of("cycle")).retag("dense")
        done, peak = done.retag("per_chip"), chip.peak(name).across(1)
        if number:
            many = chip.compute_units * quoted(number)
            clock = (peak / (many * done)).to("GHz")
        else:
            clock = chip.tensor_clock
            many = peak / (clock * done)
        found.append(
            {
                "chip": chip.short,
                "side": side_,
                "arrays": many.named(f"arrays, {chip.short}"),
                "clock": clock.named(f"clock, {chip.short}"),
                "clock printed": "no" if number else "yes",
            }
        )
    return found


# -- five witnesses --------------------------------------------------------------------


@cache
def shown(shape: str) -> tuple[Any, Any]:
    """The product whose cycles two of the witnesses stored."""
    one = next(row for row in rows("rtl_witnesses") if row["id"] == shape)
    return one["shown"][0], one["shown"][1]


@counting("cycles of 4 x 4 by 4 x 4, the first counted as {first}")
def small(first: int) -> int:
    """Its last cycle where the first is number ``first``."""
    return first + cycles(m=4, n=4, k=4, rows=4, cols=4)


@counting("cycles in which all agree, {shape}", unit="cycle")
def agreed(shape: str) -> int:
    """Cycles of one product in which five accounts say the same, operands and sums.

    Formula, stepped array and gates run here; Amaranth and Icarus are stored.
    """
    told = list(_told(shape))
    return next(
        (at for at, five in enumerate(told) if any(x != five[0] for x in five)),
        len(told),
    )


def _told(shape: str) -> Iterator[list[Any]]:
    from stacklib.accelerators.rtl.feed import by_formula
    from stacklib.accelerators.rtl.gates import by_gates
    from stacklib.accelerators.rtl.stepped import by_steps

    one = next(row for row in rows("rtl_witnesses") if row["id"] == shape)
    a, b = shown(shape)
    ours = [[_plain(c) for c in way(a, b)] for way in (by_formula, by_steps, by_gates)]
    stored = [one["told"][name] for name in ("amaranth", "icarus")]
    for cycle in zip(*ours, *stored, strict=True):
        yield list(cycle)


def _plain(cycle: Any) -> list[Any]:
    return [[list(row) for row in part] for part in (cycle.a, cycle.b, cycle.sums)]


def witnesses() -> list[dict[str, Any]]:
    """Each stored shape: its last cycle, and products that each account agreed on."""
    found = []
    for shape in ("2x4x2", "4x4x4"):
        m, k, n = (int(x) for x in shape.split("x"))
        size: dict[str, Any] = {"m": m, "n": n, "k": k, "rows": m, "cols": n}
        row: dict[str, Any] = {
            "product": shape.replace("x", " × "),
            "formula: last cycle": counted(cycles, **size, label="last cycle"),
            "all five agree": agreed(shape),
        }
        names = {
            "Amaranth": "amaranth",
            "Verilog in Icarus": "icarus",
            "gates": "gates",
        }
        for name, key in names.items():
            row[name] = recorded(WITNESSES, shape, f"equal/{key}", label=name)
        row["random products"] = recorded(
            WITNESSES, shape, "products", label="random products"
        )
        found.append(row)
    return found
