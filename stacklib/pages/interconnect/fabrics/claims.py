"""Claims on switches, InfiniBand and Ethernet, and on what a network costs."""

import math

from stacklib.evidence import Finding, claim
from stacklib.pages.interconnect import fabrics as page
from stacklib.quantity import Quantity, counted, quoted

OCI = "R. Nanubalu, Oracle's Zettascale OCI Supercluster, 2026: RoCE v2"
MEGASCALE = "Z. Jiang and others, MegaScale, 2024: three layers of Tomahawk 4"


@claim("quantum-x800-bandwidth")
def quantum() -> Finding:
    """Ports times the rate of each."""
    return Finding(page.sold("switch_q3400", ""), why="One direction.")


@claim("quantum-x800-ports")
def ports() -> Finding:
    """As the vendor prints it."""
    return Finding(page.sold("switch_q3400", "ports"))


@claim("ethernet-switch-bandwidth")
def ethernet() -> Finding:
    """Two generations, each as its maker prints it."""
    return Finding.cited(
        f"Source: {MEGASCALE}, of 25.6 Tbit/s each; NVIDIA, SN5600, of "
        f"{page.sold('switch_sn5600', '').text()}. One direction; the next generation "
        "has twice as much."
    )


@claim("ib-cost-premium")
def premium() -> Finding:
    """A matter of contracts: what one seller of both prints."""
    return Finding(
        quoted("introl.premium"),
        why=f"In all, by one seller's comparison of 2025. By {page.SHEET} a 64-port "
        "switch of another maker costs 36,000 USD where NVIDIA's own costs about "
        "50,000; cables and optics are the same parts for both.",
    )


@claim("ib-training-threshold")
def threshold() -> Finding:
    """Clusters beyond it that run on Ethernet."""
    return Finding.open(
        f"No rule: clusters larger than that train on Ethernet ({MEGASCALE}; {OCI}). "
        "To settle it: the same training step on both fabrics at one size, and both "
        "prices; InfiniBand pays where the time it saves, in GPU hours, is worth more "
        "than it costs."
    )


@claim("oracle-131k")
def oracle() -> Finding:
    """As published, whatever its fabric."""
    return Finding(
        quoted("oracle.gpus"),
        why="The number is right and its column is not: this cluster runs RDMA over "
        "Ethernet (RoCE v2), not InfiniBand.",
    )


def network() -> Quantity:
    """A GPU's part of a full tree of three levels, its parts counted in the graph."""
    switch = quoted("cluster_sheet.switch")
    cable = quoted("cluster_sheet.cable")
    ports, cables = (page.each("fat tree", name) for name in ("switch port", "link"))
    return (ports * switch / page.radix() + cables * cable).named("network for a GPU")


@claim("network-more-than-gpus")
def dearer() -> Finding:
    """A GPU's part of the network over the GPU's price."""
    share = (network() / page.chip()).named("network over GPUs alone")
    return Finding.false(
        "Three levels at full bisection, by the prices of a spreadsheet of whole "
        f"clusters. All of them would have to be {share.si**-1:.1f} times as high.",
        computed=share,
    )


def slope(high: int, over: int) -> float:
    """Exponent of price by switches, from a full tree to one of more levels."""
    hosts, switches = (
        page.size(part, high=over).si / page.size(part, high=high).si
        for part in ("hosts", "switches")
    )
    each = page.network(high=over).si / page.network(high=high).si
    return math.log(hosts * each) / math.log(switches)


@claim("fat-tree-linear-cost")
def linear() -> Quantity:
    """Price by switches: every one brings as many cables."""
    return counted(slope, 2, 4, label="exponent from two levels to four")
