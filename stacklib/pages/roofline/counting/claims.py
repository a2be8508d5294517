"""Claims on how many operations a byte of decode, prefill, products and norms earns."""

from __future__ import annotations

from stacklib import models, roofline
from stacklib.evidence import Finding, claim
from stacklib.evidence.ledger import get
from stacklib.quantity import Quantity, bytes_per_element, chosen, constant, one_of

MODEL = "llama-3-70b"
CONTEXT = 4096
TOP_BATCH = 10  # sequences that bring 16-bit decode to ten operations a byte
SERVING_BATCH = 64
SHORT_PROMPT, PROMPT = 50, 512  # tokens
LONG = 32_768  # cached tokens, where the cache weighs as much as the arithmetic
SIDE = 4096  # of the square product the claims speak of
# LayerNorm, for each element of a row: the sum, its square, the sum of squares;
# minus the mean, times one over the deviation; scale; shift.
LAYERNORM = {
    "sum for the mean": 1,
    "subtract the mean": 1,
    "square": 1,
    "sum for the variance": 1,
    "divide by the deviation": 1,
    "scale": 1,
    "shift": 1,
}
LAYERNORM_BARE = 5  # without scale and shift


def _work(batch: int = 1, dtype: str = "bf16") -> roofline.Work:
    model = models.get(MODEL)
    return roofline.decode_work(model, dtype=dtype, batch=batch, context=CONTEXT)


def _ridge() -> Quantity:
    return roofline.ridge("h100_sxm", "bf16")


@claim("decode-intensity")
def decode_intensity() -> Finding:
    """Batch one in 16 bits, the low end of the range."""
    return Finding(
        _work().intensity,
        why=f"The low end is 16-bit weights at batch one. The high end is a batch of "
        f"{TOP_BATCH}: {_work(TOP_BATCH).intensity}. At {SERVING_BATCH} sequences "
        f"it is {_work(SERVING_BATCH).intensity}: each sequence brings its own KV "
        "cache to read, so it grows slower than the batch.",
    )


@claim("decode-ai-1")
def decode_ai_16_bit() -> Finding:
    """Two operations and two bytes a weight; attention over the KV cache added."""
    return Finding(
        _work().intensity,
        why="Two operations for each two-byte weight. Counted with attention over "
        f"{CONTEXT:,} cached tokens; eight query heads share each key, which "
        "lifts it a little above one.",
    )


@claim("decode-arith-2n-2n-kv")
def decode_with_long_cache() -> Finding:
    """A small model with a long cache, where the cache weighs most."""
    model = models.get("llama-3-8b")
    work = roofline.decode_work(model, dtype="bf16", context=LONG)
    heads = model.heads / model.kv_heads
    return Finding(
        work.intensity,
        why=f"Close by the number, wrong in direction: with {LONG:,} tokens cached, "
        f"Llama-3-8B in BF16 does {work.intensity}, more than without a cache. "
        f"{heads:.0f} query heads share each cached key, so a cached byte does "
        "more than a weight byte. With a key for every query head, a cached byte "
        "does exactly one operation, and the sum stays at one, never below.",
    )


def prefill_intensity(tokens: int) -> Quantity:
    """Operations a byte of one FP8 prompt: weights read once, its KV cache written.

    Activations are left out, which flatters long prompts.
    """
    model = models.get(MODEL)
    count = chosen(tokens, label="prompt tokens")
    per_weight = constant("multiply_add")
    pairs = (count * (count + 1) / 2).named("query-key pairs")
    operations = count * per_weight * model.streamed_parameters
    operations = operations + pairs * model.attention_flops_per_token_pair
    byte = bytes_per_element("fp8")
    moved = model.streamed_parameters * byte + count * model.kv_bytes_per_token("fp8")
    return (operations / moved.named("bytes moved")).named("prefill intensity")


@claim("prefill-intensity")
def prefill_range() -> Finding:
    """A prompt of ordinary length, against the low end of the range."""
    return Finding(
        prefill_intensity(PROMPT),
        why=f"Intensity is twice the tokens that share one read of an FP8 weight: "
        f"{prefill_intensity(PROMPT)} for a prompt of {PROMPT}, and "
        f"{prefill_intensity(SHORT_PROMPT)} for a chunk of {SHORT_PROMPT}. The range "
        "is that of chunks between those two; longer ones go beyond it, until "
        "activations, left out here, dominate.",
    )


