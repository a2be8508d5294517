"""Numbers of section 3.9: tiers, their prices and latencies, the joules of a step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from stacklib import cost, hardware, memory
from stacklib.memory import Tier
from stacklib.memory.ladder import energy
from stacklib.memory.ladder.energy import StepEnergy
from stacklib.memory.tiers.mix import Mix, cheapest_mix, zipf_pages
from stacklib.memory.tiers.parts import constant, drive
from stacklib.memory.tiers.seen import ddr5_energy, hbm2_energy
from stacklib.memory.tiers.tier import Need, break_even_interval, geometric_step, steps
from stacklib.quantity import Quantity, maximum

from .. import ledger as claims
from .. import tiers
from .registry import number

CHIP = "h100_sxm"
SM = ("shared", "hbm", "ddr", "cxl", "nvme")
CASE = {"on": CHIP, "tp": 2}
PAGE = 2**21


@cache
def seen(viewpoint: str) -> tuple[Tier, ...]:
    """Tiers with the prices of before the shortage."""
    return tuple(tiers.seen(viewpoint))


def _sm(name: str) -> Tier:
    return seen("sm")[SM.index(name)]


def _ends(field: str) -> Quantity:
    first, last = (seen("sm")[i].field(field) for i in (0, -1))
    assert first is not None and last is not None
    return maximum(last / first, first / last).named("from end to end")


def _put(name: str, compute: Callable[[], Quantity], what: str, **form: object) -> None:
    """Register a number that one expression gives."""
    compute.__doc__ = what
    number(f"tiers.{name}", **form)(compute)  # type: ignore[arg-type]


# -- the tiers -------------------------------------------------------------------

_put(
    "sram_price",
    tiers.sram_price,
    "Price of SRAM as its share of an N5 wafer.",
    unit="USD/GB",
    digits=2,
)
_put(
    "shared_latency",
    lambda: _sm("shared").latency,
    "Latency of shared memory on an H100.",
    unit="ns",
)
_put(
    "nvme_price",
    lambda: cost.memory_price("nvme").low,
    "Price of flash before the shortage.",
    unit="USD/GB",
    evidence="spec",
    digits=2,
)
_put(
    "nvme_latency",
    lambda: _sm("nvme").latency,
    "Latency of a flash read, from an SM.",
    unit="µs",
)
_put(
    "price_span", lambda: _ends("price"), "Price of SRAM over that of flash.", digits=2
)
_put(
    "latency_span",
    lambda: _ends("latency"),
    "Latency of flash over that of shared memory.",
)
_put(
    "tdp",
    lambda: hardware.get(CHIP).tdp,
    "Design power of an H100.",
    unit="W",
    evidence="spec",
)
_put(
    "hbm_bandwidth",
    lambda: hardware.get(CHIP).memory_bandwidth,
    "Memory bandwidth of an H100.",
    unit="TB/s",
    evidence="spec",
)
_put(
    "ddr_core",
    lambda: seen("core")[1].latency,
    "Latency of DDR5 from a core of a server.",
    unit="ns",
    evidence="spec",
)
_put(
    "ddr_core_rate",
    lambda: seen("core")[1].bandwidth,
    "Bandwidth of a socket's twelve channels.",
    unit="GB/s",
    evidence="spec",
)
_put(
    "ddr_sm",
    lambda: _sm("ddr").latency,
    "Latency of the host's DDR5 from an SM.",
    unit="ns",
)
_put(
    "ddr_sm_rate",
    lambda: _sm("ddr").bandwidth,
    "What a GPU draws from its host's memory over PCIe.",
    unit="GB/s",
)


# -- rule of ten -----------------------------------------------------------------


def _column(field: str) -> list[Quantity]:
    return [q for t in seen("sm") if (q := t.field(field)) is not None]


_put(
    "step_latency",
    lambda: geometric_step(_column("latency")),
    "Typical step in latency from tier to tier, from an SM.",
    digits=2,
)
_put(
    "step_energy",
    lambda: geometric_step(_column("energy")),
    "Typical step in energy a bit from tier to tier, from an SM.",
    digits=2,
)
_put(
    "step_flash",
    lambda: steps(_column("latency"))[-1],
    "Latency of flash over that of CXL memory.",
    digits=2,
)
_put(
    "step_off_chip",
    lambda: steps(_column("energy"))[0],
    "Energy of HBM over that of an SRAM array.",
    digits=2,
)


@number("tiers.small_steps", digits=1)
def small_steps() -> Quantity:
    """Bound that the two smallest steps in latency stay below."""
    two = sorted(steps(_column("latency")), key=lambda q: q.si)[1]
    return Quantity(2, label="a factor") if two.si < 2 else two


# -- the cheapest ----------------------------------------------------------------


@cache
def mix() -> Mix:
    """A terabyte of Zipf pages with a mean wait of 20 µs, over two tiers."""
    pages = zipf_pages(1e12, page=PAGE, groups=40)
    need = Need(1e12, mix_wait().si, mix_rate().si)
    return cheapest_mix(seen("sm"), pages, need, most=2)


def terabyte() -> Quantity:
    """The data of the example."""
    return Quantity(1, "TB", label="data of the example", kind="assumption")


@number("tiers.mix_wait", unit="µs", evidence="spec")
def mix_wait() -> Quantity:
    """Mean wait that the example bears."""
    return Quantity(20e-6, "s", label="mean wait of the example", kind="assumption")


@number("tiers.mix_rate", unit="GB/s", evidence="spec")
def mix_rate() -> Quantity:
    """Bytes a second that the example asks for."""
    return Quantity(5, "GB/s", label="rate of the example", kind="assumption")


@number("tiers.mix_near", unit="%", digits=2)
def mix_near() -> Quantity:
    """Share of the bytes that the cheapest mix keeps in DDR5."""
    near = Quantity(mix().sizes[0], "B", label="kept near, found by trying every cut")
    return near / terabyte()


@number("tiers.mix_heat", unit="%", digits=2)
def mix_heat() -> Quantity:
    """Share of the accesses that they take."""
    heat = Quantity(mix().heat[0], label="share of a Zipf law", kind="assumption")
    return 1 * heat


@number("tiers.mix_cost", unit="USD", digits=2)
def mix_cost() -> Quantity:
    """What the mix costs: its bytes at their tiers' prices."""
    total = [
        Quantity(size, "B", label=f"bytes in {t.name}") * t.price
        for t, size in zip(mix().tiers, mix().sizes, strict=True)
        if t.price is not None
    ]
    return sum(total[1:], total[0]).named("cost of the mix")


