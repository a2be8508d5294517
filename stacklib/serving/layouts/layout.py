"""A layout: one pool of copies or two, with what it does, or why it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

AGGREGATED, DISAGGREGATED = "aggregated", "disaggregated"


@dataclass(frozen=True, slots=True)
class Pool:
    """Copies of the model that do the same.

    - ``copies``: each of ``ep`` groups of ``tp`` chips
    - ``batch``: requests that each holds
    """

    tp: int
    ep: int
    copies: int
    batch: int

    @property
    def gpus(self) -> int:
        """Chips of all copies."""
        return self.tp * self.ep * self.copies

    @property
    def words(self) -> str:
        """How it is built: ``2 x TP4, batch 48``."""
        many = f"{self.copies} x " if self.copies > 1 else ""
        experts = f" x EP{self.ep}" if self.ep > 1 else ""
        return f"{many}TP{self.tp}{experts}, batch {self.batch}"


@dataclass(frozen=True, slots=True)
class Layout:
    """A model laid out on some chips.

    - ``kind``: ``"aggregated"``: one pool reads and writes; ``"disaggregated"``: two
    - ``device``, ``dtype``: the chip, and how weights are kept
    - ``gpus``: chips that there are; some may stand idle
    - ``pool``, ``prefill``: who writes, and who reads where that is another
    - ``ttft``, ``tpot``: seconds to the first token, and of each after it, on average
    - ``tokens_per_s``: tokens written a second, by all chips
    - ``refused``: the sum that refuses it; empty where it is kept
    """

    kind: str
    device: str
    dtype: Any
    gpus: int
    pool: Pool | None = None
    prefill: Pool | None = None
    ttft: float = 0.0
    tpot: float = 0.0
    tokens_per_s: float = 0.0
    refused: str = ""

    @property
    def tokens_per_gpu(self) -> float:
        """Tokens a second over all chips, idle ones among them."""
        return self.tokens_per_s / self.gpus

    @property
    def tokens_per_user(self) -> float:
        """Tokens a second that one request sees; 0 where that is not known."""
        return 1 / self.tpot if self.tpot else 0.0

    @property
    def build(self) -> tuple[Any, ...]:
        """What is alike in layouts that differ in copies and batch alone."""
        pools = (p and (p.tp, p.ep) for p in (self.pool, self.prefill))
        return (self.kind, self.device, self.dtype, *pools)

    @property
    def words(self) -> str:
        """How it is built, in one line."""
        parts = []
        if self.prefill:
            parts.append(f"prefill {self.prefill.words.rsplit(',', 1)[0]}")
        if self.pool:
            first = "decode " if self.kind == DISAGGREGATED else ""
            parts.append(first + self.pool.words)
        return f"{self.device}, {self.dtype}, {self.kind}: {'; '.join(parts)}"
