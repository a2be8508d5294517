"""Section 4.6: Why did attention need four versions?"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from stacklib import hardware
from stacklib.evidence import ledger, measurements
from stacklib.evidence.calibrate.left_out import unseen
from stacklib.evidence.predict.attention import attention_of, software_of
from stacklib.evidence.systems import device_of
from stacklib.evidence.validate import Validation, validate
from stacklib.kernels.plan.published import gain
from stacklib.kernels.schedule import generations as g
from stacklib.kernels.schedule.rates import TileWork, rates_of, tile_work
from stacklib.kernels.schedule.rules import RULES, TileTime, tile_time
from stacklib.pages.figures_of import measured, published
from stacklib.pages.kernels import attention
from stacklib.pages.kernels.generations import claims
from stacklib.quantity import Quantity, chosen, counted, counting, one_of, quoted
from stacklib.quantity.files import held

A100, H100, B200 = "a100_sxm_80gb", "h100_sxm", "b200_sxm"
SIDE, HEAD = 128, 128  # of a tile, and numbers of a head
COMING = (
    ("rubin", "bf16", 1),
    ("rubin", "bf16", 2),
    ("rubin", "fp8", 1),
    ("rubin", "fp8", 2),
    ("mi455x", "bf16", 1),
    ("mi455x", "fp8", 1),
)
FA3_CAUSAL = "B-0230"  # on an H100: 4,096 tokens, head 128, causal
FORMATS = {"fp16": "FP16", "bf16": "BF16", "fp8": "FP8"}


# -- a tile ----------------------------------------------------------------------------


def work(device: str, head_dim: int = HEAD, dtype: str = "bf16") -> TileWork:
    """Cycles that a tile keeps each unit busy, by the newest matrix instruction."""
    rates = rates_of(device, dtype)
    return tile_work(rates, rows=SIDE, columns=SIDE, head_dim=head_dim)


PARTS: dict[str, Callable[[TileWork], float]] = {
    "products": lambda w: w.scores + w.values,
    "exponentials": lambda w: w.exp,
    "FP32": lambda w: w.cores + w.rescale,
}


@counting(
    lambda part, device, head_dim: (
        f"cycles of {part}, {hardware.get(device).short}, head {head_dim}"
    )
)
def cycles(part: str, device: str, head_dim: int = HEAD) -> float:
    """The same by the part of the work."""
    return PARTS[part](work(device, head_dim))


def rate(what: str, device: str) -> Quantity:
    """What an SM does in a cycle: ``tensor`` FLOP, or ``exp``."""
    short = hardware.get(device).short
    label = f"{what} in a cycle, {short}"
    return counted(rates_of, device, take=what, label=label)


def exponentials() -> Quantity:
    """Exponentials of a tile: one a score."""
    side = chosen(SIDE, label="side of a tile")
    return (side * side).named("scores of a tile")


def even_head(device: str) -> Quantity:
    """The head size at which products and exponentials take equally long."""
    each = 4 * rate("exp", device)  # FLOP of a score, for each number of a head
    return (rate("tensor", device) / each).named("even head")


# -- generations -----------------------------------------------------------------------


@cache
def found(name: str) -> g.Generation:
    """A generation on its own device."""
    return g.generation(name)


def share(name: str) -> Quantity:
    """Predicted share of the dense peak."""
    label = f"{name}, predicted share of the peak"
    return counted(found, name, take="utilisation", label=label)


def later() -> Quantity:
    """FlashAttention-3 in BF16 as a later version of its paper has it."""
    return quoted("fa3.bf16")


def later_share() -> Quantity:
    """The same over the dense peak."""
    return (later() / hardware.get("h100_sxm").peak("bf16")).named("later share")


def said(name: str) -> Quantity:
    """The published share of the dense peak."""
    rule = RULES[name]
    return claims.of_peak(speed(name), rule.on, rule.dtype)


def claimed() -> Quantity:
    """The share that a guide puts beside the FP8 rate."""
    return ledger.get("fa3-peak-fraction").quantity()


def speed(name: str) -> Quantity:
    """The published rate."""
    rule = RULES[name]
    key = f"generations/{name}/published"
    return published(rule.published / 1e12, "TFLOP/s", name, rule.source, key)


def taken(name: str, what: str) -> Quantity:
    """``pace``, ``overlapped`` or ``ceiling`` of a generation."""
    return counted(found, name, take=what, label=f"{what} of {name}")


BINDS = {"dependence": "turns", "tensor": "tensor cores", "FP32": "FP32 lanes"}
NAMES = {
    "fa2": "FA-2",
    "fa2-h100": "FA-2",
    "fa3": "FA-3",
    "fa3-fp8": "FA-3",
    "fa4": "FA-4",
}


def rows() -> list[dict[str, Any]]:
    """Rows of the table: each generation, predicted and published."""
    return [
        {
            "version": NAMES[name],
            "device": hardware.get(RULES[name].on),
            "format": FORMATS[RULES[name].dtype],
            "predicted": share(name),
            "published": said(name),
            "what binds": BINDS[found(name).binds],
        }
        for name in NAMES
    ]


def groups(count: int) -> g.Generation:
    """FlashAttention-3's products on our head, with so many warp groups."""
    rule = replace(RULES["fa3"], dtype="bf16", head_dim=HEAD, ahead=False)
    return g.run(replace(rule, groups=count))


