"""Published perplexities of a scheme after another, beside the small model's losses."""

from __future__ import annotations

from stacklib.pages import figures_of
from stacklib.quantity import Quantity, counted, counting

from . import COARSE, row, statistics

LADDERS = {
    "llama.cpp, Llama-3-70B": {
        "G-0053": ("q2_k", "round"),
        "G-0056": ("q3_k", "round"),
        "G-0062": ("iq4_nl", "round"),
        "G-0063": ("q4_k", "round"),
        "G-0065": ("q5_k", "round"),
        "G-0067": ("q6_k", "round"),
        "G-0068": ("q8_0", "round"),
    },
    "llama.cpp, Llama-2-70B": {
        "G-0014": ("q2_k", "round"),
        "G-0015": ("q3_k", "round"),
        "G-0011": ("q4_0", "round"),
        "G-0018": ("q4_k", "round"),
        "G-0013": ("q5_0", "round"),
        "G-0020": ("q5_k", "round"),
        "G-0022": ("q6_k", "round"),
    },
    "torchao, Llama-2-7B": {
        "G-0002": ("int8_channel", "round"),
        "G-0003": (COARSE, "round"),
        "G-0004": (COARSE, "gptq"),
    },
}
WIDE = {  # the row in sixteen bits of the same source
    "llama.cpp, Llama-3-70B": "G-0069",
    "llama.cpp, Llama-2-70B": "G-0023",
    "torchao, Llama-2-7B": "G-0001",
}


def published(id: str) -> Quantity:
    """A published perplexity."""
    found = figures_of.row(id)
    return figures_of.measured(id).named(f"{found.subject}, {found.text('quant')}")


def rise(id: str, source: str) -> Quantity:
    """Share by which a published perplexity exceeds that in sixteen bits."""
    return (published(id) / published(WIDE[source]) - 1).named(f"rise of {id}")


@counting("rank correlation, {source}")
def order(source: str) -> float:
    """Rank correlation of a published ladder with the small model's losses."""
    ladder = LADDERS[source]
    theirs = [published(id).si for id in ladder]
    ours = [row(*scheme).loss.value for scheme in ladder.values()]
    return statistics.spearman(theirs, ours)


@counting("rank correlation by bits, {source}")
def by_bits(source: str) -> float:
    """The same if bits of a weight alone had made the order."""
    ladder = LADDERS[source]
    theirs = [published(id).si for id in ladder]
    return statistics.spearman(theirs, [-row(*s).bits for s in ladder.values()])


def rungs(source: str) -> Quantity:
    """Schemes of a ladder."""
    return counted(len, LADDERS[source], label=f"schemes of {source}")
