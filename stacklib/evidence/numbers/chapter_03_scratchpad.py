"""Numbers of the section on overflowing memories: the SBUF, and Grace behind a GPU."""

from __future__ import annotations

from functools import cache

from stacklib import hardware, models
from stacklib.memory.scratchpad.operations import cyclic_loads
from stacklib.memory.scratchpad.sbuf import SIDE, SbufCase, sbuf_case
from stacklib.memory.tiers.spill import TwoTiers, spilled_time, two_tiers
from stacklib.quantity import Quantity, Source, bytes_per_element, maximum

from .. import ledger as claims
from .registry import number

CHIP, GPU, MODEL = "trainium2", "gb200", "llama-3.1-405b"
BEFORE, AFTER = 0.96, 0.99  # shares of the SBUF that the claim names
LOOP = 32  # blocks and rounds of the small loop that is run
SHARE = 0.2  # of the bytes, in the example


def _assumed(value: float, unit: str, label: str) -> Quantity:
    return Quantity(value, unit, label=label, kind="assumption")


def _counted(value: float, unit: str, label: str, where: str) -> Quantity:
    source = Source("this section", where, "2026-11-22", "secondary")
    return Quantity(value, unit, label=label, source=source, kind="assumption")


@cache
def case() -> SbufCase:
    """The product on one core of a Trainium2."""
    return sbuf_case(CHIP)


@number("scratchpad.sbuf", evidence="spec")
def sbuf() -> Quantity:
    """SBUF of one core of a Trainium2."""
    return case().sbuf


@number("scratchpad.partitions", evidence="spec")
def partitions() -> Quantity:
    """Partitions of an SBUF."""
    chip = hardware.get(CHIP)
    return hardware.microarchitecture(chip).count("partitions")


@number("scratchpad.psum", evidence="spec", unit="MiB")
def psum() -> Quantity:
    """PSUM of one core."""
    return case().psum


@number("scratchpad.weights", unit="MiB")
def weights() -> Quantity:
    """Bytes of the weights of the example in bf16."""
    side = _assumed(SIDE, "1", "rows and columns of the weights")
    return (side * side * bytes_per_element("bf16")).named("weights").to("MiB")


@number("scratchpad.ring", evidence="spec")
def ring() -> Quantity:
    """Ring that the weights pass through."""
    return case().ring


@number("scratchpad.room", unit="MiB")
def room() -> Quantity:
    """What is left for the activations."""
    return (case().sbuf - case().ring).named("room for X")


@number("scratchpad.room_share", unit="%", digits=3)
def room_share() -> Quantity:
    """That room over the whole SBUF: where the cliff stands."""
    return room() / case().sbuf


@number("scratchpad.panels", evidence="predicted")
def panels() -> Quantity:
    """Panels of the weights, rounds through the activations."""
    return _counted(case().rounds, "1", "panels", "SbufCase.rounds")


@number("scratchpad.panel", evidence="predicted")
def panel() -> Quantity:
    """Columns of a panel."""
    return _counted(case().panel, "1", "columns of a panel", "SbufCase.panel")


@number("scratchpad.blocks", evidence="predicted")
def blocks() -> Quantity:
    """Blocks that the activations are cut into."""
    return _counted(case().blocks, "1", "blocks of X", "SbufCase.blocks")


def loaded(use: float, policy: str, snake: bool = False) -> Quantity:
    """Bytes of activations that are copied in."""
    count = case().loaded(use, policy, snake=snake)
    words = f"X copied in at {use:.0%} of the SBUF, {policy}"
    return _counted(count, "B", words, "SbufCase.loaded")


@number("scratchpad.before", evidence="simulated", unit="MB")
def before() -> Quantity:
    """Copied in just before the cliff, any policy."""
    return loaded(BEFORE, "lru")


@number("scratchpad.after", evidence="simulated", unit="MB")
def after() -> Quantity:
    """Copied in just after it, by LRU."""
    return loaded(AFTER, "lru")


@number("scratchpad.after_belady", evidence="simulated", unit="MB")
def after_belady() -> Quantity:
    """Copied in just after it, by Belady's policy."""
    return loaded(AFTER, "belady")


@number("scratchpad.after_weight", evidence="simulated", unit="MB")
def after_weight() -> Quantity:
    """Copied in just after it, with fixed weights."""
    return loaded(AFTER, "weight")


