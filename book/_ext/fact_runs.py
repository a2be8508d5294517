"""Which models fit a device, and how fast a token can come at best."""

from dataclasses import replace
from functools import cache
from typing import Any

from fact_html import Sheet, leaf, link, table
from sphinx.errors import ExtensionError

from stacklib import hardware, models, roofline
from stacklib.evidence import guard
from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.weights.mixtures import way
from stacklib.quantity import Quantity
from stacklib.roofline import DecodeStep, Work
from stacklib.roofline.work.fit import Fit

FORMATS = ("bf16", "fp8", "fp4")
CONTEXT = 4096
SETTING = (
    f"One sequence, {CONTEXT:,} tokens cached, weights and cache in one format (the "
    "cache in 16 bits on a chip that does not multiply in it). Speeds are predicted "
    "and an upper bound: what is read over the memory bandwidth, or the arithmetic "
    "where that takes longer. What does not fit has no speed; its number is the memory "
    "it needs."
)


@cache
def by_size() -> tuple[LanguageModel, ...]:
    """All models, largest first."""
    found = [models.get(key) for key in models.names()]
    return tuple(sorted(found, key=lambda model: -model.parameters.si))


def hold(entry: dict[str, Any]) -> None:
    """Refuse an entry of the possibility guard that cannot be."""
    if found := guard.faults([entry]):
        raise ExtensionError("; ".join(found))


@cache
def shared(model: str, dtype: str, cache: str) -> tuple[Fit, Work]:
    """Memory needed and work of a step, the same on every device with such a cache."""
    any_device = next(d for d in all_devices() if d.fields["memory_capacity"])
    asked = {"dtype": dtype, "kv_dtype": cache, "context": CONTEXT}
    fit = roofline.fit_memory(model, on=any_device, **asked)
    work = roofline.decode_work(models.get(model), **asked)
    return fit, work


@cache
def all_devices() -> tuple[Accelerator, ...]:
    """Every published device; *this machine* has pages of its own."""
    keys = [key for key in hardware.names() if key != hardware.THIS_MACHINE]
    return tuple(hardware.get(key) for key in keys)


def tried(
    device: Accelerator, model: LanguageModel, dtype: str
) -> tuple[Fit, DecodeStep | None]:
    """Whether a model fits one device, and its step where that has a speed.

    What ``roofline.decode_step`` gives, with the part that is the same on every
    device counted once.
    """
    like, work = shared(model.key, dtype, way(dtype).cache_on(device.formats))
    have = device.memory_capacity
    fit = replace(like, fits=bool(like.need <= have), have=have, device=device.short)
    known = dtype in device.formats and device.fields["memory_bandwidth"] is not None
    if not (fit.fits and known):
        return fit, None
    limits = roofline.bound_on(work, device)
    return fit, DecodeStep(work, fit, limits, Quantity(1, label="batch"))


def speed(step: DecodeStep, device: Accelerator, name: str, sheet: Sheet) -> str:
    """Tokens a second that open to what is read and how fast."""
    rate, peak = step.tokens_per_s, device.peak(step.work.dtype)
    parts = (step.bytes, device.memory_bandwidth, step.operations, peak)
    tree = {
        "formula": "1 / max(bytes moved / bandwidth, operations / peak)",
        "inputs": [leaf(part) for part in parts],
        "evidence": "predicted",
    }
    waits = "memory" if step.bound == "memory" else "arithmetic"
    what = f"Upper bound; it waits for {waits}."
    return sheet.number(name, rate, rate.text(digits=3), what, tree)


def need(fit: Fit, name: str, sheet: Sheet) -> str:
    """The memory needed by what does not fit, which opens to the sum."""
    parts = [leaf(part) for part in (fit.weights, fit.kv, fit.have)]
    tree = {"formula": "weights + KV", "inputs": parts, "evidence": "predicted"}
    what = f"Does not fit: {fit.explanation}."
    number = sheet.number(name, fit.need, fit.need.text("GB", 3), what, tree)
    return f'<span class="st-infeasible">needs {number}</span>'


def guard_row(
    device: Accelerator, label: str, dtype: str, fit: Fit, step: DecodeStep | None
) -> dict[str, Any]:
    """What the possibility guard is told of a cell."""
    values = {"need": guard.cell(fit.need, role="resident")}
    if step is not None:
        values["time"] = guard.cell(step.time)
        values["bytes"] = guard.cell(step.bytes)
        values["operations"] = guard.cell(step.operations)
    return guard.row(
        label,
        values,
        device=device.key,
        dtype=dtype,
        feasible=fit.fits,
        evidence="predicted",
    )


def run_cell(
    device: Accelerator, model: LanguageModel, dtype: str, sheet: Sheet, name: str
) -> tuple[str, dict[str, Any]]:
    """Speed, memory needed, or what is unknown; and the guard's row."""
    fit, step = tried(device, model, dtype)
    if not fit.fits:
        cell = need(fit, name, sheet)
    elif dtype not in device.formats:
        why = f"no {dtype} rate" if device.formats else "rates unknown"
        cell = f'<span class="st-unknown">fits; {why}</span>'
    elif step is None:
        cell = '<span class="st-unknown">fits; bandwidth unknown</span>'
    else:
        cell = speed(step, device, name, sheet)
    return cell, guard_row(device, f"{model.key} {dtype}", dtype, fit, step)


def runs_table(device: Accelerator, sheet: Sheet) -> tuple[str, dict[str, Any]]:
    """Models down, formats across; and the guard's entry."""
    rows, told = [], []
    for model in by_size():
        cells = [link(f"../models/{model.key}.html", model.name)]
        for dtype in FORMATS:
            name = f"run.{model.key}.{dtype}"
            cell, row = run_cell(device, model, dtype, sheet, name)
            cells.append(cell)
            told.append(row)
        rows.append(cells)
    caption = f"Decode on one {device.short}: tokens a second at best"
    body = table(caption, ("Model", *FORMATS), rows, "runs-table")
    return body, guard.entry("table", "runs", told)
