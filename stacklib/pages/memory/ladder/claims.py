"""Claims on how large and how fast each level of memory is."""

from functools import cache

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.memory.ladder.rungs import Rung, ladder
from stacklib.quantity import Quantity, bytes_per_element, one_of, quoted

H100, B200, A100, H200 = "h100_sxm", "b200_sxm", "a100_sxm_80gb", "h200_sxm"


@cache
def rungs(device: str) -> dict[str, Rung]:
    """The ladder of a device, by the names of its rungs."""
    return {rung.name: rung for rung in ladder(device)}


def known(value: Quantity | None, what: str) -> Quantity:
    """A figure that is there, or UnknownSpec with words for ``what`` is not."""
    if value is None:
        raise hardware.UnknownSpec(f"{what} is unknown")
    return value


def cycles(device: str, level: str) -> Quantity:
    """Cycles of a load from a level, as measured."""
    return known(rungs(device)[level].cycles, f"{device} {level} latency")


def rate(device: str, level: str) -> Quantity:
    """Bandwidth of a rung, of the chip."""
    return known(rungs(device)[level].chip_bandwidth, f"{device} {level} bandwidth")


def unit_rate(device: str, level: str) -> Quantity:
    """Bandwidth of a rung, of one unit."""
    return known(rungs(device)[level].unit_bandwidth, f"{device} {level} bandwidth")


def all_units(device: str, level: str) -> Quantity:
    """Capacity of a rung, of the chip."""
    return known(rungs(device)[level].chip_capacity, f"{device} {level} capacity")


def field(device: str, name: str) -> Quantity:
    """A field of the spec sheet."""
    return known(hardware.get(device).fields[name], f"{device} {name}")


# -- bandwidth --------------------------------------------------------------------


@claim("mem-register-bandwidth")
def register_bandwidth() -> Finding:
    """Lanes x three operands x four bytes x clock, all units of a B200."""
    return Finding(
        rate(B200, "registers"),
        why=f"The figure is the shared memory of all units of a B200, "
        f"{rate(B200, 'shared memory'):.3 TB/s}: the column has slipped by one "
        "level. Registers feed three operands of four bytes to every lane in every "
        "cycle.",
    )


@claim("mem-shared-bandwidth")
def shared_bandwidth() -> Finding:
    """Banks x a word x clock, all units of a B200, as the pyramid's other rows are."""
    old, next_one = (rate(chip, "shared memory") for chip in (A100, H100))
    return Finding(
        rate(B200, "shared memory"),
        why="The pyramid around it has the L2 and the HBM of a B200; this row is that "
        f"of an A100, {old:.3 TB/s}. On an H100 it is {next_one:.3 TB/s}.",
    )


@claim("mem-l2-bandwidth")
def l2_bandwidth() -> Finding:
    """Bytes a unit and cycle, as measured on Hopper, for the units of a B200."""
    return Finding(
        rate(B200, "L2"),
        why="What a unit draws in a cycle was measured on Hopper and is taken for "
        f"Blackwell too. An H100 comes to {rate(H100, 'L2'):.3 TB/s}.",
    )


@claim("within-sm-10-20")
def within_a_unit() -> Finding:
    """One unit's shared memory and registers, the levels that the claim names."""
    return Finding(
        unit_rate(H100, "shared memory"),
        to=unit_rate(H100, "registers"),
        why=f"One unit of an H100 draws that from shared memory and "
        f"{unit_rate(H100, 'registers'):.3 TB/s} from its registers. Tens of TB/s "
        f"are what all units have together: {rate(A100, 'shared memory'):.3 TB/s} "
        f"on an A100, {rate(H100, 'shared memory'):.3 TB/s} on an H100.",
    )


@claim("bw-l2-hbm-3-8")
def outer_bandwidth() -> Finding:
    """From the HBM of an H100 to the L2 of a B200."""
    return Finding(
        rate(H100, "HBM"),
        to=rate(B200, "L2"),
        why=f"Both claimed ends are HBM: {rate(H100, 'HBM')} on an H100, "
        f"{rate(B200, 'HBM')} on a B200. The L2 lies above the range: "
        f"{rate(H100, 'L2'):.3 TB/s} and {rate(B200, 'L2'):.3 TB/s}.",
    )


