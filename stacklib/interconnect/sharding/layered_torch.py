"""The tiny model as blocks that can be sharded, and as parts of blocks that add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from stacklib.tinylm.config import Config
from stacklib.tinylm.model_torch import Decoder

from .parts import BY_INPUT, BY_OUTPUT


class Block(Decoder):
    """One block with parameters of its own, which FSDP gathers and drops."""

    def __init__(self, whole: Decoder, layer: int) -> None:
        nn.Module.__init__(self)
        self.config, self.layer = whole.config, layer
        mine = f"model/layers/{layer}/"
        self.weights = nn.ParameterDict(
            {name: w for name, w in whole.weights.items() if name.startswith(mine)}
        )
        self.register_buffer("cos", whole.cos, persistent=False)
        self.register_buffer("sin", whole.sin, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """The stream after this block."""
        return self.block(x, self.layer)


class Layered(Decoder):
    """The decoder, its blocks as modules; the same weights from the same seed."""

    def __init__(self, config: Config, kind: type[Block] = Block) -> None:
        super().__init__(config)
        self.layers = nn.ModuleList(
            [kind(self, layer) for layer in range(config.num_hidden_layers)]
        )
        for name in [name for name in self.weights if name.startswith("model/layers/")]:
            del self.weights[name]

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, tokens, vocab) of ids (batch, tokens)."""
        x = F.embedding(ids, self.weight("model.embed_tokens.weight"))
        for layer in self.layers:
            x = layer(x)
        return self.logits(x)


class _Enter(torch.autograd.Function):
    """Into split matrices: nothing forward, a sum of the gradients backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        total = grads[0].contiguous()
        dist.all_reduce(total)
        return total


class _Leave(torch.autograd.Function):
    """Out of split matrices: a sum forward, nothing backward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        total = x.contiguous()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        return grads[0]


class TensorBlock(Block):
    """One rank's part of a block: its heads, and its columns of the MLP."""

    def __init__(self, whole: Decoder, layer: int) -> None:
        super().__init__(whole, layer)
        rank, ways, c = dist.get_rank(), dist.get_world_size(), whole.config
        if c.num_key_value_heads % ways:
            raise ValueError(
                f"{c.num_key_value_heads} heads of keys among {ways} ranks: each"
                " needs as many"
            )
        self.config = replace(
            c,
            num_attention_heads=c.num_attention_heads // ways,
            num_key_value_heads=c.num_key_value_heads // ways,
        )
        for name, weight in list(self.weights.items()):
            axis = next((0 for k in BY_OUTPUT if k in name), None)
            axis = next((1 for k in BY_INPUT if k in name), axis)
            if axis is not None:
                part = weight.detach().chunk(ways, axis)[rank].clone()
                self.weights[name] = nn.Parameter(part)

    def block(self, x: Tensor, layer: int) -> Tensor:
        """As the whole block, with a sum behind attention and one behind the MLP."""
        at = f"model.layers.{layer}."
        y = _Enter.apply(self.norm(x, f"{at}input_layernorm.weight"))
        x = x + _Leave.apply(self.attention(y, layer))
        y = _Enter.apply(self.norm(x, f"{at}post_attention_layernorm.weight"))
        gate = F.silu(y @ self.weight(f"{at}mlp.gate_proj.weight").T)
        up = y @ self.weight(f"{at}mlp.up_proj.weight").T
        down = self.weight(f"{at}mlp.down_proj.weight")
        return x + _Leave.apply((gate * up) @ down.T)
