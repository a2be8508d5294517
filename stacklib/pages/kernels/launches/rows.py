"""Tables of section 4.1: ways to hand kernels over, and the threads' cases."""

from __future__ import annotations

from typing import Any

from stacklib.pages.kernels import launches as page

WAYS: dict[str, dict[str, Any]] = {
    "eager framework": {"name": "eager"},
    "the same, barrier after each": {"name": "eager", "every": 1},
    "driver, slow": {"name": "driver", "end": "high"},
    "driver, quick": {"name": "driver"},
}
NODES = {"one graph, nodes slow": "high", "one graph, nodes quick": "low"}
CASES = {
    "short kernels, one by one": "eager-short",
    "short, as graphs": "graph-short",
    "long kernels, one by one": "eager-long",
    "long, as graphs": "graph-long",
    "long, four streams": "streams-4",
    "long, barrier after each": "barrier-each",
    "long, queue of one place": "depth-1",
}


def ways() -> list[dict[str, Any]]:
    """A token of the model, its kernels handed over in different ways."""
    devices = {"H100": page.DEVICE, "B200": page.OTHER}
    rows: list[dict[str, Any]] = []
    for words, how in WAYS.items():
        told = {name: page.one_by_one(**how, device=d) for name, d in devices.items()}
        rows.append({"submitted": words, **told})
    for words, end in NODES.items():
        told = {name: page.replayed(end, device=d) for name, d in devices.items()}
        rows.append({"submitted": words, **told})
    return rows


def threads() -> list[dict[str, Any]]:
    """Cases of the threads, predicted and measured."""
    return [
        {
            "kernels": words,
            "predicted": page.foretold(id),
            "measured": page.measured(id).to("ms"),
        }
        for words, id in CASES.items()
    ]
