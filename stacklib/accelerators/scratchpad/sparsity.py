"""What 2:4 sparsity buys: half the products, not half the bytes, not half the time.

Of every four weights two are stored, each with two bits for its place. So a product
takes half the multiply-adds, a weight of b bits takes b / 2 + 1 on average, and a step
of which a share f is such products takes f / gain + 1 - f of its time (G. Amdahl,
1967). ``gpu.tensor.sparsity`` prunes and multiplies; here is what that is worth.
"""

from __future__ import annotations

from stacklib.quantity.bounds import whole
from stacklib.roofline.bound.scaling import speed_up_of_part

PLACE = 2  # bits that say where among four a kept weight stood
KEPT, OF = 2, 4


def bits_per_weight(bits: int) -> float:
    """Bits of a weight of the full matrix, stored 2:4 with its places."""
    whole(bits=bits)
    return KEPT * (int(bits) + PLACE) / OF


def sparse_gain(covered: float, bits: int = 16, bound: str = "compute") -> float:
    """How much sooner a step ends with its products 2:4.

    - ``covered``: share of its time that these products take, 0 to 1.
    - ``bound``: ``compute``, where multiply-adds are halved, or ``memory``, where
      weights are read with their places.
    - raises ``ValueError`` for a share outside 0 to 1 and another bound.
    """
    if bound not in ("compute", "memory"):
        raise ValueError(f"bound = {bound!r}: compute or memory")
    stored = bits_per_weight(bits)
    gain = OF / KEPT if bound == "compute" else bits / stored
    return float(speed_up_of_part(covered, gain))