def busy(count: int) -> Quantity:
    """Share of the time in which tensor cores multiply, with so many groups."""
    label = f"tensor cores busy, {count} groups"
    return counted(groups, count, take="flawless", label=label)


@counting("rate with {trick} over without")
def worth(trick: str) -> float:
    """What a trick of FlashAttention-4 is worth on a B200."""
    return next(t.gain for t in g.tricks(RULES["fa4"], B200) if t.name == trick)


@counting("cycles of loads, {name}")
def reloads(name: str) -> float:
    """Cycles in which shared memory feeds the warps of a tile by ``mma.sync``."""
    return _tile(name).work.shared


@counting("cycles of products, {name}")
def multiplied(name: str) -> float:
    """Cycles of a tile's products by the instruction that a version uses."""
    return PARTS["products"](_tile(name).work)


@counting("cycles of softmax, {name}")
def softmax(name: str) -> float:
    """Cycles of a tile's softmax by a version, its sums corrected."""
    return _tile(name).softmax


def sharpness() -> Quantity:
    """How sharply products, softmax and loads of a tile join."""
    return hardware.efficiency_quantity("attention_overlap")


def _tile(name: str) -> TileTime:
    rule = RULES[name]
    return tile_time(rule, rates_of(rule.on, rule.dtype), head_dim=HEAD)


# -- who is fastest --------------------------------------------------------------------


def ahead(name: str) -> Quantity:
    """A published lead, at most, as a share."""
    row = gain(name)
    label = f"{row.what} over {row.over}, up to"
    key = f"gains/{name}/high"
    return published(row.high, "", label, row.source, key, where=row.where)


def implied() -> Quantity:
    """cuDNN over FlashAttention-4, at least, where the latter is farthest behind."""
    over = (1 + ahead("avo-fa4")) / (1 + ahead("avo-cudnn"))
    return (over - 1).named("cuDNN over FlashAttention-4, divided")


# -- the prompt ------------------------------------------------------------------------


def prompt(version: str) -> Quantity:
    """The prompt's attention by a version, on the device that it was written for."""
    return {
        "fa2": attention.tiled,
        "fa3": lambda: attention.prompt("tuned", label="by FlashAttention-3"),
        "fa4": lambda: attention.prompt("tuned", B200, label="by FlashAttention-4"),
    }[version]()


def at_published() -> Quantity:
    """FlashAttention-3 for the prompt's FLOP at its published rate."""
    rate_ = measured(FA3_CAUSAL)
    return (attention.operations() / rate_).named("at the published rate")


# -- the next --------------------------------------------------------------------------


