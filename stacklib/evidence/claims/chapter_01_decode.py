"""Chapter 1: decode in general. How many operations a byte, and what then waits."""

from __future__ import annotations

from stacklib import hardware, models, roofline
from stacklib.evidence import measurements
from stacklib.quantity import Quantity, Source, maximum, minimum

from .judge import Finding, check
from .ledger import READ, get

MODEL = "llama-3-70b"
CHIP = "h100_sxm"
CONTEXT = 4096
TOP_BATCH = 10  # sequences that bring 16-bit decode to ten operations a byte
SERVING_BATCH = 64
SHORT_PROMPT, PROMPT = 50, 512  # tokens
LONG = 32_768  # cached tokens, where the cache weighs as much as the arithmetic
CHIPS, MANY, BRIEF = 8, 512, 256  # a node, with many short sequences


def _work(batch: int = 1) -> roofline.Work:
    model = models.get(MODEL)
    return roofline.decode_work(model, dtype="bf16", batch=batch, context=CONTEXT)


def _step(batch: int, tp: int = 2) -> roofline.DecodeStep:
    return roofline.decode_step(
        MODEL, on=CHIP, dtype="bf16", tp=tp, batch=batch, context=CONTEXT
    )


@check("decode-intensity")
def decode_intensity() -> Finding:
    """Batch one in 16 bits, the low end of the range."""
    return Finding(
        _work().intensity,
        why=(
            f"The low end is 16-bit weights at batch one. The high end is a batch of "
            f"{TOP_BATCH}: {_work(TOP_BATCH).intensity}. At {SERVING_BATCH} sequences "
            f"it is {_work(SERVING_BATCH).intensity}: each sequence brings its own KV "
            "cache to read, so it grows slower than the batch."
        ),
    )


@check("decode-ai-1")
def decode_ai_16_bit() -> Finding:
    """Two operations and two bytes a weight; attention over the KV cache added."""
    return Finding(
        _work().intensity,
        why=(
            "Two operations for each two-byte weight. Counted with attention over "
            f"{CONTEXT:,} cached tokens; eight query heads share each key, which "
            "lifts it a little above one."
        ),
    )


def _idle_share() -> Finding:
    top, crowd = _step(TOP_BATCH), _step(SERVING_BATCH, tp=4)
    return Finding(
        top.idle,
        why=(
            f"At the high end of its own range, ten operations a byte, the tensor "
            f"cores of an H100 wait {top.idle:.3 %} of the step; at batch one "
            f"{_step(1).idle:.4 %}. It is no property of decode: with {SERVING_BATCH} "
            f"sequences of {CONTEXT:,} tokens they wait {crowd.idle:.3 %}."
        ),
    )


@check("decode-tensor-waste")
def decode_tensor_waste() -> Finding:
    """The idle share at ten operations a byte, the low end of the claimed share."""
    return _idle_share()


@check("tensor-idle-97")
def tensor_idle() -> Finding:
    """The same share, stated once more by the same document."""
    return _idle_share()


@check("decode-util-0p34")
def decode_utilisation() -> Finding:
    """Busy share of a batch-one BF16 step; two chips, because one cannot hold it."""
    step = roofline.decode_step(MODEL, on=CHIP, dtype="bf16", tp=2)
    return Finding(step.busy, why="BF16 weights on H100, batch one only.")


@check("decode-arith-2n-2n-kv")
def decode_with_long_cache() -> Finding:
    """A small model with a long cache, where the cache weighs most."""
    model = models.get("llama-3-8b")
    work = roofline.decode_work(model, dtype="bf16", context=LONG)
    heads = model.heads / model.kv_heads
    return Finding(
        work.intensity,
        why=(
            f"Close by the number, wrong in direction: with {LONG:,} tokens cached, "
            f"Llama-3-8B in BF16 does {work.intensity}, more than without a cache. "
            f"{heads:.0f} query heads share each cached key, so a cached byte does "
            "more than a weight byte. With a key for every query head, a cached byte "
            "does exactly one operation, and the sum stays at one, never below."
        ),
    )


