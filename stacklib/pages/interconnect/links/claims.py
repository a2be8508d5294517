"""Claims on links: lanes, rates, one direction and both, and what a NIC keeps."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.hardware.links import Link
from stacklib.quantity import Quantity, one_of, quoted

SHEET = "NVIDIA, GB200 NVL72 data sheet"
BOTH = "bidirectional"


def one_way(key: str) -> Quantity:
    """Bandwidth of all links of a device, one direction."""
    rate = hardware.link(key).per_direction
    return rate.named(f"{hardware.link(key).short}, one direction")


def built(key: str) -> Quantity:
    """The same from links, lanes, the rate of a lane and its code."""
    link = hardware.link(key)
    rate = link.links * link.lanes * link.lane_rate * link.encoding_efficiency
    return rate.to("GB/s per_direction").named(f"{link.short}, by its lanes")


def both(key: str) -> Quantity:
    """Both directions together, as the vendor prints them."""
    rate = hardware.link(key).fields["bidirectional"]
    assert rate is not None
    return rate


def plain(rate: Quantity) -> Quantity:
    """A bandwidth on no basis, for a claim that does not say which it is on."""
    (tag,) = rate.tags
    told = rate / one_of(f"GB/s {tag}", "one GB/s")
    return (told * one_of("GB/s", "one GB/s")).named(rate.label)


def raw(link: Link) -> Quantity:
    """Lanes times rate in one direction, before the code takes its part."""
    rate = link.links * link.lanes * link.lane_rate
    return rate.to("GB/s per_direction").named(f"{link.short}, before the code")


def drop(inside: str, outside: str) -> Quantity:
    """Bandwidth of a device's links over that of its network port, one direction."""
    ratio = one_way(inside) / one_way(outside)
    return ratio.named(f"{inside} over {outside}, one direction each")


@claim("ib-ndr-800")
def ndr() -> Finding:
    """Four lanes of 100 Gbit/s."""
    return Finding(
        plain(built("ib_ndr")).to("Gbit/s"),
        why="NDR is four lanes of 100 Gbit/s. Four of 200 are XDR; a cage of an NDR "
        "switch holds two ports.",
        convention="per pair",
        stated="NVIDIA's order list of MCP7Y00 cables, twin port NDR 800Gb/s,",
    )


@claim("nvlink5-bandwidth", "nvlink5")
@claim("nvlink5-per-gpu", "nvlink5")
@claim("nvlink-hopper-900", "nvlink4")
@claim("nvlink-doubling", "nvlink6")
def totals(key: str) -> Finding:
    """Both directions of all links: no line code is published to build them from."""
    return Finding(
        plain(both(key)),
        why=f"Both directions together. One carries {one_way(key).text()}, and that is "
        "what a transfer gets.",
    )


@claim("nvlink5-links", "nvlink5")
@claim("nvlink4-links", "nvlink4")
def one_link(key: str) -> Finding:
    """A link, both directions."""
    link = hardware.link(key)
    return Finding(
        plain(link.link_bandwidth.retag(BOTH, 2)),
        why=f"Both directions of a link. A GPU has {link.links.text()} of them.",
    )


@claim("nvlink5-vs-pcie5", "nvlink5")
def ratio_to_pcie(key: str) -> Finding:
    """Both in both directions; PCIe before its code."""
    pcie = hardware.link("pcie5_x16")
    return Finding(
        (both(key) / raw(pcie).retag(BOTH, 2)).named(f"{key} over PCIe 5.0 x16"),
        why="Both directions on both sides, so the ratio is fair; PCIe's 128b/130b "
        "changes it by less than two in a hundred.",
    )


@claim("c2c-vs-pcie5")
def c2c_ratio() -> Finding:
    """The superchip's link over PCIe."""
    c2c, pcie = hardware.link("nvlink_c2c"), hardware.link("pcie5_x16")
    return Finding(
        (c2c.bidirectional / raw(pcie).retag(BOTH, 2)).named("C2C over PCIe 5.0 x16"),
        why="Both directions on both sides.",
    )


@claim("nvlink5-serdes")
def serdes() -> Finding:
    """What a lane runs at, as nvidia-smi logs it."""
    five, four = hardware.link("nvlink5"), hardware.link("nvlink4")
    return Finding(
        _bits(five),
        why="A link of NVLink 5 has two lanes a direction and carries "
        f"{five.link_bandwidth.text()} each way, so a lane runs at twice the rate of "
        f"NVLink 4's, {_bits(four).text()}, of the 112G class.",
    )


def _bits(link: Link) -> Quantity:
    """A lane's signalling rate, on no basis."""
    return plain(link.lane_rate).to("Gbit/s")


@claim("c2c-bandwidth")
def c2c() -> Finding:
    """The data base's figure, which is NVIDIA's own."""
    return Finding(
        plain(hardware.link("nvlink_c2c").bidirectional),
        why="Both directions together, of a superchip: two GPUs of a GB200 share it.",
    )


