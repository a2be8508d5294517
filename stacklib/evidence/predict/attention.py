"""Family B: published attention kernels, as ``kernels.schedule`` predicts them.

The row says the shape, the formats and, by its software, which class of kernel ran and
how it was timed. Rows that say *up to* and no shape are predicted as a kernel so large
that nothing but its tiles takes time, at the head size that is best for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from stacklib import hardware
from stacklib.hardware import Accelerator, UnknownSpec
from stacklib.kernels.schedule import attention_time as kernels
from stacklib.kernels.schedule.rates import launch_pace, newest, rates_of
from stacklib.quantity import UnknownName, bytes_per_element
from stacklib.quantity import dtype as find_dtype
from stacklib.roofline.bound import gemm, hierarchy

from ..measurements import Measurement, Refusal
from ..systems import device_of
from .attention_engines import FLASH_2, engine_of, latent
from .registry import PREDICTORS, Forecast, Predict

_NAIVE = ("naive", "eager", "math", "unfused", "standard")
# Written for one generation's matrix instruction; on older devices the same names ship
# kernels of the warp-level kind.
_TUNED = (
    "flashattention-3",
    "flash-attn-3",
    "flashattention-4",
    "flashmla",
    "fa3",
    "fa4",
    "cudnn",
    "tensorrt",
    "trt-llm",
    "flashinfer",
    "vllm",
    "sglang",
    "cutlass",
    "thunderkittens",
)
# Compiled or written without the newest matrix instruction.
_WARP_LEVEL = (*FLASH_2, "xformers", "pytorch", "sdpa")
# Engines whose benchmark replays a graph of one stage on the same operands, with the
# kernels around its attention. Kernels alone, and layers of a whole model, are not so.
_ENGINES = ("tensorrt", "trt-llm", "vllm", "sglang")
_STAGES = ("context", "generation")
_FORMATS = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "fp16/bf16": "fp16",
    "e4m3": "fp8",
    "float8": "fp8",
    "fp8_e4m3": "fp8",
    "auto": "bf16",
}
_NAMED = ("fp8", "fp16", "bf16", "fp32")  # by the kernel's name, not by a setting
_LARGE = 16384  # tokens of an attention without a shape
_HEADS = (64, 128, 256)
_MLA = (576, 512, 128)  # columns of K and V, and heads, of DeepSeek's latent attention
_MLA_PROMPT = (192, 128)  # columns of K and V of a prompt, whose latents are expanded
# Names that sources give the same setting. The first is asked for where none is given.
_BATCH = ("batch", "batch_size", "b")
_Q_HEADS = ("heads", "n_heads", "num_heads", "q_heads", "heads_q", "nheads", "h")
_KV_HEADS = ("kv_heads", "heads_kv", "n_kv_heads", "num_kv_heads", "heads_k")
_QUERIES = ("q_len", "seq_q", "seqlen_q", "queries")
_KEYS = (
    "kv_len",
    "seq_k",
    "seqlen_k",
    "seq_kv",
    "context",
    "seq",
    "seqlen",
    "seq_len",
    "keys",
    "s",
)
_HEAD_DIM = ("head_dim", "head_dim_k", "d", "hdim", "headdim", "d_head")


def _kernel(row: Measurement) -> str:
    """The kernel that an engine was told to take, the last word of such a source."""
    engine = any(word in row.software.lower() for word in ("vllm", "sglang"))
    return row.source.lower().rpartition(" ")[2] if engine else ""


def software_of(row: Measurement, device: Accelerator) -> str:
    """The class of attention kernel that a row's software is of."""
    text = f"{row.software} {row.subject}".lower()
    if any(word in text for word in _NAIVE):
        return "naive"
    modern = newest(device) != "mma.sync"  # a matrix instruction that runs by itself
    if "triton" in _kernel(row):
        return "library"
    return "tuned" if modern and any(w in text for w in _TUNED) else "library"


def _served(row: Measurement) -> bool:
    """Whether an engine's stage was timed, and not an attention alone."""
    stage = any(word in row.subject.lower() for word in _STAGES)
    return stage and any(word in row.software.lower() for word in _ENGINES)


def _format(row: Measurement, *keys: str, default: str | None = None) -> str:
    said = next((f for f in _NAMED if f in row.subject.lower()), default)
    found = next((row.text(k) for k in keys if k in row.config), said)
    if found is None:
        raise Refusal(f"config does not give {keys[0]!r}")
    name = _FORMATS.get(found.lower(), found)
    try:
        return find_dtype(name).name
    except UnknownName:
        raise Refusal(f"no number format {found!r} is known") from None