def _gain_of_double_peak(batch: int, context: int) -> Quantity:
    """How much faster a step gets when the arithmetic peak doubles."""
    chip = hardware.get(CHIP)
    step = roofline.decode_step(
        MODEL, on=chip, dtype="bf16", tp=CHIPS, batch=batch, context=context
    )
    chips = Quantity(CHIPS, label="chips", kind="assumption")
    peak, bandwidth = chip.peak("bf16"), chip.memory_bandwidth
    twice = Quantity(2, label="twice the tensor cores", kind="assumption")
    compute = step.operations / (peak.across(chips) * twice)
    memory = step.bytes / bandwidth.across(chips)
    faster = maximum(compute, memory).named("time with twice the tensor cores")
    return (step.time / faster - 1).named("gain")


@check("decode-adding-flops")
def decode_adding_flops() -> Finding:
    """The gain from doubling the peak, where decode is most likely to feel it."""
    many = _gain_of_double_peak(MANY, BRIEF)
    longest = roofline.memory_bound_context(MODEL, on=CHIP, dtype="bf16")
    return Finding(
        many,
        why=(
            f"Doubling the peak of {CHIPS} H100s gains "
            f"{_gain_of_double_peak(1, CONTEXT):%} for one sequence and "
            f"{many:.2 %} for {MANY} sequences of {BRIEF} tokens. Beyond "
            f"{longest:.3} tokens a sequence no batch gains anything: each brings "
            "more cache to read than arithmetic to do."
        ),
        condition=(
            "the batch is small, or the sequences are long "
            f"({SERVING_BATCH} of {CONTEXT:,} tokens, say)"
        ),
        then=_gain_of_double_peak(SERVING_BATCH, CONTEXT),
    )


def prefill_intensity(tokens: int) -> Quantity:
    """Operations a byte of one FP8 prompt: weights read once, its KV cache written.

    Activations are left out, which flatters long prompts.

    Parameters
    ----------
    tokens : int
        Length of the prompt.
    """
    model = models.get(MODEL)
    count = Quantity(tokens, label="prompt tokens", kind="assumption")
    per_weight = Quantity(2, "FLOP", label="FLOP per parameter")
    pairs = (count * (count + 1) / 2).named("query-key pairs")
    operations = count * per_weight * model.streamed_parameters
    operations = operations + pairs * model.attention_flops_per_token_pair
    byte = Quantity(1, "B", label="bytes per FP8 weight")
    moved = model.streamed_parameters * byte + count * model.kv_bytes_per_token("fp8")
    return (operations / moved.named("bytes moved")).named("prefill intensity")


@check("prefill-intensity")
def prefill_range() -> Finding:
    """A prompt of ordinary length, against the low end of the range."""
    return Finding(
        prefill_intensity(PROMPT),
        why=(
            f"Held to the low end of its range. Intensity is twice the tokens that "
            f"share one read of an FP8 weight: {prefill_intensity(SHORT_PROMPT)} for "
            f"{SHORT_PROMPT} tokens, {prefill_intensity(PROMPT)} for {PROMPT}. So the "
            "range is that of prompts, or chunks, between those two; longer ones go "
            "beyond it, until activations, left out here, dominate."
        ),
        condition=f"the prompt or chunk holds {SHORT_PROMPT} tokens",
        then=prefill_intensity(SHORT_PROMPT),
    )


def published_training_shares() -> list[Quantity]:
    """Share of peak of each published training run that reports one."""
    return [
        Quantity(
            row.value,
            row.unit,
            label=f"{row.subject} on {row.system}",
            source=Source(row.source, f"row {row.id}", READ, "secondary"),
            kind="measured",
        )
        for row in measurements.public()
        if row.family == "F" and row.metric == "mfu" and not row.fault
    ]


@check("real-workloads-30-70")
def real_workloads() -> Finding:
    """The lowest share of peak that a published training run admits to."""
    shares = published_training_shares()
    lowest, highest = minimum(*shares), maximum(*shares)
    return Finding(
        lowest.named("lowest published share of peak"),
        why=(
            f"Held to its low end. {len(shares)} published training runs report "
            f"{lowest:.3 %} to {highest:.3 %} of peak, and people publish their better "
            "runs. It holds for work with large products; decode at batch one gets "
            f"{get('decode-util-0p34').claimed}."
        ),
    )
