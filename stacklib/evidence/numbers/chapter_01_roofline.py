"""Numbers of chapter 1, the roofline: ridges, gains, speed-ups, five operations."""

from __future__ import annotations

from functools import cache

from stacklib import hardware, roofline
from stacklib.quantity import Quantity
from stacklib.roofline.bound import cache_aware, gains
from stacklib.roofline.count import passes, traffic_cuts

from .. import five_operations as five
from .. import ledger as claims
from .. import limits
from .registry import number

A100, H100, B200 = "a100_sxm_80gb", "h100_sxm", "b200_sxm"
MODEL = "llama-3-70b"


# -- ridges ------------------------------------------------------------


@number("roof.a100_ridge", evidence="spec")
def a100_ridge() -> Quantity:
    """Intensity at which an A100 is limited by memory and bf16 arithmetic at once."""
    return roofline.ridge(A100, "bf16")


@number("roof.a100_fp32_ridge", evidence="spec")
def a100_fp32_ridge() -> Quantity:
    """The same ridge for the fp32 arithmetic of an A100's ordinary units."""
    return roofline.ridge(A100, "fp32")


@number("roof.h100_fp8_ridge", evidence="spec")
def h100_fp8_ridge() -> Quantity:
    """The ridge of an H100 in fp8: the same wires, twice the arithmetic."""
    return roofline.ridge(H100, "fp8")


@number("roof.rtx5090_ridge", evidence="spec")
def rtx5090_ridge() -> Quantity:
    """The dense bf16 ridge of an RTX 5090."""
    return roofline.ridge("rtx_5090", "bf16")


@number("roof.v6e_ridge", evidence="spec")
def v6e_ridge() -> Quantity:
    """The dense bf16 ridge of a TPU v6e."""
    return roofline.ridge("tpu_v6e", "bf16")


@number("roof.devices", evidence="spec")
def devices() -> Quantity:
    """Devices of our database with a dense bf16 rate and a known bandwidth."""
    return Quantity(len(limits.ridges("bf16")), label="devices with a bf16 ridge")


@number("roof.in_claimed", evidence="spec")
def in_claimed() -> Quantity:
    """Devices among them whose bf16 ridge lies in the claimed range."""
    low, high = limits.CLAIMED
    inside = [q for _, q in limits.ridges("bf16") if low <= q.si <= high]
    return Quantity(len(inside), label="devices with a ridge in the range")


def _claimed(value: float, label: str) -> Quantity:
    source = claims.get("breakeven-300-500").quantity().source
    return Quantity(value, "FLOP/B", label=label, source=source, kind="claimed")


@number("roof.claimed_low", digits=3, evidence="claimed")
def claimed_low() -> Quantity:
    """Lower end of the range in which document 003 puts the ridge."""
    return _claimed(limits.CLAIMED[0], "claimed lower end")


@number("roof.claimed_high", digits=3, evidence="claimed")
def claimed_high() -> Quantity:
    """Upper end of that range."""
    return _claimed(limits.CLAIMED[1], "claimed upper end")


# -- generations ------------------------------------------------------------


@cache
def _gain() -> gains.Gain:
    return gains.generation_gain(H100, B200)


@number("roof.gain_bandwidth", evidence="spec")
def gain_bandwidth() -> Quantity:
    """Memory bandwidth of a B200 over that of an H100."""
    return _gain().bandwidth


@number("roof.gain_fp8", evidence="spec")
def gain_fp8() -> Quantity:
    """Dense fp8 rate of a B200 over that of an H100."""
    gain = _gain().fp8
    assert gain is not None  # both publish it
    return gain


@number("roof.gain_headline", evidence="spec")
def gain_headline() -> Quantity:
    """Fastest dense rate of a B200, in fp4, over that of an H100, in fp8."""
    return _gain().headline


@number("roof.gain_tokens", family="E_decode")
def gain_tokens() -> Quantity:
    """Tokens a second at batch one on B200s over those on as many H100s, in 16 bits."""
    return _gain().tokens


@number("roof.gain_h200", family="E_decode")
def gain_h200() -> Quantity:
    """Tokens a second at batch one on H200s over those on as many H100s."""
    return gains.generation_gain(H100, "h200_sxm").tokens


# -- peaks that were believed -------------------------------------------------


def _published(key: str) -> Quantity:
    return next(b.published for b in limits.best_products() if b.device.key == key)


@number("roof.mi300x_peak", evidence="spec")
def mi300x_peak() -> Quantity:
    """Dense bf16 peak of an MI300X over that of an H100."""
    return hardware.get("mi300x").peak("bf16") / hardware.get(H100).peak("bf16")


