"""Section 10.6: What if the memory multiplies?"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache
from typing import Any

from stacklib import frontier, models, serving
from stacklib.evidence import runs
from stacklib.frontier import analog, in_dram, named_bets
from stacklib.frontier.in_dram import InMemory
from stacklib.pages.chain.posts import CONTEXT, DEVICE, MODEL, TP, WEIGHTS
from stacklib.quantity import Quantity, chosen, counted, counting
from stacklib.quantity.constants import case
from stacklib.quantity.records import recorded, stored

FILE = "benchmarks/results/frontier.json"
TOLD = "benchmarks/predictions/frontier.json"
ROWS, CONVERTER = case("bitline"), 8  # cells on a bitline, and bits of its ADC
NARROW, WIDE, WHOLE = 4, 8, 16  # deviations to either side that an ADC reads
WIDTHS = (10, 8, 7, 6, 5, 4, 3)  # bits that were tried
BREAKS = 0.05  # more bits a byte than the model needs in digital
MATRIX, BATCHES = (8192, 8192), (1, 2, 4, 64)
SEEDS = 5
SPIKES = {
    "steps": "spikes: steps until as many digits are read",
    "additions_each": "spikes: additions for each product",
    "joules": "spikes: joules over those of products",
}


def given(value: float, label: str, unit: str = "") -> Quantity:
    """What the page chose."""
    return chosen(value, unit, label=label)


def foretold(row: str, field: str, label: str, unit: str = "") -> Quantity:
    """A number of the prediction, committed before anything was run."""
    source = recorded(FILE, "plain", "bits_a_byte/0").source
    assert source is not None
    told = replace(source, title=TOLD, where="committed before the run")
    return runs.foretold(stored(TOLD, row, field), unit, label, told)


# -- a bitline -------------------------------------------------------------------------


def lost(adc: int, reach: float = NARROW) -> Quantity:
    """Share of a product that rounding takes."""
    return counted(analog.lost, adc, reach, label="share that rounding takes")


def cost(adc: int, reach: int = NARROW, at: int = 0, noise: float = 0.0) -> Quantity:
    """Bits a byte that it cost the small model; ``at``: 1 and 2 are the ends."""
    name = f"adc-{adc}-reach-{reach}" + (f"-noise-{noise:g}" if noise else "")
    return recorded(FILE, name, f"loss/{at}", unit="bit/B", label=f"cost of {name}")


def told_cost(adc: int) -> Quantity:
    """The same as foretold."""
    words = f"foretold, {adc} bits"
    return foretold(f"adc-{adc}", "bits_a_byte", words, "bit/B")


def plain() -> Quantity:
    """Bits a byte of the small model itself."""
    return recorded(FILE, "plain", "bits_a_byte/0", unit="bit/B", label="in digital")


def breaks(reach: int = NARROW) -> Quantity:
    """The most bits with which it still breaks."""
    row = "analog-breaks" + (f"-reach-{reach}" if reach != NARROW else "")
    return recorded(FILE, row, "adc", label=f"bits that break it, reach {reach}")


def deviations() -> Quantity:
    """Of a sum whose inputs all look like its column: no sum is larger."""
    return (given(ROWS, "cells on a bitline") ** 0.5).named("largest sum")


def told_break() -> Quantity:
    """Bits that were foretold to break the model."""
    return foretold("analog-breaks", "adc", "bits foretold to break it")


@cache
def sums() -> tuple[Any, Any]:
    """Bitline sums of the small model on a text, in deviations, without their signs.

    Then the same with the weights of each bitline in another order.
    """
    import numpy as np

    from stacklib.tinylm import load
    from stacklib.tinylm.corpus import evaluation_text

    seen: list[tuple[Any, Any]] = []
    random = np.random.default_rng(0)

    class Seen(analog.Crossbar):
        def converted(self, sums: Any, read: Any, block: Any) -> Any:
            wide = (read**2).sum(axis=-1, keepdims=True) * (block**2).mean(axis=1)
            wide = np.sqrt(np.where(wide, wide, 1))
            turned = read @ random.permuted(block, axis=1).T
            seen.append((np.abs(sums / wide).ravel(), np.abs(turned / wide).ravel()))
            return super().converted(sums, read, block)

    model = load()
    made = analog.in_analog(model, adc=24, rows=ROWS, reach=WHOLE)
    kept = {
        name: Seen(*(getattr(w, f.name) for f in fields(w)))
        if isinstance(w, analog.Crossbar)
        else w
        for name, w in made.weights.items()
    }
    ids = model.tokenizer.encode(evaluation_text()[0].text)
    replace(made, weights=kept).logits(np.array(ids[:256]))
    own, turned = (np.concatenate(found) for found in zip(*seen, strict=True))
    return own, turned


@counting("share of the model's sums beyond {reach} deviations")
def beyond(reach: float, turned: bool = False) -> float:
    """What a converter of that range cuts; ``turned``: with weights in other places."""
    return float((sums()[turned] > reach).mean())


@counting("the same of sums that have nothing to do with each other")
def normal(reach: float) -> float:
    """Both tails of the bell."""
    return math.erfc(reach / math.sqrt(2))


@counting("the model's largest sum, in deviations")
def largest() -> float:
    """On that text."""
    return float(sums()[0].max())


@counting("share of a product that a range of {reach} deviations cuts off")
def cut(reach: float) -> float:
    """By root mean square, as rounding is told."""
    own, _ = sums()
    over = (own - reach).clip(0)
    return float(((over**2).sum() / (own**2).sum()) ** 0.5)


def conversion() -> Quantity:
    """Joules of one conversion of that many bits."""
    one = analog.product_energy(CONVERTER, 1)
    return one.named("energy of a conversion")


def bits_in() -> Quantity:
    """What the rows of a bitline are given at once."""
    width = given(analog.INPUT_BITS, "bits of an input", "bit")
    return (given(ROWS, "rows") * width).named("bits in")


# -- products in the memory ------------------------------------------------------------


@cache
def inside(batch: int) -> InMemory:
    """A matrix of the model's size times so many vectors, on an H100."""
    return frontier.in_memory(*MATRIX, batch, on=DEVICE)


