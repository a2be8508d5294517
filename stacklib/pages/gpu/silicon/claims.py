"""Claims on what can be printed, on which process, and how densely."""

from stacklib import cost, hardware
from stacklib.cost.assembly import b200
from stacklib.cost.chiplets import good_dies
from stacklib.cost.moore import Chip, chips, fixed_doubling
from stacklib.cost.yields import negative_binomial
from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity


def _chip(key: str) -> Chip:
    return next(chip for chip in chips() if key in chip.keys)


def dies(device: str = "b200-sxm") -> Quantity:
    """Compute dies of a device, as its maker prints them."""
    return hardware.get(device).dies


@claim("b200-die-count")
def b200_dies() -> Quantity:
    """As NVIDIA prints it; its silicon does not fit one field."""
    return dies()


@claim("b200-transistors", "b200-sxm", "transistors")
@claim("h100-die-area", "h100-sxm", "die_area")
def printed(device: str, field: str) -> Quantity:
    """As NVIDIA prints it, of the whole chip."""
    return getattr(hardware.get(device), field)


@claim("b200-transistors-per-die")
def transistors_per_die() -> Quantity:
    """Those of the chip over its dies."""
    return hardware.get("b200-sxm").transistors / dies()


@claim("rubin-336b")
def rubin_transistors() -> Finding:
    """As NVIDIA prints it; at least as dense as two whole fields make it."""
    many = hardware.get("rubin").transistors
    least = (many / (cost.reticle() * dies("rubin"))).to("1/mm2").value / 1e6
    return Finding(
        many,
        why=f"NVIDIA's figure. Two dies of at most a scanner's field make that at "
        f"least {least:.0f} million on each mm².",
    )


@claim("b200-process-node")
def b200_process() -> Finding:
    """A name, not a length."""
    return Finding.true(
        f"Source: NVIDIA's specifications: {hardware.get('b200-sxm').process}, its own "
        "version of TSMC's 5 nm family. The 4 is a name; nothing on the die is "
        "that short."
    )


@claim("h100-process")
def h100_process() -> Finding:
    """4N belongs to N5's family; NVIDIA says so."""
    gained = cost.gain("n5", "n3e").middle
    return Finding.false(
        f"Source: H100's white paper: TSMC {hardware.get('h100-sxm').process[5:]}, a "
        "5 nm process customised for NVIDIA. It does not lie between N4 and N3: N3E "
        f"packs logic {gained:.2} times as densely as N5, and 4N takes none of "
        "that step."
    )


@claim("h100-successor-node")
def h100_successor() -> Finding:
    """The direct successor stayed where it was."""
    return Finding.false(
        f"Source: NVIDIA's specifications: Blackwell stayed on "
        f"{hardware.get('b200-sxm').process}; Rubin is on "
        f"{hardware.get('rubin').process}. True of the successor's successor."
    )


@claim("dataflow-silicon-3nm")
def dataflow_process() -> Finding:
    """The figure's numbers are those of a B200."""
    b200_chip, rubin = hardware.get("b200-sxm"), hardware.get("rubin")
    return Finding.false(
        "Source: NVIDIA's specifications: the GPU with 8 TB/s of "
        f"HBM3e and 72 in a rack is on {b200_chip.process}. The one on "
        f"{rubin.process} has {rubin.memory_bandwidth.text(digits=2)} of HBM4. The "
        "same document says 4NP elsewhere."
    )


@claim("six-chips-one-node")
def six_chips() -> Finding:
    """What makers say of the process of each that is in the database."""
    said = {
        hardware.get(k).name: hardware.get(k).process
        for k in ("rubin", "maia200", "trainium3", "tpu_v7")
    }
    listed = "; ".join(f"{name}: {process}" for name, process in said.items())
    return Finding.open(
        f"Makers name a process, or a family, or nothing ({listed}). To settle "
        "it: a page of each maker that says N3P."
    )


@claim("reticle-limit")
@claim("reticle-limit-001")
def field() -> Quantity:
    """Slit times scan."""
    return cost.reticle()


@claim("die-area-cap-800")
def cap() -> Finding:
    """The field; the largest die in the database that is not a whole wafer."""
    sold = hardware.get("a100-sxm-80gb").die_area
    return Finding(
        cost.reticle(), why=f"A round number: A100's {sold.text()} was sold in 2020."
    )


@claim("b200-die-800")
def b200_area() -> Finding:
    """Nobody who knows says; what is certain is the field."""
    least = (transistors_per_die() / cost.reticle()).to("1/mm2").value / 1e6
    return Finding.cited(
        "Source: Silicon Analysts, NVIDIA B200 cost breakdown: 800. NVIDIA prints no "
        "area, only 'reticle-sized'. At the whole field the die would hold "
        f"{least:.0f} million transistors a mm²."
    )


@claim("maia200-reticle")
def maia() -> Finding:
    """Microsoft prints no area, so there is nothing to hold to the limit."""
    chip = hardware.get("maia200")
    least = (chip.transistors / cost.reticle()).to("1/mm2").value / 1e6
    mean = (cost.reticle() * cost.defect_density("n3").high).si
    whole = negative_binomial(mean, 2.0)
    return Finding.open(
        f"Microsoft prints no area. The field ends at {cost.reticle().text()}; on one "
        f"die of that size its transistors need at least {least:.0f} million a mm², "
        f"and at the worst quoted defect density {100 * whole:.0f} % of such dies have "
        "no defect. To settle it: a measured die."
    )


