"""What things cost: dated quotes with their sources, and what is computed from them.

``wafer_price("n5")``, ``defect_density("n5")`` and ``memory_price("hbm3e")`` give a
``Range``; ``prices("h100")`` a list of quotes; ``parts("board")`` what is built from;
``names("wafer")`` lists the keys of a shelf; ``fact("cell", "n5")`` is what is known of
making memory. A price is a snapshot: its date is part of it.

``die`` is what a good die costs, ``package`` several joined, ``pieces`` a design cut
up; ``sram``, ``dram`` and ``hbm`` a gigabyte. ``gain`` is what one process has over
another, ``clock`` how fast chips got denser. What is computed from ranges is a
``Span``: least and most, never one number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .catalogue import parts
    from .chiplets import pieces
    from .data import (
        bill,
        defect_density,
        memory_price,
        names,
        prices,
        wafer_price,
    )
    from .dies import die
    from .making import fact
    from .memory import dram, sram
    from .moore import clock
    from .nodes import gain
    from .packages import bumps, package, reticle
    from .spans import span
    from .stacks import hbm
    from .tokens import break_even, token
    from .trade import factors
    from .wafers import grid_dies
    from .yields import poisson
else:
    __all__, __getattr__, __dir__ = offer(__name__)