@cache
def coming(on: str, dtype: str, exp_times: int) -> g.Next:
    """What the table says of a device that nobody has measured."""
    return g.next_generation(on, dtype, exp_times=exp_times)


def next_share(on: str, dtype: str, exp_times: int, take: str) -> Quantity:
    """``utilisation`` without a limit of power, or ``low`` with the B200's."""
    label = f"{take}, {hardware.get(on).short} {dtype}, exp x {exp_times}"
    return counted(coming, on, dtype, exp_times, take=take, label=label)


def next_speed(on: str, dtype: str) -> Quantity:
    """FLOP/s without a limit of power, with exponential units as today."""
    label = f"attention on {hardware.get(on).short}, {dtype}"
    return counted(coming, on, dtype, 1, take="rate", unit="FLOP/s", label=label)


def next_peak(on: str) -> Quantity:
    """The FP8 peak over that in BF16."""
    device = hardware.get(on)
    return (device.peak("fp8") / device.peak("bf16")).named("FP8 over BF16")


def next_rows() -> list[dict[str, Any]]:
    """Rows of the table of predictions."""
    table = []
    for case in COMING:
        told = coming(*case)
        best = max(told.tricks, key=lambda t: t.gain)
        table.append(
            {
                "device": hardware.get(case[0]),
                "format": FORMATS[case[1]],
                "exp units": ("as today", "twice")[case[2] - 1],
                "at least": next_share(*case, "low"),
                "at most": next_share(*case, "utilisation"),
                "what binds": BINDS.get(told.binds, told.binds),
                "two tiles": worth_there(*case, best.name),
            }
        )
    return table


@counting(
    lambda on, dtype, exp_times, trick: f"worth of {trick}, {(on, dtype, exp_times)}"
)
def worth_there(on: str, dtype: str, exp_times: int, trick: str) -> float:
    """What a trick is worth on such a device."""
    return next(t.gain for t in coming(on, dtype, exp_times).tricks if t.name == trick)


def made() -> str:
    """The day of the committed prediction."""
    path = held("benchmarks/predictions") / "benchmarks/predictions/attention_next.json"
    return str(json.loads(path.read_text("utf-8"))["made"])


# -- others' kernels -------------------------------------------------------------------

# folded, cross-validated
WORST = ("B-Z00743", "B-Z01183", "B-Z01565", "B-Z03321", "B-Z02429")


@cache
def judged(by: str = "") -> Validation:
    """Published attention kernels; with ``by`` each by a fit that never saw its group.

    ``by``: ``source`` or ``device``.
    """
    report = validate(r for r in measurements.fitted() if r.family == "B")
    return unseen(report, by) if by else report


@counting(lambda by, what: f"{what.replace('_', ' ')}, new {by}")
def error(by: str, what: str = "median_error") -> float:
    """An error of those predictions, relative."""
    return float(getattr(judged(by).families["B"], what))


def rows_judged(what: str) -> Quantity:
    """How many rows there are, or were ``predicted``."""
    found = judged().outcomes if what == "all" else judged().predicted
    return counted(len, found, label=f"kernels, {what}")


@counting("predicted over measured, {id}")
def off(id: str) -> float:
    """Predicted over measured, for a row whose source the fit never saw."""
    return next(o.ratio for o in judged("source").outcomes if o.row.id == id)


def flop_rates() -> list[tuple[str, Quantity, float]]:
    """Class of software, rate published and predicted, each by a fit without it."""
    points = []
    for one in judged("source").predicted:
        row = one.row
        kind = software_of(row, hardware.get(device_of(row.system)[0]))
        if row.unit == "TFLOPS":
            rate_ = measured(row.id)
            points.append((kind, rate_, rate_.si * one.ratio))
        elif row.unit in ("ms", "us") and "softmax" not in row.subject.lower():
            rate_ = attention_of(row).flops * one_of("FLOP") / measured(row.id)
            points.append((kind, rate_, rate_.si / one.ratio))
    return points
