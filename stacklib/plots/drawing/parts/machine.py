"""Parts of a machine around the chip: boards, nodes, racks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity

from .. import spread
from ..edges import Edge, joined
from ..nodes import GAP, Box, Cells, with_
from ..relate import Either, below, right_of
from ..words import an, line
from . import gpu, memory

LINKS = "layer-5"
NODE = "layer-1"
ROW = 8  # boards side by side


def board(device: Accelerator, lit: bool = False) -> Box:
    """A chip on its board: the die, its stacks at either side."""
    stacks = gpu.count(device.memory_stacks)
    near = -(-stacks // 2)
    left, right = (
        below(*[memory.stack(device, f"stack {n}") for n in names], gap=4, grow=0)
        for names in ("ABCDEFGHIJKLMNOP"[:near], "ABCDEFGHIJKLMNOP"[near:stacks])
    )
    die = Box("die", ["die", (device.compute_units, " SMs")], grow=1)
    told = [
        line(an(device), bold=True),
        (device.memory_capacity, ", ", device.tdp),
        (device.memory_bandwidth, " from HBM"),
    ]
    inside = right_of(left, die, right, gap=6)
    return Box("board", told, inside, role=NODE, lit=lit)


def boards(count: Quantity) -> Cells:
    """As many boards as the switches of a node join; the last is lit."""
    many = gpu.count(count)
    last = frozenset({many - 1})
    return Cells("boards", many, ROW, side=(18.0, 12.0), role=gpu.CHIP, lit=last)


def around_switch(
    switch: Box, gpus: Sequence[Box], edge: Callable[[str, str], Edge], gap: float = 46
) -> Either:
    """GPUs in a row under their switch; on a phone they stand at both sides of it."""
    edges = [edge(switch.name, gpu.name) for gpu in gpus]
    wide = below(with_(switch, grow=1), right_of(*gpus, even=True), gap=gap)
    rows = -(-len(gpus) // 2)
    spots = [(i // rows, i % rows / max(rows - 1, 1)) for i in range(len(gpus))]
    placed = [(with_(gpu, grow=0), spot) for gpu, spot in zip(gpus, spots, strict=True)]
    phone = spread.board(*placed, (switch, (0.5, 0.5)), gap=GAP)
    return Either(joined(wide, *edges), joined(phone, *edges))


def nodes(count: int, lit: frozenset[int] = frozenset()) -> Cells:
    """Nodes of a rack, upon each other."""
    return Cells("nodes", count, 1, side=(92.0, 13.0), gap=3.0, role=NODE, lit=lit)
