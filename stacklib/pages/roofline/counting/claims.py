"""Claims on how many operations a byte of decode, prefill, products and norms earns."""

from collections.abc import Callable

from stacklib import models, roofline
from stacklib.evidence import Finding, claim
from stacklib.evidence.ledger import get
from stacklib.quantity import Quantity, bytes_per_element, chosen, constant, counted
from stacklib.roofline.count import passes

MODEL = "llama-3-70b"
CONTEXT = 4096
SERVING_BATCH = 64
SHORT_PROMPT = 512  # tokens
LONG = 32_768  # cached tokens, where the cache weighs as much as the arithmetic
SIDE = 4096  # of the square product the claims speak of
SMALL = (12, 10, 64)  # of a product that is worked by hand


def _work(batch: int = 1, dtype: str = "bf16") -> roofline.Work:
    model = models.get(MODEL)
    return roofline.decode_work(model, dtype=dtype, batch=batch, context=CONTEXT)


def _ridge() -> Quantity:
    return roofline.ridge("h100_sxm", "bf16")


@claim("decode-intensity")
def decode_intensity() -> Finding:
    """The batch decides, and the text names none."""
    return Finding(
        _work().intensity,
        to=_work(SERVING_BATCH).intensity,
        verdict="open",
        why=f"16-bit weights, from batch one to {SERVING_BATCH} sequences. Each brings "
        "its own KV cache to read, so it grows slower than the batch. To settle it: "
        "the batch and the format that the document means.",
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
    return Finding.false(
        computed=work.intensity,
        why=f"With {LONG:,} tokens cached, "
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
    """The prompt decides, and the text names none."""
    return Finding(
        prefill_intensity(SHORT_PROMPT),
        to=prefill_intensity(CONTEXT),
        verdict="open",
        why=f"In FP8, from a prompt of {SHORT_PROMPT:,} tokens to {CONTEXT:,}: twice "
        "the tokens that share one read of a weight, until activations, left out here, "
        "dominate. To settle it: the prompt that the document means.",
    )


@claim("decode-intensity-1p6")
def decode_intensity_fp8() -> Finding:
    """Operations over bytes of one FP8 step, as document 001 works it out."""
    return Finding(
        _work(dtype="e4m3fn").intensity,
        why=f"Two operations a parameter and one byte: 2, and attention adds a little. "
        f"The text divides its own low {get('decode-step-flops').claimed} by "
        f"{get('decode-step-bytes').claimed}. Batch one, FP8 weights.",
    )


@claim("matmul-ai-1365")
def square_matmul_intensity() -> Finding:
    """Each of three matrices moved once."""
    work, moved = (
        counted(square, SIDE, part, unit=unit, label=f"{part} of the product")
        for part, unit in (("operations", "FLOP"), ("bytes", "B"))
    )
    return Finding(work / moved, why="With perfect reuse: each matrix moved once.")


def square(side: int, part: str) -> float:
    """Operations or bytes of a square product in FP16, each matrix moved once."""
    return float(
        getattr(roofline.matmul(m=side, n=side, k=side, dtype="fp16"), part).si
    )


@claim("matmul-flops-2mnk")
def matmul_operations() -> Finding:
    """A product worked by hand, every multiplication and addition counted."""
    m, n, k = SMALL
    made = counted(by_hand, m, n, k, unit="FLOP", label="operations of the loop")
    macs = chosen(m * n * k, "MAC", f"{m} x {n} x {k}")
    return Finding(
        made / macs,
        why="Each output needs k multiplications and k - 1 additions, so the count is "
        "one addition an output short of 2mnk; hardware does that one too.",
    )


def by_hand(m: int, n: int, k: int) -> int:
    """Operations of a product of ones, one multiplication or addition at a time."""
    done = 0
    for _ in range(m * n):
        total = None
        for _ in range(k):
            term, done = 1 * 1, done + 1
            total, done = (term, done) if total is None else (total + term, done + 1)
    return done


def _layernorm(bytes_of: Callable[..., int], how: str) -> Quantity:
    """Operations of LayerNorm over the bytes that it moves in FP16, both counted."""
    work = counted(
        passes.operations, "layernorm", SIDE, SIDE, unit="FLOP", label="operations"
    )
    moved = counted(bytes_of, "layernorm", SIDE, SIDE, 2, unit="B", label=how)
    return (work / moved).named("intensity")


@claim("layernorm-ai-083")
def layernorm_fp16() -> Finding:
    """One read and one write of each number, every operation counted."""
    by_pass = _layernorm(passes.moved, "bytes moved pass by pass")
    steps = ", ".join(one.name for one in passes.passes("layernorm"))
    return Finding(
        _fused_layernorm(),
        why=f"A fused kernel keeps the row on chip: it reads once, writes once, and "
        f"does {len(passes.passes('layernorm'))} operations an element ({steps}). "
        f"Written as library calls, a pass for each, it has {by_pass}. The conclusion "
        f"stands either way: the ridge is at {_ridge()}.",
    )


def _fused_layernorm() -> Quantity:
    return _layernorm(passes.least, "bytes moved once in and once out")


@claim("layernorm-memory-bound")
def layernorm_memory_bound() -> Finding:
    """Not a number: the distance to the ridge is, and is given."""
    below = _ridge() / _fused_layernorm()
    return Finding.true(
        computed=below.named("ridge over intensity"),
        why=f"By our count its intensity is {_fused_layernorm()}, a factor of "
        f"{below:.2} below the ridge of an H100 in BF16.",
    )


@claim("matmul-small-bound")
def matmul_bound() -> Finding:
    """Not a number: the side at which a square product crosses the ridge is."""
    each = bytes_per_element("bf16")
    operations = constant("multiply_add")
    # 2 s^3 operations over 3 s^2 numbers: the intensity is 2 s / (3 x bytes).
    side = _ridge() * 3 * each / operations
    return Finding.depends(
        "big means at least so many rows and columns",
        computed=side.named("side at the ridge"),
        why=f"With each matrix moved once, a square "
        f"BF16 product on an H100 crosses the ridge at a side of {side:.3}; of "
        f"side {SIDE:,} it is compute-bound, of side 512 not.",
    )
