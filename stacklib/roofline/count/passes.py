"""Operations as a library runs them: one pass over the data after another.

A roofline counts every operand once. A program made of library calls sweeps its
data once a call, and each sweep moves it again from wherever it lies. The five
operations here are those whose roofline everyone draws first. They are written as
anyone writes them in NumPy, without allocating in between, and each call is a
``Pass`` that says what it computes, reads and writes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stacklib.quantity.bounds import whole

from ..work.bounds import bound_time

NAMES = ("matmul", "layernorm", "softmax", "gelu", "transpose")


@dataclass(frozen=True, slots=True)
class Pass:
    """One library call over an array, per element of that array."""

    name: str  # what the call computes
    # An exponential counts as one.
    operations: int
    reads: int  # numbers read
    writes: int  # written for each element


def _over(*calls: str) -> tuple[Pass, ...]:
    """Passes written as ``name operations reads writes``."""
    parts = (call.rsplit(maxsplit=3) for call in calls)
    return tuple(Pass(name, *map(int, numbers)) for name, *numbers in parts)


# A scalar or a value for each row costs no pass. Reductions read and write nothing.
PASSES: dict[str, tuple[Pass, ...]] = {
    "layernorm": _over(
        "mean 1 1 0", "subtract mean 1 1 1", "square 1 1 1", "mean of squares 1 1 0",
        "times 1/deviation 1 1 1", "times weight 1 1 1", "plus bias 1 1 1",
    ),
    "softmax": _over(
        "maximum 1 1 0", "subtract maximum 1 1 1", "exponential 1 1 1", "sum 1 1 0",
        "divide 1 1 1",
    ),
    "gelu": _over(
        "square 1 1 1", "times constant 1 1 1", "plus one 1 1 1", "times x 1 2 1",
        "times constant 1 1 1", "hyperbolic tangent 1 1 1", "plus one 1 1 1",
        "times x 1 2 1", "times half 1 1 1",
    ),
    "transpose": _over("copy 0 1 1"),
}  # fmt: skip

# Arrays that are live at once: input and output, and scratch of the same size.
BUFFERS = {"layernorm": 3, "softmax": 2, "gelu": 2, "transpose": 2}


def passes(operation: str) -> tuple[Pass, ...]:
    """The calls an operation is made of."""
    if operation not in PASSES:
        known = ", ".join(PASSES)
        raise ValueError(f"operation {operation!r}: one of {known}")
    return PASSES[operation]


def operations(operation: str, rows: int, cols: int) -> int:
    """Arithmetic operations of all passes over a (rows, cols) array."""
    whole(rows=rows, cols=cols)
    return rows * cols * sum(p.operations for p in passes(operation))


def moved(operation: str, rows: int, cols: int, size: int = 4) -> int:
    """Bytes that all passes move together, each from wherever the array lies.

    ``size``: bytes an element.
    """
    whole(rows=rows, cols=cols, size=size)
    return rows * cols * size * sum(p.reads + p.writes for p in passes(operation))


def least(operation: str, rows: int, cols: int, size: int = 4) -> int:
    """Bytes that must move whatever the program: the input once, the output once.

    The weight and bias of a layer norm, one row each, are left out.

    ``size``: bytes an element.
    """
    passes(operation)
    whole(rows=rows, cols=cols, size=size)
    return 2 * rows * cols * size


def passes_time(
    operation: str, elements: Any, size: Any, peak: Any, bandwidth: Any, call: Any
) -> Any:
    """Seconds of all passes, each the longer of its two times, and a price a call."""
    total: Any = None
    for p in passes(operation):
        swept = (p.reads + p.writes) * size * elements
        time = bound_time(p.operations * elements, swept, peak, bandwidth) + call
        total = time if total is None else total + time
    return total


def steps(
    operation: str, x: Any, y: Any, scratch: Any
) -> list[tuple[str, Callable[[], object]]]:
    """The calls of an operation on given arrays, by name of its passes, in order."""
    names = [p.name for p in passes(operation)]
    calls = {
        "layernorm": _layernorm,
        "softmax": _softmax,
        "gelu": _gelu,
        "transpose": _transpose,
    }[operation](x, y, scratch)
    return list(zip(names, calls, strict=True))


def run(operation: str, x: Any, y: Any, scratch: Any) -> None:
    """The operation in NumPy: y is written, no array of its size is allocated."""
    for _, call in steps(operation, x, y, scratch):
        call()


def _layernorm(x: Any, y: Any, scratch: Any) -> list[Callable[[], object]]:
    import numpy

    weight, bias = numpy.ones_like(x[0]), numpy.zeros_like(x[0])
    rows = numpy.empty((len(x), 1), x.dtype)

    def scale() -> None:
        deviation = numpy.sqrt(rows + x.dtype.type(1e-5))
        numpy.multiply(y, 1 / deviation, out=y)

    return [
        lambda: x.mean(-1, keepdims=True, out=rows),
        lambda: numpy.subtract(x, rows, out=y),
        lambda: numpy.multiply(y, y, out=scratch),
        lambda: scratch.mean(-1, keepdims=True, out=rows),
        scale,
        lambda: numpy.multiply(y, weight, out=y),
        lambda: numpy.add(y, bias, out=y),
    ]


def _softmax(x: Any, y: Any, scratch: Any) -> list[Callable[[], object]]:
    import numpy

    rows = numpy.empty((len(x), 1), x.dtype)
    return [
        lambda: x.max(-1, keepdims=True, out=rows),
        lambda: numpy.subtract(x, rows, out=y),
        lambda: numpy.exp(y, out=y),
        lambda: y.sum(-1, keepdims=True, out=rows),
        lambda: numpy.divide(y, rows, out=y),
    ]


def _gelu(x: Any, y: Any, scratch: Any) -> list[Callable[[], object]]:
    import numpy

    number = x.dtype.type
    root = number((2 / math.pi) ** 0.5)
    return [
        lambda: numpy.multiply(x, x, out=y),
        lambda: numpy.multiply(y, number(0.044715), out=y),
        lambda: numpy.add(y, number(1), out=y),
        lambda: numpy.multiply(y, x, out=y),
        lambda: numpy.multiply(y, root, out=y),
        lambda: numpy.tanh(y, out=y),
        lambda: numpy.add(y, number(1), out=y),
        lambda: numpy.multiply(y, x, out=y),
        lambda: numpy.multiply(y, number(0.5), out=y),
    ]


def _transpose(x: Any, y: Any, scratch: Any) -> list[Callable[[], object]]:
    import numpy

    return [lambda: numpy.copyto(y, x.T)]