@number("scratchpad.after_snake", evidence="simulated", unit="MB")
def after_snake() -> Quantity:
    """Copied in just after it by LRU, if every second panel runs backwards."""
    return loaded(AFTER, "lru", snake=True)


@number("scratchpad.cliff", evidence="simulated", digits=2)
def cliff() -> Quantity:
    """After over before, LRU."""
    return after() / before()


@number("scratchpad.slope", evidence="simulated", digits=2)
def slope() -> Quantity:
    """After over before, Belady."""
    return after_belady() / before()


@number("scratchpad.uses_before", evidence="spec", unit="%")
def uses_before() -> Quantity:
    """Share of the SBUF at the claim's first point."""
    return _assumed(BEFORE, "1", "share of the SBUF, first point")


@number("scratchpad.uses_after", evidence="spec", unit="%")
def uses_after() -> Quantity:
    """Share of the SBUF at the claim's second point."""
    return _assumed(AFTER, "1", "share of the SBUF, second point")


@number("scratchpad.claimed", evidence="claimed")
def claimed() -> Quantity:
    """The cliff as claimed."""
    return claims.get("sbuf-spill-cliff").quantity()


def _loop(policy: str) -> Quantity:
    """Loads of a loop with one block too many, over those with room for all."""
    loads = cyclic_loads(LOOP, LOOP - 1, LOOP, policy)
    all_fit = cyclic_loads(LOOP, LOOP, LOOP, policy)
    words = f"blocks copied in, {policy}"
    return _counted(loads, "1", words, "cyclic_loads") / _counted(
        all_fit, "1", "blocks copied in, room for all", "cyclic_loads"
    )


@number("scratchpad.loop", evidence="spec")
def loop() -> Quantity:
    """Blocks of the small loop, and rounds."""
    return _assumed(LOOP, "1", "blocks of the loop")


@number("scratchpad.loop_lru", evidence="simulated", digits=3)
def loop_lru() -> Quantity:
    """Copies of the small loop with one block too many, LRU."""
    return _loop("lru")


@number("scratchpad.loop_belady", evidence="simulated", digits=3)
def loop_belady() -> Quantity:
    """Copies of the small loop with one block too many, Belady."""
    return _loop("belady")


@number("scratchpad.cores", evidence="spec")
def cores() -> Quantity:
    """Cores of a Trainium2."""
    return hardware.get(CHIP).compute_units


# -- what it costs ------------------------------------------------------------------


def _core(quantity: Quantity, label: str) -> Quantity:
    return (quantity.across(1) / hardware.get(CHIP).compute_units).named(label)


@number("scratchpad.hbm", unit="TB/s")
def hbm() -> Quantity:
    """Memory bandwidth of one core's share."""
    return _core(hardware.get(CHIP).memory_bandwidth, "memory bandwidth of a core")


@number("scratchpad.arithmetic", unit="ms")
def arithmetic() -> Quantity:
    """Time of the arithmetic at the second point, one core's share of the peak."""
    tokens = _assumed(case().tokens(AFTER), "1", "tokens")
    side = _assumed(SIDE, "1", "rows and columns of the weights")
    each = _assumed(2, "FLOP", "operations of a multiply-add")
    peak = _core(hardware.get(CHIP).peak("bf16"), "peak of a core")
    return (tokens * side * side * each / peak).named("arithmetic")


def _traffic(policy: str) -> Quantity:
    moved = weights().to("B") + loaded(AFTER, policy)
    return (moved / hbm()).named("weights and X from memory")


@number("scratchpad.memory_lru", unit="ms")
def memory_lru() -> Quantity:
    """Time of weights and activations from memory at the second point, LRU."""
    return _traffic("lru")


@number("scratchpad.memory_belady", unit="ms")
def memory_belady() -> Quantity:
    """The same with Belady's policy."""
    return _traffic("belady")


@number("scratchpad.slower", digits=2)
def slower() -> Quantity:
    """The product at the second point, LRU over Belady, copies under arithmetic."""
    times = [maximum(arithmetic(), _traffic(p)) for p in ("lru", "belady")]
    return (times[0] / times[1]).named("slower by spilling, overlapped")


@number("scratchpad.slower_apart", digits=2)
def slower_apart() -> Quantity:
    """The same if nothing overlaps."""
    times = [arithmetic() + _traffic(p) for p in ("lru", "belady")]
    return (times[0] / times[1]).named("slower by spilling, one after the other")


# -- Grace and Blackwell ------------------------------------------------------------


@cache
def pair() -> TwoTiers:
    """One GPU of a GB200 and the memory of its Grace."""
    return two_tiers(GPU)


