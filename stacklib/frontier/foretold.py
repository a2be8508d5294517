"""What the book's models say of facts that nobody has measured yet.

Each row is a statement with a threshold; a model gives a value with the ends of nine in
ten, by the printed band of its family where there is one, by its own misses where they
are known, by the scatter around a trend else. ``rows`` computes the list anew:
``benchmarks/predict_watch.py`` froze it, and what was frozen is what is scored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from stacklib import cost, hardware, models
from stacklib.kernels.schedule.generations import next_generation
from stacklib.quantity import quoted
from stacklib.quantity.files import held
from stacklib.roofline.bound.trend import Trend, fit_trend, student_t
from stacklib.serving import estimate

from .factor_tree import generation
from .meters import metered
from .watching import NINE, SURE, chance
from .waterfall import journey

DUE, LATER = "2027-12-31", "2028-12-31"
ATTENTION = "benchmarks/predictions/attention_next.json"
FLAGSHIPS = ("p100_sxm2", "v100_sxm2_16gb", "a100_sxm_80gb", "h100_sxm", "b200_sxm")
NEXT = 2028
MOST = 0.99  # no band is so well known that it promises more
NEW, NOW = "rubin", "b200_sxm"


@dataclass(frozen=True, slots=True)
class Value:
    """What a model says: a number and the ends between which nine in ten lie."""

    value: float
    low: float
    high: float

    @classmethod
    def spread(cls, value: float, sigma: float) -> Value:
        """Of a standard deviation of its logarithm."""
        reach = math.exp(NINE * sigma)
        return cls(value, value / reach, value * reach)


@dataclass(frozen=True, slots=True)
class Row:
    """A forecast to be made."""

    id: str
    due: str
    statement: str
    settles: str
    model: str
    value: Value
    naive: float  # the naive number, on the same scale
    naive_says: str
    at_least: float | None = None
    at_most: float | None = None

    def frozen(self, made: str) -> dict[str, Any]:
        """As the file has it."""
        ends = {"at_least": self.at_least, "at_most": self.at_most}
        v = self.value
        given = chance(v.value, v.low, v.high, **ends)
        low = self.at_least is None or self.naive >= self.at_least
        high = self.at_most is None or self.naive <= self.at_most
        return {
            "id": self.id,
            "made": made,
            "due": self.due,
            "statement": self.statement,
            "settles": self.settles,
            "model": self.model,
            "probability": round(min(max(given, 1 - MOST), MOST), 3),
            "naive": SURE if low and high else round(1 - SURE, 3),
            "naive_says": self.naive_says,
            "value": float(f"{v.value:.4g}"),
            "low": float(f"{v.low:.4g}"),
            "high": float(f"{v.high:.4g}"),
        }


# -- models ----------------------------------------------------------------------------


def _foretold() -> dict[str, Any]:
    path = held(ATTENTION) / ATTENTION
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def misses(known: dict[str, Any]) -> tuple[float, float]:
    """Mean and standard deviation of log published over predicted, of known kernels."""
    logs = [math.log(k["published"] / k["utilisation"]) for k in known.values()]
    return fmean(logs), stdev(logs) * math.sqrt(1 + 1 / len(logs))


def attention(device: str, dtype: str) -> tuple[Value, float, float]:
    """A rate of attention: both guesses at the exponentials, and both ends of each."""
    told = _foretold()
    bias, sigma = misses(told["known"])
    rows = [r for r in told["coming"] if (r["device"], r["dtype"]) == (device, dtype)]
    ends = [x for row in rows for x in row["flop_per_s"]]
    logs = [math.log(x) for x in ends]
    value = math.exp(fmean(logs) + bias)
    return (
        Value.spread(value, math.hypot(sigma, stdev(logs))),
        min(ends),
        max(ends),
    )


def ratio(model: str, old: str, new: str, **asked: Any) -> Value:
    """How many times as fast a step is: two estimates, whose errors are their own."""
    before, after = (estimate(model, on, **asked) for on in (old, new))
    band = before.error
    assert band is not None and band.low
    sigma = math.log(band.high / band.low) / (2 * NINE)
    return Value.spread(before.tpot.si / after.tpot.si, math.sqrt(2) * sigma)


def step(model: str, on: str, **asked: Any) -> Value:
    """Seconds of a token, with the printed band."""
    found = estimate(model, on, **asked)
    band = found.error
    assert band is not None and band.low
    time = found.tpot.si
    return Value(time, time * band.low, time * band.high)


def trended(years: list[float], rates: list[float], year: float) -> Value:
    """A device of another year: the line, and how far devices lie from it."""
    found: Trend = fit_trend(years, rates)
    middle, level, slope, variance, across, n = found.line
    away = year - middle
    sigma = math.sqrt(variance * (1 + 1 / n + away * away / across))
    reach = math.exp(student_t(n - 2, 0.9) * sigma)
    value = math.exp(level + slope * away)
    return Value(value, value / reach, value * reach)


def flagships(read: Callable[[Any], float], year: float = NEXT) -> Value:
    """Of NVIDIA's next chip but one, by the line through five."""
    chips = [hardware.get(key) for key in FLAGSHIPS]
    return trended([float(c.year) for c in chips], [read(c) for c in chips], year)


