"""Compressed attention of DeepSeek-V4: a window, and a long range pooled by a rate.

Every query sees the last ``window`` tokens. In a compressed layer it also sees
one entry for every ``rate`` tokens before: all of them, or those ``top_k`` that a
small indexer scores best. Key and value are the same vector, shared by all
heads. Counted from the release's tensor list; formats of the cache are not
published with the config, so every number of it is taken in one format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stacklib.quantity import minimum

from .parts import Indexer, Matrix, pairs_of_prompt


@dataclass(frozen=True, slots=True)
class CompressedAttention:
    """A layer of DeepSeek-V4.

    Parameters
    ----------
    heads, head_dim : int
        Query heads; size of a head and of the one shared key-value.
    q_lora_rank, o_lora_rank, o_groups : int
        Sizes of the query latent and of each group's output latent; groups.
    window : int
        Tokens seen as they are.
    rate : int
        Tokens an entry stands for; 0 in a layer without compression.
    indexer : Indexer, optional
        Selects entries; with one, entries overlap and their projections are
        twice as wide.
    """

    heads: int
    head_dim: int
    q_lora_rank: int
    o_lora_rank: int
    o_groups: int
    window: int
    rate: int = 0
    indexer: Indexer | None = None

    @property
    def kind(self) -> str:
        """``window``, ``HCA`` or ``CSA``, with the compression rate."""
        if not self.rate:
            return f"MQA, window {self.window}"
        name = "CSA" if self.indexer else "HCA"
        return f"{name} 1:{self.rate}, window {self.window}"

    @property
    def kv_heads(self) -> int:
        """One."""
        return 1

    @property
    def cache_heads(self) -> int:
        """One: every head reads the same entries."""
        return 1

    def matrices(self, hidden: int) -> list[Matrix]:
        """Projections, compressor and indexer."""
        query = self.heads * self.head_dim
        groups = self.o_groups
        found = [
            Matrix("q down", hidden, self.q_lora_rank),
            Matrix("q up", self.q_lora_rank, query),
            Matrix("kv", hidden, self.head_dim),
            Matrix("o down", query // groups, self.o_lora_rank, False, groups, groups),
            Matrix("o up", groups * self.o_lora_rank, hidden),
        ]
        if self.rate:
            wide = self.head_dim * (2 if self.indexer else 1)
            found.append(Matrix("compress kv", hidden, wide))
            found.append(Matrix("compress gate", hidden, wide))
        if self.indexer:
            i = self.indexer
            found += [
                Matrix("index kv", hidden, 2 * i.head_dim),
                Matrix("index gate", hidden, 2 * i.head_dim),
                Matrix("index q", self.q_lora_rank, i.heads * i.head_dim),
                Matrix("index weights", hidden, i.heads),
            ]
        return found

    def vectors(self) -> int:
        """Norms, sinks, and the place of a token inside its entry."""
        size = self.q_lora_rank + self.head_dim + self.heads
        if self.rate:
            wide = self.head_dim * (2 if self.indexer else 1)
            size += self.rate * wide + self.head_dim
        if self.indexer:
            size += (2 * self.rate + 1) * self.indexer.head_dim
        return size

    @property
    def per_token(self) -> int:
        """Numbers one token leaves before the window moves on."""
        return self.head_dim

    # Tokens are a count, a float or an array of them.

    def entries(self, tokens: Any) -> Any:
        """Compressed entries of ``tokens`` tokens."""
        return tokens // self.rate if self.rate else 0

    def attended(self, tokens: Any) -> Any:
        """Entries and tokens one query attends to."""
        entries = self.entries(tokens)
        if self.indexer:
            entries = minimum(entries, self.indexer.top_k)
        return minimum(tokens, self.window) + entries

    def cached(self, tokens: Any) -> Any:
        """Numbers the cache of one sequence of ``tokens`` holds.

        Tokens waiting for their entry to fill are left out.
        """
        each = self.head_dim + (self.indexer.head_dim if self.indexer else 0)
        near = minimum(tokens, self.window) * self.head_dim
        return near + self.entries(tokens) * each

    def read(self, tokens: Any) -> Any:
        """Numbers a query moves: all index keys, but only the entries chosen."""
        index = self.entries(tokens) * self.indexer.head_dim if self.indexer else 0
        return self.attended(tokens) * self.head_dim + index

    def score_macs(self, tokens: Any, absorbed: bool) -> dict[str, Any]:
        """Multiply-adds of one query against ``tokens``, by operation.

        ``absorbed`` says nothing here; only latent attention has two forms.
        """
        each = self.heads * self.head_dim * self.attended(tokens)
        macs = {"scores": each, "values": each}
        if self.indexer:
            size = self.indexer.heads * self.indexer.head_dim
            macs["index scores"] = size * self.entries(tokens)
        return macs

    def prompt_macs(self, tokens: int) -> dict[str, int]:
        """Multiply-adds of a whole prompt, each token asking those up to itself."""
        pairs = pairs_of_prompt(tokens, self.window)
        pairs += self._entries_of_all(tokens, self.indexer.top_k if self.indexer else 0)
        macs = dict.fromkeys(("scores", "values"), self.heads * self.head_dim * pairs)
        if self.indexer:
            size = self.indexer.heads * self.indexer.head_dim
            macs["index scores"] = size * self._entries_of_all(tokens, 0)
        return macs

    def _entries_of_all(self, tokens: int, most: int) -> int:
        """Entries of 1, 2, ... tokens, added up, each at most ``most`` (0: any)."""
        if not self.rate:
            return 0
        bent = min(tokens, most * self.rate) if most else tokens
        full = bent // self.rate
        total = self.rate * pairs_of_prompt(full - 1) + full * (
            bent - full * self.rate + 1
        )
        return total + (tokens - bent) * most