@number("scratchpad.gpu_memory", evidence="spec", unit="TB/s")
def gpu_memory() -> Quantity:
    """Memory bandwidth of one GPU of a GB200."""
    return hardware.get(GPU).memory_bandwidth


@number("scratchpad.gpu_capacity", evidence="spec", unit="GB")
def gpu_capacity() -> Quantity:
    """Memory of one GPU of a GB200."""
    return hardware.get(GPU).memory_capacity


@number("scratchpad.grace_memory", evidence="spec", unit="GB/s")
def grace_memory() -> Quantity:
    """Memory bandwidth of a Grace."""
    return hardware.get("grace").memory_bandwidth


@number("scratchpad.grace_capacity", evidence="spec", unit="GB")
def grace_capacity() -> Quantity:
    """Memory of a Grace."""
    return hardware.get("grace").memory_capacity


@number("scratchpad.link_both", evidence="spec", unit="GB/s")
def link_both() -> Quantity:
    """NVLink-C2C, both directions together."""
    return hardware.link("nvlink_c2c").bidirectional


@number("scratchpad.link", evidence="spec", unit="GB/s")
def link() -> Quantity:
    """NVLink-C2C, one direction."""
    return hardware.link("nvlink_c2c").per_direction


@number("scratchpad.link_achieved", evidence="measured", unit="GB/s")
def link_achieved() -> Quantity:
    """One direction of it as others measured a copy."""
    return hardware.link("nvlink_c2c").achieved


@number("scratchpad.knee", unit="%")
def knee() -> Quantity:
    """Share of the bytes that may lie in Grace's memory at no cost."""
    return pair().knee


@number("scratchpad.at_knee", unit="TB/s")
def at_knee() -> Quantity:
    """Bytes a second there: both memories at once."""
    return (pair().near + pair().far).named("both memories at once")


@number("scratchpad.share", evidence="spec", unit="%")
def share() -> Quantity:
    """Share of the bytes in Grace's memory, in the example."""
    return _assumed(SHARE, "1", "share in the far memory")


@number("scratchpad.at_share", unit="TB/s")
def at_share() -> Quantity:
    """Bytes a second of a step with that share spilled."""
    one = _assumed(1, "GB", "bytes of a step")
    far = _assumed(SHARE, "1", "share in the far memory")
    time = spilled_time(one, far, pair().near, pair().far, apart=False)
    return (one / time).named("bytes a second of the step")


@number("scratchpad.left", unit="%")
def left() -> Quantity:
    """That over the GPU's own bandwidth."""
    return at_share().retag("per_direction") / pair().near


@number("scratchpad.model", evidence="spec", unit="GB")
def model_bytes() -> Quantity:
    """Weights of Llama-3.1-405B in fp8."""
    return models.get(MODEL).weight_bytes("fp8").named("weights in fp8")


@number("scratchpad.spilled", unit="GB")
def spilled() -> Quantity:
    """What one GPU has no room for."""
    return pair().spilled(model_bytes())


@number("scratchpad.step", unit="ms")
def step() -> Quantity:
    """Decode step with both memories read at once."""
    return pair().time(model_bytes())


@number("scratchpad.step_apart", unit="ms")
def step_apart() -> Quantity:
    """Decode step with one memory read after the other."""
    return pair().time(model_bytes(), apart=True)


@number("scratchpad.step_slip", unit="ms")
def step_slip() -> Quantity:
    """What the step would seem to take, had the link its 900 GB/s one way."""
    both = hardware.link("nvlink_c2c").bidirectional
    return (spilled() / both).named("the same bytes at both directions' rate")


@number("scratchpad.step_no_spill", unit="ms")
def step_no_spill() -> Quantity:
    """The same bytes at the GPU's own bandwidth."""
    return (model_bytes() / pair().near).named("all of it from the GPU's memory")


@number("scratchpad.times_slower", digits=2)
def times_slower() -> Quantity:
    """The step over the same bytes from the GPU's own memory."""
    return step() / step_no_spill()


@number("scratchpad.shared", unit="GB/s")
def shared() -> Quantity:
    """What each of two GPUs gets of Grace's memory when both draw."""
    return two_tiers(GPU, sharers=2).far


@number("scratchpad.h200_knee", unit="%", digits=2)
def h200_knee() -> Quantity:
    """The knee of an H200 behind PCIe."""
    return two_tiers("h200-sxm", "epyc_9755").knee
