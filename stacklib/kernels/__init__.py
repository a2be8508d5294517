"""Kernels: attention, products, norms and sampling, written, counted and timed.

``flash_attention`` computes what ``naive_attention`` does and holds a tile of the
scores at a time; ``io_count`` says what the tiles move, ``attention_time`` what a
device needs for it. ``pipeline`` runs tiles through stages and says who waits for whom,
``launch_time`` and ``replay_time`` what starting kernels costs, ``fuse`` which traffic
disappears. Counts and times need the standard library only; arrays use NumPy, and
kernels for a device torch and Triton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib import offer

if TYPE_CHECKING:
    from .attention.count import io_count
    from .attention.flash import flash_attention
    from .attention.naive import naive_attention
    from .experts.rounding import round_tokens
    from .experts.tiles import expert_tiles
    from .launch.fuse import fuse
    from .launch.launches import launch_time, replay_time
    from .launch.recompute import checkpoint_plan
    from .plan.advise import advise
    from .plan.search import search
    from .rows.flash_sampling import flash_sampling
    from .schedule.attention_time import attention_time
    from .schedule.generations import generation
    from .schedule.pipeline import pipeline
else:
    __all__, __getattr__, __dir__ = offer(__name__)
