"""Claims on optics in the package: watts, rates, reach, density, and failures."""

import math

from stacklib.evidence import Finding, claim
from stacklib.interconnect.optics.failing import failures_a_day
from stacklib.interconnect.optics.ports import CPO, PORTS, SWITCHES, WEDOANY
from stacklib.quantity import Quantity, chosen, counted

from ...figures_of import published

BAILLY = "Broadcom on Tomahawk 6 Davisson, cloudnews.tech, 2025"
DAC = "NVIDIA, MCP7Y00 800 Gb/s passive copper cables, ordering information"
Q3400 = "NVIDIA, Quantum-X800 Q3400-RA, product page: 72 twin ports in 4U"


def watts(way: str, name: str = "power") -> Quantity:
    """Watts of a port of 1.6 Tbit/s, or of its engine."""
    port = PORTS[way]
    return published(getattr(port, name), "W", f"{way}, {name}", port.source)


def rate() -> Quantity:
    """Bits a second of such a port, one direction."""
    port = PORTS["package"]
    return published(port.rate / 1e12, "Tbit/s per_direction", "port", port.source)


def of_800g(way: str) -> Quantity:
    """The same for half of its rate."""
    return (watts(way) / 2).named(f"800 Gbit/s, {way}")


@claim("cpo-power-saving", right_if="the lasers are left out of both")
def saving() -> Finding:
    """One less the ratio of the two ports, lasers counted."""
    share = 1 - watts("package") / watts("pluggable")
    engines = 1 - watts("package", "engine") / watts("pluggable", "engine")
    return Finding(
        share.named("saved, lasers counted"),
        why=f"NVIDIA's figures for a port of {rate().text()}. The claim's are those of "
        f"the engines; lasers take {watts('package', 'laser')} and "
        f"{watts('pluggable', 'laser')} besides.",
        then=engines.named("saved, lasers left out"),
    )


@claim("cpo-watts-pluggable")
def pluggable() -> Finding:
    """Half of a port of twice the rate."""
    return Finding(
        of_800g("pluggable"), why=f"Half of NVIDIA's port of {rate().text()}."
    )


@claim("cpo-watts-cpo", right_if="a port of 1.6 Tbit/s is meant")
def package() -> Finding:
    """The same in the package."""
    return Finding(
        of_800g("package"),
        why=f"What NVIDIA publishes, laser counted, is a port of {rate().text()}.",
        then=watts("package"),
    )


@claim("cpo-pcb-trace")
def trace() -> Finding:
    """Geometry of a board, which no model computes."""
    return Finding.cited(
        "Geometry: from the chip in the middle of a switch's board to its front panel. "
        "Source: transceiver-db, CPO and pluggables, 2026, whose traces end at the "
        "claimed length. What decides is the loss, which NVIDIA puts at 22 dB with "
        "connectors, against 4 dB in the package."
    )


@claim("cpo-reach-gain", right_if="a copper cable is the other side")
def farther() -> Finding:
    """Reach of both kinds of optics: fibre and laser set it."""
    optics = published(500, "m", "reach of DR optics", "IEEE 802.3-2018, clause 124")
    copper = published(3, "m", "longest passive cable", DAC)
    return Finding(
        (optics / optics).named("reach, package over pluggable"),
        why="Both send the same light into the same fibre, by the same standard.",
        then=(optics / copper).named("reach, optics over copper"),
    )


@claim("cpo-port-density")
def density() -> Finding:
    """Ports of a rack unit, of the same switch in both forms."""
    cpo = published(144 / 4, "", "ports a unit, Q3450-LD in 4U", WEDOANY)
    plug = published(144 / 4, "", "ports a unit, Q3400-RA in 4U", Q3400)
    return Finding(
        (cpo / plug).named("ports a unit, package over pluggable"),
        why="Quantum-X800 is sold both ways, with as many ports in as many rack units.",
        verdict="conflict",
    )


def tomahawk() -> Quantity:
    """Lanes times the rate of each, one direction."""
    lanes = published(512, "", "lanes of Tomahawk 6", BAILLY)
    lane = published(0.2, "Tbit/s per_direction", "a lane of Tomahawk 6", BAILLY)
    return (lanes * lane).named("Tomahawk 6")


@claim("tomahawk6-bandwidth")
def davisson() -> Finding:
    """With optics in the package."""
    return Finding(tomahawk(), why="One direction, as switches are quoted.")


@claim("cpo-switch-bandwidth")
def generations() -> Finding:
    """The larger of the two."""
    return Finding(
        tomahawk(),
        why="The same chip is sold with pluggable modules: the row compares two "
        "generations of switches and not two ways to make light.",
    )


def whole(key: str) -> Quantity:
    """A switch: ports times the rate of each, one direction."""
    switch = SWITCHES[key]
    ports = published(switch.ports, "", f"ports, {switch.name}", CPO)
    rate = published(switch.rate / 1e12, "Tbit/s per_direction", switch.name, CPO)
    return (ports * rate).named(switch.name)


def engine(key: str) -> Quantity:
    """One of its optical engines."""
    switch = SWITCHES[key]
    label = f"engine of {switch.name}"
    return published(switch.engine / 1e12, "Tbit/s per_direction", label, CPO)


@claim("nvidia-quantumx-cpo-bandwidth", "quantum_x", right_if="an engine is meant")
@claim("nvidia-spectrumx-cpo-bandwidth", "sn6810", right_if="an engine is meant")
def listed(key: str) -> Finding:
    """The switch, and one of its engines."""
    return Finding(
        whole(key),
        why="Switches stand in the rows beside it; this one's number is that of one of "
        "its optical engines.",
        then=engine(key),
    )


def fleet() -> Quantity:
    """Failures a day of the claimed fleet."""
    switches = chosen(100_000, label="switches")
    ports = switches * chosen(64, label="ports of a switch")
    fit = chosen(500, label="FIT")
    return counted(failures_a_day, ports, fit, label="failures a day")


def _some(mean: float) -> float:
    return -math.expm1(-mean)


@claim(
    "cpo-transceiver-failures",
    right_if="the number is of days that see a failure, and not of failures",
)
def daily() -> Finding:
    """Failures a day, and the share of days that have one."""
    return Finding(
        fleet(),
        why="So many switches are a fleet far larger than one cluster's.",
        then=counted(_some, fleet(), label="share of days with a failure"),
    )


@claim("cpo-hotswap")
def swapped() -> Finding:
    """What can be pulled from a switch with optics in its package."""
    return Finding.cited(
        "By part. The lasers, which fail most, can be pulled: the Q3450-LD has 18 "
        f"laser modules at its front ({WEDOANY}), and Broadcom's Davisson has "
        f"replaceable ones too. Its engines are detachable from the package ({CPO}), "
        "but not while the switch runs: for an engine the claim is right."
    )
