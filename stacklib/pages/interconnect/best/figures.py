"""Tables and chart of section 6.3: fewest steps on boards, and their times by size."""

from __future__ import annotations

from typing import Any

from stacklib import hardware
from stacklib.pages.interconnect import best as page
from stacklib.plots.marks import Spec, axis, chart, line, sizes

WHY = {
    "far": "distance",
    "growth": "growth",
    "sends": "sends",
    "cut": "a cut",
    "solver": "the solver",
}
SIZES = tuple(2.0**power for power in range(10, 29))
LINK = "nvlink2"
SMALL = ("line of 4", "star of 4", "ring of 4", "mesh of 4", "PCIe tree of 4")


def of_eight() -> list[dict[str, Any]]:
    """Boards of eight chips: fewest steps of one, two and eight chunks."""
    return [
        {
            "board": name,
            "one chunk": page.steps(name, 1),
            "two": page.steps(name, 2),
            "eight": page.steps(name, page.CHUNKS),
            "eight proved by": WHY[page.rows()[name, page.CHUNKS]["why"]],
            "ring's bytes over least": page.slower(name),
        }
        for name in page.BOARDS
    ]


def of_four() -> list[dict[str, Any]]:
    """Boards of four, and what proves the fewest steps of one chunk."""
    return [
        {
            "board": name,
            "one chunk": page.steps(name, 1),
            "proved by": WHY[page.rows()[name, 1]["why"]],
            "two": page.steps(name, 2),
            "two proved by": WHY[page.rows()[name, 2]["why"]],
            "four": page.steps(name, 4),
        }
        for name in SMALL
    ]


def cable() -> tuple[float, float]:
    """B/s of one cable of a DGX-1 in one direction, and seconds of a step."""
    found = hardware.link(LINK).fields
    rate, wait = found["link_bandwidth"], found["latency"]
    assert rate is not None and wait is not None
    return rate.si, wait.si


def by_size() -> Spec:
    """Time against size on the cube mesh: steps times a step."""
    rate, wait = cable()
    known = {"one ring": (page.ring(page.CUBE).si, page.CHUNKS)}
    for chunks, words in ((1, "whole arrays"), (page.CHUNKS, "eight chunks")):
        known[words] = (page.steps(page.CUBE, chunks).si, chunks)
    marks = [
        line(
            SIZES,
            [1e6 * steps * (wait + of / chunks / rate) for of in SIZES],
            words,
            "predicted",
            at="key",
            series=series,
        )
        for series, (words, (steps, chunks)) in enumerate(known.items())
    ]
    return chart(
        "On a DGX-1 a single ring is quickest at no size.",
        x=sizes("Array of each GPU", SIZES[0], SIZES[-1]),
        y=axis("All-reduce (µs)", log=True),
        marks=marks,
    )
