"""Bytes that each chip holds and sends, by what is sharded among chips.

ZeRO (S. Rajbhandari et al., *ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models*, 2020) holds in parts what data-parallel chips would hold n times:
from stage 1 the optimizer's state, from 2 the gradients, from 3 the weights, too, which
is what FSDP does. Tensor parallelism (M. Shoeybi et al., *Megatron-LM*, 2019) splits
the matrices and adds up activations; sequence parallelism (V. Korthikanti et al.,
*Reducing Activation Recomputation in Large Transformer Models*, 2022) splits what that
left whole. Sums are of rings: each chip sends (n - 1) / n of an array for a
reduce-scatter or an all-gather, twice that for an all-reduce. Floats, quantities or
arrays. Left out: padding, buffers, and what a framework keeps for a moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity.bounds import at_least, is_whole, whole

STAGES = (0, 1, 2, 3)
WEIGHT, GRADIENT, STATE = 2, 2, 12  # bytes: bf16, bf16, and fp32 copy and two moments
FORWARD, TRAINING = 2, 4  # all-reduces of a layer: behind attention and behind the MLP


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of one chip that last from step to step."""

    weights: Any
    gradients: Any
    state: Any  # of the optimizer

    @property
    def total(self) -> Any:
        """All of it."""
        return self.weights + self.gradients + self.state


def shard_memory(
    parameters: Any,
    ranks: Any,
    zero: int = 0,
    *,
    weight: Any = WEIGHT,
    gradient: Any = GRADIENT,
    state: Any = STATE,
) -> Held:
    """Bytes that a chip holds of a model in training.

    - ``parameters``: of the model, or of a chip's part where tensors are split, too.
    - ``zero``: 0 data parallel, 1 state in parts, 2 gradients too, 3 weights (FSDP).
    - ``weight``, ``gradient``, ``state``: bytes of each for a parameter; 2, 2 and 12
      are Adam's in mixed precision.

    >>> [shard_memory(70e9, 64, zero).total / 1e9 for zero in (0, 1, 2, 3)]
    [1120.0, 293.125, 155.3125, 17.5]
    """
    _checked(parameters, ranks, zero)
    return Held(
        parameters * weight / (ranks if zero >= 3 else 1),
        parameters * gradient / (ranks if zero >= 2 else 1),
        parameters * state / (ranks if zero >= 1 else 1),
    )


def shard_bytes(
    parameters: Any,
    ranks: Any,
    zero: int = 0,
    *,
    weight: Any = WEIGHT,
    gradient: Any = GRADIENT,
) -> Any:
    """Bytes that a chip sends in a step of training over rings, one direction.

    Stages 1 and 2 make the rounds of the all-reduce apart and update in between; stage
    3 gathers the weights once more, before the backward pass. Arguments are those of
    ``shard_memory``.

    >>> [shard_bytes(1e9, 4, zero) / 1e9 for zero in (0, 1, 2, 3)]
    [3.0, 3.0, 3.0, 4.5]
    """
    _checked(parameters, ranks, zero)
    share = (ranks - 1) / ranks
    reduced, gathered = parameters * gradient * share, parameters * weight * share
    if zero == 0:
        return reduced + reduced
    return reduced + gathered + (gathered if zero == 3 else 0 * gathered)


def tensor_message(hidden: Any, tokens: Any, *, width: Any = 2) -> Any:
    """Bytes that one all-reduce adds up, of each chip: the tokens' activations."""
    at_least(0, hidden=hidden, tokens=tokens)
    return tokens * hidden * width


def tensor_bytes(
    layers: Any,
    hidden: Any,
    tokens: Any,
    ways: Any,
    *,
    width: Any = 2,
    each: int = FORWARD,
) -> Any:
    """Bytes that a chip sends where matrices are split ``ways``, one direction.

    Sequence parallel sends as many: each all-reduce becomes a reduce-scatter and an
    all-gather.

    - ``each``: all-reduces of a layer, 2 forward and 4 in training.
    """
    at_least(1, layers=layers, ways=ways)
    message = tensor_message(hidden, tokens, width=width)
    return each * layers * message * (2 * (ways - 1) / ways)


def kept_activations(
    hidden: Any, tokens: Any, ways: Any = 1, *, sequence: bool = False
) -> Any:
    """Bytes of a layer's activations that wait for the backward pass, on a chip.

    Attention's scores, which FlashAttention makes again, are left out; 16-bit numbers,
    an MLP of four times the width, masks of dropout a byte each.
    """
    at_least(1, hidden=hidden, tokens=tokens, ways=ways)
    return tokens * hidden * (34 / ways if sequence else 10 + 24 / ways)


KEPT = (  # what, bytes for each number of tokens x hidden, whether matrices split it
    ("input of the first norm", 2, False),
    ("input of q, k, v", 2, False),
    ("q", 2, True),
    ("k", 2, True),
    ("v", 2, True),
    ("input of the output matrix", 2, True),
    ("mask behind attention", 1, False),
    ("input of the second norm", 2, False),
    ("input of the MLP", 2, False),
    ("input of the activation", 8, True),
    ("input of the second matrix", 8, True),
    ("mask behind the MLP", 1, False),
)


def _checked(parameters: Any, ranks: Any, zero: int) -> None:
    at_least(1, parameters=parameters, ranks=ranks)
    if is_whole(ranks):
        whole(ranks=ranks)
    if not is_whole(zero) or zero not in STAGES:
        raise ValueError(f"zero = {zero!r}: a stage from 0 to 3 is needed")