def row(batch: int) -> dict[str, Any]:
    """That product in both places."""
    found = inside(batch)
    return {
        "vectors": given(batch, "vectors"),
        "read out": found.outside.to("µs"),
        "in the banks": found.inside.to("µs"),
        "times as fast": found.times,
        "energy, read out": found.outside_energy.to("mJ"),
        "energy, in the banks": found.inside_energy.to("mJ"),
    }


def token_read(where: str) -> Quantity:
    """Joules of a token's weights: read ``outside``, or ``inside`` the banks."""
    size = models.get(MODEL).read_bytes(1, "bf16")
    part = chosen(2, "B", label="bytes of a weight") * math.prod(MATRIX)
    each = getattr(inside(1), f"{where}_energy") / part
    return (each * size).to("J").named(f"a token's weights, {where}")


def token_products(each: Quantity, label: str) -> Quantity:
    """Joules of a token's products, each at so many."""
    size = models.get(MODEL).read_bytes(1, "bf16")
    return (each * (size / chosen(2, "B", label="bytes of a weight"))).named(label)


def weights_time(inside: bool = False) -> Quantity:
    """The weights of a token that is alone; in the banks, over their gain."""
    parts = serving.estimate(MODEL, DEVICE, dtype="bf16", tp=TP, context=CONTEXT).parts
    first, last = (part.time for part in parts if part.name in WEIGHTS)
    whole = first + last
    told = whole / in_dram.gain() if inside else whole
    return told.to("ms").named("a token's weights, alone")


# -- the four outcomes, and the bets ---------------------------------------------------


def spikes(field: str, at: int = SEEDS // 2) -> Quantity:
    """Over five seeds: the middle one, or that at a place of the order."""
    found = [recorded(FILE, f"spiking-{s}", field, label=field) for s in range(SEEDS)]
    return sorted(found, key=lambda q: q.si)[at]


def volume(share: str) -> Quantity:
    """Chips that pay for a design, at ``p5``, ``p50`` and ``p95`` of the draws."""
    return recorded(FILE, "asic", share, label=f"chips, {share}")


def outcome(what: str, told: Quantity, *found: Quantity) -> dict[str, Any]:
    """A row: the middle of what was found, and its ends."""
    low, middle, high = found if len(found) == 3 else found * 3
    ratio = (middle / told).named("found over foretold")
    return {
        "experiment": what,
        "foretold": told,
        "found": middle,
        "low": low,
        "high": high,
        "found over foretold": ratio,
    }


def outcomes() -> list[dict[str, Any]]:
    """All four experiments: what was committed first, and what came."""
    loses = counted(in_dram.loses_from, *MATRIX, label="batch that loses")
    batch = foretold("in-memory", "loses_from", "batch foretold")
    rows = [
        outcome("analog: most ADC bits that break it", told_break(), breaks()),
        outcome("in the banks: batch that loses", batch, loses),
    ]
    for field, what in SPIKES.items():
        ends = (spikes(field, at) for at in (0, SEEDS // 2, SEEDS - 1))
        rows.append(outcome(what, foretold("spiking", field, field), *ends))
    told = foretold("asic", "volume", "volume foretold")
    ends = (volume(share) for share in ("p5", "p50", "p95"))
    return [*rows, outcome("own chip: volume that pays", told, *ends)]


def bets() -> list[dict[str, Any]]:
    """What would have to be true for each named bet, and what is."""
    return [
        {
            "bet": bet.name,
            "what would have to be true": bet.needs,
            "wanted": bet.wanted,
            "today": bet.today,
            "holds": "yes" if bet.holds else "no",
        }
        for bet in named_bets.bets()
    ]