def rents(device: str, year: float) -> Value:
    """What an hour is rented for, by the line through its quotes."""
    quotes = cost.prices(device, "cloud")
    years = [_year(q.date) for q in quotes]
    return trended(years, [q.value.to("USD/h").value for q in quotes], year)


def _year(text: str) -> float:
    parts = [int(part) for part in text.split("-")]
    return parts[0] + ((parts[1] - 0.5) / 12 if len(parts) > 1 else 0.5)


def written(device: str, chips: int, batch: int) -> Value:
    """Joules of a 70B's written token: a journey, by what meters showed of others."""
    seen = [r for r in metered() if r.model == "llama-3.1-70b" and r.batch < 200]
    logs = [math.log(r.joules / r.predicted.middle.si) for r in seen]
    found = journey("llama-3.1-70b", device, "bf16", chips, batch, 634, new=352)
    assert found.metered is not None
    sigma = stdev(logs) * math.sqrt(1 + 1 / len(logs))
    return Value.spread(found.metered.middle.si * math.exp(fmean(logs)), sigma)


def activated() -> Value:
    """Share of parameters that a token passes, in open models of over 200 billion."""
    found = [models.get(name) for name in models.names()]
    shares = [
        math.log((m.active_parameters / m.parameters).si)
        for m in found
        if m.experts is not None and m.parameters.si > 200e9
    ]
    spread = stdev(shares) * math.sqrt(1 + 1 / len(shares))
    return Value.spread(math.exp(fmean(shares)), spread)


# -- the list --------------------------------------------------------------------------


def rows() -> Iterator[Row]:
    """The list, in its order."""
    yield from _attention()
    yield from _decode()
    yield from _trends()


def _attention() -> Iterator[Row]:
    told = _foretold()["known"]["fa4"]["published"]
    for device, name in (("rubin", "Rubin"), ("mi455x", "MI455X")):
        for dtype in ("bf16", "fp8"):
            value, low, high = attention(device, dtype)
            peak = hardware.get(device).peak(dtype).si
            yield Row(
                f"attention-{device}-{dtype}",
                DUE,
                f"The first published forward rate of attention on {name} in "
                f"{dtype.upper()}, long prompts, head size 128, lies from "
                f"{low / 1e15:.3g} to {high / 1e15:.3g} PFLOP/s.",
                "a paper, release or blog of the kernel's authors, with the dense peak",
                "kernels.schedule.generations.next_generation",
                value,
                told * peak,
                "the share of the peak that FlashAttention-4 reaches on B200",
                low,
                high,
            )
    value = Value.spread(
        next_generation("b300_sxm").rate / next_generation(NOW).rate,
        math.sqrt(2) * misses(_foretold()["known"])[1],
    )
    yield Row(
        "attention-b300",
        DUE,
        "The best published BF16 forward rate of attention on B300, head size 128, is "
        "at most 1.1 times the best on B200.",
        "a table with both chips, or a release of FlashAttention",
        "kernels.schedule.generations.next_generation",
        value,
        1.0,
        "the ratio of the BF16 peaks",
        at_most=1.1,
    )


