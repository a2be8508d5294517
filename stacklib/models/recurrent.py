"""Layers that keep a state instead of a cache: it does not grow with the context.

Each token passes some projections, often a short causal convolution, and then updates
and reads a state of one small matrix a head: the gated delta rule (Qwen3-Next),
lightning attention (MiniMax), the selective state space of Mamba-2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .parts import Matrix


@dataclass(frozen=True, slots=True)
class Recurrent:
    """A layer with a recurrent state.

    Parameters
    ----------
    name : str
        What it is called in tables.
    heads, key_dim, value_dim : int
        States a layer, and the rows and columns of one.
    inputs : tuple of (str, int)
        Matrices from the hidden state: name and columns.
    width : int
        Rows of the matrix back to the hidden state.
    passes : int
        Multiply-adds a token spends on each number of the state: updating it, reading
        the output, and for the delta rule reading what it holds before.
    extras : int
        Parameters in norms and scalars of the heads.
    bias : bool
        Whether the matrices have biases.
    channels, kernel : int
        Of the convolution; 0 channels without one.
    conv_bias : bool
        Whether the convolution has a bias.
    """

    name: str
    heads: int
    key_dim: int
    value_dim: int
    inputs: tuple[tuple[str, int], ...]
    width: int
    passes: int
    extras: int
    bias: bool = False
    channels: int = 0
    kernel: int = 1
    conv_bias: bool = False

    @property
    def kind(self) -> str:
        """The name, with the size of the state."""
        return f"{self.name}, state {self.heads} x {self.key_dim} x {self.value_dim}"

    @property
    def kv_heads(self) -> int:
        """States a layer, which stand where others have heads of keys and values."""
        return self.heads

    @property
    def cache_heads(self) -> int:
        """States can be shared out by head."""
        return self.heads

    @property
    def head_dim(self) -> int:
        """Columns of a state."""
        return self.value_dim

    def matrices(self, hidden: int) -> list[Matrix]:
        """Projections in, the convolution, and the projection back."""
        found = [Matrix(name, hidden, n, self.bias) for name, n in self.inputs]
        if self.channels:
            conv = Matrix("convolution", self.kernel, self.channels, self.conv_bias)
            found.append(conv)
        return [*found, Matrix("o", self.width, hidden, self.bias)]

    def vectors(self) -> int:
        """Norms and scalars of the heads."""
        return self.extras

    @property
    def state(self) -> int:
        """Numbers one sequence keeps: the states, and the convolution's last inputs."""
        inputs = self.channels * (self.kernel - 1)
        return self.heads * self.key_dim * self.value_dim + inputs

    @property
    def per_token(self) -> int:
        """Numbers a token adds: none."""
        return 0

    def cached(self, tokens: Any) -> Any:
        """Numbers kept of a sequence of any length."""
        return self.state + 0 * tokens

    def read(self, tokens: Any) -> Any:
        """Numbers a token moves: the state is read and written back."""
        return 2 * self.state + 0 * tokens

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """Multiply-adds of one token on the state, whatever came before it."""
        each = self.passes * self.heads * self.key_dim * self.value_dim
        return {"state": each + 0 * tokens}

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """Multiply-adds of a prompt, token by token; what chunks add is left out."""
        return {"state": tokens * self.score_macs(0, absorbed=True)["state"]}
