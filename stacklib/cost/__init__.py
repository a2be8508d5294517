"""What things cost: dated quotes with their sources, and what is computed from them.

``wafer_price("n5")``, ``defect_density("n5")``, ``memory_price("hbm3e")`` and
``packaging_price("cowos_s")`` give a ``Range``; ``prices("h100")`` a list of quotes;
``names("wafer")`` lists the keys of a shelf; ``fact("cell", "n5")`` is what is known of
making memory. A price is a snapshot: its date is part of it.

``die`` is what a good die costs, ``package`` several joined, ``pieces`` a design cut
up; ``sram``, ``dram`` and ``hbm`` a gigabyte. ``gain`` is what one process has over
another, ``clock`` how fast chips got denser. What is computed from ranges is a
``Span``: least and most, never one number.
"""

from .assembly import Assembly, assemble, if_dearer
from .chiplets import Pieces, good_dies, pieces
from .data import (
    Bill,
    Quote,
    Range,
    bill,
    defect_density,
    memory_price,
    names,
    packaging_price,
    prices,
    wafer_price,
)
from .dies import Die, die
from .making import fact
from .memory import Held, array_efficiency, dram, held, sram, sram_area, sram_counted
from .moore import Chip, chips, clock, fixed_doubling
from .nodes import gain, mixed_density, path, shrink_blocks
from .packages import (
    Assembled,
    Package,
    Parts,
    assemble_packages,
    bumps,
    carriers,
    count_link,
    implied_bond,
    link_rate,
    package,
    package_cost,
    package_yield,
    reticle,
)
from .span import Span, span
from .stacks import (
    Costs,
    Workshop,
    build,
    hbm,
    hbm_costs,
    layer_yield,
    stack_cost,
    stack_yield,
)
from .trade import Trade, count_wafers, counted_ends, factors
from .wafers import Wafer, dies_exponential, dies_less_edge, grid_dies, lay
from .yields import harvested, murphy, negative_binomial, poisson, seeds, thrown

__all__ = [
    "Assembled",
    "Assembly",
    "Bill",
    "Chip",
    "Costs",
    "Die",
    "Held",
    "Package",
    "Parts",
    "Pieces",
    "Quote",
    "Range",
    "Span",
    "Trade",
    "Wafer",
    "Workshop",
    "array_efficiency",
    "assemble",
    "assemble_packages",
    "bill",
    "build",
    "bumps",
    "carriers",
    "chips",
    "clock",
    "count_link",
    "count_wafers",
    "counted_ends",
    "defect_density",
    "die",
    "dies_exponential",
    "dies_less_edge",
    "dram",
    "fact",
    "factors",
    "fixed_doubling",
    "gain",
    "good_dies",
    "grid_dies",
    "harvested",
    "hbm",
    "hbm_costs",
    "held",
    "if_dearer",
    "implied_bond",
    "lay",
    "layer_yield",
    "memory_price",
    "link_rate",
    "mixed_density",
    "murphy",
    "names",
    "negative_binomial",
    "package",
    "package_cost",
    "package_yield",
    "packaging_price",
    "path",
    "pieces",
    "poisson",
    "prices",
    "reticle",
    "seeds",
    "shrink_blocks",
    "span",
    "sram",
    "sram_area",
    "sram_counted",
    "stack_cost",
    "stack_yield",
    "thrown",
    "wafer_price",
]
