"""Family A: a published matrix product, as ``roofline.bound.gemm`` predicts it.

The row says the shape, the formats and, by its software, how it was timed. Nothing
else of the row is used: an unseen device is predicted from its specs alone.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

from stacklib import hardware, models
from stacklib.hardware import UnknownSpec
from stacklib.kernels.schedule.rates import newest
from stacklib.quantity import DTYPES, UnknownName, quoted
from stacklib.roofline.bound import gemm, hierarchy
from stacklib.roofline.work.products import EXPAND, cut

from ..measurements import Measurement, Refusal
from ..systems import device_of
from .registry import PREDICTORS, Forecast, Predict


@dataclass(frozen=True, slots=True)
class _Format:
    """How a row's format multiplies and what its elements occupy in memory."""

    multiply: str
    left: float
    right: float
    expand: float = 0.0  # instructions that make a 16-bit number of a weight
    promote: float = 0.0  # instructions for the scales of a sum, for each step of k
    kernels: int = 0  # that quantize 16-bit activations before the product
    reads: int = 0  # how often they read them


# A layer that gets 16-bit activations quantizes them, in one kernel; per tensor the
# largest is looked for first.
_16, _8 = _Format("bf16", 2, 2), _Format("fp8", 1, 1, kernels=1, reads=2)
# Scales of 4 bytes for 1 x 128 activations and 128 x 128 weights. Where the tensor
# instruction takes no scales, two instructions bring each sum of 128 up to date.
_BLOCK = _Format("fp8", 1 + 4 / 128, 1 + 4 / 128**2, 0, 2 / 128, 1, 1)
_TAKES_SCALES = "blackwell"  # the first architecture with block scales in its mma
_SCALED_4 = _Format("fp4", 0.5 + 1 / 16, 0.5 + 1 / 16, kernels=1, reads=1)
_INT4 = _Format("fp16", 2, 0.5, expand=EXPAND[4])
_INT8 = _Format("fp16", 2, 1, expand=EXPAND[8])
_FORMATS = {
    "fp64": _Format("fp64", 8, 8), "float64": _Format("fp64", 8, 8),
    "fp32": _Format("fp32", 4, 4), "float32": _Format("fp32", 4, 4),
    "tf32": _Format("tf32", 4, 4),
    "bf16": _16, "bfloat16": _16,
    "fp16": replace(_16, multiply="fp16"), "float16": replace(_16, multiply="fp16"),
    "half": replace(_16, multiply="fp16"),
    "fp8": _8, "fp8_e4m3": _8, "fp8_e5m2": _8, "float8": _8, "e4m3": _8,
    "fp8_static": replace(_8, reads=1), "fp8_block": _BLOCK,
    "mxfp8": _Format("fp8", 1 + 1 / 32, 1 + 1 / 32, kernels=1, reads=1),
    "nvfp4": _SCALED_4, "fp4": _SCALED_4,
    "mxfp4": replace(_SCALED_4, left=0.5 + 1 / 32, right=0.5 + 1 / 32),
    "int8": _Format("int8", 1, 1), "sq": _Format("int8", 1, 1),
    "w8a8": _Format("int8", 1, 1), "int4": _Format("int4", 0.5, 0.5),
    "int8_wo": _INT8, "w8a16": _INT8,
    "int4_wo": _INT4, "w4a16": _INT4, "w4a16_awq": _INT4,
}  # fmt: skip
# Benchmarks that replay graphs of layers, which get 16-bit activations.
_GRAPHS = ("torch_flow", "(deepgemm)", "vllm", "sglang")
# Layers that an engine's benchmark goes through in turn, in aiconfigurator's
# collectors (collector/*/collect_gemm.py at 095f58a): TensorRT-LLM five at most, so
# many that their weights fill the L2; vLLM six with one input, but of block scales
# and of 4 bits one; SGLang six, each with an input and a result of its own.
_LAYERS, _SIX = 5, 6
# TensorRT-LLM clears the largest, finds it, makes the scale of it, and rounds.
_PER_TENSOR = ("torch_flow", 4)
# vLLM's kernel gives each row a block of 1,024 threads, which goes over it twice (the
# largest, then the rounding) and waits for the memory each time, and once more for
# each load: four numbers a thread (csrc/quantization/w8a8/fp8).
_BY_ROWS, _THREADS, _RESIDENT, _PASSES, _LOAD = "cutlassfp8", 1024, 2048, 2, 4
_WIDEST = 16  # bytes of the widest load of a thread
# Its layers of block scales ran without a graph: calls that Python makes for one.
# FlashInfer rounds and multiplies; DeepGEMM lays out the scales between the two.
_EAGER, _CALLS = re.compile("vllm.*blockscaled"), 5
_COUNTED = {"flashinfer": 2, "deepgemm": 3}
# DeepGEMM on data-centre Blackwell packs float scales of the weights at each call:
# arange, floor_divide, index_select, pack (csrc/apis/layout.hpp). vLLM and
# TensorRT-LLM pack them once, as they load.
_PACKS, _PACKING = "sglang_deepgemm", 4
# DeepGEMM's own bench takes a kernel's time from the profiler, without the gap to the
# next that a graph's replay has.
_PROFILED, _GAP = "deepgemm 20", "no_bubbles.graph_gap"
# aiconfigurator calls a layer of TensorRT-LLM without letting its tuner choose: on
# data-centre Blackwell a product of 4 bits then has one tile, whatever its size
# (getDefaultGemmConfig, cpp/tensorrt_llm/thop/fp4Gemm.cpp).
_UNTUNED, _UNTUNED_TILE = "tensorrt-llm", (128, 256)
# Kernels of CUTLASS and DeepGEMM; none of them splits k.
_UNSPLIT = ("deepgemm", "cutlass", "flashinfer", "scaled_mm", "cutedsl", "smooth_quant")


