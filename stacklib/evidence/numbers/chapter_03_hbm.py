"""Numbers of the section on stacks: builds, accesses, generations."""

from __future__ import annotations

from functools import cache

from stacklib import hardware
from stacklib.hardware import stack_generation
from stacklib.hardware.stacks import accesses
from stacklib.memory.dram.bursts import count_stream, stack_bus
from stacklib.memory.stack import builds
from stacklib.memory.stack.generations import generation_rows
from stacklib.quantity import Quantity, ceil

from .registry import number


def _count(value: float, label: str) -> Quantity:
    return Quantity(value, "1", label=label, kind="assumption")


def _best(device: str) -> builds.PackageBuild:
    return builds.builds_of(device).found[0]


# --- one stack, one package ---------------------------------------------------------


@number("hbm.ddr5", unit="GB/s", evidence="spec")
def ddr5() -> Quantity:
    """Bandwidth of a channel of DDR5-6400."""
    return hardware.memory("ddr5-6400").bandwidth


@number("hbm.ddr5_rate", unit="Gbit/s", digits=2, evidence="spec")
def ddr5_rate() -> Quantity:
    """Rate of a pin of DDR5-6400."""
    return hardware.memory("ddr5-6400").pin_rate


@number("hbm.ddr5_pins", evidence="spec")
def ddr5_pins() -> Quantity:
    """Data pins of a DDR5 channel."""
    return hardware.memory("ddr5-6400").pins


@number("hbm.h100_rate", unit="Gbit/s", evidence="spec")
def h100_rate() -> Quantity:
    """Rate of a memory pin of an H100, from its driver."""
    return hardware.get("h100-sxm").memory_pin_rate


@number("hbm.pins", digits=4, evidence="spec")
def pins() -> Quantity:
    """Data pins of a stack, from HBM1 to HBM3E."""
    return stack_generation("hbm3").memory.pins


@number("hbm.pins_hbm4", digits=4, evidence="spec")
def pins_hbm4() -> Quantity:
    """Data pins of a stack of HBM4."""
    return stack_generation("hbm4").memory.pins


@number("hbm.wider")
def wider() -> Quantity:
    """Data pins of a stack over those of a DDR5 channel."""
    return pins() / ddr5_pins()


@number("hbm.h100_stack", unit="GB/s")
def h100_stack() -> Quantity:
    """Bandwidth of one stack of an H100: pins times rate."""
    return (pins() * h100_rate()).to("B/s").named("bandwidth of a stack")


@number("hbm.h100_capacity", unit="GB", evidence="spec")
def h100_capacity() -> Quantity:
    """Capacity printed on an H100."""
    return hardware.get("h100-sxm").memory_capacity


@number("hbm.h100_stacks")
def h100_stacks() -> Quantity:
    """Stacks of an H100: its bandwidth over that of one, rounded up."""
    bandwidth = hardware.get("h100-sxm").memory_bandwidth
    return ceil((bandwidth / h100_stack()).to("1") - _count(0.01, "rounding of print"))


@number("hbm.h100_each", unit="GB", digits=2)
def h100_each() -> Quantity:
    """Gigabytes on the box for each stack of an H100."""
    return h100_capacity() / h100_stacks()


@number("hbm.h100_height")
def h100_height() -> Quantity:
    """Dies of a stack of an H100, from capacity, stacks and dies of 16 Gbit."""
    return _count(_best("h100-sxm").height, "height found by builds_of")


@number("hbm.six_rate", unit="Gbit/s")
def six_rate() -> Quantity:
    """Rate of a pin that six stacks would need for 8 TB/s."""
    bandwidth = hardware.get("gb200").memory_bandwidth
    return builds.needed_rate(bandwidth, 6, stack_generation("hbm3e"))


@number("hbm.top_rate", unit="Gbit/s", digits=2, evidence="spec")
def top_rate() -> Quantity:
    """Fastest pin of HBM3E."""
    return stack_generation("hbm3e").top_rate


@number("hbm.b200_implied", unit="Gbit/s")
def b200_implied() -> Quantity:
    """Rate of a pin that eight stacks need for 8 TB/s."""
    return _best("gb200").pin_rate