@claim("pcie5-x16", "pcie5_x16")
@claim("pcie6-x16", "pcie6_x16")
def pcie(key: str) -> Finding:
    """Sixteen lanes, both directions, with what the code leaves beside it."""
    link = hardware.link(key)
    return Finding(
        plain(raw(link).retag(BOTH, 2)),
        why=f"Both directions, before the code ({link.encoding}); after it "
        f"{built(key).retag(BOTH, 2).text()}.",
    )


@claim("pcie-gen4-32")
def pcie4() -> Finding:
    """One direction of sixteen lanes."""
    told = ", ".join(
        built(key).text() for key in ("pcie4_x16", "pcie5_x16", "pcie6_x16")
    )
    return Finding(
        plain(built("pcie4_x16")),
        why=f"One direction after the code: {told} for 4.0, 5.0 and 6.0. Headers of "
        "packets are not taken off.",
    )


@claim("ib-ndr-50")
def ndr_bytes() -> Finding:
    """Bits over eight."""
    return Finding(plain(built("ib_ndr")), why="One direction, by the data rate.")


@claim("nvlink-hopper-600", right_if="an A100 is meant, or a pair of bridged H100 PCIe")
def hopper() -> Finding:
    """X8: two devices, not one figure."""
    return Finding(
        plain(both("nvlink4")),
        why="The same guide has both figures. They are two things: twelve links of an "
        "A100, and eighteen of the same rate of an H100 SXM, both directions each.",
        then=plain(both("nvlink3")),
    )


@claim("bw-factor-10-steps", right_if="each step is counted in one direction")
def steps() -> Finding:
    """From HBM over NVLink to the network, H100."""
    h100 = hardware.get("h100_sxm")
    total = h100.memory_bandwidth / h100.link.retag(BOTH, 2)
    return Finding(
        (h100.memory_bandwidth / h100.link).named("HBM over NVLink, H100"),
        to=drop("nvlink4", "ib_ndr"),
        why="One direction each. With NVLink's total in the middle the same two steps "
        f"look like {total.text(digits=2)} and twice the second.",
        then=drop("nvlink4", "ib_ndr"),
    )


@claim("rack-boundary-drop-18x-002")
def cliff() -> Finding:
    """Like for like, with the port that B200 systems have."""
    return Finding(
        drop("nvlink5", "ib_ndr"),
        why="One direction on both sides, over the port of 400 Gbit/s of B200 systems: "
        "in both directions it has the 100 GB/s of the claim. Over one of 800, as B300 "
        f"systems have, it is {drop('nvlink5', 'ib_xdr').text()}.",
    )


@claim("route-18tb-vs-100")
def sides() -> Finding:
    """The same two figures, without their quotient."""
    return Finding.depends(
        "the port is one of 400 Gbit/s",
        computed=drop("nvlink5", "ib_ndr"),
        why="1.8 TB/s are both directions, and so are 100 GB/s of the port of 400 "
        "Gbit/s in B200 systems. One of 800, as in B300 systems, has 100 GB/s in one: "
        f"counted alike {drop('nvlink5', 'ib_xdr').text()} remains.",
    )


@claim("rack-18x-004")
def hopper_cliff() -> Finding:
    """An H100 and its port of 400 Gbit/s."""
    return Finding(
        drop("nvlink4", "ib_ndr"),
        convention="both directions",
        stated="NVIDIA's NVLink page, with 900 GB/s a GPU,",
        why="The claim sets both directions of NVLink over one of InfiniBand.",
    )


@claim("a100-b200-nvlink")
def grew() -> Finding:
    """NVLink 5 over NVLink 3."""
    return Finding((both("nvlink5") / both("nvlink3")).named("NVLink 5 over NVLink 3"))


@claim("a100-b200-network")
def network_grew() -> Finding:
    """NDR over HDR, and XDR over HDR."""
    return Finding(
        drop("ib_ndr", "ib_hdr"),
        why=f"One port a GPU: HDR, then NDR. With XDR it is "
        f"{drop('ib_xdr', 'ib_hdr').text()} times.",
    )


@claim("grace-gpu-pairing")
def pairing() -> Finding:
    """What the vendor prints of a rack."""
    return Finding.false(
        f"Source: {SHEET}: 72 GPUs and 36 CPUs. A superchip is one Grace with two "
        "GPUs, which share its link."
    )


@claim("nvlink-copper-reach")
def copper() -> Finding:
    """What two authors put; no loss of NVIDIA's cable is published."""
    return Finding(
        quoted("copper.passive"),
        to=quoted("copper.limit"),
        verdict="conflict",
        why="One author has the claim's reach for a lane of this rate, another half of "
        "it for a passive cable. NVL72 proves a rack's height; the loss of its cable "
        "is not published.",
    )
