"""Section 7.8: Why does FP16 lose what BF16 keeps?"""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Any

from stacklib import hardware, models
from stacklib.quantity import Quantity, counting, quoted, recorded
from stacklib.quantizers import Format
from stacklib.tinylm.config import architecture
from stacklib.tinylm.low_precision import runs

FORMATS = {"fp16": "FP16", "bf16": "BF16", "e5m2": "E5M2", "e4m3fn": "E4M3"}
FIRST, SWEPT = 16, tuple(range(0, 37, 4))  # exponents of a loss scale
FLOOR, TOP = -48, 17  # exponents at which the drawn number line begins and ends
CARD = "rtx_4090"
TUNED = "llama-2-7b"
CONTEXT = models.get(TUNED).max_context  # tokens learned at once
RUNS = {
    "FP32": "fp32",
    "FP16": "fp16",
    "FP16, dynamic loss scale": "fp16_scaled",
    "FP8": "fp8_none",
    "FP8, one loss scale": "fp8_none_scaled",
    "FP8, delayed scale per tensor": "fp8_delayed",
    "FP8, current scale per tensor": "fp8_current",
}
PARTS = {
    "base": ("weights", "scales", "kept"),
    "adapters, gradients, moments": ("adapters", "gradients", "optimizer"),
    "inputs of layers": ("checkpoints",),
}


def mean_over() -> Quantity:
    """Tokens that a loss of a large run is a mean over."""
    sequences, each = quoted("deepseek_v3.batch"), quoted("deepseek_v3.sequence")
    return (sequences * each).named("tokens of the largest batch of DeepSeek-V3")


# -- formats ---------------------------------------------------------------------------


@counting(lambda name: f"smallest of {FORMATS[name]}")
def smallest(name: str) -> float:
    """The smallest number of a format above zero."""
    form = Format(name)
    codes = (form.decode(code) for code in (0, 1))
    return max(abs(x) for x in codes)


@counting(lambda name: f"largest of {FORMATS[name]}")
def largest(name: str) -> float:
    """The largest number of a format."""
    return Format(name).largest


# -- the classifier --------------------------------------------------------------------


@cache
def ran(fmt: str, loss_scale: float | str = 1.0) -> runs.ClassifierRun:
    """A run of the classifier."""
    return runs.train_classifier(fmt, loss_scale)


@counting("accuracy, {fmt}, {loss_scale}")
def accuracy(fmt: str, loss_scale: float | str = 1.0) -> float:
    """Share of unseen samples whose class it finds."""
    return ran(fmt, loss_scale).accuracy


@counting("gradients lost, {fmt}, {loss_scale}")
def zeroed(fmt: str, loss_scale: float | str = 1.0) -> float:
    """Share of its gradients that become zero."""
    return ran(fmt, loss_scale).zeroed


def last_scale() -> float:
    """The loss scale that a dynamic run ends with."""
    return ran("fp16", "dynamic").scales[-1]


def swept(fmt: str) -> list[int]:
    """Exponents of the loss scales that a format is run with; bf16 at the ends."""
    return [SWEPT[0], SWEPT[-1]] if fmt == "bf16" else list(SWEPT)


def sweep(fmt: str) -> list[float]:
    """Accuracy in percent at every loss scale of ``swept``."""
    return [100 * ran(fmt, 2.0**power).accuracy for power in swept(fmt)]


def works(fmt: str) -> list[int]:
    """Exponents of the loss scales with which a format learns."""
    found = zip(swept(fmt), sweep(fmt), strict=True)
    return [power for power, percent in found if percent > 90]


@counting("window of {fmt}")
def window(fmt: str) -> int:
    """Powers of two from the least loss scale that works to the largest."""
    return works(fmt)[-1] - works(fmt)[0]


@cache
def gradients() -> tuple[float, ...]:
    """Magnitudes of the loss's first gradients, at the logits, in fp32 and sorted."""
    import numpy as np

    random = np.random.default_rng(0)
    (x, y), _ = runs._samples(random)
    sizes = ((runs.INPUTS + 1, runs.HIDDEN), (runs.HIDDEN, runs.CLASSES))
    weights = [(random.normal(size=s) / s[0] ** 0.5).astype("f4") for s in sizes]
    at = slice(runs.BATCH)
    logits = runs._forward(Format("fp32"), weights, x[at])[-1]
    top = np.exp(logits - logits.max(axis=1, keepdims=True))
    p = top / top.sum(axis=1, keepdims=True)
    p[np.arange(runs.BATCH), y[at]] -= 1
    return tuple(np.sort(np.abs(p / runs.MEAN_OVER).reshape(-1)).tolist())


def gradient_at(share: float) -> float:
    """The magnitude that this share of the gradients lies below."""
    found = gradients()
    return found[min(int(share * len(found)), len(found) - 1)]