@number("roof.mi300x_measured", digits=2, evidence="measured")
def mi300x_measured() -> Quantity:
    """Best published bf16 product of an MI300X over that of an H100."""
    return _published("mi300x") / _published(H100)


@number("roof.h20_peak", digits=2, evidence="spec")
def h20_peak() -> Quantity:
    """Dense bf16 peak of an H100 over that of an H20."""
    return hardware.get(H100).peak("bf16") / hardware.get("h20").peak("bf16")


@number("roof.h20_tokens", digits=3, family="E_decode")
def h20_tokens() -> Quantity:
    """Tokens a second at batch one on two H20s over those on two H100s."""
    steps = [roofline.decode_step(MODEL, on=on, tp=2) for on in ("h20", H100)]
    return steps[0].tokens_per_s / steps[1].tokens_per_s


# -- speed-ups that cut traffic -----------------------------------------------


@cache
def _cuts() -> dict[str, traffic_cuts.Cut]:
    return {cut.name: cut for cut in traffic_cuts.famous_cuts()}


@number("roof.flash_bytes", digits=2)
def flash_bytes() -> Quantity:
    """Bytes of attention over 8,192 tokens by separate calls, over those of one."""
    return 1 / _cuts()["FlashAttention"].traffic


@number("roof.flash_time", digits=2)
def flash_time() -> Quantity:
    """Least time of the one over least time of the other, on an H100."""
    return _cuts()["FlashAttention"].speedup(H100)


@number("roof.batch_time", digits=2)
def batch_time() -> Quantity:
    """Least time a token at batch one over that at batch 64, on one H100's rates."""
    return _cuts()["batching"].speedup(H100)


@number("roof.fused_gelu", digits=2)
def fused_gelu() -> Quantity:
    """Bytes of GELU step by step over those of GELU in one pass."""
    return 1 / _cuts()["fusing gelu"].traffic


# -- five operations on an A100, by hand --------------------------------------


@cache
def _by_hand() -> dict[str, roofline.Work]:
    return traffic_cuts.five_operations(4096, 4096, "bf16")


@number("roof.a100_softmax_intensity", digits=3)
def softmax_intensity() -> Quantity:
    """Operations a byte of a softmax over rows of bf16, read once and written once."""
    return _by_hand()["softmax"].intensity


@number("roof.a100_softmax_share", unit="%", digits=2)
def softmax_share() -> Quantity:
    """Share of an A100's bf16 peak that such a softmax can use at best."""
    return roofline.bound_on(_by_hand()["softmax"], A100).share_of_peak


@number("roof.a100_softmax_time", unit="µs", digits=3)
def softmax_time() -> Quantity:
    """Least time of a softmax over a square of side 4,096 on an A100."""
    return roofline.bound_on(_by_hand()["softmax"], A100).time


@number("roof.a100_matmul_time", unit="µs", digits=3)
def matmul_time() -> Quantity:
    """Least time of a product of two such squares on an A100."""
    return roofline.bound_on(_by_hand()["matmul"], A100).time


@number("roof.a100_work_ratio", digits=2)
def work_ratio() -> Quantity:
    """Operations of the product over those of the softmax."""
    return _by_hand()["matmul"].operations / _by_hand()["softmax"].operations


@number("roof.a100_time_ratio", digits=2)
def time_ratio() -> Quantity:
    """Least time of the product over that of the softmax."""
    return matmul_time() / softmax_time()


# -- which side ------------------------------------------------------------


def _memory(tokens: int) -> Quantity:
    found = [b for _, b in limits.sides(MODEL, tokens, H100) if b.bound == "memory"]
    return Quantity(len(found), label="operations that wait for memory")


@number("roof.block_operations")
def block_count() -> Quantity:
    """Operations of one block of Llama-3-70B that move bytes."""
    return Quantity(len(limits.sides(MODEL, 1, H100)), label="operations")


@number("roof.decode_memory")
def decode_memory() -> Quantity:
    """Those of them that wait for memory on an H100, with one new token."""
    return _memory(1)


@number("roof.prompt_memory")
def prompt_memory() -> Quantity:
    """Those of them that wait for memory on an H100, with 2,048 new tokens."""
    return _memory(2048)


# -- levels ------------------------------------------------------------


@cache
def _levels(key: str = H100) -> dict[str, cache_aware.Level]:
    if key == hardware.THIS_MACHINE:
        return {lv.name: lv for lv in cache_aware.host_levels(five.ceilings())}
    return {level.name: level for level in cache_aware.levels_of(key)}


