"""A model's own list of parameters, split among chips and counted one by one.

FSDP cuts each parameter along its first axis; where it does not divide, the last chips
hold fewer rows and messages are padded. Tensor parallelism cuts the matrices that read
the stream of activations by their outputs and those that write it by their inputs;
norms and the embedding are whole on every chip.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from stacklib.quantity.bounds import whole

from .held import GRADIENT, STAGES, STATE, WEIGHT, Held

Shapes = Mapping[str, tuple[int, ...]]
BY_OUTPUT = ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj")  # rows
BY_INPUT = ("o_proj", "down_proj")  # columns


def rows(count: int, ranks: int, rank: int) -> int:
    """Rows of ``count`` that a rank holds: as many as fit, the last ranks fewer."""
    whole(count=count, ranks=ranks)
    whole(0, rank=rank)
    each = -(-count // ranks)
    return max(0, min(each, count - rank * each))


def sharded(shapes: Shapes, ranks: int, rank: int) -> int:
    """Numbers that a rank holds of all parameters, each cut along its first axis."""
    return sum(
        rows(shape[0], ranks, rank) * prod(shape[1:]) for shape in shapes.values()
    )


def padded(shapes: Shapes, ranks: int) -> int:
    """Numbers of a rank's part with what fills uneven parts up."""
    return sum(rows(shape[0], ranks, 0) * prod(shape[1:]) for shape in shapes.values())


def count_held(
    shapes: Shapes,
    ranks: int,
    rank: int,
    zero: int,
    *,
    weight: int = WEIGHT,
    gradient: int = GRADIENT,
    state: int = STATE,
) -> Held:
    """Bytes of a rank, parameter by parameter."""
    if zero not in STAGES:
        raise ValueError(f"zero = {zero!r}: a stage from 0 to 3 is needed")
    found = [0, 0, 0]
    for shape in shapes.values():
        full, part = prod(shape), rows(shape[0], ranks, rank) * prod(shape[1:])
        for place, size in enumerate((weight, gradient, state)):
            split = zero >= 3 - place
            found[place] += (part if split else full) * size
    return Held(*found)


def tensor_shapes(shapes: Shapes, ways: int) -> dict[str, tuple[int, ...]]:
    """Each parameter's part on one of ``ways`` chips that split the matrices."""
    whole(ways=ways)
    found: dict[str, tuple[int, ...]] = {}
    for name, shape in shapes.items():
        kind = next((k for k in (*BY_OUTPUT, *BY_INPUT) if k in name), None)
        axis = 1 if kind in BY_INPUT else 0
        if kind and shape[axis] % ways:
            raise ValueError(
                f"{name}: {shape[axis]} along axis {axis} among {ways} chips;"
                " ways must divide it"
            )
        cut = list(shape)
        if kind:
            cut[axis] //= ways
        found[name] = tuple(cut)
    return found
