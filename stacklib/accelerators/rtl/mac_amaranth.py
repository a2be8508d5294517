"""One place of the array in hardware: multiply, add to what stands, pass both on."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, signed
from amaranth.lib.wiring import Component, In, Out

from stacklib.quantity.bounds import whole


class Mac(Component):
    """Multiplies what comes from the left with what comes from above, every cycle.

    ``a_out`` and ``b_out`` hold what came in the cycle before, for the next place to
    the right and below. ``clear`` empties the accumulator at the end of its cycle.
    """

    def __init__(self, bits: int = 8, accumulator: int = 32) -> None:
        whole(bits=bits)
        whole(2 * bits, accumulator=accumulator)
        operand, total = signed(bits), signed(accumulator)
        super().__init__(
            {
                "a_in": In(operand),
                "b_in": In(operand),
                "clear": In(1),
                "a_out": Out(operand),
                "b_out": Out(operand),
                "acc": Out(total),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """The product and the sum between registers."""
        m = Module()
        added = self.acc + self.a_in * self.b_in
        m.d.sync += self.acc.eq(Mux(self.clear, 0, added))
        m.d.sync += [self.a_out.eq(self.a_in), self.b_out.eq(self.b_in)]
        return m