@claim("ai5-half-reticle")
def half_reticle() -> Finding:
    """Said and not measured; what it buys is computed."""
    ratio = good_dies(0.026, 0.0165, 1000) / good_dies(0.026, 0.033, 1000)
    return Finding.cited(
        "Source: Musk on the call of 22 October 2025, quoted by Notebookcheck: without "
        "the parts left out it fits into half a reticle. No area is printed. A wafer "
        f"gives {ratio:.1f} times the good dies of a full field, at 0.1 defects a cm², "
        "counted with streets and a lost rim."
    )


@claim("b200-logic-dies-cost")
def logic_cost() -> Finding:
    """Two dies from wafers: no spare unit at most, all spares at least."""
    logic = b200().parts["logic"]
    return Finding(
        logic.middle.named("two dies, the middle"),
        why=f"From wafer prices and defect densities it is {logic.text()}.",
    )


@claim("wafer-tens-of-millions")
def wafer() -> Finding:
    """A wafer of 3 nm, in the middle of its quotes."""
    paid, masks = (
        cost.span(cost.wafer_price("n3")),
        cost.span(cost.fact("masks", "leading")),
    )
    return Finding(
        paid.middle.named("a wafer of 3 nm, the middle"),
        why=f"Wafers of 3 nm are quoted at {paid.text()}. Tens of millions is what a "
        f"set of masks costs ({masks.text()}), once for each design.",
    )


@claim("n3-gate-length")
def gate_length() -> Finding:
    """The roadmap's figure for the node; TSMC prints none."""
    gates, metal = (cost.fact("feature", k).low for k in ("gate_pitch_n3", "metal_n3"))
    return Finding(
        cost.fact("feature", "gate_n3").low,
        why="The industry's roadmap has that for the 3 nm node; TSMC prints no length. "
        f"Gates stand {gates.text()} apart and the finest wires {metal.text()}. "
        "No feature is 3 nm, so the point stands.",
    )


@claim("n4-n2-density")
def n4_n2() -> Finding:
    """Stated steps, with logic's where it is stated."""
    chip = cost.gain("n4", "n2", "chip").middle
    sram = cost.gain("n4", "n2", "sram").middle
    return Finding(
        cost.gain("n4", "n2").middle.named("logic, N2 over N4"),
        why="For logic, and its last step is of whole chips. By TSMC's own mixed chip "
        f"it is {chip:.3} times, and SRAM cells gain {sram:.2} times: a real die "
        "falls short of the claim.",
    )


@claim("density-per-jump")
def per_jump() -> Finding:
    """Each of its two jumps, with logic's factor where one is stated."""
    first, total = (cost.gain("n4", node).middle for node in ("n3p", "n2"))
    return Finding(
        (total / first).named("N2 over N3P"),
        to=first.named("N3P over N4"),
        why="The document contradicts itself: it has the same factor for N4 to N2 in "
        f"total. Two such jumps would be 3.6 times; stated steps give {total:.3}, and "
        "the second is the smaller.",
    )


@claim("node-power-gain", right_if="one shrink is meant, N4P to N3P")
def power() -> Finding:
    """Both shrinks, N4P to N2, from the least to the most that is stated."""
    step, total = cost.gain("n4", "n3p", "power"), cost.gain("n4", "n2", "power")
    return Finding(
        (1 - total.high).named("power saved, N4P to N2, least"),
        to=(1 - total.low).named("power saved, N4P to N2, most"),
        why="At one speed, over both shrinks, as its label says. The sentence around "
        "it speaks of one.",
        then=(1 - step.middle).named("power saved, N4P to N3P"),
    )


@claim("node-speed-gain", right_if="one shrink is meant, N4P to N3P")
def speed() -> Finding:
    """Both shrinks, N4P to N2, from the least to the most that is stated."""
    step, total = cost.gain("n4", "n3p", "speed"), cost.gain("n4", "n2", "speed")
    return Finding(
        (total.low - 1).named("speed gained, N4P to N2, least"),
        to=(total.high - 1).named("speed gained, N4P to N2, most"),
        why="At one power, over both shrinks. It is that or the power, not both.",
        then=(step.middle - 1).named("speed gained, N4P to N3P"),
    )


@claim("h100-density")
def h100_density() -> Finding:
    """The process, as the sentence says: logic of N5 from measured cells, N4's step."""
    packed = cost.fact("packed", "n5")
    chip = (_chip("h100_sxm").density).to("1/mm2").value / 1e6
    return Finding(
        packed.low * cost.gain("n5", "n4").middle,
        why="Logic alone, from measured cells of N5 and N4's step. The press computed "
        f"{packed.high.to('1/mm2').value / 1e6:.0f} for N5. The chip itself has "
        f"{chip:.1f} million a mm²: memory and wiring are not packed like logic.",
    )


@claim("moore-doubling-time")
def doubling() -> Finding:
    """The last two steps, for the sentence says now."""
    old, middle, new = map(_chip, ("a100_sxm_80gb", "h100_sxm", "b200_sxm"))
    fit = cost.clock()
    return Finding(
        fixed_doubling(old, middle),
        to=fixed_doubling(middle, new),
        why="At the pace from A100 to H100, and at that from H100 to B200; over both, "
        f"{fixed_doubling(old, new)}. A line through NVIDIA's {len(fit.keys)} "
        f"data-centre chips has {fit.doubling:.1f}, for the larger step from V100 to "
        "A100 is in it.",
    )
