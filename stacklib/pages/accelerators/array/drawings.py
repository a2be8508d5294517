"""Drawings of section 5.2: an array in four cycles, twice."""

from __future__ import annotations

from typing import Any

from stacklib.accelerators.array.systolic import SystolicArray
from stacklib.plots import drawing as d
from stacklib.plots.drawing.parts import model

__all__ = ["sums_stand", "weights_stand"]
SIDE = 3
AT = {"ws": (3, 4, 5, 7), "os": (0, 2, 3, 5)}  # cycles that are shown
TITLES = {
    "ws": "Weights stand, activations pass to the right, sums grow downwards: a new "
    "row of sums leaves in each cycle.",
    "os": "Sums stand, activations pass to the right and weights downwards: the same "
    "products, and the result stays inside.",
}


def coded() -> list[list[int]]:
    """A matrix whose numbers say where they stand: row and column, from one."""
    return [[10 * (r + 1) + c + 1 for c in range(SIDE)] for r in range(SIDE)]


def weights_stand() -> d.Drawing:
    """An array that keeps weights, in four cycles."""
    return _in_cycles("ws")


def sums_stand() -> d.Drawing:
    """An array that keeps sums, in four cycles."""
    return _in_cycles("os")


def _in_cycles(dataflow: str) -> d.Drawing:
    """What each cell multiplies in four cycles; operands read from the stepped run."""
    run = SystolicArray(SIDE, SIDE, dataflow).run(coded(), coded())
    steps = [
        (f"cycle {cycle}", _scene(dataflow, run.operands(cycle)))
        for cycle in AT[dataflow]
    ]
    return d.draw(steps, name=f"array-{dataflow}", title=TITLES[dataflow])


def _scene(dataflow: str, frame: Any) -> d.Node:
    stands = dataflow == "ws"
    cells: list[d.Node] = []
    for r in range(SIDE):
        for c in range(SIDE):
            on = bool(frame.busy[r][c])
            a, w = int(frame.activations[r][c]), int(frame.weights[r][c])
            idle = f"w{coded()[r][c]}" if stands else "–"
            words = [f"a{a} × w{w}" if on else idle]
            cells.append(
                d.Box(_name(r, c), words, lit=on, role=model.WEIGHT, room=(76, 34))
            )
    edges = []
    for r in range(SIDE):
        for c in range(SIDE):
            if c + 1 < SIDE:
                edges.append(_edge(_name(r, c), _name(r, c + 1), "layer-5"))
            if r + 1 < SIDE:
                edges.append(
                    _edge(
                        _name(r, c), _name(r + 1, c), "layer-2" if stands else "layer-6"
                    )
                )
    key = d.Words(
        [
            d.line("to the right: activations", role="layer-5"),
            d.line("down: sums", role="layer-2")
            if stands
            else d.line("down: weights", role="layer-6"),
        ]
    )
    return d.below(
        d.joined(d.grid(cells, (SIDE, SIDE), gap=22), *edges, margin=6), key, gap=8
    )


def _name(r: int, c: int) -> str:
    return f"cell {r + 1}{c + 1}"


def _edge(start: str, end: str, role: str) -> d.Edge:
    return d.Edge(start, end, arrow="end", role=role)
