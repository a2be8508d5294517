"""What a row of published training tells of its layout, and what it may have run.

What it does not tell is chosen as its authors would have: of the layouts that divide,
the one that the model finds fastest among those that fit.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from typing import Any

from stacklib import hardware
from stacklib.interconnect.parallelism.layout import Layout
from stacklib.interconnect.parallelism.rates import Device
from stacklib.interconnect.parallelism.shape import Shape
from stacklib.interconnect.parallelism.step import evaluate
from stacklib.quantity import quoted

from ..measurements import Measurement, Refusal
from .training_models import first, key, words

_TOKENS = 4 << 20  # of a step that does not tell: GPT-3's and LLaMA's 3.2 to 4 million
_EACH = (2048, 8192)  # at least, of each chip
_AGAIN = 0.5  # of a layer's forward, where every second product is kept
_WAYS = {
    "tp": ("tensor_parallel", "tensor_model_parallel"),
    "pp": ("pipeline_parallel", "pipeline_model_parallel"),
    "dp": ("data_parallel",),
    "cp": ("context_parallel",),
    "ep": ("expert_parallel", "expert_model_parallel"),
}
_SIZE = ("", "_size", "_degree")  # what may follow each
_INTERLEAVE = (
    *("interleave", "vp", "vpp", "virtual_pipeline"),
    *("virtual_pipeline_parallel", "virtual_pipeline_model_parallel"),
)
_LATER = ("mtp", "mtp_num_layers", "mtp_layers", "num_nextn_predict_layers")
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
    "total_gpus",
)
_LENGTH = (
    "seq",
    "seq_len",
    "seqlen",
    "sequence_length",
    "sequence",
    "seq_length",
    "tokens_per_sequence",
    "context",
    "max_seq_len",
    "s",
)


def _longer(*names: str) -> list[str]:
    return [name + size for name in names for size in _SIZE]


def chips_of(row: Measurement, many: int) -> int:
    """How many chips a row was measured on."""
    told = first(row, *_CHIPS)
    if told is None:
        said = re.search(r"\b(\d+) (?:x )?(?:h\d+|a\d+|b\d+|gpus|chips)\b", words(row))
        told = int(said[1]) if said else None
    nodes = first(row, "nodes", "n_nodes")
    if told is None and nodes is not None:
        told = nodes * 8
    return told or many


def ways_of(row: Measurement) -> dict[str, int]:
    """Ways of each parallelism that a row names."""
    found: dict[str, int] = {}
    for way, others in _WAYS.items():
        if (told := first(row, *_longer(way, *others))) is not None:
            found[way] = told
    for word, many in re.findall(r"\b(fsdp|tp|pp|cp|dp|ep)[ -]?(\d+)\b", words(row)):
        found.setdefault(word, int(many))
    return found


def _recompute(row: Measurement) -> Any:
    """What is computed again; None where a row does not say."""
    text = words(row)
    whole = re.search(r"full (ac\b|act|recomp|remat|check)|remat=full", text)
    if whole or row.metric == "hfu":  # which counts what is computed again
        return "full"
    if "selective recompute" in text:
        return "selective"
    if "selective ac" in text or "sac" in text.split(";") or "per-op sac" in text:
        return _AGAIN
    none = re.search(r"no (ac\b|recomp|remat|activation check)|baseline", text)
    return "none" if none else None


_RELEASE = re.compile(r"bridge\D*(\d\d)\.(\d\d)")
_GRAPHED = (26, 6)  # release since which a step of experts in MXFP8 is one graph


def graphed(row: Measurement) -> bool:
    """Whether the step is one recorded graph: nothing waits for the host."""
    text = words(row)
    if re.search(r"full[-_ ]iteration|cuda_graph=full", text):
        return True
    said = _RELEASE.search(text)
    since = said is not None and (int(said[1]), int(said[2])) >= _GRAPHED
    return since and "mxfp8" in text


def later_of(row: Measurement) -> int:
    """Layers that predict further tokens, behind the others."""
    return first(row, *_LATER) or 0


def dtype_of(row: Measurement, device: hardware.Accelerator) -> str:
    text = words(row)
    held = key(row, "dtype", "precision", "quant")
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


def length_of(row: Measurement, shape_name: str) -> int:
    told = first(row, *_LENGTH)
    if told is None:
        said = re.search(r"\bseq(?:_len|uence)?[ =](\d+)", words(row))
        told = int(said[1]) if said else None
    if told is not None:
        return told
    if "llama-3" in shape_name:
        return 8192
    return 4096 if "deepseek" in shape_name or "llama-2" in shape_name else 2048


def _batches(row: Measurement, dp: int, chips: int, length: int) -> list[int]:
    """Sequences of a step, all chips together; several where a row does not say."""
    told = first(row, "global_batch", "gbs", "global_batch_size", "batch_size", "batch")
    each = first(row, "local_batch", "batch/dp", "per_device_batch", "batch_per_gpu")
    if told is not None:
        return [told]
    if each is not None:
        return [each * dp]
    said = re.search(r"\bbatch (\d+)\b", words(row))
    if said:
        return [int(said[1])]
    said = re.search(
        r"(\d+(?:\.\d+)?)([km]) tokens/step|tokens/batch=(\d+)m", words(row)
    )
    usual = [max(_TOKENS, chips * each) for each in _EACH]
    if said:
        scale = {"k": 1e3, "m": 1e6}.get(said[2] or "m", 1e6)
        usual = [round(float(said[1] or said[3]) * scale)]
    return sorted({max(1, round(tokens / length / dp)) * dp for tokens in usual})


def _divisors(number: int, most: int) -> list[int]:
    return [n for n in range(1, min(number, most) + 1) if number % n == 0]


def _interleaves(row: Measurement, shape: Shape, pp: int) -> list[int]:
    if (told := first(row, *_longer(*_INTERLEAVE))) is not None:
        return [told]
    text = words(row)
    if pp == 1:
        return [1]
    if bare := re.search(r"\bvpp?[ -]?(\d+)\b", text):
        return [int(bare[1])]
    if "interleaved" in text:
        return [2]
    if "1f1b" in text or "deepspeed" in text:
        return [1]
    return _divisors(math.ceil(shape.layers / pp), 16)


def _micros(row: Measurement, each: int, pp: int, zero: int) -> list[int]:
    if (told := first(row, *_MICRO)) is not None:
        return [told]
    if key(row, "local_batch"):  # what a chip takes at once: a part a stage
        return [max(1, each // pp)]
    return _divisors(each, 8)


def _cuts(
    row: Measurement, shape: Shape, device: Device, chips: int
) -> Iterable[tuple[int, int, int, int, int, int]]:
    """Ways of tensor, context, expert, pipeline and data parallelism, and ZeRO."""
    told, text = ways_of(row), words(row)
    sharded = "fsdp" in text or "zero-3" in text or "zero3" in text
    if told or sharded or chips == 1:
        tp, pp, cp = (told.get(k, 1) for k in ("tp", "pp", "cp"))
        ep = told.get("ep", 1)
        if chips % (tp * pp * cp):
            raise Refusal(
                f"'tp' {tp} x 'pp' {pp} x 'cp' {cp} do not fill {chips} chips"
            )
        if ep > 1 and shape.experts % ep:
            raise Refusal(f"'ep' = {ep} does not divide {shape.experts} experts")
        group = max(1, chips // (tp * pp * cp))
        # Between a pipeline's microbatches weights stay gathered.
        zero = (3 if pp == 1 else 1) if sharded else 1 if group > 1 else 0
        yield tp, cp, ep, pp, group, zero
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


def layouts_of(
    row: Measurement, shape: Shape, device: Device, chips: int, length: int
) -> list[tuple[Layout, int]]:
    """The layouts that a row may mean, each with its batch."""
    recompute = _recompute(row)
    again = ["none", "selective", "full"] if recompute is None else [recompute]
    text, found = words(row), []
    if recompute is None and "fsdp" in text:  # as such frameworks do unless told
        again = [_AGAIN]
    # Recipes of Megatron-Bridge, and all of experts, recompute modules and no layers.
    lean = "bridge" in text or (shape.experts and re.search("megatron|nemo", text))
    if recompute is None and lean and "fsdp" not in text:
        again = ["none", "selective"]
    old = "deepspeed" in text or (recompute == "full" and "megatron" in text)
    later, overlap = later_of(row), _overlap(row, shape, device)
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
                later=later,
                recompute=r,
                sequence=tp > 1 and not old,
                overlap=overlap,
                schedule=_schedule(row, pp, batch // (group * micro)),
                etp=1 if group * cp % ep else first(row, "etp"),
            )
            found.append((layout, batch))
    if not found:
        raise Refusal(f"config does not give 'tp', 'pp' and 'dp' of {chips} chips")
    return found


def _overlap(row: Measurement, shape: Shape, device: Device) -> Any:
    """Share of the exchanges of tensor and expert parallelism beside products."""
    text = words(row)
    if any(word in text for word in ("async", "dualpipe")) or not device.plain.tiled:
        return True
    told = "overlap" in text
    if shape.experts and not graphed(row):
        return quoted("experts.hidden").si if told else False
    # Recipes of Megatron-Bridge and NeMo overlap, but for NVFP4 (Megatron-Bridge,
    # perf_recipes/llama); Megatron-LM's examples/llama says that it follows them.
    recipe = "bridge" in text or "examples/llama" in row.source
    return told or (recipe and "nvfp4" not in text)


def _schedule(row: Measurement, stages: int, rounds: int) -> str:
    """A pipeline's order of work, where it is one that can run so."""
    pairs = stages % 2 == 0 and rounds % 2 == 0 and rounds >= 2 * stages
    return "dualpipe" if pairs and "dualpipe" in words(row) else "1f1b"