@number("tiers.all_ddr", unit="USD", digits=2)
def all_ddr() -> Quantity:
    """What the same terabyte costs in DDR5 alone."""
    price = _sm("ddr").price
    assert price is not None
    return terabyte() * price


def _rule(market: str) -> Quantity:
    ssd, price = drive("micron_9550"), tiers.prices(market)
    whole = ssd.capacity * price["nvme"]
    interval: Quantity = break_even_interval(ssd.page, price["ddr5"], whole, ssd.reads)
    return interval.named("break-even interval")


_put(
    "gray",
    lambda: break_even_interval(
        constant("gray_page"),
        constant("gray_price"),
        constant("gray_drive"),
        constant("gray_reads"),
    ),
    "Break-even interval with the prices of 1987.",
    unit="s",
)
_put(
    "rule_before",
    lambda: _rule("before"),
    "Break-even interval with a drive of today, before the shortage.",
    unit="s",
    digits=2,
)
_put(
    "rule_shortage",
    lambda: _rule("shortage"),
    "Break-even interval with the prices of the shortage.",
    unit="s",
    digits=2,
)
_put(
    "page",
    lambda: drive("micron_9550").page,
    "Bytes of one random read.",
    unit="KiB",
)
_put(
    "ddr_shortage",
    lambda: cost.memory_price("ddr5_spot").low,
    "Lowest spot price of server DDR5 in November 2025.",
    unit="USD/GB",
    evidence="spec",
)
_put(
    "ddr_rise",
    lambda: tiers.prices("shortage")["ddr5"] / tiers.prices()["ddr5"],
    "Price of DDR5 in the shortage over that before.",
    digits=2,
)
_put(
    "nvme_rise",
    lambda: tiers.prices("shortage")["nvme"] / tiers.prices()["nvme"],
    "Price of flash in the shortage over that before.",
    digits=2,
)


# -- joules ----------------------------------------------------------------------


@cache
def _step(account: str, on: str = CHIP, tp: int = 2) -> StepEnergy:
    return memory.decode_energy("llama-3-70b", on=on, tp=tp, account=account)


def _published() -> Quantity:
    return hardware.memory("hbm2").energy


@number("tiers.hbm_watts", unit="W")
def hbm_watts() -> Quantity:
    """Power of reading HBM at the full rate of an H100, at HBM2's published energy."""
    rate = hardware.get(CHIP).memory_bandwidth.across(1)
    return (rate.to("bit/s") * _published()).named("power of reading HBM")


def _step_bytes() -> Quantity:
    share = Quantity(0.9, label="share of the memory that is read", kind="assumption")
    return hardware.get(CHIP).memory_capacity.across(1) * share


def _step_time() -> Quantity:
    return _step_bytes() / hardware.get(CHIP).memory_bandwidth.across(1)


def _step_bill() -> Quantity:
    return (hardware.get(CHIP).tdp.across(1) * _step_time()).named("joules of a step")


def _step_joules() -> Quantity:
    return energy.memory_energy(_step_bytes(), _published())


for _name, _compute, _what, _unit in (
    ("step_bytes", _step_bytes, "Bytes that an H100 reads in a step.", "GB"),
    ("step_time", _step_time, "Time in which it reads them.", "ms"),
    ("step_bill", _step_bill, "Joules in that time at its design power.", "J"),
    ("step_joules", _step_joules, "Joules of reading them from HBM.", "J"),
):
    _put(_name, _compute, _what, unit=_unit)
