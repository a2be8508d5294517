"""One product on a NeuronCore, with an operand kept in its SBUF: the spill cliff.

The activations X lie in the SBUF, block by block of 128 columns, one for each
partition. The weights pass through a small ring, panel after panel, and every panel
needs all of X. How much of the SBUF X takes is how many tokens there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.quantity import Quantity, chosen
from stacklib.roofline.work.bounds import device_of

from .operations import Program, cyclic_loads
from .programs import matmul_program

SIDE = 8192  # rows and columns of the weights
WIDTH, SUM = 2, 4  # bytes of a bf16 number, and of an fp32 sum
RING = chosen(1, "MiB", label="ring the weights pass through")


@dataclass(frozen=True)
class SbufCase:
    """The product on one core of a device."""

    sbuf: Quantity  # bytes of one core's SBUF
    ring: Quantity  # of them, what the weights pass through
    partitions: int  # rows of the SBUF; a block of X has as many columns
    psum: Quantity  # bytes of the memory that sums stay in

    @property
    def blocks(self) -> int:
        """Blocks of X."""
        return SIDE // self.partitions

    @cached_property
    def panel(self) -> int:
        """Columns of a panel: a power of two, with which the sums still fit the PSUM.

        The sums are those of as many tokens as fill the whole SBUF.
        """
        widest = self.psum.si / (self.tokens(1) * SUM)
        return 1 << (int(widest).bit_length() - 1)

    @property
    def rounds(self) -> int:
        """Panels of the weights, each a round through X."""
        return SIDE // self.panel

    @cached_property
    def managed(self) -> int:
        """Bytes that are left for X."""
        return round(self.sbuf.si - self.ring.si)

    def tokens(self, use: float) -> int:
        """Most tokens whose activations take at most this share of the SBUF."""
        count = int(use * self.sbuf.si / (SIDE * WIDTH))
        if count < 1:
            raise ValueError(f"use = {use!r}: no token's activations are that small")
        return count

    def block_bytes(self, use: float) -> int:
        """Bytes of one block of X."""
        return self.tokens(use) * self.partitions * WIDTH

    def loaded(self, use: float, policy: str, *, snake: bool = False) -> int:
        """Bytes of X that are copied in, in closed form."""
        each = self.block_bytes(use)
        fit = self.managed // each
        return each * cyclic_loads(self.blocks, fit, self.rounds, policy, snake)

    def program(self, use: float, *, snake: bool = False) -> Program:
        """The product as operations, for `allocate`."""
        return matmul_program(
            self.tokens(use),
            SIDE,
            SIDE,
            block_k=self.partitions,
            panel_n=self.panel,
            width=WIDTH,
            snake=snake,
        )


def sbuf_case(on: str | Accelerator = "trainium2", ring: Quantity = RING) -> SbufCase:
    """The product on one core of a Trainium, weights through a ``ring``."""
    device = device_of(on)
    micro = hardware.microarchitecture(device)
    partitions, banks = micro.count("partitions"), micro.count("psum_banks")
    psum = (partitions * banks * micro.size("psum_bank")).to("MiB")
    sbuf = device.shared_per_unit.across(1).to("MiB")
    if not 0 < ring.to("B").si < sbuf.si:
        raise ValueError(f"ring = {ring}: more than nothing and less than {sbuf}")
    return SbufCase(
        sbuf.named("SBUF of a core"),
        ring,
        int(partitions.si),
        psum.named("PSUM of a core"),
    )
