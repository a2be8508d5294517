"""Claims on interposers, bumps, and what a package is worth."""

from stacklib import cost, hardware
from stacklib.cost.packages import implied_bond
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, assumed

from ..silicon.claims import dies

HBM_SITES = 6  # of an H100's interposer


def _area(reticles: Quantity) -> Quantity:
    return reticles * cost.reticle()


def _h100() -> Quantity:
    why = "As photographs show it; one site holds no memory."
    sites = assumed(HBM_SITES, label="sites for stacks", why=why)
    return hardware.get("h100-sxm").die_area + sites * cost.fact("footprint", "hbm").low


def _pitch(line: str) -> Quantity:
    """A line and a space as wide."""
    return (cost.fact("line", line).low * 2).to("µm")


@claim("cowos-s-max-area")
def cowos_s() -> Finding:
    """TSMC's limit; H100 already needs more than the claim."""
    return Finding(
        _area(cost.fact("carries", "cowos_s").high),
        why="TSMC carries 3.3 fields on one stitched piece of silicon. The claim's is "
        f"the limit of one exposure. H100's die and {HBM_SITES} stacks alone cover "
        f"{_h100().to('mm2').text(digits=4)}.",
    )


def _planned(year: str) -> Quantity:
    quotes = cost.fact("carries", "cowos_l").quotes
    return next(q.value for q in quotes if q.date == year)


@claim("cowos-l-max-area")
def cowos_l() -> Finding:
    """What is planned for the claim's year."""
    return Finding.true(
        computed=_area(_planned("2026")).to("mm2").named("carried in 2026"),
        why="Planned for 2026. In 2024 it was "
        f"{_area(_planned('2024')).to('mm2').text(digits=4)}: a limit with a date.",
    )


@claim("rubin-interposer-reticles")
def rubin() -> Finding:
    """NVIDIA prints none; what was on offer is another thing."""
    planned = _planned("2026")
    side = _area(planned).si ** 0.5
    told = cost.fact("capacity", "rubin_a_wafer").low
    return Finding.cited(
        "Source: TrendForce, 2026, quoted by copperroad.news, Silicon interposers: "
        "about four; its news of April say 5.5. NVIDIA prints none. CoWoS-L carries "
        f"{planned.si:.2g} fields in 2026, and a square of that size fits "
        f"{cost.grid_dies(side, side)} times on a wafer; {told.text()} "
        "Rubin packages a wafer is what a bank reports."
    )


@claim("cowos-s-pitch")
def pitch_s() -> Finding:
    """Line and space."""
    return Finding(_pitch("cowos_s"), why="0.4 µm is a line; a pitch has a space too.")


@claim("cowos-l-pitch")
def pitch_l() -> Finding:
    """Its bridges, as fine as silicon, and its organic part."""
    return Finding(
        _pitch("cowos_l_bridge"),
        to=_pitch("cowos_r"),
        why="From its bridges to what lies outside them, wired as CoWoS-R is.",
    )


@claim("cowos-r-pitch")
def pitch_r() -> Finding:
    """TSMC's page."""
    finest = _pitch("cowos_r").named("the finest that TSMC wires")
    return Finding.false("TSMC: from 4 µm on, 2 of line and 2 of space.", finest)


@claim("microbump-pitch")
def microbumps() -> Finding:
    """The fine and the coarse end of what is quoted."""
    pitch = cost.fact("pitch", "microbump")
    return Finding(
        pitch.low, to=pitch.high, why="From the finest quote to the coarsest."
    )


@claim("cowos-bump-pitch")
def coarse_bumps() -> Quantity:
    """The coarse end of what is quoted."""
    return cost.fact("pitch", "microbump").high


@claim("hybrid-bond-pitch")
def hybrid() -> Finding:
    """The fine and the coarse end of what is quoted."""
    micro, bond = cost.fact("pitch", "microbump"), cost.fact("pitch", "hybrid")
    least = cost.bumps(bond.high) / cost.bumps(micro.low)
    most = cost.bumps(bond.low) / cost.bumps(micro.high)
    return Finding(
        bond.low,
        to=bond.high,
        why=f"Connections an area grow by {least:.2} to {most:.3} over micro-bumps.",
    )


