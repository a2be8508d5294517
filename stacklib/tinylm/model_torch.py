"""The same decoder in torch, to be trained and to check the NumPy one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from .config import Config, shapes


class Decoder(nn.Module):
    """Logits of every next token, for a batch of sequences.

    Its parameters have the names and shapes of `config.shapes`, flat: a name is
    looked up, not assembled from modules.
    """

    def __init__(self, config: Config, *, recompute: bool = False) -> None:
        super().__init__()
        self.config, self.recompute = config, recompute
        self.weights = nn.ParameterDict()
        # Residual writes shrink with depth, so that the stream does not grow with it.
        residual = 0.02 / (2 * config.num_hidden_layers) ** 0.5
        for name, shape in shapes(config).items():
            weight = torch.ones(shape)
            if len(shape) == 2:
                writes = name.endswith(("o_proj.weight", "down_proj.weight"))
                weight = nn.init.normal_(weight, std=residual if writes else 0.02)
            self.weights[name.replace(".", "/")] = nn.Parameter(weight)
        angle = rotary_angles(config)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def weight(self, name: str) -> Tensor:
        """One weight by its Hugging Face name."""
        return self.weights[name.replace(".", "/")]

    def named(self) -> dict[str, Tensor]:
        """All weights by their Hugging Face names."""
        return {name: self.weight(name).detach() for name in shapes(self.config)}

    def assign(self, weights: Mapping[str, Any]) -> None:
        """Take over ``weights``, arrays by name."""
        with torch.no_grad():
            for name in shapes(self.config):
                self.weight(name).copy_(torch.as_tensor(weights[name]))

    def forward(self, ids: Tensor) -> Tensor:
        """Logits (batch, tokens, vocab) of ids (batch, tokens)."""
        x = F.embedding(ids, self.weight("model.embed_tokens.weight"))
        for layer in range(self.config.num_hidden_layers):
            # Only each block's input is kept for the backward pass, which runs the
            # block again (gradient checkpointing, Chen et al., 2016).
            if self.recompute:
                x = checkpoint(self.block, x, layer, use_reentrant=False)
            else:
                x = self.block(x, layer)
        return self.logits(x)

    def logits(self, x: Tensor) -> Tensor:
        """Logits of the residual stream after the last block."""
        x = self.norm(x, "model.norm.weight")
        return x @ self.weight("model.embed_tokens.weight").T

    def block(self, x: Tensor, layer: int) -> Tensor:
        """One block: attention, then feed-forward, each added to what it read."""
        at = f"model.layers.{layer}."
        x = x + self.attention(self.norm(x, f"{at}input_layernorm.weight"), layer)
        y = self.norm(x, f"{at}post_attention_layernorm.weight")
        gate = F.silu(y @ self.weight(f"{at}mlp.gate_proj.weight").T)
        up = y @ self.weight(f"{at}mlp.up_proj.weight").T
        return x + (gate * up) @ self.weight(f"{at}mlp.down_proj.weight").T

    def attention(self, x: Tensor, layer: int) -> Tensor:
        """Causal grouped-query attention over x (batch, tokens, hidden)."""
        c, (batch, tokens, _) = self.config, x.shape
        at = f"model.layers.{layer}.self_attn."

        def heads(name: str, count: int) -> Tensor:
            flat = x @ self.weight(f"{at}{name}.weight").T
            return flat.view(batch, tokens, count, c.head_dim).transpose(1, 2)

        q = self.rotated(heads("q_proj", c.num_attention_heads))
        k = self.rotated(heads("k_proj", c.num_key_value_heads))
        v = heads("v_proj", c.num_key_value_heads)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        flat = y.transpose(1, 2).reshape(batch, tokens, -1)
        return flat @ self.weight(f"{at}o_proj.weight").T

    def rotated(self, x: Tensor) -> Tensor:
        """x (batch, heads, tokens, head_dim) turned by its positions' angles."""
        cos, sin = self.cos[: x.shape[2]], self.sin[: x.shape[2]]
        first, second = x.chunk(2, dim=-1)
        return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)

    def norm(self, x: Tensor, name: str) -> Tensor:
        """x over its root mean square, times a learned gain (RMSNorm)."""
        return F.rms_norm(x, x.shape[-1:], self.weight(name), self.config.rms_norm_eps)


def rotary_angles(config: Config) -> Tensor:
    """Angle of each position and pair of numbers, (max context, head_dim / 2)."""
    half = torch.arange(config.head_dim // 2, dtype=torch.float32)
    speed = config.rope_theta ** (-2 * half / config.head_dim)
    places = torch.arange(config.max_position_embeddings, dtype=torch.float32)
    return torch.outer(places, speed)