def octaves(value: float) -> float:
    """Powers of two from the start of the drawn line."""
    return log2(value) - FLOOR


def place(value: float) -> float:
    """The same, cut at the line's ends."""
    return min(max(octaves(value), 0.0), octaves(2.0**TOP))


# -- stored runs -----------------------------------------------------------------------

STORED, SEEDS = "stacklib/tinylm/data/low_precision", 3
ENDS = {"mean": 1, "low": 2, "high": 3}


def _mean(file: str, run: str, field: str, unit: str = "") -> Quantity:
    """Mean of what the seeds of a stored run came to."""
    first, *rest = (
        recorded(f"{STORED}/{file}.json", f"{run}/seeds/{seed}", field, unit=unit)
        for seed in range(SEEDS)
    )
    return sum(rest, first) / SEEDS


def behind(run: str, end: str = "mean") -> Quantity:
    """Nats a token of unseen text that a run has over bf16 when it ends."""
    if end != "mean":
        return interval_end(run, end)
    last = f"held_out/{len(runs.behind(run)) - 1}"
    ran, wide = (_mean("fp8", f"runs/{name}", last) for name in (run, "bf16"))
    return (ran - wide).named(f"over bf16, {run}, {end}")


@counting("over bf16, {run}, {end}")
def interval_end(run: str, end: str) -> float:
    """The low or high end of its interval over three seeds."""
    return runs.behind(run)[-1][ENDS[end]]


def lost(run: str) -> Quantity:
    """Share of a run's gradients that rounding made zero, mean of its seeds."""
    found = _mean("fp8", f"runs/{run}", "backward/zeroed")
    return found.named(f"gradients lost, {run}")


def once(width: str) -> Quantity:
    """Bits a byte of the draft rounded after training; ``control``: not rounded."""
    place = f"{STORED}/qat.json", f"ptq/{width}", "bits_per_byte/0"
    return recorded(*place, unit="bit/B", label=f"rounded once, {width}")


def trained(width: str) -> Quantity:
    """The same when its last steps saw rounded weights; mean of three seeds."""
    last = len(runs.curves("qat")["runs"][width]["step"]) - 1
    found = _mean("qat", f"runs/{width}", f"bits_per_byte/{last}", "bit/B")
    return found.named(f"trained rounded, {width}")


def control(width: str) -> Quantity:
    """The same when those steps saw exact weights, and the end was rounded."""
    found = _mean("qat", "runs/control", f"then/{width}", "bit/B")
    return found.named(f"trained, rounded, {width}")


def adapted(stage: str) -> Quantity:
    """Bits a byte of unseen code: ``base``, ``before`` or ``after`` the adapters."""
    found = _mean("qlora", "", f"bits_per_byte/{stage}/0", "bit/B")
    return found.named(f"code, {stage}")


@counting("half of the interval", unit="bit/B")
def adapted_reach() -> float:
    """Half of the interval over three seeds, after the adapters."""
    seeds = runs.curves("qlora")["seeds"]
    mean, _, high = runs.interval(s["bits_per_byte"]["after"][0] for s in seeds)
    return high - mean


def beyond(part: str) -> Quantity:
    """Share by which the bytes found in a part exceed those of the sheet."""
    model, rank, batch, context = (
        settings("qlora")[key] for key in ("model", "rank", "batch", "tokens")
    )
    case = {"rank": rank, "batch": batch, "context": context, "dtype": "fp32"}
    parts = runs.qlora_memory(architecture(model), **case).parts
    parts["base"] = parts["weights"] + parts["scales"]
    found = recorded(f"{STORED}/qlora.json", "seeds/0", f"measured/{part}", unit="B")
    return (found / parts[part] - 1).named(f"{part}, found over foretold")


def longest() -> Quantity:
    """Tokens learned at once: as many as the model was trained for."""
    return models.get(TUNED).size("max_context", "max context").named("sequence")


def memory(rank: int) -> runs.QloraMemory:
    """Bytes of a step of QLoRA on seven billion parameters."""
    return runs.qlora_memory(TUNED, rank=rank, batch=1, context=CONTEXT)


def grouped(rank: int) -> dict[str, Quantity]:
    """The same in four parts that add up to it."""
    sheet = memory(rank)
    found: dict[str, Quantity] = {}
    for name, keys in PARTS.items():
        first, *rest = (sheet.parts[key] for key in keys)
        found[name] = sum(rest, first).named(name)
    held = sum(list(found.values())[1:], found["base"])
    found["one layer, or the logits"] = (sheet.total - held).named("worst moment")
    return found


def card() -> Quantity:
    """Memory of the card."""
    return hardware.get(CARD).memory_capacity


def updates(name: str) -> Quantity:
    """Updates of a stored experiment."""
    return recorded(f"{STORED}/{name}.json", "settings", "steps")


def settings(name: str) -> Any:
    """Settings of a stored experiment."""
    return runs.curves(name)["settings"]
