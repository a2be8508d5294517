"""Section 6.1: What does a link carry?"""

from __future__ import annotations

from stacklib import hardware, models
from stacklib.hardware import read_smi, smi_sample
from stacklib.hardware.link_gaps import link_residuals
from stacklib.interconnect.networks import framing
from stacklib.pages.figures_of import measured
from stacklib.pages.interconnect.links import claims
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counting,
    minimum,
    one_of,
    quoted,
)
from stacklib.quantity.constants import case
from stacklib.roofline.journey.events import exchange_time

MODEL, TP, EXCHANGES = "llama-3-70b", case("chips"), 2  # all-reduces of a layer
DEVICE, OTHER = "h100_sxm", "b200_sxm"
TABLE = (
    "nvlink3",
    "nvlink4",
    "nvlink5",
    "nvlink6",
    "pcie5_x16",
    "pcie6_x16",
    "ib_ndr",
    "ib_xdr",
)
# What a machine has on the way out: its device, its link, the port of each GPU.
MACHINES = {
    "A100, HDR": ("a100_sxm_80gb", "ib_hdr"),
    "H100, NDR": (DEVICE, "ib_ndr"),
    "B200, NDR": (OTHER, "ib_ndr"),
    "B200, XDR": (OTHER, "ib_xdr"),
}
PAYLOAD, HEADER = 256, 24  # bytes of a packet of PCIe 5.0: data, and all the rest
CHECKED = 100  # frames that are sent and counted
UNDER = 4  # boards under a switch of the servers that have eight


# -- one link --------------------------------------------------------------------------


def field(key: str, name: str, label: str) -> Quantity:
    """A field of a link."""
    return getattr(hardware.link(key), name).named(label)


def lane_data(key: str) -> Quantity:
    """What a lane carries once its code has taken its part."""
    link = hardware.link(key)
    rate = link.lane_rate * link.encoding_efficiency
    return rate.to("Gbit/s per_direction").named(f"data of a lane, {link.short}")


def logged(key: str) -> Quantity:
    """A link in one direction before its code, as nvidia-smi prints it."""
    link = hardware.link(key)
    rate = link.lanes * link.lane_rate
    return rate.to("GB/s per_direction").named(f"a link before its code, {link.short}")


def one_way(key: str) -> Quantity:
    """All links of a device or all lanes of a port, one direction."""
    return claims.built(key)


def both(key: str) -> Quantity:
    """The same with both directions added up."""
    return claims.both(key)


@counting("widest gap to what is printed")
def farthest() -> float:
    """The widest gap between lanes x rate x code and what is printed."""
    gaps = (hardware.link(key) for key in TABLE)
    return max(abs(v) for link in gaps for v in link_residuals(link).values())


# -- codes, counted --------------------------------------------------------------------


@counting("share left by {name}, counted")
def counted_share(name: str, lanes: int = 2) -> float:
    """What a code leaves, counted in a stream over lanes."""
    layers = framing.code(name)
    _, bits = framing.frame_bits(layers)
    return sum(framing.count(layers, lanes, bits)) / (lanes * bits)


@counting(lambda name, part: f"{('data', 'bits')[part]} of a frame, {name}")
def frame(name: str, part: int) -> int:
    """Bits of data (0) or of all (1) after which a code begins anew."""
    return framing.frame_bits(framing.code(name))[part]


@counting("{part} of RS-FEC")
def bits_of(part: str) -> int:
    """Parts of a frame of RS-FEC: its blocks, the data of one, the parity."""
    block, word = framing.code("RS-FEC")
    return {
        "block": block.take,
        "blocks": word.take // block.bits,
        "parity": word.after,
    }[part]


@counting("share left by packets and 128b/130b")
def packed() -> float:
    """Share of the bits that is payload, packets framed and counted."""
    layers = (framing.packets(PAYLOAD, HEADER), *framing.code("128b/130b"))
    _, bits = framing.frame_bits(layers)
    return sum(framing.count(layers, 1, bits)) / bits


def pcie_packets() -> Quantity:
    """PCIe 5.0 x16 in one direction, packets framed and counted."""
    share = packed()
    link = hardware.link("pcie5_x16")
    rate = link.links * link.lanes * link.lane_rate * share
    return rate.to("GB/s per_direction").named("PCIe 5.0 x16, packets of 256 bytes")


# -- like for like ---------------------------------------------------------------------


def drop(inside: str, outside: str) -> Quantity:
    """Bandwidth inside over outside, one direction each."""
    return claims.drop(inside, outside)


