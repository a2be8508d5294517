"""Claims on stacks, their dies and pins, and what is inside one."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.hardware import stack_fact, stack_generation
from stacklib.hardware.stacks import base_dies, via_counts
from stacklib.memory import builds_of, package_builds
from stacklib.quantity import (
    Quantity,
    assumed,
    ceil,
    chosen,
    counted,
    maximum,
    one_of,
    quoted,
)

ON_THE_BOX = assumed(
    1,
    "GB/GiB",
    "GB printed for a GiB of dies",
    why="The trade writes a die of 16 Gibit as 2 GB.",
)


def stacks_needed(device: str, generation: str) -> Quantity:
    """Stacks whose pins, at the device's printed rate, reach its bandwidth."""
    chip = hardware.get(device)
    pins = stack_generation(generation).memory.pins
    each = (pins * chip.memory_pin_rate).to("B/s").named("bandwidth of a stack")
    return ceil(chip.memory_bandwidth / each).named("stacks needed")


def height(device: str) -> Quantity:
    """Dies of a stack in the build that gives a device what it prints."""
    return counted(
        builds_of,
        device,
        label="dies of a stack",
        take="found[0].height",
    )


def printed_gb(stacks: Quantity, height: Quantity, die: Quantity) -> Quantity:
    """Gigabytes on the box of so many stacks of so many dies."""
    dies = (stacks * height).named("dies")
    return (dies * die.to("GiB") * ON_THE_BOX).to("GB").named("capacity on the box")


def _die(generation: str) -> Quantity:
    return stack_generation(generation).memory.die_capacity


@claim("b200-hbm-stacks")
def b200_stacks() -> Finding:
    """Bandwidth over that of one stack at the rate the driver reports."""
    six = package_builds(
        Quantity(192, "GB"), hardware.get("gb200").memory_bandwidth, "hbm3e", stacks=6
    )
    return Finding(
        stacks_needed("b200-sxm", "hbm3e"),
        why=f"Eight. With six, 8 TB/s is refused: {six.refused[0]}.",
    )


@claim("b200-hbm-stack-capacity")
def b200_stack() -> Finding:
    """Eight dies of 24 Gbit."""
    return Finding(
        printed_gb(chosen(1, label="stack"), height("b200-sxm"), _die("hbm3e")),
        why="Right for one stack, but then the package has eight of them, not six.",
    )


@claim("b200-hbm-capacity")
def b200_capacity() -> Finding:
    """Eight stacks of eight dies; the board sells less."""
    b200 = hardware.get("b200-sxm")
    sold = b200.memory_capacity
    return Finding(
        printed_gb(b200.memory_stacks, height("b200-sxm"), _die("hbm3e")),
        why=f"What the dies hold. An HGX board is sold with {sold.text('GB')}.",
    )


@claim("b200-hbm-12high")
def b200_height() -> Finding:
    """Dies of a stack: its capacity over that of a die."""
    b200 = hardware.get("b200-sxm")
    gb200 = hardware.get("gb200")
    each = gb200.memory_capacity / b200.memory_stacks / ON_THE_BOX
    return Finding(
        ceil(each.to("GiB") / _die("hbm3e").to("GiB")).named("dies of a stack"),
        why="Capacity over stacks over dies of 24 Gbit, rounded up. Twelve dies make "
        "the 288 GB of a B300.",
    )


@claim("h100-hbm-stacks")
def h100_stacks() -> Finding:
    """Bandwidth over that of one stack at the rate the driver reports."""
    eight = package_builds(
        hardware.get("h100-sxm").memory_capacity,
        hardware.get("h100-sxm").memory_bandwidth,
        "hbm3e",
        stacks=8,
    )
    return Finding(
        stacks_needed("h100-sxm", "hbm3"),
        why="Five, of HBM3, on six places. HBM3E came with the H200, eight stacks with "
        f"the B200. As claimed it cannot be built: {eight.refused[0]}.",
    )


@claim("rubin-hbm-capacity")
def rubin_capacity() -> Finding:
    """Eight stacks of the height that its printed capacity has."""
    rubin = hardware.get("rubin")
    tall = quoted("hbm4.tallest")
    low, high = (
        printed_gb(rubin.memory_stacks, dies, _die("hbm3e"))
        for dies in (height("rubin"), tall)
    )
    return Finding.false(
        f"Announced with {rubin.memory_capacity.text('GB')}: eight stacks of "
        f"{height('rubin').si:.0f} dies of 24 Gbit. Stacks of {tall.si:.0f}, which the "
        f"standard allows, would hold {high.text('GB')}.",
        low,
    )


