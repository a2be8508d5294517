"""Claims on bandwidths and capacities of devices, from stacks, pins and rates."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.hardware import stack_fact, stack_generation
from stacklib.memory import builds_of
from stacklib.memory.stack.builds import needed_rate
from stacklib.quantity import Quantity, chosen

from .claims import height, printed_gb


@claim("h100-hbm3-generation", "h100-sxm")
@claim("h100-bw", "h100-sxm")
@claim("mi300x-bw", "mi300x")
@claim("a100-bw", "a100-sxm-80gb")
@claim("m4max-bw", "m4-max")
@claim("rtx4090-bw", "rtx-4090")
@claim("rtx5090-bw", "rtx-5090")
@claim("l40s-bw", "l40s")
def pins_times_rate(device: str) -> Quantity:
    """Bandwidth from the pins and the rate that a device runs."""
    chip = hardware.get(device)
    return (chip.memory_pins * chip.memory_pin_rate).to("TB/s").named("pins x rate")


def _package(device: str, generation: str, rate: Quantity) -> Quantity:
    """Bandwidth of all stacks of a package, every pin at ``rate``."""
    stacks = hardware.get(device).memory_stacks
    pins = (stacks * stack_generation(generation).memory.pins).named("pins")
    return (pins * rate).to("TB/s").named("pins x rate")


@claim("b200-hbm-bandwidth")
@claim("b200-bw")
def b200() -> Finding:
    """All pins of eight stacks at the rate the driver reports."""
    chip = hardware.get("b200-sxm")
    return Finding(
        _package("b200-sxm", "hbm3e", chip.memory_pin_rate),
        why="All pins of eight stacks. An HGX board has "
        f"{chip.memory_pins.si:,.0f} of {8 * 1024:,} switched on and is sold with "
        f"{chip.memory_bandwidth.text('TB/s')}.",
    )


@claim("b200-hbm-range")
def b200_low_end() -> Finding:
    """What is sold as the fastest B200."""
    chip, sold = hardware.get("b200-sxm"), hardware.get("gb200").memory_bandwidth
    nine = needed_rate(
        Quantity(9, "TB/s"), int(chip.memory_stacks.si), stack_generation("hbm3e")
    )
    return Finding(
        sold,
        why=f"NVIDIA sells {chip.memory_bandwidth.text('TB/s')} on an HGX board and "
        f"{sold.text('TB/s')} in a GB200. Nine need {nine:Gbit/s} a pin, and the "
        f"driver reports {chip.memory_pin_rate:Gbit/s}.",
    )


@claim("b200-hbm-bandwidth-product")
def b200_product() -> Finding:
    """The product as it is written, and the rate that would give the sum."""
    written = chosen(9.2, "Gbit/s", "rate as written")
    build = builds_of("gb200").found[0]
    return Finding(
        _package("b200-sxm", "hbm3e", written),
        why=f"The three factors give more than is claimed. 8 TB/s needs "
        f"{build.pin_rate:Gbit/s} a pin; 9.2 is what the parts are rated for.",
    )


@claim("hbm3-per-chip")
def h100_chip() -> Finding:
    """Of the chip, not of a stack."""
    each = pins_times_rate("h100-sxm") / hardware.get("h100-sxm").memory_stacks
    return Finding(
        pins_times_rate("h100-sxm"),
        why=f"Of an H100. One of its stacks gives {each.text('GB/s')}.",
    )


@claim("h200-hbm-bandwidth")
def h200_misnamed() -> Finding:
    """Six stacks of HBM3E."""
    return Finding(
        pins_times_rate("h200-sxm"),
        why="3.35 TB/s is the H100, with five stacks of HBM3. Every step that the "
        "essay times on an H200 is too long by the same factor.",
    )


@claim("h200-bw")
def h200() -> Finding:
    """Six stacks at the published rate of a pin."""
    return Finding(
        pins_times_rate("h200-sxm"),
        why="At 6.2 Gbit/s a pin, as published; the printed bandwidth implies "
        f"{builds_of('h200-sxm').found[0].pin_rate:Gbit/s}. 141 GB are six stacks "
        "of 24, less a spare part.",
    )


@claim("h200-over-h100-bw")
def h200_over_h100() -> Finding:
    """Ratio of the products."""
    more = (
        hardware.get("h200-sxm").memory_capacity
        / hardware.get("h100-sxm").memory_capacity
    )
    return Finding(
        pins_times_rate("h200-sxm") / pins_times_rate("h100-sxm"),
        why=f"And {more.text()} of the capacity.",
    )


@claim("rubin-hbm4-22")
def rubin() -> Finding:
    """Eight stacks at the slower of the rates that NVIDIA takes."""
    implied = builds_of("rubin").found[0]
    document = stack_generation("hbm4").memory.pin_rate
    return Finding(
        _package("rubin", "hbm4", stack_fact("rubin_rate")),
        why="With the slower of the two parts that NVIDIA is reported to take. 22 TB/s "
        f"is {implied.pin_rate:Gbit/s} a pin; the standard's rate is "
        f"{document:Gbit/s}.",
    )


def _of_dies(device: str, generation: str = "hbm3e") -> Quantity:
    """What the dies of a device hold."""
    die = stack_generation(generation).memory.die_capacity
    return printed_gb(hardware.get(device).memory_stacks, height(device), die)


def _sold(device: str) -> str:
    return hardware.get(device).memory_capacity.text("GB")


@claim("blackwell-hbm-288")
def blackwell() -> Finding:
    """Eight stacks of eight dies, and of twelve."""
    return Finding(
        _of_dies("gb200"),
        to=_of_dies("gb300"),
        why="What the dies of a GB200 and of a GB300 hold. Sold are "
        f"{_sold('gb200')} and {_sold('gb300')}.",
    )


@claim("gb200-half-192")
def gb200() -> Finding:
    """Dies of one GPU; part of them is not sold."""
    return Finding(
        _of_dies("gb200"), why=f"What the dies hold. Sold are {_sold('gb200')}."
    )


@claim("tier-hbm-capacity")
def tier() -> Finding:
    """Five stacks of an H100 and six of an H200."""
    return Finding(
        _of_dies("h100-sxm", "hbm3"),
        to=_of_dies("h200-sxm"),
        why=f"From an H100 to an H200. {builds_of('h200-sxm').found[0].text} hold "
        f"{_of_dies('h200-sxm'):GB}; {_sold('h200-sxm')} are sold.",
    )


@claim("a100-b200-hbm")
def growth() -> Finding:
    """The B200 over the A100, each as it was launched."""
    b200 = hardware.get("gb200").memory_bandwidth
    later = b200 / hardware.get("a100-sxm-80gb").memory_bandwidth
    return Finding(
        b200 / hardware.get("a100-sxm-40gb").memory_bandwidth,
        why="From the A100 of 2020, with 40 GB, to the B200 of a GB200. From the A100 "
        f"with 80 GB it is {later:.3}.",
    )