@claim("microbump-limit-40um")
def limit() -> Finding:
    """The pitch at which signals alone would fill what the stack covers."""
    pitch, chip = cost.fact("pitch", "microbump").high, hardware.get("h100-sxm")
    stack = cost.fact("footprint", "hbm").low
    pins = chip.memory_pins
    fills = (stack * chip.memory_stacks / pins) ** 0.5
    room = stack * cost.bumps(pitch)
    return Finding.false(
        computed=fills.to("µm").named("pitch at which data pins fill a stack"),
        why=f"A stack covers room for {room.text(digits=2)} bumps and has "
        f"{(pins / chip.memory_stacks).text(digits=4)} data pins; the bumps "
        "bind only the strip along the edge. From HBM3 to HBM3E the rate of a "
        f"pin rose and the pitch, quoted at {pitch.text()}, did not.",
    )


@claim("rubin-hybrid-bonding")
def rubin_bonds() -> Finding:
    """By what makers say of HBM4."""
    return Finding.false(
        "Source: SK hynix on its HBM4, September 2025: stacked by mass reflow, on "
        "micro-bumps (JEDEC relaxed the height for it). Rubin's two dies lie side by "
        "side."
    )


@claim("grace-cores")
def grace() -> Finding:
    """As NVIDIA prints it, of two."""
    return Finding(
        hardware.get("grace").compute_units,
        why="The blog prints 144 Neoverse V2 cores for two of them; those who run "
        "Isambard 3 say 72 a CPU (its workshop of 21 April 2026).",
    )


@claim("b200-nvhbi-bandwidth")
def nvhbi() -> Finding:
    """Vendor's figure, read as both directions."""
    return Finding(
        hardware.link("nv-hbi").fields["bidirectional"],
        why="NVIDIA's figure. Read as both directions it is "
        f"{hardware.link('nv-hbi').per_direction.text()} each way, less than the "
        "memory delivers.",
    )


@claim("nvhbi-10tbs")
def nvhbi_again() -> Finding:
    """The same."""
    return Finding(
        hardware.link("nv-hbi").fields["bidirectional"],
        why="NVIDIA's figure; it does not say whether of one direction or both.",
    )


@claim("rubin-specs-002")
def rubin_specs() -> Finding:
    """The rate without what depends on the data."""
    dense = hardware.get("rubin").peak("fp4")
    assert dense is not None
    return Finding(
        dense,
        why="Dense. 50 is NVIDIA's figure for inference, with adaptive compression.",
    )


@claim("package-50k")
def package_value() -> Finding:
    """Good parts of a B200, from wafers and quotes."""
    parts = cost.bill("b200-sxm").parts
    bond = implied_bond(
        parts["logic"] + parts["memory"] + parts["packaging"], parts["yield_loss"], 10
    )
    chip = hardware.get("b200-sxm")
    sold = chip.memory_capacity.across(1) / chip.memory_stacks
    each = cost.span(cost.memory_price("hbm3e")) * sold.named("a stack, as sold")
    found = cost.package(
        cost.fact("area", "b200_die").low,
        dies=int(dies().si),
        stacks=int(chip.memory_stacks.si),
        stack=each,
        bond=bond,
        interposer="cowos_l",
        units=80,
        needed=74,
        share=0.5,
    )
    return Finding(
        found.parts.high.named("good parts of a B200, dearest"),
        why="Another post of the same author has 6,400 USD for the whole B200. Built "
        f"up here on CoWoS-L, its good parts are {found.parts.text()}. 50,000 is "
        "nearer to what it sells for.",
    )


@claim("cowos-capacity-growth")
def capacity() -> Finding:
    """A forecast, and how far forecasts of the same months lie apart."""
    late, early = (cost.fact("capacity", f"cowos_{year}") for year in (2026, 2024))
    return Finding.cited(
        "Source: TrendForce News, 2025-12-08, after Commercial Times: as many as "
        "120,000 to 130,000 wafers a month at the end of 2026. Banks and the press "
        f"say {late.low.text()} to {late.high.text()}; for 2024 TrendForce has "
        f"{early.low.text()}."
    )