def _format(row: Measurement) -> _Format:
    name = row.text("dtype").lower()
    if name not in _FORMATS:
        raise Refusal(f"no number format {name!r} is known to the product model")
    found = _FORMATS[name]
    block = "scaling" in row.config or "deepgemm" in row.software.lower()
    if found.multiply == "fp8" and block:
        found = _BLOCK
    software = row.software.lower()
    ready = "noquant" in row.subject.lower()  # activations came in 8 bits
    if ready or not any(word in software for word in _GRAPHS):
        return replace(found, kernels=0, reads=0)
    if found.reads == 2 and _PER_TENSOR[0] in software:
        return replace(found, kernels=_PER_TENSOR[1])
    return found


def _repeats(row: Measurement) -> bool:
    """Whether a row is of one of vLLM's own benchmarks."""
    return row.software.startswith("vLLM") and "vllm-project/vllm" in row.source


def _hits(row: Measurement, work: gemm.Product, chip: gemm.Chip, launch: str) -> float:
    """Share of the operands that the row's benchmark finds in the L2."""
    engine = row.software.lower().partition(" ")[0]
    looped = launch == "kernel" and engine in ("tensorrt-llm", "vllm", "sglang")
    if _repeats(row):
        return gemm.loop_hits(work, chip, "stream")
    if not looped or chip.l2_capacity is None:
        return gemm.loop_hits(work, chip, launch)
    weights = work.groups * work.k * work.n * work.right
    rounded = work.left if work.left < 2 else 0.0  # a copy of the 16-bit activations
    others = work.m * (work.k * (2 + rounded) + work.n * work.out)
    if engine == "sglang":
        loop = _SIX * (weights + others)
    elif engine == "vllm":
        loop = (1 if _alone(row) else _SIX) * weights + others
    else:
        layers = max(1, min(_LAYERS, math.ceil(chip.l2_capacity / weights)))
        loop = layers * weights + others
    return gemm.loop_hits(work, chip, "stream", loop)


def _alone(row: Measurement) -> bool:
    """Whether vLLM's benchmark has one layer of the row's format."""
    form = _format(row)
    return form.promote > 0 or form.multiply == "fp4"


def _launch(row: Measurement) -> str:
    """How the row was timed, by its software."""
    text = f"{row.software} {row.subject}".lower()
    if "mamf" in text or "best of sweep" in text:
        return "sweep"
    # DeepGEMM's own bench flushes caches; engines replay graphs.
    if _PROFILED in text or any(word in text for word in _GRAPHS):
        return "kernel"
    if "llmcompass" in text:
        return "host"
    return "stream"


def _language_model(row: Measurement) -> models.LanguageModel:
    name = row.subject.rsplit(" ", 1)[0]
    try:
        return models.get(name)
    except UnknownName:
        raise Refusal(f"no model {name!r} in the database gives this shape") from None