@claim("decode-intensity-1p6")
def decode_intensity_fp8() -> Finding:
    """Operations over bytes of one FP8 step, as document 001 works it out."""
    return Finding(
        _work(dtype="fp8").intensity,
        why=f"Two operations a parameter and one byte: 2, and attention adds a little. "
        f"The text divides its own low {get('decode-step-flops').claimed} by "
        f"{get('decode-step-bytes').claimed}. Batch one, FP8 weights.",
    )


@claim("matmul-ai-1365")
def square_matmul_intensity() -> Finding:
    """Each of three matrices moved once."""
    work = roofline.matmul(m=SIDE, n=SIDE, k=SIDE, dtype="fp16")
    return Finding(work.intensity, why="With perfect reuse: each matrix moved once.")


@claim("matmul-flops-2mnk")
def matmul_operations() -> Finding:
    """Multiplications and additions of every output, counted apart."""
    m, n, k = (chosen(SIDE, label=size) for size in "mnk")
    multiplications = (m * n * k).named("multiplications")
    additions = (m * n * (k - 1)).named("additions")
    operations = (multiplications + additions) * one_of("FLOP")
    per_mac = operations / (m * n * k * one_of("MAC", "multiply-add"))
    return Finding(
        per_mac,
        why="Each output needs k multiplications and k - 1 additions, so the count is "
        "one addition an output short of 2mnk; hardware does that one too.",
    )


def layernorm_intensity(
    per_element: Quantity, reads: int, rows: int = SIDE, width: int = SIDE
) -> Quantity:
    """Operations a byte of LayerNorm over FP16 rows, ``per_element`` in FLOP.

    The output is written once and scale and shift are read once for all rows;
    the handful of operations a row (one root, two divisions) is left out.
    """
    each = bytes_per_element("fp16")
    count, size = chosen(rows, label="rows"), chosen(width, label="row width")
    passes = chosen(reads, label="reads of the input")
    elements = (count * size).named("elements")
    moved = (elements * (passes + 1) + 2 * size) * each
    return (per_element * elements / moved.named("bytes moved")).named("intensity")


def _full_layernorm() -> Quantity:
    steps = [chosen(n, "FLOP", step) for step, n in LAYERNORM.items()]
    return layernorm_intensity(
        sum(steps[1:], steps[0]).named("FLOP per element"), reads=1
    )


@claim("layernorm-ai-083")
def layernorm_fp16() -> Finding:
    """One read and one write of each number, every operation counted."""
    bare = chosen(LAYERNORM_BARE, "FLOP", "FLOP per element")
    ours = _full_layernorm()
    return Finding(
        ours,
        why=f"A fused kernel keeps the row on chip: it reads once, writes once, and "
        f"does {len(LAYERNORM)} operations an element ({', '.join(LAYERNORM)}). "
        f"Kept to {LAYERNORM_BARE} operations it has "
        f"{layernorm_intensity(bare, reads=1)}, and read from memory twice besides "
        f"{layernorm_intensity(bare, reads=2)}; the document names neither. The "
        f"conclusion stands either way: the ridge is at {_ridge()}.",
    )


@claim("layernorm-memory-bound")
def layernorm_memory_bound() -> Finding:
    """Not a number: the distance to the ridge is, and is given."""
    below = _ridge() / _full_layernorm()
    return Finding.open(
        f"Not a number, so no ratio judges it. By our count its intensity is "
        f"{_full_layernorm()}, a factor of {below:.2} below the ridge of an H100 "
        "in BF16: memory-bound by a wide margin. To settle 'severely': a "
        "threshold, or a measured kernel and the share of bandwidth it reaches."
    )


@claim("matmul-small-bound")
def matmul_bound() -> Finding:
    """Not a number: the side at which a square product crosses the ridge is."""
    each = bytes_per_element("bf16")
    operations = constant("multiply_add")
    # 2 s^3 operations over 3 s^2 numbers: the intensity is 2 s / (3 x bytes).
    side = _ridge() * 3 * each / operations
    return Finding.open(
        f"Not a number: 'big' names no size. With each matrix moved once, a square "
        f"BF16 product on an H100 crosses the ridge at a side of {side:.3}; of "
        f"side {SIDE:,} it is compute-bound, of side 512 not. To settle it: the "
        "size meant."
    )