_FIELDS = ("dp", "tp", "pp", "ep", "cp", "sequence", "zero", "micro", "interleave")


def chosen(
    shape: Shape,
    device: Device,
    options: list[tuple[Layout, int]],
    length: int,
    scores: bool,
) -> tuple[Layout, int]:
    """The fastest that fits; then with states elsewhere; then what holds least."""
    if len(options) == 1:
        return options[0]
    try:
        import numpy
    except ImportError:
        raise Refusal("several layouts fit the row: trying them needs numpy") from None

    ranked: list[tuple[int, float, int]] = []
    orders = dict.fromkeys((one.recompute, one.schedule) for one, _ in options)
    for again, schedule in orders:
        mine = [
            i
            for i, (one, _) in enumerate(options)
            if (one.recompute, one.schedule) == (again, schedule)
        ]
        columns: dict[str, Any] = {
            name: numpy.array([float(getattr(options[i][0], name)) for i in mine])
            for name in _FIELDS
        }
        for name in ("ep", "cp"):
            if (columns[name] == 1).all():
                columns[name] = 1
        batch = numpy.array([float(options[i][1]) for i in mine])
        one = options[mine[0]][0]  # what the software's options have alike
        same = {n: getattr(one, n) for n in ("overlap", "later", "schedule", "etp")}
        many = Layout(**columns, recompute=again, **same)
        step = evaluate(shape, device, many, batch, length, scores, limit=False)
        kept = step.memory.weights + step.memory.activations
        misses = 1 * (step.memory.total > device.memory) + (kept > device.memory)
        each = numpy.where(misses == 2, step.memory.total, step.time / batch)
        ranked += [
            (int(m), float(e), i) for m, e, i in zip(misses, each, mine, strict=True)
        ]
    return options[min(ranked)[2]]