@claim("tier-sram-bandwidth")
def sram_bandwidth() -> Finding:
    """The slowest and the fastest level that the row names, of an H100."""
    return Finding(
        rate(H100, "L2"),
        to=rate(H100, "registers"),
        why="One range for three levels. Of an H100, shared memory lies inside it with "
        f"{rate(H100, 'shared memory'):.3 TB/s}; the registers carry "
        f"{rate(H100, 'registers'):.3 TB/s}, the L2 {rate(H100, 'L2'):.3 TB/s}.",
    )


# -- capacity ---------------------------------------------------------------------


@claim("mem-register-capacity", B200, "registers_per_unit", "One unit of a B200.")
@claim(
    "mem-shared-capacity",
    B200,
    "shared_per_unit",
    "One unit of a B200; of an H100 it is the same.",
)
@claim("b200-l2-capacity", B200, "l2_capacity", "Two dies with half of it each.")
@claim(
    "h100-l2-capacity",
    H100,
    "l2_capacity",
    "Two partitions; a published pointer chase shows where the near one ends.",
)
def capacity(device: str, name: str, why: str) -> Finding:
    """As the data sheet or the device says."""
    return Finding(field(device, name), why=why)


@claim("registers-tens-of-kb")
def registers_tens() -> Finding:
    """Of one unit of an H100."""
    shared = field(H100, "shared_per_unit")
    return Finding.false(
        computed=field(H100, "registers_per_unit"),
        why="It contradicts the guide's own 64K registers of four bytes. The register "
        f"file is larger than the shared memory below it, {shared}: the pyramid is "
        "not one in capacity.",
    )


@claim("gpu-smem-228kb")
def shared_capacity_again() -> Finding:
    """Of one unit of an H100."""
    return Finding(
        field(H100, "shared_per_unit"),
        why="An H100 or a B200. It is not a GPU's in general: an A100 has "
        f"{field(A100, 'shared_per_unit')}, an RTX 4090 "
        f"{field('rtx_4090', 'shared_per_unit')}.",
    )


@claim("regfile-64k")
def registers() -> Finding:
    """Bytes of an H100's file over four."""
    size = field(H100, "registers_per_unit")
    return Finding(
        size / one_of("B per_chip") / bytes_per_element("fp32") * one_of("B"),
        why=f"{size} in all. The same guide says tens of KB elsewhere; this is the one "
        "that is right.",
    )


@claim("smem-100-230")
def shared_range() -> Finding:
    """The array that L1 and shared memory are cut from, of two chips in the range."""
    part = [field(chip, "shared_per_unit") for chip in ("rtx_4090", B200)]
    return Finding(
        quoted("l1_array.ada"),
        to=quoted("l1_array.blackwell"),
        why="From an RTX 4090 to a B200, the whole array. What of it can be shared "
        f"memory is {part[0]} to {part[1]}, which is the claimed range.",
    )


@claim("b200-l2-growth")
def l2_growth() -> Finding:
    """L2 of a B200 over that of an H100."""
    growth = field(B200, "l2_capacity") / field(H100, "l2_capacity")
    dies = field(B200, "dies")
    return Finding(
        growth.named("growth of the L2"),
        why=f"Of the package. Per die it is {growth / dies:.3}.",
    )


@claim("l2-40-60")
def l2_range() -> Finding:
    """From an A100's to a B200's, whose memory the same line gives."""
    return Finding(
        field(A100, "l2_capacity"),
        to=field(B200, "l2_capacity"),
        why=f"A100 {field(A100, 'l2_capacity')}, H100 {field(H100, 'l2_capacity')}, "
        f"H200 {field(H200, 'l2_capacity')}: these are the range. But the same line "
        "gives HBM up to 192 GB, which is a B200's.",
    )


@claim("tier-sram-capacity")
def sram_capacity() -> Finding:
    """Registers, shared memory and L2 together, of an A100 and of a B200."""
    old, new = (
        all_units(on, "registers")
        + all_units(on, "shared memory")
        + all_units(on, "L2")
        for on in (A100, B200)
    )
    registers = all_units(H100, "registers")
    return Finding(
        old.named("on-chip SRAM of an A100"),
        to=new.named("on-chip SRAM of a B200"),
        why="Registers, shared memory and L2 together, from an A100 to a B200. The "
        f"registers alone of an H100 are {registers.text('MB')}.",
    )