def _decode() -> Iterator[Row]:
    where = "InferenceX, MLPerf or a vendor's blog with both chips in one table"
    hbm = generation()["HBM"].low.si
    bytes_ = "the ratio of HBM bandwidths"
    dense: dict[str, Any] = {"tp": 8}
    for id, words, asked, most in (
        ("rubin-70b-16bit", "16 bits", {"dtype": "bf16"}, 2.0),
        ("rubin-70b-fp4", "FP4", {"dtype": "nvfp4"}, 1.5),
    ):
        yield Row(
            id,
            DUE,
            f"Eight Rubin decode one sequence of a dense 70B model in {words} at most "
            f"{most:g} times as fast as eight B200.",
            where,
            f"serving.estimate('llama-3-70b', 'rubin', {asked['dtype']!r}, tp=8)",
            ratio("llama-3-70b", NOW, NEW, **dense, **asked),
            hbm,
            bytes_,
            at_most=most,
        )
    experts: dict[str, Any] = {"tp": 1, "ep": 8, "batch": 512, "context": 2048}
    served = ratio("deepseek-v3", NOW, NEW, **experts)
    yield Row(
        "rubin-deepseek",
        DUE,
        "DeepSeek-V3 or R1 in FP8 on eight Rubin at 64 sequences a chip writes at "
        "least twice the tokens of eight B200.",
        where,
        "serving.estimate('deepseek-v3', 'rubin', ep=8, batch=512, context=2048)",
        served,
        hbm,
        bytes_,
        at_least=2.0,
    )
    yield Row(
        "rubin-ten-times-cheaper",
        LATER,
        "A benchmark by others than NVIDIA shows a token on Rubin at a tenth of the "
        "dollars or less that it costs on B200, same model, format and speed per user.",
        "InferenceX or a paper, with prices of both",
        "serving.estimate('deepseek-v3', ...), at equal prices of the chips",
        served,
        10.0,
        "the announcement",
        at_least=10.0,
    )
    single: dict[str, Any] = {"batch": 64}
    yield Row(
        "rubin-gpt-oss",
        DUE,
        "One Rubin serves gpt-oss-120b to 64 sequences at least 1.75 times as fast as "
        "one B200.",
        where,
        "serving.estimate('gpt-oss-120b', 'rubin', batch=64)",
        ratio("gpt-oss-120b", NOW, NEW, **single),
        hbm,
        bytes_,
        at_least=1.75,
    )
    token = step("gpt-oss-120b", NEW, **single)
    yield Row(
        "rubin-gpt-oss-token",
        DUE,
        "gpt-oss-120b on one Rubin at 64 sequences: a token in at most 8 ms.",
        where,
        "serving.estimate('gpt-oss-120b', 'rubin', batch=64).tpot",
        token,
        estimate("gpt-oss-120b", NOW, **single).tpot.si / hbm,
        "B200's time over the ratio of HBM bandwidths",
        at_most=8e-3,
    )
    yield Row(
        "rubin-small-model",
        DUE,
        "A dense 8B model in 16 bits on one Rubin takes at least 1.5 ms a token, one "
        "sequence, without a draft.",
        where,
        "serving.estimate('llama-3.1-8b', 'rubin', 'bf16').tpot",
        step("llama-3.1-8b", NEW, dtype="bf16"),
        estimate("llama-3.1-8b", NEW, "bf16", mode="limit").tpot.si,
        "the roofline and its launches",
        at_least=1.5e-3,
    )
    yield Row(
        "b300-like-b200",
        DUE,
        "One sequence of a dense 70B in FP8 on eight B300 is at most 1.15 times as "
        "fast as on eight B200.",
        where,
        "serving.estimate('llama-3-70b', 'b300_sxm', 'fp8_128x128', tp=8)",
        ratio("llama-3-70b", NOW, "b300_sxm", dtype="fp8_128x128", **dense),
        1.0,
        bytes_,
        at_most=1.15,
    )
    yield Row(
        "mi355x-like-b200",
        DUE,
        "A dense 70B in FP8 at 64 sequences on four MI355X takes from 0.8 to 1.25 "
        "times what it takes on four B200.",
        where,
        "serving.estimate('llama-3-70b', 'mi355x', 'fp8_128x128', tp=4, batch=64)",
        ratio("llama-3-70b", "mi355x", NOW, dtype="fp8_128x128", tp=4, batch=64),
        1.0,
        "the ratio of HBM bandwidths",
        0.8,
        1.25,
    )
    yield Row(
        "rubin-joules",
        LATER,
        "A dense 70B in 16 bits on two Rubin at 8 sequences takes at most 3 J of GPU "
        "power a written token.",
        "the ML.ENERGY leaderboard, or a table by its method",
        "frontier.journey('llama-3.1-70b', 'rubin', 'bf16', 2, 8, 634).metered",
        written(NEW, 2, 8),
        next(r.joules for r in metered() if r.device == NOW and r.model[-3:] == "70b"),
        "no change from B200",
        at_most=3.0,
    )
    gains = generation()
    yield Row(
        "rubin-four-times-fewer",
        LATER,
        "A published training of a mixture of experts takes at most a quarter of the "
        "Rubin GPUs that it takes of B200, same time and tokens.",
        "MLPerf Training, or a paper with both chips",
        "frontier.factor_tree.generation(): from the 16-bit to the FP4 ratio",
        Value(
            math.sqrt(gains["bf16"].low.si * gains["fp4"].low.si),
            gains["bf16"].low.si,
            gains["fp4"].low.si,
        ),
        4.0,
        "the announcement",
        at_least=4.0,
    )