def mixed(inside: str, outside: str) -> Quantity:
    """The mistake: a sum of both directions taken for one."""
    sum_of = hardware.link(inside).bidirectional.retag("per_direction")
    ratio = sum_of / hardware.link(outside).per_direction
    return ratio.named(f"{inside} over {outside}, a sum over one direction")


def in_bits() -> Quantity:
    """The other mistake: bits read as bytes."""
    bits = hardware.link("ib_ndr").per_direction.to("Gbit/s per_direction")
    wrong = (bits * (one_of("B") / one_of("bit"))).named("400 read as bytes")
    return (wrong / hardware.link("ib_ndr").per_direction).named("bits for bytes")


def steps(machine: str) -> tuple[Quantity, Quantity, Quantity]:
    """Steps down, one direction each: L1 to HBM, HBM to NVLink, NVLink to network."""
    name, port = MACHINES[machine]
    device = hardware.get(name)
    l1 = hardware.level(device, "l1").known("rate")
    hbm, link = device.memory_bandwidth, device.link
    return (
        (l1 / hbm).named(f"L1 over HBM, {machine}"),
        (hbm / link).named(f"HBM over NVLink, {machine}"),
        (link / hardware.link(port).per_direction).named(f"NVLink to port, {machine}"),
    )


# -- boards without NVLink -------------------------------------------------------------


def boards(word: str, *, peer: bool, under: int = 1) -> Quantity:
    """What each of eight boards sends round a ring, by the farthest word.

    - ``peer``: they write into each other's memory: NCCL lets them below a switch.
    - ``under``: boards under a switch, whose one cable carries what goes to the host.
    """
    counted = quoted("pcie.counted") / one_way("pcie3_x16")
    rate = one_way("pcie5_x16") * counted
    if not peer or word not in ("PIX", "PXB"):
        shared = rate / chosen(under, label="boards under a switch")
        host = quoted("pcie.pair") * quoted("pcie.host")
        rate = minimum(rate * host, shared)
    if word == "SYS":
        rate = rate * quoted("pcie.across")
    return rate.named(f"a ring of boards by {word}")


# -- the token -------------------------------------------------------------------------


def exchanges() -> Quantity:
    """Times a token that the GPUs add up what each has."""
    layers = models.get(MODEL).size("layers", "layers")
    each = chosen(EXCHANGES, label="all-reduces of a layer")
    return (layers * each).named("exchanges of a token")


def vector() -> Quantity:
    """Bytes of what is added up."""
    hidden = models.get(MODEL).size("hidden", "hidden size")
    return (hidden * bytes_per_element("bf16")).named("bytes of an exchange")


def exchange(key: str = "nvlink4") -> Quantity:
    """A token's exchanges by their bytes: each GPU sends its vector to all others."""
    none = chosen(0, "s", label="latency, left to 6.2")
    gpus = chosen(TP, label="GPUs")
    once = exchange_time(vector(), gpus, one_way(key), none)
    label = f"exchanges of a token by their bytes, {hardware.link(key).short}"
    return (exchanges() * once).named(label).to("µs")


def sent() -> Quantity:
    """Bytes that a GPU sends in an exchange."""
    others = chosen(TP - 1, label="other GPUs")
    return (others * vector()).named("sent by a GPU in an exchange")


# -- what was measured -----------------------------------------------------------------

MEASURED = {
    "PCIe 5.0 x16, copy": ("pcie5_x16", ""),
    "NVLink-C2C, copy": ("nvlink_c2c", ""),
    "NVLink 4, ring of eight": ("nvlink4", "D-0235"),
    "NVLink 5, experts of eight": ("nvlink5", "D-0231"),
}


def reached(what: str) -> Quantity:
    """What others measured of a link, one direction."""
    key, row = MEASURED[what]
    if not row:
        return hardware.link(key).achieved
    told = measured(row) / chosen(1, "GB/s", label="one GB/s")
    way = chosen(1, "GB/s per_direction", label="one GB/s, one direction")
    return (told * way).named(what)


def measured_share(what: str) -> Quantity:
    """Measured over the bound."""
    bound = hardware.link(MEASURED[what][0]).per_direction
    return (reached(what) / bound).named(f"measured share, {what}")


def smi() -> Quantity:
    """PCIe of a recorded H100, from what nvidia-smi prints of it."""
    (found,) = read_smi(smi_sample("h100_busy"))[:1]
    assert found.generation is not None and found.lanes is not None
    key = f"pcie{found.generation.value:.0f}_x{found.lanes.value:.0f}"
    return one_way(key)