_put(
    "step_share",
    lambda: _step_joules() / _step_bill(),
    "Share of the step's joules that reading HBM takes.",
    unit="%",
    digits=2,
)
_put(
    "published", _published, "Published energy of HBM2.", unit="pJ/bit", evidence="spec"
)
_put("hbm_energy", hbm2_energy, "Energy of HBM2 by its parts.", unit="pJ/bit")
_put("ddr_energy", ddr5_energy, "Energy of DDR5, scaled from DDR4's.", unit="pJ/bit")
for _part, _what in (
    ("activation", "to open a row"),
    ("movement", "of the wires inside the stack"),
    ("io", "of the pins"),
):
    _put(
        f"hbm_{_part}",
        lambda part=_part: constant(f"hbm_{part}"),  # type: ignore[misc]
        f"Energy of HBM2 {_what}.",
        unit="pJ/bit",
        evidence="spec",
    )


def _stage(name: str) -> energy.Stage:
    path = energy.circuit_path(hardware.get(CHIP))
    return next(stage for stage in path if stage.name == name)


def _path(account: str, *kinds: str) -> Quantity:
    stages = energy.PATHS[account](hardware.get(CHIP))
    mine = [s.per_bit for s in stages if s.kind in kinds]
    return sum(mine[1:], mine[0]).named("energy of the path")


_put(
    "l2_array",
    lambda: _stage("L2").energy,
    "Energy of one access to an SRAM array of a megabyte.",
    unit="pJ/bit",
    digits=2,
)
_put("wire", energy.wire_energy, "Energy of a wire, by length.", unit="pJ/bit/mm")
_put(
    "wires",
    lambda: _stage("wires across the die").energy,
    "Energy of the mean way across an H100.",
    unit="pJ/bit",
    digits=2,
)
_put(
    "way",
    lambda: energy.wire_length(hardware.get(CHIP).die_area.across(1)),
    "Mean way from a stack to an SM of an H100.",
    unit="mm",
)
_put(
    "circuit_path",
    lambda: _path("circuit", *energy.MOVES),
    "Energy of a bit's way from HBM to a register, from circuit papers.",
    unit="pJ/bit",
)
_put(
    "board_path",
    lambda: _path("board", *energy.MOVES),
    "Energy of the data path from HBM to L1 of an A100, by regression.",
    unit="pJ/bit",
    evidence="measured",
)
_put(
    "board_control",
    lambda: _path("board", "control"),
    "Energy of the control around it.",
    unit="pJ/bit",
    evidence="measured",
)
_put(
    "circuit_total",
    lambda: _step("circuit").total,
    "Energy of a token of Llama-3-70B on two H100s, by circuits.",
    unit="J",
)
_put(
    "circuit_power",
    lambda: _step("circuit").power,
    "Power of one of them at full bandwidth, by circuits.",
    unit="W",
)
_put(
    "measured_power",
    lambda: constant("h100_decode_batch_1"),
    "Power of an H100 that decodes at batch 1, as others measured it.",
    unit="W",
    evidence="measured",
)
_put(
    "circuit_share",
    lambda: _step("circuit").share(*energy.MOVES),
    "Share of it that moves or holds bits.",
    unit="%",
    digits=2,
)
_put(
    "arithmetic_share",
    lambda: _step("circuit").share("arithmetic"),
    "Share of it that is arithmetic.",
    unit="%",
    digits=2,
)
_put(
    "constant_share",
    lambda: _step("circuit").share("constant"),
    "Share of it that flows whatever happens.",
    unit="%",
    digits=2,
)
_put(
    "board_share",
    lambda: _step("board").share(*energy.MOVES),
    "Share that is data path by the board's account.",
    unit="%",
    digits=2,
)
_put(
    "board_wide",
    lambda: _step("board").share(*energy.MOVES, "control"),
    "The same with the control.",
    unit="%",
    digits=2,
)
_put(
    "b200_board",
    lambda: _step("board", "b200_sxm", 1).power,
    "Power of a B200 with an A100's energies a bit: more than it may draw.",
    unit="kW",
)
_put(
    "b200_tdp",
    lambda: hardware.get("b200_sxm").tdp,
    "Design power of a B200.",
    unit="kW",
    evidence="spec",
)


# -- claims ----------------------------------------------------------------------


def _claim(name: str, id: str) -> None:
    claim = claims.get(id)

    def compute() -> Quantity:
        return claims.get(id).quantity()

    compute.__doc__ = f"As document {claim.source} says it: {claim.text}."
    number(f"claim.tiers_{name}", evidence="claimed")(compute)


for _name, _id in {
    "sram_cost": "tier-sram-cost",
    "sram_latency": "tier-sram-latency",
    "movement": "data-movement-power-share",
}.items():
    _claim(_name, _id)
