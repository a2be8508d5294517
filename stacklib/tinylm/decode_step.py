"""One decode step of the tiny model on this machine, predicted.

    t = max(FLOPs / peak, bytes / bandwidth) + calls x overhead

over all products together. They are matrix times vector, so each weight is read once
for two operations.
Everything else is small: what it costs is the calls. A call of NumPy takes about a
microsecond whatever it does, and a step makes some two hundred of them. Left out: the
Python between the calls, sampling, and weights that another program pushed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stacklib.quantity import Quantity, counted, stamp
from stacklib.roofline import HostRoofline, bound_time

from .config import Config
from .plan import SIZE, linear_layers

# NumPy calls in `forward`. A norm squares, averages (two), adds, roots, divides and
# scales.
NORM_CALLS = 7
# Two norms; seven products; two rotations of eight; scores, their scale, softmax of
# five, values; silu of four and its product; two residuals.
LAYER_CALLS = 2 * NORM_CALLS + 7 + 2 * 8 + 2 + 5 + 1 + 5 + 2
TOP_CALLS = 1 + NORM_CALLS + 1  # embedding, last norm, logits


@dataclass(frozen=True, slots=True)
class DecodeTime:
    """A pass of the model on this machine: its work and where the time should go."""

    operations: Quantity  # of the products
    bytes: Quantity  # the numbers they read
    products: Quantity  # seconds of the products
    calls: Quantity  # of calling NumPy
    time: Quantity
    peak: Quantity  # rates that the products were timed with
    bandwidth: Quantity

    @property
    def bound(self) -> str:
        """``calls`` or ``products``: what takes longer."""
        return "calls" if self.calls > self.products else "products"


def calls_of_step(config: Config) -> int:
    """NumPy calls of one forward pass, whatever its length."""
    return config.num_hidden_layers * LAYER_CALLS + TOP_CALLS


def decode_time(config: Config, context: int, host: HostRoofline) -> DecodeTime:
    """The step that reads one token after ``context`` cached ones."""
    return _time(config, 1, context, host)


def prefill_time(config: Config, tokens: int, host: HostRoofline) -> DecodeTime:
    """A prompt of ``tokens`` in one pass with an empty cache."""
    return _time(config, tokens, 0, host)


def products_of(
    config: Config, tokens: int, past: int
) -> Iterator[tuple[str, float, float, float]]:
    """Products of a pass over ``tokens`` with ``past`` cached.

    Each is its name, its operations, bytes of its weights or of the cache, and bytes of
    activations; those of attention are one.
    """
    if tokens < 1 or past < 0 or tokens + past > config.max_position_embeddings:
        raise ValueError(
            f"{past} cached and {tokens} new tokens: 1 to "
            f"{config.max_position_embeddings} in all are needed"
        )
    seen = tokens * past + tokens * tokens  # a mask does not spare NumPy the work
    width = config.num_attention_heads * config.head_dim
    kept = (past + tokens) * 2 * config.num_key_value_heads * config.head_dim
    layers = config.num_hidden_layers
    yield "attention", 4.0 * seen * width * layers, 1.0 * SIZE * kept * layers, 0
    for name, n, k, count in linear_layers(config):
        flops = 2.0 * tokens * n * k * count
        yield name, flops, SIZE * n * k * count, SIZE * tokens * (n + k) * count


def _time(config: Config, tokens: int, past: int, host: HostRoofline) -> DecodeTime:
    products_ = list(products_of(config, tokens, past))
    flops = [flops for _, flops, _, _ in products_]
    moved = [kept + passed for _, _, kept, passed in products_]
    work = counted(sum, flops, unit="FLOP", label="operations of the products")
    bytes_ = counted(sum, moved, unit="B", label="bytes of the products")
    # All weights are the working set: a step reads each once and comes back to it.
    bandwidth, peak = host.bandwidth_at(bytes_, "read"), host.peak("fp32")
    products = bound_time(work, bytes_, peak, bandwidth)
    number = counted(calls_of_step, config, label="NumPy calls")
    calls = number * host.overhead("gemv")
    return DecodeTime(
        work,
        bytes_,
        stamp(products.named("time of the products"), "host"),
        stamp(calls.named("time of calling"), "host"),
        (products + calls).named("time of the step"),
        peak,
        bandwidth,
    )
