"""Claims on other chips: most are looked up, some can be multiplied."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.pages.accelerators import rent as page
from stacklib.quantity import Quantity, quoted

SAME = "The data sheet's own figure."
OTHERS = ("mi355x", "tpu_v7", "trainium3")  # beside the B200


def _peak(device: str, dtype: str) -> Quantity:
    return hardware.get(device).peak(dtype)


@claim("tpu7-peak", "tpu_v7", "fp8", "In FP8; bf16 runs at half of it.")
@claim("ironwood-chip-specs", "tpu_v7", "fp8", "In FP8, dense.")
@claim("trainium2-peak", "trainium2", "fp8", "Dense.")
@claim("trn3-specs", "trainium3", "fp8", "MXFP8, dense.")
@claim("tpuv5p-459", "tpu_v5p", "bf16", SAME)
@claim("tpuv6e-918", "tpu_v6e", "bf16", SAME)
@claim("maia200-specs", "maia200", "fp4", SAME)
@claim("m4max-17", "m4_max", "fp32", "Lanes at a clock that Apple does not print.")
def rate(device: str, dtype: str, why: str) -> Finding:
    """A peak as it is published, or multiplied out."""
    return Finding(_peak(device, dtype), why=why)


@claim("tpu7-hbm")
def tpu_memory() -> Finding:
    """Stacks, pins and their rate."""
    return Finding(hardware.get("tpu_v7").memory_bandwidth, why=SAME)


@claim("b200-vs-h100-bw")
def bandwidths() -> Finding:
    """One memory over the other."""
    both = [hardware.get(name).memory_bandwidth for name in ("b200_sxm", "h100_sxm")]
    found = (both[0] / both[1]).named("B200 over H100")
    return Finding(found, why="Of the boards that are sold; 8 TB/s is the headline.")


@claim("wse3-transistors")
def transistors() -> Finding:
    """A wafer's, as its maker says."""
    device = hardware.get("wse3")
    each = (device.transistors / device.die_area).named("transistors by area")
    return Finding(
        device.transistors,
        why=f"{each.text('1/mm2')}, as dies of that process have.",
    )


@claim("wse3-peak", right_if="zeros of weights that are skipped count as done")
def wafer_peak() -> Finding:
    """Dense, and as it is printed."""
    device = hardware.get("wse3")
    return Finding(
        device.peak("fp16"),
        then=device.peak("fp16", sparse=True),
        why="A core does eight multiplications and additions a cycle (Next Platform, "
        "March 2024). The headline is eight times that, for weights of which seven in "
        "eight are zero: its maker's sheet, as yobitel.com has it, calls it sparse.",
    )


@claim("wse3-cores")
def cores() -> Finding:
    """Cores of a wafer."""
    return Finding(hardware.get("wse3").compute_units, why=SAME)


@claim("groq1-peak")
def groq_peak() -> Finding:
    """INT8 at the clock that systems run."""
    device = hardware.get("groq_lpu_v1")
    whole = device.peak("int8")
    return Finding(
        4 * device.peak("fp16"),
        why=f"{whole.text()} in INT8, four times its FP16 rate and no FLOP. The "
        "headline of one is at the highest clock, which systems do not run.",
    )


def _shares() -> list[Quantity]:
    """Dense FP8 peak and bandwidth of the three over those of a B200."""
    base = hardware.get("b200_sxm")
    found = []
    for name in OTHERS:
        device = hardware.get(name)
        peak = device.peak("fp8") / base.peak("fp8")
        rate_ = device.memory_bandwidth / base.memory_bandwidth
        found += [peak.named(f"FP8, {device.short}"), rate_.named(device.short)]
    return found


@claim("alt-silicon-parity")
def parity() -> Finding:
    """The least of both over a B200, of all three and of two."""
    every, two = (min(of, key=lambda q: q.si) for of in (_shares(), _shares()[:-2]))
    return Finding.depends(
        "Trainium3 is left out",
        why="It has about half of a B200's arithmetic. The others have at least "
        f"{two:.2 %} of its arithmetic and of its bandwidth.",
        computed=every,
    )


@claim("ironwood-pod-exaflops")
def pod() -> Finding:
    """Chips times peak."""
    return Finding(page.pod_peak(), why="FP8, dense; bf16 is half of it.")


@claim("ironwood-pod-hbm")
def pod_memory() -> Finding:
    """Chips times HBM."""
    return Finding(
        page.pod_memory(),
        why="A chip has 192 GiB by its documentation; the figure multiplies 192 GB. "
        "Nor is it one memory: each chip reads its own.",
    )


@claim("cerebras-850k-40gb")
def second_wafer() -> Finding:
    """The generation before."""
    return Finding(
        hardware.get("wse2").memory_capacity,
        why="Both figures are of the WSE-2; a WSE-3 has "
        f"{hardware.get('wse3').memory_capacity.text()}.",
    )


@claim("tpu-250w")
def tpu_power() -> Finding:
    """What two authors put where Google prints nothing."""
    least, most = quoted("tpu_power.v6e_low"), quoted("tpu_power.v5p")
    return Finding(
        least,
        to=most,
        verdict="conflict",
        why="Google prints no power of a chip since its fourth generation, and nobody "
        f"has measured one. For v6e one author takes {least.text()}, a catalogue "
        f"{quoted('tpu_power.v6e_high').text()}; for v5p the catalogue has "
        f"{most.text()}. One figure for both chips is in neither.",
    )


@claim("northpole-spiking")
def northpole() -> Finding:
    """What the chip computes with."""
    return Finding.false(
        "It multiplies 8, 4 and 2 bit integers in 256 cores that step together; "
        "TrueNorth, of the same laboratory, has spikes. Source: "
        "open-neuromorphic.org, NorthPole at a glance, after the paper in Science."
    )


@claim("taalas-tenstorrent-300")
def employees() -> Finding:
    """A count of people at a date that is not named."""
    return Finding.open(
        "No document that we could read has the number. To settle it: the company's "
        "own count, and the year that is meant."
    )
