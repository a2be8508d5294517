"""Section 6.5: What does your own network cost?"""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from stacklib import models
from stacklib.evidence import results, runs
from stacklib.interconnect import fit_line
from stacklib.interconnect.schedules.closed import closed_count
from stacklib.interconnect.selection.line import Line
from stacklib.pages.figures_of import seen
from stacklib.quantity import (
    Quantity,
    Source,
    bytes_per_element,
    chosen,
    counted,
    counting,
)

RUN, SMALL, LINKS, BARE = (
    "gloo_collectives",
    "gloo_costs",
    "gloo_namespaces",
    "gloo_link",
)
MODEL, EXCHANGES = "llama-3-70b", 2  # all-reduces of a layer
LEVEL = 0.95
WORLD, VECTOR, LARGE = 4, 16384, 1 << 24  # processes; bytes
NAMES = {
    "ring": "ring",
    "tree": "tree",
    "double tree": "double_binary_tree",
    "halving": "halving_doubling",
    "direct": "direct",
    "Bruck": "bruck",
    "hierarchical": "hierarchical",
    "gloo's own": "library",
}
SHAPES = ("100 Mbit/s", "1 Gbit/s", "2 ms", "200 Mbit/s, 1 ms")


# -- alpha and beta --------------------------------------------------------------------


@cache
def step_line(world: int = WORLD) -> Line:
    """The line through medians of one step of small rings."""
    rows = [row for row in results.need(SMALL)["rows"] if row["world"] == world]
    steps = closed_count("all_reduce", "ring", world).steps
    times = [median(row["times_s"]) / steps for row in rows]
    return fit_line([row["message"] for row in rows], times, level=LEVEL)


def alpha(world: int = WORLD) -> Quantity:
    """What a step costs before its first byte."""
    label = f"alpha of a step, {world} processes"
    return seen(SMALL, step_line(world).alpha, "s", label).to("µs")


def alpha_error(world: int = WORLD) -> Quantity:
    """Half of its interval of 95 in 100."""
    low, high = step_line(world).alpha_interval
    label = f"half of alpha's interval, {world} processes"
    return seen(SMALL, (high - low) / 2, "s", label).to("µs")


def level() -> Quantity:
    """Share of repetitions in which an interval is to hold the truth."""
    return chosen(LEVEL, label="level of an interval").to("%")


def rate(world: int = WORLD, end: int | None = None) -> Quantity:
    """Bytes a second of a step, or an end of its interval: 0 the low one, 1 the high.

    One over beta.
    """
    line = step_line(world)
    beta = line.beta if end is None else line.beta_interval[1 - end]
    words = "" if end is None else f", {('low', 'high')[end]} end"
    label = f"bandwidth of a step, {world} processes{words}"
    return seen(SMALL, 1 / beta, "B/s", label).to("GB/s")


def longest_message() -> Quantity:
    """The largest message of a step that the line was fitted on."""
    most = max(row["message"] for row in results.need(SMALL)["rows"])
    return chosen(most, "B", label="largest message of the fit")


def ring_terms() -> tuple[Quantity, Quantity, Quantity, Quantity]:
    """Steps of the large ring and their alpha, its share and its bytes as time."""
    steps = chosen(WORLD - 1, label="steps around") * chosen(2, label="times around")
    share = (steps / chosen(WORLD, label="ranks")).named("share of the array")
    size = chosen(LARGE, "B", label="large array")
    waiting = (steps * alpha()).named("alpha of a ring's steps").to("ms")
    moving = (share * size / rate()).named("bytes of a ring as time").to("ms")
    return steps.named("steps of a ring of four"), waiting, share, moving


# -- collectives, foretold and timed ---------------------------------------------------


@cache
def cases() -> dict[str, dict[str, Any]]:
    """Cases of the run, each with what was predicted of it."""
    told = {row["id"]: row for row in results.prediction(RUN)["rows"]}
    return {row["id"]: told[row["id"]] | row for row in results.need(RUN)["rows"]}


def name_of(algorithm: str, size: int, collective: str = "all_reduce") -> str:
    """A case of four processes."""
    return f"w{WORLD}-{collective}-{algorithm}-{size}"


def timed(algorithm: str, size: int, collective: str = "all_reduce") -> Quantity:
    """Median seconds of a case."""
    id = name_of(algorithm, size, collective)
    return seen(RUN, median(cases()[id]["times_s"]), "s", f"sockets, {id}").to("ms")