@number("hbm.b200_spare", unit="%", digits=2)
def b200_spare() -> Quantity:
    """Share of the dies of an HGX B200 that is not sold."""
    return _count(_best("b200-sxm").spare, "spare found by builds_of")


@number("hbm.b300_spare", unit="%", digits=2)
def b300_spare() -> Quantity:
    """Share of the dies of an HGX B300 that is not sold."""
    return _count(_best("b300-sxm").spare, "spare found by builds_of")


@number("hbm.mi325x_spare", unit="%", digits=2)
def mi325x_spare() -> Quantity:
    """Share of the dies of an MI325X that is not sold."""
    return _count(_best("mi325x").spare, "spare found by builds_of")


@number("hbm.gibi", unit="%", digits=2)
def gibi() -> Quantity:
    """How many more bytes the dies of an 80 GB H100 hold than 80 times 10^9."""
    dies = h100_stacks() * _count(_best("h100-sxm").height, "dies of a stack")
    held = dies * stack_generation("hbm3").memory.die_capacity.to("B")
    return held / h100_capacity() - 1


@number("hbm.rubin_rate", unit="Gbit/s")
def rubin_rate() -> Quantity:
    """Rate of a pin that Rubin's 22 TB/s need on eight stacks."""
    return _best("rubin").pin_rate


@number("hbm.rubin_bandwidth", unit="TB/s", digits=2, evidence="spec")
def rubin_bandwidth() -> Quantity:
    """Bandwidth announced for Rubin."""
    return hardware.get("rubin").memory_bandwidth


@number("hbm.rubin_capacity", unit="GB", evidence="spec")
def rubin_capacity() -> Quantity:
    """Capacity announced for Rubin."""
    return hardware.get("rubin").memory_capacity


@number("hbm.rubin_over", unit="%", digits=2)
def rubin_over() -> Quantity:
    """How much faster Rubin's pins run than the standard's."""
    return _best("rubin").pin_rate / stack_generation("hbm4").memory.pin_rate - 1


@number("hbm.document_rate", unit="Gbit/s", digits=2, evidence="spec")
def document_rate() -> Quantity:
    """Rate of a pin of HBM4 in JESD270-4."""
    return stack_generation("hbm4").memory.pin_rate


@number("hbm.a100_over", unit="%", digits=2)
def a100_over() -> Quantity:
    """How much faster the pins of a 40 GB A100 run than the document of HBM2 has."""
    best = _best("a100-sxm-40gb")
    return best.pin_rate / best.generation.memory.pin_rate - 1


@cache
def _stacked() -> tuple[str, ...]:
    devices = (k for k in hardware.names() if builds.generations_of(hardware.get(k)))
    return tuple(devices)


@number("hbm.devices")
def devices() -> Quantity:
    """Devices of the database with HBM."""
    return _count(len(_stacked()), "devices with HBM in the database")


@number("hbm.single")
def single() -> Quantity:
    """Devices with HBM for which just one build gives both figures."""
    one = sum(len(builds.builds_of(key).found) == 1 for key in _stacked())
    return _count(one, "devices with one build")


@number("hbm.v5e_bandwidth", unit="GB/s", evidence="spec")
def v5e_bandwidth() -> Quantity:
    """Bandwidth printed of a TPU v5e."""
    return hardware.get("tpu-v5e").memory_bandwidth


@number("hbm.hbm3_stack", unit="GB/s")
def hbm3_stack() -> Quantity:
    """Bandwidth of a stack of HBM3 at its document's rate."""
    one = stack_generation("hbm3").memory
    return (one.pins * one.pin_rate).to("B/s").named("bandwidth of a stack")


@number("hbm.v5p_stacks")
def v5p_stacks() -> Quantity:
    """Stacks of a TPU v5p by the first build that fits."""
    return _count(_best("tpu-v5p").stacks, "stacks found by builds_of")


@number("hbm.v5p_bandwidth", unit="GB/s", digits=4, evidence="spec")
def v5p_bandwidth() -> Quantity:
    """Bandwidth printed of a TPU v5p."""
    return hardware.get("tpu-v5p").memory_bandwidth