@number("roof.h100_l2", digits=2)
def h100_l2() -> Quantity:
    """Bytes a second all units of an H100 draw from its L2."""
    return _levels()["L2"].bandwidth


@number("roof.h100_l2_ridge")
def h100_l2_ridge() -> Quantity:
    """Ridge of an H100 in bf16 for data that stay in its L2."""
    return _levels()["L2"].ridge(hardware.get(H100).peak("bf16"))


@number("roof.host_l2", digits=2, evidence="measured")
def host_l2() -> Quantity:
    """Bytes a second this machine's cores read from their L2 caches."""
    return _levels(hardware.THIS_MACHINE)["L2"].bandwidth


@number("roof.host_memory", digits=2, evidence="measured")
def host_memory() -> Quantity:
    """Bytes a second this machine's cores read from main memory."""
    return _levels(hardware.THIS_MACHINE)["memory"].bandwidth


# -- five operations on this machine ------------------------------------------


@number("five.roofline_error", unit="%", digits=2, evidence="measured")
def roofline_error() -> Quantity:
    """Median error of the plain roofline over all sizes of the five operations."""
    return five.median_error(by="roofline")


@number("five.passes_error", unit="%", digits=2, evidence="measured")
def passes_error() -> Quantity:
    """Median error of the prediction that counts every pass of the program."""
    return five.median_error()


def _ratio(operation: str, variant: str = "whole", rows: int = 0) -> Quantity:
    run = five.outcome(operation, variant, rows).run
    return run.measured / run.predicted


@number("five.gelu_sum", unit="%", digits=1, evidence="measured")
def gelu_sum() -> Quantity:
    """How far the passes of GELU, timed where they run, add up from the prediction."""
    found = five.diagnosis("gelu")
    seen, told = ([getattr(p, w) for p in found] for w in ("measured", "predicted"))
    return abs(sum(seen[1:], seen[0]) / sum(told[1:], told[0]) - 1)


def _passes_over(operation: str, name: str) -> Quantity:
    found = [p for p in five.diagnosis(operation) if p.name == name]
    return found[0].measured / found[0].predicted


@number("five.tanh", digits=2, evidence="measured")
def tanh() -> Quantity:
    """The tangent inside GELU: measured time over that of its bytes."""
    return _passes_over("gelu", "hyperbolic tangent")


@number("five.times_constant", digits=2, evidence="measured")
def times_constant() -> Quantity:
    """A product with a constant inside GELU: measured time over that of its bytes."""
    return _passes_over("gelu", "times constant")


@number("five.softmax_sum", digits=2, evidence="measured")
def softmax_sum() -> Quantity:
    """The sum inside softmax: measured time over that of its bytes."""
    return _passes_over("softmax", "sum")


@number("five.softmax_exp", digits=2, evidence="measured")
def softmax_exp() -> Quantity:
    """The exponential inside softmax: measured time over that of its bytes."""
    return _passes_over("softmax", "exponential")


def _gain_of(operation: str) -> Quantity:
    whole = five.outcome(operation).run
    return whole.measured / five.outcome(operation, "blocked").run.measured


@number("five.gelu_blocked", digits=2, evidence="measured")
def gelu_blocked() -> Quantity:
    """GELU out of cache: time in whole passes over time in blocks."""
    return _gain_of("gelu")


@number("five.softmax_blocked", digits=2, evidence="measured")
def softmax_blocked() -> Quantity:
    """Softmax out of cache: time in whole passes over time in blocks."""
    return _gain_of("softmax")


@number("five.transpose_miss", digits=2, evidence="measured")
def transpose_miss() -> Quantity:
    """Transpose of a square of 1,024: measured time over predicted."""
    return _ratio("transpose", rows=1024)


@number("five.transpose_odd", digits=2, evidence="measured")
def transpose_odd() -> Quantity:
    """Time of that transpose over that of the slightly larger square of 1,040."""
    power = five.diagnosis("transpose", 1024)[0].measured
    return power / five.diagnosis("transpose", 1040)[0].measured


@number("five.matmul", digits=2, evidence="measured")
def matmul_miss() -> Quantity:
    """The largest matrix product: measured time over predicted."""
    return _ratio("matmul")


@number("roof.softmax_calls")
def softmax_calls() -> Quantity:
    """Calls of a softmax in NumPy, each of which sweeps the array."""
    return Quantity(len(passes.passes("softmax")), label="calls")
