"""Kernels: attention, products, norms and sampling, written, counted and timed.

``flash_attention`` and ``naive_attention`` compute; ``io_count`` counts what tiles
move; ``pipeline`` says who waits for whom; ``attention_time`` what a device needs.
"""

from __future__ import annotations
