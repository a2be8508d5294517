"""Family E: published inference, as ``serving.estimates`` predicts it.

Five kinds of rows, each with its own question: the speed of one sequence, of a prompt,
a token's time at a concurrency, the first token there, and the largest throughput. A
row is read once; what efficiency factors of other families decide is kept for the
values in force, since a fit of family E's own moves only its three.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

from stacklib.hardware import UnknownSpec
from stacklib.models.weights.kept import way_of
from stacklib.quantity import UnknownName
from stacklib.roofline.work.fit import Infeasible
from stacklib.serving.estimates import losses, steady
from stacklib.serving.estimates.asked import PASS
from stacklib.serving.token import runner
from stacklib.serving.token.shape import HEAD, PRODUCTS

from ..measurements import Measurement, Refusal, fitted
from . import queues
from .inference_rows import HELD, SHORT, Run, run_of, said
from .registry import PREDICTORS, Forecast, Predict

KINDS = ("one sequence", "served", "most", "prompt", "first token")
GIB = 2**30 / 1e9
SETTLED = 1.05  # a rate that grows by more: repeats agree within a few hundredths
GROUPS = "2025"  # from here on kernels of runners read the cache once for a group
INTEGERS = "2024-06-24"  # llama.cpp's pull request 8075: products in 8-bit integers
_TEST = re.compile(r"(pp|tg|prompt|gen)[ =]?(\d+)")


def kind_of(row: Measurement) -> str:
    """What a row asks, one of ``KINDS``.

    - raises ``Refusal`` for a metric that none of them is
    """
    name = row.metric.lower()
    if re.search(r"p9\d|max_latency|worst", name):
        raise Refusal(f"metric {row.metric!r}: a tail is the trace's, not the engine's")
    if re.search("ttft|first_token", name):
        return "first token"
    if name.startswith(("prefill", "prompt")):
        return "prompt"
    if re.search("max_|mlperf|per_node|offline", name):
        return "most"
    if re.search("tpot|itl|inter_token|per_user|e2e|request", name):
        return "served"
    alone = (said(row, *HELD) or 1.0) == 1.0
    if name == "throughput" and said(row, *HELD) is None:
        return "most"
    if "throughput" in name and (not alone or "osl" in row.config):
        return "served"
    if re.search("decode|speed|bandwidth|latency|tok|throughput", name):
        return "one sequence" if alone else "served"
    raise Refusal(f"no model of an engine for metric {row.metric!r}")


def regime(row: Measurement) -> tuple[str, ...]:
    """A row's cell: what it asks, and of what.

    Of many requests at once, whether the model has experts; of one, whether its weights
    are narrow, and of its prompt, how a runner multiplies those.
    """
    kind, run = kind_of(row), run_of(row)
    if kind in ("served", "first token"):
        return (kind,)
    if run.model.experts is not None:
        return kind, "experts"
    if kind == "most":
        return kind, "dense"
    if way_of(run.model, run.dtype).numbers:
        return kind, "wide"
    told = kind == "prompt" and runner.way(run.step.frame, kernels_of(row))
    return (kind, "narrow", told) if told else (kind, "narrow")


def reads_again(row: Measurement) -> bool:
    """Whether a runner's kernels are of before 2025: they read the cache for each head.

    MLX reads it once for a group of heads from its first release on.
    """
    said = re.search(r"\b20\d\d\b", row.software)
    year = said[0] if said else row.date[:4]
    return year < GROUPS and "mlx" not in row.software.lower()


def kernels_of(row: Measurement) -> str:
    """A runner's kernels for prompts, by when a row was published; else empty."""
    if "llama" not in row.software.lower():
        return ""
    return runner.WIDENED if "" < row.date < INTEGERS else runner.INT8


def prepare(row: Measurement) -> Predict:
    """A row ready to be predicted."""
    kind = kind_of(row)
    try:
        run = run_of(row)
        _fitting(run)
        answer = _ANSWERS[kind](row, run)
        answer()  # what other families decide is kept from here on
    except (UnknownSpec, UnknownName, Infeasible, LookupError, ValueError) as unknown:
        raise Refusal(str(unknown)) from None
    return answer


