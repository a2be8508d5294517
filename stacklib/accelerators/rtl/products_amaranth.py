"""Multipliers in hardware: of any width, of bytes in passes, and of fixed weights."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib.wiring import Component, In, Out

from stacklib.quantity.bounds import is_whole, whole


class Product(Component):
    """Signed numbers of ``bits`` and ``other`` bits in, their product out at once."""

    def __init__(self, bits: int = 8, other: int | None = None) -> None:
        other = bits if other is None else other
        whole(bits=bits, other=other)
        a, b, p = signed(bits), signed(other), signed(bits + other)
        super().__init__({"a": In(a), "b": In(b), "p": Out(p)})

    def elaborate(self, platform: object) -> Module:
        """One multiplication."""
        m = Module()
        m.d.comb += self.p.eq(self.a * self.b)
        return m


class Sum(Component):
    """Two numbers of ``bits`` bits in, their sum out at once."""

    def __init__(self, bits: int = 8) -> None:
        whole(bits=bits)
        super().__init__({"a": In(bits), "b": In(bits), "s": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        """One addition."""
        m = Module()
        m.d.comb += self.s.eq(self.a + self.b)
        return m


class ByteSplit(Component):
    """A wide number times a narrow one on a narrow multiplier, in two passes.

    With ``high`` at 0 the low half of ``a``, which has no sign, is multiplied and kept;
    with ``high`` at 1 the upper half is, shifted, and added. ``total`` is then the
    whole product. ``checked`` is 1 unless a second pass on the same operands gives
    another number than one wide multiplication: that it is always 1 can be proved.
    """

    def __init__(self, bits: int = 16, weight: int = 8, checks: bool = False) -> None:
        whole(2, bits=bits)
        whole(weight=weight)
        if bits % 2:
            raise ValueError(f"bits = {bits}: two halves need an even number")
        self.half, self.checks = bits // 2, checks
        shape = {
            "a": In(signed(bits)),
            "w": In(signed(weight)),
            "high": In(1),
            "total": Out(signed(bits + weight)),
        }
        super().__init__(shape | ({"checked": Out(1)} if checks else {}))

    def elaborate(self, platform: object) -> Module:
        """One multiplier, one half more than a half wide, for the sign."""
        m = Module()
        lower, upper = self.a[: self.half], self.a[self.half :]
        operand = Signal(signed(self.half + 1))
        kept = Signal.like(self.total)
        part = operand * self.w
        sign = self.high & upper[-1]
        m.d.comb += operand.eq(Cat(Mux(self.high, upper, lower), sign))
        m.d.comb += self.total.eq(Mux(self.high, kept + (part << self.half), part))
        m.d.sync += kept.eq(self.total)
        if self.checks:
            a, w, first = Signal.like(self.a), Signal.like(self.w), Signal()
            m.d.sync += [a.eq(self.a), w.eq(self.w), first.eq(~self.high)]
            second = self.high & first & (a == self.a) & (w == self.w)
            m.d.comb += self.checked.eq(~second | (self.total == self.a * self.w))
        return m


class Wired(Component):
    """A matrix that is the wiring: every weight a constant, every row a sum.

    ``x0``, ``x1`` and so on are the numbers that come, ``y0`` and on the sums.
    """

    def __init__(self, weights: Sequence[Sequence[int]], bits: int = 8) -> None:
        whole(bits=bits)
        if not weights or not weights[0] or len({len(row) for row in weights}) > 1:
            raise ValueError("weights: rows of one length, at least one, are needed")
        if bad := [w for row in weights for w in row if not is_whole(w)]:
            raise ValueError(f"weight {bad[0]!r}: a whole number is needed")
        self.weights = [[int(w) for w in row] for row in weights]
        widest = max(sum(map(abs, row)) for row in self.weights)
        width = bits + widest.bit_length()
        super().__init__(
            {
                **{f"x{n}": In(signed(bits)) for n in range(len(weights[0]))},
                **{f"y{n}": Out(signed(width)) for n in range(len(weights))},
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Sums of products with constants; synthesis makes them shifts and sums."""
        m = Module()
        for r, row in enumerate(self.weights):
            parts = [getattr(self, f"x{n}") * Const(w) for n, w in enumerate(row) if w]
            m.d.comb += getattr(self, f"y{r}").eq(_tree(parts))
        return m


class Chosen(Component):
    """One weight of a row as a choice: all sixteen products are there, one is taken."""

    def __init__(self, codes: Sequence[int], bits: int = 8) -> None:
        whole(bits=bits)
        self.codes = tuple(codes)
        if not 1 <= len(self.codes) <= 16 or not all(map(is_whole, self.codes)):
            raise ValueError(f"codes = {codes!r}: one to sixteen whole numbers")
        width = bits + max(map(abs, self.codes)).bit_length()
        super().__init__(
            {"x": In(signed(bits)), "code": In(4), "y": Out(signed(width))}
        )

    def elaborate(self, platform: object) -> Module:
        """A multiplexer over the products with every code's number."""
        m = Module()
        with m.Switch(self.code):
            for at, value in enumerate(self.codes):
                with m.Case(at):
                    m.d.comb += self.y.eq(self.x * Const(value))
        return m


def _tree(parts: list) -> object:
    """A sum in pairs, so that no addition is wider than it must be."""
    while len(parts) > 1:
        parts = [sum(parts[n : n + 2]) for n in range(0, len(parts), 2)]
    return parts[0] if parts else Const(0)
