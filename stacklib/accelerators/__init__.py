"""Every other bet on the same products: arrays, wires, packets, chips full of SRAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .array.control import control_share
    from .array.cycles import cycles, sram_reads, utilisation
    from .array.network import conv_to_gemm, network
    from .array.power import throttle
    from .array.systolic import SystolicArray
    from .machines.compare import compare
    from .machines.porting import porting_cost
    from .machines.possible import limits
    from .machines.rows import machine
    from .packets.organisations import organise
    from .packets.pack import pack
    from .packets.verify import verify
    from .products.byte_matmul import byte_split_matmul
    from .products.demosaic import demosaic
    from .products.mask_rom import mask_rom
    from .scratchpad.engines import engines
    from .sram.plan import sram_machine
    from .sram.static import timetable
    from .sram.stream import stream
else:
    __all__, __getattr__, __dir__ = offer(__name__)
