"""Claims on tori, their optical switches, and how they compare with a switch."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.interconnect import Topology
from stacklib.pages.interconnect import torus as page
from stacklib.quantity import ceil, chosen, quoted

V5P = (16, 20, 28)  # chips along the axes of a pod
RADIX, TIERS = 40, 5  # ports of an InfiniBand switch; switches a port of three tiers


@claim("tpu-vs-nvl72-scale")
def scale() -> Finding:
    """Chips of the pod over GPUs of the rack."""
    rack = hardware.get("gb200").link_domain
    ratio = page.chips(page.POD) / rack
    return Finding(
        ratio.named("chips over GPUs"),
        why="Exact, and a comparison of two different networks: a chip of the pod has "
        f"{page.bisection(page.POD):GB/s} into the other half, a GPU of the rack "
        f"{page.switched():GB/s}.",
    )


@claim("ironwood-vs-nvl72-bisection")
def bisection() -> Finding:
    """Open: the document does not say it; we do."""
    return Finding.open(
        "Our own question. Of a pod's links only those of its middle and its wrap "
        f"cross: {page.bisection(page.POD):GB/s} for each chip, against "
        f"{page.switched():GB/s} behind switches. To settle it: "
        "all-to-all measured on both."
    )


@claim("palomar-ports")
def ports() -> Finding:
    """Cited; the count of cubes fits."""
    return Finding.cited(
        f"Source: {page.TPU4}: 136 ports, of which 64 cubes need {page.used_ports()}."
    )


@claim("palomar-power")
def power() -> Finding:
    """Cited: powers of two devices that do different work."""
    return Finding.cited(
        "Source: SemiAnalysis, Google OCS Apollo, as told by a public table of "
        "networks: about 108 W against about 3 kW. An optical switch turns mirrors; a "
        "packet switch also buffers, chooses and regenerates, so the ratio is not one "
        "of efficiency at the same work."
    )


@claim("ironwood-ocs-count", right_if="switches of 288 ports are meant")
def optical() -> Finding:
    """Ports that the racks' faces need, over the ports of a switch."""
    faces = chosen(6, label="faces of a cube") * chosen(16, label="links of a face")
    links = faces * chosen(page.RACKS, label="racks")
    each = quoted("palomar.ports")
    told = quoted("ironwood.ocs_ports")
    return Finding(
        ceil(links / each).named("switches of 136 ports"),
        why=f"Of {each} ports, as the claim has them. With 48, each needs "
        f"{page.ports_for(page.RACKS)}, two for every rack, which is what "
        f"{told.source and told.source.title} has for Ironwood.",
        then=ceil(links / told).named("switches of the ports that are told"),
    )


@claim("ironwood-racks-chips")
def racks() -> Finding:
    """The product of the pod's shape."""
    return Finding(
        page.chips(page.POD),
        why=f"From the shape, {' x '.join(map(str, page.POD))}; {page.RACKS} racks of "
        "64 are as many.",
    )


@claim("ocs-cost-power-share")
def share() -> Finding:
    """Cited: shares of a bill that is not public."""
    return Finding.cited(
        f"Source: {page.TPU4}: below 5 % of cost and below 3 % of power, of that "
        "machine and not of Ironwood."
    )


@claim("ocs-replacement-568")
def infiniband() -> Finding:
    """Switches of a fat tree of three tiers for the pod's chips."""
    radix = chosen(RADIX, label="ports of a switch")
    tiers = chosen(TIERS, label="switches a chip and port, three tiers")
    here = ceil(tiers * page.chips(page.POD) / radix).named("switches, 9,216 chips")
    there = ceil(tiers * page.chips(page.HALL) / radix).named("switches, 4,096 chips")
    return Finding(
        here,
        why=f"The figure is the TPU v4 paper's, of 4,096 chips, for which we count "
        f"{there}.",
    )


@claim("torus-bisection-exponent")
def exponent() -> Finding:
    """Slope of the bisection of built cubes."""
    return Finding(
        page.exponent(),
        why="So for each chip it falls with the cube root; behind switches that do "
        "not block it stays.",
    )


@claim("twisted-torus-1p63")
def twist() -> Finding:
    """Busiest link of the plain over that of the twisted torus."""
    return Finding(
        page.gain(page.SHORT),
        why="The busiest link of all pairs' traffic, every shortest path used alike. "
        "The claim is the paper's measurement, which has its software in it.",
    )


@claim("ocs-upgrade-savings")
def upgrades() -> Finding:
    """Cited: no inputs are given."""
    return Finding.open(
        "It depends on the shares of switches and transceivers in the bill and on how "
        "many generations the switches stay; the source gives none of them. To settle "
        "it: those shares."
    )


@claim("tpu-availability")
def availability() -> Finding:
    """Two documents, of two networks; the mechanism is computed on the page."""
    drawn, fixed = page.running(True), page.running(False)
    return Finding.open(
        "Zu and others, Resiliency at scale, NSDI 2024, has 99.98 % of TPU v4, and the "
        "50 times are of Google's data centres (Vahdat, Jupiter evolving, 2022). With "
        f"hosts well {100 * page.HOST:g} % of the time, {drawn:%} of a pod's cubes are "
        f"in jobs with mirrors and {fixed:%} without. To settle it: the downtime of a "
        "pod on links that stay."
    )


@claim("ocs-decade-production")
def decade() -> Finding:
    """Cited: a date."""
    return Finding.cited(
        "Source: Poutievski and others, Jupiter evolving, SIGCOMM 2022, abstract: a "
        "decade of evolution and production experience with the network that its "
        f"optical switches join. In TPU pods they are from 2020 ({page.TPU4})."
    )


@claim("tpuv5p-pod-8960")
def v5p() -> Finding:
    """The data sheet's shape."""
    return Finding(
        page.chips(V5P), why=f"{' x '.join(map(str, V5P))} chips in its data sheet."
    )


@claim("ici-8000")
def ici() -> Finding:
    """Pods as sold."""
    return Finding(
        page.chips(V5P),
        to=page.chips(page.POD),
        why="v5p's pod was rounded down; Ironwood's is larger.",
    )


@claim("torus-a2a-penalty")
def hops() -> Finding:
    """Cited: a yes or no; links on the way stand beside it."""
    box = Topology.nvswitch(8)
    return Finding.true(
        computed=page.hops((4, 4, 4)),
        why=f"A message of all-to-all passes {page.hops((4, 4, 4))} links on average "
        f"in a cube of 64 chips and {box.routes(0, 1).hops} in a box with switches, "
        "and a torus twice as wide has twice as many.",
    )


@claim("tpu-pod-memory-shared")
def memory() -> Finding:
    """Open: it turns on what shared means."""
    return Finding.false(
        "Source: JAX documentation, Pallas TPU, distributed computing: the sum of "
        "capacities is right. A core loads only from its own HBM, and "
        "everything else comes by remote DMA."
    )


@claim("ici-name")
def name() -> Finding:
    """Cited: a name."""
    return Finding.false(
        "Source: Google Cloud, TPU system architecture, which calls it the inter-chip "
        "interconnect. It joins chips; cores of one chip share its memory."
    )
