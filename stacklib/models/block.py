"""One layer: an attention, an MLP, and what holds them together."""

from __future__ import annotations

from dataclasses import dataclass

from .compressed import CompressedAttention
from .parts import Attention, Experts, LatentAttention, Matrix, Mlp
from .recurrent import Recurrent

AnyAttention = Attention | LatentAttention | CompressedAttention | Recurrent


@dataclass(frozen=True, slots=True)
class Block:
    """One kind of layer.

    Parameters
    ----------
    attention : Attention, LatentAttention, CompressedAttention or Recurrent
        How tokens look at each other.
    mlp : Mlp or Experts
        What each token then passes alone; of size 0 where there is none (Mamba-2).
    norms : int
        Norm vectors of the hidden size: an RMSNorm has one, a LayerNorm with
        bias two, a norm without weights none.
    streams : int
        Copies of the hidden state that hyper-connections mix (DeepSeek-V4); 0
        for a plain residual.
    """

    attention: AnyAttention
    mlp: Mlp | Experts
    norms: int = 2
    streams: int = 0

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
        return found

    def vectors(self, hidden: int) -> int:
        """Parameters outside the matrices: norms, sinks, scales."""
        scales = 6 if self.streams else 0  # three a mixing
        return self.norms * hidden + self.attention.vectors() + scales

    @property
    def grows(self) -> bool:
        """Whether every token adds the same to the cache and to a query's work."""
        a = self.attention
        if isinstance(a, CompressedAttention | Recurrent):
            return False
        return not (isinstance(a, Attention) and a.window)