def foretold(algorithm: str, size: int, collective: str = "all_reduce") -> Quantity:
    """What was predicted of it before."""
    id, file = name_of(algorithm, size, collective), results.need(RUN)
    where = file["prediction"]["file"]
    source = Source(where, "committed before the run", file["date"], "measured")
    value = cases()[id]["predicted_s"]
    return runs.foretold(value, "s", f"predicted, {id}", source).to("ms")


def _ratios(world: int) -> list[float]:
    """Measured over predicted, of the book's own algorithms."""
    return [
        median(case["times_s"]) / case["predicted_s"]
        for case in cases().values()
        if case["world"] == world and case["algorithm"] != "library"
    ]


@counting("median error, {world} processes")
def typical_error(world: int = WORLD) -> float:
    """Median error of the predictions, sign dropped."""
    return median(abs(1 / ratio - 1) for ratio in _ratios(world))


@counting("measured over predicted, two processes")
def slower(size: int = LARGE) -> float:
    """How much longer two processes take for large arrays than their line says."""
    return median(
        median(case["times_s"]) / case["predicted_s"]
        for case in cases().values()
        if case["world"] == 2
        and abs(case["bytes"] - size) < size / 16
        and case["algorithm"] != "library"
    )


@counting("schedules over sockets")
def schedules() -> int:
    """Schedules that ran, over both numbers of processes."""
    ours = (case for case in cases().values() if case["algorithm"] != "library")
    return len({(c["world"], c["collective"], c["algorithm"]) for c in ours})


def _bytes_ratio(world: int, collective: str, algorithm: str, size: int) -> float:
    case = cases()[f"w{world}-{collective}-{algorithm}-{size}"]
    return float(case["carried_bytes"] / case["predicted_bytes"])


def carried(algorithm: str, collective: str = "all_reduce") -> Quantity:
    """Bytes that the interface counted, over those of the schedule; large array."""
    label = f"bytes counted over bytes due, {collective}, {algorithm}"
    return counted(_bytes_ratio, WORLD, collective, algorithm, LARGE, label=label)


def surplus() -> Quantity:
    """What headers and acknowledgements add to a large ring."""
    return (carried("ring") - 1).named("what TCP adds to a large ring")


# -- the token's exchange --------------------------------------------------------------


def vector() -> Quantity:
    """Bytes that each exchange adds up for a token."""
    model = models.get(MODEL)
    hidden = chosen(model.hidden, label="numbers of the stream")
    return (hidden * bytes_per_element("bf16")).named("a token's vector").to("KiB")


def exchanges() -> Quantity:
    """All-reduces of a token."""
    model = models.get(MODEL)
    layers = chosen(model.layers, label="layers of Llama-3-70B")
    each = chosen(EXCHANGES, label="all-reduces of a layer, forward")
    return (layers * each).named("exchanges of a token")


def exchange(algorithm: str = "ring") -> Quantity:
    """All exchanges of a token over this machine's sockets, among four processes."""
    told = exchanges() * timed(algorithm, VECTOR)
    return told.named(f"exchanges of a token over sockets, {algorithm}")


# -- namespaces ------------------------------------------------------------------------


@cache
def link_rows(name: str) -> list[dict[str, Any]]:
    """A link's sizes and times."""
    if name == "bare":
        return list(results.need(BARE)["rows"])
    return [row for row in results.need(LINKS)["rows"] if row["link"] == name]


@cache
def link_line(name: str) -> Line:
    """Alpha and beta found of it."""
    rows = link_rows(name)
    return fit_line([r["bytes"] for r in rows], [median(r["times_s"]) for r in rows])


def link_alpha(name: str) -> Quantity:
    """Alpha as found."""
    stem = BARE if name == "bare" else LINKS
    return seen(stem, link_line(name).alpha, "s", f"alpha found, {name}").to("µs")


def link_rate(name: str) -> Quantity:
    """Bandwidth as found."""
    stem = BARE if name == "bare" else LINKS
    return seen(stem, link_line(name).bandwidth, "B/s", f"rate found, {name}").to(
        "MB/s"
    )


def link_told(name: str, field: str) -> Quantity:
    """Alpha or bandwidth as predicted."""
    file = results.need(LINKS)
    row = next(r for r in results.prediction(LINKS)["rows"] if r["link"] == name)
    where = file["prediction"]["file"]
    source = Source(where, "committed before the run", file["date"], "measured")
    if field == "alpha":
        label = f"alpha predicted, {name}"
        return runs.foretold(row["alpha_s"], "s", label, source).to("µs")
    label = f"rate predicted, {name}"
    return runs.foretold(1 / row["beta_s"], "B/s", label, source).to("MB/s")


def made_by(name: str) -> str:
    """How the link was made."""
    return str(link_rows(name)[0]["made_by"])
