"""Claims on optics in the package: watts, rates, reach, density, and failures."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.interconnect.optics.failing import failures_a_day
from stacklib.interconnect.optics.ports import CPO, PORTS, SWITCHES, WEDOANY
from stacklib.quantity import Quantity, chosen, counted, quoted

BAILLY = "Broadcom on Tomahawk 6 Davisson, cloudnews.tech, 2025"
DAC = "NVIDIA, MCP7Y00 800 Gb/s passive copper cables, ordering information"
Q3400 = "NVIDIA, Quantum-X800 Q3400-RA, product page: 72 twin ports in 4U"


def watts(way: str, name: str = "power") -> Quantity:
    """Watts of a port of 1.6 Tbit/s, or of its engine."""
    engine = quoted(f"optics.{way}_engine")
    if name == "engine":
        return engine
    return (engine + quoted(f"optics.{way}_laser")).named(f"{way}, {name}")


def rate() -> Quantity:
    """Bits a second of such a port, one direction."""
    return quoted("optics.rate")


@claim("cpo-power-saving")
def saving() -> Finding:
    """Both ports are one maker's."""
    share, engines = (
        1 - watts("package", part) / watts("pluggable", part)
        for part in ("power", "engine")
    )
    return Finding.cited(
        f"Source: {PORTS['package'].source}: {watts('package')} for "
        f"{watts('pluggable')} a port of {rate().text()}, {share:.2 %} less with "
        f"lasers and {engines:.2 %} for the engines alone, the claim's figure."
    )


@claim("cpo-watts-pluggable")
def module_watts() -> Finding:
    """What a maker of modules calls usual."""
    return Finding(
        quoted("module_800g.least"),
        to=quoted("module_800g.most"),
        why="Modules for longer ways than a data centre's take about 30 W. "
        f"{PORTS['pluggable'].source} has {watts('pluggable')} for a port of "
        f"{rate().text()}, twice the claim's.",
    )


@claim("cpo-watts-cpo")
def port_watts() -> Finding:
    """Two generations of one maker; another's lies between."""
    return Finding(
        quoted("optics.davisson"),
        to=quoted("optics.bailly"),
        why=f"Broadcom's. {PORTS['package'].source} has {watts('package')}, the upper "
        f"end of the claim, for a port of {rate().text()}, which is twice the claim's.",
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


@claim("cpo-reach-gain")
def farther() -> Finding:
    """Reach of both kinds of optics: fibre and laser set it."""
    return Finding.depends(
        "a copper cable is the other side",
        "Source: IEEE 802.3-2018, clause 124, 500 m of DR optics, in a package or not: "
        f"both send the same light into the same fibre. {DAC}: 3 m at most.",
    )


@claim("cpo-port-density")
def density() -> Finding:
    """Ports of a rack unit, of the same switch in both forms."""
    cpo, plug = quoted("q3450.ports"), quoted("q3400.ports")  # in 4U each
    return Finding(
        (cpo / plug).named("ports a unit, package over pluggable"),
        why="Quantum-X800 is sold both ways, with as many ports in as many rack units.",
    )


@claim("tomahawk6-bandwidth", "One direction, as switches are quoted.")
@claim(
    "cpo-switch-bandwidth",
    "The same chip is sold with pluggable modules: the row compares two generations "
    "of switches and not two ways to make light.",
)
def davisson(why: str) -> Finding:
    """With optics in the package."""
    return Finding.cited(f"Source: {BAILLY}: 512 lanes of 200 Gbit/s. {why}")


def whole(key: str) -> Quantity:
    """A switch of as many ports, one direction."""
    fields = hardware.link("switch_q3400").fields
    ports = chosen(SWITCHES[key].ports, label=f"ports, {SWITCHES[key].name}")
    return (ports * fields["link_bandwidth"]).named(SWITCHES[key].name)


def engine(key: str) -> Quantity:
    """One of its optical engines."""
    return quoted(f"cpo.engine_{key}")


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


@claim("cpo-transceiver-failures")
def daily() -> Finding:
    """Failures a day, and the share of days that have one."""
    return Finding.true(
        computed=fleet(),
        why="So many switches are a fleet far larger than one cluster's.",
    )


@claim("cpo-hotswap")
def swapped() -> Finding:
    """What can be pulled from a switch with optics in its package."""
    return Finding.depends(
        "engines are soldered to the package",
        f"Source: {CPO}; {WEDOANY}. Those of the Q3450-LD sit in assemblies that can "
        "be detached, though not while the switch runs. Lasers, which fail most, can "
        "be pulled: 18 modules at its front, and Broadcom's Davisson has such, too.",
    )
