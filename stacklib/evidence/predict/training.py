"""Family F: a published training step, as ``interconnect.parallelism`` predicts it.

The row says model, device and how many, and what it tells of layout and batch. What it
does not tell is chosen as its authors would have: the layout that the model finds
fastest among those that fit. A row of a layout that cannot fit (states kept in the
host's memory) is timed all the same: it ran.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from stacklib import hardware, models
from stacklib.hardware import UnknownSpec
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.megatron import ROWS, gpt
from stacklib.interconnect.parallelism.memory import memory_of
from stacklib.interconnect.parallelism.rates import Device
from stacklib.interconnect.parallelism.rates import device_of as sheet_of
from stacklib.interconnect.parallelism.shape import Shape, shape_of
from stacklib.interconnect.parallelism.step import evaluate
from stacklib.models.language_model import LanguageModel
from stacklib.models.parts import Attention
from stacklib.quantity import UnknownName

from ..measurements import Measurement, Refusal
from ..systems import device_of
from . import PREDICTORS, Forecast, Predict

# Layers, hidden size, heads, vocabulary, and whether the MLP is gated, as published.
_SHAPES = {
    "gpt 22b": (48, 6144, 64, 51200, False),  # V. Korthikanti et al., 2022, table 3
    "gpt 175b": (96, 12288, 96, 51200, False),
    "gpt 530b": (105, 20480, 128, 51200, False),
    "gpt 1t": (128, 25600, 160, 51200, False),
    "palm 540b": (118, 18432, 48, 256000, True),  # A. Chowdhery et al., 2022, table 1
    "llama 7b": (32, 4096, 32, 32000, True),  # H. Touvron et al., 2023, table 2
    "llama 13b": (40, 5120, 40, 32000, True),
    "llama 33b": (60, 6656, 52, 32000, True),
    "llama 65b": (80, 8192, 64, 32000, True),
}
_INNER = {6656: 17920, 8192: 22016, 4096: 11008, 5120: 13824}  # of LLaMA's MLPs
_ASPECT = 128  # hidden numbers a layer of a model of which a size alone is known
_TOKENS = 4 << 20  # of a step that does not tell: GPT-3's and LLaMA's 3.2 to 4 million
_EACH = (2048, 8192)  # at least, of each chip
_AGAIN = 0.5  # of a layer's forward, where every second product is kept
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(m|b|t)\b", re.IGNORECASE)
_WAYS = {
    "tp": ("tensor_parallel", "tensor_model_parallel_size"),
    "pp": ("pipeline_parallel", "pipeline_model_parallel_size"),
    "dp": ("data_parallel",),
    "cp": ("context_parallel",),
    "ep": ("expert_parallel",),
}
_INTERLEAVE = ("interleave", "vp", "vpp", "virtual_pipeline")
_MICRO = ("micro_batch", "mbs", "micro_batch_size")
_CHIPS = (
    "ngpus",
    "chips",
    "gpus",
    "n_gpus",
    "num_gpus",
    "nchips",
    "world_size",
    "devices",
    "num_chips",
)
_LENGTH = (
    "seq",
    "seq_len",
    "seqlen",
    "sequence_length",
    "seq_length",
    "context",
    "max_seq_len",
    "s",
)
_SQUARE = ("maxtext", "palm", "deepspeed", "megatron")  # count masked pairs too
# Software whose kernels are fused and tuned for the device; others keep a share of the
# rates, and attention that PyTorch brings.
_TUNED = (
    "megatron-lm",
    "megatron-core",
    "megatron core",
    "nemo",
    "maxtext",
    "jax",
    "xla",
    "dualpipe",
    "llmq",
    "transformer engine",
    "transformerengine",
    "axlearn",
    "paper",
)
_TRILLIONS = re.compile(r"(\d+(?:\.\d+)?)tb? (?:tokens|\()|tokens=(\d+(?:\.\d+)?)t")
_LOGITS = 14  # bytes a logit at the peak: 16 bits, and 32 three times


def _words(row: Measurement) -> str:
    return f"{row.software};{row.settings};{row.notes}".lower()


def _key(row: Measurement, *keys: str) -> str | None:
    """How a row spells the first of some settings that it gives."""
    spelled = {k.lower(): k for k, v in row.config.items() if v is not True}
    return next((spelled[k] for k in keys if k in spelled), None)


def _first(row: Measurement, *keys: str) -> int | None:
    held = _key(row, *keys)
    return None if held is None else row.integer(held)


def _size(text: str) -> float | None:
    """Parameters that a text names, in billions."""
    said = _SIZE.search(text)
    if not said:
        return None
    return float(said[1]) * {"m": 1e-3, "b": 1.0, "t": 1e3}[said[2].lower()]


def _made(name: str, shape: tuple[int, int, int, int, bool]) -> LanguageModel:
    layers, hidden, heads, vocab, gated = shape
    made = gpt(
        name, layers, hidden, heads, vocab, _INNER.get(hidden, 4 * hidden) * gated
    )
    if "palm" not in name:
        return made
    one = replace(made.kinds[0], attention=Attention(heads, 1, 256))
    return replace(made, kinds=(one,))


def _of_size(billions: float) -> LanguageModel:
    """A plain transformer of a size: twelve hidden squares a layer."""
    whole = billions * 1e9
    layers = max(1, round((whole / 12 / _ASPECT**2) ** (1 / 3)))
    # 12 layers hidden^2 + vocabulary hidden = whole
    table = 51200.0
    root = (math.sqrt(table**2 + 48 * layers * whole) - table) / (24 * layers)
    hidden = 128 * max(1, round(root / 128))
    heads = hidden // 128
    return _made(f"gpt {billions:g}b", (layers, hidden, heads, 51200, False))


@lru_cache(maxsize=512)
def _named(subject: str) -> LanguageModel:
    """The model that a subject names."""
    text = re.sub(r"[^a-z0-9.]+", " ", subject.lower()).strip()
    text = text.replace("gpt gpt 3 ", "gpt ").replace("mt nlg", "gpt")
    text = text.replace("gpt 3 175b", "gpt 175b").replace("megatron ", "gpt ")
    for key, shape in _SHAPES.items():
        if text == key or text.startswith(key + " "):
            return _made(key, shape)
    said = text
    known = {re.sub(r"[^a-z0-9.]+", " ", key): key for key in models.names()}
    for name in (said, said.split(" 671b")[0], said.replace("3.1", "3"), _short(said)):
        longer = [key for text, key in known.items() if text.startswith(f"{name} ")]
        if name in known or len(longer) == 1:
            return models.get(known.get(name) or longer[0])
    billions = _size(text)
    active = re.search(r"a\d+b|active|moe|x\d+b", text)
    if billions is None or active:
        raise Refusal(
            f"no shape of model {subject!r}: config does not give 'hidden', 'layers' "
            "and 'heads', and no known model has the name"
        )
    return _of_size(billions)


def _short(text: str) -> str:
    """A name without words that say how it was tuned or which release it is."""
    return re.sub(r" (v0\.\d|instruct|base|hf|chat)\b", "", text).replace(" v", "-v")


def model_of(row: Measurement) -> LanguageModel:
    """The model of a row: by its sizes where it gives them, by its name elsewhere."""
    if _key(row, "hidden") and _key(row, "layers"):
        sizes = [row.integer(k) for k in ("layers", "hidden", "heads")]
        vocab = row.integer("vocab", 51200)
        return _made(row.subject.lower(), (*sizes, vocab, False))  # type: ignore[arg-type]
    if row.subject.lower() in ("gpt", "transformer"):
        billions = _size(row.settings)
        if billions is None:
            raise Refusal("model_or_kernel and config name no model size")
        return _of_size(billions)
    return _named(row.subject)


def chips_of(row: Measurement, many: int) -> int:
    """How many chips a row was measured on."""
    told = _first(row, *_CHIPS)
    if told is None:
        said = re.search(r"\b(\d+) (?:x )?(?:h\d+|a\d+|b\d+|gpus|chips)\b", _words(row))
        told = int(said[1]) if said else None
    nodes = _first(row, "nodes", "n_nodes")
    if told is None and nodes is not None:
        told = nodes * 8
    return told or many


@dataclass(frozen=True, slots=True)
class Run:
    """What a row ran, as far as it tells; None where it does not."""

    shape: Shape
    device: Device
    chips: int
    length: int
    batch: int
    layouts: tuple[Layout, ...]
    scores: bool


def _ways(row: Measurement) -> dict[str, int]:
    """Ways of each parallelism that a row names."""
    found: dict[str, int] = {}
    for key, others in _WAYS.items():
        if (told := _first(row, key, *others)) is not None:
            found[key] = told
    for word, many in re.findall(r"\b(fsdp|tp|pp|cp|dp|ep) ?(\d+)\b", _words(row)):
        found.setdefault(word, int(many))
    return found


def _recompute(row: Measurement) -> Any:
    """What is computed again; None where a row does not say."""
    text = _words(row)
    if re.search(r"full (ac\b|act|recomp|remat|check)|remat=full", text):
        return "full"
    if "selective recompute" in text:
        return "selective"
    if "selective ac" in text or "sac" in text.split(";") or "per-op sac" in text:
        return _AGAIN
    none = re.search(r"no (ac\b|recomp|remat|activation check)|baseline", text)
    return "none" if none else None


def _dtype(row: Measurement, device: hardware.Accelerator) -> str:
    text = _words(row)
    held = _key(row, "dtype", "precision", "quant")
    said = text if held is None else str(row.config[held]).lower()
    for word, name in (
        ("fp8", "fp8"),
        ("float8", "fp8"),
        ("mxfp8", "fp8"),
        ("nvfp4", "fp4"),
        ("fp16", "fp16"),
    ):
        if word in said:
            return name if name in device.formats else "bf16"
    return "bf16" if "bf16" in device.formats else "fp16"


def _length(row: Measurement, shape_name: str) -> int:
    told = _first(row, *_LENGTH)
    if told is None:
        said = re.search(r"\bseq(?:_len|uence)?[ =](\d+)", _words(row))
        told = int(said[1]) if said else None
    if told is not None:
        return told
    if "llama-3" in shape_name or "torchtitan" in _words(row):
        return 8192
    return 4096 if "deepseek" in shape_name or "llama-2" in shape_name else 2048


def _batches(row: Measurement, dp: int, chips: int, length: int) -> list[int]:
    """Sequences of a step, all chips together; several where a row does not say."""
    told = _first(
        row, "global_batch", "gbs", "global_batch_size", "batch_size", "batch"
    )
    each = _first(row, "local_batch", "batch/dp", "per_device_batch", "batch_per_gpu")
    if told is not None:
        return [told]
    if each is not None:
        return [each * dp]
    said = re.search(r"\bbatch (\d+)\b", _words(row))
    if said:
        return [int(said[1])]
    said = re.search(
        r"(\d+(?:\.\d+)?)([km]) tokens/step|tokens/batch=(\d+)m", _words(row)
    )
    usual = [max(_TOKENS, chips * each) for each in _EACH]
    if said:
        scale = {"k": 1e3, "m": 1e6}.get(said[2] or "m", 1e6)
        usual = [round(float(said[1] or said[3]) * scale)]
    return sorted({max(1, round(tokens / length / dp)) * dp for tokens in usual})


def _divisors(number: int, most: int) -> list[int]:
    return [n for n in range(1, min(number, most) + 1) if number % n == 0]


def _interleaves(row: Measurement, shape: Shape, pp: int) -> list[int]:
    if (told := _first(row, *_INTERLEAVE)) is not None:
        return [told]
    text = _words(row)
    if pp == 1:
        return [1]
    if "interleaved" in text:
        return [2]
    if "1f1b" in text or "deepspeed" in text:
        return [1]
    return _divisors(math.ceil(shape.layers / pp), 16)


def _micros(row: Measurement, each: int, pp: int, zero: int) -> list[int]:
    if (told := _first(row, *_MICRO)) is not None:
        return [told]
    if "torchtitan" in row.software.lower():  # as many microbatches as stages
        return [max(1, each // pp)]
    return _divisors(each, 8)


def _cuts(
    row: Measurement, shape: Shape, device: Device, chips: int
) -> Iterable[tuple[int, int, int, int, int, int]]:
    """Ways of tensor, context, expert, pipeline and data parallelism, and ZeRO."""
    told, text = _ways(row), _words(row)
    sharded = "fsdp" in text or "zero-3" in text or "zero3" in text
    if told or sharded or chips == 1:
        tp, pp, cp = (told.get(k, 1) for k in ("tp", "pp", "cp"))
        group = max(1, chips // (tp * pp * cp))
        # Between a pipeline's microbatches weights stay gathered.
        zero = (3 if pp == 1 else 1) if sharded else 1 if group > 1 else 0
        yield tp, cp, told.get("ep", 1), pp, group, zero
        return
    domain = min(device.domain, 16)
    stages = {1, 2, 4, 8, 16, 32} if device.plain.tiled else {1}
    for tp, pp in itertools.product([1, 2, 4, 8, 16], sorted(stages)):
        if tp > domain or chips % (tp * pp) or shape.heads % tp:
            continue
        group = chips // (tp * pp)
        wide = [e for e in (8, 16, 32, 64) if shape.experts and group % e == 0]
        for ep, zero in itertools.product(wide or [1], (1, 3)):
            yield tp, 1, ep, pp, group, zero


def _layouts(
    row: Measurement, shape: Shape, device: Device, chips: int, length: int
) -> list[tuple[Layout, int]]:
    """The layouts that a row may mean, each with its batch."""
    recompute = _recompute(row)
    again = ["none", "selective", "full"] if recompute is None else [recompute]
    if recompute is None and "torchtitan" in row.software.lower():
        again = [_AGAIN]  # its default
    text, found = _words(row), []
    old = "deepspeed" in text or (recompute == "full" and "megatron" in text)
    for tp, cp, ep, pp, group, zero in _cuts(row, shape, device, chips):
        options = [
            (batch, micro)
            for batch in _batches(row, group, chips, length)
            if batch >= group
            for micro in _micros(row, batch // group, pp, zero)
        ]
        for (batch, micro), v, r in itertools.product(
            options, _interleaves(row, shape, pp), again
        ):
            layout = Layout(
                dp=group,
                tp=tp,
                pp=pp,
                ep=ep,
                cp=cp,
                zero=zero,
                micro=micro,
                interleave=v,
                recompute=r,
                sequence=tp > 1 and not old,
                overlap=any(w in text for w in ("async", "dualpipe", "overlap"))
                or not device.plain.tiled,
            )
            found.append((layout, batch))
    if not found:
        raise Refusal(f"config does not give 'tp', 'pp' and 'dp' of {chips} chips")
    return found


_FIELDS = ("dp", "tp", "pp", "ep", "cp", "sequence", "zero", "micro", "interleave")


def _chosen(
    shape: Shape,
    device: Device,
    options: list[tuple[Layout, int]],
    length: int,
    scores: bool,
) -> tuple[Layout, int]:
    """The fastest that fits; then with states elsewhere; then what holds least."""
    if len(options) == 1:
        return options[0]
    import numpy

    ranked: list[tuple[int, float, int]] = []
    for again in dict.fromkeys(one.recompute for one, _ in options):
        mine = [i for i, (one, _) in enumerate(options) if one.recompute == again]
        columns: dict[str, Any] = {
            name: numpy.array([float(getattr(options[i][0], name)) for i in mine])
            for name in _FIELDS
        }
        for name in ("ep", "cp"):
            if (columns[name] == 1).all():
                columns[name] = 1
        batch = numpy.array([float(options[i][1]) for i in mine])
        overlap = options[0][0].overlap  # the software's: of all alike
        many = Layout(**columns, recompute=again, overlap=overlap)
        step = evaluate(shape, device, many, batch, length, scores, limit=False)
        kept = step.memory.weights + step.memory.activations
        misses = 1 * (step.memory.total > device.memory) + (kept > device.memory)
        each = numpy.where(misses == 2, step.memory.total, step.time / batch)
        ranked += [
            (int(m), float(e), i) for m, e, i in zip(misses, each, mine, strict=True)
        ]
    return options[min(ranked)[2]]


def _told_flops(shape: Shape, row: Measurement, layout: Layout, length: int) -> float:
    """Operations a token as papers count them: every pair of tokens, once or again.

    Reports of before 2022, and of hardware's utilisation, count recomputation.
    """
    square = shape.pair_macs
    if any(word in _words(row) for word in _SQUARE):
        square = sum(k.count * k.square for k in shape.kinds)
    again = layout.again if "deepspeed" in _words(row) or row.metric == "hfu" else 0.0
    if row.metric == "hfu" and not again:
        again = 1.0
    return (6.0 + 2.0 * again) * (shape.macs + square)


def _answer(
    row: Measurement,
    shape: Shape,
    device: Device,
    layout: Layout,
    batch: int,
    chips: int,
    length: int,
) -> Callable[[float], Forecast]:
    metric, tokens = row.metric, batch * length
    unit = row.unit.lower()
    each = _told_flops(shape, row, layout, length)
    if metric in ("iteration_time", "step_time", "time_per_step", "time", "latency"):
        return lambda t: Forecast(t, "s", "compute")
    if metric.startswith(("mfu", "hfu")):
        peak = device.plain.peak
        return lambda t: Forecast(tokens * each / t / chips / peak, "", "compute")
    if "throughput" in metric or "tokens" in metric:
        many = chips if "per" in metric or "/gpu" in unit or "/chip" in unit else 1
        if "flop" in unit:
            return lambda t: Forecast(tokens * each / t / chips, "FLOP/s", "compute")
        if "seq" in unit or "sample" in unit:
            return lambda t: Forecast(batch / t / many, "1/s", "compute")
        return lambda t: Forecast(tokens / t / many, "token/s", "compute")
    if metric == "gpu_hours":
        said = _TRILLIONS.search(_words(row))
        if not said:
            raise Refusal("config does not give 'tokens' of the whole run")
        whole = float(said[1] or said[2]) * 1e12
        later = re.search(r"(\d+(?:\.\d+)?)t \((?:[^)]*)\b" + _label(row), _words(row))
        if later:
            whole = float(later[1]) * 1e12
        return lambda t: Forecast(whole / tokens * t * chips / 3600, "h", "compute")
    raise Refusal(f"no training model for metric {metric!r}")


def _label(row: Measurement) -> str:
    said = _SIZE.search(row.subject)
    return re.escape(said[0].lower()) if said else "none"


def _held(row: Measurement, run: Run, layout: Layout, batch: int) -> Predict:
    """Bytes that a row names: all of a chip at its peak, states, or activations."""
    memory = memory_of(
        run.shape, layout, batch=batch, length=run.length, scores=run.scores
    )
    text = _words(row)
    if "activation" in text:
        size = memory.activations
    elif "param" in text or "optimizer" in text:
        size = memory.total - memory.activations
    else:
        tokens = layout.micro * run.length / layout.cp
        logits = (_LOGITS - (10 if layout.pp == 1 else 0)) * tokens * run.shape.vocab
        last = logits / (layout.tp if layout.pp == 1 else 1e30)
        size = memory.total + last
    return lambda: Forecast(size, "B", "memory")


def _figure_layout(row: Measurement, shape: Shape) -> tuple[Layout, int] | None:
    """The layout of a row of that paper's figure 1, which its table 3 has."""
    if row.metric != "memory" or "2205.05198" not in row.source:
        return None
    (own,) = (one for one in ROWS if one.layers == shape.layers)
    lean = "selective" in row.settings
    again = "selective" if lean else "none"
    return replace(own.layout(lean), recompute=again), own.batch


