"""Claims on a scratchpad that overflows, and a far memory behind a near one."""

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.memory.scratchpad.sbuf import sbuf_case
from stacklib.quantity import Quantity, chosen, counted

BEFORE, AFTER = 0.96, 0.99  # shares of the SBUF between which the claim has its cliff


@claim("sbuf-spill-cliff")
def spill_cliff() -> Finding:
    """Bytes of X copied in at both shares, LRU, as our product on one core has it."""
    case = sbuf_case("trainium2")

    def loaded(use: float, policy: str) -> Quantity:
        copied = counted(
            case.loaded, use, policy, unit="B", label="bytes of X copied in"
        )
        return (copied * 1).named(f"copied in at {use:.0%} of the SBUF")

    low, high = loaded(BEFORE, "lru"), loaded(AFTER, "lru")
    least, most = (case.sbuf.si * (1 - use) / 2**20 for use in (AFTER, BEFORE))
    return Finding(
        (high / low).named("cliff"),
        why="The claim is two points from one compiler, of a program that is not "
        f"shown. Ours is a reconstruction: {case.sbuf} with a ring of {case.ring} "
        f"for weights; {case.rounds} panels of {case.panel} columns, the widest "
        f"whose sums fit {case.psum.to('MiB')} and as many for any side of the "
        "weights that is a power of two; each needs all of X; LRU. Then "
        f"{low.text('MB')} become {high.text('MB')}: before the cliff X is loaded "
        f"once, after it once a panel. The ring is ours: any of {least:.2f} to "
        f"{most:.2f} MiB has the cliff between the two points. Belady's choice would "
        f"copy {loaded(AFTER, 'belady').text('MB')}. Writing back and reading again in "
        "half as many rounds gives the same two numbers.",
    )


@claim("sbuf-hbm-drop")
def hbm_drop() -> Finding:
    """No bandwidth of an SBUF is published that would say whose 10 TB/s it is."""
    chip = hardware.get("trainium2")
    cores = chip.compute_units
    each = (chip.memory_bandwidth.across(1) / cores).named("HBM of one core")
    sbuf = chosen(10, "TB/s", "SBUF bandwidth as stated")
    return Finding.open(
        f"Its own two figures are {(sbuf / chip.memory_bandwidth.across(1)):.2} "
        f"apart. But the {chip.memory_bandwidth} belong to {cores.si:.0f} cores, "
        f"{each} each. If the stated SBUF rate is one core's, spilling costs that "
        f"core {(sbuf / each):.2} times; if it is the chip's, the claim is right. "
        "AWS prints no SBUF bandwidth. To settle it: a copy between SBUF tiles timed "
        "on one core."
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
