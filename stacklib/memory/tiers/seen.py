"""The same tiers from two places: an SM of a GPU, and a core of its host.

A byte in DDR5 is near for the core and behind a link for the SM; with HBM it is the
other way round. So a table of tiers names the place it is seen from. Everything is
computed from the specs of the parts; what they leave open is named as an assumption.
"""

from __future__ import annotations

from collections.abc import Mapping

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, assumed, chosen, minimum, one_of

from .parts import constant, drive
from .tier import Tier

PRICED = ("sram", "hbm", "ddr5", "cxl", "nvme")  # kinds that a price may be given for
VIEWPOINTS = ("sm", "core")
HOST = "epyc_9755"
HOST_MEMORY = "ddr5_6000_12ch"
WORD = "The energies of the paper are of one word."
MODULES, MODULE_GB = 12, 64  # RDIMMs of the size servers are sold with
CXL_MODULES = 4


def sram_energy() -> Quantity:
    """Joules a bit of one access to a 32 KB array, which L1 is built from."""
    bits = assumed(64, "bit", "bits of an access", why=WORD)
    return (constant("sram_32kb") / bits).named("SRAM array, energy a bit")


def hbm2_energy() -> Quantity:
    """Joules a bit of an HBM2 stack: row, wires inside it, pins, error correction."""
    return hardware.memory("hbm2").energy


def hbm2_correction() -> Quantity:
    """What of it the three parts that are published leave for error correction."""
    parts = ("hbm_activation", "hbm_movement", "hbm_io")
    left = hbm2_energy()
    for name in parts:
        left = left - constant(name)
    return left.named("HBM2, error correction, energy a bit")


def flash_latency(link: str = "pcie5_x16") -> Quantity:
    """One read of a drive, from an SM: what the drive takes, and the link to it."""
    way = drive("micron_9550").latency + hardware.link(link).latency
    return way.named("flash read, from an SM")


def ddr5_energy() -> Quantity:
    """Joules a bit of DDR5: DDR4's, as the square of the supply has fallen since."""
    bits = assumed(64, "bit", "bits of an access", why=WORD)
    supply = constant("ddr5_supply") / constant("ddr4_supply")
    return (constant("ddr4_access") / bits * supply**2).named("DDR5, energy a bit")


def _rate(q: Quantity) -> Quantity:
    """Bytes a second whatever the direction or the chip: what one reader draws."""
    second = one_of("s", "a second")
    return (q.across(1) * second / second).named(q.label)


def _host_memory() -> tuple[Quantity, Quantity, Quantity]:
    """Latency, bandwidth and capacity of a socket's DDR5, seen from its cores."""
    memory = hardware.memory(HOST_MEMORY)
    modules = assumed(MODULES, label="modules", why="one at each of its controllers")
    each = assumed(MODULE_GB, "GB", "module", why="the size servers are sold with")
    return memory.latency, memory.bandwidth, (modules * each).named("DDR5 of a socket")


def _cxl() -> tuple[Quantity, Quantity, Quantity]:
    """The same of four CXL modules: local DRAM, and what the link adds."""
    latency = hardware.memory(HOST_MEMORY).latency + hardware.link("cxl2_x16").latency
    modules = chosen(CXL_MODULES, label="CXL modules")
    return (
        latency.named("load from CXL memory"),
        (modules * constant("cxl_module_bandwidth")).named("bandwidth of the modules"),
        (modules * constant("cxl_module_capacity")).named("capacity of the modules"),
    )


def _from_sm(device: Accelerator, prices: Mapping[str, Quantity]) -> list[Tier]:
    shared, l1, memory = (
        hardware.level(device, name) for name in ("shared", "l1", "dram")
    )
    link = hardware.link("pcie5_x16")
    across = _rate(link.achieved)
    ddr, cxl, ssd = _host_memory(), _cxl(), drive("micron_9550")
    sram, hbm = sram_energy(), hbm2_energy()
    wire = link.energy
    dram = ddr5_energy()
    return [
        Tier("shared memory", shared.known("latency"), _rate(l1.known("rate")),
             shared.total.across(1), prices.get("sram"), sram),
        Tier("HBM", memory.known("latency"), _rate(memory.known("rate")),
             memory.total.across(1), prices.get("hbm"), hbm),
        Tier("DDR5 of the host", ddr[0] + link.latency, minimum(ddr[1], across),
             ddr[2], prices.get("ddr5"), dram + wire),
        Tier("CXL of the host", cxl[0] + link.latency, minimum(cxl[1], across),
             cxl[2], prices.get("cxl"), dram + wire + wire),
        Tier("NVMe", flash_latency(), minimum(ssd.read, across),
             ssd.capacity, prices.get("nvme"), ssd.energy + wire),
    ]  # fmt: skip


def _from_core(device: Accelerator, prices: Mapping[str, Quantity]) -> list[Tier]:
    host = hardware.get(HOST)
    link = hardware.link("pcie5_x16")
    ddr, cxl, ssd = _host_memory(), _cxl(), drive("micron_9550")
    l3 = constant("l3_bytes_per_cycle") * host.clock * host.compute_units
    # At least: the device's own way to its memory comes on top of the link's.
    hbm = link.latency + hardware.level(device, "dram").known("latency")
    wire, dram = link.energy, ddr5_energy()
    return [
        Tier(
            "L3",
            constant("l3_cycles") / host.clock,
            _rate(l3),
            host.l2_capacity.across(1),
            prices.get("sram"),
            sram_energy(),
        ),
        Tier("DDR5", ddr[0], ddr[1], ddr[2], prices.get("ddr5"), dram),
        Tier("CXL", cxl[0], cxl[1], cxl[2], prices.get("cxl"), dram + wire),
        Tier(
            "HBM of the GPU",
            hbm,
            _rate(link.achieved),
            device.memory_capacity.across(1),
            prices.get("hbm"),
            hbm2_energy() + wire,
        ),
        Tier(
            "NVMe", ssd.latency, ssd.read, ssd.capacity, prices.get("nvme"), ssd.energy
        ),
    ]


def tiers_from(
    viewpoint: str,
    *,
    device: str = "h100_sxm",
    prices: Mapping[str, Quantity] | None = None,  # USD a byte of ``"sram"``
) -> list[Tier]:
    """Five tiers, nearest first, from where the data is used."""
    if viewpoint not in VIEWPOINTS:
        raise ValueError(f"viewpoint {viewpoint!r}: one of {', '.join(VIEWPOINTS)}")
    given = dict(prices or {})
    strange = sorted(set(given) - set(PRICED))
    if strange:
        raise ValueError(f"price of {strange[0]!r}: one of {', '.join(PRICED)}")
    build = _from_sm if viewpoint == "sm" else _from_core
    return build(hardware.get(device), given)