def _size(row: Measurement, *keys: str, default: int | None = None) -> int:
    for key in keys:
        if key in row.config:
            return row.integer(key)
    if default is None:
        raise Refusal(f"config does not give {' or '.join(map(repr, keys))}")
    return default


def _passes(row: Measurement) -> tuple[bool, ...]:
    """Whether each kernel that a row times one after the other is a backward pass."""
    name = row.text("pass", row.subject).lower()
    words = set(name.replace("_", " ").replace("+", " ").split())
    back = bool(words & {"bwd", "backward"})
    return (False, True) if back and words & {"fwd", "forward"} else (back,)


def attention_of(row: Measurement) -> kernels.Attention:
    """The attention that a row's config describes; the last of two passes."""
    name = row.subject.lower()
    decode = "kv_len" in row.config or "decode" in name or "generation" in name
    latent = "mla" in name
    heads, keys = _size(row, *_Q_HEADS), _size(row, *_KEYS)
    queries = _size(row, *_QUERIES, default=1 if decode else keys)
    wide, narrow = _MLA[:2] if decode else _MLA_PROMPT
    head_dim = _size(row, *_HEAD_DIM, default=wide if latent else None)
    value = narrow if latent and head_dim == wide else head_dim
    shared = 1 if latent and decode else heads
    kv = _format(row, "kv_dtype", "attn_dtype", "dtype", default="bf16")
    dtype = _format(row, "attn_dtype", "dtype", default=kv if not decode else "bf16")
    causal = bool(row.integer("causal", 1 if "prefill" in name else 0, least=0))
    window = row.integer("window", 0, least=0) or None
    if decode and window:
        keys = min(keys, window)
    return kernels.Attention(
        _size(row, *_BATCH, default=1),
        heads,
        _size(row, *_KV_HEADS, default=shared),
        queries,
        keys,
        head_dim,
        dtype,
        causal and not decode,
        _size(row, "head_dim_v", default=value),
        kv,
        _passes(row)[-1],
        window=None if decode else window,
    )


def _held(
    row: Measurement, work: kernels.Attention, device: Accelerator
) -> kernels.Attention:
    """The attention as the row's software multiplies it on this device."""
    text = row.software.lower()
    engine = engine_of(row.source, text, device)
    work = replace(
        work,
        warp_level=any(word in text for word in _WARP_LEVEL),
        served=_served(row),
        cut=engine.cut(work, bool(row.integer("window", 0, least=0))),
    )
    if work.dtype == "bf16" and "bf16" not in device.formats:
        return replace(work, dtype="fp16")
    return work


def _softmax(row: Measurement, device: Accelerator) -> Predict:
    """One softmax over written scores, as a whole layer's breakdown times it."""
    heads = row.integer("n_heads") // row.integer("tp", 1)
    decode = "kv_len" in row.config
    keys = row.integer("kv_len") if decode else row.integer("seq")
    queries = 1 if decode else keys
    size = row.integer("batch") * heads * queries * keys
    size = int(size * bytes_per_element(_format(row, "dtype")).si)

    def forecast() -> Forecast:
        got = hierarchy.row_operation_rate(device, size, "softmax")
        return Forecast(2 * size / got.rate, "s", got.bound)

    return forecast


