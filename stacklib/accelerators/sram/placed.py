"""A model laid out on chips: its token's account by bandwidth, peak and links alone.

A token passes ``stages`` one after the other; of all chips a stage has its share, and
the others have nothing to do for this token meanwhile. So one sequence sees

    time = stages x max(bytes / (chips x bandwidth), operations / (chips x peak))

One stage is tensor parallelism: all chips share every matrix. Where a layer's weights
lie in a part of the machine and are used where they lie, there are as many stages as
layers. Others' tokens fill the rest: with one in each stage all chips work.
"""

from __future__ import annotations

from math import ceil
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.models.weights.kept import way_of
from stacklib.quantity import Quantity, chosen, counted
from stacklib.quantity import dtype as find_dtype
from stacklib.quantity.bounds import whole
from stacklib.quantity.stored import products
from stacklib.roofline.work.bounds import device_of
from stacklib.roofline.work.fit import model_of
from stacklib.serving.token.lines import Account, Line
from stacklib.serving.token.shape import ATTENTION, HEAD, NORMS, PRODUCTS, shape_of
from stacklib.serving.token.work import (
    ACTIVATION,
    EXCHANGES,
    HOST,
    LAUNCHES,
    SAMPLING,
    SECTIONS,
    all_reduces,
    counted_work,
    line_work,
)

COVERING = (PRODUCTS, ATTENTION, NORMS, HEAD)
MODE, NOTE = "roof", "bandwidth, peaks and bytes of links alone, line after line"


def placed_account(
    model: str | LanguageModel,
    on: str | Accelerator,
    dtype: str | Quantity | None = None,
    *,
    chips: int,
    stages: int,
    batch: int = 1,
    context: int = 4096,
    kv_dtype: str | Quantity | None = None,
) -> Account:
    """The lines of a decode step on chips of any kind; whether it fits is not asked.

    - ``chips``, ``stages``: all chips, and groups of them that take turns
    - ``batch``: sequences, spread evenly over the stages
    - other arguments as ``serving.account`` takes them
    - raises ``UnknownSpec`` for a chip without a rate for the products
    """
    whole(chips=chips, stages=stages, batch=batch)
    whole(0, context=context)
    batch, context = int(batch), int(context)  # NumPy's narrow numbers run over
    held, device = model_of(model), device_of(on)
    way = way_of(held, dtype)
    run = products(way.numbers, device.formats).name
    cached = way.cache_on(device.formats) if kv_dtype is None else kv_dtype
    peak = device.peak(run)
    many = chosen(chips, label="chips")
    rate, peak = device.memory_bandwidth.across(many), peak.across(many)
    turns = chosen(stages, label="stages")
    rows, tp = ceil(batch / stages), ceil(chips / stages)
    shape = shape_of(held, dtype, cached)
    asked: dict[str, Any] = {"dtype": dtype, "kv_dtype": cached, "tp": tp}
    asked |= {"batch": rows, "context": context}
    operation = find_dtype(run).operation
    lines = []
    for name in COVERING:
        work = counted_work(line_work, name, operation, held, name, **asked)
        moved, flops, beside = work
        passed = moved + beside if name == NORMS else moved
        timed: dict[str, Any] = {
            "t_bytes": turns * passed / rate,
            "t_arithmetic": turns * flops / peak,
        }
        covers = shape.parts[name].covers
        counts: dict[str, Any] = {"bytes": moved, "operations": flops}
        lines.append(Line(name, SECTIONS[name], **counts, **timed, covers=covers))
    lines.insert(3, Line(LAUNCHES, SECTIONS[LAUNCHES], note="none counted"))
    lines.insert(4, exchanged(held, device, chips, stages, rows))
    lines += [Line(n, SECTIONS[n], note="not counted") for n in (SAMPLING, HOST)]
    title = f"a token of {held.key}, {chips} x {device.short}"
    return Account(title, MODE, tuple(lines), shape.work, NOTE)


def sent_bytes(model: LanguageModel, chips: int, stages: int, rows: int) -> float:
    """Bytes that leave the busiest chip of each stage while a token passes them all.

    - ``rows``: sequences that pass together

    Chips of a stage add up their parts after each half of a layer, 2 (p - 1) / p of a
    row out of each of p; then the row goes to the next stage, if another chip has it.
    """
    whole(chips=chips, stages=stages, rows=rows)
    row, share = rows * model.hidden * ACTIVATION, ceil(chips / stages)
    adding = all_reduces(model) * 2 * (share - 1) / share
    return row * (adding + min(chips, stages) - 1)


def exchanged(
    model: LanguageModel, device: Accelerator, chips: int, stages: int, rows: int
) -> Line:
    """What crosses links, by bytes alone; without a time where no link is published."""
    section, link = SECTIONS[EXCHANGES], device.fields.get("link")
    link = link or device.fields.get("host_link")
    if chips == 1 or link is None:
        note = "one chip" if chips == 1 else "no link is published"
        return Line(EXCHANGES, section, note=note)
    asked = (model, chips, stages, rows)
    sent = counted(sent_bytes, *asked, unit="B", label="bytes over links")
    time = sent / link.across(1)
    return Line(EXCHANGES, section, beside=sent, t_fixed=time, note="bytes alone")
