"""A netlist run: every gate once a cycle, many test vectors in one word.

A bit of the netlist is a word with one place a vector: a whole number of Python's, of
any length, or an array of NumPy's machine words. ``&``, ``|`` and ``^`` do to all
vectors at once what a gate does to one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from stacklib.quantity.bounds import whole

from .compose import array_of
from .feed import Cycle, Grid, Matrix, feed, shape
from .netlist import KINDS, Netlist, NetlistError, stored

Word: TypeAlias = Any  # a whole number, or an array of machine words


def run(
    netlist: Netlist, feeds: Iterable[Mapping[str, Sequence[Word]]], ones: Word = 1
) -> Iterator[list[Word]]:
    """Every bit of the netlist in every cycle.

    - ``feeds``: for each cycle the inputs, bit by bit, lowest first.
    - ``ones``: the word in which every vector is 1.
    """
    zero = ones ^ ones
    states = [zero] * len(netlist.states)
    for inputs in feeds:
        bits = [zero, ones]
        for name, width in netlist.inputs.items():
            word = inputs.get(name, [zero] * width)
            if len(word) != width:
                raise NetlistError(f"{name} has {width} bits and was given {len(word)}")
            bits += word
        bits += states
        settle(netlist, bits, ones)
        yield bits
        states = [bits[n] for n in netlist.states]


def settle(netlist: Netlist, bits: list[Word], ones: Word) -> None:
    """What every cell shows, from what it reads."""
    for kind, a, b in netlist.cells:
        if kind == "&":
            bits.append(bits[a] & bits[b])
        elif kind == "^":
            bits.append(bits[a] ^ bits[b])
        elif kind == "|":
            bits.append(bits[a] | bits[b])
        else:
            bits.append(bits[a] ^ ones)


def bits_of(value: int, width: int) -> list[int]:
    """A number in two's complement, lowest bit first."""
    return [value >> n & 1 for n in range(width)]


def number(bits: Sequence[int]) -> int:
    """The number that bits in two's complement stand for."""
    *low, sign = bits
    return sum(bit << n for n, bit in enumerate(low)) - (sign << len(low))


def by_gates(a: Matrix, b: Matrix, netlist: Netlist | None = None) -> Iterator[Cycle]:
    """A product on the gates of an array, cycle by cycle.

    - ``netlist``: of an array of this size; composed of the kept multiplier's if none.
    """
    bits = (netlist or stored("mac")).inputs.get("a0", 8)
    rows, _, cols = shape(a, b, bits)
    gates = netlist or array_of(stored("mac"), rows, cols)
    if f"c{rows - 1}_{cols - 1}" not in gates.outputs:
        raise NetlistError(f"no array of {rows} x {cols} places: {gates.about}")
    edges = (
        {name: bits_of(value, gates.inputs[name]) for name, value in edge.items()}
        for edge in feed(a, b, bits)
    )
    # A register shows a sum in the cycle after; what it takes is the sum now.
    sums = {
        name: gates.taken(gates.outputs[name])
        for name in gates.outputs
        if name[0] == "c"
    }
    outputs = {**gates.outputs, **sums}
    for t, now in enumerate(run(gates, edges)):

        def grid(which: str, now: list[int] = now) -> Grid:
            shown = [
                [outputs[f"{which}{r}_{c}"] for c in range(cols)] for r in range(rows)
            ]
            return tuple(
                tuple(number([now[n] for n in o]) for o in row) for row in shown
            )

        yield Cycle(t, grid("a"), grid("b"), grid("c"))


def toggles(
    netlist: Netlist, feeds: Iterable[Mapping[str, Sequence[int]]], vectors: int
) -> float:
    """Cells whose bit turns from one cycle to the next, on average over vectors.

    - ``feeds``: as for ``run``, in whole numbers of Python's with ``vectors`` places.
    """
    whole(vectors=vectors)
    turned, steps = 0, 0
    before: list[int] = []
    for bits in run(netlist, feeds, (1 << vectors) - 1):
        cells = bits[netlist.first_cell :]
        if before:
            steps += 1
            turned += sum(
                (x ^ y).bit_count() for x, y in zip(before, cells, strict=True)
            )
        before = cells
    if not steps:
        raise NetlistError("toggles are counted between cycles; feed two at least")
    return turned / steps / vectors


@dataclass(frozen=True)
class Fault:
    """The first cell that shows what it should not, and for which vector."""

    bit: int  # the number of what the cell shows
    kind: str
    cycle: int
    vector: int

    def __str__(self) -> str:
        return (
            f"the {self.kind} of bit {self.bit} is wrong in cycle {self.cycle} for "
            f"vector {self.vector}"
        )


def first_fault(
    good: Netlist,
    bad: Netlist,
    feeds: Sequence[Mapping[str, Sequence[Word]]],
    ones: Word = 1,
) -> Fault | None:
    """Where a netlist of the same cells goes wrong, or nothing.

    - ``feeds``: as for ``run``, in whole numbers of Python's.
    """
    if len(good.cells) != len(bad.cells) or good.outputs != bad.outputs:
        raise NetlistError(
            f"{len(good.cells)} cells beside {len(bad.cells)}, or other outputs; "
            "compare products instead"
        )
    pairs = zip(run(good, feeds, ones), run(bad, feeds, ones), strict=True)
    for cycle, (right, wrong) in enumerate(pairs):
        for bit, (x, y) in enumerate(zip(right, wrong, strict=True)):
            if x != y:
                vector = ((x ^ y) & -(x ^ y)).bit_length() - 1
                cell = bit - good.first_cell
                kind = KINDS[bad.cells[cell][0]] if cell >= 0 else "flip-flop"
                return Fault(bit, kind, cycle, vector)
    return None
