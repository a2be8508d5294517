"""Claims on how far away each level of memory is, and what the steps are."""

from itertools import pairwise

from stacklib import hardware
from stacklib.evidence import Finding, claim
from stacklib.evidence.ledger import titled
from stacklib.hardware.warp_rules import rule
from stacklib.memory.ladder.rungs import Rung, launched_copy, mean_step
from stacklib.quantity import Quantity, chosen, constant, maximum, minimum

from ..tiers.claims import typical_read
from .claims import A100, B200, H100, all_units, cycles, field, known, rate, rungs

LISTED = ("registers", "shared memory", "L2", "HBM")  # what every document lists
OWN_CYCLES = 700  # what document 001 says of the same load elsewhere


def _issue_interval() -> Quantity:
    """Cycles from one instruction of a scheduler to its next: a warp over its lanes."""
    per_unit = hardware.get(H100).peaks["fp32"].per_unit_per_cycle
    lanes = known(per_unit, "lanes") / constant("multiply_add")
    parts = hardware.microarchitecture(H100).count("warp_schedulers")
    share = lanes / parts
    return (rule("lanes") / share).named("issue interval")


@claim("mem-register-latency")
def register_latency() -> Finding:
    """Cycles until the next operation can use a result."""
    return Finding(
        cycles(H100, "registers"),
        why="Reading operands is pipelined. An operation that needs the result before "
        "it waits the cycles given here; another may follow after "
        f"{_issue_interval()}.",
    )


@claim("lat-register")
def register_latency_ten() -> Finding:
    """Cycles until the next operation can use a result."""
    return Finding(
        cycles(H100, "registers"),
        why="Measured on Volta, Ampere and Hopper alike. The document's figure is an "
        "order of magnitude; "
        f"{titled('000')} says one cycle for the same.",
    )


def _paper() -> str:
    """Where the latency of Hopper's shared memory was read."""
    source = hardware.level(H100, "shared").known("cycles").source
    return f"{source.title}, {source.where}" if source else ""


@claim("mem-shared-latency")
def shared_latency() -> Finding:
    """A load from shared memory of an H100, and a hit in the L1 of a B200."""
    return Finding(
        cycles(H100, "shared memory"),
        to=hardware.level(B200, "l1").known("cycles"),
        why=f"From shared memory of an H100 ({_paper()}) to a hit in the L1 of a B200 "
        "(markdewing, AI_kernels). An H100's own L1 answers after "
        f"{hardware.level(H100, 'l1').known('cycles')} (RRZE's gpu-benches).",
    )


@claim("lat-smem")
def shared_latency_30() -> Finding:
    """A load from shared memory of an H100, and of others in the same paper."""
    return Finding(
        cycles(H100, "shared memory"),
        why=f"{_paper()}. An A100 has {cycles(A100, 'shared memory')} there, an RTX "
        f"4090 {cycles('rtx-4090', 'shared memory')}: about thirty.",
    )


@claim("mem-l2-latency")
@claim("lat-l2")
def l2_latency() -> Finding:
    """A load from the near side of an H100's L2."""
    return Finding(
        cycles(H100, "L2"),
        why=f"The near side of an H100's L2; the far side takes "
        f"{cycles(H100, 'L2, far side')}. An A100 answers after "
        f"{cycles(A100, 'L2')}, a B200 after {cycles(B200, 'L2')}.",
    )


@claim("hbm-load-cycles")
def hbm_load() -> Finding:
    """A dependent load from the idle memory of an H100."""
    return Finding(
        cycles(H100, "HBM"),
        why="By pointer chase. The same document says 30 ns elsewhere.",
    )


@claim("lat-hbm")
def hbm_latency_400() -> Finding:
    """A dependent load from the idle memory of an H100, against a lower bound."""
    return Finding.true(
        computed=cycles(H100, "HBM"),
        why=f"Stated as a lower bound, and it is one: {cycles(A100, 'HBM')} on an "
        "A100, the figure given on an H100.",
    )


@claim("lat-nvlink")
def peer_latency() -> Finding:
    """A load from a peer's memory over NVLink 4."""
    ours = cycles(H100, "peer")
    return Finding.open(
        f"We have {ours:.3}, from an order of magnitude that we remember for the link "
        "and did not measure. To settle it: a pointer chase through a peer's memory."
    )