def _projection(row: Measurement) -> tuple[int, int, int, int]:
    """Rows, columns, shared size and kernels of a projection of a named model."""
    tokens, tp = row.integer("num_tokens"), row.integer("tp", 1)
    model, kind = _language_model(row), row.subject.rsplit(" ", 1)[1]
    heads, kv = model.heads * model.head_dim, model.kv_heads * model.head_dim
    shapes = {
        "mlp_up_proj": (2 * model.intermediate // tp, model.hidden),  # gate and up
        "mlp_down_proj": (model.hidden, model.intermediate // tp),
        "attn_pre_proj": ((heads + 2 * kv) // tp, model.hidden),  # Q, K and V
        "attn_post_proj": (model.hidden, heads // tp),
    }
    if kind not in shapes:
        raise Refusal(f"no shape is known for {kind!r}")
    columns, depth = shapes[kind]
    return tokens, columns, depth, 1


def _layer_op(row: Measurement) -> tuple[int, int, int, int, int]:
    """Groups, rows, columns, shared size and kernels of a transformer operation."""
    width, heads, tp = (row.integer(k) for k in ("d_model", "n_heads", "tp"))
    batch, name = row.integer("batch"), row.subject
    prefill = "prefill" in name
    queries = row.integer("seq") if prefill else 1
    keys = row.integer("seq") if prefill else row.integer("kv_len")
    rows, shard, head = batch * queries, width // tp, width // heads
    groups = batch * heads // tp
    for word, shape in (
        ("Q_K_V", (1, rows, shard, width, 3)),
        ("Q_mul_K", (groups, queries, keys, head, 1)),
        ("A_mul_V", (groups, queries, head, keys, 1)),
        ("Wo_proj", (1, rows, width, shard, 1)),
        ("W1_proj", (1, rows, 4 * shard, width, 1)),
        ("W2_proj", (1, rows, width, 4 * shard, 1)),
    ):
        if word in name:
            return shape
    raise Refusal(f"no product is known behind {name!r}")


def _shape(row: Measurement) -> tuple[int, int, int, int, int]:
    """Groups, rows, columns, shared size, and kernels one after the other."""
    if "m_per_group" in row.config:
        sizes = [row.integer(k) for k in ("groups", "m_per_group", "n", "k")]
        return (*sizes, 1)  # type: ignore[return-value]
    if "m" in row.config:
        return 1, row.integer("m"), row.integer("n"), row.integer("k"), 1
    if "num_tokens" in row.config:
        return (1, *_projection(row))
    if "d_model" in row.config:
        return _layer_op(row)
    raise Refusal("config gives no shape: m, n and k are needed")


def prepare(row: Measurement) -> Predict:
    """A matrix product ready to be predicted."""
    if row.metric not in _UNITS and not row.metric.startswith("latency"):
        raise Refusal(f"no product model for metric {row.metric!r}")
    key, _ = device_of(row.system)
    form, launch = _format(row), _launch(row)
    device = hardware.get(key)
    try:
        if row.has("sustained") and "m" not in row.config:
            return _sustained(row, device, multiplied(row, device))
        work, kernels = product_of(row, device)
        chip = gemm.chip_of(device, work.dtype)
        gemm.hold(work, chip, device.short)
    except (UnknownSpec, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    chosen = _tilings(row, work, device)
    hits = _hits(row, work, chip, launch)
    each = 2 * form.reads + form.left  # bytes an activation
    quantized = work.m * work.k * work.groups * each if form.kernels else 0.0
    waits = _waits(row, work, device) if form.kernels else 0.0
    others = _others(row, form, device)
    calls = _calls(row)
    gap = quoted(_GAP).si if _PROFILED in row.software.lower() else 0.0
    unit = _UNITS.get(row.metric, "s")
    if unit == "FLOP/s":
        unit = f"{DTYPES[work.dtype].operation}/s"

    def forecast() -> Forecast:
        found = gemm.predict(work, chip, launch, chosen, hits)
        time = kernels * found.time + others * found.launch - min(gap, found.launch)
        if quantized:
            drawn = chip.bandwidth * hardware.efficiency("dram_gemm")
            time += waits + quantized / hierarchy.delivered(device, _WIDEST, drawn)
        host = calls * hardware.efficiency("launch_host")
        bound = found.bound if time > host else "launch"
        time = max(time, host)
        if unit == "s":
            return Forecast(time, unit, bound)
        amount = kernels * (work.bytes if unit == "B/s" else work.operations)
        return Forecast(amount / time, unit, bound)

    return forecast


def _tilings(
    row: Measurement, work: gemm.Product, device: hardware.Accelerator
) -> tuple[gemm.Tiling, ...]:
    """The tilings that the row's library chooses among."""
    fixed = row.software.lower().startswith(_UNTUNED) and work.dtype == "fp4"
    if fixed and newest(device) == "tcgen05.mma":
        return (cut(work, *_UNTUNED_TILE),)
    return gemm.tilings(work, max(1, int(device.compute_units.si)))


def _others(row: Measurement, form: _Format, device: hardware.Accelerator) -> int:
    """Kernels that a layer starts beside its product."""
    packs = form.promote > 0 and not _sums(device) and newest(device) == "tcgen05.mma"
    return form.kernels + _PACKING * (packs and _PACKS in row.software.lower())


def _calls(row: Measurement) -> int:
    """Calls that Python makes for a layer; 0 where a graph is replayed."""
    software = row.software.lower()
    if not _EAGER.match(software):
        return 0
    return next((n for name, n in _COUNTED.items() if name in software), _CALLS)


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: the format, what limits it, and how its software calls it."""
    device = hardware.get(device_of(row.system)[0])
    form, software = _format(row), row.software.lower()
    if row.has("sustained") and "m" not in row.config:
        return f"{min(16, DTYPES[_multiply(form, device)].bits)} bit", "compute"
    work, _ = product_of(row, device)
    width, bound = gemm.cell(work, gemm.chip_of(device, work.dtype))
    width = "8-bit blocks" if form.promote else width
    if not any(word in software for word in _GRAPHS):
        return width, bound, "library"
    called = "eager" if _EAGER.match(software) else "engine"
    return width, bound, "loop" if _repeats(row) else called


def product_of(
    row: Measurement, device: hardware.Accelerator
) -> tuple[gemm.Product, int]:
    """The product that a row names, and how many of it follow one another."""
    form = _format(row)
    groups, m, n, k, kernels = _shape(row)
    dtype = _multiply(form, device)
    software = row.software.lower()
    whole = dtype != "bf16" and any(word in software for word in _UNSPLIT)
    work = gemm.Product(
        m, n, k, dtype, form.left, form.right, 2.0, groups, form.expand,
        form.promote if dtype == "fp8" and _sums(device) else 0.0,
        whole or form.multiply == "fp4" or form.promote > 0,
    )  # fmt: skip
    return work, kernels


def _sums(device: hardware.Accelerator) -> bool:
    """Whether sums of block scales are brought up to date by the vector units."""
    return device.architecture != _TAKES_SCALES


def _waits(row: Measurement, work: gemm.Product, device: hardware.Accelerator) -> float:
    """Seconds that blocks of a row each wait in a quantization; 0 for others."""
    latency = hardware.level(device, "dram").latency
    if _BY_ROWS not in row.software.lower() or latency is None:
        return 0.0
    turns = math.ceil(work.m / (device.compute_units.si * _RESIDENT / _THREADS))
    waits = _PASSES * (1 + work.k / (_THREADS * _LOAD))
    return float(turns * waits * latency.si)


def written(row: Measurement) -> str:
    """The format that a row names, whatever multiplies it."""
    return _format(row).multiply


def multiplied(row: Measurement, device: hardware.Accelerator) -> str:
    """The format in which a device multiplies what a row names."""
    return _multiply(_format(row), device)


def _multiply(form: _Format, device: hardware.Accelerator) -> str:
    """The format in which a device multiplies what the row names."""
    blocks = form.multiply == "fp8" and form.promote
    old = newest(device) == "mma.sync" and _sums(device)
    if blocks and old:  # no kernel of 8 bits was written
        return "bf16"
    lacks = form.multiply == "bf16" and "bf16" not in device.formats
    return "fp16" if lacks else form.multiply


def _sustained(row: Measurement, device: hardware.Accelerator, dtype: str) -> Predict:
    """A rate without a shape: that of a product without end."""
    if row.metric == "memory_bandwidth" or row.metric.startswith("latency"):
        raise Refusal("a sustained rate is operations a second")
    chip, unit = gemm.chip_of(device, dtype), f"{DTYPES[dtype].operation}/s"
    return lambda: Forecast(gemm.sustained_rate(chip), unit, "compute")


_UNITS = {
    "throughput": "FLOP/s",
    "max_achieved_throughput": "FLOP/s",
    "memory_bandwidth": "B/s",
}
PREDICTORS["A"] = prepare