def prepare(row: Measurement) -> Predict:
    """A training step ready to be predicted."""
    if not row.config and "memory" not in row.metric:
        raise Refusal("config does not give 'seq', 'batch' and layout: it is empty")
    key, many = device_of(row.system)
    chip = hardware.get(key)
    model = model_of(row)
    try:
        length = _length(row, model.key)
        shape = shape_of(model, length)
        port = re.search(r"(\d+)g\b", row.system.lower())
        rate = float(port[1]) * 1e9 / 8 if port else None
        device = sheet_of(key, _dtype(row, chip), rate)
        chips = chips_of(row, many)
        scores = "2022" in f"{row.date} {row.source}" and "megatron" in _words(row)
        fixed = _figure_layout(row, shape)
        options = [fixed] if fixed else _layouts(row, shape, device, chips, length)
        layout, batch = _chosen(shape, device, options, length, scores)
        run = Run(shape, device, chips, length, batch, (layout,), scores)
        if "memory" in row.metric:
            return _held(row, run, layout, batch)
        answer = _answer(row, shape, device, layout, batch, layout.chips, length)
    except (UnknownSpec, UnknownName, ValueError) as unknown:
        raise Refusal(str(unknown)) from None

    tuned = any(word in row.software.lower() for word in _TUNED)

    def forecast() -> Forecast:
        share = 1.0 if tuned else hardware.efficiency("training_share")
        step = evaluate(
            shape,
            device,
            layout,
            batch,
            length,
            scores,
            limit=False,
            share=share,
            tuned=tuned,
        )
        return answer(step.time)

    return forecast


PREDICTORS["F"] = prepare
