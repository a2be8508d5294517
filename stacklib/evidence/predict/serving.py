"""Family H: what serving systems report of requests, drafts and caches.

Predicted is what a closed form gives from what the row says: speed-ups of drafts by
their acceptance and the sizes of both models, how full blocks of a cache are, and a
share of two counts. Waits of a trace of requests are simulated (``waits``). A ratio of
two engines needs a model of both; an acceptance is a property of two models on a text:
these are refused with that reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from stacklib.paged_kv.reserve import filled
from stacklib.quantity import quoted
from stacklib.serving.speculation.formula import speedup

from ..measurements import Measurement, Refusal, number
from .registry import PREDICTORS, Forecast, Predict
from .waits import waited

_SIZE = re.compile(r"\b(\d+(?:\.\d+)?)\s?([bm])\b")
_ALPHA = re.compile(r"\b(?:alpha|acceptance)\s?=\s?(0?\.\d+)")
_COUNTS = re.compile(r"(\d+(?:\.\d+)?)\s?([bmk]?) of (\d+(?:\.\d+)?)\s?([bmk]?)\b")
_SCALES: Mapping[str, float] = {"b": 1e9, "m": 1e6, "k": 1e3, "": 1.0}
_DRAFTS = range(1, 17)  # lengths among which the authors of a row have chosen
_WAITS = ("ttft", "latency", "tpot", "itl", "e2e")
_BLOCK = 16  # tokens: vLLM's, where a row does not say
_WHY = {
    "acceptance": "how often a draft is kept is measured on a text, not computed",
    "input_tokens": "how many tokens a service reads is its users' doing",
    "decode_speed": "no acceptance of the draft is given, or no device",
    "cost": "config gives neither the price of an hour nor tokens per second",
    "ratio": "a ratio to an engine that is not modelled",
    "max_gain": "config gives no load of experts to overlap or balance",
    "speedup": "config gives no acceptance and no load that a speed-up follows from",
}


def _drafted(row: Measurement) -> Forecast:
    """A speed-up by acceptance and sizes: a draft costs as it is large."""
    said = _ALPHA.search(f"{row.settings};{row.notes}".lower())
    sizes = [float(n) * _SCALES[unit] for n, unit in _SIZE.findall(row.subject.lower())]
    if not said or len(sizes) != 2:
        raise Refusal(_WHY["speedup"])
    acceptance, cost = number(said[1]), min(sizes) / max(sizes)
    if "gamma" in row.config:
        lengths = [row.integer("gamma")]
    else:  # the best, as who reports one chooses
        lengths = list(_DRAFTS)
    found = max(speedup(acceptance, length, cost) for length in lengths)
    return Forecast(float(found), "", "draft")


def _hits(row: Measurement) -> Forecast:
    """A share, where a row says both of its counts."""
    said = _COUNTS.search(f"{row.settings};{row.notes}".lower())
    if not said:
        raise Refusal("config does not give 'hits of tokens'")
    part, whole = (number(said[i]) * _SCALES[said[i + 1] or said[4]] for i in (1, 3))
    return Forecast(part / whole, "", "count")


def _filled(row: Measurement) -> Forecast:
    """How much of a paged cache holds tokens, requests of ShareGPT half written."""
    prompt, answer = (
        quoted(f"vllm_paper.sharegpt_{part}").si for part in ("input", "output")
    )
    block = row.integer("block", _BLOCK)
    return Forecast(float(filled(prompt + answer / 2, block)), "", "blocks")


def prepare(row: Measurement) -> Predict:
    """A row of a serving system ready to be predicted."""
    metric, subject = row.metric, row.subject.lower()
    if metric.startswith(_WAITS):
        found = waited(row)
    elif metric == "speedup":
        found = _drafted(row)
    elif metric == "kv_cache_hit_rate":
        found = _hits(row)
    elif metric == "ratio" and subject.startswith("vllm kv memory"):
        found = _filled(row)
    else:
        known = [why for start, why in _WHY.items() if metric.startswith(start)]
        raise Refusal(known[0] if known else f"no model of serving for {metric!r}")
    return lambda: found


PREDICTORS["H"] = prepare
