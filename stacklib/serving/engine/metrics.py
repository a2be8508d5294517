"""Counters and gauges of an engine, as a server shows them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .latency import Latency


@dataclass(slots=True)
class Counts:
    """What an engine counted since it was made.

    ``cached_tokens`` are prefix hits, of first admissions only: tokens that a request
    computed itself and found again after an eviction are ``restored_tokens``, and those
    it had to compute again are ``recomputed_tokens``.
    """

    submitted: int = 0
    finished: int = 0
    cancelled: int = 0
    steps: int = 0
    rows: int = 0  # tokens through the model
    prompt_tokens: int = 0  # of admitted requests
    generated_tokens: int = 0
    cached_tokens: int = 0
    tier_tokens: int = 0  # of cached and restored ones, copied back from a tier
    restored_tokens: int = 0
    recomputed_tokens: int = 0
    preemptions: int = 0
    blocks_swapped_out: int = 0
    blocks_swapped_in: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    rolled_back_blocks: int = 0  # that only rejected drafts had taken


@dataclass(frozen=True, slots=True)
class Metrics:
    """An engine at one moment: counts since the start, and gauges."""

    counts: Counts
    running: int
    waiting: int  # in line
    blocks: int  # of the pool
    blocks_used: int  # held by requests
    blocks_cached: int  # findable, though nobody holds them
    blocks_free: int
    latencies: tuple[Latency, ...] = field(repr=False)  # of those that ended lately

    @property
    def hit_rate(self) -> float:
        """Prompt tokens found computed, over all prompt tokens; 0 before the first."""
        return self.counts.cached_tokens / max(1, self.counts.prompt_tokens)
