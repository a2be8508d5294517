"""Numbers of section 3.9 that are of flash: the KV cache and checkpoints on drives."""

from __future__ import annotations

from functools import cache

from stacklib import hardware, memory, models
from stacklib.memory.tiers.checkpoint import (
    ADAM,
    checkpoint_bytes,
    daly_interval,
    expected_time,
    write_time,
)
from stacklib.memory.tiers.kv import (
    KvDemand,
    drive_depth,
    layer_time,
    lifetime,
    step_time,
)
from stacklib.memory.tiers.parts import constant, drive
from stacklib.quantity import Quantity, ceil, maximum

from .chapter_03_tiers import _put
from .registry import number

LLAMA, LATENT = "llama-3-70b", "deepseek-v3"
CONTEXT, TOP_K, TOKENS = 131_072, 2048, 20
DRIVES = 4


def _given(value: float, unit: str, label: str) -> Quantity:
    return Quantity(value, unit, label=label, kind="assumption")


# -- an old price ----------------------------------------------------------------

for _end in ("low", "high"):
    _put(
        f"diffen_{_end}",
        lambda end=_end: constant(f"diffen_dram_{end}"),  # type: ignore[misc]
        f"Price of DRAM beside which SRAM was put at 5,000 USD a GB, its {_end} end.",
        unit="USD/GB",
        evidence="spec",
    )


# -- KV --------------------------------------------------------------------------


@cache
def _demand(model: str, sparse: bool) -> KvDemand:
    return memory.kv_demand(model, context=CONTEXT, top_k=TOP_K if sparse else None)


def _drives(sparse: bool) -> Quantity:
    """Drives that one sequence of Llama keeps busy; reads and bytes, the larger."""
    ssd, asked = drive("micron_9550"), _demand(LLAMA, sparse)
    rate = _given(TOKENS, "1/s", "tokens a second")
    reads = asked.pages * rate / ssd.reads
    moved = asked.read * rate / ssd.read
    whole: Quantity = ceil(maximum(reads, moved))
    return whole.named("drives")


_put(
    "top_k",
    lambda: _given(TOP_K, "", "tokens picked"),
    "Tokens that sparse attention picks in each layer.",
    digits=4,
    evidence="spec",
)
_put(
    "kv_dense_drives",
    lambda: _drives(False),
    "Drives that feed dense attention of Llama-3-70B for one reader.",
)
_put(
    "kv_sparse_drives",
    lambda: _drives(True),
    "Drives that feed sparse attention of Llama-3-70B for one reader.",
)


def _layers(model: str) -> Quantity:
    shape = models.get(model)
    return Quantity(shape.layers, label="layers", kind="config", source=shape.source)


def _token(model: str) -> Quantity:
    whole = models.get(model).kv_bytes_per_token("bf16")
    return (whole / _layers(model)).named("KV of a token in a layer")


_put(
    "llama_token",
    lambda: _token(LLAMA),
    "Keys and values of one token in one layer of Llama-3-70B.",
    unit="KiB",
)
_put(
    "mla_token",
    lambda: _token(LATENT),
    "Latent of one token in one layer of DeepSeek-V3.",
    unit="B",
    digits=4,
)
_put(
    "mla_waste",
    lambda: _demand(LATENT, True).amplification,
    "Bytes read for each byte wanted, by sparse attention of DeepSeek-V3.",
    digits=2,
)
_put(
    "mla_gain",
    lambda: _demand(LLAMA, True).wanted / _demand(LATENT, True).wanted,
    "KV of Llama-3-70B over that of DeepSeek-V3.",
    digits=2,
)
_put(
    "mla_read_gain",
    lambda: _demand(LLAMA, True).read / _demand(LATENT, True).read,
    "Bytes that drives read for the one over those for the other.",
    digits=2,
)
_put(
    "drive_reads",
    lambda: drive("micron_9550").reads * Quantity(1, "s", label="a second"),
    "Reads that a drive does in a second.",
    digits=2,
    evidence="spec",
)
_put(
    "drive_depth",
    lambda: drive_depth(drive("micron_9550")),
    "Reads it has in flight then.",
)
_put("llama_layers", lambda: _layers(LLAMA), "Layers of Llama-3-70B.", evidence="spec")
_put(
    "kv_four",
    lambda: _given(DRIVES, "", "drives"),
    "Drives of the example.",
    evidence="spec",
)


@number("tiers.kv_compute", unit="ms")
def kv_compute() -> Quantity:
    """A step of Llama-3-70B on two H100s that reads weights alone."""
    layers = _layers(LLAMA)
    return (layers * layer_time(LLAMA, on="h100_sxm", tp=2)).named("weights read")


def _waiting(ahead: bool) -> Quantity:
    """The step with its KV from four drives; the model's value over its parts."""
    ssd, layers = drive("micron_9550"), models.get(LLAMA).layers
    pages = _demand(LLAMA, True).pages.si / layers
    time = step_time(
        kv_compute().si,
        layers,
        pages,
        DRIVES * ssd.reads.si,
        ssd.latency.si,
        ahead=ahead,
    )
    factor = Quantity(time / kv_compute().si, label="step with the drives' waits")
    return (kv_compute() * factor).named("step")


_put(
    "kv_ahead",
    lambda: _waiting(True),
    "The step when pages are read a layer ahead.",
    unit="ms",
)
_put(
    "kv_after",
    lambda: _waiting(False),
    "The step when pages are asked for as the layer begins.",
    unit="ms",
)


