"""Chart and tables of section 6.2: time by size, and three ways to the same times."""

from __future__ import annotations

from typing import Any

from stacklib.evidence import results
from stacklib.evidence.runs import promised
from stacklib.pages.interconnect import collectives as page
from stacklib.plots.marks import Spec, axis, chart, line, sizes
from stacklib.quantity import Quantity, recorded

LINES = {
    "ring": "ring",
    "double_binary_tree": "two trees",
    "in_switch": "in the switch",
}
SHOWN = ("ring", "tree", "halving_doubling", "direct", "in_switch")
WAYS = ("closed form", "links", "own pace", "gloo, predicted", "gloo")
GLOO, PROCESSES, BYTES = "gloo_collectives", 4, 16384
FILE = results.file(GLOO)


def by_size() -> Spec:
    """Time against size, on a board and on a rack."""
    marks = []
    for series, (algorithm, words) in enumerate(LINES.items()):
        for ranks in (page.TP, page.RACK):
            if algorithm == "in_switch" and ranks == page.RACK:
                continue  # the same
            time = [1e6 * page.seconds(algorithm, ranks, of) for of in page.SIZES]
            name = words if algorithm == "in_switch" else f"{words}, {ranks} GPUs"
            marks.append(
                line(page.SIZES, time, name, "predicted", at="key", series=series)
                | ({"evidence": "simulated"} if ranks == page.RACK else {})
            )
    return chart(
        "A ring waits where arrays are small, a tree where they are large.",
        x=sizes("Array of each GPU", page.SIZES[0], page.SIZES[-1]),
        y=axis("All-reduce (µs)", log=True),
        marks=marks,
    )


def algorithms() -> list[dict[str, Any]]:
    """Steps and bytes counted, times of two arrays."""
    return [
        {
            "algorithm": page.NAMES[name],
            "steps": page.steps(name),
            "arrays sent": page.share(name),
            "token": page.time(name),
            "large": page.time(name, page.large()),
        }
        for name in SHOWN
    ]


def _gloo(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    ranks = PROCESSES - (name == "in_switch")  # a process is the switch
    found = (
        row
        for row in rows
        if row["collective"] == "all_reduce"
        and row["algorithm"] == name
        and row["ranks"] == ranks
        and row["world"] == PROCESSES
    )
    return min(found, key=lambda row: abs(row["bytes"] - BYTES))


def measured(name: str) -> Quantity:
    """Median of processes that send and receive through gloo."""
    id = _gloo(name, results.need(GLOO)["rows"])["id"]
    label = f"{page.NAMES[name]}, processes over gloo"
    return recorded(FILE, id, "times_s/median", unit="s", label=label).to("µs")


def foretold(name: str) -> Quantity:
    """What was predicted of them."""
    id = _gloo(name, results.prediction(GLOO)["rows"])["id"]
    label = f"{page.NAMES[name]}, predicted over gloo"
    return promised(GLOO, id, "predicted_s", "s", label).to("µs")


def three_ways() -> list[dict[str, Any]]:
    """Closed form, link by link, in steps and without, and processes."""
    return [
        {
            "algorithm": page.NAMES[name],
            "closed form": page.closed(name, page.size()),
            "links": page.simulated(name, page.size()),
            "own pace": page.simulated(name, page.size(), False),
            "gloo, predicted": foretold(name),
            "gloo": measured(name),
        }
        for name in SHOWN
    ]