@claim("lat-pcie-30000", right_if="it is a copy that the host launches")
def host_latency() -> Finding:
    """A load that a running kernel makes from the host's memory."""
    load = cycles(H100, "host")
    copy = (launched_copy(H100) * field(H100, "clock")).named("launched copy")
    return Finding(
        load,
        why=f"The rows above it are loads. A load over PCIe costs {load:.3}, the DRAM "
        f"at the other end included; a copy that the host launches and waits for "
        f"{copy:.3}.",
        then=copy,
    )


@claim("tier-sram-latency", right_if="it is the registers alone")
def sram_latency() -> Finding:
    """The fastest and the slowest level that the row names."""
    time = {n: rungs(H100)[n].latency for n in LISTED}
    return Finding(
        known(time["registers"], "register latency"),
        to=known(time["L2"], "L2 latency"),
        why=f"The row names registers, L1 and L2. A program sees "
        f"{time['shared memory']:.3 ns} from shared memory and {time['L2']:.3 ns} "
        "from the L2 of an H100.",
        then=known(time["registers"], "register latency"),
    )


@claim("tier-hbm-latency")
def hbm_time() -> Finding:
    """A dependent load from the idle memory of an H100, in time."""
    own = chosen(OWN_CYCLES, "cycle", "the document's own cycles")
    told = (own / field(H100, "clock")).named("in time")
    return Finding(
        known(rungs(H100)["HBM"].latency, "HBM latency"),
        why=f"The document contradicts itself: {OWN_CYCLES} cycles, which it gives "
        f"elsewhere, are {told:.3 ns}. 30 ns is about what one access to an open "
        "DRAM row takes, without the way there and back.",
    )


@claim("mem-nvme-latency-cycles")
def drive_latency() -> Finding:
    """A flash read in cycles of a B200's clock."""
    return Finding(
        (typical_read() * field(B200, "clock")).named("a drive's read in cycles"),
        why=f"A read of {typical_read():.3 µs}: the middle of two data sheets.",
    )


# -- ratios of latency --------------------------------------------------------------


def _penalty() -> Quantity:
    ratio = cycles(H100, "HBM") / cycles(H100, "registers")
    return ratio.named("HBM over registers")


@claim(
    "mem-hbm-register-penalty",
    right_if="a register counts as an issue cycle",
)
def register_penalty() -> Finding:
    """HBM over the latency that a dependent operation sees."""
    return Finding(
        _penalty(),
        why="The documents divide by one cycle. What a dependent operation sees is "
        f"{cycles(H100, 'registers')}. It is a ratio of latencies; in bandwidth "
        f"it is {rate(H100, 'registers') / rate(H100, 'HBM'):.3}.",
        then=(cycles(H100, "HBM") / _issue_interval()).named("HBM over an issue cycle"),
    )


@claim("hbm-vs-register-40x")
def register_penalty_40() -> Finding:
    """HBM over the latency that a dependent operation sees."""
    return Finding(
        _penalty(),
        why="Its own 400 cycles over its own 10 are 40; both figures are off, in "
        "opposite directions. "
        f"{titled('000')} says 600 for the same ratio.",
    )


def _listed(device: str, *more: str) -> list[Rung]:
    return [rungs(device)[name] for name in (*LISTED, *more)]


@claim("mem-level-ratio")
def level_ratio() -> Finding:
    """Least and largest latency step from registers to a drive, H100."""
    listed = [known(rung.cycles, rung.name) for rung in _listed(H100, "drive")]
    steps = [far / near for near, far in pairwise(listed)]
    shared, registers = (all_units(H100, n) for n in ("shared memory", "registers"))
    return Finding(
        minimum(*steps).named("least step"),
        to=maximum(*steps).named("largest step"),
        why=f"On average it is {mean_step(_listed(H100, 'drive'), 'cycles'):.3}, and "
        "the claim says every step: from the L2 to HBM it is "
        f"{cycles(H100, 'HBM') / cycles(H100, 'L2'):.2}. Capacity does not even grow "
        f"at each: shared memory is {shared / registers:.2} of the register file.",
    )


@claim("lat-order-of-magnitude")
def order_of_magnitude() -> Finding:
    """Mean latency step over the levels that the document lists, a copy the last."""
    loads = _listed(H100, "peer", "host")
    copy = launched_copy(H100) * field(H100, "clock")
    steps = len(loads) - 1
    spanned = (copy / cycles(H100, "registers")).named("copy over registers")
    return Finding(
        (spanned ** (1 / steps)).named("mean step"),
        why=f"{steps} steps from a register to a copy that the host launches. With a "
        f"load over PCIe at the end instead it is {mean_step(loads, 'cycles'):.3}. "
        "Single steps run from less than two to about ten.",
    )