def _fitting(run: Run) -> None:
    """Refuse what cannot have run on these chips: its weights do not fit."""
    have = run.device.fields["memory_capacity"]
    chips = run.tp * run.ep * run.stages
    need = run.model.weight_bytes(run.dtype).si / chips
    if have is not None and need > GIB * have.si:  # a GB is a GiB on many a card
        raise Refusal(
            f"{need / 1e9:.4g} GB of weights > {have.si / 1e9:.4g} GB of memory per "
            "chip: some layers ran elsewhere"
        )


def _tokens(row: Measurement, word: str) -> float | None:
    """Tokens of llama-bench's test of this name."""
    for name, tokens in _TEST.findall(str(row.config.get("test", ""))):
        if name == word:
            return float(tokens)
    return None


def _context(row: Measurement) -> float:
    """Tokens cached, on average over what was written."""
    if told := said(row, "ctx", "context", "kv_len", "avg_kv_len", "depth"):
        return told
    if written := _tokens(row, "tg"):
        return written // 2
    prompt, new = said(row, "prompt", "isl"), said(row, "gen", "new", "osl")
    if prompt is None and new is None:
        return float(SHORT)
    return (prompt or 0.0) + (SHORT if new is None else new) // 2


def _forecast(row: Measurement, seconds: float, tokens: float) -> Forecast:
    """A time, or a rate of ``tokens`` in it."""
    if row.metric.startswith("achieved_bandwidth") or "/s" not in row.unit:
        return Forecast(seconds, "s", "memory")
    return Forecast(tokens / seconds, "token/s", "memory")


def _one(row: Measurement, run: Run) -> Predict:
    """A token of one sequence."""
    context = _context(row)
    vector = "llama.cpp" in row.software.lower()
    old = not run.serves and reads_again(row)

    def answer() -> Forecast:
        step = run.step
        time = float(step.time(1.0, context)) + losses.seconds(step, 1.0)
        if old:
            time += losses.again(step, context)
        if vector:
            time += losses.two_numbers(step)
        if "bandwidth" in row.metric:
            parts = (step.frame.shape.parts[name].bytes for name in (PRODUCTS, HEAD))
            return Forecast(sum(parts) / run.tp / time, "B/s", "memory")
        return _forecast(row, time, 1.0)

    return answer


@cache
def _unsettled() -> frozenset[tuple[str, ...]]:
    """Runs of one card whose table reads a longer prompt quicker, token by token.

    Its passes are alike, and attention grows: what more of them share is a wait.
    """
    runs: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for row in fitted():
        if row.family == "E" and (tokens := _tokens(row, "pp")):
            runs.setdefault(_run_of(row), []).append((tokens, row.value))
    return frozenset(
        run
        for run, read in runs.items()
        if any(b > SETTLED * a for (_, a), (_, b) in pairwise(sorted(read)))
    )


def _run_of(row: Measurement) -> tuple[str, ...]:
    return row.source, row.system, row.software, row.subject, row.metric


def _prompt(row: Measurement, run: Run) -> Predict:
    """A prompt alone, or many after one another."""
    if _run_of(row) in _unsettled():
        raise Refusal("its table reads a longer prompt quicker: a run not settled")
    tokens = _tokens(row, "pp") or run.prompt or said(row, "ctx", "context", "seq")
    if tokens is None:
        raise Refusal("config does not give the prompt's tokens")
    chunk = steady.CHUNK if run.serves else int(said(row, "ubatch") or PASS)
    kernels, batch = kernels_of(row), run.held or 1.0

    def answer() -> Forecast:
        step, many = run.step, run.replicas
        if run.serves and run.ep > 1:  # groups of chips read prompts side by side
            many *= run.ep
        time = batch * steady.prompt_time(step, tokens, chunk, kernels)
        return _forecast(row, time, many * batch * tokens)

    return answer


def _served(row: Measurement, run: Run) -> Predict:
    """A token of one of many requests, or all of their tokens."""
    name = row.metric.lower()
    if run.held is None and "sharegpt" in row.settings.lower():
        return _arriving(row, run)
    if re.search("throughput|decode|speed", name) and not _one_by_one(row):
        return _static(row, run)
    load = run.load()
    if re.search("throughput|tokens_per_s", name) and "user" not in name:
        return lambda: _rate(row, run, steady.rate(run.step, load), load)
    if re.search("e2e|request", name) and not _one_by_one(row):
        return _together(row, run)
    if re.search("e2e|request", name):

        def whole() -> Forecast:
            each = steady.token_time(run.step, load)
            time = steady.first_time(run.step, load) + (load.new - 1) * each
            return _forecast(row, time, 1.0)

        return whole
    return lambda: _forecast(row, steady.token_time(run.step, load), 1.0)


