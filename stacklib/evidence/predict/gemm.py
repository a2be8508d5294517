"""Family A: a published matrix product, as ``roofline.bound.gemm`` predicts it.

The row says the shape, the formats and, by its software, how it was timed. Nothing
else of the row is used: an unseen device is predicted from its specs alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib import hardware, models
from stacklib.hardware import UnknownSpec
from stacklib.quantity import DTYPES, UnknownName
from stacklib.roofline.bound import gemm

from ..measurements import Measurement, Refusal
from ..systems import device_of
from . import PREDICTORS, Forecast, Predict


@dataclass(frozen=True, slots=True)
class _Format:
    """How a row's format multiplies and what its elements occupy in memory."""

    multiply: str
    left: float
    right: float
    expand: bool = False
    quantize: bool = False  # activations arrive in 16 bits and are quantized first


_16, _8 = _Format("bf16", 2, 2), _Format("fp8", 1, 1)
_SCALED_4 = _Format("fp4", 0.5 + 1 / 16, 0.5 + 1 / 16)  # a byte for 16 elements
_FORMATS = {
    "fp64": _Format("fp64", 8, 8), "float64": _Format("fp64", 8, 8),
    "fp32": _Format("fp32", 4, 4), "float32": _Format("fp32", 4, 4),
    "tf32": _Format("tf32", 4, 4),
    "bf16": _16, "bfloat16": _16,
    "fp16": replace(_16, multiply="fp16"), "float16": replace(_16, multiply="fp16"),
    "half": replace(_16, multiply="fp16"),
    "fp8": _8, "fp8_e4m3": _8, "fp8_e5m2": _8, "fp8_block": _8, "fp8_static": _8,
    "float8": _8, "e4m3": _8, "mxfp8": replace(_8, left=1 + 1 / 32, right=1 + 1 / 32),
    "nvfp4": _SCALED_4, "fp4": _SCALED_4,
    "mxfp4": replace(_SCALED_4, left=0.5 + 1 / 32, right=0.5 + 1 / 32),
    "int8": _Format("int8", 1, 1), "sq": _Format("int8", 1, 1),
    "w8a8": _Format("int8", 1, 1), "int4": _Format("int4", 0.5, 0.5),
    "int8_wo": _Format("fp16", 2, 1, expand=True),
    "w8a16": _Format("fp16", 2, 1, expand=True),
    "int4_wo": _Format("fp16", 2, 0.5, expand=True),
    "w4a16": _Format("fp16", 2, 0.5, expand=True),
    "w4a16_awq": _Format("fp16", 2, 0.5, expand=True),
}  # fmt: skip
_LARGE = 16384  # side of a product whose table prints only its sustained rate
# Where 16-bit activations enter and the timed call quantizes them.
_QUANTIZING = ("torch_flow",)
_QUANTIZED = ("fp8", "nvfp4")


def _format(row: Measurement) -> _Format:
    name = row.text("dtype").lower()
    if name not in _FORMATS:
        raise Refusal(f"no number format {name!r} is known to the product model")
    found = _FORMATS[name]
    quantizing = name in _QUANTIZED and any(w in row.software for w in _QUANTIZING)
    return replace(found, quantize=quantizing)


def _launch(row: Measurement) -> str:
    """How the row was timed, by its software."""
    text = f"{row.software} {row.subject}".lower()
    if "mamf" in text or "best of sweep" in text:
        return "sweep"
    if "deepgemm 20" in text:  # its own bench: kernel time, caches flushed
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
    if row.has("sustained"):
        return 1, _LARGE, _LARGE, _LARGE, 1
    raise Refusal("config gives no shape: m, n and k are needed")


def prepare(row: Measurement) -> Predict:
    """A matrix product ready to be predicted."""
    if row.metric not in _UNITS and not row.metric.startswith("latency"):
        raise Refusal(f"no product model for metric {row.metric!r}")
    key, _ = device_of(row.system)
    form, launch = _format(row), _launch(row)
    groups, m, n, k, kernels = _shape(row)
    device = hardware.get(key)
    multiply = form.multiply
    try:
        if multiply == "bf16" and "bf16" not in device.formats:
            multiply = "fp16"
        work = gemm.Product(
            m, n, k, multiply, form.left, form.right, 2.0, groups, form.expand
        )
        chip = gemm.chip_of(device, multiply)
        gemm.hold(work, chip, device.short)
    except (UnknownSpec, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    chosen = gemm.tilings(work, max(1, int(chip.units)))
    quantized = m * k * groups * (2 + form.left) if form.quantize else 0.0
    unit = _UNITS.get(row.metric, "s")
    if unit == "FLOP/s":
        unit = f"{DTYPES[multiply].operation}/s"

    def forecast() -> Forecast:
        found = gemm.predict(work, chip, launch, chosen)
        time, bound = kernels * found.time, found.bound
        if quantized:
            rate = chip.bandwidth * hardware.efficiency("dram_gemm")
            time += hardware.efficiency("quantize_call") + quantized / rate
        if unit == "s":
            return Forecast(time, unit, bound)
        amount = work.bytes if unit == "B/s" else work.operations
        return Forecast(kernels * amount / time, unit, bound)

    return forecast


_UNITS = {
    "throughput": "FLOP/s",
    "max_achieved_throughput": "FLOP/s",
    "memory_bandwidth": "B/s",
}
PREDICTORS["A"] = prepare
