"""Section 6.5: What does your own network cost?"""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import Any

from stacklib import models
from stacklib.evidence import results
from stacklib.evidence.runs import promised
from stacklib.interconnect import fit_line
from stacklib.interconnect.schedules.closed import closed_count
from stacklib.interconnect.selection.line import Line
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    recorded,
)
from stacklib.roofline.work.moving import moving_time

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
FILE = results.file(RUN)


# -- alpha and beta --------------------------------------------------------------------


def small(world: int) -> list[dict[str, Any]]:
    """Small rings that were run."""
    return [row for row in results.need(SMALL)["rows"] if row["world"] == world]


@cache
def rings(world: int) -> tuple[Quantity, ...]:
    """Their median times."""
    file, field = results.file(SMALL), "times_s/median"
    return tuple(recorded(file, row["id"], field, unit="s") for row in small(world))


def step_line(times: tuple[Quantity, ...], world: int = WORLD) -> Line:
    """The line through such times of one step."""
    steps = closed_count("all_reduce", "ring", world).steps
    messages = [row["message"] for row in small(world)]
    return fit_line(messages, [time.si / steps for time in times], level=LEVEL)


def alpha(world: int = WORLD) -> Quantity:
    """What a step costs before its first byte."""
    label = f"alpha of a step, {world} processes"
    return counted(fitted, rings(world), world, "alpha", unit="s", label=label).to("µs")


def fitted(times: tuple[Quantity, ...], world: int, what: str) -> float:
    """A term of that line.

    ``alpha``, half of its interval as ``alpha_error``, or one over ``beta`` and over
    the ends of its interval as ``rate``, ``low``, ``high``.
    """
    line = step_line(times, world)
    low, high = line.alpha_interval
    fast, slow = line.beta_interval
    return {
        "alpha": line.alpha,
        "alpha_error": (high - low) / 2,
        "rate": 1 / line.beta,
        "low": 1 / slow,
        "high": 1 / fast,
    }[what]


def alpha_error(world: int = WORLD) -> Quantity:
    """Half of its interval of 95 in 100."""
    label = f"half of alpha's interval, {world} processes"
    found = counted(fitted, rings(world), world, "alpha_error", unit="s", label=label)
    return found.to("µs")


def level() -> Quantity:
    """Share of repetitions in which an interval is to hold the truth."""
    return chosen(LEVEL, label="level of an interval").to("%")


def rate(world: int = WORLD, end: int | None = None) -> Quantity:
    """Bytes a second of a step, or an end of its interval: 0 the low one, 1 the high.

    One over beta.
    """
    what = "rate" if end is None else ("low", "high")[end]
    words = "" if end is None else f", {what} end"
    label = f"bandwidth of a step, {world} processes{words}"
    return counted(fitted, rings(world), world, what, unit="B/s", label=label).to(
        "GB/s"
    )


def longest_message() -> Quantity:
    """The largest message of a step that the line was fitted on."""
    row = max(results.need(SMALL)["rows"], key=lambda row: row["message"])
    return recorded(results.file(SMALL), row["id"], "message", unit="B")


def ring_terms() -> tuple[Quantity, Quantity, Quantity, Quantity]:
    """Steps of the large ring and their alpha, its share and its bytes as time."""
    steps = chosen(WORLD - 1, label="steps around") * chosen(2, label="times around")
    share = (steps / chosen(WORLD, label="ranks")).named("share of the array")
    size = chosen(LARGE, "B", label="large array")
    waiting = (steps * alpha()).named("alpha of a ring's steps").to("ms")
    moving = moving_time(share * size, rate()).named("bytes of a ring as time")
    return steps.named("steps of a ring of four"), waiting, share, moving.to("ms")


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
    return median_of(name_of(algorithm, size, collective))


def median_of(id: str) -> Quantity:
    """The same by a case's id."""
    label = f"sockets, {id}"
    return recorded(FILE, id, "times_s/median", unit="s", label=label).to("ms")


def foretold(algorithm: str, size: int, collective: str = "all_reduce") -> Quantity:
    """What was predicted of it before."""
    id = name_of(algorithm, size, collective)
    return promised(RUN, id, "predicted_s", "s", f"predicted, {id}").to("ms")


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


def carried(algorithm: str, collective: str = "all_reduce") -> Quantity:
    """Bytes that the interface counted, over those of the schedule; large array."""
    id = name_of(algorithm, LARGE, collective)
    due = promised(RUN, id, "predicted_bytes", "B", "bytes due")
    label = f"bytes counted over bytes due, {collective}, {algorithm}"
    return (recorded(FILE, id, "carried_bytes", unit="B") / due).named(label)


def surplus() -> Quantity:
    """What headers and acknowledgements add to a large ring."""
    return (carried("ring") - 1).named("what TCP adds to a large ring")


# -- the token's exchange --------------------------------------------------------------


def vector() -> Quantity:
    """Bytes that each exchange adds up for a token."""
    hidden = models.get(MODEL).size("hidden", "hidden size")
    return (hidden * bytes_per_element("bf16")).named("a token's vector").to("KiB")


def exchanges() -> Quantity:
    """All-reduces of a token."""
    layers = models.get(MODEL).size("layers", "layers")
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
def link_times(name: str) -> tuple[Quantity, ...]:
    """Median times of its messages."""
    file = results.file(BARE if name == "bare" else LINKS)
    rows = (row["id"] for row in link_rows(name))
    return tuple(recorded(file, id, "times_s/median", unit="s") for id in rows)


def linked(times: tuple[Quantity, ...], name: str, what: str) -> float:
    """``alpha`` or ``bandwidth`` of the line through such times."""
    sizes = [row["bytes"] for row in link_rows(name)]
    return float(getattr(fit_line(sizes, [time.si for time in times]), what))


def link_alpha(name: str) -> Quantity:
    """Alpha as found."""
    label, times = f"alpha found, {name}", link_times(name)
    return counted(linked, times, name, "alpha", unit="s", label=label).to("µs")


def link_rate(name: str) -> Quantity:
    """Bandwidth as found."""
    label, times = f"rate found, {name}", link_times(name)
    found = counted(linked, times, name, "bandwidth", unit="B/s", label=label)
    return found.to("MB/s")


def link_told(name: str, field: str) -> Quantity:
    """Alpha or bandwidth as predicted."""
    rows = results.prediction(LINKS)["rows"]
    place = next(n for n, row in enumerate(rows) if row["link"] == name)
    row, label = f"rows/{place}", f"{field} predicted, {name}"
    if field == "alpha":
        return promised(LINKS, row, "alpha_s", "s", label).to("µs")
    beta = promised(LINKS, row, "beta_s", "s/B", f"beta predicted, {name}")
    return (1 / beta).named(label).to("MB/s")


def made_by(name: str) -> str:
    """How the link was made."""
    return str(link_rows(name)[0]["made_by"])