def _up_to(row: Measurement, device: Accelerator) -> Predict:
    """The most that a kernel without a shape reaches."""
    name, software = row.subject.lower(), software_of(row, device)
    if "sparse" in name:
        raise Refusal(
            "an 'up to' value of sparse attention: topk and shape are missing"
        )
    if row.metric.endswith("bandwidth"):
        got = hierarchy.stream_rate(device, "read", None)
        return lambda: Forecast(got.rate, "B/s", "memory")
    kv = _format(row, "dtype", "attn_dtype", default="bf16")
    if "mla" in name and "mha" not in name:
        wide, value, heads = _MLA
        shapes = [(wide, value, heads)]
    else:
        shapes = [(d, d, 2048 // d) for d in _HEADS]
    plans = [
        [
            kernels.plan(
                _held(
                    row,
                    kernels.Attention(
                        4,
                        heads,
                        heads,
                        _LARGE,
                        _LARGE,
                        d,
                        kv,
                        False,
                        value,
                        kv,
                        backward,
                    ),
                    device,
                ),
                device,
                software,
            )
            for backward in _passes(row)
        ]
        for d, value, heads in shapes
    ]

    def forecast() -> Forecast:
        found = [(_together(p), sum(each.work.flops for each in p)) for p in plans]
        best, flops = max(found, key=lambda f: f[0].rate(f[1]))
        return Forecast(best.rate(flops), "FLOP/s", best.bound)

    return forecast


def _together(plans: Sequence[kernels.Plan]) -> kernels.AttentionTime:
    """Kernels one after the other: their time, and what bounds the longest."""
    found = [kernels.predict(plan) for plan in plans]
    longest = max(found, key=lambda each: each.time)
    return replace(longest, time=sum(each.time for each in found))


def _answer(
    row: Measurement, work: kernels.Attention, flops: float
) -> Callable[[kernels.AttentionTime], Forecast]:
    metric = row.metric
    if metric.startswith("latency") or metric in ("time", "duration"):
        return lambda t: Forecast(t.time, "s", t.bound)
    if metric.endswith("throughput"):
        return lambda t: Forecast(flops / t.time, "FLOP/s", t.bound)
    if metric.endswith("bandwidth"):
        moved = work.batch * work.kv_heads * work.kv_bytes
        return lambda t: Forecast(moved / t.time, "B/s", t.bound)
    raise Refusal(f"no attention model for metric {metric!r}")


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: what is run, what limits it, the format, the class of kernel.

    Kernels of other vendors are other programs, and so are those of a latent.
    """
    device = hardware.get(device_of(row.system)[0])
    software = software_of(row, device)
    if not set(_KEYS) & set(row.config) or "d_model" in row.config:
        return "kernel", software
    work = _held(row, attention_of(row), device)
    run, *words = kernels.cell(work, device, _served(row))
    if run == "kernel" and latent(work):
        run = "latent"
    elif run == "kernel" and device.vendor != "NVIDIA":
        run = f"kernel on {device.vendor}"
    return run, *words, software


def _around(
    row: Measurement, work: kernels.Attention, device: Accelerator
) -> Callable[[kernels.AttentionTime], float]:
    """Seconds around an attention: of other kernels, or until the next call.

    In engines one kernel reads the projections and writes the cache, and in some the
    queries, turned by their positions. A token alone is called by itself.
    """
    if not _served(row):
        if work.queries > 1:
            return lambda found: 0.0
        return lambda t: max(0.0, hardware.efficiency("launch_stream") - t.launch)
    engine = engine_of(row.source, row.software, device)
    rows = work.batch * work.queries * work.head_dim
    moved = 2 * rows * work.kv_heads * bytes_per_element("bf16").si
    moved += work.batch * work.kv_heads * work.kv_bytes * work.queries / work.keys
    if engine.turns:
        read, written = (bytes_per_element(t).si for t in ("bf16", work.dtype))
        moved += rows * work.heads * (read + written)
    near = gemm.chip_of(device, find_dtype(work.dtype).name).l2_rate
    hits = 0.0
    if near is not None and device.fields["l2_capacity"] is not None:
        kept = moved + work.batch * work.kv_heads * work.kv_bytes + work.query_bytes
        size = device.l2_capacity.si
        hits = hierarchy.hit_share(kept, size, hierarchy.kept_share(device))
    starts = launch_pace(rates_of(device, work.dtype)) * (1 + engine.around(work))

    def seconds(found: kernels.AttentionTime) -> float:
        drawn = hierarchy.stream_rate(device, "mixed", None).rate
        cached = hits / max(near or drawn, drawn) + (1 - hits) / drawn
        return moved * cached + starts * hardware.efficiency("launch_kernel")

    return seconds


def prepare(row: Measurement) -> Predict:
    """An attention kernel ready to be predicted."""
    key, _ = device_of(row.system)
    device = hardware.get(key)
    name = row.subject.lower()
    try:
        if "softmax" in name and "d_model" in row.config:
            return _softmax(row, device)
        shapeless = not any(key in row.config for key in _KEYS)
        if row.metric.startswith("max_") and shapeless:
            return _up_to(row, device)
        last = _held(row, attention_of(row), device)
        works = [replace(last, backward=back) for back in _passes(row)]
        software = software_of(row, device)
        answer = _answer(row, works[0], sum(work.flops for work in works))
        around = _around(row, works[0], device)
        plans = [kernels.plan(w, device, software, _served(row)) for w in works]
    except (UnknownSpec, UnknownName, ValueError) as unknown:
        raise Refusal(str(unknown)) from None

    def forecast() -> Forecast:
        found = _together(plans)
        return answer(replace(found, time=found.time + around(found)))

    return forecast


PREDICTORS["B"] = prepare
