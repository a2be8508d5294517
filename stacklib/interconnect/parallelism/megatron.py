"""Eight published training steps: 22 billion to one trillion parameters on A100s.

V. Korthikanti et al., Reducing Activation Recomputation in Large Transformer Models,
2022 (arXiv 2205.05198): shapes and layouts of table 3, seconds a step of table 5, once
with everything computed again, once with sequence parallelism and only the scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib import models
from stacklib.models.language_model import LanguageModel
from stacklib.models.parts import Attention, Mlp
from stacklib.quantity import Source

from .layout import Layout
from .split import told
from .step import Step, step_time

DEVICE, LENGTH, TP, VOCABULARY = "a100_sxm_80gb", 2048, 8, 51200
PAPER = Source(
    "V. Korthikanti et al., Reducing Activation Recomputation, 2022",
    "tables 3 and 5, arXiv 2205.05198",
    "2026-11-25",
    "secondary",
)


@dataclass(frozen=True, slots=True)
class Row:
    """A model of the paper, and its step."""

    name: str
    layers: int
    hidden: int
    heads: int
    pp: int
    interleave: int
    batch: int
    micro: int
    full: float  # seconds, all of a layer computed again
    lean: float  # with sequence parallelism, the scores alone

    @property
    def chips(self) -> int:
        """How many it ran on."""
        return TP * self.pp

    @property
    def model(self) -> LanguageModel:
        """Its shape."""
        return gpt(self.name, self.layers, self.hidden, self.heads, VOCABULARY)

    def layout(self, lean: bool) -> Layout:
        """Its layout."""
        return Layout(
            tp=TP,
            pp=self.pp,
            interleave=self.interleave,
            split=told(self.layers, self.pp, self.interleave),
            micro=self.micro,
            sequence=lean,
            recompute="selective" if lean else "full",
        )

    def seconds(self, lean: bool) -> float:
        """What the paper measured."""
        return self.lean if lean else self.full


ROWS = (
    Row("gpt-22b", 48, 6144, 64, 1, 1, 4, 4, 1.42, 1.10),
    Row("gpt-175b", 96, 12288, 96, 8, 3, 64, 1, 18.13, 13.75),
    Row("gpt-530b", 105, 20480, 128, 35, 3, 280, 1, 49.05, 37.83),
    Row("gpt-1t", 128, 25600, 160, 64, 1, 512, 1, 94.42, 71.49),
)


def gpt(
    name: str, layers: int, hidden: int, heads: int, vocab: int, gated: int = 0
) -> LanguageModel:
    """A transformer of one kind of layer: MLP four times as wide, or gated so wide."""
    like = models.get("gpt3-175b")
    block = replace(
        like.kinds[0],
        attention=Attention(heads, heads, hidden // heads),
        mlp=Mlp(gated or 4 * hidden, gated=bool(gated)),
    )
    return replace(
        like,
        key=name,
        name=name,
        vocab=vocab,
        hidden=hidden,
        kinds=(block,),
        pattern=(0,) * layers,
        positions=0,
    )


def predicted(row: Row, lean: bool) -> Step:
    """A row's step as ``step_time`` has it."""
    return step_time(
        row.model,
        on=DEVICE,
        chips=row.chips,
        layout=row.layout(lean),
        batch=row.batch,
        length=LENGTH,
        dtype="fp16",
        attention="scores",
    )
