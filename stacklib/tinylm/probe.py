"""What a model knows, asked: minimal pairs and a cloze, each with its interval (7.14).

Perplexity is an average over every token, most of them easy. A change that hurts a
few hard ones hides in it. Here the model chooses: the right sentence against one with
a single fault (as in BLiMP, Warstadt et al., 2020), and the word that stood in a
passage against three others that stood there before (after LAMBADA, Paperno et al.,
2016).
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path

from .corpus import Document, evaluation_text
from .forward import KVCache, log_softmax
from .model import TinyLM
from .perplexity import Interval, surprise

__all__ = ["Cloze", "Pair", "Result", "cloze_items", "pairs", "probe"]

FILE = Path(__file__).parent / "data" / "probe.toml"
Z = 1.959964  # standard deviations of a two-sided 95 % interval
OTHERS = 3  # wrong answers of a cloze item
PASSAGE = 600  # characters before the gap, at most
APART = 120  # characters between two gaps of one document


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences that differ in one fault."""

    kind: str
    good: str
    bad: str


@dataclass(frozen=True, slots=True)
class Cloze:
    """A passage, the word that followed, and words that did not."""

    passage: str
    answer: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """How a model did on one part of the probe."""

    part: str  # ``cloze``, or a kind of pair
    right: int  # questions answered right
    asked: int
    chance: float  # share that guessing gets right

    @property
    def accuracy(self) -> Interval:
        """Share answered right, with Wilson's 95 % interval (1927)."""
        n, share = self.asked, self.right / self.asked
        centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
        reach = Z * sqrt(share * (1 - share) / n + (Z / (2 * n)) ** 2) / (1 + Z * Z / n)
        return Interval(share, centre - reach, centre + reach)


@cache
def pairs() -> tuple[Pair, ...]:
    """All minimal pairs of `data/probe.toml`."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return tuple(
        Pair(group["kind"], frame.replace("{}", good), frame.replace("{}", bad))
        for group in table["pairs"]
        for frame in group["frames"]
        for good, bad in group["words"]
    )


def cloze_items(
    documents: Sequence[Document], model: TinyLM, seed: int = 0
) -> Iterator[Cloze]:
    """Gaps where a word stood that the passage before it has said already.

    The wrong answers are other words of that passage with as many tokens, so that
    neither rarity nor length gives the answer away.
    """
    chooser = random.Random(seed)
    for document in documents:
        last = -APART
        for match in re.finditer(r" [a-z]{4,}\b", document.text):
            word, at = match.group(), match.start()
            passage = document.text[max(0, at - PASSAGE) : at]
            said = sorted(set(re.findall(r" [a-z]{4,}\b", passage)))
            if word not in said or at - last < APART:
                continue
            size = len(model.tokenizer.encode(word))
            alike = [
                w for w in said if w != word and len(model.tokenizer.encode(w)) == size
            ]
            if len(alike) >= OTHERS:
                last = at
                yield Cloze(passage, word, tuple(chooser.sample(alike, OTHERS)))


def sentence_cost(model: TinyLM, text: str) -> float:
    """-ln p of a text from the start of a document."""
    return float(surprise(model, model.tokenizer.encode(text)).sum())


def answers(model: TinyLM, item: Cloze) -> bool:
    """Whether the word that stood there is the likeliest of the four."""
    limit = model.config.max_position_embeddings
    words = [model.tokenizer.encode(word) for word in (item.answer, *item.others)]
    read = [model.tokenizer.end, *model.tokenizer.encode(item.passage)]
    read = read[-(limit - max(map(len, words))) :]
    cache = KVCache(model.config)
    model.logits(read[:-1], cache)
    costs = []
    for word in words:
        log_p = log_softmax(model.logits([read[-1], *word[:-1]], cache))
        cache.truncate(len(read) - 1)
        costs.append(-log_p[range(len(word)), word].sum())
    return bool(costs[0] < min(costs[1:]))


def probe(model: TinyLM, documents: Sequence[Document] | None = None) -> list[Result]:
    """Ask everything: each kind of pair, all pairs, and the cloze."""
    results: dict[str, list[bool]] = {}
    for pair in pairs():
        good, bad = sentence_cost(model, pair.good), sentence_cost(model, pair.bad)
        results.setdefault(pair.kind, []).append(good < bad)
    results["all pairs"] = [each for kind in results.values() for each in kind]
    items = cloze_items(documents or evaluation_text(), model)
    results["cloze"] = [answers(model, item) for item in items]
    return [
        Result(
            part, sum(right), len(right), 0.5 if part != "cloze" else 1 / (1 + OTHERS)
        )
        for part, right in results.items()
    ]
