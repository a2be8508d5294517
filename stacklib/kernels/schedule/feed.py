"""DeepGEMM's producer and consumers: one warp group loads, two multiply and promote.

A step loads a tile of both FP8 operands by TMA and arms a barrier; the consumer
multiplies it (``wgmma``), then adds the unit's short sum to its FP32 sum on the CUDA
cores (two-level accumulation, DeepSeek-V3, arXiv 2412.19437, section 3.3.2; DeepGEMM's
README of 2025). With one consumer the promotion stands between products; with two, one
promotes while the other multiplies. The feed alone is ``gpu.tensor.tile_feed``; three
ways agree there: ``feed_time`` in closed form, ``run_feed`` as its recurrence, and this
room's event simulation.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.gpu.tensor.tile_feed import Feed, feed_of
from stacklib.quantity.bounds import at_least, whole

from .pipeline import Stage, Timeline, pipeline
from .rates import rates_of

# A promotion multiplies two scales once a row and adds each sum with one multiply-add.
PROMOTE_OPS = 1.0
DEPTH = 128  # products that the tensor cores add before a promotion


def feed_events(feed: Feed, steps: int) -> Timeline:
    """A feed as events: loads on the way to the L2, products on the tensor cores."""
    load, latency, mma = (
        float(getattr(cycles, "si", cycles))
        for cycles in (feed.load, feed.latency, feed.mma)
    )
    stages = (Stage("load", load, "TMA", (), latency), Stage("multiply", mma, "tensor"))
    return pipeline(stages, steps, int(feed.buffers))


@dataclass(frozen=True, slots=True)
class Promoted:
    """A block's loop with two-level accumulation."""

    feed: Feed
    promote: float  # cycles of a consumer's promotion, on all FP32 lanes
    consumers: int = 2

    def __post_init__(self) -> None:
        at_least(0, promote=self.promote)
        whole(consumers=self.consumers)


def promoted_of(
    on: str = "h800_sxm",
    *,
    rows: int = 128,
    columns: int = 128,
    buffers: int = 6,
    consumers: int = 2,
    cluster: tuple[int, int] = (2, 1),
) -> Promoted:
    """DeepGEMM's tile on a device: each consumer has ``rows / consumers`` rows.

    ``cluster``: blocks that share what they load, by TMA's multicast.

    - raises ``ValueError`` for buffers that do not fit, or rows that the consumers
      cannot share.
    """
    whole(consumers=consumers)
    if rows % consumers:
        raise ValueError(f"rows = {rows}: not a multiple of consumers = {consumers}")
    feed = feed_of(
        on,
        rows=rows,
        columns=columns,
        depth=DEPTH,
        dtype="fp8",
        cluster=cluster,
        buffers=buffers,
    )
    lanes = rates_of(on, "fp8").fma
    sums = rows * columns / consumers
    return Promoted(feed, PROMOTE_OPS * sums / lanes, consumers)


def promoted_events(loop: Promoted, steps: int) -> Timeline:
    """The loop as events: a load feeds every consumer, each promotes its own sums."""
    load, latency, mma = (
        float(getattr(cycles, "si", cycles))
        for cycles in (loop.feed.load, loop.feed.latency, loop.feed.mma)
    )
    stages = [Stage("load", load, "TMA", (), latency)]
    for number in range(loop.consumers):
        stages += [
            Stage(
                f"multiply {number}",
                mma / loop.consumers,
                "tensor",
                ("load", (f"promote {number}", 1)),
            ),
            Stage(f"promote {number}", loop.promote, "FP32", (f"multiply {number}",)),
        ]
    return pipeline(stages, steps, {"load": int(loop.feed.buffers)})


def promoted_pace(loop: Promoted) -> float:
    """Cycles of a step in steady state, in closed form.

    ``max(load, mma, c p, mma / c + p, (load + latency + mma) / buffers)`` for ``c``
    consumers that promote for ``p``: each way alone, one consumer's own round, and the
    hand-over of a buffer.
    """
    load, latency, mma = (
        float(getattr(cycles, "si", cycles))
        for cycles in (loop.feed.load, loop.feed.latency, loop.feed.mma)
    )
    own = mma / loop.consumers + loop.promote
    once = (load + latency + mma) / loop.feed.buffers
    return max(load, mma, loop.consumers * loop.promote, own, once)