def _one_by_one(row: Measurement) -> bool:
    """Whether a client holds so many requests, each replaced as it ends."""
    return said(row, "concurrency", "max_concurrency", "users") is not None


def _rate(row: Measurement, run: Run, rate: float, load: steady.Load) -> Forecast:
    """Tokens a second of all requests, in what a row counts."""
    name, unit = row.metric.lower(), row.unit.lower()
    rate *= run.replicas
    if "per_gpu" in name or "/gpu" in unit:
        rate /= run.chips
    if "request" in name or "req" in unit:
        return Forecast(rate / load.new, "1/s", "memory")
    if "total_token" in name or "total tokens" in unit:
        rate *= (load.prompt + load.new) / load.new
    return Forecast(rate, "token/s", "memory")


def _static(row: Measurement, run: Run) -> Predict:
    """A batch that begins together and ends together."""
    batch = run.held or 1.0
    prompt, new, tokens = run.prompt, run.new, batch
    context = _context(row) if prompt is None or new is None else prompt + new // 2
    if "total_token" in row.metric.lower() and prompt is not None and new is not None:
        tokens *= (prompt + new) / new

    def answer() -> Forecast:
        step = run.step
        time = float(step.time(batch, context)) + losses.seconds(step, batch)
        if prompt is not None and new is not None:
            time += batch * steady.prompt_time(step, prompt) / new
        return _forecast(row, time, tokens)

    return answer


def _together(row: Measurement, run: Run) -> Predict:
    """A batch's life, whose requests begin and end together."""
    prompt, new = run.lengths()
    batch = run.held or 1.0

    def answer() -> Forecast:
        step = run.step
        each = float(step.time(batch, round(prompt + new / 2)))
        time = batch * steady.prompt_time(step, prompt)
        time += (new - 1) * (each + losses.seconds(step, batch))
        return _forecast(row, time, batch)

    return answer


def _arriving(row: Measurement, run: Run) -> Predict:
    """Requests of a trace, that arrive at a rate: as many at once as take so long."""
    said_rate = re.search(r"at (\d+(?:\.\d+)?) req/s", row.settings)
    if not said_rate:
        raise Refusal("config does not give the rate of requests")
    most = said(row, "max_num_seqs") or 256.0
    groups = said(row, "dp") or 1.0

    def answer() -> Forecast:
        step, held = run.step, 1.0
        for _ in range(40):
            load = run.load(held)
            life = load.new * steady.token_time(step, load)
            held = min(most, max(1.0, float(said_rate[1]) / groups * life))
        return _forecast(row, steady.token_time(step, run.load(held)), held)

    return answer


def _first(row: Measurement, run: Run) -> Predict:
    """The first token of one of many requests."""
    if not _one_by_one(row) and run.held != 1.0:
        raise Refusal(
            "config does not give 'concurrency': whom it waits for is unknown"
        )
    load = run.load()
    return lambda: _forecast(row, steady.first_time(run.step, load), 1.0)


def _most(row: Measurement, run: Run) -> Predict:
    """As many requests as the memory holds, or as there are, replaced by the next."""
    prompt, new = run.lengths()
    each, chunk = queues.limits(row, run)
    ending = run.requests is not None and "sharegpt" in row.settings.lower()

    def answer() -> Forecast:
        step, many = run.step, run.stages
        most = min(each * run.ep * many, run.requests or math.inf)
        held = queues.held(row, run, step, prompt + new, most)
        if held < 1:
            raise Refusal(f"not one request of {prompt + new:g} tokens fits")
        load = replace(run.load(max(1.0, held / many)), chunk=chunk)
        if ending and run.requests:
            rate = queues.emptied(step, load, run.requests / run.replicas, many)
        else:  # stages hold a batch each, and take turns
            rate = steady.rate(step, load, many, run.requests)
        return _rate(row, run, rate / run.beams, load)

    return answer


_ANSWERS: dict[str, Callable[[Measurement, Run], Predict]] = {
    "one sequence": _one,
    "prompt": _prompt,
    "served": _served,
    "first token": _first,
    "most": _most,
}

PREDICTORS["E"] = prepare
