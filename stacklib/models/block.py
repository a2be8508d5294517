"""One layer: an attention, an MLP, and what holds them together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .compressed import CompressedAttention
from .parts import Attention, Experts, LatentAttention, Matrix, Mlp, Skipped
from .recurrent import Recurrent

AnyAttention = Attention | LatentAttention | CompressedAttention | Recurrent | Skipped


@dataclass(frozen=True, slots=True)
class Block:
    """One kind of layer.

    Parameters
    ----------
    attention : Attention, LatentAttention, CompressedAttention, Recurrent or Skipped
        How tokens look at each other.
    mlp : Mlp or Experts
        What each token then passes alone; of size 0 where there is none (Mamba-2).
    norms : int
        Norm vectors of the hidden size: an RMSNorm has one, a LayerNorm with
        bias two, a norm without weights none.
    streams : int
        Copies of the hidden state that hyper-connections mix (DeepSeek-V4); 0
        for a plain residual.
    layer_input : int
        Size of the vector that every layer is given of a token besides the hidden
        state (Gemma 4's small models); 0 for none.
    scalars : int
        Single numbers (Gemma 4 scales each layer's result by one).
    """

    attention: AnyAttention
    mlp: Mlp | Experts
    norms: int = 2
    streams: int = 0
    layer_input: int = 0
    scalars: int = 0

    @property
    def kind(self) -> str:
        """Both parts in words, for tables."""
        m = self.mlp
        if isinstance(m, Mlp):
            return self.attention.kind + ("; MLP" if m.intermediate else "")
        shared = " + shared" if m.shared else ""
        return f"{self.attention.kind}; {m.top_k} of {m.experts} experts{shared}"

    def matrices(self, hidden: int) -> list[Matrix]:
        """Every matrix of the layer, attention first."""
        found = [*self.attention.matrices(hidden), *self.mlp.matrices(hidden)]
        if self.streams:
            n = self.streams
            found += [
                Matrix(f"mix streams for {part}", n * hidden, n * (n + 2), True)
                for part in ("attention", "MLP")
            ]
        if self.layer_input:
            # the first is this layer's share of one matrix for all
            for name in ("project layer input", "gate layer input"):
                found.append(Matrix(name, hidden, self.layer_input))
            found.append(Matrix("add layer input", self.layer_input, hidden))
        return found

    def vectors(self, hidden: int) -> int:
        """Parameters outside the matrices: norms, sinks, scales."""
        scales = self.scalars + (6 if self.streams else 0)  # three a mixing
        return self.norms * hidden + self.attention.vectors() + scales

    @property
    def grows(self) -> bool:
        """Whether every token adds the same to the cache and to a query's work."""
        a = self.attention
        if isinstance(a, CompressedAttention | Recurrent | Skipped):
            return False
        if isinstance(a, LatentAttention):
            return not a.selected
        return a.plain and not a.window

    @property
    def keeps_all(self) -> bool:
        """Whether the cache keeps what every token leaves, windows and states not."""
        if isinstance(self.attention, LatentAttention):
            return True
        return isinstance(self.attention, Attention) and not self.attention.window


def has_state(block: Block) -> bool:
    """Whether the layer has a recurrent state."""
    return isinstance(block.attention, Recurrent)


def has_cache(block: Block) -> bool:
    """Whether the layer reads a cache that grows, its own or a borrowed one."""
    return not isinstance(block.attention, Recurrent | Skipped)


def alike(blocks: Iterable[Block]) -> bool:
    """Whether all layers with a cache have one plain shape, windows apart."""
    found = [block.attention for block in blocks if has_cache(block)]
    grouped = {replace(a, window=0) for a in found if isinstance(a, Attention)}
    latent = [a for a in found if isinstance(a, LatentAttention)]
    plain = all(a.plain for a in grouped) and not any(a.selected for a in latent)
    return plain and len(grouped) < 2