def _trends() -> Iterator[Row]:
    sheet = "NVIDIA's data sheet of a chip sold in 2028"
    chip = hardware.get(NEW)
    for id, words, unit, scale, least, read in (
        ("bandwidth-2028", "moves", "TB/s", 1e12, 30, lambda c: c.memory_bandwidth.si),
        ("peak-2028", "has", "PFLOP/s of dense FP16", 1e15, 6, lambda c: _fp16(c)),
        ("power-2028", "may draw", "kW", 1e3, 2, lambda c: c.tdp.si),
        ("memory-2028", "holds", "GB", 1e9, 500, lambda c: c.memory_capacity.si),
    ):
        value = flagships(read)
        naive = read(hardware.get(NOW) if id == "power-2028" else chip)
        yield Row(
            id,
            LATER,
            f"NVIDIA's largest GPU package sold in 2028 {words} at least {least:g} "
            f"{unit}.",
            sheet,
            "roofline.bound.trend.fit_trend over five flagships",
            value,
            naive,
            "no change from the newest whose figure is known",
            at_least=least * scale,
        )
    for device, most in (("h100_sxm", 2.0), ("h200_sxm", 3.0)):
        quotes = sorted(q.value.to("USD/h").value for q in cost.prices(device, "cloud"))
        yield Row(
            f"rent-{device.split('_')[0]}",
            DUE,
            f"The middle of five on-demand quotes of an {hardware.get(device).short} "
            f"at the end of 2027 is at most {most:g} dollars an hour.",
            "five public price lists on 31 December 2027",
            f"roofline.bound.trend.fit_trend over cost.prices({device!r}, 'cloud')",
            rents(device, 2028.0),
            quotes[len(quotes) // 2],
            "no change",
            at_most=most,
        )
    fall = [quoted(f"epoch.price_{w}").si for w in ("science", "least", "most")]
    yield Row(
        "price-of-science",
        DUE,
        "The next published estimate of how fast the price of GPT-4's score on science "
        "questions falls is at least 10 times a year.",
        "Epoch AI, or a paper by its method",
        "serving.prices.trends.published()",
        Value(*fall),
        fall[0],
        "no change",
        at_least=10.0,
    )
    value = activated()
    yield Row(
        "activated-share",
        DUE,
        "The largest open-weights model released in 2027 passes at most 4 % of its "
        "parameters a token.",
        "its config.json, counted as models.from_hf_config does",
        "models: activated over all parameters, of those over 200 billion",
        value,
        value.value,
        "the middle of those released so far",
        at_most=0.04,
    )


def _fp16(chip: Any) -> float:
    return float(chip.peak("fp16").si)