def _width(generation: str) -> Quantity:
    """Data pins of a stack: its bandwidth over the rate of a pin."""
    stack = stack_generation(generation).memory
    beat = one_of("bit", "bits a pin moves in a beat")
    width = stack.bandwidth.to("bit/s") / stack.pin_rate * beat
    return width.named("width of the interface")


@claim("hbm4-interface")
def hbm4_interface() -> Finding:
    """Bandwidth of a stack over the rate of a pin."""
    return Finding(
        _width("hbm4"), why="The standard's 2 TB/s a stack at 8 Gbit/s a pin."
    )


@claim("hbm-width-hbm4")
def hbm4_width() -> Finding:
    """The same, from the standard's bandwidth and rate."""
    return Finding(
        _width("hbm4"),
        why="JESD270-4 gives 2 TB/s a stack at 8 Gbit/s a pin; HBM3 had "
        f"{_width('hbm3').si:,.0f}.",
    )


@claim("hbm-bus-width")
def hbm_width() -> Finding:
    """Bandwidth of an HBM3 stack over the rate of a pin."""
    return Finding(_width("hbm3"), why="From HBM1 to HBM3E. HBM4 has twice as many.")


@claim("hbm3e-width")
def hbm3e_over_ddr5() -> Quantity:
    """Data pins of a stack; a DIMM of DDR5 has a sixteenth."""
    return stack_generation("hbm3e").memory.pins * one_of("bit", "bit of a pin")


@claim("hbm4-stack-bandwidth")
@claim("hbm4-stack-bandwidth-001")
def hbm4_stack() -> Finding:
    """Pins times rate of the standard."""
    share = builds_of("rubin").found[0].of_document
    one = stack_generation("hbm4").memory
    return Finding(
        (one.pins * one.pin_rate).to("TB/s").named("bandwidth of a stack"),
        why=f"At the standard's rate. Rubin's pins run {share - 1:.0%} faster.",
    )


@claim("hbm3e-stack-high")
def hbm3e_height() -> Finding:
    """From the stacks on a B200 to those on a B300."""
    return Finding(
        _dies_high("gb200"),
        to=_dies_high("gb300"),
        why="8-high and 12-high ship; 16-high HBM3E was announced and sampled.",
    )


def _dies_high(device: str) -> Quantity:
    chip = hardware.get(device)
    each = chip.memory_capacity / chip.memory_stacks / ON_THE_BOX
    dies = ceil(each.to("GiB") / _die("hbm3e").to("GiB"))
    return dies.named(f"dies of a stack, {chip.short}")


@claim("hbm-tsv-count")
def vias_a_die() -> Finding:
    """What Samsung counts on a die of HBM2E."""
    counts = [c.a_die for c in via_counts() if c.a_die is not None]
    bumps = stack_fact("power_bumps")
    return Finding(
        maximum(*counts),
        why="Samsung counts over 5,000 on a die of HBM2 and over 5,600 of HBM2E; no "
        f"maker gives later ones. HBM4 must have more: {bumps.si:,.0f} bumps for "
        "power alone under Samsung's base die.",
    )


@claim("h100-total-tsvs")
def vias_of_an_h100() -> Finding:
    """Stacks times dies times vias of a die."""
    h100 = hardware.get("h100-sxm")
    a_die = next(c.a_die for c in via_counts() if c.name.startswith("Samsung HBM2E"))
    assert a_die is not None
    total = (h100.memory_stacks * height("h100-sxm") * a_die).named(
        "vias of the package"
    )
    return Finding.true(
        computed=total,
        why="With Samsung's count for "
        f"HBM2E five stacks have {total.si:,.0f}. The "
        "claim was made from eight stacks, and without counting that each die has its "
        "own vias; nobody has printed a count for HBM3.",
    )


@claim("hbm4-base-n3p")
def base_die() -> Finding:
    """The node that is reported for what ships."""
    made = {(b.maker, b.generation): b for b in base_dies()}
    ships = made["SK hynix", "HBM4"]
    assert ships.node is not None
    return Finding(
        ships.node,
        why=f"{ships.process}, by all reports since 2025. Press of December 2024 did "
        "expect 3 nm; it is now considered for HBM4E.",
    )