@number("hbm.v5p_built", unit="GB/s", digits=4)
def v5p_built() -> Quantity:
    """Bandwidth of six stacks of HBM2E at their full rate."""
    one = stack_generation("hbm2e").memory
    return (v5p_stacks() * one.pins * one.pin_rate).to("B/s").named("of all stacks")


# --- what an access moves -----------------------------------------------------------


def _access(generation: str) -> Quantity:
    rows = {row.generation.key: row for row in generation_rows()}
    return rows[generation].access


@number("hbm.access", unit="B")
def access() -> Quantity:
    """Bytes of the smallest access of HBM3: width of a part times beats."""
    return _access("hbm3")


@number("hbm.access_hbm4", unit="B")
def access_hbm4() -> Quantity:
    """Bytes of the smallest access of HBM4."""
    return _access("hbm4")


@number("hbm.access_ddr5", unit="B")
def access_ddr5() -> Quantity:
    """Bytes of the smallest access of DDR5."""
    width, burst = accesses()["DDR5"]
    return (width * burst).to("B").named("bytes of an access")


@number("hbm.parts_hbm3")
def parts_hbm3() -> Quantity:
    """Pseudo-channels of a stack of HBM3."""
    return _count(stack_bus("hbm3").parts, "pseudo-channels of HBM3")


@number("hbm.parts_hbm4")
def parts_hbm4() -> Quantity:
    """Pseudo-channels of a stack of HBM4."""
    return _count(stack_bus("hbm4").parts, "pseudo-channels of HBM4")


@number("hbm.width_part", unit="bit")
def width_part() -> Quantity:
    """Bits of a pseudo-channel of HBM3."""
    return accesses()["HBM3"][0]


@number("hbm.burst", evidence="spec")
def burst() -> Quantity:
    """Beats of a burst of HBM3."""
    return stack_generation("hbm3").burst


@number("hbm.stripe", unit="KiB", digits=2)
def stripe() -> Quantity:
    """Bytes in a row that touch every pseudo-channel of Rubin once."""
    parts = stack_bus("hbm4", stacks=8).parts
    total = access_hbm4() * _count(parts, "pseudo-channels of eight stacks")
    return total.named("one access of every part")


@number("hbm.stride_worst", evidence="simulated", digits=2)
def stride_worst() -> Quantity:
    """Full bandwidth over that of reads one stripe apart, one stack of HBM3."""
    bus = stack_bus("hbm3")
    far = count_stream(bus, range(0, 64 * bus.stripe, bus.stripe), size=32)
    return _count(bus.bandwidth / far.bandwidth, "counted by count_stream")


# --- generations --------------------------------------------------------------------


@number("hbm.grown_bandwidth", digits=2)
def grown_bandwidth() -> Quantity:
    """Bandwidth of a stack of HBM4 over that of HBM1."""
    rows = generation_rows()
    return rows[-1].stack.bandwidth / rows[0].stack.bandwidth


@number("hbm.grown_capacity", digits=2)
def grown_capacity() -> Quantity:
    """Capacity of the tallest stack of HBM4 over that of HBM1."""
    rows = generation_rows()
    return rows[-1].stack.capacity / rows[0].stack.capacity


@number("hbm.grown_rate", digits=2)
def grown_rate() -> Quantity:
    """Rate of a pin of HBM4 over that of HBM1."""
    rows = generation_rows()
    return rows[-1].generation.memory.pin_rate / rows[0].generation.memory.pin_rate


@number("hbm.hbm4_stack", unit="TB/s")
def hbm4_stack() -> Quantity:
    """Bandwidth of a stack of HBM4 at the standard's rate."""
    one = stack_generation("hbm4").memory
    return (one.pins * one.pin_rate).to("B/s").named("bandwidth of a stack")


@number("hbm.slower", unit="%", digits=2)
def slower() -> Quantity:
    """How much slower a pin of HBM4 is than one of HBM3E, by their documents."""
    return 1 - stack_generation("hbm4").memory.pin_rate / top_rate()
