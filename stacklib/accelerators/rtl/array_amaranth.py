"""Places in rows and columns: rows of A come from the left, columns of B from above."""

from __future__ import annotations

from amaranth.hdl import Module, signed
from amaranth.lib.wiring import Component, In, Out

from stacklib.quantity.bounds import whole

from .mac_amaranth import Mac


class Array(Component):
    """Output stationary: place (r, c) adds up entry (r, c) of the product.

    Who feeds it delays row ``r`` of A by ``r`` cycles and column ``c`` of B by ``c``,
    so that place (r, c) meets the pair of index ``k`` in cycle ``r + c + k``.
    """

    def __init__(
        self, rows: int, cols: int, bits: int = 8, accumulator: int = 32
    ) -> None:
        whole(rows=rows, cols=cols)
        self.rows, self.cols = rows, cols
        self.places = [
            [Mac(bits, accumulator) for _ in range(cols)] for _ in range(rows)
        ]
        operand, total = signed(bits), signed(accumulator)
        super().__init__(
            {
                "clear": In(1),
                **{f"a{r}": In(operand) for r in range(rows)},
                **{f"b{c}": In(operand) for c in range(cols)},
                **{f"c{r}_{c}": Out(total) for r in range(rows) for c in range(cols)},
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Each place takes from its left and upper neighbour, or from the edge."""
        m = Module()
        for r, row in enumerate(self.places):
            for c, place in enumerate(row):
                m.submodules[f"pe{r}_{c}"] = place
                a = row[c - 1].a_out if c else getattr(self, f"a{r}")
                b = self.places[r - 1][c].b_out if r else getattr(self, f"b{c}")
                m.d.comb += [place.a_in.eq(a), place.b_in.eq(b)]
                m.d.comb += place.clear.eq(self.clear)
                m.d.comb += getattr(self, f"c{r}_{c}").eq(place.acc)
        return m
