"""The tiny model in two processes: attention and caches in one, MLPs in the other.

Two micro-batches are on their way, so that one side works on the first while the other
works on the second.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

from stacklib import tinylm
from stacklib.interconnect.sharding.processes import run_ranks
from stacklib.quantity.bounds import whole
from stacklib.tinylm.forward import (
    Floats,
    KVCache,
    attention,
    check_room,
    rms_norm,
    silu,
    turns,
)

from .exchange import LIMIT, one_rank

EMBED, NORM = "model.embed_tokens.weight", "model.norm.weight"
# Both sides may send at once; what a socket holds without a reader is limited.
LONGEST = 32


def attending(
    other: Connection, prompts: Sequence[Sequence[int]], new: int
) -> dict[str, Any]:
    """Embedding, attention, caches, and the choice of tokens."""
    model = tinylm.load()
    weights, config = model.weights, model.config
    caches = [KVCache(config) for _ in prompts]
    unread, crossed = [list(prompt) for prompt in prompts], 0
    made: list[list[int]] = [[] for _ in prompts]
    for _ in range(new):
        flow: list[Floats] = [weights[EMBED][ids] for ids in unread]
        for layer in range(config.num_hidden_layers):
            at = f"model.layers.{layer}."
            gain = weights[at + "input_layernorm.weight"]
            for which, cache in enumerate(caches):
                x = other.recv() if layer else flow[which]
                turn = turns(config)[:, cache.length : cache.length + len(x)]
                y = rms_norm(x, gain, config.rms_norm_eps)
                x = x + attention(
                    y, weights, at + "self_attn.", turn, config, cache, layer
                )
                other.send((layer, x))
                crossed += 2
        for which, cache in enumerate(caches):
            x = other.recv()
            cache.length += len(x)
            x = rms_norm(x[-1:], weights[NORM], config.rms_norm_eps)
            unread[which] = [int((x @ weights[EMBED].T)[0].argmax())]
            made[which] += unread[which]
    other.send(None)
    return {"outputs": made, "crossings": crossed}


def multiplying(other: Connection) -> int:
    """The MLP of whatever layer is asked for; how many it did."""
    model = tinylm.load()
    weights, count = model.weights, 0
    while (asked := other.recv()) is not None:
        layer, x = asked
        at = f"model.layers.{layer}."
        y = rms_norm(
            x,
            weights[at + "post_attention_layernorm.weight"],
            model.config.rms_norm_eps,
        )
        gate = silu(y @ weights[at + "mlp.gate_proj.weight"].T)
        up = y @ weights[at + "mlp.up_proj.weight"].T
        other.send(x + (gate * up) @ weights[at + "mlp.down_proj.weight"].T)
        count += 1
    return count


def run_two_halves(prompts: Sequence[Sequence[int]], new: int) -> dict[str, Any]:
    """Answers of two processes that take turns in every layer, and their crossings."""
    whole(new=new, prompts=len(prompts))
    config = tinylm.load().config
    for prompt in prompts:
        whole(tokens=len(prompt))
        if len(prompt) > LONGEST:
            raise ValueError(f"{len(prompt)} tokens of a prompt: at most {LONGEST}")
        check_room(new, len(prompt), config)
    program = [sys.executable, "-m", __name__, json.dumps([prompts, new])]
    found, mlps = run_ranks(program, 2, limit_s=LIMIT)
    return {**found, "mlps": mlps}


def main(words: Sequence[str]) -> None:
    """Of the process that attends, and of the one that multiplies."""
    one_rank(words, attending, lambda other, prompts, new: multiplying(other))


if __name__ == "__main__":
    main(sys.argv[1:])
