"""What line coding leaves of a lane: the share in closed form, and counted bit by bit.

A code is layers of frames around frames. Each takes some bits of what is inside it and
adds its own before or after them: a header that tells where a block begins, a checksum,
the parity by which a receiver corrects errors.

``share`` multiplies the layers; ``wire`` makes the stream that leaves the port, and
``count`` deals it out over lanes and counts what arrives.

Left out: scrambling, which changes bits and not their number, markers by which lanes
are aligned, and bits whose meaning is control rather than data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, repeat

from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole


@dataclass(frozen=True, slots=True)
class Layer:
    """A frame: bits that it takes from inside, and its own before and after them."""

    name: str
    take: int
    before: int = 0
    after: int = 0

    def __post_init__(self) -> None:
        whole(take=self.take)
        whole(0, before=self.before, after=self.after)

    @property
    def bits(self) -> int:
        """Of the whole frame."""
        return self.before + self.take + self.after


Code = Sequence[Layer]

# Innermost first. 8b/10b, 64b/66b, 256b/257b and RS(544,514) over symbols of 10 bits:
# IEEE 802.3, clauses 36, 49, 91 and 119. 128b/130b and the flit of 256 bytes, 8 of them
# CRC and 6 FEC: PCI Express 3.0 and 6.0. Six of a flit's other bytes are the link's own
# and count as data here, as they do in the database of links.
CODES: dict[str, tuple[Layer, ...]] = {
    "none": (),
    "8b/10b": (Layer("8b/10b", 8, after=2),),
    "64b/66b": (Layer("64b/66b", 64, before=2),),
    "128b/130b": (Layer("128b/130b", 128, before=2),),
    "flit": (Layer("flit", 242 * 8, after=(8 + 6) * 8),),
    "RS-FEC": (
        Layer("256b/257b", 256, before=1),
        Layer("RS(544,514)", 514 * 10, after=30 * 10),
    ),
}


def code(name: str) -> tuple[Layer, ...]:
    """The layers of a code by its name."""
    return CODES[resolve(name, CODES, "line code")]


def packets(payload: int, header: int) -> Layer:
    """Packets as one more layer inside of a code: bytes of payload and of the rest."""
    whole(payload=payload)
    whole(0, header=header)
    return Layer("packet", payload * 8, before=header * 8)


def share(layers: Code) -> Fraction:
    """The share of a lane's bits that is data, exactly."""
    return math.prod(
        (Fraction(one.take, one.bits) for one in layers), start=Fraction(1)
    )


def frame_bits(layers: Code) -> tuple[int, int]:
    """Bits of data and on the wire after which all layers end together."""
    grown, needed = Fraction(1), 1
    for one in layers:
        needed = math.lcm(needed, (grown / one.take).denominator)
        grown *= Fraction(one.bits, one.take)
    return needed, int(needed * grown)


def wire(layers: Code) -> Iterator[bool]:
    """The endless stream of a port that always has something to send: data or not."""
    stream: Iterator[bool] = repeat(True)
    for one in layers:
        stream = _framed(stream, one)
    return stream


def _framed(inside: Iterator[bool], layer: Layer) -> Iterator[bool]:
    while True:
        yield from repeat(False, layer.before)
        yield from islice(inside, layer.take)
        yield from repeat(False, layer.after)


def count(layers: Code, lanes: int, each: int) -> list[int]:
    """Data bits that every lane carries, of so many that are sent on each.

    Bits are dealt out in turn, which is how a receiver knows where each belongs.

    - ``each``: bits on each lane.
    - raises ``ValueError`` for no lanes and no bits.
    """
    whole(lanes=lanes, each=each)
    found = [0] * lanes
    for at, data in enumerate(islice(wire(layers), lanes * each)):
        found[at % lanes] += data
    return found
