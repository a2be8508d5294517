"""Claims on a scratchpad that overflows, and a far memory behind a near one."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.memory.scratchpad.sbuf import sbuf_case
from stacklib.quantity import Quantity, chosen, counted, quoted

BEFORE, AFTER = 0.96, 0.99  # shares of the SBUF between which the claim has its cliff


@claim("sbuf-spill-cliff")
def spill_cliff() -> Finding:
    """The post's two points, beside our product on one core, LRU."""
    case = sbuf_case("trainium2")

    def loaded(use: float, policy: str) -> Quantity:
        return counted(case.loaded, use, policy, unit="B", label="bytes copied in")

    low, high = loaded(BEFORE, "lru"), loaded(AFTER, "lru")
    least, most = (case.sbuf.si * (1 - use) / 2**20 for use in (AFTER, BEFORE))
    before, after = quoted("sbuf_spill.before"), quoted("sbuf_spill.after")
    return Finding(
        (after / before).named("cliff"),
        why="Two points from one compiler, of a program that is not shown. A "
        f"reconstruction comes to {high / low:.3}: {case.sbuf} with a ring of "
        f"{case.ring} for weights; {case.rounds} panels of {case.panel} columns, the "
        f"widest whose sums fit {case.psum.to('MiB')} and as many for any side of the "
        "weights that is a power of two; each needs all of X; LRU. Then "
        f"{low.text('MB')} become {high.text('MB')}: before the cliff X is loaded "
        f"once, after it once a panel. The ring is ours: any of {least:.2f} to "
        f"{most:.2f} MiB has the cliff between the two points. Belady's choice would "
        f"copy {loaded(AFTER, 'belady').text('MB')}.",
    )


@claim("sbuf-hbm-drop")
def hbm_drop() -> Finding:
    """The chip's HBM, which is not what one core falls to."""
    chip = hardware.get("trainium2")
    whole, cores = chip.memory_bandwidth, chip.compute_units
    each = (whole.across(1) / cores).named("HBM of one core")
    times = quoted("neuron_guide.sbuf")
    sbuf = chosen(10, "TB/s", "SBUF bandwidth as stated")
    return Finding(
        whole,
        why=f"AWS's figure for the HBM of {cores.si:.0f} cores, {each} each. Its guide "
        f"gives a core's SBUF about {times.si:.0f} times what it has of HBM, so the "
        f"{sbuf} are near one core's, {(each * times):.2 TB/s}, and its drop is not "
        f"the {(sbuf / whole.across(1)):.2} times that the two figures suggest.",
    )


def _pins() -> Quantity:
    """512 pins at the rate of LPDDR5X-8533: what the claim divides by eight."""
    pins = chosen(512, label="pins, as the claim has it")
    return (pins * hardware.memory("lpddr5x").pin_rate).to("GB/s").named("pins x rate")


@claim("grace-lpddr-bandwidth")
def lpddr_bandwidth() -> Finding:
    """What the vendor lists, under what the pins could carry."""
    grace = hardware.get("grace")
    return Finding(
        grace.memory_bandwidth,
        why=f"512 pins at {hardware.memory('lpddr5x').pin_rate} carry {_pins()}: the "
        f"claim is the pins' rate. NVIDIA lists up to {grace.memory_bandwidth}, "
        "and less for the largest module. A GPU sees neither: one direction of "
        f"its link is {hardware.link('nvlink_c2c').per_direction}.",
    )


@claim("grace-lpddr-capacity")
def lpddr_capacity() -> Finding:
    """What the modules expose."""
    grace = hardware.get("grace")
    return Finding(
        grace.memory_capacity,
        why=f"The largest module that is sold has {grace.memory_capacity}; two GPUs "
        "of a Grace-Blackwell share it.",
    )