@number("tiers.dwpd", evidence="spec")
def dwpd() -> Quantity:
    """Full writes a day that the drive's warranty allows."""
    return drive("micron_9550").writes_per_day * Quantity(1, "day", label="a day")


@number("tiers.prefill_rate", unit="token/s", digits=4, evidence="spec")
def prefill_rate() -> Quantity:
    """Tokens a second that prefill brings in the example."""
    return _given(10_000, "token/s", "prefill")


def _written() -> Quantity:
    one = Quantity(1, "token", label="a token")
    each = models.get(LLAMA).kv_bytes_per_token("bf16") / one
    return (prefill_rate() * each).named("KV written")


_put("prefill_written", _written, "KV of Llama-3-70B that it writes.", unit="GB/s")
_put(
    "wear",
    lambda: lifetime(drive("micron_9550"), written=_written(), drives=DRIVES),
    "Time in which four drives are written as often as their warranty allows.",
    unit="year",
    digits=2,
)


# -- checkpoints -----------------------------------------------------------------

GPUS = 16
COST, RESTART = 30, 300


def _adam() -> Quantity:
    parts = [_given(size, "B", f"bytes of {name}") for name, size in ADAM.items()]
    return sum(parts[1:], parts[0]).named("bytes a parameter")


def _copied() -> Quantity:
    """Each GPU copies its share over its own PCIe."""
    each = checkpoint_bytes(LLAMA) / _given(GPUS, "", "GPUs")
    second = Quantity(1, "s", label="a second")
    rate = hardware.link("pcie5_x16").achieved * second / second
    return (each / rate).named("copy to host memory")


def mtbf() -> Quantity:
    """Mean time between the interruptions that Meta saw."""
    return (constant("llama3_days") / constant("llama3_failures")).named(
        "time between failures"
    )


def _daly(cost: Quantity) -> Quantity:
    best = daly_interval(cost.si, mtbf().si)
    ratio = Quantity(best / cost.si, label="Daly's interval over the cost")
    return (cost * ratio).named("Daly's interval")


def _lost(cost: Quantity, interval: Quantity | None = None) -> Quantity:
    """Share of the time that is lost, at Daly's interval or another."""
    interval = interval or _daly(cost)
    given = {"cost": cost.si, "restart": RESTART, "between_failures": mtbf().si}
    whole = Quantity(expected_time(interval.si, **given), label="time for a second")
    return (1 - interval / (interval * whole)).named("share lost")


_put("adam", _adam, "Bytes a parameter of a checkpoint: weights and Adam.", unit="B")
_put(
    "checkpoint",
    lambda: checkpoint_bytes(LLAMA),
    "Bytes of a checkpoint of Llama-3-70B.",
    unit="GB",
)
_put(
    "write_time",
    lambda: write_time(checkpoint_bytes(LLAMA), GPUS, drive("micron_9550").write),
    "Time in which sixteen drives write it.",
    unit="s",
    digits=2,
)
_put(
    "copy_time",
    _copied,
    "Time in which sixteen GPUs copy it to their hosts.",
    unit="s",
    digits=2,
)
_put(
    "failures",
    lambda: constant("llama3_failures"),
    "Unexpected interruptions of the training of Llama 3 405B.",
    evidence="measured",
)
_put(
    "failure_days",
    lambda: constant("llama3_days").to("day"),
    "Days in which they happened.",
    unit="day",
    evidence="measured",
)
_put(
    "failure_gpus",
    lambda: constant("llama3_gpus"),
    "GPUs on which they happened.",
    digits=3,
    evidence="spec",
)
_put("mtbf", mtbf, "Mean time between them.", unit="h", digits=2)
_put(
    "suppose_cost",
    lambda: _given(COST, "s", "cost of a checkpoint"),
    "Seconds that a checkpoint holds up the example.",
    unit="s",
    evidence="spec",
)
_put(
    "suppose_restart",
    lambda: _given(RESTART, "s", "restart"),
    "Minutes until work goes on after a failure, in the example.",
    unit="min",
    evidence="spec",
)
_put(
    "daly",
    lambda: _daly(_given(COST, "s", "cost of a checkpoint")),
    "Daly's interval for it.",
    unit="s",
)
_put(
    "lost",
    lambda: _lost(_given(COST, "s", "cost of a checkpoint")),
    "Share of the time that is lost at that interval.",
    unit="%",
    digits=2,
)
_put(
    "lost_behind",
    lambda: _lost(_copied()),
    "The same when a checkpoint costs the copy alone.",
    unit="%",
    digits=2,
)


for _name, _seconds in (("short", 300), ("long", 2000)):
    _put(
        _name,
        lambda s=_seconds: _given(s, "s", "another interval"),  # type: ignore[misc]
        "An interval that is far from the best.",
        unit="s",
        digits=4,
        evidence="spec",
    )
    _put(
        f"lost_{_name}",
        lambda s=_seconds: _lost(  # type: ignore[misc]
            _given(COST, "s", "cost of a checkpoint"),
            _given(s, "s", "another interval"),
        ),
        "Share of the time that is lost at it.",
        unit="%",
        digits=2,
    )

_put(
    "warranty",
    lambda: _given(5, "year", "warranty"),
    "Years of the drive's warranty.",
    unit="year",
    evidence="spec",
)
